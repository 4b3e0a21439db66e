"""The conversation by stored row: what a host keeps whole or not at all, with what rides behind it. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from context_editor.core.apply.emissions import KeptShape
from context_editor.core.rows import Piece, PieceForm

Member: TypeAlias = tuple[int, Piece]
"""A piece with its position in the conversation."""


class StoredRow(NamedTuple):
    """The pieces of one stored row, and what rides behind it.

    Attributes:
        start: The position of its first piece.
        own: Positions and pieces of the row itself; empty where a host begins with something that hangs
            behind nothing.
        riders: What rides behind it.
        response: The answer that it belongs to; None for a user row.
        shape: What legality needs to know of it where it is kept.
    """

    start: int
    own: tuple[Member, ...]
    riders: tuple[Member, ...]
    response: str | None
    shape: KeptShape

    @property
    def members(self) -> tuple[Member, ...]:
        """All of it, in order."""
        return tuple(sorted((*self.own, *self.riders), key=_position)) if self.riders else self.own

    @property
    def at(self) -> int:
        """The position by which it is kept."""
        return self.own[0][0] if self.own else self.start

    @property
    def handle(self) -> str:
        """The host's id of it."""
        return (self.own or self.riders)[0][1].handle


def stored_rows(pieces: Sequence[Piece]) -> Iterator[StoredRow]:
    """The pieces by stored row."""
    starts: list[int] = []
    handle = None
    for at, piece in enumerate(pieces):
        if piece.handle != handle and (piece.form is not PieceForm.ATTACHMENT or not at):
            starts.append(at)
            handle = piece.handle
    for start, end in pairwise((*starts, len(pieces))):
        yield _alone(start, pieces[start]) if end - start == 1 else _grouped(pieces, start, end)


def _alone(at: int, piece: Piece) -> StoredRow:
    """The stored row of a single piece, as nearly all are."""
    form, member = piece.form, ((at, piece),)
    if form is PieceForm.ATTACHMENT:
        return StoredRow(at, (), member, piece.response, KeptShape(piece.role))
    calls = (piece.call.id,) if piece.call else ()
    results = (piece.call_id,) if form is PieceForm.RESULT and piece.call_id else ()
    has_words = form is PieceForm.PROMPT or form is PieceForm.TEXT
    return StoredRow(
        at, member, (), piece.response, KeptShape(piece.role, calls, results, has_words)
    )


def _grouped(pieces: Sequence[Piece], start: int, end: int) -> StoredRow:
    members = [(at, pieces[at]) for at in range(start, end)]
    own = tuple([member for member in members if not member[1].rides])
    riders = tuple([member for member in members if member[1].rides])
    shape = _kept_shape(pieces, own[0][0] if own else start)
    return StoredRow(start, own, riders, pieces[start].response, shape)


def _kept_shape(pieces: Sequence[Piece], start: int) -> KeptShape:
    """What legality needs to know of the row that is kept by the piece at this position."""
    end, handle = start, pieces[start].handle
    while end < len(pieces) and pieces[end].handle == handle:
        end += 1
    parts = pieces[start:end]
    return KeptShape(
        parts[0].role,
        tuple([p.call.id for p in parts if p.call]),
        tuple([p.call_id for p in parts if p.form is PieceForm.RESULT and p.call_id]),
        parts[0].form in {PieceForm.PROMPT, PieceForm.TEXT},
    )


def _position(member: Member) -> int:
    return member[0]
