"""Result texts compared: without line numbers, trailing blanks and the host's reminders."""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

GUTTER: Final = re.compile(r"^[ \t]*(\d+)(?:→|\t)", re.MULTILINE)
"""The line number in front of each line of a read.

Observed on Claude Code: an arrow up to 2.1.76, a tab from 2.1.199 on.
"""

_REMINDER_START: Final = "\n<system-reminder>"
_REMINDER_END: Final = "</system-reminder>"
"""What the host appends to a read stands between these; it is no line of the file."""

COMPARED_CHARS: Final = 1_500
"""How much of a line is compared: the host cuts lines of a read at 2,000 characters."""

REMEMBERED_TEXTS: Final = 40_000
"""Texts that are remembered before all are forgotten: several very long sessions."""


class Lines(NamedTuple):
    """The lines of a file that a read's result holds.

    Attributes:
        first: The number of the first line, from 1; 0 when the result has no line numbers.
        last: The number of the last line; 0 likewise.
    """

    first: int
    last: int


NO_LINES: Final = Lines(0, 0)


@dataclass
class TextMemory:
    """What was worked out about texts, each once: the engine keeps one for as long as it lives.

    A text is looked up by itself. As long as a conversation hands over the same object, that costs
    a few nanoseconds whatever its length.
    """

    _prints: dict[str, int] = field(default_factory=dict[str, int])
    _lines: dict[str, Lines] = field(default_factory=dict[str, Lines])
    _compared: dict[tuple[str, str, int], bool] = field(
        default_factory=dict[tuple[str, str, int], bool]
    )
    _on_disk: dict[tuple[str, str, bool], bool] = field(
        default_factory=dict[tuple[str, str, bool], bool]
    )

    def print(self, text: str) -> int:
        """A print of the text's content: equal for equal content, in this process."""
        known = self._prints.get(text)
        if known is None:
            known = self._prints[text] = hash(normalised(text))
        return known

    def lines(self, text: str) -> Lines:
        """The lines of a file that a result holds."""
        known = self._lines.get(text)
        if known is None:
            known = self._lines[text] = lines_of(text)
        return known

    def is_within(self, part: str, whole: str, skipped: int) -> bool:
        """Whether the lines of `part` stand unchanged in `whole`, behind its first lines."""
        key = (part, whole, skipped)
        known = self._compared.get(key)
        if known is None:
            known = self._compared[key] = _is_within(part, whole, skipped)
        return known

    def stands_in(self, read: str, content: str, *, to_the_end: bool) -> bool:
        """Whether the lines that a read brought stand in a file's content at the same place.

        Args:
            read: The text of the read, with its line numbers.
            content: The file's content, as it is now.
            to_the_end: Whether the read went on to the end of the file, so that the file may not go
                on.
        """
        key = (read, content, to_the_end)
        known = self._on_disk.get(key)
        if known is None:
            known = self._on_disk[key] = _stands_in(read, content, to_the_end=to_the_end)
        return known

    def forget_some(self) -> None:
        """Keep the memory bounded; called once a review."""
        for memory in (self._prints, self._lines, self._compared, self._on_disk):
            if len(memory) > REMEMBERED_TEXTS:
                memory.clear()


def body(text: str) -> str:
    """A result without the reminder that the host appends, and without empty lines at its end."""
    at = text.find(_REMINDER_START) if text.rstrip().endswith(_REMINDER_END) else -1
    return (text if at < 0 else text[:at]).rstrip("\r\n")


def normalised(text: str) -> str:
    """The content of a result: no line numbers, no trailing blanks, no reminder of the host.

    Numbers in front of the lines are line numbers only where they count up without a gap.
    """
    content = body(text)
    lines = lines_of(text)
    if lines.first and lines.last - lines.first == content.count("\n"):
        content = GUTTER.sub("", content)
    return "\n".join(map(str.rstrip, content.split("\n"))).rstrip()


def lines_of(text: str) -> Lines:
    """The lines of a file that a result holds, told by the numbers in front of them."""
    content = body(text)
    first = GUTTER.match(content)
    last = GUTTER.match(content, content.rfind("\n") + 1)
    if first is None or last is None:
        return NO_LINES
    return Lines(int(first[1]), int(last[1]))


def _is_within(part: str, whole: str, skipped: int) -> bool:
    wanted = _comparable(normalised(part))
    return _comparable(normalised(whole))[skipped : skipped + len(wanted)] == wanted


def _stands_in(read: str, content: str, *, to_the_end: bool) -> bool:
    wanted = _comparable(normalised(read))
    start = lines_of(read).first - 1
    held = _comparable(content.rstrip())
    return held[start:] == wanted if to_the_end else held[start : start + len(wanted)] == wanted


def _comparable(content: str) -> list[str]:
    return [line[:COMPARED_CHARS].rstrip() for line in content.split("\n")]
