"""What the ends of turns and new prompts mean for stages, notes and the waiting block. Pure; no third party."""

from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.rows import Row
from context_editor.core.stages.blocks import Extent, extent
from context_editor.core.stages.lifecycle import waits_after_marker
from context_editor.core.stages.lines import one_line
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.reminders import reminders
from context_editor.core.stages.state import Mark, MarkKind, Run, Waiting, WorkState

WAITING_LINE: Final = (
    "context-editor: waiting block {words}. If this prompt moves work on to a next stage, compress the block "
    "with context_edit in this turn; else leave it as it is."
)
"""What the next prompt carries of a waiting block (rule E5)."""

NAME_CHARS: Final = 200
"""The longest stage name in an injected line."""


@dataclass(frozen=True)
class TurnEnd:
    """What the end of a turn did.

    Attributes:
        work: The state afterwards.
        waiting: The block that a marker left waiting; None where no marker counted.
        words: What happened, for a person; empty where nothing did.
    """

    work: WorkState
    waiting: Extent | None = None
    words: str = ""


def on_turn_end(work: WorkState, moment: Moment, *, marker_is_valid: bool) -> TurnEnd:
    """The state after a turn that ended normally.

    A valid marker closes the open stage, or the stretch since the last block, or takes the block that a call
    closed in this turn; that block waits. It queues nothing and changes no row (rules E2 to E4).

    Args:
        work: The state.
        moment: The conversation; `response` is the answer that ended the turn.
        marker_is_valid: Whether that answer ends with a valid optimize marker.
    """
    if not marker_is_valid:
        return TurnEnd(work)
    after = waits_after_marker(work, moment)
    block = after.waiting_block
    waiting = extent(block, moment.places) if block and after != work else None
    if waiting is None:
        return TurnEnd(after)
    return TurnEnd(after, waiting, f"waiting to be compressed: {waiting.words(moment.names)}")


@dataclass(frozen=True)
class Prompted:
    """What a prompt is to carry.

    Attributes:
        work: The state afterwards; to be stored before the lines are shown, so that none comes twice.
        lines: The lines, in order.
    """

    work: WorkState
    lines: tuple[str, ...] = ()


def on_prompt(
    work: WorkState, moment: Moment, turns: int, *, is_continuation: bool = False
) -> Prompted:
    """What the next prompt carries: the waiting block, once, and the reminders that are due (rules E5 and I5).

    Args:
        work: The state.
        moment: The conversation in front of the prompt.
        turns: Completed turns so far.
        is_continuation: Whether this product itself submitted the prompt to go on after an apply: it carries
            reminders, but the waiting block is left for a prompt of any other origin.
    """
    after, lines = reminders(work, moment.names, turns)
    block = after.waiting_block
    waiting = extent(block, moment.places) if block else None
    if is_continuation or waiting is None or after.waiting is None or after.waiting.is_told:
        return Prompted(after, lines)
    named = replace(waiting, block=replace(waiting.block, name=_short(waiting.block.name)))
    line = WAITING_LINE.format(words=named.words(moment.names))
    return Prompted(replace(after, waiting=Waiting(is_told=True)), (line, *lines))


def _short(name: str) -> str:
    return one_line(name, NAME_CHARS)


def pinned_by_product(work: WorkState, row: Row, note: str, moment: Moment) -> WorkState:
    """The state with a row pinned that a conversation begins with, when it is first seen (rule C12).

    Once the agent has taken such a pin away it stays away.
    """
    if row.print in work.seeds:
        return work
    anchor = moment.places.anchor(row)
    mark = Mark(MarkKind.PIN, (Run(anchor, anchor),), note, is_product=True)
    return replace(work, marks=(*work.marks, mark), seeds=(*work.seeds, row.print))
