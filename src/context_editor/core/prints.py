"""Short prints of stored rows: enough to see that the host wrote what it was handed."""

from collections.abc import Mapping, Sequence
from typing import Final

from context_editor.core.apply.emissions import Build, Emission
from context_editor.core.conversation import Conversation
from context_editor.core.rows import Piece, PieceForm

WHITE: Final = bytes(code for code in range(128) if chr(code).isspace())
"""The white space of ASCII: what `str.split` parts words by."""


def emitted_print(emission: Emission, prints: Mapping[str, str]) -> str:
    """The print of a row that an apply emits.

    Args:
        emission: The row.
        prints: The prints of all stored rows as they are, by the host's id.
    """
    if isinstance(emission, Build):
        calls = tuple(call.id for call in emission.calls)
        results = tuple(result.call_id for result in emission.results)
        return _print(emission.role, calls, results, emission.words)
    return prints[emission.handle]


def stored_prints(conversation: Conversation) -> Mapping[str, str]:
    """The print of every stored row, by the host's id; what hangs behind a row is not part of it."""
    groups: dict[str, list[Piece]] = {}
    for piece in conversation.pieces:
        group = groups.get(piece.handle)
        if group is None:
            groups[piece.handle] = [piece]
        else:
            group.append(piece)
    return {handle: _print_of(group) for handle, group in groups.items()}


def _print_of(group: Sequence[Piece]) -> str:
    if len(group) == 1:
        return _print_alone(group[0])
    calls = [p.call.id for p in group if p.call]
    results = [p.call_id for p in group if p.form is PieceForm.RESULT and p.call_id]
    words = "".join([p.text for p in group if p.form is not PieceForm.THINKING])
    return _print(group[0].role, calls, results, words)


def _print_alone(piece: Piece) -> str:
    """The same of a single piece, as nearly all are."""
    form = piece.form
    calls = (piece.call.id,) if piece.call else ()
    results = (piece.call_id,) if form is PieceForm.RESULT and piece.call_id else ()
    return _print(piece.role, calls, results, "" if form is PieceForm.THINKING else piece.text)


def _print(role: str, calls: Sequence[str], results: Sequence[str], words: str) -> str:
    """Role, call ids, and the words without white space: the host joins and trims blocks in its own way."""
    return f"{role}|{','.join(calls)}|{','.join(results)}|{_letters(words)}"


def _letters(words: str) -> int:
    """How many characters of them are no white space."""
    if words.isascii():
        return len(words.encode().translate(None, WHITE))
    return len("".join(words.split()))
