"""Names of rows: numbers that hold for one epoch, and short refs that never go stale (rules A8 and A9)."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.growing import same_front
from context_editor.core.rows import Row
from context_editor.errors import RefusedError

REF_CHARS: Final = 4
"""Characters behind the `r` of a ref: a million names, few enough to type and to repeat."""

LIST_AGAIN: Final = "list again with context_list, or name the row by its ref"


@dataclass(frozen=True)
class Target:
    """How a call names a row or a range: exactly one of `index`, `ref` and `tool_use_id`.

    Attributes:
        index: A number or a ref.
        ref: A ref, or the id of a replacement (`c7`).
        tool_use_id: The id of one tool call; takes no `to`.
        to: The last row of a range, a number or a ref; None for a single row.
    """

    index: int | str | None = None
    ref: str | None = None
    tool_use_id: str | None = None
    to: int | str | None = None

    @property
    def words(self) -> str:
        """The target as it was given, for messages."""
        name = self.tool_use_id or self.ref or self.index
        start = f"#{name}" if isinstance(name, int) else str(name)
        if self.to is None:
            return start
        return f"{start}..{f'#{self.to}' if isinstance(self.to, int) else self.to}"


LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
"""The letters of base32, each five bits."""

REF_BYTES: Final = -(-5 * REF_CHARS // 8)
REF_SHIFTS: Final = tuple(8 * REF_BYTES - 5 * n for n in range(1, REF_CHARS + 1))
"""Where the bits of each letter of a ref begin in the first bytes of a digest."""


OPEN_ROWS: Final = 50
"""Rows at the end that may still change between two looks, and are named anew."""


@dataclass
class RefMemory:
    """The refs of an earlier look: while its first rows stand, only later ones are named anew.

    Attributes:
        known: What was known of other refs.
        rows: The rows that were named, all but the last few.
        refs: Their refs, by anchor.
        seen: How often each print stands in them.
        taken: The refs that are given out.
    """

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: Sequence[Row] = ()
    refs: dict[str, str] = field(default_factory=dict[str, str])
    seen: dict[str, int] = field(default_factory=dict[str, int])
    taken: set[str] = field(default_factory=set[str])

    def begin(self, rows: Sequence[Row], known: Mapping[str, str]) -> None:
        """Forget everything unless these rows begin with the same ones."""
        if self.known != known or same_front(self.rows, rows) < len(self.rows):
            self.known, self.rows = dict(known), ()
            self.refs, self.seen, self.taken = {}, {}, set(known.values())


def refs_of(
    rows: Sequence[Row], known: Mapping[str, str], memory: RefMemory | None = None
) -> dict[str, str]:
    """The ref of every row, by anchor.

    Args:
        rows: The rows in their order.
        known: Refs that were given earlier and differ from what the print gives, by anchor.
        memory: What an earlier look worked out; brought up to this one.
    """
    held = memory or RefMemory()
    held.begin(rows, known)
    settled = max(len(held.rows), len(rows) - OPEN_ROWS)
    _name(rows[len(held.rows) : settled], known, held)
    held.rows = rows[:settled]
    refs = dict(held.refs)
    last = RefMemory(known, (), refs, dict(held.seen), set(held.taken))
    _name(rows[settled:], known, last)
    return refs


def _name(rows: Iterable[Row], known: Mapping[str, str], held: RefMemory) -> None:
    for row in rows:
        nth = held.seen.get(row.print, 0)
        held.seen[row.print] = nth + 1
        ref = known.get(row.anchor) or _fresh_ref(row.print, nth, held.taken)
        held.taken.add(ref)
        held.refs[row.anchor] = ref


def _fresh_ref(row_print: str, nth: int, taken: set[str]) -> str:
    digest = hashlib.sha256(f"{row_print}.{nth}".encode()).digest()
    # The first letters of base32, one by one: the whole of it costs more than all else here.
    bits = int.from_bytes(digest[:REF_BYTES])
    ref = "".join(LETTERS[bits >> shift & 31] for shift in REF_SHIFTS)
    if f"r{ref}" not in taken:
        return f"r{ref}"
    letters = base64.b32encode(digest).decode().lower()
    chars = REF_CHARS + 1
    while f"r{letters[:chars]}" in taken:
        chars += 1
    return f"r{letters[:chars]}"


@dataclass(frozen=True)
class Names:
    """How the rows of one conversation are named now, and where older names lead.

    Attributes:
        conversation: The conversation.
        known: Refs that differ from what their row's print gives, by anchor.
        absorbed: Refs of rows that are gone and the refs that they lead to.
        replacements: The anchor where a replacement stands, by its id; empty where it was absorbed.
        absorbers: The id that took a replacement in, by its id.
        epoch: Applies so far.
        numbered_epoch: The epoch of our newest output with numbers; None before the first.
        numberings: Refs in the order of their numbers, by older epoch.
        memory: What an earlier look worked out of refs; None where there was none.
    """

    conversation: Conversation
    known: Mapping[str, str] = field(default_factory=dict)
    absorbed: Mapping[str, str] = field(default_factory=dict)
    replacements: Mapping[str, str] = field(default_factory=dict)
    absorbers: Mapping[str, str] = field(default_factory=dict)
    epoch: int = 0
    numbered_epoch: int | None = None
    numberings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    memory: RefMemory | None = None

    @cached_property
    def refs(self) -> Mapping[str, str]:
        """The ref of every row, by anchor."""
        return refs_of(self.conversation.rows, self.known, self.memory)

    @cached_property
    def anchors(self) -> Mapping[str, str]:
        """The anchor of every row, by ref."""
        return {ref: anchor for anchor, ref in self.refs.items()}

    def ref(self, row: Row) -> str:
        """The row's ref."""
        return self.refs[row.anchor]

    def number(self, row: Row) -> int:
        """The row's number; 0 for a hidden row."""
        return self.conversation.numbers.get(row.anchor, 0)

    def words(self, row: Row) -> str:
        """The row's number and ref, as messages name it: `#14 r7k2`."""
        return f"#{self.number(row)} {self.ref(row)}"

    def row(self, name: int | str, epoch: int | None = None) -> Row:
        """The row that a number, a ref or a replacement's id names.

        Args:
            name: The number or the ref.
            epoch: The epoch that the caller says a number belongs to; None when it says none.

        Raises:
            RefusedError: Nothing has that name, or the number may be out of date.
        """
        if isinstance(name, int):
            return self._numbered(name, epoch)
        digits = name.removeprefix("#")
        if digits.isdecimal():
            return self._numbered(int(digits), epoch)
        return self._referred(name)

    def _numbered(self, number: int, epoch: int | None) -> Row:
        self._check_epoch(number, epoch)
        row = self.conversation.row(number)
        if row is None:
            count = len(self.conversation.listed)
            allowed = f"rows are #1..#{count}" if count else "there are no rows"
            msg = f"there is no row #{number}: {allowed}; {LIST_AGAIN}"
            raise RefusedError(msg)
        return row

    def _check_epoch(self, number: int, epoch: int | None) -> None:
        if epoch is None:
            if self.epoch and self.numbered_epoch != self.epoch:
                msg = f"row numbers changed with the last apply (epoch {self.epoch}): {LIST_AGAIN}"
                raise RefusedError(msg)
            return
        if epoch == self.epoch:
            return
        if epoch > self.epoch:
            msg = f"epoch {epoch} has not begun: this is epoch {self.epoch}; {LIST_AGAIN}"
            raise RefusedError(msg)
        msg = f"#{number} is a number of epoch {epoch}, this is epoch {self.epoch}: {self._today(number, epoch)}"
        raise RefusedError(msg)

    def _today(self, number: int, epoch: int) -> str:
        older = self.numberings.get(str(epoch), ())
        if not 0 < number <= len(older):
            return LIST_AGAIN
        try:
            row = self._referred(older[number - 1])
        except RefusedError:
            return f"its content ({older[number - 1]}) stands no more; {LIST_AGAIN}"
        return f"its content is now {self.words(row)}; send that number or the ref"

    def _referred(self, name: str) -> Row:
        standing = self.standing(name)
        anchor = self.replacements.get(standing) or self.anchors.get(standing)
        row = self.conversation.by_anchor.get(anchor or "")
        if row is None:
            msg = (
                f"nothing is named {name!r}: give a row number, a ref such as r7k2, "
                f"or a replacement such as c7; {LIST_AGAIN}"
            )
            raise RefusedError(msg)
        return row

    def standing(self, name: str) -> str:
        """The ref or replacement that an older name leads to; the name itself while its row stands."""
        seen = {name}
        while name not in self.anchors and not self.replacements.get(name):
            later = self.absorbed.get(name) or self.absorbers.get(name)
            if not later or later in seen:
                break
            seen.add(later)
            name = later
        return name

    def resolved(self, target: Target, epoch: int | None = None) -> tuple[Row, ...]:
        """The listed rows that a target names, in their order.

        Raises:
            RefusedError: A name is unknown or out of date, or the range runs backwards.
        """
        if target.tool_use_id is not None:
            return (self._of_call(target.tool_use_id),)
        name = target.ref if target.ref is not None else target.index
        if name is None:
            msg = "no row was named: give exactly one of index, ref and tool_use_id"
            raise RefusedError(msg)
        first = self.row(name, epoch)
        last = first if target.to is None else self.row(target.to, epoch)
        return self.between(first, last, target)

    def between(self, first: Row, last: Row, target: Target) -> tuple[Row, ...]:
        """The listed rows from `first` to `last`.

        Raises:
            RefusedError: One of them has no number, or the range runs backwards.
        """
        start, end = self.number(first), self.number(last)
        if not start or not end:
            msg = (
                f"{target.words} is not listed: it is this product's own call or record "
                f"and leaves with the next apply"
            )
            raise RefusedError(msg)
        if end < start:
            msg = f"{target.words} runs backwards (#{start}..#{end}): name the older row first"
            raise RefusedError(msg)
        return self.conversation.listed[start - 1 : end]

    def _of_call(self, call_id: str) -> Row:
        row = self.conversation.by_anchor.get(f"t:{call_id}")
        if row is None or row.is_hidden:
            msg = f"no tool call here has the id {call_id!r}; {LIST_AGAIN}"
            raise RefusedError(msg)
        return row
