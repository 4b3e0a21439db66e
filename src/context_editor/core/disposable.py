"""Dead ends: which rows a disposable mark takes, and when and as which edits it is queued (group D). Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.edits.admit import admit
from context_editor.core.edits.ground import Admitted, Ground
from context_editor.core.edits.model import Edit, Op
from context_editor.core.edits.requests import EditRequest
from context_editor.core.names import Names, Target
from context_editor.core.rows import Row, RowKind
from context_editor.core.stages.flags import marked_rows
from context_editor.core.stages.lines import one_line
from context_editor.core.stages.state import Mark, MarkKind, Run, WorkState
from context_editor.errors import RefusedError

REASON: Final = "disposable"
"""The archive's reason for these edits (rule L11)."""

OPS: Final = {RowKind.TEXT: Op.REWRITE, RowKind.TOOL: Op.SUMMARIZE}
"""What becomes of a single row; several rows, and every other kind, are collapsed (rule D4)."""


@dataclass(frozen=True)
class Due:
    """What became of the marks that were due.

    Attributes:
        work: The state without them.
        edits: The edits to queue, in order.
        dropped: Marks that became no edit, one line each, with the reason.
    """

    work: WorkState
    edits: tuple[Edit, ...] = ()
    dropped: tuple[str, ...] = ()


def disposable_runs(rows: Sequence[Row], names: Names) -> tuple[tuple[Row, ...], ...]:
    """The parts of a range that a mark may take, each a run of neighbours (rule D3).

    Persons' rows part them. What the host hung at the edge of a part stays out of it: alone, it would be a
    range of nothing but host rows.

    Raises:
        RefusedError: Every row is a person's, or hangs behind one.
    """
    runs: list[list[Row]] = [[]]
    for row in rows:
        if row.kind is RowKind.PERSON:
            runs.append([])
        else:
            runs[-1].append(row)
    taken = (tuple(rows),) if len(runs) == 1 else tuple(filter(None, map(_trimmed, runs)))
    if not any(taken):
        found = ", ".join(map(names.words, rows))
        msg = f"{found}: a person's words are never replaced, and nothing else is named: mark rows of your own"
        raise RefusedError(msg)
    return taken


def _trimmed(run: Sequence[Row]) -> tuple[Row, ...]:
    own = [at for at, row in enumerate(run) if row.kind is not RowKind.HOST]
    return tuple(run[own[0] : own[-1] + 1]) if own else ()


def mark_of(runs: Iterable[Sequence[Row]], note: str, places: Places) -> Mark:
    """The mark on these runs."""
    held = tuple(Run(places.anchor(run[0]), places.anchor(run[-1])) for run in runs)
    return Mark(MarkKind.DISPOSABLE, held, note)


def queue_due(
    work: WorkState, ground: Ground, new_id: Callable[[str], str], before: int | None = None
) -> Due:
    """Turn marks into edits.

    An edit that saves nothing, or that a rule forbids by now, is dropped and named; so is one whose rows the
    agent has queued itself (rules C17 and D8).

    Args:
        work: The state.
        ground: What edits are judged against; its queue holds what is queued already.
        new_id: Gives a fresh id for a letter.
        before: The position where work goes on; marks that reach that far stay. None for all.
    """
    places = Places(ground.conversation)
    edits: list[Edit] = []
    dropped: list[str] = []
    later: list[Mark] = []
    for mark in work.marks:
        if mark.kind is not MarkKind.DISPOSABLE or not _is_due(mark, places, before):
            later.append(mark)
            continue
        for run in mark.runs:
            standing = replace(ground, queue=(*ground.queue, *edits))
            try:
                edits.append(_edit(replace(mark, runs=(run,)), standing, places, new_id))
            except RefusedError as error:
                dropped.append(f'the disposable mark "{one_line(mark.note)}" was dropped: {error}')
    return Due(replace(work, marks=tuple(later)), tuple(edits), tuple(dropped))


def _is_due(mark: Mark, places: Places, before: int | None) -> bool:
    last = places.row(mark.runs[-1].last) if mark.runs else None
    return before is None or last is None or last.positions[0] < before


def _edit(mark: Mark, ground: Ground, places: Places, new_id: Callable[[str], str]) -> Edit:
    rows = marked_rows(mark, places)
    if not rows:
        msg = "its rows are gone"
        raise RefusedError(msg)
    op = OPS.get(rows[0].kind, Op.COLLAPSE) if len(rows) == 1 else Op.COLLAPSE
    target = Target(ref=ground.names.ref(rows[0]), to=ground.names.ref(rows[-1]))
    admitted = admit(EditRequest(op, target, mark.note), ground, None, "tag")
    _refuse_no_gain(admitted, ground.names)
    return Edit(
        id=new_id("q"),
        op=admitted.op,
        anchors=tuple(row.anchor for row in admitted.rows),
        text=admitted.text,
        author="tag",
        saved_tokens=admitted.saved_tokens,
        reason=REASON,
    )


def _refuse_no_gain(admitted: Admitted, names: Names) -> None:
    """A rewrite is admitted with any gain; one that only grows the row is not worth an edit (rule C17)."""
    if admitted.saved_tokens <= 0:
        msg = f"no gain at {names.words(admitted.rows[0])}: the note with its fixed wording is as long as the row"
        raise RefusedError(msg)


def without_covered(
    work: WorkState, covered: frozenset[str], places: Places
) -> tuple[WorkState, tuple[str, ...]]:
    """The state without the disposable marks whose rows the agent edits itself (rule D8), and one line for each."""
    given_way = [
        mark
        for mark in work.marks
        if mark.kind is MarkKind.DISPOSABLE
        and not covered.isdisjoint(row.anchor for row in marked_rows(mark, places))
    ]
    lines = tuple(
        f'the disposable mark "{one_line(mark.note)}" was dropped: your own edit covers its rows'
        for mark in given_way
    )
    kept = tuple(mark for mark in work.marks if mark not in given_way)
    return replace(work, marks=kept), lines


@dataclass(frozen=True)
class Accepted:
    """What an accepted context_edit call did to the work.

    Attributes:
        work: The state afterwards.
        edits: Edits to add to the queue.
        lines: What the caller should know.
    """

    work: WorkState
    edits: tuple[Edit, ...] = ()
    lines: tuple[str, ...] = ()


def on_edit_accepted(work: WorkState, ground: Ground, new_id: Callable[[str], str]) -> Accepted:
    """What an accepted context_edit call does besides its own edits (rules D5, D8 and E6).

    Marks that the agent's own edits cover go. A waiting block stops waiting. Where one waited, or where no
    stage was ever opened, the disposable marks become edits.

    Args:
        work: The state.
        ground: What edits are judged against; its queue holds this call's edits already.
        new_id: Gives a fresh id for a letter.
    """
    own = frozenset(a for edit in ground.queue if edit.author == "agent" for a in edit.anchors)
    freed, given_way = without_covered(work, own, Places(ground.conversation))
    block = freed.waiting_block
    if block is None and freed.has_staged:
        return Accepted(freed, (), given_way)
    due = queue_due(replace(freed, waiting=None), ground, new_id)
    waited = (f'"{block.name}" is no longer waiting',) if block else ()
    return Accepted(due.work, due.edits, (*given_way, *waited, *queued_words(due, ground.names)))


def queued_words(due: Due, names: Names) -> tuple[str, ...]:
    """What was queued and what was dropped, one line each."""
    by_anchor = names.conversation.by_anchor
    queued = (
        f"{edit.id} {edit.op} {_span([by_anchor[a] for a in edit.anchors], names)} (disposable), "
        f"saves {edit.saved_tokens} tokens: {one_line(edit.text)}"
        for edit in due.edits
    )
    return (*queued, *due.dropped)


def _span(rows: Sequence[Row], names: Names) -> str:
    first, last = names.number(rows[0]), names.number(rows[-1])
    return f"#{first}" if first == last else f"#{first}..#{last}"
