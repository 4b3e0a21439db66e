"""Pieces to rows: what a person and a model see numbered.

Pure. It judges by structure and by our own records, never by wording.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX
from context_editor.core.edits.wording import is_replacement_text
from context_editor.core.growing import same_front
from context_editor.core.index import Index
from context_editor.core.rows import PRINT_HEX_CHARS, Piece, PieceForm, Row, RowKind
from context_editor.core.state import STANDING_LABELS, CarriedPart

OWN_TOOL_PREFIX: Final = "mcp__plugin_context-editor_editor__"
"""How this product's tools are named in Claude Code; another host gives its own."""

ORPHAN_LABEL: Final = "orphan"
"""The label of a result whose call is not in the conversation, or was answered before."""


@dataclass(frozen=True)
class OwnFacts:
    """What only this product knows about rows; the host does not record it, or not for every row.

    Attributes:
        service: Anchors of rows, and `text_print`s of hook contexts, that this product wrote.
        replacements: The id (`c7`) of the replacement that stands at an anchor.
        typed: A person's own words in prompts that this product wrote anew, by anchor: a
            described prompt holds a description in front of them.
        carried: What stands as plain text in a row since its carrier was rebuilt, by `u:` and the
            row's handle.
        own_tool_prefix: How the names of this product's tools begin.
        pending_response: The id of the answer that is being written now; None between turns.
    """

    service: frozenset[str] = frozenset()
    replacements: Mapping[str, str] = field(default_factory=dict[str, str])
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    carried: Mapping[str, Sequence[CarriedPart]] = field(
        default_factory=dict[str, Sequence[CarriedPart]]
    )
    own_tool_prefix: str = OWN_TOOL_PREFIX
    pending_response: str | None = None


def text_print(text: str) -> str:
    """A print of a text, to know again what a hook of ours added; blanks do not count."""
    words = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return hashlib.sha256(words).hexdigest()[:PRINT_HEX_CHARS]


def assemble(
    pieces: Iterable[Piece], own: OwnFacts, unreadable: int = 0, turns: int = 0
) -> Conversation:
    """The conversation of these pieces.

    A call and its result are one row, at the call's place. Every text is a row; so is every prompt,
    every attachment, and every result without a call. Thinking belongs to no row.

    Args:
        pieces: Every piece since the last boundary, in model order.
        own: What this product knows of its own rows.
        unreadable: Stored lines that could not be read.
        turns: Completed turns.
    """
    return Assembler().conversation(pieces, own, unreadable, turns)


class Assembler:
    """Assembles one growing conversation again and again.

    Rows that new pieces cannot change are the same objects as before, so that what was worked out
    for them (a print, a text) is not worked out again. The answer is always that of `assemble`.
    """

    def __init__(self) -> None:
        """An assembler that has seen nothing yet."""
        self._own = OwnFacts()
        self._given: list[Piece] = []
        self._maker = _RowMaker(self._own)

    def conversation(
        self, pieces: Iterable[Piece], own: OwnFacts, unreadable: int = 0, turns: int = 0
    ) -> Conversation:
        """The conversation of these pieces; see `assemble`."""
        given = _all_parted(pieces, own.carried)
        maker = _RowMaker(own)
        maker.take_over(self._maker, given, self._unchanged(given, own))
        maker.add(given)
        self._own, self._given, self._maker = own, given, maker
        index = maker.index
        return Conversation(tuple(index.pieces), tuple(index.rows), unreadable, turns, index)

    def _unchanged(self, given: Sequence[Piece], own: OwnFacts) -> int:
        """How many pieces in front are the same, with the same facts known of them."""
        if replace(own, pending_response=None) != replace(self._own, pending_response=None):
            return 0
        same = same_front(given, self._given)
        pending = own.pending_response
        return (
            same if pending is None else min(same, self._maker.index.responses.get(pending, same))
        )


class _RowMaker:
    """Rows, made in one pass over the pieces.

    Attributes:
        index: The pieces, with what our own records say of them, and the rows so far.
        fronts: Behind each piece, the anchor of the row that what follows may belong to.
    """

    def __init__(self, own: OwnFacts) -> None:
        self.index = Index()
        self._own = own
        self.fronts: list[str | None] = []
        self._answered: dict[int, str] = {}

    def take_over(self, other: "_RowMaker", given: Sequence[Piece], same: int) -> None:
        """Begin with the rows of another that stay as they are.

        Args:
            other: A maker that was given the same facts, the answer being written excepted.
            given: All pieces.
            same: How many of them, from the first, the other was given too.
        """
        known, answered = other.index, {piece.call_id for piece in given[same:]}
        rows = known.settled(same, answered, other.pending_response)
        behind = known.rows[rows].positions[0] if rows < len(known.rows) else same
        start = min(behind, same)
        self.index, self.fronts = known.front(rows, start), other.fronts[:start]
        late = self.index.rows[bisect_left(self.index.ends, start) :]
        self._answered = {row.positions[1]: row.anchor for row in late if row.positions[1:]}

    @property
    def pending_response(self) -> str | None:
        """The id of the answer that was being written."""
        return self._own.pending_response

    def add(self, given: Sequence[Piece]) -> None:
        """Make the rows of the pieces that are not taken in yet.

        Args:
            given: All pieces, those taken in included.
        """
        start = len(self.index.pieces)
        self.index.add_pieces(given[start:])
        answers = _answers(given, start)
        for position in range(start, len(given)):
            piece = given[position]
            front = self.fronts[-1] if self.fronts else None
            if position in self._answered:
                front = self._answered[position]
            elif piece.form is not PieceForm.THINKING:
                row = self._row(position, piece, answers.get(position), front)
                self.index.add_row(row)
                front = front if piece.rides else row.anchor
            self.fronts.append(front)

    def _row(self, position: int, piece: Piece, answer: int | None, front: str | None) -> Row:
        anchor = self._anchor(piece)
        if piece.form is PieceForm.CALL:
            return self._tool_row(position, piece, answer, anchor)
        piece = self._known(piece, anchor)
        self.index.pieces[position] = piece
        kind = self._kind(piece, anchor)
        return Row(
            anchor=anchor,
            kind=kind,
            source=_source(kind, piece),
            pieces=(piece,),
            positions=(position,),
            owner=front if piece.rides else None,
            is_pending=self._is_being_written(piece),
            is_hidden=kind is RowKind.SERVICE
            and anchor not in self._own.replacements
            and piece.label not in STANDING_LABELS,
            replacement=self._own.replacements.get(anchor),
            turn=piece.turn,
        )

    def _tool_row(self, position: int, piece: Piece, answer: int | None, anchor: str) -> Row:
        positions = (position,) if answer is None else (position, answer)
        if answer is not None:
            self._answered[answer] = anchor
        pieces = tuple(self.index.pieces[place] for place in positions)
        name, call_id = (piece.call.name, piece.call.id) if piece.call else ("", "")
        is_collapse = call_id.startswith(COLLAPSE_ID_PREFIX)
        is_own = is_collapse or name.startswith(self._own.own_tool_prefix)
        is_service = is_own or anchor in self._own.service
        is_typed = any(one.typed is not None for one in pieces)
        replacement = self._standing(anchor, pieces)
        if is_collapse and replacement is None:
            replacement = call_id.removeprefix(COLLAPSE_ID_PREFIX)
        return Row(
            anchor=anchor,
            kind=_tool_kind(is_service=is_service, is_typed=is_typed),
            source=piece.label or name,
            pieces=pieces,
            positions=positions,
            is_pending=answer is None or self._is_being_written(piece),
            is_hidden=is_service and not is_collapse,
            replacement=replacement,
            turn=piece.turn,
        )

    def _standing(self, anchor: str, pieces: tuple[Piece, ...]) -> str | None:
        """The replacement that stands in a tool row; its original has the same anchor, and is back after a rewind."""
        replacement = self._own.replacements.get(anchor)
        is_original = pieces[1:] and not is_replacement_text(pieces[-1].text)
        return None if is_original else replacement

    def _anchor(self, piece: Piece) -> str:
        name = f"t:{piece.call.id}" if piece.call else f"u:{piece.handle}"
        taken = self.index.by_anchor
        if name in taken:
            name = f"u:{piece.handle}"
        bare, nth = name, 1
        while name in taken:
            name, nth = f"{bare}.{nth}", nth + 1
        return name

    def _known(self, piece: Piece, anchor: str) -> Piece:
        """The piece with what is known of it: its typed words, or that it is an orphan."""
        if piece.form is PieceForm.RESULT:
            return replace(piece, label=ORPHAN_LABEL)
        if anchor in self._own.service and not piece.is_ours:
            return replace(piece, is_ours=True, typed=None)
        if self._is_own_context(piece):
            return replace(piece, is_ours=True)
        typed = self._own.typed.get(anchor)
        return piece if typed is None else replace(piece, typed=typed)

    def _kind(self, piece: Piece, anchor: str) -> RowKind:
        if piece.label in STANDING_LABELS:
            return RowKind.SERVICE
        if piece.is_ours or anchor in self._own.service:
            return RowKind.SERVICE
        if piece.typed is not None:
            return RowKind.PERSON
        is_said = piece.form is PieceForm.TEXT and not piece.label
        return RowKind.TEXT if is_said else RowKind.HOST

    def _is_own_context(self, piece: Piece) -> bool:
        """Whether every text that hooks added in this attachment is one that we recorded."""
        contexts = piece.extra.get("contexts")
        if not isinstance(contexts, Sequence) or isinstance(contexts, str) or not contexts:
            return False
        return all(text_print(str(context)) in self._own.service for context in contexts)

    def _is_being_written(self, piece: Piece) -> bool:
        return piece.response is not None and piece.response == self._own.pending_response


def _all_parted(
    pieces: Iterable[Piece], carried: Mapping[str, Sequence[CarriedPart]]
) -> list[Piece]:
    if not carried:
        return list(pieces)
    handles = {anchor.removeprefix("u:") for anchor in carried}
    return [
        part
        for piece in pieces
        for part in (_parted(piece, carried) if piece.handle in handles else (piece,))
    ]


def _parted(piece: Piece, carried: Mapping[str, Sequence[CarriedPart]]) -> Iterator[Piece]:
    """A piece with the words that it carries as pieces of their own, under the same handle.

    Beside a result they ride behind it, as they did before; a row of nothing else falls into
    prompts, because it is a stored row that an apply must keep by itself. Where the text is not
    what was recorded, the piece stays as it is.
    """
    parts = carried.get(f"u:{piece.handle}", ())
    words = "\n\n".join(part.text for part in parts)
    is_known = bool(words) and piece.text.endswith(words)
    if not is_known or piece.form not in {PieceForm.RESULT, PieceForm.PROMPT}:
        yield piece
        return
    if piece.form is PieceForm.RESULT:
        yield replace(piece, text=piece.text.removesuffix(words).rstrip("\n"), typed=None)
    form = PieceForm.ATTACHMENT if piece.form is PieceForm.RESULT else PieceForm.PROMPT
    for part in parts:
        yield Piece(
            handle=piece.handle,
            form=form,
            role=piece.role,
            text=part.text,
            label=part.label,
            typed=part.typed,
            turn=piece.turn,
            position_s=piece.position_s,
        )


def _answers(pieces: Sequence[Piece], start: int) -> dict[int, int]:
    """The position of the result that answers each call; the first result behind the call wins."""
    waiting: dict[str, int] = {}
    answers: dict[int, int] = {}
    for position in range(start, len(pieces)):
        piece = pieces[position]
        if piece.call is not None:
            waiting.setdefault(piece.call.id, position)
        elif piece.form is PieceForm.RESULT and piece.call_id in waiting:
            answers[waiting.pop(piece.call_id)] = position
    return answers


def _tool_kind(*, is_service: bool, is_typed: bool) -> RowKind:
    if is_service:
        return RowKind.SERVICE
    return RowKind.PERSON if is_typed else RowKind.TOOL


def _source(kind: RowKind, piece: Piece) -> str:
    match kind:
        case RowKind.PERSON | RowKind.TEXT | RowKind.SERVICE:
            return kind.value
        case _:
            return piece.label or kind.value
