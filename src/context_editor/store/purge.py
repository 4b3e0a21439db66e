"""Deleting archives that nobody can need any more: their transcript is gone and no fork names them (rule L13).

Standard library only (hooks import it).
"""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

DAY_S: Final = 86_400.0

MOST_AT_ONCE: Final = 20
"""Archives that one session end deletes at most: a person waits for it."""


def purge(data: Path, days: int, now_s: float, has_transcript: Callable[[str], bool]) -> list[str]:
    """Delete old archives.

    Args:
        data: The data folder.
        days: For how many days nothing of the session may have changed; 0 deletes nothing.
        now_s: The time, in seconds since the epoch.
        has_transcript: Whether the host still has the transcript of a session.

    Returns:
        The ids of the sessions whose archives are gone.
    """
    if days <= 0:
        return []
    folders = [path.parent for path in (data / "sessions").glob("*/state.json")]
    old = [f for f in folders if _changed_s(f) < now_s - days * DAY_S and (f / "archive").is_dir()]
    gone = [f for f in sorted(old, key=_changed_s) if not has_transcript(f.name)][:MOST_AT_ONCE]
    deleted = _unnamed(gone, folders)
    for folder in deleted:
        shutil.rmtree(folder / "archive", ignore_errors=True)
        for path in folder.rglob("*.jsonl"):
            path.unlink(missing_ok=True)
    return [folder.name for folder in deleted]


def _unnamed(gone: Iterable[Path], folders: Iterable[Path]) -> list[Path]:
    """Those that no state of another session names: a fork's state holds paths into its origin's archive."""
    left = list(gone)
    for folder in folders if left else ():
        try:
            held = (folder / "state.json").read_bytes()
        except OSError:
            return []
        left = [one for one in left if one == folder or one.name.encode() not in held]
    return left


def _changed_s(folder: Path) -> float:
    try:
        return (folder / "state.json").stat().st_mtime
    except OSError:
        return float("inf")
