"""What a review candidate is, and how candidates are counted and ranked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from context_editor.core.sizes.wording import format_tokens


class Cause(StrEnum):
    """Why a row is a candidate, in the order in which one row's cause is shown."""

    STALE = "stale"
    """A read of a file that was changed afterwards."""
    SUPERSEDED = "superseded"
    """A read that a later read covers, with other content."""
    DUPLICATE = "duplicate"
    """An earlier copy of an output that stands again further on."""
    SEARCH = "search"
    """The result of a search some turns ago."""
    AGENT = "agent"
    """The agent's own mark."""
    BIG = "big"
    """A large output."""


RANK: Final = {cause: rank for rank, cause in enumerate(Cause)}
"""The place of each cause: 0 is shown before every other."""

POINTER_CAUSES: Final = frozenset({Cause.STALE, Cause.SUPERSEDED, Cause.DUPLICATE})
"""Causes with a ready-made text: what stands there is out of date or stands elsewhere."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may be worth an edit.

    Attributes:
        anchor: The row's anchor.
        causes: Every cause that holds, in the order of `Cause`; never empty.
        tokens: The row's size, call included.
        ready_made: A text for `summarize` that says what stood there and claims nothing about its
            content; empty where no such text can be had.
        saved_tokens: What that text would spare every later request; 0 without one.
    """

    anchor: str
    causes: tuple[Cause, ...]
    tokens: int
    ready_made: str = ""
    saved_tokens: int = 0

    @property
    def shown(self) -> Cause:
        """The one cause under which the row is shown and counted."""
        return self.causes[0]

    @property
    def flag(self) -> str:
        """The flag of a listed row, such as `[review: stale]`."""
        return f"[review: {self.shown}]"


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Candidates as reports name them: the largest first, of equal ones stale and superseded."""
    return sorted(candidates, key=lambda c: (-c.tokens, RANK[c.shown]))


def by_cause(candidates: Iterable[Candidate]) -> dict[Cause, list[Candidate]]:
    """Candidates by the cause that is shown, each in one group; the largest group first."""
    groups: dict[Cause, list[Candidate]] = {}
    for candidate in ranked(candidates):
        groups.setdefault(candidate.shown, []).append(candidate)
    return dict(sorted(groups.items(), key=lambda g: (-_tokens(g[1]), RANK[g[0]])))


def review_words(candidates: Sequence[Candidate], *, approx: bool = False) -> str:
    """`7 candidates, 22.1k (big 2, stale 3, duplicate 2)`; empty when there is none."""
    if not candidates:
        return ""
    causes = ", ".join(f"{cause} {len(group)}" for cause, group in by_cause(candidates).items())
    noun = "candidate" if len(candidates) == 1 else "candidates"
    size = format_tokens(_tokens(candidates), approx=approx)
    return f"{len(candidates)} {noun}, {size} ({causes})"


def _tokens(candidates: Iterable[Candidate]) -> int:
    return sum(candidate.tokens for candidate in candidates)
