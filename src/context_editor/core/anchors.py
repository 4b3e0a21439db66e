"""Content anchors: how tags, notes and stages find their rows again after any renumbering. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from context_editor.core.conversation import Conversation
from context_editor.core.rows import Row


@dataclass(frozen=True, slots=True)
class Anchor:
    """How one row is found again.

    A tool row keeps its id through every apply; any other row gets a new one from the host, so that its
    print and its place among rows of the same print find it where nobody told where it went.

    Attributes:
        id: The row's anchor when it was last seen; empty for a place that never had a row.
        print: The print of its kind and content.
        nth: How many rows of the same print stood before it.
        turn: The turn that it belongs to; where its row is gone, this says roughly where it stood.
        was: Where it leads to a replacement now: the print of the row that it meant first, so that it finds that
            row again when the replacement is undone. Empty else.
    """

    id: str
    print: str = ""
    nth: int = 0
    turn: int = 0
    was: str = ""


@dataclass(frozen=True)
class Moves:
    """Where the rows of a conversation went with an apply, by the anchor that each had before.

    Attributes:
        moved: Rows that stand as they were, under a new anchor. Those whose anchor did not change may be left out.
        absorbed: Rows that a replacement took in, and the anchor where it stands. A summarised or rewritten row
            is one of them: it leads to the row that holds the replacement.
        restored: Replacements that were undone, and the anchors of the rows that came back, in order.
        slot: The anchor of the state slot that the apply built; empty when it built none.
    """

    moved: Mapping[str, str] = field(default_factory=dict[str, str])
    absorbed: Mapping[str, str] = field(default_factory=dict[str, str])
    restored: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    slot: str = ""


@dataclass(frozen=True)
class Places:
    """Rows of one conversation, found by anchor and by their order.

    Attributes:
        conversation: The conversation.
        leaving: Anchors of rows that are about to go: they are found, but nothing new begins or ends there.
    """

    conversation: Conversation
    leaving: frozenset[str] = frozenset()

    @cached_property
    def standing(self) -> tuple[Row, ...]:
        """The listed rows that stay, in order."""
        listed, leaving = self.conversation.listed, self.leaving
        return tuple(row for row in listed if row.anchor not in leaving) if leaving else listed

    @cached_property
    def _starts(self) -> Sequence[int]:
        if not self.leaving:
            return self.conversation.index.starts
        return [row.positions[0] for row in self.standing]

    def anchor(self, row: Row) -> Anchor:
        """How this row is found again."""
        index = self.conversation.index
        nth = index.twins[row.print].index(index.places[row.anchor])
        return Anchor(row.anchor, row.print, nth, row.turn)

    def row(self, anchor: Anchor) -> Row | None:
        """The row of an anchor, by id, else by print and occurrence; None when it is gone."""
        row = self.conversation.by_anchor.get(anchor.id)
        if row is not None:
            return row
        twins = self.conversation.index.twins.get(anchor.print, ())
        return self.conversation.rows[twins[anchor.nth]] if anchor.nth < len(twins) else None

    def start(self, anchor: Anchor, *, is_behind: bool = False) -> Row | None:
        """The row where something begins that was begun at this anchor (rule B10).

        Args:
            anchor: Where it was begun.
            is_behind: Whether it begins behind that row and not with it.

        Returns:
            The row itself or, where that is hidden, gone or not meant, the next one that stands; None while
            there is none yet.
        """
        row = self.row(anchor)
        if row is None:
            return next((later for later in self.standing if later.turn >= anchor.turn), None)
        find = bisect_right if is_behind else bisect_left
        at = find(self._starts, row.positions[0])
        return self.standing[at] if at < len(self.standing) else None

    def end(self, anchor: Anchor) -> Row | None:
        """The row where something ends that was ended at this anchor: itself, else the one before; None without any."""
        row = self.row(anchor)
        if row is None:
            return next((r for r in reversed(self.standing) if r.turn <= anchor.turn), None)
        at = bisect_right(self._starts, row.positions[0])
        return self.standing[at - 1] if at else None

    def between(self, first: Row, last: Row) -> tuple[Row, ...]:
        """The standing rows from one to another, both included; empty when they run backwards."""
        start = bisect_left(self._starts, first.positions[0])
        return self.standing[start : bisect_right(self._starts, last.positions[0])]

    def before(self, position: int) -> tuple[Row, ...]:
        """The standing rows that begin before a position of the conversation."""
        return self.standing[: bisect_left(self._starts, position)]


def followed(
    anchor: Anchor, moves: Moves, places: Places, *, is_end: bool = False
) -> Anchor | None:
    """The anchor after an apply.

    Args:
        anchor: The anchor before.
        moves: Where rows went.
        places: The rows as they stand now.
        is_end: Whether it ends something: of several rows that a restore brought back the last is meant then.

    Returns:
        The row itself under its new id, the replacement that took it in, or what came back in its place; None
        when its row is gone.
    """
    if anchor.id in moves.restored:
        return _restored(anchor, moves, places, is_end=is_end)
    new = moves.absorbed.get(anchor.id)
    was = anchor.was or (anchor.print if new else "")
    row = places.conversation.by_anchor.get(new or moves.moved.get(anchor.id, ""))
    row = row or places.row(anchor)
    return None if row is None else replace(places.anchor(row), was=was)


def _restored(anchor: Anchor, moves: Moves, places: Places, *, is_end: bool) -> Anchor | None:
    """The row that was meant first, among those that came back; else the first or the last of them."""
    found = places.conversation.by_anchor
    rows = [found[new] for new in moves.restored[anchor.id] if new in found]
    if not rows:
        return None
    meant = next((row for row in rows if row.print == anchor.was), None)
    if meant is not None:
        return places.anchor(meant)
    return replace(places.anchor(rows[-1 if is_end else 0]), was=anchor.was)
