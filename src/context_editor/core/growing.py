"""What is worked out of a sequence that grows at its end, once for all that stays the same. Pure."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import compress, count
from operator import is_not
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Fact = TypeVar("Fact")


NEWEST: Final = 500
"""How many of the newest items are told apart one by one; those in front of them are compared as a whole."""


def same_front(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items, from the first on, are the same in both.

    The newest have to be the same objects. In front of them equal ones count as the same as well:
    Python compares whole lists of the same objects twenty times as fast as one pair after another.
    """
    shorter = min(len(one), len(other))
    if one is other:
        return shorter
    front = max(0, shorter - NEWEST)
    start = front if one[:front] == other[:front] else 0
    pairs = map(is_not, one[start:], other[start:])
    return start + next(compress(count(), pairs), shorter - start)


class Growing(Generic[Item, Fact]):
    """One fact an item; only from the first item on that is another one they are worked out anew.

    It holds the sequence that it was given last, and nothing of those before.
    """

    def __init__(self, fact: Callable[[Item], Fact]) -> None:
        """Nothing is known yet.

        Args:
            fact: What is to be known of an item; the same whenever it is asked.
        """
        self._fact = fact
        self._items: Sequence[Item] = ()
        self._facts: list[Fact] = []

    def of(self, items: Sequence[Item]) -> list[Fact]:
        """The facts of these items, in their order; to be read only."""
        same = same_front(self._items, items)
        if not same == len(items) == len(self._facts):
            self._facts = [*self._facts[:same], *map(self._fact, items[same:])]
            self._items = items
        return self._facts


class Sifted(Generic[Item, Fact]):
    """The facts of those items that have one, worked out as those of `Growing` are."""

    def __init__(self, fact: Callable[[Item], Fact | None]) -> None:
        """Nothing is known yet.

        Args:
            fact: What is to be known of an item, None for nothing; the same whenever it is asked.
        """
        self._fact = fact
        self._items: Sequence[Item] = ()
        self._placed: list[tuple[int, Fact]] = []
        self._facts: list[Fact] = []

    def of(self, items: Sequence[Item]) -> list[Fact]:
        """The facts of these items, in their order; to be read only."""
        same = same_front(self._items, items)
        if not same == len(items) == len(self._items):
            kept = bisect_left(self._placed, same, key=_place)
            later = [(at, self._fact(item)) for at, item in enumerate(items[same:], start=same)]
            found = [(at, fact) for at, fact in later if fact is not None]
            self._placed = [*self._placed[:kept], *found]
            self._facts = [*self._facts[:kept], *(fact for _, fact in found)]
            self._items = items
        return self._facts

    def placed(self, items: Sequence[Item]) -> list[tuple[int, Fact]]:
        """The same facts, each with its item's place; to be read only."""
        self.of(items)
        return self._placed


def _place(placed: tuple[int, object]) -> int:
    return placed[0]
