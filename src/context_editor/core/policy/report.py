"""What a pass does, in words: what goes, what that saves, and why (rules L8 and L17)."""

from collections.abc import Iterator
from typing import Final, assert_never

from context_editor.core.names import Names
from context_editor.core.policy.batches import BatchKind, PlannedBatch
from context_editor.core.policy.run import Outcome
from context_editor.core.sizes.wording import format_delta, format_tokens

TABLE_BATCHES: Final = 20
"""Batches that the table shows; a line says how many more there are."""


def outcome_words(outcome: Outcome, names: Names, *, approx: bool = False) -> str:
    """The report of a pass.

    Args:
        outcome: What it did.
        names: How rows are named.
        approx: Whether sizes are not calibrated yet.
    """
    return "\n".join(_lines(outcome, names, approx=approx))


def _lines(outcome: Outcome, names: Names, *, approx: bool) -> Iterator[str]:
    if outcome.not_now:
        yield f"Policy: nothing done: {outcome.not_now}."
        return
    before = format_tokens(outcome.before.tokens, approx=approx)
    after = format_tokens(outcome.after.tokens, approx=approx)
    window = format_tokens(outcome.before.max_tokens)
    verdict = "target reached" if outcome.is_reached else "target not reached"
    goal = f"target {round(100 * outcome.target)} %"
    yield f"Policy: {before} → {after} of {window} tokens, {goal}: {verdict}."
    yield _kept_words(outcome)
    for batch in outcome.batches[:TABLE_BATCHES]:
        yield _batch_line(batch, names)
    if len(outcome.batches) > TABLE_BATCHES:
        yield f"… and {len(outcome.batches) - TABLE_BATCHES} more batch(es)"
    for left in outcome.left:
        yield f"left {', '.join(names.words(row) for row in left.rows)}: {left.why}"
    if outcome.index is not None:
        yield f"Citation index: {len(outcome.index.sources)} source(s)"


def _kept_words(outcome: Outcome) -> str:
    kept = f"The last {outcome.kept_results} tool results stay whole"
    if outcome.kept_results < outcome.kept_setting:
        lowered = f"lowered from {outcome.kept_setting} for this pass"
        return f"{kept}: {lowered}, because the older ones did not suffice."
    return f"{kept}."


def _batch_line(batch: PlannedBatch, names: Names) -> str:
    rows = ", ".join(f"{names.words(row)} {row.source}" for row in batch.rows)
    saved = format_delta(-batch.saved_tokens)
    return f"{rows}: {saved} tokens, {_why(batch.kind)}"


def _why(kind: BatchKind) -> str:
    match kind:
        case "pointer":
            return "out of date or standing elsewhere"
        case "digest":
            return "oldest first, digested"
        case "drop":
            return "oldest first, archived without a digest"
        case "fold":
            return "old digests folded into one row"
        case _:
            assert_never(kind)
