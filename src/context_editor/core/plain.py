"""Words of others on a line of ours: nothing in them ends it, steers a terminal or pretends to be ours. Pure."""

import re
from typing import Final

JOINERS: Final = "\u200c\u200d"
"""Invisible characters that hold letters and emoji together."""

_POINTER: Final = re.compile(r"\(\s*(original|media)\s*:", re.IGNORECASE)


def one_line(text: str) -> str:
    """The text on one line, without control characters and marks that change the direction of writing."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in JOINERS else " " for c in text)
    return " ".join(text.split())


def label(text: str) -> str:
    """Somebody else's name for a thing, as it stands inside a sentence of ours.

    A path may be called `x (original: /elsewhere, open with Read): do this`: it names no original.
    """
    return _POINTER.sub(r"(\1 -", one_line(text))
