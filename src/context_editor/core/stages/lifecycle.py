"""Opening and closing stages, by call and by marker: at most one is open, and no block is empty. Pure."""

from dataclasses import dataclass, replace

from context_editor.core.anchors import Anchor
from context_editor.core.rows import Row, RowKind
from context_editor.core.stages.blocks import Extent, extent, extents, stage_start, unnamed_after
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.state import Block, ClosedBy, Stage, Waiting, WorkState
from context_editor.errors import RefusedError


@dataclass(frozen=True)
class Opened:
    """What opening a stage did.

    Attributes:
        work: The state afterwards.
        first: The first row of the stage; None where its first row is still to come.
        waited: The block that waited until now (rule E6).
        warnings: What the caller should know.
    """

    work: WorkState
    first: Row | None
    waited: Extent | None
    warnings: tuple[str, ...] = ()


def opened(work: WorkState, name: str, first: Row | None, moment: Moment) -> Opened:
    """The state with this stage open; no other may be open any more.

    Args:
        work: The state; its stage is None.
        name: The stage's name, not blank.
        first: The row that it is to begin with; None for the answer that makes the call (rule B1).
        moment: Where the call is made.
    """
    begun = replace(work, stage=_stage(name, first, moment), waiting=None, has_staged=True)
    waiting = work.waiting_block
    return Opened(
        begun,
        stage_start(begun, moment.places),
        extent(waiting, moment.places) if waiting else None,
        () if first is None else _overlap_warnings(work, first, moment),
    )


def _stage(name: str, first: Row | None, moment: Moment) -> Stage:
    row = first or moment.first_row
    if row is not None:
        return Stage(name, moment.places.anchor(row))
    rows = moment.conversation.rows
    newest = moment.places.anchor(rows[-1]) if rows else Anchor("", turn=moment.turn)
    return Stage(name, newest, is_behind=True)


def _overlap_warnings(work: WorkState, first: Row, moment: Moment) -> tuple[str, ...]:
    names = moment.names
    return tuple(
        f"{names.words(first)} lies in the closed block {one.words(names)}: both keep their rows"
        for one in extents(work, moment.places)
        if any(row.anchor == first.anchor for row in one.rows)
    )


def closed(
    work: WorkState, moment: Moment, by: ClosedBy = "tool", before: Row | None = None
) -> tuple[WorkState, Extent]:
    """The state with the open stage closed, and its block.

    The block ends with the newest complete row before the answer that closes it (rule B3).

    Args:
        work: The state.
        moment: Where the call is made.
        by: What closes it.
        before: The first row of the stage that follows, where that lies further back.

    Raises:
        RefusedError: No stage is open, or it has no complete row yet.
    """
    stage = work.stage
    if stage is None:
        way = '{"op": "open", "stage": NAME}, with `index` for work already done'
        msg = f"no stage is open, so there is none to close: open one with {way}"
        raise RefusedError(msg)
    start = stage_start(work, moment.places)
    rows = moment.complete
    if before is not None:
        rows = tuple(row for row in rows if row.positions[0] < before.positions[0])
    if start is None or not rows or rows[-1].positions[0] < start.positions[0]:
        msg = f'the stage "{stage.name}" has no complete row yet, and no block is empty: close it in a later answer'
        raise RefusedError(msg)
    return _with_block(work, stage.name, (start, rows[-1]), moment, by)


def _with_block(
    work: WorkState, name: str, bounds: tuple[Row, Row], moment: Moment, by: ClosedBy
) -> tuple[WorkState, Extent]:
    first, last = bounds
    places = moment.places
    block = Block(name, places.anchor(first), places.anchor(last), moment.turn, by)
    after = replace(work, stage=None, blocks=(*work.blocks, block))
    return after, Extent(block, places.between(first, last))


def waits_after_marker(work: WorkState, moment: Moment) -> WorkState:
    """The state after a valid optimize marker (rules E3, E4 and E6): one block waits.

    It is the open stage, else the block that a call closed in this same turn, else the stretch since the
    last block. Where none of them has a row, the marker is ignored and nothing changes.
    """
    if work.stage is not None:
        try:
            after, _ = closed(work, moment, "marker")
        except RefusedError:
            return work
        return replace(after, waiting=Waiting())
    if _is_closed_in(work, moment.turn):
        return replace(work, waiting=work.waiting or Waiting())
    return _stretch_waits(work, moment)


def _is_closed_in(work: WorkState, turn: int) -> bool:
    latest = work.blocks[-1] if work.blocks else None
    return latest is not None and latest.by == "tool" and latest.turn == turn


def _stretch_waits(work: WorkState, moment: Moment) -> WorkState:
    """The stretch since the last block as the waiting block; one that waits already takes it in."""
    if not moment.complete:
        return work
    places, last = moment.places, moment.complete[-1]
    end = places.end(work.blocks[-1].last) if work.blocks else None
    behind = end.positions[0] if end else -1
    first = next((row for row in places.standing if row.positions[0] > behind), last)
    if not behind < first.positions[0] <= last.positions[0]:
        return work
    merged = work.waiting_block
    if merged is not None:
        grown = replace(merged, last=places.anchor(last), turn=moment.turn, by="marker")
        return replace(work, blocks=(*work.blocks[:-1], grown), waiting=Waiting())
    after, _ = _with_block(work, unnamed_after(work), (first, last), moment, "marker")
    return replace(after, waiting=Waiting())


def opening_words(done: Opened, name: str, moment: Moment, *, is_given: bool) -> str:
    """What the caller is told of an opened stage.

    Args:
        done: What was opened.
        name: The stage's name.
        moment: Where the call is made.
        is_given: Whether the caller named the first row.
    """
    names = moment.names
    if done.first is None:
        where = f"#{len(moment.conversation.listed) + 1}, the next row"
    elif is_given and done.first.kind is RowKind.TOOL:
        where = f"{names.words(done.first)}, a tool call together with its result"
    else:
        where = names.words(done.first)
    line = f'opened "{name}" at {where}'
    if done.waited is None:
        return line
    return f"{line}\nno longer waiting: {done.waited.words(names)}; compress it now if that work is finished"
