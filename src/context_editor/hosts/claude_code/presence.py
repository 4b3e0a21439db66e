"""Which host process hears our mod, and what it told us: a small file for each process.

The mod says hello when a session starts; the server of the same host process reads it. A file that is
not there, or that another process left under the same number, means that edits wait for a resume.
"""

import json
from pathlib import Path
from typing import Any, Final

from context_editor.store.files import make_folder, replace_file

MODS_ARE_OFF: Final = "mods are off"
"""The reason where the mod of this host process never said hello."""


def presence_path(data: Path, host_pid: int) -> Path:
    """The file of a host process."""
    return data / "hosts" / f"{host_pid}.json"


def say_hello(data: Path, host_pid: int, facts: dict[str, Any]) -> None:
    """Note that the mod of a host process is there, and what the host told it; forget processes that ended."""
    path = presence_path(data, host_pid)
    make_folder(path.parent)
    for other in path.parent.glob("*.json"):
        if (
            other.stem.isdecimal()
            and not Path(f"/proc/{other.stem}").exists()
            and Path("/proc/self").exists()
        ):
            other.unlink(missing_ok=True)
    replace_file(path, json.dumps({"pid": host_pid, **facts}).encode())


def bar(data: Path, host_pid: int, reason: str) -> None:
    """Note why the mod of a host process cannot apply edits, for as long as the process lives."""
    facts = _facts(data, host_pid) or {"pid": host_pid}
    replace_file(presence_path(data, host_pid), json.dumps({**facts, "barred": reason}).encode())


def _facts(data: Path, host_pid: int) -> dict[str, Any] | None:
    try:
        facts: Any = json.loads(presence_path(data, host_pid).read_bytes())
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def apply_mode(data: Path, host_pid: int) -> str:
    """Why edits are not applied at a turn's end in this host process; empty when they are."""
    facts = _facts(data, host_pid)
    return MODS_ARE_OFF if facts is None else str(facts.get("barred", ""))


def window(data: Path, host_pid: int) -> int:
    """The model's context window that the host told, in tokens; 0 when it told none."""
    facts = _facts(data, host_pid) or {}
    told = facts.get("window", 0)
    return told if isinstance(told, int) else 0


def sizes(data: Path, host_pid: int) -> tuple[int, int]:
    """The window, and the size at which the host compacts by itself, in tokens; 0 where it told none."""
    facts = _facts(data, host_pid) or {}
    window_tokens, threshold = facts.get("window", 0), facts.get("auto_compact", 0)
    return (
        window_tokens if isinstance(window_tokens, int) else 0,
        threshold if isinstance(threshold, int) else 0,
    )
