"""Repairing a resumed conversation: what the host loaded is brought to what its file holds (rule J13)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from context_editor.core.apply.model import Changes, Plan, Surroundings
from context_editor.core.apply.stored import StoredRow, stored_rows
from context_editor.core.apply.walk import copied, emitted
from context_editor.core.conversation import Conversation
from context_editor.core.rows import Piece, PieceForm
from context_editor.core.state import Planted
from context_editor.engine.align import is_same_row
from context_editor.engine.ports import HostRow
from context_editor.engine.settling import stored_groups

Shape: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Who speaks in a row, its calls, and the results that it holds."""


def surplus(conversation: Conversation, host_rows: Sequence[HostRow]) -> int:
    """How many rows the host holds that its file does not, or misses that its file has; 0 when they agree."""
    held = Counter((row.role, row.calls, row.results) for row in host_rows)
    stored = Counter(_shape(_own(row)) for row in stored_rows(conversation.pieces) if row.own)
    return ((held - stored) + (stored - held)).total()


def _own(row: StoredRow) -> Sequence[Piece]:
    return [piece for _, piece in row.own]


def _shape(pieces: Sequence[Piece]) -> Shape:
    return (
        pieces[0].role,
        tuple(p.call.id for p in pieces if p.call),
        tuple(p.call_id for p in pieces if p.form is PieceForm.RESULT and p.call_id),
    )


def known_again(
    planted: Sequence[Planted], conversation: Conversation, host_rows: Sequence[HostRow]
) -> tuple[HostRow, ...]:
    """The host's rows under the ids that the file has for them now.

    A resume may load a row that an apply kept from its place in front of the apply, under its old id:
    it is the same row, and need not be built anew.
    """
    groups = stored_groups(conversation)
    now = {one.kept: group[0] for one, group in zip(planted, groups, strict=False) if one.kept}
    held = {row.handle for row in host_rows}
    return tuple(
        replace(row, handle=now[row.handle])
        if row.handle in now and now[row.handle] not in held
        else row
        for row in host_rows
    )


def repair_plan(around: Surroundings, host_rows: Sequence[HostRow]) -> Plan:
    """The conversation of the file, out of the host's rows where it holds them and built where it does not.

    Thinking that would stand behind a row built anew is left out: it is valid no longer.

    Raises:
        RefusedError: A row that the host does not hold has media, or words behind it that cannot be sent.
    """
    pieces = around.conversation.pieces
    held = {row.handle: row for row in host_rows}
    changes = Changes()
    for row in around.stored:
        own = row.own
        found = held.get(own[0][1].handle) if own else None
        if own and (found is None or not is_same_row(_own(row), found)):
            changes.built.update(
                {at: copied(p) for at, p in own if p.form is not PieceForm.THINKING}
            )
            changes.gone.update(at for at, p in own if p.form is PieceForm.THINKING)
    first = min(changes.touched(), default=len(pieces))
    invalid = {at for at, p in enumerate(pieces) if p.form is PieceForm.THINKING and at >= first}
    changes.gone |= invalid
    return Plan(emitted(around, changes), first, len(invalid), ())
