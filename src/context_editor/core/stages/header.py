"""The header's line about stages. Pure."""

from context_editor.core.anchors import Places
from context_editor.core.edits.ground import Sizer
from context_editor.core.names import Names
from context_editor.core.sizes.wording import format_tokens
from context_editor.core.stages.blocks import extent, stage_start
from context_editor.core.stages.state import WorkState


def stage_words(work: WorkState, names: Names, sizer: Sizer) -> str:
    """The header's words about stages: the open one with its size, the waiting block, or `none`."""
    places = Places(names.conversation)
    if work.stage is not None:
        start = stage_start(work, places)
        if start is None:
            return f"▶ {work.stage.name}, from the next row on"
        tokens = sum(map(sizer.row, places.between(start, places.standing[-1])))
        return f"▶ {work.stage.name}, since #{names.number(start)} ({format_tokens(tokens)})"
    block = work.waiting_block
    waiting = extent(block, places) if block else None
    if waiting is not None:
        return f"waiting: {waiting.block.name} {waiting.span(names)}"
    return "none"
