"""How tags and notes come through: an apply, a restart, and rows that leave for any other reason. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from context_editor.core.anchors import Anchor, Moves, Places, followed
from context_editor.core.conversation import Conversation
from context_editor.core.stages.blocks import extent, stage_start
from context_editor.core.stages.state import Block, Mark, MarkKind, Note, Run, Stage, WorkState


@dataclass(frozen=True)
class Carried:
    """A state brought up to a conversation.

    Attributes:
        work: The state.
        lost: How many things were dropped because their rows are gone, by kind: `pin`, `disposable`,
            `review`, `keep`, `block`, `state slot`. Empty when nothing was.
    """

    work: WorkState
    lost: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def words(self) -> str:
        """What was dropped, in words; empty when nothing was."""
        counted = [f"{count} {kind}" for kind, count in self.lost.items() if count]
        return f"dropped, their rows are gone: {', '.join(counted)}" if counted else ""


def settled(
    work: WorkState, conversation: Conversation, leaving: frozenset[str] = frozenset()
) -> Carried:
    """The state as the conversation bears it now (rules B10 and B12).

    A stage or block whose first row is hidden or gone begins with the next row that stands; a block whose
    last row is gone ends with the one before. Marks stay with their own rows or go: they never move to other
    content. Notes are never dropped. Review marks whose life is over go without being counted.

    To be called when a session is loaded, and before an apply is planned.

    Args:
        work: The state.
        conversation: The conversation as it is.
        leaving: Anchors of rows that the coming apply takes out without a replacement.
    """
    places, lost = Places(conversation, leaving), Counter[str]()
    blocks = _standing_blocks(work, places, lost)
    slot = work.slot if work.slot and places.row(work.slot) else None
    lost["state slot"] += int(slot is None and work.slot is not None)
    is_waiting_gone = work.waiting_block is not None and work.blocks[-1:] != blocks[-1:]
    after = replace(
        work,
        stage=_standing_stage(work, places),
        blocks=tuple(_bounded(block, places) for block in blocks),
        waiting=None if is_waiting_gone else work.waiting,
        marks=_standing_marks(work, places, lost),
        slot=slot,
        leaving=tuple(anchor for anchor in work.leaving if places.row(anchor)),
    )
    return Carried(after, {kind: count for kind, count in lost.items() if count})


def _standing_blocks(work: WorkState, places: Places, lost: Counter[str]) -> tuple[Block, ...]:
    blocks = tuple(block for block in work.blocks if extent(block, places))
    lost["block"] += len(work.blocks) - len(blocks)
    return blocks


def _standing_stage(work: WorkState, places: Places) -> Stage | None:
    """The open stage, at the row where it begins now; as it is while it has none."""
    start = stage_start(work, places)
    if work.stage is None or start is None or start.anchor == work.stage.start.id:
        return work.stage
    return Stage(work.stage.name, places.anchor(start))


def _bounded(block: Block, places: Places) -> Block:
    found = extent(block, places)
    if found is None or (block.first.id, block.last.id) == (
        found.rows[0].anchor,
        found.rows[-1].anchor,
    ):
        return block
    first, last = places.anchor(found.rows[0]), places.anchor(found.rows[-1])
    return replace(block, first=first, last=last)


def _standing_marks(work: WorkState, places: Places, lost: Counter[str]) -> tuple[Mark, ...]:
    turns = places.conversation.turns
    alive = [m for m in work.marks if not m.until_turns or turns < m.until_turns]
    standing = [m for m in alive if all(_stands(run, places) for run in m.runs)]
    lost.update(str(m.kind) for m in alive if m not in standing)
    return tuple(standing)


def _stands(run: Run, places: Places) -> bool:
    return places.row(run.first) is not None and places.row(run.last) is not None


def after_apply(work: WorkState, conversation: Conversation, moves: Moves) -> Carried:
    """The state after an apply: everything follows its content, or the replacement that took it in.

    A review or disposable mark whose row was replaced is done and goes, without being counted.

    Args:
        work: The state before, settled for the conversation that the apply began with.
        conversation: The conversation that stands now.
        moves: Where its rows went.
    """
    places = Places(conversation)
    marks = (
        _followed_mark(mark, moves, places) for mark in work.marks if not _is_done(mark, moves)
    )
    after = replace(
        work,
        stage=_followed_stage(work.stage, moves, places),
        blocks=tuple(_followed_block(block, moves, places) for block in work.blocks),
        marks=tuple(marks),
        slot=_followed_slot(work, moves, places),
        shown=work.items if moves.slot else work.shown,
        leaving=() if moves.slot else work.leaving,
        notes=tuple(_followed_note(note, moves, places) for note in work.notes),
    )
    return settled(after, conversation)


def _kept(anchor: Anchor, moves: Moves, places: Places, *, is_end: bool = False) -> Anchor:
    """The anchor after an apply, or as it was where its row is gone."""
    return followed(anchor, moves, places, is_end=is_end) or anchor


def _followed_stage(stage: Stage | None, moves: Moves, places: Places) -> Stage | None:
    return replace(stage, start=_kept(stage.start, moves, places)) if stage else None


def _followed_block(block: Block, moves: Moves, places: Places) -> Block:
    first = _kept(block.first, moves, places)
    last = _kept(block.last, moves, places, is_end=True)
    return replace(block, first=first, last=last)


def _is_done(mark: Mark, moves: Moves) -> bool:
    ends = {anchor.id for run in mark.runs for anchor in (run.first, run.last)}
    return mark.kind in {MarkKind.REVIEW, MarkKind.DISPOSABLE} and not ends.isdisjoint(
        moves.absorbed
    )


def _followed_mark(mark: Mark, moves: Moves, places: Places) -> Mark:
    runs = tuple(
        Run(_kept(run.first, moves, places), _kept(run.last, moves, places, is_end=True))
        for run in mark.runs
    )
    return replace(mark, runs=runs)


def _followed_slot(work: WorkState, moves: Moves, places: Places) -> Anchor | None:
    built = places.conversation.by_anchor.get(moves.slot)
    if built is not None:
        return places.anchor(built)
    return _kept(work.slot, moves, places) if work.slot else None


def _followed_note(note: Note, moves: Moves, places: Places) -> Note:
    return replace(note, link=_kept(note.link, moves, places)) if note.link else note
