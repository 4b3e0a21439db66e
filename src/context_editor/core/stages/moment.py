"""Where in the conversation a call is made, and which rows it names. Pure."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.conversation import Conversation
from context_editor.core.names import Names, Target
from context_editor.core.rows import Row, RowKind
from context_editor.errors import RefusedError

LAST: Final = "last"
"""The name of the newest completed tool result before the call, else of the newest own text (rule I2)."""


@dataclass(frozen=True)
class Moment:
    """The conversation as a call finds it.

    Attributes:
        names: The rows and their names.
        turn: The number of the running turn; of the last one between turns.
        response: The id of the answer that makes the call, or that carries the marker; empty where the
            conversation does not hold it yet: the call then stands behind everything.
        epoch: The epoch that the caller says its numbers belong to; None when it says none.
    """

    names: Names
    turn: int = 0
    response: str = ""
    epoch: int | None = None

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        return self.names.conversation

    @cached_property
    def places(self) -> Places:
        """The rows by anchor and order."""
        return Places(self.conversation)

    @cached_property
    def _position(self) -> int:
        """The position where the answer that makes the call begins."""
        end = len(self.conversation.pieces)
        return self.conversation.index.responses.get(self.response, end) if self.response else end

    @cached_property
    def first_row(self) -> Row | None:
        """The first row of the answer that makes the call, hidden or not; None while it is not to be seen."""
        rows = self.conversation.rows
        at = bisect_left(rows, self._position, key=lambda row: row.positions[0])
        return rows[at] if at < len(rows) else None

    @cached_property
    def complete(self) -> tuple[Row, ...]:
        """The listed rows before the answer that makes the call, without pending ones."""
        found = list(self.places.before(self._position))
        for place in reversed(self.conversation.index.pending):
            if number := self.names.number(self.conversation.rows[place]):
                del found[number - 1 : number]
        return tuple(found)

    def rows(self, target: Target) -> tuple[Row, ...]:
        """The listed rows that a target names; `last` is understood.

        Raises:
            RefusedError: A name is unknown or out of date, or the range runs backwards.
        """
        if LAST not in {target.index, target.ref, target.to}:
            return self.names.resolved(target, self.epoch)
        last = self.names.ref(self._last())
        meant = replace(
            target,
            index=last if target.index == LAST else target.index,
            ref=last if target.ref == LAST else target.ref,
            to=last if target.to == LAST else target.to,
        )
        return self.names.resolved(meant, self.epoch)

    def row(self, target: Target, what: str) -> Row:
        """The one row that a target names.

        Raises:
            RefusedError: It names several rows, or none.
        """
        rows = self.rows(target)
        if len(rows) != 1:
            msg = f"{what} takes one row, {target.words} names {len(rows)}: leave out `to`"
            raise RefusedError(msg)
        return rows[0]

    def _last(self) -> Row:
        results = (row for row in reversed(self.complete) if is_result(row))
        texts = (row for row in reversed(self.complete) if row.kind is RowKind.TEXT)
        row = next(results, None) or next(texts, None)
        if row is None:
            msg = "there is no `last`: no result and no text of yours stands before this call; name a row by its ref"
            raise RefusedError(msg)
        return row

    def span(self, first: Row, last: Row) -> str:
        """Two rows as a range, in numbers: `#14..#31`; one number for a single row."""
        start, end = self.names.number(first), self.names.number(last)
        return f"#{start}" if start == end else f"#{start}..#{end}"


def is_result(row: Row) -> bool:
    """Whether a row is a tool call with its result, a person's answer to a question included."""
    return row.result is not None and row.kind in {RowKind.TOOL, RowKind.PERSON}
