"""An edited copy of a session: a new transcript beside the original, which is never touched.

For hosts where no mod can carry an apply out: what is queued is planned by the engine as ever, and
the new conversation is written as a session of its own, which `claude --resume` opens. Kept lines
are the original's bytes but for the session that they name and the line that they follow.
Observed on Claude Code 2.1.332, 2026-11-30: the model is sent exactly these rows.
"""

import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from context_editor.core.apply.emissions import Build, BuiltResult
from context_editor.core.rows import Json, Piece, PieceForm
from context_editor.engine.ports import HostRow, Settled
from context_editor.engine.session import Engine
from context_editor.errors import RefusedError, TranscriptError
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.spans import spans
from context_editor.hosts.claude_code.transcript import Entry, LiveTranscript
from context_editor.store.files import replace_file
from context_editor.store.session import SessionFolder

COPIED: Final = ("applies", "applies.jsonl", "offloaded", "tools.jsonl")
"""What a copy takes along beside the state; originals stay where their paths say that they are."""

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


@dataclass(frozen=True)
class Copy:
    """The edited copy.

    Attributes:
        id: Its session id.
        transcript: Its transcript file.
        report: What was applied, as the next prompt of the copy is told.
    """

    id: str
    transcript: Path
    report: str


@dataclass
class _CopyHost(ClaudeSession):
    """The original while the apply is planned, the copy once it is written."""

    _is_written: bool = False

    def settle(self, offset: int) -> Settled:
        """See `HostPort.settle`; a new file holds no original that a resume could bring back."""
        del offset
        return Settled(self._is_written, self._is_written, "written as a copy")

    def move_to(self, transcript: Path) -> None:
        """Read the copy from now on."""
        self.transcript = transcript
        self._is_written = True
        self.forget()


def write_edited_copy(
    engine: Engine, fresh_id: Callable[[], str] = lambda: str(uuid.uuid4())
) -> Copy:
    """Apply the queue of a session to a copy of it.

    The session keeps its conversation and its queue; where anything fails, no copy is left behind.

    Args:
        engine: The session.
        fresh_id: Gives the copy's session id.

    Raises:
        RefusedError: Nothing is queued, an apply is open, or no edit can be applied.
        TranscriptError: The copy does not read as it was planned.
    """
    host = _host_of(engine)
    engine.confirm()
    _check(engine.folder)
    session_id = fresh_id()
    transcript = host.transcript.with_name(f"{session_id}.jsonl")
    folder = _copied_folder(engine.folder, session_id)
    is_whole = False
    try:
        report = _applied(replace(engine, folder=folder, host=host), host, transcript)
        is_whole = True
    finally:
        if not is_whole:
            shutil.rmtree(folder.path, ignore_errors=True)
            transcript.unlink(missing_ok=True)
    return Copy(session_id, transcript, report)


def _host_of(engine: Engine) -> _CopyHost:
    host = engine.host
    if not isinstance(host, ClaudeSession):
        msg = f"a session of {type(host).__name__} cannot be copied"
        raise TypeError(msg)
    return _CopyHost(host.transcript, host.loads)


def _check(folder: SessionFolder) -> None:
    state = folder.read()
    if state.intent is not None:
        msg = "an apply of the running session is open: try again when its turn has ended"
        raise RefusedError(msg)
    if not state.queue:
        msg = (
            "nothing is queued: queue edits first, with context_edit or `context-editor edit FILE`"
        )
        raise RefusedError(msg)


def _copied_folder(folder: SessionFolder, session_id: str) -> SessionFolder:
    """The copy's folder: the same state under the new id."""
    copy = SessionFolder(folder.path.with_name(session_id), folder.lock_wait_s)
    document: dict[str, Any] = json.loads(folder.state_path.read_bytes())
    document |= {"session_id": session_id, "forked_from": folder.session_id}
    replace_file(
        copy.state_path, json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )
    for name in COPIED:
        source = folder.path / name
        if source.is_dir():
            shutil.copytree(source, copy.path / name)
        elif source.exists():
            shutil.copy2(source, copy.path / name)
    return copy


def _applied(engine: Engine, host: _CopyHost, transcript: Path) -> str:
    source = _Source.of(host)
    answer = engine.plan_apply([group.row for group in source.groups], "copy")
    if answer.skip:
        raise RefusedError(answer.skip.removeprefix("context-editor: "))
    writer = _Writer(engine.folder.session_id)
    for line in source.preamble:
        writer.keep(line)
    for part in answer.rows:
        if isinstance(part, Build):
            writer.build(part)
        else:
            for group in source.groups[slice(*part)]:
                writer.keep_all(group.lines)
    replace_file(transcript, b"".join(writer.lines))
    host.move_to(transcript)
    report = engine.confirm(is_final=True)
    _check_taken_in(engine.folder)
    return report


def _check_taken_in(folder: SessionFolder) -> None:
    """The copy's own log says whether its rows read as they were planned."""
    last = folder.applies.read_bytes().splitlines()[-1]
    mismatch = json.loads(last)["mismatch"]
    if mismatch:
        msg = f"the copy does not read as it was planned: {mismatch}"
        raise TranscriptError(msg)


# --- reading the original ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Group:
    """One row as the live host would hand it over, and the stored lines that stand for it.

    Attributes:
        row: The row.
        lines: Its own line and those that hang behind it, as they stand in the file.
    """

    row: HostRow
    lines: list[bytes]


@dataclass(frozen=True)
class _Source:
    """The live lines of a transcript.

    Attributes:
        preamble: Lines in front of the first row.
        groups: The rows in order.
    """

    preamble: list[bytes]
    groups: list[_Group]

    @classmethod
    def of(cls, session: ClaudeSession) -> "_Source":
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
            self.groups.append(_Group(_host_row(entry.uuid, pieces), [raw]))
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


# --- writing the copy ----------------------------------------------------------------------------


@dataclass
class _Writer:
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
        """Keep a line's bytes, but for the session that it names and the line that it follows.

        Raises:
            TranscriptError: The line holds no JSON object any more.
        """
        try:
            places = spans(raw)
        except ValueError as error:
            msg = f"a line of the original changed while it was copied: {error}"
            raise TranscriptError(msg) from error
        values = {b"parentUuid": self._last.get("uuid"), b"sessionId": self.session_id}
        edits = sorted(
            (places[key], json.dumps(v).encode()) for key, v in values.items() if key in places
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


def _spliced(raw: bytes, edits: Sequence[tuple[tuple[int, int], bytes]]) -> Iterator[bytes]:
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
