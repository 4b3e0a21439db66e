"""Where rows went with an apply, from what was applied and what stands now. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from context_editor.core.anchors import Moves
from context_editor.core.edits.model import Edit, Op


def moves_of(
    applied: Iterable[tuple[Edit, str]],
    standing: Mapping[str, Sequence[str]],
    renamed: Mapping[str, str],
) -> Moves:
    """The moves of an apply.

    Args:
        applied: The edits, each with the id of the replacement that it made.
        standing: The anchors of the rows that each replacement put there, by its id.
        renamed: New anchors of rows that the host wrote again, by the anchor that each had before.
    """
    moved = dict(renamed)
    absorbed: dict[str, str] = {}
    restored: dict[str, Sequence[str]] = {}
    slot = ""
    for edit, made in applied:
        rows = standing.get(made, ())
        if not rows:
            continue
        match edit.op:
            case Op.RESTORE:
                restored.update(dict.fromkeys(edit.anchors, tuple(rows)))
            case Op.STATE:
                slot = rows[0]
                moved.update(dict.fromkeys(edit.anchors, slot))
            case Op.COLLAPSE | Op.SUMMARIZE | Op.REWRITE | Op.DESCRIBE:
                absorbed.update(dict.fromkeys(edit.anchors, rows[0]))
    return Moves(moved, absorbed, restored, slot)
