"""Which session a command means, and where this product keeps what it knows of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from context_editor.engine.limits import limits_of
from context_editor.engine.session import Engine
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.environment import data_folder, variables
from context_editor.hosts.claude_code.projects import (
    plugin_data_folders,
    project_folder,
    transcript_of,
    transcripts_in,
)
from context_editor.hosts.claude_code.wiring import (
    Opened,
    SessionRef,
    fast_loads,
    loaded_settings,
    open_engine,
)

OFFLINE: Final = "asked from outside the session"
"""Why edits made here are not applied at a turn's end, as the header and a queue answer say it."""


@dataclass(frozen=True)
class Chosen:
    """A session and the data folder that holds its state, or would.

    Attributes:
        ref: The session.
        data: The data folder.
    """

    ref: SessionRef
    data: Path

    @property
    def folder(self) -> Path:
        """What this product keeps of the session; it need not exist."""
        return self.data / "sessions" / self.ref.id

    def engine(self) -> Engine:
        """The session's engine.

        Raises:
            RefusedError: The session id cannot be a folder's name.
        """
        limits = limits_of(loaded_settings())
        return open_engine(self.ref, Opened(self.data, fast_loads(), limits, OFFLINE))


def chosen(name: str | None, data: str | None) -> Chosen:
    """The session that a command names.

    Args:
        name: A session id or a transcript's path; None for the newest session of this directory.
        data: The data folder that the command names; None to find it.

    Raises:
        RefusedError: There is no such session.
    """
    transcript = _newest_here() if name is None else _named(name)
    ref = SessionRef(transcript.stem, transcript)
    return Chosen(ref, Path(data) if data else data_for(ref.id))


def data_for(session_id: str) -> Path:
    """The data folder that knows a session best.

    In the host the plugin is given a folder of its own, outside of it there is the platform's: the
    one with the newest state of the session; for an unknown session the plugin's, where it has one.
    """
    if variables().get("CLAUDE_PLUGIN_DATA"):
        return data_folder()
    folders = [*plugin_data_folders(variables()), data_folder()]
    return max(folders, key=lambda folder: _changed_s(folder / "sessions" / session_id))


def _changed_s(session: Path) -> float:
    try:
        return (session / "state.json").stat().st_mtime
    except OSError:
        return 0.0


def _newest_here() -> Path:
    folder = project_folder(Path.cwd(), variables())
    newest = next(iter(transcripts_in(folder)), None)
    if newest is None:
        msg = (
            f"no session was started in {Path.cwd()} ({folder} holds no transcript): "
            "name one by its id or its path; `context-editor sessions --all` lists them"
        )
        raise RefusedError(msg)
    return newest


def _named(name: str) -> Path:
    path = Path(name).expanduser()
    if path.suffix == ".jsonl" and path.is_file():
        return path.resolve()
    transcript = transcript_of(name, Path.cwd(), variables())
    if not transcript.is_file():
        msg = (
            f"there is no session {name!r}: give the path of a transcript, or a session id; "
            "`context-editor sessions --all` lists them"
        )
        raise RefusedError(msg)
    return transcript
