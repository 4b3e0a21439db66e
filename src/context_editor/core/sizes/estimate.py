"""The estimated size in tokens of what stands in a conversation, before any calibration."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, assert_never

from context_editor.core.rows import Json, Media, Piece, PieceForm
from context_editor.core.sizes.families import FIGURES, Family, Figures

CountTokens: TypeAlias = Callable[[str], int]
"""Counts the o200k tokens of a text; given where the table is on disk."""


class TextKind(StrEnum):
    """How densely a text is written."""

    OUTPUT = "output"
    """What tools print and people paste: paths, numbers, code."""
    CALL = "call"
    """The input of a tool call, written as JSON."""
    PROSE = "prose"
    """The agent's own sentences."""


CHAR_DENSITY: Final[Mapping[TextKind, float]] = {
    TextKind.OUTPUT: 1.0,
    TextKind.CALL: 0.88,
    TextKind.PROSE: 0.79,
}
"""Tokens per character of each kind, relative to tool output.

Source: 1,844 different texts (1.9 million characters) of 12 public sessions counted with o200k:
    0.305 tokens
per character of tool output, 0.268 of call inputs, 0.240 of the agent's prose.
"""

CALL_OVERHEAD_TOKENS: Final = 50
"""Tokens that a tool call needs besides its input: its frame, the tool's name, the parameters'
names.

Source: `output_tokens` less the estimated text, answers with one call: medians 54 and 56 (134
    answers of two
sessions of the older family), 43 (ten answers of the newer).
"""

CJK_CHAR_WEIGHT: Final = 2.8
"""How many plain characters one Chinese, Japanese or Korean character counts for.

Source: o200k over running text, per character: Chinese 0.81 to 0.83 (200,000 characters of
    reviews),
traditional Chinese 1.03, Japanese 0.75, Korean 0.78 to 0.91, against 0.29 for English and code.
"""

LETTER_WEIGHT: Final = 1.5
"""How many plain characters one letter of another alphabet counts for.

Source: o200k per letter over translated interface text: Russian 0.31, Arabic 0.40, Greek, Hindi and
    Thai 0.44
to 0.47, Hebrew 0.52, against 0.29 for English and code.
"""

_CJK_HIGH_BYTES: Final = bytes([*range(0x2E, 0xA0), *range(0xAC, 0xE0), 0xF9, 0xFA, 0xFF])
"""High bytes of UTF-16 units that are CJK, or half of a character beyond 16 bits (an emoji)."""

_LETTER_HIGH_BYTES: Final = bytes(range(0x01, 0x20))
"""High bytes of UTF-16 units from Latin Extended to Greek Extended. Arrows, box drawing and other
symbols (0x20 to 0x2B) are not among them: tool output is full of them and its factor was measured
with them."""

IMAGE_PX_PER_TOKEN: Final = 750
"""Pixels of an image that one token stands for. Source: 682 public sessions, both families."""

IMAGE_DEFAULT_TOKENS: Final = 1590
"""The size of an image of unknown dimensions: the older family's cap, as a screenshot has."""

DOCUMENT_DEFAULT_TOKENS: Final = 22_000
"""The size of a document. Source: the `usage` around one PDF of 10 pages and 257 kB."""


def plain_chars(text: str) -> float:
    """The length of a text in characters of English or code that would need as many tokens.

    ASCII, the usual case, costs nothing to recognise. Otherwise the characters are told apart by
    the high byte of their UTF-16 form, which keeps the whole count in C: about 2 ms for a million
    characters.
    """
    if text.isascii():
        return len(text)
    high_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
    cjk = len(high_bytes) - len(high_bytes.translate(None, _CJK_HIGH_BYTES))
    letters = len(high_bytes) - len(high_bytes.translate(None, _LETTER_HIGH_BYTES))
    return len(text) + cjk * (CJK_CHAR_WEIGHT - 1) + letters * (LETTER_WEIGHT - 1)


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measures conversation content for one tokenizer family, in estimated tokens.

    Attributes:
        family: The family to measure for.
        count: Counts o200k tokens; None where the table is missing, then characters are counted.
    """

    family: Family
    count: CountTokens | None = None

    @property
    def figures(self) -> Figures:
        """The measured figures of the family."""
        return FIGURES[self.family]

    def text(self, text: str, kind: TextKind = TextKind.OUTPUT) -> int:
        """The size of a bare text, without the overhead of a result or a prompt; 0 when empty."""
        if self.count is not None:
            return round(self.count(text) * self.figures.tokens_per_o200k)
        return round(plain_chars(text) * self.figures.tokens_per_char * CHAR_DENSITY[kind])

    def framed(self, text: str) -> int:
        """The size of a tool result or a prompt, its overhead included."""
        return self.figures.overhead_tokens + self.text(text)

    def call(self, tool_input: Mapping[str, Json]) -> int:
        """The size of a tool call; the tool's name is part of the overhead."""
        written = json.dumps(tool_input, ensure_ascii=False, default=str)
        return CALL_OVERHEAD_TOKENS + self.text(written, TextKind.CALL)

    def thinking(self, text: str, signature_chars: int) -> int:
        """The size of a thinking block.

        Its signature carries the whole of it, readable text adds nothing. Where the signature is
        missing or cut, the readable text is the better figure; the larger of both is taken.
        """
        by_signature = round(signature_chars * self.figures.tokens_per_signature_char)
        return max(by_signature, self.text(text, TextKind.PROSE))

    def image(self, width_px: int, height_px: int) -> int:
        """The size of an image; `IMAGE_DEFAULT_TOKENS` where a dimension is unknown (0)."""
        if width_px <= 0 or height_px <= 0:
            return IMAGE_DEFAULT_TOKENS
        tokens = self._scale(width_px, height_px) * width_px * height_px / IMAGE_PX_PER_TOKEN
        cap = self.figures.image_cap_tokens
        return max(1, round(min(tokens, cap) if cap else tokens))

    def _scale(self, width_px: int, height_px: int) -> float:
        """What the family's scaling does to an image's area: 1 where it fits, else less."""
        limit_px = self.figures.image_long_side_px
        long_side_px = max(width_px, height_px)
        return (limit_px / long_side_px) ** 2 if 0 < limit_px < long_side_px else 1.0

    def media(self, media: Media) -> int:
        """The size of an image or a document; a size that came with it is taken as it is."""
        if media.tokens > 0:
            return media.tokens
        match media.kind:
            case "image":
                return self.image(media.width, media.height)
            case "document":
                return DOCUMENT_DEFAULT_TOKENS
            case _:
                assert_never(media.kind)

    def piece(self, piece: Piece) -> int:
        """The size of one stored piece, its media included."""
        return self._words(piece) + sum(map(self.media, piece.media))

    def _words(self, piece: Piece) -> int:
        """The size of a piece without its media."""
        match piece.form:
            case PieceForm.PROMPT | PieceForm.RESULT:
                return self.framed(piece.text)
            case PieceForm.ATTACHMENT:
                return self.framed(piece.text) if piece.text else 0
            case PieceForm.TEXT:
                return self.text(piece.text, TextKind.PROSE)
            case PieceForm.CALL:
                return self.call(piece.call.input if piece.call else {})
            case PieceForm.THINKING:
                return self.thinking(piece.text, piece.signature_chars)
            case _:
                assert_never(piece.form)
