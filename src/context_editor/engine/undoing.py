"""What a person brings back: one original, or everything that the last apply replaced (rule C26)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from context_editor.core.edits.admit import admit
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.edits.requests import EditRequest
from context_editor.core.molt import Molt, latest, not_undone
from context_editor.core.sizes.wording import format_delta
from context_editor.engine.editing import queued_edit
from context_editor.engine.view import View
from context_editor.errors import RefusedError


def of_last_apply(
    replacements: Mapping[str, Replacement], molts: Sequence[Molt] = ()
) -> tuple[str, ...]:
    """The ids of what the last apply replaced and what still stands.

    The state slot stays out of it: what it shows are items, and they are changed one by one.

    Raises:
        RefusedError: Nothing of it stands, or the last apply was a molt.
    """
    molt = latest(molts)
    if molt is not None and all(made.epoch < molt.epoch for made in replacements.values()):
        raise RefusedError(not_undone(molts, "what the last applies replaced"))
    if not replacements:
        msg = "nothing was applied in this session yet, so there is nothing to undo"
        raise RefusedError(msg)
    last = max(made.epoch for made in replacements.values())
    made_last = [made for made in replacements.values() if made.epoch == last]
    standing = tuple(r.id for r in made_last if not r.absorbed_by and r.op is not Op.STATE)
    if not standing:
        ids = ", ".join(made.id for made in made_last)
        msg = f"nothing of the last apply ({ids}) is there to be undone"
        raise RefusedError(msg)
    return standing


def queue_restores(ids: Sequence[str], view: View, ground: Ground) -> tuple[str, ...]:
    """Queue bringing these originals back, all or none of them; one line each.

    Raises:
        RefusedError: One of them cannot be brought back; nothing was queued.
    """
    edits: list[Edit] = []
    for replacement_id in ids:
        now = replace(ground, queue=(*ground.queue, *edits))
        admitted = admit(EditRequest("restore", id=replacement_id), now, None)
        edits.append(queued_edit(admitted, view.state.next_id("q")))
    view.state.queue += edits
    return tuple(map(_line, edits))


def _line(edit: Edit) -> str:
    return f"{edit.id} restore of {edit.target}: {format_delta(-edit.saved_tokens)} tokens"
