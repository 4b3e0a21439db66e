"""What an edit archives: the original as a text to read, its media as files, and the record that a restore reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from context_editor.core.conversation import Conversation
from context_editor.core.edits.admit import described_pieces
from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.rows import Media, Piece, Row
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
    group: Sequence[tuple[Edit, tuple[Row, ...]]],
    conversation: Conversation,
    record: dict[str, Any],
    run: str,
) -> tuple[Filed, ...]:
    """Write the originals, media and the one record of an edit or a batch, each read back.

    Returns:
        What was filed, one an edit.

    Raises:
        ArchiveError: Something could not be written; what was written so far stays.
    """
    filed: list[tuple[str, tuple[str, ...], str]] = []
    items: list[dict[str, Any]] = []
    given = iter(record["items"])
    for edit, rows in group:
        path = archive.put_original(original_text(edit.op, rows))
        media: list[str] = []
        first = len(items)
        for pieces in covered_pieces(edit.op, rows, conversation):
            found = [stored for m in _media(pieces) if (stored := archive.put_media(m)) is not None]
            media += found
            items.append({**next(given), "pieces": stored_pieces(pieces), "media": found})
        item = f"#{first}" if len(group) > 1 else ""
        filed.append((path, tuple(media), item))
    address = archive.put_record(run, {**record, "items": items})
    return tuple([Filed(path, media, f"{address}{item}") for path, media, item in filed])


def _media(pieces: Sequence[Piece]) -> list[Media]:
    return [media for piece in pieces for media in piece.media]


def first_original(rows: Sequence[Row], replacements: dict[str, Replacement]) -> str:
    """The original that a re-edit of one replaced row keeps pointing to; empty where none was replaced."""
    if len(rows) != 1 or rows[0].replacement is None:
        return ""
    earlier = replacements.get(rows[0].replacement)
    return earlier.original if earlier else ""
