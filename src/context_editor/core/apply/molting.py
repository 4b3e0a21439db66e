"""The conversation that a molt leaves: the handoff, the rows that stay, and what the host does not say again. Pure."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from context_editor.core.apply.emissions import Build
from context_editor.core.apply.model import Changes, Plan, Surroundings
from context_editor.core.apply.plan import check_legal
from context_editor.core.apply.stored import stored_rows
from context_editor.core.apply.walk import emitted
from context_editor.core.conversation import Conversation
from context_editor.core.rows import Piece, PieceForm, Row
from context_editor.core.state import HANDOFF_LABEL, INDEX_LABEL, STANDING_LABELS, CarriedPart

STANDING: Final = frozenset(
    {
        INDEX_LABEL,
        "host_context",
        "invoked_skills",
        "nested_memory",
        "output_style",
        "team_context",
    }
)
"""Texts that stay in force and that the host does not send again: the newest of each subject stays.

Its tables (environment, model, tools, agents, skills, MCP instructions), the project's instructions and the
date it does send again, as soon as they stand nowhere in the conversation: with the next prompt that a person
types, and in a turn that a plugin's prompt begins with its first tool result. Carried as text they would stand
twice from then on. Observed on Claude Code 2.1.332, 2026-11-30 (docs/host-notes.md, 10).
"""

TAG: Final = "<system-reminder>"
REMINDER: Final = f"{TAG}\n{{}}\n</system-reminder>"
"""How the host marks words of its own in a user message."""


# --- which rows stay ----------------------------------------------------------------------------------


def entries(conversation: Conversation) -> tuple[Row, ...]:
    """The rows that `keep_last` counts: listed, complete, standing by themselves, and no handoff of before."""
    carriers = {p.handle for p in conversation.pieces if p.label in STANDING_LABELS}
    return tuple(
        row
        for row in conversation.listed
        if not (row.is_pending or row.pieces[0].rides or row.pieces[0].handle in carriers)
    )


def kept_rows(
    conversation: Conversation, keep_last: int, calls: Collection[str]
) -> tuple[Row, ...]:
    """The rows that stay, in order: the newest ones with their whole batches, and these calls (K-M4 to K-M6).

    Args:
        conversation: The conversation as it is.
        keep_last: How many of the newest rows.
        calls: Ids of further calls.
    """
    candidates = entries(conversation)
    suffix = candidates[len(candidates) - keep_last :] if keep_last else ()
    suffix = suffix if keep_last < len(candidates) else candidates
    batches = {row.pieces[0].response for row in suffix if row.call}
    handles = {row.pieces[0].handle for row in suffix}
    named = {row.anchor for row in suffix} | {f"t:{call_id}" for call_id in calls}
    return tuple(
        row
        for row in candidates
        if row.anchor in named
        or (row.call is not None and row.pieces[0].response in batches)
        or (row.call is None and row.pieces[0].handle in handles)
    )


def shed_rows(conversation: Conversation, kept: Sequence[Row]) -> tuple[Row, ...]:
    """The rows that go, with their results; a call that has none is in the snapshot alone."""
    staying = {row.anchor for row in kept}
    listed = conversation.listed
    return tuple(row for row in listed if row.anchor not in staying and not row.is_pending)


def work_behind(conversation: Conversation, newest: str) -> tuple[Row, ...]:
    """The rows behind the newest one that the call saw, where more than the turn's last words came.

    Words of the agent alone behind the call are its status line, and go with the call.
    """
    seen = conversation.by_anchor.get(newest)
    start = seen.positions[0] if seen else -1
    behind = tuple(row for row in entries(conversation) if row.positions[0] > start)
    has_work = any(row.call is not None or row.pieces[0].role == "user" for row in behind)
    return behind if has_work else ()


# --- the plan -----------------------------------------------------------------------------------------


def molt_plan(around: Surroundings, kept: Sequence[Row], handoff: str) -> Plan:
    """The new conversation: the handoff with what the host does not say again, then the rows that stay.

    Args:
        around: The conversation as it is.
        kept: The rows that stay.
        handoff: The handoff as it is to stand there.

    Raises:
        RefusedError: The result would not be legal; nothing is to be applied then.
    """
    conversation = around.conversation
    gone = shed_positions(conversation, kept)
    parts = (CarriedPart(HANDOFF_LABEL, handoff), *_standing_parts(conversation.pieces, gone))
    front = Build("user", "\n\n".join(part.text for part in parts), carried=parts)
    changes = Changes(inserted={0: (front,)}, gone=gone)
    thinking = sum(1 for piece in conversation.pieces if piece.form is PieceForm.THINKING)
    emissions = emitted(around, changes)
    check_legal(emissions, around)
    own = tuple(row.anchor for row in conversation.rows if row.is_hidden and not row.is_pending)
    return Plan(emissions, 0, thinking, own)


def shed_positions(conversation: Conversation, kept: Sequence[Row]) -> set[int]:
    """Every position that goes: rows that do not stay with what rides behind them, own rows, all thinking."""
    staying = {at for row in kept for at in row.positions}
    hidden = {at for row in conversation.rows if row.is_hidden for at in row.positions}
    gone: set[int] = set()
    for stored in stored_rows(conversation.pieces):
        own = {at for at, _ in stored.own}
        gone |= own - staying
        if not own & staying:
            gone.update(at for at, _ in stored.riders)
    gone |= hidden
    gone.update(at for at, p in enumerate(conversation.pieces) if p.form is PieceForm.THINKING)
    return gone


def _standing_parts(pieces: Sequence[Piece], gone: Collection[int]) -> Iterator[CarriedPart]:
    """The words of the host that must survive, in their order; those behind rows that stay do so there."""
    newest = {_subject(piece): at for at, piece in enumerate(pieces) if _subject(piece)}
    for at, piece in enumerate(pieces):
        if at not in gone or piece.is_ours or not piece.text.strip():
            continue
        if newest.get(_subject(piece)) == at:
            yield CarriedPart(piece.label, _marked(piece))


def _subject(piece: Piece) -> str:
    """What a text of the host is about, where only the newest about it counts; empty for every other piece."""
    if piece.label == "nested_memory":
        return f"nested_memory {piece.text.removeprefix(TAG).strip().split(':', 1)[0]}"
    return piece.label if piece.label in STANDING else ""


def _marked(piece: Piece) -> str:
    """The words as the host marks them where it puts them into a user message."""
    text = piece.text.strip()
    is_marked = piece.role != "system" or text.startswith(TAG)
    return text if is_marked else REMINDER.format(text)
