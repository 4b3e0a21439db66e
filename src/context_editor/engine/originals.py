"""What an edit archives: the original as a text to read, its media as files, and the record that a restore reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from context_editor.core.apply.plan import Placed
from context_editor.core.edits.admit import described_pieces
from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.rows import Conversation, Media, Piece, Row
from context_editor.store.archive import Archive, stored_pieces


@dataclass(frozen=True)
class Filed:
    """An edit's originals, once they stand in the archive.

    Attributes:
        original: The absolute path of the first original.
        media: Absolute paths of its media.
        record: The address of its record.
    """

    original: str = ""
    media: tuple[str, ...] = ()
    record: str = ""


def original_text(op: Op, rows: Sequence[Row]) -> str:
    """The original as it is read later: one row's own text byte for byte, several rows with a heading each."""
    if op is not Op.COLLAPSE and len(rows) == 1:
        return rows[0].text
    return "\n\n".join(f"=== {row.source} ===\n{_call_words(row)}{row.text}" for row in rows)


def _call_words(row: Row) -> str:
    if row.call is None:
        return ""
    given = ", ".join(f"{key}={value!r}" for key, value in row.call.input.items())
    return f"[call {row.call.name}({given})]\n"


def covered_pieces(
    op: Op, rows: Sequence[Row], conversation: Conversation
) -> tuple[tuple[Piece, ...], ...]:
    """The pieces that a restore would bring back, by row."""
    if op is Op.DESCRIBE:
        return (described_pieces(rows[0], conversation),)
    return tuple(row.pieces for row in rows)


def file_originals(
    archive: Archive,
    edit: Edit,
    rows: Sequence[Row],
    conversation: Conversation,
    record: dict[str, Any],
    run: str,
) -> Filed:
    """Write an edit's originals, media and record, each read back.

    Raises:
        ArchiveError: Something could not be written; what was written so far stays.
    """
    pieces = covered_pieces(edit.op, rows, conversation)
    path = archive.put_original(original_text(edit.op, rows))
    media = tuple(
        str(stored)
        for group in pieces
        for m in _media(group)
        if (stored := archive.put_media(m)) is not None
    )
    items = [
        {**item, "pieces": stored_pieces(group), "media": list(media)}
        for item, group in zip(record["items"], pieces, strict=True)
    ]
    address = archive.put_record(run, {**record, "items": items})
    return Filed(str(path), media, address)


def _media(pieces: Sequence[Piece]) -> list[Media]:
    return [media for piece in pieces for media in piece.media]


def first_original(rows: Sequence[Row], replacements: dict[str, Replacement]) -> str:
    """The original that a re-edit of one replaced row keeps pointing to; empty where none was replaced."""
    if len(rows) != 1 or rows[0].replacement is None:
        return ""
    earlier = replacements.get(rows[0].replacement)
    return earlier.original if earlier else ""


def placed_of(
    edit: Edit, rows: tuple[Row, ...], replacement_id: str, filed: Filed, first: str
) -> Placed:
    """The edit, ready to be planned."""
    return Placed(edit, rows, replacement_id, first or filed.original, filed.media)
