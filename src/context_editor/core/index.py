"""Where the pieces and rows of one conversation are found; carried from look to look while it grows. Pure."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from context_editor.core.rows import Piece, PieceForm, Row

Found = TypeVar("Found")


@dataclass
class Index:
    """Where pieces and rows are found; that of a conversation that grew begins with the one before.

    Attributes:
        pieces: Every piece, in order.
        rows: Every row, in order.
        listed: The rows that have a number.
        by_anchor: Every row by its anchor.
        places: The place of every row in `rows`, by anchor.
        numbers: The number of every listed row, by anchor; 1 is the oldest.
        starts: The position of the first piece of every listed row.
        ends: For every row the last position that it or a row in front of it has.
        pending: The places of the pending rows.
        hidden: The places of the hidden rows.
        responses: The position where each response begins, by its id.
        thinking: The positions of thinking.
        special: The positions of pieces with media, and of attachments that cannot be rendered.
    """

    pieces: list[Piece] = field(default_factory=list[Piece])
    rows: list[Row] = field(default_factory=list[Row])
    listed: list[Row] = field(default_factory=list[Row])
    by_anchor: dict[str, Row] = field(default_factory=dict[str, Row])
    places: dict[str, int] = field(default_factory=dict[str, int])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    pending: list[int] = field(default_factory=list[int])
    hidden: list[int] = field(default_factory=list[int])
    responses: dict[str, int] = field(default_factory=dict[str, int])
    thinking: list[int] = field(default_factory=list[int])
    special: list[int] = field(default_factory=list[int])
    _twins: dict[str, tuple[int, ...]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, pieces: Iterable[Piece], rows: Iterable[Row]) -> "Index":
        """The index of these pieces and rows."""
        index = cls()
        index.add_pieces(pieces)
        for row in rows:
            index.add_row(row)
        return index

    def add_pieces(self, pieces: Iterable[Piece]) -> None:
        """Take more pieces in, at the end."""
        for at, piece in enumerate(pieces, start=len(self.pieces)):
            self.pieces.append(piece)
            if piece.response is not None:
                self.responses.setdefault(piece.response, at)
            if piece.form is PieceForm.THINKING:
                self.thinking.append(at)
            if piece.media or (piece.rides and piece.extra.get("rendered_known") is False):
                self.special.append(at)

    def add_row(self, row: Row) -> None:
        """Take one more row in, at the end."""
        place, last = len(self.rows), row.positions[-1]
        self.ends.append(max(last, self.ends[-1]) if self.ends else last)
        self.rows.append(row)
        self.by_anchor[row.anchor], self.places[row.anchor] = row, place
        if row.is_pending:
            self.pending.append(place)
        if row.is_hidden:
            self.hidden.append(place)
        else:
            self.listed.append(row)
            self.starts.append(row.positions[0])
            self.numbers[row.anchor] = len(self.listed)
        if self._twins is not None:
            self._twins[row.print] = (*self._twins.get(row.print, ()), place)

    @property
    def twins(self) -> Mapping[str, Sequence[int]]:
        """The places of all rows of the same print, by that print."""
        if self._twins is None:
            self._twins = {}
            for place, row in enumerate(self.rows):
                self._twins[row.print] = (*self._twins.get(row.print, ()), place)
        return self._twins

    def front(self, rows: int, pieces: int) -> "Index":
        """A new index of the first so many rows and pieces alone."""
        hidden = _below(self.hidden, rows)
        listed = min(rows, len(self.rows)) - len(hidden)
        begun = bisect_left(list(self.responses.values()), pieces)
        return Index(
            pieces=self.pieces[:pieces],
            rows=self.rows[:rows],
            listed=self.listed[:listed],
            by_anchor=_first(self.by_anchor, rows),
            places=_first(self.places, rows),
            numbers=_first(self.numbers, listed),
            starts=self.starts[:listed],
            ends=self.ends[:rows],
            pending=_below(self.pending, rows),
            hidden=hidden,
            responses=_first(self.responses, begun),
            thinking=_below(self.thinking, pieces),
            special=_below(self.special, pieces),
            _twins=self._twins_below(rows),
        )

    def _twins_below(self, rows: int) -> dict[str, tuple[int, ...]] | None:
        if self._twins is None:
            return None
        twins = dict(self._twins)
        for row in reversed(self.rows[rows:]):
            *others, _ = twins.pop(row.print)
            twins.update({row.print: tuple(others)} if others else {})
        return twins

    def settled(self, same: int, answered: Collection[str | None], written: str | None) -> int:
        """How many rows in front are made of unchanged pieces alone, and no new one completes them.

        Args:
            same: How many pieces in front are unchanged.
            answered: The ids of the calls that newer pieces answer.
            written: The response that was being written; None for none.
        """
        count = bisect_left(self.ends, same)
        for place in self.pending:
            first = self.rows[place].pieces[0]
            is_written = written is not None and first.response == written
            if place < count and (is_written or first.call is None or first.call.id in answered):
                return place
        return count


def _first(found: Mapping[str, Found], count: int) -> dict[str, Found]:
    """The entries that were made first; taken off at the end, since a copy of what has gaps is slow."""
    rest = dict(found)
    while len(rest) > count:
        rest.popitem()
    return rest


def _below(positions: list[int], limit: int) -> list[int]:
    """Those of rising positions that stand in front of a limit."""
    return positions[: bisect_left(positions, limit)]
