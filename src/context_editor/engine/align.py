"""Matching the host's own rows to what its file holds, by call ids and content; the shared id is a shortcut."""

from collections.abc import Mapping, Sequence

from context_editor.core.apply.stored import WORDS, shape_of
from context_editor.core.rows import Piece, PieceForm
from context_editor.engine.ports import HostRow
from context_editor.errors import TranscriptError


def aligned(
    pieces: Sequence[Piece], host_rows: Sequence[HostRow], *, is_lenient: bool = False
) -> Mapping[str, int]:
    """The place of every stored row among the host's rows, by the stored row's id.

    Args:
        pieces: What the host's file holds.
        host_rows: What the host holds.
        is_lenient: Whether rows that only the host holds are passed over: a repair leaves them out.

    Raises:
        TranscriptError: The host holds a row that its file does not, or a content differs: nothing that
            is decided from the file would be safe then.
    """
    stored = by_handle(pieces)
    places: dict[str, int] = {}
    unknown: list[int] = []
    for at, row in enumerate(host_rows):
        group = stored.get(row.handle)
        if group is None or not is_same_row(group, row):
            unknown.append(at)
        else:
            places[row.handle] = at
    if not is_lenient:
        _match_by_content(unknown, host_rows, stored, places)
    return places


def by_handle(pieces: Sequence[Piece]) -> dict[str, list[Piece]]:
    """The pieces of every stored row, by its id; what hangs behind another row is not among them."""
    stored: dict[str, list[Piece]] = {}
    for piece in pieces:
        group = stored.get(piece.handle)
        if group is not None:
            group.append(piece)
        elif piece.form is not PieceForm.ATTACHMENT:
            stored[piece.handle] = [piece]
    return stored


def is_same_row(group: Sequence[Piece], row: HostRow) -> bool:
    """Whether a stored row and a row of the host hold the same calls, results and first words."""
    shape = shape_of(group)
    if shape.calls != row.calls or shape.results != row.results or shape.role != row.role:
        return False
    if not row.length:
        return True
    words = next((p.text for p in group if p.form in WORDS), None)
    return words is None or _begins_alike(words, row.head)


def _begins_alike(text: str, head: str) -> bool:
    shown = head.strip()[:32]
    return shown in text or text.strip()[:32] in head


def _match_by_content(
    unknown: Sequence[int],
    host_rows: Sequence[HostRow],
    stored: Mapping[str, Sequence[Piece]],
    places: dict[str, int],
) -> None:
    """Find rows whose id is not that of the file: by their call ids, else by role and words, in order."""
    free = [handle for handle in stored if handle not in places]
    for at in unknown:
        row = host_rows[at]
        found = next(
            (
                handle
                for handle in free
                if is_same_row(stored[handle], row) and _says_something(row)
            ),
            None,
        )
        if found is None:
            msg = (
                f"the host holds a row ({row.role}, {row.length} characters: {row.head[:40]!r}) "
                f"that its file does not show yet"
            )
            raise TranscriptError(msg)
        free.remove(found)
        places[found] = at


def _says_something(row: HostRow) -> bool:
    return bool(row.calls or row.results or row.length)
