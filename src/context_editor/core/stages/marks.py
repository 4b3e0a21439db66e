"""Adding and removing marks: pins, the state slot, dead ends, reviews and rows to keep. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from context_editor.core.disposable import disposable_runs, mark_of
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit, Op
from context_editor.core.names import Target
from context_editor.core.notes import check_turns
from context_editor.core.rows import Row, RowKind
from context_editor.core.slot import moved_slot, state_edit
from context_editor.core.stages.flags import SLOT, anchors_of, is_locked, marked_rows
from context_editor.core.stages.lines import one_line
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.state import Mark, MarkKind, Run, WorkState
from context_editor.core.stages.words import checked_words
from context_editor.errors import RefusedError

STATE: Final = "state"
KINDS: Final = "pin, state, disposable, review, keep"

NOTE_WAY: Final = "it takes the place of the rows, so say what was tried and why it led nowhere"


@dataclass(frozen=True)
class TagOp:
    """One element of `tags`, after its JSON was checked.

    Attributes:
        op: `open`, `close`, `add`, `remove` or `decide`.
        kind: For add and remove: `pin`, `state`, `disposable`, `review` or `keep`.
        target: The rows that it names, `last` included; None where it names none.
        stage: For open: the stage's name.
        note: The words that go with a mark or a decision.
        ttl_turns: For a review mark: the completed turns after which it is gone; None for no end.
        kept_as: For a keep mark: the protected kind (`as`).
        decision: For decide: `continue`, `defer` or `obsolete`.
    """

    op: str
    kind: str = ""
    target: Target | None = None
    stage: str = ""
    note: str = ""
    ttl_turns: int | None = None
    kept_as: str = ""
    decision: str = ""


@dataclass(frozen=True)
class Marking:
    """What a mark is judged against.

    Attributes:
        moment: The conversation and where the call is made.
        ground: The queue, sizes, and the rows that are protected.
        never_compact: The kinds that a keep mark may name.
        new_id: Gives a fresh id for a letter.
    """

    moment: Moment
    ground: Ground
    never_compact: tuple[str, ...]
    new_id: Callable[[str], str]

    def words(self, rows: Sequence[Row]) -> str:
        """Rows as messages name them: `#14 r7k2`, `#14 r7k2..#18 r3f1 (5 rows)`."""
        names = self.moment.names
        first = names.words(rows[0])
        return first if len(rows) == 1 else f"{first}..{names.words(rows[-1])} ({len(rows)} rows)"


@dataclass(frozen=True)
class Tagged:
    """What adding or removing a mark did.

    Attributes:
        work: The state afterwards.
        text: What happened.
        warnings: What the caller should know.
        queued: Edits for the queue; one with the id of a queued edit takes that one's place.
        withdrawn: Ids of queued edits to take out of the queue.
    """

    work: WorkState
    text: str
    warnings: tuple[str, ...] = ()
    queued: tuple[Edit, ...] = ()
    withdrawn: tuple[str, ...] = field(default=())


_Handler: TypeAlias = Callable[[WorkState, TagOp, tuple[Row, ...], Marking], Tagged]


def added(work: WorkState, op: TagOp, marking: Marking) -> Tagged:
    """The state with a mark added.

    Raises:
        RefusedError: The mark may not stand there, or a word of it is missing or out of place.
    """
    handler = _handler(op.kind, _ADDING)
    _refuse_misplaced(op)
    return handler(work, op, _rows(op, marking), marking)


def removed(work: WorkState, op: TagOp, marking: Marking) -> Tagged:
    """The state with marks removed.

    Raises:
        RefusedError: The rows have no such mark, or it may not be removed now.
    """
    handler = _handler(op.kind, _REMOVING)
    return handler(work, op, _rows(op, marking), marking)


def _handler(kind: str, handlers: "dict[str, _Handler]") -> _Handler:
    handler = handlers.get(kind)
    if handler is None:
        msg = f"unknown kind {kind!r}: allowed are {KINDS}"
        raise RefusedError(msg)
    return handler


def _rows(op: TagOp, marking: Marking) -> tuple[Row, ...]:
    if op.target is None:
        msg = "no row was named: give exactly one of index, ref and tool_use_id"
        raise RefusedError(msg)
    return marking.moment.rows(op.target)


def _refuse_misplaced(op: TagOp) -> None:
    """Refuse words that belong to another kind: they would be dropped in silence."""
    if op.ttl_turns is not None and op.kind != MarkKind.REVIEW:
        msg = f"ttl_turns goes with kind review, not with {op.kind}: leave it out"
        raise RefusedError(msg)
    if op.kept_as and op.kind != MarkKind.KEEP:
        msg = f"`as` goes with kind keep, not with {op.kind}: leave it out"
        raise RefusedError(msg)


def _each(rows: Sequence[Row], mark: Mark, work: WorkState, marking: Marking) -> WorkState:
    """The state with one mark of this kind on each row; an earlier one of the same kind gives way."""
    places = marking.moment.places
    anchors = {row.anchor for row in rows}
    kept = [
        m
        for m in work.marks
        if m.kind is not mark.kind or anchors.isdisjoint(r.anchor for r in marked_rows(m, places))
    ]
    new = (replace(mark, runs=(Run(places.anchor(r), places.anchor(r)),)) for r in rows)
    return replace(work, marks=(*kept, *new))


# --- adding --------------------------------------------------------------------------------------------


def _add_pin(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    _refuse_queued(rows, marking)
    _refuse_disposable(rows, work, marking)
    after = _each(rows, Mark(MarkKind.PIN, (), op.note), work, marking)
    return Tagged(
        after, f"pinned {marking.words(rows)}: no edit covers it until the pin is removed"
    )


def _add_state(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    del op
    names = marking.moment.names
    if len(rows) != 1:
        msg = f"the state slot is one row, {len(rows)} were named: leave out `to`"
        raise RefusedError(msg)
    row = rows[0]
    if row.kind is not RowKind.TEXT:
        msg = f"{names.words(row)} is not your own text ({row.source}): the state slot is one own text row"
        raise RefusedError(msg)
    if work.slot and work.slot.id == row.anchor:
        return Tagged(work, f"{names.words(row)} is the state slot already")
    _refuse_queued(rows, marking)
    _refuse_disposable(rows, work, marking)
    after = moved_slot(work, row, marking.moment.places)
    text = f"{names.words(row)} is the state slot"
    if not after.items:
        return Tagged(after, text)
    edit = state_edit(after, marking.ground, marking.new_id)
    return Tagged(after, f"{text}; {edit.id} moves the items there", queued=(edit,))


def _add_disposable(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    names = marking.moment.names
    said = checked_words(op.note, "note", marking.ground.person_texts(), NOTE_WAY)
    runs = disposable_runs(rows, names)
    taken = tuple(row for run in runs for row in run)
    _refuse_pending(taken, marking)
    _refuse_protected(taken, marking)
    _refuse_queued(taken, marking)
    _refuse_disposable(taken, work, marking)
    mark = mark_of(runs, op.note, marking.moment.places)
    after = replace(work, marks=(*work.marks, mark))
    where = ", ".join(map(marking.words, runs))
    text = f"disposable {where}: nothing is queued yet; the note takes their place once this work is closed"
    return Tagged(after, text, (*_split_warning(rows, runs, marking), *said))


def _split_warning(
    rows: Sequence[Row], runs: Sequence[Sequence[Row]], marking: Marking
) -> tuple[str, ...]:
    persons = [row for row in rows if row.kind is RowKind.PERSON]
    if not persons:
        return ()
    found = ", ".join(map(marking.moment.names.words, persons))
    marked = " and ".join(marking.moment.span(run[0], run[-1]) for run in runs)
    return (f"{found}: a person's words are never replaced; marked instead {marked}",)


def _add_review(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    if op.ttl_turns is not None:
        check_turns("ttl_turns", op.ttl_turns)
    _refuse_protected(rows, marking)
    for row in rows:
        if row.kind in {RowKind.PERSON, RowKind.SERVICE}:
            msg = f"{marking.moment.names.words(row)} ({row.source}) is never up for review: mark rows of your own"
            raise RefusedError(msg)
    until = marking.moment.conversation.turns + op.ttl_turns if op.ttl_turns else 0
    mark = Mark(MarkKind.REVIEW, (), op.note, until_turns=until)
    life = f" for {op.ttl_turns} turn{'' if op.ttl_turns == 1 else 's'}" if op.ttl_turns else ""
    return Tagged(
        _each(rows, mark, work, marking), f"marked for review{life}: {marking.words(rows)}"
    )


def _add_keep(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    if op.kept_as not in marking.never_compact:
        allowed = ", ".join(marking.never_compact) or "none is configured"
        msg = f"`as` is {op.kept_as!r}: give one of the protected kinds ({allowed})"
        raise RefusedError(msg)
    mark = Mark(MarkKind.KEEP, (), op.note, kept_as=op.kept_as)
    where = marking.words(rows)
    text = f"kept as {op.kept_as}: {where}; the retention policy leaves it alone, your own edits may still cover it"
    return Tagged(_each(rows, mark, work, marking), text)


def _refuse_pending(rows: Sequence[Row], marking: Marking) -> None:
    pending = [row for row in rows if row.is_pending]
    if pending:
        found = ", ".join(map(marking.moment.names.words, pending))
        msg = f"{found}: still pending (no result yet, or part of the answer being written): mark it in the next turn"
        raise RefusedError(msg)


def _refuse_protected(rows: Sequence[Row], marking: Marking) -> None:
    for row in rows:
        reason = marking.ground.protected.get(row.anchor)
        if reason:
            way = "" if reason == SLOT else ", or remove its tag first"
            msg = f"{marking.moment.names.words(row)} is {reason}: leave it out of the range{way}"
            raise RefusedError(msg)


def _refuse_queued(rows: Sequence[Row], marking: Marking) -> None:
    anchors = {row.anchor for row in rows}
    for edit in marking.ground.queue:
        if not anchors.isdisjoint(edit.anchors) and edit.op is not Op.STATE:
            way = f'cancel it first with context_edit {{"op": "cancel", "id": "{edit.id}"}}'
            msg = f"{marking.words(rows)} is already in {edit.id} ({edit.op}): {way}"
            raise RefusedError(msg)


def _refuse_disposable(rows: Sequence[Row], work: WorkState, marking: Marking) -> None:
    found = anchors_of(work, marking.moment.places, MarkKind.DISPOSABLE)
    for row in rows:
        mark = found.get(row.anchor)
        if mark is not None:
            where = marking.moment.names.words(row)
            msg = f'{where} is marked disposable ("{one_line(mark.note)}"): remove that mark first'
            raise RefusedError(msg)


# --- removing ------------------------------------------------------------------------------------------


def _without(
    work: WorkState, kind: MarkKind, rows: Sequence[Row], marking: Marking
) -> tuple[WorkState, tuple[Mark, ...]]:
    places = marking.moment.places
    anchors = {row.anchor for row in rows}
    gone = tuple(
        mark
        for mark in work.marks
        if mark.kind is kind and not anchors.isdisjoint(r.anchor for r in marked_rows(mark, places))
    )
    return replace(work, marks=tuple(mark for mark in work.marks if mark not in gone)), gone


def _remove_mark(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    kind = MarkKind(op.kind)
    after, gone = _without(work, kind, rows, marking)
    if not gone:
        raise _nothing_there(kind, rows, work, marking)
    warnings = tuple(
        f"this pin was set by context-editor itself ({mark.note}): edits may cover that row now"
        for mark in gone
        if mark.is_product
    )
    return Tagged(after, f"{kind} removed from {marking.words(rows)}", warnings)


def _nothing_there(
    kind: MarkKind, rows: Sequence[Row], work: WorkState, marking: Marking
) -> RefusedError:
    numbers = marking.moment.conversation.numbers
    held = sorted(
        number
        for anchor in anchors_of(work, marking.moment.places, kind)
        if (number := numbers.get(anchor))
    )
    there = f"rows with it are {', '.join(f'#{n}' for n in held)}" if held else "no row has it"
    return RefusedError(f"{marking.words(rows)} has no {kind} mark: {there}")


def _remove_disposable(
    work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking
) -> Tagged:
    """A disposable mark is one: naming any row of it removes all of it, and what was queued from it (rule D6)."""
    del op
    after, gone = _without(work, MarkKind.DISPOSABLE, rows, marking)
    anchors = {row.anchor for row in rows}
    queued = tuple(
        edit
        for edit in marking.ground.queue
        if edit.author == "tag" and not anchors.isdisjoint(edit.anchors)
    )
    if not gone and not queued:
        raise _nothing_there(MarkKind.DISPOSABLE, rows, work, marking)
    withdrawn = tuple(edit.id for edit in queued)
    also = f"; {', '.join(withdrawn)} withdrawn" if withdrawn else ""
    return Tagged(
        after, f"disposable removed from {marking.words(rows)}{also}", withdrawn=withdrawn
    )


def _remove_state(work: WorkState, op: TagOp, rows: tuple[Row, ...], marking: Marking) -> Tagged:
    del op
    slot = marking.moment.places.row(work.slot) if work.slot else None
    if slot is None or slot.anchor not in {row.anchor for row in rows}:
        where = f"it is {marking.moment.names.words(slot)}" if slot else "there is none"
        msg = f"{marking.words(rows)} is not the state slot: {where}"
        raise RefusedError(msg)
    if is_locked(work):
        held = ", ".join(item.id for item in work.items or work.shown)
        way = "remove them with a state op of context_edit, or move it by tagging another row"
        msg = f"{SLOT} has items ({held}): {way}"
        raise RefusedError(msg)
    return Tagged(replace(work, slot=None), f"{marking.words(rows)} is no longer the state slot")


_ADDING: Final[dict[str, _Handler]] = {
    MarkKind.PIN: _add_pin,
    STATE: _add_state,
    MarkKind.DISPOSABLE: _add_disposable,
    MarkKind.REVIEW: _add_review,
    MarkKind.KEEP: _add_keep,
}

_REMOVING: Final[dict[str, _Handler]] = {
    MarkKind.PIN: _remove_mark,
    STATE: _remove_state,
    MarkKind.DISPOSABLE: _remove_disposable,
    MarkKind.REVIEW: _remove_mark,
    MarkKind.KEEP: _remove_mark,
}
