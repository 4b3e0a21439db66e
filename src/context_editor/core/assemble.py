"""Pieces to rows: what a person and a model see numbered. Pure; it judges by structure, never by wording."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.edits.model import COLLAPSE_ID_PREFIX
from context_editor.core.rows import (
    PRINT_HEX_CHARS,
    Conversation,
    Piece,
    PieceForm,
    Row,
    RowKind,
)
from context_editor.core.state import CarriedPart

OWN_TOOL_PREFIX: Final = "mcp__plugin_context-editor_editor__"
"""How this product's tools are named in Claude Code; another host gives its own."""

BESIDE_LABELS: Final = frozenset({"meta", "image-source"})
"""Labels of prompts that nobody typed and that only go with the row in front of them."""

ORPHAN_LABEL: Final = "orphan"
"""The label of a tool result whose call is not in the conversation, or that another result answered first."""


@dataclass(frozen=True)
class OwnFacts:
    """What only this product knows about rows; the host does not record it, or not for every row.

    Attributes:
        service: Anchors of rows, and `text_print`s of hook contexts, that this product wrote.
        replacements: The id (`c7`) of the replacement that stands at an anchor.
        typed: A person's own words in prompts that this product wrote anew, by anchor: a described prompt
            holds a description in front of them.
        carried: What stands as plain text in a row since its carrier was rebuilt, by `u:` and the row's handle.
        own_tool_prefix: How the names of this product's tools begin.
        pending_response: The id of the answer that is being written now; None between turns.
    """

    service: frozenset[str] = frozenset()
    replacements: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    carried: Mapping[str, Sequence[CarriedPart]] = field(default_factory=dict)
    own_tool_prefix: str = OWN_TOOL_PREFIX
    pending_response: str | None = None


def text_print(text: str) -> str:
    """A print of a text, for recognising what a hook of this product added; blanks do not count."""
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
    parted = [part for piece in pieces for part in _parted(piece, own.carried)]
    maker = _RowMaker(parted, own)
    rows = maker.rows()
    return Conversation(tuple(maker.pieces), rows, unreadable, turns)


class _RowMaker:
    """One pass over the pieces."""

    def __init__(self, pieces: Sequence[Piece], own: OwnFacts) -> None:
        self.pieces = list(pieces)
        self._own = own
        self._answers = _answers(pieces)
        self._front: str | None = None
        self._anchors: set[str] = set()

    def rows(self) -> tuple[Row, ...]:
        calls = {answer: call for call, answer in self._answers.items()}
        anchors: dict[int, str] = {}
        rows: list[Row] = []
        for position, piece in enumerate(self.pieces):
            if piece.form is PieceForm.THINKING:
                continue
            if position in calls:
                self._front = anchors[calls[position]]
                continue
            row = self._row(position, piece)
            anchors[position] = row.anchor
            if not piece.rides and not _is_beside(piece):
                self._front = row.anchor
            rows.append(row)
        return tuple(rows)

    def _row(self, position: int, piece: Piece) -> Row:
        anchor = self._anchor(piece)
        if piece.form is PieceForm.CALL:
            return self._tool_row(position, piece, anchor)
        piece = self._known(piece, anchor)
        self.pieces[position] = piece
        kind = self._kind(piece, anchor)
        is_beside = piece.rides or _is_beside(piece)
        return Row(
            anchor=anchor,
            kind=kind,
            source=_source(kind, piece),
            pieces=(piece,),
            positions=(position,),
            owner=self._front if is_beside else None,
            is_pending=self._is_being_written(piece),
            is_hidden=kind is RowKind.SERVICE and anchor not in self._own.replacements,
            replacement=self._own.replacements.get(anchor),
            turn=piece.turn,
        )

    def _tool_row(self, position: int, piece: Piece, anchor: str) -> Row:
        answer = self._answers.get(position)
        positions = (position,) if answer is None else (position, answer)
        pieces = tuple(self.pieces[place] for place in positions)
        call = piece.call
        name, call_id = (call.name, call.id) if call else ("", "")
        is_collapse = call_id.startswith(COLLAPSE_ID_PREFIX)
        is_own = is_collapse or name.startswith(self._own.own_tool_prefix)
        is_service = is_own or anchor in self._own.service
        is_typed = len(pieces) > 1 and pieces[1].typed is not None
        replacement = self._own.replacements.get(anchor)
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

    def _anchor(self, piece: Piece) -> str:
        name = f"t:{piece.call.id}" if piece.call else f"u:{piece.handle}"
        if name in self._anchors:
            name = f"u:{piece.handle}"
        bare, nth = name, 1
        while name in self._anchors:
            name, nth = f"{bare}.{nth}", nth + 1
        self._anchors.add(name)
        return name

    def _known(self, piece: Piece, anchor: str) -> Piece:
        """The piece with what this product knows of it: its typed words, or that it is an orphan."""
        if piece.form is PieceForm.RESULT:
            return replace(piece, label=ORPHAN_LABEL)
        if anchor in self._own.service and not piece.is_ours:
            return replace(piece, is_ours=True, typed=None)
        typed = self._own.typed.get(anchor)
        return piece if typed is None else replace(piece, typed=typed)

    def _kind(self, piece: Piece, anchor: str) -> RowKind:
        if piece.is_ours or self._is_own_context(piece):
            return RowKind.SERVICE
        if piece.typed is not None:
            return RowKind.PERSON
        if piece.form is PieceForm.TEXT and not piece.label:
            return RowKind.SERVICE if anchor in self._own.service else RowKind.TEXT
        return RowKind.HOST

    def _is_own_context(self, piece: Piece) -> bool:
        """Whether every text that hooks added in this attachment is one that we recorded."""
        contexts = piece.extra.get("contexts")
        if not isinstance(contexts, Sequence) or isinstance(contexts, str) or not contexts:
            return False
        return all(text_print(str(context)) in self._own.service for context in contexts)

    def _is_being_written(self, piece: Piece) -> bool:
        return piece.response is not None and piece.response == self._own.pending_response


def _parted(piece: Piece, carried: Mapping[str, Sequence[CarriedPart]]) -> Iterator[Piece]:
    """A piece with the words that it carries as pieces of their own, under the same handle.

    Beside a result they ride behind it, as they did before; a row of nothing else falls into prompts, because
    it is a stored row that an apply must keep by itself. Where the text is not what was recorded, the piece
    stays as it is.
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
        yield replace(
            piece,
            form=form,
            text=part.text,
            call_id=None,
            is_error=False,
            media=(),
            label=part.label,
            typed=part.typed,
            extra={},
        )


def _answers(pieces: Sequence[Piece]) -> dict[int, int]:
    """The position of the result that answers each call; the first result after the call wins."""
    waiting: dict[str, int] = {}
    answers: dict[int, int] = {}
    for position, piece in enumerate(pieces):
        if piece.call is not None:
            waiting.setdefault(piece.call.id, position)
        elif piece.form is PieceForm.RESULT and piece.call_id in waiting:
            answers[waiting.pop(piece.call_id)] = position
    return answers


def _is_beside(piece: Piece) -> bool:
    """Whether a prompt only goes with the row in front: text that the host hung beside it."""
    return piece.form is PieceForm.PROMPT and piece.label in BESIDE_LABELS and piece.typed is None


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
