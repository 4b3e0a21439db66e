"""What one session of a host process leaves for the next one: the host clears a conversation by a new session.

The session's id is another then; the process is the same, so the offer is kept under its number. Standard
library and the state's codec only (hooks import it).
"""

import json
from pathlib import Path
from typing import Any, Final

from context_editor.core.molt import Molt
from context_editor.store import codec
from context_editor.store.files import replace_file

SUFFIX: Final = ".offer"
"""How the names of offers end; the rest is the number of the process."""


def put_offer(data: Path, host_pid: int, molt: Molt, words: str) -> None:
    """Leave a molt, and what is to be told of it, for the next session of a host process."""
    folder = data / "hosts"
    document = {"words": words, "molt": codec.encoded(molt)}
    replace_file(folder / f"{host_pid}{SUFFIX}", json.dumps(document).encode())
    for other in folder.glob(f"*{SUFFIX}"):
        is_over = other.stem.isdecimal() and not Path(f"/proc/{other.stem}").exists()
        if is_over and Path("/proc/self").exists():
            other.unlink(missing_ok=True)


def take_offer(data: Path, host_pid: int) -> tuple[Molt, str] | None:
    """What the session before left, once: the next call finds nothing."""
    path = data / "hosts" / f"{host_pid}{SUFFIX}"
    try:
        document: Any = json.loads(path.read_bytes())
        path.unlink()
        return codec.decoded(Molt, document["molt"]), str(document["words"])
    except (OSError, ValueError, KeyError, TypeError):
        # Not there, or half of it: the snapshot is on disk all the same.
        path.unlink(missing_ok=True)
        return None
