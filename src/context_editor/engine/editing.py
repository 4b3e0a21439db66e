"""Queueing edits: one call is admitted whole or not at all (rule C18)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from context_editor.core.apply.model import Surroundings
from context_editor.core.apply.plan import first_change
from context_editor.core.conversation import Conversation
from context_editor.core.disposable import on_edit_accepted
from context_editor.core.edits.admit import admit
from context_editor.core.edits.ground import Admitted, Ground
from context_editor.core.edits.model import Author, Edit, Op
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.rows import Row
from context_editor.core.sizes.gain import Gain
from context_editor.core.sizes.wording import format_delta, format_tokens
from context_editor.core.slot import StateChange, apply_state_changes, state_cancelled
from context_editor.core.stages.state import WorkState
from context_editor.core.state import SessionState, TurnChoices
from context_editor.engine.view import View
from context_editor.errors import RefusedError

KEEP_CACHE_POSITIONS: Final = 20
"""Content blocks from the end within which a change leaves the cached prefix usable (rule C10; a setting)."""


@dataclass(frozen=True)
class Queued:
    """What a call did to the queue.

    Attributes:
        lines: What happened, one line an element.
        warnings: What the caller should know.
    """

    lines: tuple[str, ...]
    warnings: tuple[str, ...]


PolicyPass: TypeAlias = Callable[[View, float | None, Sequence[Edit]], tuple[tuple[Edit, ...], str]]
"""What the retention policy would queue beside a queue, down to a ratio, and its report."""


def queue_edits(call: EditCall, view: View, ground: Ground, policy: PolicyPass) -> Queued:
    """Admit every element of a call, in order, and put them in the queue of `view.state`.

    Args:
        call: The call.
        view: The session.
        ground: What edits are judged against.
        policy: Runs a pass of the retention policy, for an op that asks for one.

    Raises:
        RefusedError: An element breaks a rule; it is named by its position and nothing was queued.
    """
    if not call.edits and not (call.has_when and call.when == "turn_end"):
        msg = (
            'edits is empty: give at least one edit, or "apply": "turn_end" to apply what is queued'
        )
        raise RefusedError(msg)
    draft = _Draft(view, ground, call.epoch, list(view.state.queue), view.state.work, policy)
    for position, request in enumerate(call.edits):
        try:
            draft.lines += draft.one(request)
        except RefusedError as error:
            msg = f"edits[{position}] ({request.op}): {error}. Nothing of this call was queued."
            raise RefusedError(msg) from error
    if any(request.op != "cancel" for request in call.edits):
        draft.take_marks()
    view.state.queue[:] = draft.queue
    view.state.work = draft.work
    return Queued(tuple(draft.lines), tuple(draft.warnings))


@dataclass
class _Draft:
    """One call as it goes along; the state is changed only when all of it is admitted."""

    view: View
    ground: Ground
    epoch: int | None
    queue: list[Edit]
    work: WorkState
    policy: PolicyPass
    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def _now(self) -> Ground:
        return replace(self.ground, queue=tuple(self.queue))

    def one(self, request: EditRequest) -> Sequence[str]:
        """Take one element in, and say what it did."""
        if request.op == "cancel":
            return (self._cancel(request.id),)
        if request.op == "state":
            return self._state(request)
        if request.op == "policy":
            edits, report = self.policy(self.view, request.ratio, tuple(self.queue))
            self.queue += edits
            return (report, *([f"queued {edits[0].id}..{edits[-1].id}"] if edits else []))
        admitted = admit(request, self._now, self.epoch)
        self.warnings += admitted.warnings
        for ousted in admitted.ousts:
            self._cancel(ousted)
            self.warnings.append(
                f"{ousted} (a disposable mark on the same rows) gave way to this edit"
            )
        edit = queued_edit(admitted, self.view.state.next_id("q"))
        self.queue.append(edit)
        return (_queued_line(edit, admitted, self.ground),)

    def _state(self, request: EditRequest) -> Sequence[str]:
        changes = [change for change in request.changes if isinstance(change, StateChange)]
        outcome = apply_state_changes(self.work, changes, self._now, self.view.state.next_id)
        self.work = outcome.work
        self._put(outcome.edit)
        self.warnings += outcome.warnings
        if all(edit.op is Op.STATE for edit in self.queue):
            self.warnings.append(
                "a state change alone rewrites the cache behind the slot: send it with a block's edits"
            )
        return (*outcome.texts, f"{outcome.edit.id} state: the slot is rebuilt with the apply")

    def _put(self, edit: Edit) -> None:
        """Queue an edit; one with the id of a queued edit takes that one's place."""
        self.queue[:] = [one for one in self.queue if one.id != edit.id]
        self.queue.append(edit)

    def _cancel(self, edit_id: str) -> str:
        edit = next((one for one in self.queue if one.id == edit_id), None)
        if edit is None:
            ids = ", ".join(one.id for one in self.queue)
            known = f"queued are {ids}" if ids else "nothing is queued"
            msg = f"there is no queued edit {edit_id!r}: {known}"
            raise RefusedError(msg)
        members = [
            one for one in self.queue if one is edit or (edit.batch and one.batch == edit.batch)
        ]
        self.queue[:] = [one for one in self.queue if one not in members]
        if edit.op is Op.STATE:
            self.work = state_cancelled(self.work)
        with_it = [one.id for one in members if one is not edit]
        also = f" with the rest of its batch ({', '.join(with_it)})" if with_it else ""
        return f"{edit_id} {edit.op} cancelled{also}"

    def take_marks(self) -> None:
        """What an accepted call does to disposable marks and to a waiting block (rules D5, D8, E6)."""
        accepted = on_edit_accepted(self.work, self._now, self.view.state.next_id)
        self.work = accepted.work
        for edit in accepted.edits:
            self._put(edit)
        self.lines += accepted.lines


def queued_edit(
    admitted: Admitted, edit_id: str, author: Author = "agent", reason: str = "agent_edit"
) -> Edit:
    """An admitted edit as it stands in the queue."""
    return Edit(
        edit_id,
        admitted.op,
        tuple(row.anchor for row in admitted.rows),
        admitted.text,
        author,
        admitted.target,
        admitted.saved_tokens,
        reason=reason,
    )


def _queued_line(edit: Edit, admitted: Admitted, ground: Ground) -> str:
    rows = admitted.rows
    where = ground.names.words(rows[0])
    span = (
        where if len(rows) == 1 else f"{where}..{ground.names.words(rows[-1])} ({len(rows)} rows)"
    )
    target = f" of {edit.target}" if edit.target else ""
    return f"{edit.id} {edit.op}{target} {span}: {format_delta(-edit.saved_tokens)} tokens"


def choices_after(call: EditCall, before: TurnChoices, turn: int, now_s: float) -> TurnChoices:
    """What this turn's calls ask for once this one is in (rules C8 and C10)."""
    same = before if before.turn == turn else TurnChoices(turn=turn)
    return replace(
        same,
        resume=same.resume if call.resume is None else call.resume,
        has_turn_end_apply=same.has_turn_end_apply or call.when == "turn_end",
        keep_cache=same.keep_cache or call.keep_cache,
        asked_s=now_s,
    )


def blocks_from_end(position: int, conversation: Conversation) -> int:
    """Content blocks from a position to the end; our own hidden calls and records do not count."""
    hidden = {at for row in conversation.hidden for at in row.positions}
    return sum(1 for at in range(position, len(conversation.pieces)) if at not in hidden)


def queue_rows(state: SessionState, conversation: Conversation) -> tuple[Row, ...]:
    """Every row that the queue covers, in order of the conversation."""
    places = conversation.index.places
    covered = {anchor for edit in state.queue for anchor in edit.anchors}
    found = sorted(places[anchor] for anchor in covered if anchor in places)
    return tuple(conversation.rows[place] for place in found)


def queue_distance(state: SessionState, around: Surroundings) -> int | None:
    """How many content blocks from the end the queue's first change stands; None when nothing is queued."""
    rows = queue_rows(state, around.conversation)
    if not rows:
        return None
    return blocks_from_end(first_change(rows, around), around.conversation)


def check_keep_cache(view: View, around: Surroundings, limit: int) -> None:
    """Refuse a change that `keep_cache` does not allow (rule C10).

    Raises:
        RefusedError: The queue's first change stands too far from the end.
    """
    distance = queue_distance(view.state, around)
    if distance is not None and distance > limit:
        msg = (
            f"keep_cache: the earliest change is {distance} positions from the end, {distance} > {limit}: "
            f"resend without keep_cache, or leave out the rows further back"
        )
        raise RefusedError(msg)


def queue_gain(view: View, around: Surroundings) -> Gain:
    """What applying the whole queue saves and costs."""
    rows = queue_rows(view.state, around.conversation)
    saved = sum(edit.saved_tokens for edit in view.state.queue)
    if not rows:
        return Gain(saved, 0)
    behind = view.sizes.behind(first_change(rows, around), around.conversation)
    return Gain(saved, max(0, behind - max(saved, 0)))


def queue_words(view: View, around: Surroundings) -> str:
    """The queue in one line: count, tokens spared, the cache it rewrites, and when that is worth it."""
    gain = queue_gain(view, around)
    return (
        f"Queued: {len(view.state.queue)} edit(s), {format_delta(-gain.saved_tokens)} tokens in every later request; "
        f"rewrites {format_tokens(gain.rewritten_tokens)} of cache once: {gain.conclusion}"
    )
