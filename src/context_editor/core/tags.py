"""Calls of context_tag: stages, marks and decisions, one call whole or not at all (groups B, D, G6 and H). Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.close_report import ReportFacts, close_report
from context_editor.core.disposable import Due, queue_due, queued_words
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit
from context_editor.core.rows import Row
from context_editor.core.stages.flags import protected
from context_editor.core.stages.lifecycle import closed, opened, opening_words
from context_editor.core.stages.marks import Marking, Tagged, TagOp, added, removed
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.state import WorkState
from context_editor.errors import RefusedError

OPS: Final = "open, close, add, remove, decide"
DECISIONS: Final = ("continue", "defer", "obsolete")


@dataclass(frozen=True)
class TagContext:
    """What a call of context_tag is judged against.

    Attributes:
        ground: The conversation, sizes and the queue; what is protected is worked out here.
        new_id: Gives a fresh id for a letter; ids are never given out twice.
        turn: The number of the running turn.
        response: The id of the answer that makes the call; empty where the conversation does not hold it yet.
        epoch: The epoch that the caller says its numbers belong to; None when it says none.
        never_compact: The kinds that a keep mark may name (the setting of that name).
        facts: What close reports say besides.
        molt: The molt whose notice waits for a decision, or was decided last; empty without one.
    """

    ground: Ground
    new_id: Callable[[str], str]
    turn: int = 0
    response: str = ""
    epoch: int | None = None
    never_compact: tuple[str, ...] = ()
    facts: ReportFacts = field(default_factory=ReportFacts)
    molt: str = ""


@dataclass(frozen=True)
class TagOutcome:
    """What a call did; the engine stores all of it or nothing.

    Attributes:
        work: The state afterwards.
        texts: What happened, one text an op, in order. They show row numbers of this epoch.
        warnings: What the caller should know.
        queued: Edits for the queue, in order; one with the id of a queued edit takes that one's place.
        withdrawn: Ids of queued edits to take out of the queue.
        decision: What was decided about the molt; empty when nothing was.
        decision_note: The words given with it.
    """

    work: WorkState
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    queued: tuple[Edit, ...] = ()
    withdrawn: tuple[str, ...] = ()
    decision: str = ""
    decision_note: str = ""


def apply_tags(work: WorkState, ops: Sequence[TagOp], context: TagContext) -> TagOutcome:
    """Carry out one context_tag call, in order, whole or not at all (rule B8).

    Args:
        work: The state, settled for the conversation; it is not changed.
        ops: The call's elements.
        context: What they are judged against.

    Raises:
        RefusedError: An element breaks a rule; it is named by its position.
    """
    if not ops:
        msg = f"tags is empty: give at least one element; ops are {OPS}"
        raise RefusedError(msg)
    call = _Tags(work, context)
    for position, op in enumerate(ops):
        try:
            call.texts.append(call.done(op))
        except RefusedError as error:
            msg = f"tags[{position}] ({op.op}): {error}. Nothing of this call was done."
            raise RefusedError(msg) from error
    return call.outcome()


class _Tags:
    """One call as it goes along."""

    def __init__(self, work: WorkState, context: TagContext) -> None:
        self.texts: list[str] = []
        self._work = work
        self._context = context
        self._moment = Moment(context.ground.names, context.turn, context.response, context.epoch)
        self._warnings: list[str] = []
        self._queued: dict[str, Edit] = {}
        self._withdrawn: list[str] = []
        self._decision = ("", "")

    def outcome(self) -> TagOutcome:
        before = {edit.id for edit in self._context.ground.queue}
        return TagOutcome(
            self._work,
            tuple(self.texts),
            tuple(self._warnings),
            tuple(self._queued.values()),
            tuple(edit_id for edit_id in self._withdrawn if edit_id in before),
            *self._decision,
        )

    def done(self, op: TagOp) -> str:
        match op.op:
            case "open":
                return self._open(op)
            case "close":
                return self._close()
            case "add":
                return self._take(added(self._work, op, self._marking()))
            case "remove":
                return self._take(removed(self._work, op, self._marking()))
            case "decide":
                return self._decide(op)
            case _:
                msg = f"unknown op {op.op!r}: allowed are {OPS}"
                raise RefusedError(msg)

    def _open(self, op: TagOp) -> str:
        name = op.stage.strip()
        if not name:
            msg = "`stage` is missing or blank: give the stage a name"
            raise RefusedError(msg)
        first = self._moment.row(op.target, "open") if op.target else None
        before = self._left_for(first) if self._work.stage else ""
        done = opened(self._work, name, first, self._moment)
        self._work = done.work
        self._warnings += done.warnings
        due = self._queue_due(done.first.positions[0] if done.first else None)
        words = opening_words(done, name, self._moment, is_given=first is not None)
        return "\n".join(filter(None, (before, words, *queued_words(due, self._moment.names))))

    def _left_for(self, first: Row | None) -> str:
        """Close the open stage because another begins (rule B6).

        One that holds no row yet leaves no block. Where the new stage begins inside the open one, the open one
        ends in front of it.
        """
        stage = self._work.stage
        try:
            return self._closed(before=self._inside(first))
        except RefusedError:
            self._work = replace(self._work, stage=None)
            name = stage.name if stage else ""
            self._warnings.append(f'"{name}" held no row yet, so it leaves no block')
            return ""

    def _inside(self, first: Row | None) -> Row | None:
        stage = self._work.stage
        begun = self._moment.places.row(stage.start) if stage else None
        if first is None or begun is None or first.positions[0] <= begun.positions[0]:
            return None
        return first

    def _close(self) -> str:
        return self._closed()

    def _closed(self, before: Row | None = None) -> str:
        self._work, block = closed(self._work, self._moment, before=before)
        due = self._queue_due(block.rows[-1].positions[0] + 1)
        return close_report(block, self._work, self._ground(), self._context.facts, due)

    def _queue_due(self, before: int | None) -> Due:
        """Queue the disposable marks on rows in front of a position; None for all."""
        due = queue_due(self._work, self._ground(), self._context.new_id, before)
        self._work = due.work
        self._queued.update({edit.id: edit for edit in due.edits})
        return due

    def _ground(self) -> Ground:
        """The ground as this call has made it so far."""
        ground = self._context.ground
        kept = [edit for edit in ground.queue if edit.id not in {*self._withdrawn, *self._queued}]
        return replace(
            ground,
            queue=(*kept, *self._queued.values()),
            protected=protected(self._work, ground.conversation),
        )

    def _marking(self) -> Marking:
        context = self._context
        return Marking(self._moment, self._ground(), context.never_compact, context.new_id)

    def _take(self, done: Tagged) -> str:
        self._work = done.work
        self._warnings += done.warnings
        for edit_id in done.withdrawn:
            self._queued.pop(edit_id, None)
            self._withdrawn.append(edit_id)
        self._queued.update({edit.id: edit for edit in done.queued})
        return done.text

    def _decide(self, op: TagOp) -> str:
        if op.decision not in DECISIONS:
            msg = f"unknown decision {op.decision!r}: allowed are {', '.join(DECISIONS)}"
            raise RefusedError(msg)
        if not self._context.molt:
            msg = "there was no molt in this session, so there is nothing to decide"
            raise RefusedError(msg)
        self._decision = (op.decision, op.note)
        return f"decision on {self._context.molt}: {op.decision}"
