"""A session as its host drives it: the model's calls go to the tools, events go to the hooks."""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.support.fake_host import FakeHost, apply
from tests.support.transcripts import SESSION, Row, Transcript, call, text

from context_editor.engine.session import Engine
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code import hooks, presence
from context_editor.server.calls import Answer, Desk
from context_editor.server.registry import TOOLS
from context_editor.server.sessions import Sessions

OWN: Final = "mcp__plugin_context-editor_editor__"
MARKER: Final = "[context-editor: optimize]"
WINDOW: Final = 200_000


def rows_in(answer: str) -> list[str]:
    """The row lines of a listing."""
    return [line for line in answer.splitlines() if line.startswith("#")]


def number_of(words: str, answer: str) -> int:
    """The number of the one listed row whose line holds these words."""
    found = [line for line in rows_in(answer) if words in line]
    assert len(found) == 1, f"{len(found)} rows with {words!r} in:\n{answer}"
    return int(found[0].split()[0].removeprefix("#"))


def ref_of(words: str, answer: str) -> str:
    """The ref of the one listed row whose line holds these words."""
    found = [line for line in rows_in(answer) if words in line]
    assert len(found) == 1, f"{len(found)} rows with {words!r} in:\n{answer}"
    return found[0].split()[1]


def header_line(name: str, answer: str) -> str:
    """What a header line says, without its name; empty where it is not there."""
    for line in answer.splitlines():
        if line.startswith(f"{name}: "):
            return line.removeprefix(f"{name}: ")
    return ""


@dataclass
class Scene:
    """A transcript that grows, with the server and the hooks over it.

    Attributes:
        root: The folder of the test.
        transcript: What the file holds.
        desk: The server.
    """

    root: Path
    transcript: Transcript = field(default_factory=Transcript)
    desk: Desk = field(init=False)
    _ids: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.desk = Desk(Sessions(self.data))
        self.project.mkdir()
        presence.say_hello(self.data, os.getpid(), {"window": WINDOW})

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def path(self) -> Path:
        return self.root / f"{SESSION}.jsonl"

    @property
    def folder(self) -> Path:
        """What the product keeps of the session."""
        return self.data / "sessions" / SESSION

    def write(self) -> None:
        """The file as it stands now; the session works in the test's project."""
        for row in self.transcript.rows:
            if isinstance(row, dict):
                row["cwd"] = str(self.project)
        self.transcript.write(self.path)

    # --- what happens ------------------------------------------------------------------------------

    def file(self, name: str, content: str = "x\n") -> Path:
        """A file of the project, older than the session."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        os.utime(path, (1_000_000, 1_000_000))
        return path

    def prompt(self, words: str) -> str:
        """A person's prompt; what the hook attaches to it."""
        self.write()
        context = self.hook("prompt-submit", prompt=words)
        self.transcript.prompt(words)
        return context

    def says(self, words: str, usage: Mapping[str, int] | None = None) -> None:
        """An answer of words alone."""
        self.transcript.answer(text(words), usage=usage)

    def uses(self, tool: str, result: str | list[Row] = "ok", **arguments: object) -> str:
        """A call of one of the host's tools, with its result; the call's id."""
        call_id = f"toolu_{next(self._ids):04d}"
        self.transcript.answer(call(tool, call_id, **arguments))
        self.transcript.result(call_id, result)
        return call_id

    def fails(self, tool: str, result: str, **arguments: object) -> str:
        """A call that ends with an error."""
        call_id = f"toolu_{next(self._ids):04d}"
        self.transcript.answer(call(tool, call_id, **arguments))
        self.transcript.result(call_id, result, is_error=True)
        return call_id

    def ends(self, words: str, **facts: object) -> str:
        """The turn's last answer, and what the hook tells the person."""
        self.says(words)
        self.write()
        return self.hook("stop", last_assistant_message=words, **facts)

    # --- what is asked -----------------------------------------------------------------------------

    def calls(self, tool: str, *before: Row, **arguments: object) -> Answer:
        """A call of one of our tools by the model, in an answer with these blocks in front of it."""
        call_id = f"toolu_{next(self._ids):04d}"
        self.transcript.answer(*before, call(f"{OWN}{tool}", call_id, **arguments))
        self.write()
        host = {"session_id": SESSION, "transcript_path": str(self.path), "cwd": str(self.project)}
        answer = self.desk.answer(tool, {**arguments, "_host": host})
        self.transcript.result(call_id, answer.text, is_error=answer.is_refusal)
        return answer

    def gets(self, tool: str, *before: Row, **arguments: object) -> str:
        """The answer to a call that is accepted."""
        answer = self.calls(tool, *before, **arguments)
        assert not answer.is_refusal, answer.text
        return answer.text

    def refused(self, tool: str, *before: Row, **arguments: object) -> str:
        """The reason why a call is refused."""
        answer = self.calls(tool, *before, **arguments)
        assert answer.is_refusal, answer.text
        return answer.text

    def listing(self, **arguments: object) -> str:
        """The listing that the model is shown."""
        return self.gets("context_list", **arguments)

    def hook(self, event: str, **given: object) -> str:
        """What a hook puts into the conversation, or tells the person."""
        said = {"session_id": SESSION, "transcript_path": str(self.path), **given}
        out = io.BytesIO()
        assert hooks.run(event, io.BytesIO(json.dumps(said).encode()), out) == 0
        answer: Mapping[str, Any] = json.loads(out.getvalue() or b"{}")
        context = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        told: str = context or answer.get("systemMessage", "")
        assert "failed" not in told, told
        return told

    @property
    def queued(self) -> int:
        """How many edits the header says are queued."""
        return int(header_line("Queued", self.listing(count=0)).split()[0])


@dataclass
class Applied:
    """A session in a host in memory, where the queue can be applied.

    Attributes:
        host: The host.
        engine: The session.
    """

    host: FakeHost
    engine: Engine

    def gets(self, tool: str, **arguments: object) -> str:
        """The answer to the model's call of one of our tools."""
        self.host.own_call()
        return TOOLS[tool].answer(lambda: self.engine, dict(arguments))

    def refused(self, tool: str, **arguments: object) -> str:
        """The reason why a call is refused."""
        try:
            answer = self.gets(tool, **arguments)
        except RefusedError as error:
            return str(error)
        raise AssertionError(answer)

    def listing(self, **arguments: object) -> str:
        """The listing that the model is shown."""
        return self.gets("context_list", **arguments)

    def apply(self) -> str:
        """Apply the queue; the report."""
        return apply(self.engine, self.host)

    def prompt(self, words: str) -> str:
        """A person's prompt; what it is made to carry."""
        lines = self.engine.prompt_lines(words)
        self.host.prompt(words)
        return "\n".join(lines)
