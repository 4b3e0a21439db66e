"""What each op puts in the place of its rows, and where that may stand (rules C2 to C5, C26, H9 and L7)."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from context_editor.core.apply.emissions import (
    Build,
    BuiltResult,
)
from context_editor.core.apply.model import Changes, Placed, Surroundings
from context_editor.core.apply.walk import joined
from context_editor.core.conversation import Conversation
from context_editor.core.edits import wording
from context_editor.core.edits.admit import described_pieces
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX, Op
from context_editor.core.rows import Call, Piece, PieceForm, Row
from context_editor.core.state import INDEX_LABEL, PROMPT_LABEL, CarriedPart
from context_editor.errors import RefusedError


def place(one: Placed, around: Surroundings, changes: Changes) -> None:
    """Note what one edit puts in the place of its rows."""
    match one.edit.op:
        case Op.SUMMARIZE:
            _place_result(one, changes)
        case Op.COLLAPSE:
            _place_collapse(one, around, changes)
        case Op.REWRITE | Op.STATE:
            _place_own_text(one, changes)
        case Op.DESCRIBE:
            _place_description(one, around, changes)
        case Op.RESTORE:
            _place_restored(one, around, changes)


def _place_result(one: Placed, changes: Changes) -> None:
    row = one.rows[0]
    result = row.result
    if result is None or result.call_id is None:
        msg = f"{one.edit.id}: {row.source} has no result"
        raise RefusedError(msg)
    text = _summary_words(one, row)
    built = Build(
        "user",
        results=(BuiltResult(result.call_id, text, result.is_error),),
        anchor=row.anchor,
        replacement=one.id,
    )
    changes.built[_result_position(row)] = built


def _summary_words(one: Placed, row: Row) -> str:
    if one.digest_ref:
        return wording.digest_elsewhere(row.source, one.digest_ref, one.original)
    return wording.summarized(
        one.edit.author, row.source, one.id, one.original, one.media, one.edit.text
    )


def _result_position(row: Row) -> int:
    return next(
        at for at, p in zip(row.positions, row.pieces, strict=True) if p.form is PieceForm.RESULT
    )


def _place_own_text(one: Placed, changes: Changes) -> None:
    row = one.rows[0]
    text = one.text or wording.rewritten(one.edit.author, one.id, one.original, one.edit.text)
    changes.built[row.positions[0]] = Build(
        "assistant", text, anchor=row.anchor, replacement=one.id
    )
    changes.gone.update(row.positions[1:])


def place_new_slot(
    one: Placed, placed: Sequence[Placed], around: Surroundings, changes: Changes
) -> None:
    """Put a state slot that has no row yet behind its batch's collapse, else at the end (rule H9)."""
    built = Build("assistant", one.text, replacement=one.id, service=True)
    at = around.slot.at if around.slot else None
    beside = next((f"t:{COLLAPSE_ID_PREFIX}{p.id}" for p in placed if at in p.rows), "")
    for rows in (changes.inserted, changes.behind):
        for position, group in rows.items():
            if beside and any(row.anchor == beside for row in group):
                rows[position] = (*group, built)
                return
    end = len(around.conversation.pieces) - 1
    changes.behind[end] = (*changes.behind.get(end, ()), built)


def place_index(anchor: str, text: str, conversation: Conversation, changes: Changes) -> None:
    """Put the product's own row behind all results of the answer that a row belongs to (rule L7)."""
    row = conversation.by_anchor[anchor]
    response = row.pieces[0].response
    calls = {
        p.call.id for p in conversation.pieces if response and p.response == response and p.call
    }
    last = max(
        (at for at, p in enumerate(conversation.pieces) if p.call_id in calls),
        default=row.positions[-1],
    )
    built = Build("user", text, carried=(CarriedPart(INDEX_LABEL, text),))
    changes.behind[last] = (*changes.behind.get(last, ()), built)


def _place_description(one: Placed, around: Surroundings, changes: Changes) -> None:
    row = one.rows[0]
    prompt = described_pieces(row, around.conversation)
    typed = "\n\n".join(p.typed for p in row.pieces if p.typed)
    what = wording.described_parts(prompt)
    text = wording.described(what, one.id, one.original, one.media, one.edit.text, typed)
    words = CarriedPart(PROMPT_LABEL, text, typed)
    built = Build("user", text, anchor=row.anchor, replacement=one.id, carried=(words,))
    changes.built[row.positions[0]] = built
    changes.gone.update(row.positions[1:])
    handles = {id(piece) for piece in prompt}
    changes.gone.update(
        at
        for at, piece in enumerate(around.conversation.pieces)
        if id(piece) in handles and at not in changes.built
    )


def _place_collapse(one: Placed, around: Surroundings, changes: Changes) -> None:
    positions = sorted(at for row in one.rows for at in row.positions)
    held = wording.contents_list([row.source for row in one.rows])
    call_id = f"{COLLAPSE_ID_PREFIX}{one.id}"
    call = Call(call_id, around.own_tool, {"collapsed": list(held)})
    text = wording.collapsed(
        one.edit.author, len(one.rows), held, one.id, one.original, one.media, one.edit.text
    )
    pair = (
        Build("assistant", calls=(call,), anchor=f"t:{call_id}", replacement=one.id),
        Build(
            "user", results=(BuiltResult(call_id, text),), anchor=f"t:{call_id}", replacement=one.id
        ),
    )
    _insert(pair, positions, around.conversation, changes)


def _insert(
    rows: tuple[Build, ...], positions: Sequence[int], conversation: Conversation, changes: Changes
) -> None:
    """Put rows of their own in the place of a block of pieces.

    The host joins the kept rows of one answer at the place of the first: rows of ours between them would
    part calls from their results. Where the answer of the first piece goes on on both sides, the rows come
    behind its results. Observed on Claude Code 2.1.332, 2026-11-30 (docs/host-notes.md, 2).
    """
    changes.gone.update(positions)
    first = positions[0]
    pieces, removed = conversation.pieces, changes.gone
    response = pieces[first].response
    staying = [
        at
        for at, p in enumerate(pieces)
        if response and p.response == response and at not in removed
    ]
    is_parted = bool(staying) and staying[0] < first
    calls = {call.id for at in staying if (call := pieces[at].call)}
    if not (is_parted and (staying[-1] > first or calls)):
        changes.inserted[first] = (*changes.inserted.get(first, ()), *rows)
        return
    last = max((at for at, p in enumerate(pieces) if p.call_id in calls), default=staying[-1])
    changes.behind[last] = (*changes.behind.get(last, ()), *rows)


def _place_restored(one: Placed, around: Surroundings, changes: Changes) -> None:
    positions = sorted(at for row in one.rows for at in row.positions)
    if _is_in_place(one):
        _restore_in_place(one, changes)
        return
    _insert(tuple(_rebuilt_rows(one)), positions, around.conversation, changes)


def _is_in_place(one: Placed) -> bool:
    """Whether the pieces to bring back belong to the very rows that stand there."""
    if len(one.rows) != 1:
        return False
    row, call = one.rows[0], one.rows[0].call
    if call is not None:
        return [p.call.id for p in one.restored if p.call] == [call.id]
    return len(one.restored) == 1 and one.restored[0].role == row.pieces[0].role


def _restore_in_place(one: Placed, changes: Changes) -> None:
    row = one.rows[0]
    if row.call is not None:
        original = next(p for p in one.restored if p.form is PieceForm.RESULT)
        changes.built[_result_position(row)] = _rebuilt(original, one, row.anchor)
        return
    changes.built[row.positions[0]] = _rebuilt(one.restored[0], one, row.anchor)
    changes.gone.update(row.positions[1:])


def _rebuilt_rows(one: Placed) -> Iterator[Build]:
    """Pieces to bring back as rows: all blocks of an answer in one row, then its results one by one."""
    for response, group in groupby(_as_they_came(one.restored), key=lambda piece: piece.response):
        rows = [_rebuilt(piece, one) for piece in group if piece.form is not PieceForm.THINKING]
        yield from [joined(rows)] if response is not None and rows else rows


def _as_they_came(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of rows in the order of the conversation: an answer's blocks, then its results."""
    callers = {piece.call.id: piece.response for piece in pieces if piece.call}
    firsts: dict[str | None, int] = {}
    for at, piece in enumerate(pieces):
        firsts.setdefault(piece.response or callers.get(piece.call_id or ""), at)

    def place(at: int) -> tuple[int, bool, float, int]:
        piece = pieces[at]
        answer = piece.response or callers.get(piece.call_id or "")
        is_result = piece.response is None and answer is not None
        came_s = piece.position_s if is_result else 0.0
        return (firsts[answer] if answer else at, is_result, came_s, at)

    return [pieces[at] for at in sorted(range(len(pieces)), key=place)]


def _rebuilt(piece: Piece, one: Placed, anchor: str = "") -> Build:
    """A stored piece as a built row: its words whole, its media as files."""
    has_files = bool(piece.media and one.media)
    media = wording.MEDIA_CARRIED.format(paths=", ".join(one.media)) if has_files else ""
    text = "\n\n".join(filter(None, (piece.text, media)))
    before = anchor or f"u:{piece.handle}"
    match piece.form:
        case PieceForm.CALL if piece.call is not None:
            return Build(
                "assistant",
                calls=(piece.call,),
                anchor=f"t:{piece.call.id}",
                replacement=one.id,
            )
        case PieceForm.RESULT:
            result = BuiltResult(piece.call_id or "", text, piece.is_error)
            own = anchor or f"t:{piece.call_id}"
            return Build("user", results=(result,), anchor=own, replacement=one.id)
        case PieceForm.PROMPT if piece.typed is not None:
            words = CarriedPart(PROMPT_LABEL, text, piece.typed)
            return Build("user", text, anchor=before, replacement=one.id, carried=(words,))
        case _:
            return Build(piece.role, text, anchor=before, replacement=one.id)
