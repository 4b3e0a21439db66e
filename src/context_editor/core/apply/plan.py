"""The new conversation that a set of edits makes: what stays by handle, what is built, what goes.

Pure: the originals are archived and their paths known before this is asked. Every rule about what may
vanish is decided here: nothing but what was edited (C27), thinking behind the first change (C22), and
this product's own calls and records (A11).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from context_editor.core.apply.emissions import (
    Emission,
    Keep,
    illegal_because,
)
from context_editor.core.apply.model import Changes, Placed, Plan, Surroundings
from context_editor.core.apply.places import place, place_index, place_new_slot
from context_editor.core.apply.walk import emitted
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Op
from context_editor.core.rows import PieceForm, Row
from context_editor.errors import RefusedError

SERVICE_TOKENS_ALLOWED: Final = 2_000
"""Own rows in front of the first edit may hold this many tokens before they go too (rule A11)."""


def plan(placed: Sequence[Placed], around: Surroundings) -> Plan:
    """The new conversation.

    Raises:
        RefusedError: The result would not be legal, or words that must stay cannot be carried; nothing is
            to be applied then.
    """
    changes = Changes()
    for one in placed:
        if one.rows:
            place(one, around, changes)
    for one in placed:
        if not one.rows:
            place_new_slot(one, placed, around, changes)
    if around.slot and any(one.edit.op is Op.STATE for one in placed):
        changes.gone.update(at for row in around.slot.leaving for at in row.positions)
    if around.index is not None:
        place_index(*around.index, around.conversation, changes)
    first_edit = min(changes.touched(), default=len(around.conversation.pieces))
    dropped = _drop_own(around, first_edit, changes)
    first = min(changes.touched(), default=len(around.conversation.pieces))
    thinking = _drop_thinking(around, first, changes)
    emissions = emitted(around, changes)
    check_legal(emissions, around)
    return Plan(emissions, first, thinking, dropped)


def first_change(rows: Sequence[Row], around: Surroundings) -> int:
    """The position of the first piece that edits of these rows change, own rows included."""
    changes = Changes(gone={position for row in rows for position in row.positions})
    first_edit = min(changes.gone, default=len(around.conversation.pieces))
    _drop_own(around, first_edit, changes)
    return min(changes.gone, default=len(around.conversation.pieces))


# --- what goes besides ---------------------------------------------------------------------------------


def _drop_own(around: Surroundings, first_edit: int, changes: Changes) -> tuple[str, ...]:
    """Take out our own calls and records (rule A11), and say which."""
    hidden = [row for row in around.conversation.hidden if not row.is_pending]
    in_front = [row for row in hidden if row.positions[0] < first_edit]
    size = sum(around.service_tokens.get(row.anchor, 0) for row in in_front)
    keeps_front = around.keep_cache or size <= SERVICE_TOKENS_ALLOWED
    leaving = [row for row in hidden if not (keeps_front and row.positions[0] < first_edit)]
    standing = around.running_response
    leaving = [row for row in leaving if standing is None or row.pieces[0].response != standing]
    changes.gone.update(at for row in leaving for at in row.positions)
    return tuple(row.anchor for row in leaving)


def _drop_thinking(around: Surroundings, first: int, changes: Changes) -> int:
    """Take out the thinking that is no longer valid (rule C22), and say how many blocks."""
    pieces = around.conversation.pieces
    invalid = {
        at
        for at, piece in enumerate(pieces)
        if (at > first or around.rebuild)
        and piece.form is PieceForm.THINKING
        and (around.running_response is None or piece.response != around.running_response)
    }
    changes.gone |= invalid
    return len(invalid)


# --- whether it is legal ------------------------------------------------------------------------------


def check_legal(emissions: Sequence[Emission], around: Surroundings) -> None:
    """Hold a new conversation to what the host and the model's API take.

    Raises:
        RefusedError: It is not legal.
    """
    kept = {row.at: row.shape for row in around.stored}
    shapes = [kept[e.position] if isinstance(e, Keep) else e for e in emissions]
    reason = illegal_because(shapes, _broken_before(around.conversation))
    if reason:
        msg = f"the edits would leave an illegal conversation: {reason}"
        raise RefusedError(msg)


def _broken_before(conversation: Conversation) -> frozenset[str]:
    """Ids of calls without exactly one call piece and one result piece in the conversation as it is."""
    calls = Counter([p.call.id for p in conversation.pieces if p.call])
    results = Counter([p.call_id for p in conversation.pieces if p.call_id])
    once = {i for i, n in calls.items() if n == 1 and results.get(i) == 1}
    return frozenset(calls.keys() | results.keys()) - once
