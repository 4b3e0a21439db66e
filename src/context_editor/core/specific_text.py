"""A text as the search for specifics reads it (rule L9).

Masks let one literal stand for a class of bytes, because a search for a literal is some fifty times
as fast as a search for a character class.
"""

from typing import Final

UPPER: Final = bytes(range(ord("A"), ord("Z") + 1))
LOWER: Final = UPPER.lower()
DIGITS: Final = b"0123456789"
WORD: Final = UPPER + LOWER + DIGITS + b"_"
_HEX: Final = DIGITS + b"abcdef"

_DIGIT_MASK: Final = bytes.maketrans(DIGITS, b"0" * 10)
"""Every digit becomes `0`; the rest stays."""

_CODE_MASK: Final = bytes.maketrans(DIGITS + UPPER, b"0" * 10 + b"A" * 26)
"""Every digit becomes `0`, every capital `A`; the rest stays."""


def _hex_mask() -> bytes:
    table = bytearray(b" " * 256)
    for byte in WORD:
        table[byte] = ord("w")
    for byte in _HEX:
        table[byte] = ord("h")
    return bytes(table)


_HEX_MASK: Final = _hex_mask()
"""Lower-case hexadecimal digits become `h`, other word bytes `w`, the rest a space."""


class Text:
    """A text as bytes, with its masks.

    Attributes:
        data: The text in UTF-8; lone surrogates are passed through.
        digits: The text under the digit mask.
        has_digit: Whether there is a digit in it.
    """

    __slots__ = ("_lower", "data", "digits", "has_digit")

    def __init__(self, data: bytes) -> None:
        """A text of which nothing is known yet."""
        self.data = data
        self.digits = data.translate(_DIGIT_MASK)
        self.has_digit = b"0" in self.digits
        self._lower: bytes | None = None

    @property
    def codes(self) -> bytes:
        """The text under the mask for codes."""
        return self.data.translate(_CODE_MASK)

    @property
    def hexes(self) -> bytes:
        """The text under the hexadecimal mask."""
        return self.data.translate(_HEX_MASK)

    @property
    def lower(self) -> bytes:
        """The text with its ASCII capitals lowered; offsets are the same."""
        if self._lower is None:
            self._lower = self.data.lower()
        return self._lower

    def tail(self, end: int, reach: int, chars: bytes) -> int:
        """Where the run of `chars` that ends at `end` begins, at most `reach` bytes back."""
        piece = self.data[max(0, end - reach) : end]
        return end - len(piece) + len(piece.rstrip(chars))

    def follows_word(self, at: int) -> bool:
        """Whether the byte in front of `at` is a letter, a digit or an underscore."""
        return at > 0 and self.data[at - 1] in WORD
