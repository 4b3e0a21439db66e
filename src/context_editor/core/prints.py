"""Short prints of stored rows: enough to see that the host wrote what it was handed."""

from collections.abc import Mapping, Sequence

from context_editor.core.apply.emissions import Build, Emission
from context_editor.core.rows import Conversation, Piece, PieceForm


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
        groups.setdefault(piece.handle, []).append(piece)
    return {handle: _print_of(group) for handle, group in groups.items()}


def _print_of(group: Sequence[Piece]) -> str:
    calls = tuple(p.call.id for p in group if p.call)
    results = tuple(p.call_id for p in group if p.form is PieceForm.RESULT and p.call_id)
    words = "".join(p.text for p in group if p.form is not PieceForm.THINKING)
    return _print(group[0].role, calls, results, words)


def _print(role: str, calls: Sequence[str], results: Sequence[str], words: str) -> str:
    """Role, call ids, and the words without white space: the host joins and trims blocks in its own way."""
    return f"{role}|{','.join(calls)}|{','.join(results)}|{len(''.join(words.split()))}"
