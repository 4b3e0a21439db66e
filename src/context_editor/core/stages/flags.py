"""What tags show of themselves and what they forbid: flags of rows, and rows that no edit may cover. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.candidates.model import Candidate, Cause
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit
from context_editor.core.rows import Row
from context_editor.core.stages.blocks import stage_flags
from context_editor.core.stages.lines import one_line
from context_editor.core.stages.state import Mark, MarkKind, WorkState

PINNED: Final = "pinned"
SLOT: Final = "the state slot"


def marked_rows(mark: Mark, places: Places) -> tuple[Row, ...]:
    """The listed rows of a mark; empty when they are gone."""
    rows: list[Row] = []
    for run in mark.runs:
        first, last = places.row(run.first), places.row(run.last)
        if first and last:
            rows += places.between(first, last)
    return tuple(rows)


def anchors_of(work: WorkState, places: Places, kind: MarkKind) -> Mapping[str, Mark]:
    """The latest mark of a kind on each row, by anchor."""
    return {
        row.anchor: mark
        for mark in work.marks
        if mark.kind is kind
        for row in marked_rows(mark, places)
    }


def review_marks(work: WorkState, conversation: Conversation) -> frozenset[str]:
    """Anchors of the rows that the agent itself marked for review (rule G6), as far as that still lives."""
    return frozenset(
        anchor
        for anchor, mark in anchors_of(work, Places(conversation), MarkKind.REVIEW).items()
        if not mark.until_turns or conversation.turns < mark.until_turns
    )


def kept_rows(work: WorkState, conversation: Conversation) -> Mapping[str, str]:
    """What each row is kept as (`rubrics`), by anchor: the retention policy never takes them (rule L10)."""
    marks = anchors_of(work, Places(conversation), MarkKind.KEEP)
    return {anchor: mark.kept_as for anchor, mark in marks.items()}


def protected(
    work: WorkState, conversation: Conversation, *, for_rewrite: bool = False
) -> Mapping[str, str]:
    """The rows that no edit may cover, by anchor, with the reason (rules C12, H6 and H8).

    Args:
        work: The state.
        conversation: The conversation.
        for_rewrite: Whether the edit is a rewrite: it may change a slot without items (rules H3 and H6).
    """
    places = Places(conversation)
    reasons = dict.fromkeys(anchors_of(work, places, MarkKind.PIN), PINNED)
    slots = [places.row(anchor) for anchor in (work.slot, *work.leaving) if anchor]
    if not for_rewrite or is_locked(work):
        reasons.update({row.anchor: SLOT for row in slots if row})
    return reasons


def is_locked(work: WorkState) -> bool:
    """Whether the state slot has items, so that only state ops may change it (rule H6)."""
    return bool(work.items or work.shown)


def listing_flags(
    work: WorkState,
    conversation: Conversation,
    queue: Sequence[Edit] = (),
    candidates: Sequence[Candidate] = (),
) -> Mapping[str, Sequence[str]]:
    """The flags of every row that has any, by anchor, in the contract's order (rules A4, A5 and A7).

    Args:
        work: The state.
        conversation: The conversation.
        queue: The queue: a disposable mark that became an edit shows until it is applied.
        candidates: What is worth a review; found with `review_marks`, so that the agent's marks are among them.
    """
    places = Places(conversation)
    found: dict[str, list[str]] = {}
    layers = (
        dict.fromkeys(anchors_of(work, places, MarkKind.PIN), ("[pin]",)),
        {a: (f"[keep: {kept}]",) for a, kept in kept_rows(work, conversation).items()},
        _slot_flags(work, places),
        dict(_disposable_flags(work, places, queue)),
        stage_flags(work, places),
        _review_flags(candidates, review_marks(work, conversation)),
    )
    for layer in layers:
        for anchor, flags in layer.items():
            found.setdefault(anchor, []).extend(flags)
    return found


def _slot_flags(work: WorkState, places: Places) -> Mapping[str, tuple[str, ...]]:
    slot = places.row(work.slot) if work.slot else None
    return {slot.anchor: ("[state]",)} if slot else {}


def _disposable_flags(
    work: WorkState, places: Places, queue: Sequence[Edit]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for edit in queue:
        if edit.author == "tag":
            yield from (
                (anchor, (f"[disposable: {one_line(edit.text)}]",)) for anchor in edit.anchors
            )
    for anchor, mark in anchors_of(work, places, MarkKind.DISPOSABLE).items():
        yield anchor, (f"[disposable: {one_line(mark.note)}]",)


def _review_flags(
    candidates: Sequence[Candidate], marked: frozenset[str]
) -> Mapping[str, tuple[str, ...]]:
    flags = dict.fromkeys(marked, (f"[review: {Cause.AGENT}]",))
    return {**flags, **{one.anchor: (one.flag,) for one in candidates}}
