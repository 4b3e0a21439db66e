"""Which lines may be live: those since the last boundary, or older ones that a person went back to.

A rewind needs no line of its own: the next prompt names the line that it follows. Where that stands
in front of the last boundary, what came after it is gone from the conversation, boundaries included.
Observed on Claude Code 2.1.332, 2026-11-30.
"""

from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence

from context_editor.hosts.claude_code.transcript.chain import leaf_of
from context_editor.hosts.claude_code.transcript.entries import Entry


def live_window(
    entries: Sequence[Entry],
    places: Mapping[str, int],
    boundaries: Sequence[int],
    preserved: Container[str],
) -> list[Entry]:
    """The lines that the live chain is walked over, in file order.

    Args:
        entries: Every line of the tree, in file order.
        places: The place of each among them, by uuid.
        boundaries: The places of the main conversation's boundaries, in order.
        preserved: Uuids of lines that the last boundary kept from before it: they are no sign of a rewind.

    Returns:
        Lines beginning with a boundary, or with the first line of the file.
    """
    start, end = _segment(boundaries, len(entries) - 1, len(entries))
    entry = leaf_of([one for one in entries[start:end] if not one.is_side]) if start else None
    parts: list[Sequence[Entry]] = []
    while entry is not None and (back := _rewind(entries, places, (start, end), entry, preserved)):
        rewound, place = back
        parts.append(entries[rewound:end])
        start, end = _segment(boundaries, place, len(entries))
        entry = entries[place]
    parts.append(entries[start:end])
    return [one for part in reversed(parts) for one in part]


def _segment(boundaries: Sequence[int], place: int, count: int) -> tuple[int, int]:
    """The lines from one boundary to the next around a place, as (first, past the last)."""
    at = bisect_right(boundaries, place)
    first = boundaries[at - 1] if at else 0
    return first, boundaries[at] if at < len(boundaries) else count


def _rewind(
    entries: Sequence[Entry],
    places: Mapping[str, int],
    segment: tuple[int, int],
    leaf: Entry,
    preserved: Container[str],
) -> tuple[int, int] | None:
    """The place of the line in a segment that follows one in front of it, and the place of that one; None for none.

    A tool's result is no such line: one that an apply wrote again still names its old parent.
    """
    start, end = segment
    entry, seen = leaf, set[str]()
    while entry.uuid not in seen and entry.parent is not None and entry.parent not in preserved:
        seen.add(entry.uuid)
        place = places.get(entry.parent, entry.index - 1)
        if place < start and not entry.answers and entry.parent in places:
            return entry.index, place
        at = place if place >= start else entry.index - 1
        if not start <= at < end:
            return None
        entry = entries[at]
    return None
