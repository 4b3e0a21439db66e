"""What the policy may take, and in which order (rules L2, L3 and L10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from context_editor.core.candidates import ready
from context_editor.core.candidates.find import has_pointer, untouchable_rows
from context_editor.core.candidates.model import Candidate, Cause
from context_editor.core.candidates.texts import lines_of
from context_editor.core.conversation import Conversation
from context_editor.core.digest import Evidence, mentions
from context_editor.core.edits import wording
from context_editor.core.edits.admit import PLACEHOLDER_ID
from context_editor.core.edits.ground import Ground
from context_editor.core.policy.preserved import (
    CLAUDE_CODE,
    HostTable,
    newest_results,
    preserved,
)
from context_editor.core.rows import Row, RowKind


class Step(IntEnum):
    """Which rows go before which, whatever their age."""

    POINTER = 0
    """Out of date, or standing elsewhere: a ready-made text says so and nothing is lost."""
    AGAIN = 1
    """Large, and to be had again by the same call."""
    REST = 2
    """Everything else."""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A row that the policy may take.

    Attributes:
        row: The row.
        step: When its turn comes.
        text: For a POINTER the ready-made text; empty for every other step.
        tokens: The size of its result.
    """

    row: Row
    step: Step
    text: str
    tokens: int


@dataclass(frozen=True)
class PolicyGround:
    """What the policy decides on.

    Attributes:
        ground: Names, sizes, the queue and protected rows.
        review: The review candidates, in order of their rows.
        kept_as: What each row with a keep mark is kept as, by anchor.
        table: The host's table of what is never taken.
    """

    ground: Ground
    review: Sequence[Candidate] = ()
    kept_as: Mapping[str, str] = field(default_factory=dict[str, str])
    table: HostTable = CLAUDE_CODE

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        return self.ground.conversation

    def preserved(self) -> Mapping[str, str]:
        """Why each preserved row is never taken, by anchor."""
        return preserved(self.conversation, self.ground.protected, self.kept_as, self.table)


def policy_rows(ground: PolicyGround, kept_results: int) -> tuple[PolicyRow, ...]:
    """What may go while so many of the newest results stay: by step, in each step the oldest first.

    A row that was replaced already, or whose pointer would be longer than itself, is left out.
    """
    barred = untouchable_rows(ground.ground).union(
        ground.preserved(), newest_results(ground.conversation, kept_results)
    )
    candidates = {candidate.anchor: candidate for candidate in ground.review}
    rows = [
        _policy_row(row, candidates.get(row.anchor), ground.ground)
        for row in ground.conversation.rows
        if row.kind is RowKind.TOOL and row.replacement is None and row.anchor not in barred
    ]
    found = [row for row in rows if _can_shrink(row, ground.ground)]
    return tuple(sorted(found, key=lambda row: row.step))


def _policy_row(row: Row, candidate: Candidate | None, ground: Ground) -> PolicyRow:
    result = row.result
    tokens = ground.sizer.piece(result) if result else 0
    if candidate is not None and has_pointer(candidate):
        return PolicyRow(row, Step.POINTER, _pointer_text(row, candidate), tokens)
    is_big = candidate is not None and Cause.BIG in candidate.causes
    if is_big and row.anchor in ground.reproducible:
        return PolicyRow(row, Step.AGAIN, "", tokens)
    return PolicyRow(row, Step.REST, "", tokens)


def _pointer_text(row: Row, candidate: Candidate) -> str:
    """The ready-made text; what a changed file held stands nowhere else, so its long names are told as well."""
    if candidate.shown is not Cause.STALE:
        return candidate.ready_made
    names = mentions(Evidence(row.source, row.text))
    return f"{candidate.ready_made}\n{names}" if names else candidate.ready_made


def _can_shrink(row: PolicyRow, ground: Ground) -> bool:
    """Whether the shortest replacement is shorter than what the row holds."""
    if not row.tokens:
        return False
    words = wording.digest_elsewhere(
        row.row.source, ground.names.ref(row.row), ground.original_path("")
    )
    # Counting is the dear part here, and no text has twice as many tokens as characters.
    return row.tokens > 2 * len(words) or row.tokens > ground.sizer.text(words)


def dropped_text(row: Row, ground: Ground) -> str:
    """The pointer for a row whose content goes without a digest (rule L6)."""
    if row.anchor in ground.reproducible:
        return ready.again_text(ready.source_words(row, lines_of(row.text)))
    what = ready.source_words(row, lines_of(row.text))
    return f"{what}; no digest was kept; open the original if needed."


def result_words(row: Row, replacement: str, ground: Ground) -> str:
    """How a policy replacement of this row will read, for its size."""
    return wording.summarized(
        "policy", row.source, PLACEHOLDER_ID, ground.original_path(""), (), replacement
    )
