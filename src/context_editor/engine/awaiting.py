"""Waiting for the host's file: it writes the newest rows while it already asks what to do with them."""

from collections.abc import Callable, Sequence
from typing import Final

from context_editor.core.rows import Piece
from context_editor.engine.align import by_handle, is_same_row
from context_editor.engine.ports import HostRow

WAIT_TRIES: Final = 200
WAIT_PAUSE_S: Final = 0.005
"""How often, and how far apart in seconds, the file is looked at: up to 0.1 s was seen, a second is allowed.

Observed on Claude Code 2.1.332, 2026-11-30.
"""

NEWEST_ROWS: Final = 8
NEWEST_PIECES: Final = 256
"""How many rows of the host are looked for, among how many pieces: more than an answer and its results are."""


def is_shown(pieces: Sequence[Piece], host_rows: Sequence[HostRow]) -> bool:
    """Whether the newest rows that the host holds stand in its file."""
    stored = by_handle(pieces[-NEWEST_PIECES:])
    return all(
        row.handle in stored or any(is_same_row(group, row) for group in stored.values())
        for row in host_rows[-NEWEST_ROWS:]
    )


def await_rows(
    read: Callable[[], Sequence[Piece]],
    host_rows: Sequence[HostRow],
    sleep: Callable[[float], None],
) -> None:
    """Wait until the newest rows stand in the file; what never comes is the caller's to refuse.

    Args:
        read: The pieces as the file holds them now.
        host_rows: What the host holds.
        sleep: Waits so many seconds.
    """
    for _ in range(WAIT_TRIES):
        if is_shown(read(), host_rows):
            return
        sleep(WAIT_PAUSE_S)
