"""One conversation: what the model is sent now, as stored pieces and as numbered rows. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from context_editor.core.index import Index
from context_editor.core.rows import Piece, Row


@dataclass(frozen=True)
class Conversation:
    """What the model is sent now, as pieces and as numbered rows.

    Attributes:
        pieces: Every piece since the last boundary, in the order that the model reads them.
        rows: Every row, hidden ones included, in the order of their first piece.
        unreadable: How many stored lines could not be read.
        turns: Completed turns so far (rule: `/compact` turns never count).
        known: The index of these pieces and rows, where it is known already.
    """

    pieces: tuple[Piece, ...]
    rows: tuple[Row, ...]
    unreadable: int = 0
    turns: int = 0
    known: Index | None = field(default=None, compare=False, repr=False)

    @cached_property
    def index(self) -> Index:
        """Where pieces and rows are found; to be read only."""
        return self.known or Index.of(self.pieces, self.rows)

    @cached_property
    def listed(self) -> tuple[Row, ...]:
        """The rows that have a number: `listed[0]` is `#1`."""
        return tuple(self.index.listed)

    @cached_property
    def hidden(self) -> tuple[Row, ...]:
        """The rows without a number."""
        return tuple(self.rows[place] for place in self.index.hidden)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of every listed row, by anchor; 1 is the oldest."""
        return self.index.numbers

    @cached_property
    def by_anchor(self) -> Mapping[str, Row]:
        """Every row by its anchor."""
        return self.index.by_anchor

    @cached_property
    def row_at(self) -> Mapping[int, Row]:
        """The row that a piece belongs to, by the piece's position; thinking pieces belong to none."""
        return {position: row for row in self.rows for position in row.positions}

    def bearer(self, at: int) -> int:
        """The position of the piece that the attachment at a position stands or falls with; -1 for none."""
        return next((place for place in range(at, -1, -1) if not self.pieces[place].rides), -1)

    def row(self, number: int) -> Row | None:
        """The row with this number, or None when there is none."""
        return self.listed[number - 1] if 0 < number <= len(self.listed) else None
