"""Texts shortened to one line, for places that show which one is meant and no more. Pure."""

from typing import Final

FLAG_CHARS: Final = 120
"""The longest note that a row line shows; the whole note becomes the replacement."""


def one_line(text: str, limit: int = FLAG_CHARS) -> str:
    """A text on one line, cut with an ellipsis where it is longer than `limit` characters."""
    words = " ".join(text.split())
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
