"""The line by which an agent says that a block is done while it waits for the person (rule E1)."""

import re
from typing import Final

MARKER: Final = "[context-editor: optimize]"
"""The literal; case and characters count."""

_BLANK: Final = " \t"
_FENCE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})(?P<info>.*)")

_CLOSING_INDENT: Final = 3
"""How much deeper than its opening a closing fence may stand; deeper, it is a line of the code.

Source: CommonMark 0.31, fenced code blocks. An opening may stand at any depth here, for fences in
lists.
"""


def ends_with_marker(text: str) -> bool:
    """Whether the marker stands alone on the last line that is not blank.

    Lines end at a line feed; spaces, tabs and a carriage return around the marker do not count.
    Inside an open code fence the line is an example of the marker and does not count. Whether the
    text is the final answer of a turn that ended well, in the main conversation, is for the caller
    to know.
    """
    lines = [line.rstrip(_BLANK + "\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return bool(lines) and lines[-1].lstrip(_BLANK) == MARKER and not _is_in_fence(lines)


def _is_in_fence(lines: list[str]) -> bool:
    opened: re.Match[str] | None = None
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if fence is None:
            continue
        if opened is None:
            opened = fence if _opens(fence) else None
        elif _closes(fence, opened):
            opened = None
    return opened is not None


def _opens(fence: re.Match[str]) -> bool:
    """Whether the line opens a block; backticks behind backticks are code within a line."""
    return fence["mark"][0] != "`" or "`" not in fence["info"]


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    is_same = fence["mark"][0] == opened["mark"][0] and len(fence["mark"]) >= len(opened["mark"])
    is_near = len(fence["indent"]) <= len(opened["indent"]) + _CLOSING_INDENT
    return is_same and is_near and not fence["info"]
