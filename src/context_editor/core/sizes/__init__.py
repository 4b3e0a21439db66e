"""Sizes in tokens: the estimate, its calibration, what an edit gains, and how sizes are written."""

from context_editor.core.sizes.calibration import (
    Calibration,
    Content,
    RowSizes,
    Sample,
    clamped,
    spread,
)
from context_editor.core.sizes.estimate import CountTokens, Ruler, TextKind, plain_chars
from context_editor.core.sizes.families import FIGURES, Family, Figures, family_of
from context_editor.core.sizes.gain import Gain
from context_editor.core.sizes.pixels import image_dimensions
from context_editor.core.sizes.wording import format_delta, format_tokens

__all__ = [
    "FIGURES",
    "Calibration",
    "Content",
    "CountTokens",
    "Family",
    "Figures",
    "Gain",
    "RowSizes",
    "Ruler",
    "Sample",
    "TextKind",
    "clamped",
    "family_of",
    "format_delta",
    "format_tokens",
    "image_dimensions",
    "plain_chars",
    "spread",
]
