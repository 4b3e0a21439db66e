"""Queueing edits: one call is admitted whole or not at all (rule C18)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.apply.plan import Surroundings, first_change
from context_editor.core.edits.admit import Admitted, Ground, admit
from context_editor.core.edits.model import Author, Edit
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.rows import Conversation, Row
from context_editor.core.sizes.gain import Gain
from context_editor.core.sizes.wording import format_delta, format_tokens
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


def queue_edits(call: EditCall, view: View, ground: Ground) -> Queued:
    """Admit every element of a call, in order, and put them in the queue of `view.state`.

    Raises:
        RefusedError: An element breaks a rule; it is named by its position and nothing was queued.
    """
    if not call.edits and not (call.has_when and call.when == "turn_end"):
        msg = (
            'edits is empty: give at least one edit, or "apply": "turn_end" to apply what is queued'
        )
        raise RefusedError(msg)
    state = view.state
    draft = list(state.queue)
    lines: list[str] = []
    warnings: list[str] = []
    for position, request in enumerate(call.edits, start=1):
        try:
            lines += _one(
                request, call.epoch, state, draft, replace(ground, queue=tuple(draft)), warnings
            )
        except RefusedError as error:
            msg = f"edits[{position - 1}] ({request.op}): {error}. Nothing of this call was queued."
            raise RefusedError(msg) from error
    state.queue[:] = draft
    return Queued(tuple(lines), tuple(warnings))


def _one(
    request: EditRequest,
    epoch: int | None,
    state: SessionState,
    draft: list[Edit],
    ground: Ground,
    warnings: list[str],
) -> Sequence[str]:
    if request.op == "cancel":
        return (_cancel(request.id, draft),)
    admitted = admit(request, ground, epoch)
    warnings += admitted.warnings
    for ousted in admitted.ousts:
        _cancel(ousted, draft)
        warnings.append(f"{ousted} (a disposable mark on the same rows) gave way to this edit")
    edit = queued_edit(admitted, state.next_id("q"))
    draft.append(edit)
    return (_queued_line(edit, admitted, ground),)


def _cancel(edit_id: str, draft: list[Edit]) -> str:
    for at, edit in enumerate(draft):
        if edit.id == edit_id:
            del draft[at]
            return f"{edit_id} {edit.op} cancelled"
    known = f"queued are {', '.join(e.id for e in draft)}" if draft else "nothing is queued"
    msg = f"there is no queued edit {edit_id!r}: {known}"
    raise RefusedError(msg)


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


def choices_after(call: EditCall, before: TurnChoices, turn: int) -> TurnChoices:
    """What this turn's calls ask for once this one is in (rules C8 and C10)."""
    same = before if before.turn == turn else TurnChoices(turn=turn)
    return replace(
        same,
        resume=same.resume if call.resume is None else call.resume,
        has_turn_end_apply=same.has_turn_end_apply or call.when == "turn_end",
        keep_cache=same.keep_cache or call.keep_cache,
    )


def blocks_from_end(position: int, conversation: Conversation) -> int:
    """Content blocks from a position to the end; our own hidden calls and records do not count."""
    hidden = {at for row in conversation.rows if row.is_hidden for at in row.positions}
    return sum(1 for at in range(position, len(conversation.pieces)) if at not in hidden)


def queue_rows(state: SessionState, conversation: Conversation) -> tuple[Row, ...]:
    """Every row that the queue covers, in order of the conversation."""
    covered = {anchor for edit in state.queue for anchor in edit.anchors}
    return tuple(row for row in conversation.rows if row.anchor in covered)


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
