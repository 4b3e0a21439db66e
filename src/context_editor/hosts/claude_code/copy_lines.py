"""A transcript's lines on their way into an edited copy: kept, or built in the host's shape."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from context_editor.core.apply.emissions import Build, BuiltResult
from context_editor.core.rows import Json, Piece, PieceForm
from context_editor.engine.ports import HostRow
from context_editor.errors import TranscriptError
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.spans import Span, spans
from context_editor.hosts.claude_code.transcript import Entry, LiveTranscript

HEAD_CHARS: Final = 64
"""Characters of a row's beginning by which it is recognised, as the live host hands them over."""

ORIGIN: Final[Mapping[str, Json]] = {"kind": "plugin", "name": "context-editor"}
"""How the host marks the lines that this plugin had it write."""

FACTS: Final[Sequence[str]] = (
    "isSidechain",
    "userType",
    "entrypoint",
    "cwd",
    "version",
    "gitBranch",
)
"""Facts of the session that every line repeats; a built one has those of the line before it."""

NO_USAGE: Final[Mapping[str, Json]] = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}
"""A built answer cost nothing: no request made it."""

USAGE: Final = b"message.usage"
"""The key under which the place of an answer's usage is kept among those of its line."""


@dataclass(frozen=True)
class Group:
    """One row as the live host would hand it over, and the stored lines that stand for it.

    Attributes:
        row: The row.
        lines: Its own line and those that hang behind it, as they stand in the file.
    """

    row: HostRow
    lines: list[bytes]


@dataclass(frozen=True)
class Source:
    """The live lines of a transcript.

    Attributes:
        preamble: Lines in front of the first row.
        groups: The rows in order.
    """

    preamble: list[bytes]
    groups: list[Group]

    @classmethod
    def of(cls, session: ClaudeSession) -> "Source":
        """The live lines of a session, as its file holds them now."""
        live = LiveTranscript(session.transcript, session.loads)
        live.refresh()
        pieces: dict[str, list[Piece]] = {}
        for piece in live.pieces:
            pieces.setdefault(piece.handle, []).append(piece)
        source = cls([], [])
        for entry in live.chain:
            source.take(entry, pieces.get(entry.uuid, ()), live.reader.raw_bytes(entry))
        return source

    def take(self, entry: Entry, pieces: Sequence[Piece], raw: bytes) -> None:
        """Put one line where it belongs.

        A boundary and a progress line hold nothing that is read: what follows them follows others.
        """
        if entry.is_boundary or entry.type == "progress":
            return
        if pieces and not pieces[0].rides:
            self.groups.append(Group(_host_row(entry.uuid, pieces), [raw]))
        elif self.groups:
            self.groups[-1].lines.append(raw)
        else:
            self.preamble.append(raw)


def _host_row(handle: str, pieces: Sequence[Piece]) -> HostRow:
    words = "\n".join(p.text for p in pieces if p.form in {PieceForm.TEXT, PieceForm.PROMPT})
    return HostRow(
        handle,
        pieces[0].role,
        len(words),
        words[:HEAD_CHARS],
        calls=tuple(p.call.id for p in pieces if p.call),
        results=tuple(p.call_id for p in pieces if p.form is PieceForm.RESULT and p.call_id),
    )


@dataclass
class Writer:
    """The lines of the copy, each behind the one before.

    Attributes:
        session_id: The copy's session id.
        lines: The lines so far, with their ends.
    """

    session_id: str
    lines: list[bytes] = field(default_factory=list[bytes])
    _last: dict[str, Any] = field(default_factory=dict[str, Any])

    def keep_all(self, lines: Sequence[bytes]) -> None:
        """Keep lines of the original, in their order."""
        for line in lines:
            self.keep(line)

    def keep(self, raw: bytes) -> None:
        """Keep a line's bytes, but for its session, the line that it follows, and its usage.

        The usage is that of a request with the originals: it was counted in the original session.

        Raises:
            TranscriptError: The line holds no JSON object any more.
        """
        try:
            places = {**spans(raw), **_usage_place(raw)}
        except ValueError as error:
            msg = f"a line of the original changed while it was copied: {error}"
            raise TranscriptError(msg) from error
        values = {
            b"parentUuid": self._last.get("uuid"),
            b"sessionId": self.session_id,
            USAGE: NO_USAGE,
        }
        edits = sorted(
            (places[key], json.dumps(v, separators=(",", ":")).encode())
            for key, v in values.items()
            if key in places
        )
        self._write(b"".join(_spliced(raw, edits)))

    def build(self, row: Build) -> None:
        """Write a row that the engine built, in the shape of the host."""
        lines = _answer_lines(row) if row.role == "assistant" else [_prompt_line(row)]
        for line in lines:
            facts = {key: self._last[key] for key in FACTS if key in self._last}
            whole: dict[str, Any] = {
                "parentUuid": self._last.get("uuid"),
                **facts,
                **line,
                "uuid": str(uuid.uuid4()),
                "timestamp": self._last.get("timestamp", ""),
                "sessionId": self.session_id,
            }
            text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
            self._write(text.encode("utf-8", "replace"))

    def _write(self, line: bytes) -> None:
        self.lines.append(line + b"\n")
        self._last = json.loads(line.decode("utf-8", "replace"))


def _usage_place(raw: bytes) -> Mapping[bytes, Span]:
    """Where the usage of an answer stands in its line; nothing in any other line."""
    message = spans(raw).get(b"message")
    if message is None or raw[message[0]] != ord("{"):
        return {}
    inside = spans(raw, message[0])
    return {USAGE: inside[b"usage"]} if b"usage" in inside else {}


def _spliced(raw: bytes, edits: Sequence[tuple[Span, bytes]]) -> Iterator[bytes]:
    at = 0
    for (begin, end), value in edits:
        yield raw[at:begin]
        yield value
        at = end
    yield raw[at:]


def _answer_lines(row: Build) -> list[dict[str, Any]]:
    """An answer, a line for each block, all of one response."""
    blocks: list[Json] = [{"type": "text", "text": row.text}] if row.text else []
    blocks += [
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.input} for c in row.calls
    ]
    response = str(uuid.uuid4())
    return [
        {
            "type": "assistant",
            "message": {
                "id": response,
                "type": "message",
                "role": "assistant",
                "model": "<synthetic>",
                "content": [block],
                "stop_reason": "stop_sequence",
                "stop_sequence": "",
                "usage": NO_USAGE,
            },
            "isApiErrorMessage": False,
        }
        for block in blocks
    ]


def _prompt_line(row: Build) -> dict[str, Any]:
    """A user row: results first, words behind them in the same message."""
    content = [_result_block(result) for result in row.results]
    if not content:
        return _user_line(row.text)
    if row.text:
        content.append({"type": "text", "text": row.text})
    return _user_line(content)


def _result_block(result: BuiltResult) -> Json:
    block: dict[str, Json] = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
    }
    return {**block, "is_error": True} if result.is_error else block


def _user_line(content: Json) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "rowSource": "hook", "origin": ORIGIN}
