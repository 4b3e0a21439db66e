"""A builder of Claude Code transcripts: lines as release 2.1.332 writes them, for tests and
benchmarks.

Written after what that release was seen to write; no line is copied from a real session.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One line, before it is written."""

SESSION: Final = "5e551000-0000-4000-8000-000000000001"
CWD: Final = "/home/dev/project"
MODEL: Final = "claude-opus-5-5"
START: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

PNG_4_BY_3: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAADCAIAAAA7ljmR"
    "AAAADUlEQVR4nGNgGAWkAwABNgABkUk5mwAAAABJRU5ErkJggg=="
)
"""A PNG of 4 by 3 pixels, in base64."""

REMINDER: Final = "<system-reminder>\n{}\n</system-reminder>"
MID_TURN: Final = (
    "The user sent a new message while you were working:\n{}\n\n"
    "This is how Claude Code surfaces messages the user sends mid-turn. Address the message above."
)
PLUGIN_PROMPT: Final = "The {} plugin sent a message:\n{}\n\nAddress the message above."
REFUSED: Final = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
    "To tell you how to proceed, the user said:\n{}"
)
OUR_PLUGIN: Final = {"kind": "plugin", "name": "context-editor"}


def text(words: str) -> Row:
    """A text block."""
    return {"type": "text", "text": words}


def thinking(words: str = "", signature: str = "c2lnbmVk") -> Row:
    """A thinking block."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def call(name: str, call_id: str, **arguments: object) -> Row:
    """A tool call block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def image(data: str = PNG_4_BY_3, media_type: str = "image/png") -> Row:
    """An image block."""
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


@dataclass
class Transcript:
    """Lines of a session, each hanging behind the last one unless it is told otherwise.

    Every method that adds a line returns the line, so that a test can name its `uuid` or change it.

    Attributes:
        rows: The lines so far, in file order; a `str` or `bytes` stands as it is.
        session: The session id that lines name.
        leaf: The uuid that the next line hangs behind; None makes it a root.
    """

    session: str = SESSION
    rows: list[Row | str | bytes] = field(default_factory=list[Row | str | bytes])
    leaf: str | None = None
    _uuids: int = 0
    _responses: int = 0
    _turns: int = 0
    _prompt_id: str = ""

    # --- lines ---------------------------------------------------------------------------------

    def add(self, row: Row, parent: str | None = "") -> Row:
        """A line with the host's common fields, behind `parent` (the leaf when not given)."""
        self._uuids += 1
        moment = START + timedelta(seconds=self._uuids)
        whole: Row = {
            "parentUuid": self.leaf if parent == "" else parent,
            "isSidechain": False,
            **row,
            "uuid": row.get("uuid") or f"00000000-0000-4000-8000-{self._uuids:012d}",
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": CWD,
            "sessionId": self.session,
            "version": "2.1.332",
            "gitBranch": "main",
        }
        self.rows.append(whole)
        self.leaf = whole["uuid"]
        return whole

    def raw(self, line: str | bytes) -> Self:
        """Text that stands on a line as it is."""
        self.rows.append(line)
        return self

    def prompt(self, content: str | Sequence[Row], **facts: object) -> Row:
        """A prompt that a person typed."""
        self._turns += 1
        self._prompt_id = f"prompt-{self._turns}"
        return self.add(
            {
                "promptId": self._prompt_id,
                "type": "user",
                "message": {"role": "user", "content": content},
                "permissionMode": "default",
                "origin": {"kind": "human"},
                "promptSource": "typed",
                "turnOrigin": "human",
                "turnPosition": {"promptIndex": self._turns, "turnIndex": self._turns},
                **facts,
            }
        )

    def meta(self, content: str, **facts: object) -> Row:
        """A prompt line that the host wrote beside another."""
        return self.add(
            {
                "promptId": self._prompt_id,
                "type": "user",
                "message": {"role": "user", "content": content},
                "isMeta": True,
                **facts,
            }
        )

    def local(self, content: str, prompt_id: str = "", **facts: object) -> Row:
        """A prompt line that records a command or its output."""
        return self.add(
            {
                "promptId": prompt_id or self._prompt_id,
                "type": "user",
                "message": {"role": "user", "content": content},
                "rowSource": "local",
                **facts,
            }
        )

    def answer(
        self, *blocks: Row, response: str = "", usage: Mapping[str, int] | None = None
    ) -> list[Row]:
        """One response: a line for each block, all with the same message id."""
        self._responses += 1
        message_id = response or f"msg_{self._responses:04d}"
        return [self.block(block, message_id, usage) for block in blocks]

    def block(
        self,
        block: Row,
        response: str,
        usage: Mapping[str, int] | None = None,
        parent: str | None = "",
    ) -> Row:
        """One line of a response."""
        figures = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 1000 * self._responses,
            "output_tokens": 20,
            **(usage or {}),
        }
        message = {
            "id": response,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": figures,
        }
        return self.add(
            {"message": message, "requestId": f"req_{response}", "type": "assistant"}, parent
        )

    def result(self, call_id: str, content: str | Sequence[Row] = "ok", **facts: object) -> Row:
        """The result of a call; behind the line that made it, where there is one.

        `parent`, `beside` (blocks in the same line) and `is_error` are taken out of the facts.
        """
        caller = self._caller(call_id)
        parent, beside = facts.pop("parent", caller or self.leaf), facts.pop("beside", [])
        block: Row = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        if facts.pop("is_error", False):
            block["is_error"] = True
        assert isinstance(beside, list)
        assert parent is None or isinstance(parent, str)
        return self.add(
            {
                "promptId": self._prompt_id,
                "type": "user",
                "message": {"role": "user", "content": [block, *beside]},
                "toolUseResult": {"stdout": content, "stderr": "", "interrupted": False},
                **({"sourceToolAssistantUUID": caller} if caller else {}),
                **facts,
            },
            parent,
        )

    def tool(
        self, name: str, call_id: str, content: str | Sequence[Row] = "ok", **arguments: object
    ) -> None:
        """A response of one call, and its result."""
        self.answer(call(name, call_id, **arguments))
        self.result(call_id, content)

    def attachment(
        self,
        kind: str,
        words: str | None = None,
        *,
        role: str = "system",
        parent: str | None = "",
        **payload: object,
    ) -> Row:
        """An attachment; with `words` as the host renders them, else with its payload alone."""
        rendered = {
            "rendered": [{"content": REMINDER.format(words)}],
            "renderedRole": role,
        }
        return self.add(
            {
                "attachment": {"type": kind, **payload},
                "type": "attachment",
                **(rendered if words is not None else {}),
            },
            parent,
        )

    def queued(self, words: str, **payload: object) -> Row:
        """What a person typed while the turn ran."""
        row = self.attachment("queued_command", MID_TURN.format(words), prompt=words)
        human = {"commandMode": "prompt", "origin": {"kind": "human"}, "humanTurn": True}
        row["attachment"].update(human | payload)
        return row

    def system(self, subtype: str, **facts: object) -> Row:
        """A line of the host about the session."""
        return self.add(
            {"type": "system", "subtype": subtype, "level": "info", "isMeta": False, **facts}
        )

    # --- whole happenings ----------------------------------------------------------------------

    def plugin_prompt(self, words: str, plugin: str = "context-editor") -> Row:
        """A prompt that a plugin submitted."""
        return self.prompt(
            PLUGIN_PROMPT.format(plugin, words),
            origin={"kind": "plugin", "name": plugin},
            promptSource="system",
            turnOrigin="system",
            promptRewritten=True,
            pluginPrompt={"name": plugin, "text": words},
        )

    def boundary(self, trigger: str = "manual", **metadata: object) -> Row:
        """A compaction: what follows is the conversation."""
        logical, self.leaf = self.leaf, None
        return self.system(
            "compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=logical,
            compactMetadata={"trigger": trigger, "preTokens": 1000, **metadata},
        )

    def compact_records(
        self, args: str, prompt_id: str = "compact-1", origin: Row | None = None
    ) -> None:
        """The three lines that a `/compact` leaves behind."""
        facts = {} if origin is None else {"origin": origin}
        caveat = "<local-command-caveat>The command below was run directly.</local-command-caveat>"
        command = (
            "<command-name>/compact</command-name>\n"
            "            <command-message>compact</command-message>\n"
            f"            <command-args>{args}</command-args>"
        )
        self.local(caveat, prompt_id, isMeta=True, rowSource="harness", **facts)
        self.local(command, prompt_id, **facts)
        self.local("<local-command-stdout>Compacted </local-command-stdout>", prompt_id, **facts)

    def kept(self, row: Row, **changes: object) -> Row:
        """A line of before a boundary, written again as a compaction by a plugin keeps it.

        It has a new uuid and the old message id; a result still names its old parent; and every
        user line is stamped with the plugin.
        """
        is_result = "sourceToolAssistantUUID" in row
        stamp = {"origin": OUR_PLUGIN} if row["type"] == "user" else {}
        skipped = {"uuid", "parentUuid", "timestamp"}
        again = {key: value for key, value in row.items() if key not in skipped}
        parent = row["parentUuid"] if is_result else ""
        return self.add({**again, **stamp, **changes}, parent)

    def rebuilt(self, content: str | Sequence[Row]) -> Row:
        """A user line that a compaction by a plugin wrote anew."""
        return self.add(
            {
                "promptId": "compact-1",
                "type": "user",
                "message": {"role": "user", "content": content},
                "rowSource": "hook",
                "origin": OUR_PLUGIN,
            }
        )

    # --- the file ------------------------------------------------------------------------------

    def lines(self) -> list[bytes]:
        """The lines as bytes, without their ends."""
        return [line_of(row) for row in self.rows]

    def bytes(self) -> bytes:
        """The file."""
        return b"".join(line + b"\n" for line in self.lines())

    def write(self, path: Path) -> Path:
        """The file at `path`."""
        path.write_bytes(self.bytes())
        return path

    def _caller(self, call_id: str) -> str | None:
        for row in reversed(self.rows):
            if not isinstance(row, dict) or row.get("type") != "assistant":
                continue
            if any(block.get("id") == call_id for block in row["message"]["content"]):
                uuid: str = row["uuid"]
                return uuid
        return None


def line_of(row: Row | str | bytes) -> bytes:
    """A line's bytes, as the host writes them: compact, and not escaped."""
    if isinstance(row, bytes):
        return row
    if isinstance(row, str):
        return row.encode()
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def long_session(turns: int, calls_a_turn: int = 8, result_chars: int = 2000) -> Transcript:
    """A session of the usual shape: prompts, thinking, parallel calls, results, attachments,
    request rows.

    Args:
        turns: Prompts.
        calls_a_turn: Tool calls in each turn, two to a response.
        result_chars: Characters of each result.
    """
    session = Transcript()
    body = ("def handler(request):\n    return respond(request, status=200)\n" * 200)[:result_chars]
    for turn in range(turns):
        session.prompt(f"Please do step {turn} of the plan.")
        if turn == 0:
            session.attachment("environment", "# Environment\nPlatform: linux")
            session.attachment("skill_listing", "- skill: does things\n" * 100, names=["skill"])
        for pair in range(calls_a_turn // 2):
            ids = [f"toolu_{turn:05d}_{pair}_{n}" for n in range(2)]
            session.answer(
                thinking("", "c2ln" * 100),
                text(f"I read two files ({pair})."),
                call("Read", ids[0], file_path=f"{CWD}/src/module_{turn}_{pair}.py"),
                call("Bash", ids[1], command=f"pytest -q tests/test_{turn}_{pair}.py"),
            )
            session.result(ids[1], body)
            session.result(ids[0], body)
            session.attachment(
                "hook_additional_context", "a hook said so", hookName="PostToolUse:Read"
            )
            session.raw('{"type":"api-request","id":"r","params":{"model":"m"},"tail":["h1","h2"]}')
        session.answer(text(f"Step {turn} is done."))
        session.system("turn_duration", durationMs=1000)
    return session
