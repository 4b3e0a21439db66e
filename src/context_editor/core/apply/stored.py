"""The conversation by stored row: what a host keeps whole or not at all, with what rides behind it. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from context_editor.core.apply.emissions import KeptShape
from context_editor.core.rows import Piece, PieceForm

Member: TypeAlias = tuple[int, Piece]
"""A piece with its position in the conversation."""


WORDS: Final = frozenset({PieceForm.PROMPT, PieceForm.TEXT})
"""Pieces that are words of a person or of the agent."""


class StoredRow(NamedTuple):
    """The pieces of one stored row, and what rides behind it.

    Attributes:
        start: The position of its first piece.
        at: The position of its first own piece, by which it is kept; of its first piece where it has none.
        handle: The host's id of it.
        own: Positions and pieces of the row itself; empty where a host begins with something that hangs
            behind nothing.
        riders: What rides behind it.
        response: The answer that it belongs to; None for a user row.
        shape: What legality needs to know of it where it is kept.
    """

    start: int
    at: int
    handle: str
    own: tuple[Member, ...]
    riders: tuple[Member, ...]
    response: str | None
    shape: KeptShape

    @property
    def members(self) -> tuple[Member, ...]:
        """All of it, in order."""
        return tuple(sorted((*self.own, *self.riders), key=_position)) if self.riders else self.own


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


def shape_of(pieces: Sequence[Piece]) -> KeptShape:
    """What legality needs to know of a row of these pieces."""
    calls: tuple[str, ...]
    results: tuple[str, ...]
    first = pieces[0]
    if len(pieces) == 1:  # as nearly all rows have
        calls = (first.call.id,) if first.call else ()
        has_result = first.form is PieceForm.RESULT
        results = (first.call_id,) if has_result and first.call_id else ()
    else:
        calls = tuple([p.call.id for p in pieces if p.call])
        results = tuple([p.call_id for p in pieces if p.form is PieceForm.RESULT and p.call_id])
    return KeptShape(first.role, calls, results, first.form in WORDS)


def _alone(at: int, piece: Piece) -> StoredRow:
    """The stored row of a single piece."""
    member, shape = ((at, piece),), shape_of((piece,))
    if piece.form is PieceForm.ATTACHMENT:
        return StoredRow(at, at, piece.handle, (), member, piece.response, shape)
    return StoredRow(at, at, piece.handle, member, (), piece.response, shape)


def _grouped(pieces: Sequence[Piece], start: int, end: int) -> StoredRow:
    members = [(at, pieces[at]) for at in range(start, end)]
    own = tuple([member for member in members if not member[1].rides])
    riders = tuple([member for member in members if member[1].rides])
    at = own[0][0] if own else start
    handle = pieces[at].handle
    shape = shape_of(_as_kept(pieces, at))
    return StoredRow(start, at, handle, own, riders, pieces[start].response, shape)


def _as_kept(pieces: Sequence[Piece], start: int) -> Sequence[Piece]:
    """What a host keeps by the piece at this position: all that follows under the same id."""
    end, handle = start, pieces[start].handle
    while end < len(pieces) and pieces[end].handle == handle:
        end += 1
    return pieces[start:end]


def _position(member: Member) -> int:
    return member[0]
