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


def is_shown(pieces: Sequence[Piece], host_rows: Sequence[HostRow], *, by_id: bool = False) -> bool:
    """Whether the newest rows that the host holds stand in its file.

    Args:
        pieces: What the file holds.
        host_rows: What the host holds.
        by_id: Whether a row of the same content but another id is another one, as after an apply.
    """
    stored = by_handle(pieces[-NEWEST_PIECES:])
    return all(
        row.handle in stored
        or (not by_id and any(is_same_row(group, row) for group in stored.values()))
        for row in host_rows[-NEWEST_ROWS:]
    )


def await_rows(
    read: Callable[[], Sequence[Piece]],
    host_rows: Sequence[HostRow],
    sleep: Callable[[float], None],
    *,
    by_id: bool = False,
) -> bool:
    """Wait until the newest rows stand in the file; what never comes is the caller's to refuse.

    Args:
        read: The pieces as the file holds them now.
        host_rows: What the host holds.
        sleep: Waits so many seconds.
        by_id: See `is_shown`.

    Returns:
        Whether they stand there.
    """
    for _ in range(WAIT_TRIES):
        if is_shown(read(), host_rows, by_id=by_id):
            return True
        sleep(WAIT_PAUSE_S)
    return False
