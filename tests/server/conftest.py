"""A session on disk, and a desk that answers calls about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.transcripts import SESSION, Transcript, call, text

from context_editor.server.calls import Answer, Desk
from context_editor.server.sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

LISTING = "\n".join(f"src/module_{n}.py: def handler_{n}(request): ..." for n in range(200))


@dataclass
class Session:
    """A transcript that the server answers for.

    Attributes:
        root: The folder of the test.
        transcript: What the file holds.
    """

    root: Path
    transcript: Transcript = field(default_factory=Transcript)

    @property
    def path(self) -> Path:
        return self.root / f"{SESSION}.jsonl"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def folder(self) -> Path:
        return self.data / "sessions" / SESSION

    def written(self) -> Session:
        self.transcript.write(self.path)
        return self

    def host(self, **more: str) -> dict[str, Any]:
        """What the hook adds to a call."""
        return {
            "session_id": SESSION,
            "transcript_path": str(self.path),
            "cwd": str(self.root),
            **more,
        }


@dataclass
class Office:
    """A desk and the session that its calls are about."""

    session: Session
    desk: Desk

    def ask(self, tool: str, **arguments: object) -> Answer:
        return self.desk.answer(tool, {**arguments, "_host": self.session.host()})


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Two turns: a large listing was read, summed up, and a second question is open."""
    made = Session(tmp_path)
    transcript = made.transcript
    transcript.prompt("Where are the handlers?")
    transcript.answer(text("I look."), call("Grep", "toolu_1", pattern="def handler", path="src"))
    transcript.result("toolu_1", LISTING)
    transcript.answer(text("In src, one a module."))
    transcript.prompt("And the routes?")
    transcript.answer(call("Bash", "toolu_2", command="cat routes.py"))
    transcript.result("toolu_2", LISTING.replace("handler", "route"))
    transcript.answer(text("In routes.py."))
    transcript.prompt("Thank you. Now tidy up.")
    transcript.answer(call("mcp__plugin_context-editor_editor__context_list", "toolu_3"))
    return made.written()


@pytest.fixture
def office(session: Session) -> Office:
    return Office(session, Desk(Sessions(session.data)))
