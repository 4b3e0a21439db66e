"""An edited copy of a session: a new transcript beside the original, which is never touched.

For hosts where no mod can carry an apply out: what is queued is planned by the engine as ever, and
the new conversation is written as a session of its own, which `claude --resume` opens. Kept lines
are the original's bytes but for their session, the line that they follow, and their usage.
Observed on Claude Code 2.1.332, 2026-11-30: the model is sent exactly these rows.
"""

import json
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from context_editor.core.apply.emissions import Build
from context_editor.engine.ports import Settled
from context_editor.engine.session import Engine
from context_editor.errors import RefusedError, TranscriptError
from context_editor.hosts.claude_code.copy_lines import Source, Writer
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.store.files import replace_file
from context_editor.store.session import SessionFolder

COPIED: Final = ("applies", "applies.jsonl", "offloaded", "tools.jsonl")
"""What a copy takes along beside the state; originals stay where their paths say that they are."""


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
    if not (state.queue or state.molt):
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
    source = Source.of(host)
    answer = engine.plan_apply([group.row for group in source.groups], "copy")
    if answer.skip:
        raise RefusedError(answer.skip.removeprefix("context-editor: "))
    writer = Writer(engine.folder.session_id)
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
    epoch = engine.folder.read().epoch
    report = engine.confirm(is_final=True)
    _check_taken_in(engine.folder, epoch + 1)
    return report


def _check_taken_in(folder: SessionFolder, epoch: int) -> None:
    """The copy's own state and log say whether its rows read as they were planned."""
    mismatch = "nothing of what was handed over stands there"
    if folder.read().epoch == epoch:
        mismatch = json.loads(folder.applies.read_bytes().splitlines()[-1])["mismatch"]
    if mismatch:
        msg = f"the copy does not read as it was planned: {mismatch}"
        raise TranscriptError(msg)
