"""One session's folder: its state document under a lock, and the paths of everything that it keeps.

Standard library and `filelock` only (hooks import it).
"""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from filelock import FileLock, Timeout

from context_editor.core.state import SCHEMA, SessionState
from context_editor.errors import RefusedError, StateBusyError, StateUnreadableError
from context_editor.store import codec
from context_editor.store.files import FILE_MODE, make_folder, replace_file

LOCK_WAIT_S: Final = 2.0
"""How long one process waits for another of the same session, in seconds.

They overlap by milliseconds; two seconds means that the holder is stuck, and a prompt should not wait on it.
"""

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""A session id that may become a folder's name: no separator, no leading dot."""


@dataclass(frozen=True)
class SessionFolder:
    """The folder of one session.

    Attributes:
        path: The folder.
        lock_wait_s: How long to wait for its lock, in seconds.
    """

    path: Path
    lock_wait_s: float = LOCK_WAIT_S

    @property
    def session_id(self) -> str:
        """The host's id of the session."""
        return self.path.name

    @property
    def state_path(self) -> Path:
        """The state document."""
        return self.path / "state.json"

    @property
    def queue_mark(self) -> Path:
        """A file that stands exactly while edits wait for a turn's end: what the mod tests."""
        return self.path / "queue"

    @property
    def tell_mark(self) -> Path:
        """A file that stands exactly while a prompt is to carry something: what the prompt hook tests."""
        return self.path / "tell"

    @property
    def archive(self) -> Path:
        """Originals and media."""
        return self.path / "archive"

    @property
    def applies(self) -> Path:
        """One line for each apply."""
        return self.path / "applies.jsonl"

    @property
    def tools_log(self) -> Path:
        """One line for each tool call that ended, written by the hook."""
        return self.path / "tools.jsonl"

    def set_next_mark(self, tokens: int, rearm_tokens: int = 0) -> None:
        """Write down at which sizes of the context the hook has to look closer.

        Args:
            tokens: From this size on a suggestion is due; 0 for never.
            rearm_tokens: Down to this size a mark that was crossed counts anew; 0 for never.
        """
        path = self.path / "next_mark"
        words = f"{tokens} {rearm_tokens}".encode()
        if not path.exists() or path.read_bytes() != words:
            replace_file(path, words)

    @property
    def compacted(self) -> Path:
        """What the conversation is to be told once the host has shortened it; there while that is due."""
        return self.path / "compacted"

    def set_compacted(self, words: str) -> None:
        """Write down what is told after the host's own compaction."""
        replace_file(self.compacted, words.encode("utf-8", "replace"))

    def sibling(self, session_id: str) -> "SessionFolder":
        """The folder of another session beside this one."""
        return SessionFolder(self.path.parent / session_id, self.lock_wait_s)

    def others(self) -> tuple["SessionFolder", ...]:
        """The folders of all other sessions that have a state, newest first."""
        found = [path for path in self.path.parent.glob("*/state.json") if path.parent != self.path]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        return tuple(SessionFolder(path.parent, self.lock_wait_s) for path in found)

    def read(self) -> SessionState:
        """The state as it is, without the lock; a fresh one where none was written yet.

        Raises:
            StateUnreadableError: The document cannot be understood; it is left as it is.
        """
        raw = self._raw()
        if raw is None:
            return SessionState(self.session_id)
        return _state_of(raw, str(self.state_path))

    def epoch(self) -> int:
        """How many applies the state has taken in, at a fraction of what reading all of it costs.

        Raises:
            StateUnreadableError: The document cannot be understood; it is left as it is.
        """
        raw = self._raw()
        if raw is None:
            return 0
        try:
            return codec.decoded(int, _document(raw, str(self.state_path)).get("epoch", 0), "epoch")
        except codec.CodecError as error:
            raise StateUnreadableError(str(self.state_path), str(error)) from error

    def _raw(self) -> bytes | None:
        """The document as it stands; None where none was written yet."""
        try:
            return self.state_path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateUnreadableError(str(self.state_path), str(error)) from error

    @contextmanager
    def changed(self) -> Generator[SessionState]:
        """The state to be changed in place; it is written whole when the block ends without an error.

        Raises:
            StateBusyError: Another process held the lock for the whole wait.
            StateUnreadableError: The document cannot be understood; it is left as it is.
        """
        make_folder(self.path)
        lock = FileLock(self.path / "state.lock", mode=FILE_MODE)
        try:
            lock.acquire(timeout=self.lock_wait_s)
        except Timeout as error:
            raise StateBusyError(str(self.state_path), self.lock_wait_s) from error
        try:
            state = self.read()
            before = codec.encoded(state)
            yield state
            after = codec.encoded(state)
            if after != before or not self.state_path.exists():
                replace_file(
                    self.state_path,
                    json.dumps(after, ensure_ascii=False).encode("utf-8", "surrogatepass"),
                )
            self._set_marks(state)
        finally:
            lock.release()

    def _set_marks(self, state: SessionState) -> None:
        _set_mark(self.queue_mark, is_set=bool(state.queue or state.molt))
        _set_mark(self.tell_mark, is_set=has_to_tell(state))


def has_to_tell(state: SessionState) -> bool:
    """Whether the next prompt may have something to carry: a look is needed, and is dear."""
    work = state.work
    is_waiting = work.waiting is not None and not work.waiting.is_told
    return bool(
        state.intent or state.report or is_waiting or any(n.remind_after for n in work.notes)
    )


def _set_mark(path: Path, *, is_set: bool) -> None:
    if is_set and not path.exists():
        replace_file(path, b"")
    elif not is_set:
        path.unlink(missing_ok=True)


def _state_of(raw: bytes, path: str) -> SessionState:
    document = _document(raw, path)
    try:
        return codec.decoded(SessionState, document)
    except codec.CodecError as error:
        raise StateUnreadableError(path, str(error)) from error


def _document(raw: bytes, path: str) -> dict[str, Any]:
    try:
        document: Any = json.loads(raw.decode("utf-8", "surrogatepass"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StateUnreadableError(path, str(error)) from error
    schema = document.get("schema", SCHEMA) if isinstance(document, dict) else None
    if not isinstance(schema, int) or schema > SCHEMA:
        reason = f"its schema is {schema}, this release reads up to {SCHEMA}"
        raise StateUnreadableError(path, reason)
    return cast("dict[str, Any]", document)


def session_folder(data: Path, session_id: str) -> SessionFolder:
    """The folder of a session below the data folder.

    Raises:
        RefusedError: The id cannot be a folder's name.
    """
    if not SESSION_ID.fullmatch(session_id):
        msg = f"{session_id!r} is not a session id: letters, digits, dot, dash and underscore are allowed"
        raise RefusedError(msg)
    return SessionFolder(data / "sessions" / session_id)
