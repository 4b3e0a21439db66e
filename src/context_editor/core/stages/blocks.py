"""Closed blocks: which rows they have now, how they are named, and how they are shown. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.conversation import Conversation
from context_editor.core.names import Names
from context_editor.core.rows import Row
from context_editor.core.stages.state import Block, WorkState

UNNAMED: Final = "start"
"""The name of a stretch without a stage, where no block was closed before it (rule E3)."""


@dataclass(frozen=True)
class Extent:
    """A block and the rows that it has now; never empty."""

    block: Block
    rows: tuple[Row, ...]

    def span(self, names: Names) -> str:
        """Its range in numbers: `#14..#31`; one number for a single row."""
        start, end = names.number(self.rows[0]), names.number(self.rows[-1])
        return f"#{start}" if start == end else f"#{start}..#{end}"

    def words(self, names: Names) -> str:
        """Its name and range: `"read config" #14..#31`."""
        return f'"{self.block.name}" {self.span(names)}'


def extent(block: Block, places: Places) -> Extent | None:
    """The block with its rows; None when none of them stands."""
    if places.row(block.first) is None and places.row(block.last) is None:
        return None
    first, last = places.start(block.first), places.end(block.last)
    rows = places.between(first, last) if first and last else ()
    return Extent(block, rows) if rows else None


def extents(work: WorkState, places: Places) -> tuple[Extent, ...]:
    """All blocks with their rows, oldest first; those without a row are left out."""
    found = (extent(block, places) for block in work.blocks)
    return tuple(one for one in found if one is not None)


def block_of(work: WorkState, conversation: Conversation, row: Row) -> Block | None:
    """The latest block that a row belongs to; None when it belongs to none."""
    for one in reversed(extents(work, Places(conversation))):
        if any(held.anchor == row.anchor for held in one.rows):
            return one.block
    return None


def unnamed_after(work: WorkState) -> str:
    """The name of the stretch behind the last block (rule E3): `since …`, or `start` without any block."""
    return f"since {work.blocks[-1].name}" if work.blocks else UNNAMED


def stage_flags(work: WorkState, places: Places) -> Mapping[str, tuple[str, ...]]:
    """The marks of the open stage and of the latest block, by anchor (rules A4 and A5)."""
    flags: dict[str, tuple[str, ...]] = {}
    latest = extent(work.blocks[-1], places) if work.blocks else None
    if latest is not None:
        flags[latest.rows[0].anchor] = (f"[block ▶ {latest.block.name}]",)
        last = latest.rows[-1].anchor
        flags[last] = (*flags.get(last, ()), "[block end]")
    start = stage_start(work, places)
    if work.stage and start:
        flags[start.anchor] = (f"[stage ▶ {work.stage.name}]", *flags.get(start.anchor, ()))
    return flags


def stage_start(work: WorkState, places: Places) -> Row | None:
    """The first listed row of the open stage; None when no stage is open or it has no row yet."""
    if work.stage is None:
        return None
    return places.start(work.stage.start, is_behind=work.stage.is_behind)
