"""Words that rode behind a row and now stand as plain text, told apart again (rule C27)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from context_editor.core.rows import Piece, PieceForm
from context_editor.core.state import CarriedPart

PROMPT_LABEL: Final = "prompt"
"""The label of the one part of a prompt that was built anew: its words stand whole, a part of them typed."""


def with_carried(
    pieces: Iterable[Piece], carried: Mapping[str, tuple[CarriedPart, ...]]
) -> Iterator[Piece]:
    """The pieces, with every carrier's text split into the parts that it carries.

    Args:
        pieces: The pieces as the host's file holds them.
        carried: The parts, by the anchor of the stored row that carries them.
    """
    results: set[str] = set()
    for piece in pieces:
        if piece.form is PieceForm.RESULT:
            results.add(piece.handle)
        parts = carried.get(f"u:{piece.handle}")
        is_words = piece.form in {PieceForm.PROMPT, PieceForm.ATTACHMENT}
        if parts is None or not is_words:
            yield piece
        elif parts[0].label == PROMPT_LABEL:
            yield replace(piece, typed=parts[0].typed, label="", is_ours=False)
        else:
            form = PieceForm.ATTACHMENT if piece.handle in results else PieceForm.PROMPT
            yield from (_part(piece, part, form) for part in parts)


def _part(piece: Piece, part: CarriedPart, form: PieceForm) -> Piece:
    return replace(
        piece, form=form, text=part.text, typed=part.typed, label=part.label, is_ours=False
    )
