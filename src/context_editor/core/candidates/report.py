"""Candidates as the close report of a stage shows them (rule G7)."""

from collections.abc import Sequence

from context_editor.core.candidates.model import Candidate, Cause, by_cause, review_words
from context_editor.core.names import Names
from context_editor.core.sizes.wording import format_tokens


def close_lines(
    candidates: Sequence[Candidate], names: Names, reproducible: int, *, approx: bool = False
) -> tuple[str, ...]:
    """The lines of a close report about candidates, by cause; zero is written too (rule B4).

    Args:
        candidates: The candidates of the block.
        names: How its rows are named.
        reproducible: How many pairs of the block are marked `~`.
        approx: Whether sizes are not calibrated yet.
    """
    total = review_words(candidates, approx=approx) or "0 candidates"
    lines = [f"Review: {total}"]
    for cause, group in by_cause(candidates).items():
        size = format_tokens(sum(c.tokens for c in group), approx=approx)
        lines.append(f"{cause} ({len(group)}, {size}):")
        lines += [_line(candidate, cause, names, approx=approx) for candidate in group]
    lines.append(f"Reproducible (~) pairs: {reproducible}")
    return tuple(lines)


def _line(candidate: Candidate, shown: Cause, names: Names, *, approx: bool) -> str:
    row = names.conversation.by_anchor[candidate.anchor]
    size = format_tokens(candidate.tokens, approx=approx)
    others = ", ".join(cause for cause in candidate.causes if cause is not shown)
    also = f" (also {others})" if others else ""
    text = f" · ready-made: {candidate.ready_made}" if candidate.ready_made else ""
    return f"  {names.words(row)} {row.source} · {size}{also}{text}"
