"""The new conversation that a set of edits makes: what stays by handle, what is built, what goes.

Pure: the originals are archived and their paths known before this is asked. Every rule about what may
vanish is decided here: nothing but what was edited (C27), thinking behind the first change (C22), and
this product's own calls and records (A11).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.apply.emissions import (
    Build,
    BuiltResult,
    Emission,
    Keep,
    KeptShape,
    illegal_because,
)
from context_editor.core.edits import wording
from context_editor.core.edits.admit import described_pieces
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX, Edit, Op
from context_editor.core.rows import Call, Conversation, Piece, PieceForm, Row
from context_editor.core.state import PROMPT_LABEL, CarriedPart
from context_editor.errors import RefusedError

SERVICE_TOKENS_ALLOWED: Final = 2_000
"""Own rows in front of the first edit may hold this many tokens before they go too (rule A11)."""


@dataclass(frozen=True)
class Placed:
    """An edit whose originals are archived and whose rows were found again.

    Attributes:
        edit: The queued edit.
        rows: The rows that it replaces, in order.
        id: The replacement's id, such as `c7`.
        original: The absolute path of the first original.
        media: Absolute paths of the media that stood in the rows.
        restored: For a restore: the pieces to bring back, in order.
        digest_ref: For a policy batch: the ref of the row that holds the digest; empty for that row itself.
        text: The text to put there, where it differs from the edit's own (a state slot, a batch pointer).
    """

    edit: Edit
    rows: tuple[Row, ...]
    id: str
    original: str
    media: tuple[str, ...] = ()
    restored: tuple[Piece, ...] = ()
    digest_ref: str = ""
    text: str = ""


@dataclass(frozen=True)
class Plan:
    """A new conversation, ready to hand to the host.

    Attributes:
        emissions: Its rows, in order.
        first_changed: The position of the first piece that changes; the count of pieces when none does.
        thinking_dropped: Thinking blocks that go behind it.
        dropped_own: Anchors of own rows that go.
    """

    emissions: tuple[Emission, ...]
    first_changed: int
    thinking_dropped: int
    dropped_own: tuple[str, ...]


@dataclass(frozen=True)
class Surroundings:
    """What a plan needs to know besides the edits.

    Attributes:
        conversation: The conversation as it is.
        own_tool: The full name of the tool whose call a collapse pretends.
        running_response: While a turn runs, the answer that must stay whole; None at a turn's end.
        service_tokens: The size of every hidden row, by anchor.
        keep_cache: Whether own rows in front of the first edit must stay.
        rebuild: Whether every assistant row and every result is built anew (the resume fallback).
    """

    conversation: Conversation
    own_tool: str
    running_response: str | None = None
    service_tokens: Mapping[str, int] = field(default_factory=dict)
    keep_cache: bool = False
    rebuild: bool = False


@dataclass
class _Changes:
    """What becomes of single positions: rows built in their place, or nothing."""

    built: dict[int, tuple[Build, ...]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def touched(self) -> set[int]:
        return set(self.built) | self.gone


def plan(placed: Sequence[Placed], around: Surroundings) -> Plan:
    """The new conversation.

    Raises:
        RefusedError: The result would not be legal, or words that must stay cannot be carried; nothing is
            to be applied then.
    """
    changes = _Changes()
    for one in placed:
        _place(one, around, changes)
    first_edit = min(changes.touched(), default=len(around.conversation.pieces))
    dropped = _drop_own(around, first_edit, changes)
    first = min(changes.touched(), default=len(around.conversation.pieces))
    thinking = _drop_thinking(around, first, changes)
    emissions = tuple(_merged(_emit(around, changes)))
    _check(emissions, around.conversation)
    return Plan(emissions, first, thinking, dropped)


def first_change(rows: Sequence[Row], around: Surroundings) -> int:
    """The position of the first piece that edits of these rows change, own rows included."""
    changes = _Changes(gone={position for row in rows for position in row.positions})
    first_edit = min(changes.gone, default=len(around.conversation.pieces))
    _drop_own(around, first_edit, changes)
    return min(changes.gone, default=len(around.conversation.pieces))


# --- what each op puts in the place of its rows -------------------------------------------------------


def _place(one: Placed, around: Surroundings, changes: _Changes) -> None:
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


def _place_result(one: Placed, changes: _Changes) -> None:
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
    changes.built[_result_position(row)] = (built,)


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


def _place_own_text(one: Placed, changes: _Changes) -> None:
    row = one.rows[0]
    text = one.text or wording.rewritten(one.edit.author, one.id, one.original, one.edit.text)
    built = Build("assistant", text, anchor=row.anchor, replacement=one.id)
    changes.built[row.positions[0]] = (built,)
    changes.gone.update(row.positions[1:])


def _place_description(one: Placed, around: Surroundings, changes: _Changes) -> None:
    row = one.rows[0]
    prompt = described_pieces(row, around.conversation)
    typed = "\n\n".join(p.typed for p in row.pieces if p.typed)
    what = wording.described_parts(prompt)
    text = wording.described(what, one.id, one.original, one.media, one.edit.text, typed)
    words = CarriedPart(PROMPT_LABEL, text, typed)
    built = Build("user", text, anchor=row.anchor, replacement=one.id, carried=(words,))
    changes.built[row.positions[0]] = (built,)
    changes.gone.update(row.positions[1:])
    handles = {id(piece) for piece in prompt}
    changes.gone.update(
        at
        for at, piece in enumerate(around.conversation.pieces)
        if id(piece) in handles and at not in changes.built
    )


def _place_collapse(one: Placed, around: Surroundings, changes: _Changes) -> None:
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
    gone = set(positions) - set(changes.built)
    changes.gone.update(gone)
    at = _legal_place(positions[0], set(positions) | changes.gone, around.conversation)
    changes.built[at] = (*changes.built.get(at, ()), *pair) if at in changes.gone else pair


def _legal_place(first: int, removed: set[int], conversation: Conversation) -> int:
    """Where a pair may stand for a block whose first removed piece is at `first`.

    A call in front of it that stays in the same answer has its result further on: the pair may only come
    behind that result, so it takes the place of the first removed piece after it.
    """
    pieces = conversation.pieces
    response = pieces[first].response
    waiting = {
        call.id
        for at, piece in enumerate(pieces[:first])
        if at not in removed and response and piece.response == response and (call := piece.call)
    }
    if not waiting:
        return first
    last = max(at for at, piece in enumerate(pieces) if piece.call_id in waiting)
    return next((at for at in sorted(removed) if at > last), last)


def _place_restored(one: Placed, around: Surroundings, changes: _Changes) -> None:
    positions = sorted(at for row in one.rows for at in row.positions)
    standing_calls = {
        row.call.id
        for row in one.rows
        if row.call and not row.call.id.startswith(COLLAPSE_ID_PREFIX)
    }
    restored_calls = {p.call.id for p in one.restored if p.call}
    if standing_calls and standing_calls == restored_calls:
        _restore_results(one, changes)
        return
    built = tuple(_rebuilt(piece, one) for piece in one.restored)
    changes.built[positions[0]] = built
    changes.gone.update(positions[1:])


def _restore_results(one: Placed, changes: _Changes) -> None:
    """Put original results back behind calls that still stand."""
    originals = {p.call_id: p for p in one.restored if p.form is PieceForm.RESULT}
    for row in one.rows:
        original = originals.get(row.call.id if row.call else "")
        if original is not None:
            changes.built[_result_position(row)] = (_rebuilt(original, one, row.anchor),)


def _rebuilt(piece: Piece, one: Placed, anchor: str = "") -> Build:
    """A stored piece as a built row: its words whole, its media as files."""
    media = (
        wording.MEDIA_CARRIED.format(paths=", ".join(one.media))
        if piece.media and one.media
        else ""
    )
    text = "\n\n".join(filter(None, (piece.text, media)))
    match piece.form:
        case PieceForm.CALL if piece.call is not None:
            return Build(
                "assistant", calls=(piece.call,), anchor=f"t:{piece.call.id}", replacement=one.id
            )
        case PieceForm.RESULT:
            result = BuiltResult(piece.call_id or "", text, piece.is_error)
            return Build(
                "user", results=(result,), anchor=anchor or f"t:{piece.call_id}", replacement=one.id
            )
        case PieceForm.PROMPT if piece.typed is not None:
            words = CarriedPart(PROMPT_LABEL, text, piece.typed)
            return Build("user", text, anchor=anchor, replacement=one.id, carried=(words,))
        case _:
            return Build(piece.role, text, anchor=anchor, replacement=one.id)


# --- what goes besides ---------------------------------------------------------------------------------


def _drop_own(around: Surroundings, first_edit: int, changes: _Changes) -> tuple[str, ...]:
    """Take out our own calls and records (rule A11), and say which."""
    hidden = [row for row in around.conversation.rows if row.is_hidden and not row.is_pending]
    in_front = [row for row in hidden if row.positions[0] < first_edit]
    size = sum(around.service_tokens.get(row.anchor, 0) for row in in_front)
    keeps_front = around.keep_cache or size <= SERVICE_TOKENS_ALLOWED
    leaving = [row for row in hidden if not (keeps_front and row.positions[0] < first_edit)]
    standing = around.running_response
    leaving = [row for row in leaving if standing is None or row.pieces[0].response != standing]
    changes.gone.update(at for row in leaving for at in row.positions)
    return tuple(row.anchor for row in leaving)


def _drop_thinking(around: Surroundings, first: int, changes: _Changes) -> int:
    """Take out the thinking that is no longer valid (rule C22), and say how many blocks."""
    pieces = around.conversation.pieces
    invalid = {
        at
        for at, piece in enumerate(pieces)
        if piece.form is PieceForm.THINKING
        and (at > first or around.rebuild)
        and (around.running_response is None or piece.response != around.running_response)
    }
    changes.gone |= invalid
    return len(invalid)


# --- the walk ------------------------------------------------------------------------------------------


def _emit(around: Surroundings, changes: _Changes) -> Iterator[Emission]:
    """The new rows in order; words that rode behind a row that goes follow as text (rule C27)."""
    carried: list[CarriedPart] = []
    open_calls: set[str] = set()
    for members in _stored_rows(around.conversation):
        emitted = tuple(_stored_row(members, around, changes))
        is_kept = any(isinstance(e, Keep) for e in emitted)
        if not is_kept:
            carried += _riders(members, changes, around)
        for emission in emitted:
            if carried and not open_calls and _speaks_as_assistant(emission, around.conversation):
                yield _carrier(carried)
                carried = []
            yield emission
            open_calls = _still_open(open_calls, emission, around.conversation)
    if carried:
        yield _carrier(carried)


def _stored_rows(conversation: Conversation) -> Iterator[tuple[tuple[int, Piece], ...]]:
    """The pieces by stored row: those of one handle, and what rides behind them."""
    group: list[tuple[int, Piece]] = []
    for at, piece in enumerate(conversation.pieces):
        is_same = bool(group) and piece.handle == group[0][1].handle
        if group and not piece.rides and not is_same:
            yield tuple(group)
            group = []
        group.append((at, piece))
    if group:
        yield tuple(group)


def _stored_row(
    members: tuple[tuple[int, Piece], ...], around: Surroundings, changes: _Changes
) -> Iterator[Emission]:
    own = [(at, piece) for at, piece in members if not piece.rides]
    touched = any(at in changes.built or at in changes.gone for at, _ in own)
    if not own:
        yield Keep(members[0][1].handle, members[0][0])
    elif not touched and not (around.rebuild and _is_rebuildable(own, around)):
        yield Keep(own[0][1].handle, own[0][0])
    else:
        for at, piece in own:
            if at in changes.built:
                yield from changes.built[at]
            elif at not in changes.gone:
                yield _copy(piece)


def _is_rebuildable(own: Sequence[tuple[int, Piece]], around: Surroundings) -> bool:
    piece = own[0][1]
    if around.running_response is not None and piece.response == around.running_response:
        return False
    return piece.role == "assistant" or piece.form is PieceForm.RESULT


def _copy(piece: Piece) -> Build:
    """A piece that stays while another piece of its stored row changes."""
    if piece.media:
        msg = f"a {piece.form} row holds media that cannot be sent again"
        raise RefusedError(msg)
    match piece.form:
        case PieceForm.CALL if piece.call is not None:
            return Build("assistant", calls=(piece.call,), anchor=f"t:{piece.call.id}")
        case PieceForm.RESULT:
            return Build(
                "user", results=(BuiltResult(piece.call_id or "", piece.text, piece.is_error),)
            )
        case _:
            return Build(piece.role, piece.text)


def _riders(
    members: tuple[tuple[int, Piece], ...], changes: _Changes, around: Surroundings
) -> Iterator[CarriedPart]:
    for at, piece in members:
        if not piece.rides or at in changes.gone or piece.is_ours or not piece.text:
            continue
        if piece.media or piece.extra.get("rendered_known") is False:
            msg = f"a host row ({piece.label}) behind an edited row cannot be sent again as it was"
            raise RefusedError(msg)
        yield CarriedPart(piece.label, piece.text, piece.typed)


def _carrier(parts: Sequence[CarriedPart]) -> Build:
    return Build("user", "\n\n".join(part.text for part in parts), carried=tuple(parts))


def _speaks_as_assistant(emission: Emission, conversation: Conversation) -> bool:
    return _role(emission, conversation) == "assistant"


def _role(emission: Emission, conversation: Conversation) -> str:
    return (
        conversation.pieces[emission.position].role if isinstance(emission, Keep) else emission.role
    )


def _still_open(open_calls: set[str], emission: Emission, conversation: Conversation) -> set[str]:
    shape = _kept_shape(emission, conversation) if isinstance(emission, Keep) else emission
    if isinstance(shape, KeptShape):
        return (open_calls - set(shape.results)) | set(shape.calls)
    return (open_calls - {r.call_id for r in shape.results}) | {c.id for c in shape.calls}


def _kept_shape(keep: Keep, conversation: Conversation) -> KeptShape:
    members = [keep.position]
    pieces = conversation.pieces
    while members[-1] + 1 < len(pieces) and pieces[members[-1] + 1].handle == keep.handle:
        members.append(members[-1] + 1)
    parts = [pieces[at] for at in members]
    return KeptShape(
        parts[0].role,
        tuple(p.call.id for p in parts if p.call),
        tuple(p.call_id for p in parts if p.form is PieceForm.RESULT and p.call_id),
        parts[0].form in {PieceForm.PROMPT, PieceForm.TEXT},
    )


def _merged(emissions: Iterator[Emission]) -> Iterator[Emission]:
    """Carriers joined to the built result in front of them: one message, the words behind the result."""
    held: Build | None = None
    for emission in emissions:
        is_carrier = (
            isinstance(emission, Build) and bool(emission.carried) and not emission.replacement
        )
        if held is not None and is_carrier and isinstance(emission, Build) and not held.text:
            yield replace(held, text=emission.text, carried=emission.carried)
            held = None
            continue
        if held is not None:
            yield held
            held = None
        if isinstance(emission, Build) and emission.results:
            held = emission
        else:
            yield emission
    if held is not None:
        yield held


def _check(emissions: Sequence[Emission], conversation: Conversation) -> None:
    shapes = tuple(_kept_shape(e, conversation) if isinstance(e, Keep) else e for e in emissions)
    reason = illegal_because(shapes, _broken_before(conversation))
    if reason:
        msg = f"the edits would leave an illegal conversation: {reason}"
        raise RefusedError(msg)


def _broken_before(conversation: Conversation) -> frozenset[str]:
    """Ids of calls without exactly one call piece and one result piece in the conversation as it is."""
    calls = Counter(p.call.id for p in conversation.pieces if p.call)
    results = Counter(p.call_id for p in conversation.pieces if p.call_id)
    return frozenset(i for i in calls.keys() | results.keys() if calls[i] != 1 or results[i] != 1)
