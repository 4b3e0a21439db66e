"""Calls of edits beside a queued molt, after one, and without any edit (rules C26 and group K-R)."""

from collections.abc import Sequence
from dataclasses import replace

from context_editor.core.edits.requests import EditCall
from context_editor.core.molt import not_undone
from context_editor.engine.stores import HOSTS_FILES, REBUILD_TURNS, Stores
from context_editor.engine.view import View
from context_editor.errors import RefusedError


def beside_molt(call: EditCall, view: View) -> tuple[EditCall, tuple[str, ...]]:
    """Take a cancel of the queued molt out of a call of edits, and say what became of it.

    Raises:
        RefusedError: A molt is queued and stays: edits beside it would be lost with it.
    """
    state = view.state
    queued = state.molt
    check_restores(view, [e.id for e in call.edits if e.op == "restore"])
    if queued is None:
        return call, ()
    rest = tuple(e for e in call.edits if not (e.op == "cancel" and e.id == queued.id))
    if len(rest) < len(call.edits):
        state.molt = None
        words = f"{queued.id} molt cancelled; its files stay: {queued.summary_path}, {queued.snapshot_path}"
        return replace(call, edits=rest), (words,)
    if rest:
        msg = (
            f"molt {queued.id} is queued, and edits would go with it: end the turn, or withdraw it first with "
            f'{{"op":"cancel","id":"{queued.id}"}}. Nothing of this call was queued.'
        )
        raise RefusedError(msg)
    return call, ()


def rebuilt(call: EditCall, view: View, stores: Stores) -> tuple[str, ...]:
    """What an apply without new edits says besides: the stores as they stand, and its cost (group K-R).

    Raises:
        RefusedError: A store cannot be read, or nothing is pending so soon after another such call.
    """
    if call.edits or not call.has_when or call.when != "turn_end":
        return ()
    state = view.state
    is_pending = bool(state.queue or state.molt)
    since = view.turn - state.rebuilt_turn
    if not is_pending and state.rebuilt_turn >= 0 and since <= REBUILD_TURNS:
        msg = (
            f"nothing is pending, and the last apply without edits was {since} turn(s) ago, allowed from "
            f"{REBUILD_TURNS + 1} on: for a noisy history use context_molt; for a noisy block collapse it"
        )
        raise RefusedError(msg)
    words = stores.words()
    state.rebuilt_turn = view.turn
    cost = (
        "Cost: an apply writes the cache anew from the first changed row on."
        if is_pending
        else "Cost: none; nothing is pending, so nothing is applied and the cache stays."
    )
    return (words, HOSTS_FILES, cost)


def check_restores(view: View, ids: Sequence[str]) -> None:
    """Refuse to bring back what a molt shed (rule C26).

    Raises:
        RefusedError: One of the replacements went with a molt; the snapshot is named.
    """
    state, found = view.state, view.reading.conversation.by_anchor
    for one in ids:
        made = state.replacements.get(one)
        if made is None or any(anchor in found for anchor in made.anchors):
            continue
        words = not_undone(state.molts, one)
        if words and not made.absorbed_by:
            raise RefusedError(words)
