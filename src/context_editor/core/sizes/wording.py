"""Sizes as people and models read them, with no more digits than an estimate deserves."""

from typing import Final

MINUS: Final = "\N{MINUS SIGN}"
"""The sign of a saving, as wide as the plus, so that columns line up."""

APPROX: Final = "approx. "
"""What stands before a size until calibration is known (rule A12)."""

THOUSAND_TOKENS: Final = 1_000
"""The least size written in thousands."""

MILLION_FROM_TOKENS: Final = 999_500
"""The least size written in millions: rounded to thousands it would have four digits."""

WHOLE_FROM_TENTHS: Final = 1_000
"""From a hundred units on there is no decimal: it would be the fourth digit."""


def format_tokens(tokens: int, *, approx: bool = False) -> str:
    """A size in three digits at most: `812`, `2.1k`, `83.4k`, `118k`, `1.2M`.

    Three digits are about the accuracy of a calibrated size; halves round up.
    """
    return f"{APPROX if approx else ''}{_rounded(tokens)}"


def format_delta(tokens: int, *, approx: bool = False) -> str:
    """A change with its sign, a true minus: minus `14.2k`, `+812`; `0` for no change."""
    plus = "+" if tokens > 0 else ""
    return f"{APPROX if approx else ''}{plus}{_rounded(tokens)}"


def _rounded(tokens: int) -> str:
    """A number of tokens, shortened; a negative one keeps its sign."""
    if tokens < 0:
        return f"{MINUS}{_rounded(-tokens)}"
    if tokens >= MILLION_FROM_TOKENS:
        return f"{_in_units(tokens, 1_000_000)}M"
    return f"{_in_units(tokens, 1_000)}k" if tokens >= THOUSAND_TOKENS else str(tokens)


def _in_units(tokens: int, unit: int) -> str:
    """A count of units: with one decimal below a hundred, whole from there."""
    tenths = (tokens * 10 + unit // 2) // unit
    if tenths < WHOLE_FROM_TENTHS:
        return f"{tenths // 10}.{tenths % 10}"
    return str((tokens + unit // 2) // unit)
