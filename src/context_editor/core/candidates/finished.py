"""Finished calls, with all that a review needs of one worked out once: there are thousands."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from context_editor.core.candidates.calls import (
    CHANGING_TOOLS,
    READ,
    PathName,
    is_search,
    number,
    path_name,
)
from context_editor.core.candidates.texts import NO_LINES, Lines, TextMemory
from context_editor.core.rows import Call, Piece, PieceForm, Row, RowKind

TO_THE_END: Final = 1 << 60
"""Stands for the last line of a read that asked for everything."""

READ_LIMIT_LINES: Final = 2_000
"""Lines that a read without a limit stops at. Observed on Claude Code 1.0.98 to 2.1.215."""

SAME_CALL_CHARS: Final = 800
"""From this length on the equal output of the same call is a duplicate, in characters (rule G5)."""

REMEMBERED_ROWS: Final = 100_000
"""Rows that are remembered before all are forgotten: several very long sessions."""


class Finished(NamedTuple):
    """A listed tool row whose result came.

    Attributes:
        row: The row.
        call: Its call.
        result: The piece with its result.
        name: The path that it names; None where it names none.
        is_read: Whether it is a successful read whose result stands unreplaced.
        is_change: Whether it changed the file that it names.
        is_search: Whether it is a search.
        lines: For a read, the lines that came; `NO_LINES` for an image or a document.
        start: For a read, the first line that was asked for, from 1.
        end: For a read, the last line that was asked for, whether or not the file has it.
        print: The print of an output that may repeat; None for one that never counts as a
            duplicate.
    """

    row: Row
    call: Call
    result: Piece
    name: PathName | None
    is_read: bool
    is_change: bool
    is_search: bool
    lines: Lines
    start: int
    end: int
    print: int | None


@dataclass
class CallMemory:
    """The finished calls of earlier looks; a row that is the same object is not looked at again."""

    _known: dict[int, tuple[Row, Finished | None]] = field(
        default_factory=dict[int, tuple[Row, Finished | None]]
    )

    def finished(self, rows: Iterable[Row], texts: TextMemory) -> list[Finished]:
        """The tool rows with a result, in order, without those of a person and of this product."""
        if len(self._known) > REMEMBERED_ROWS:
            self._known.clear()
        known = self._known
        found: list[Finished] = []
        for row in rows:
            entry = known.get(id(row))
            if entry is None or entry[0] is not row:
                entry = known[id(row)] = (row, finished_call(row, texts))
            if entry[1] is not None:
                found.append(entry[1])
        return found


def finished_call(row: Row, texts: TextMemory) -> Finished | None:
    """What a review needs of a row; None for every row but a listed tool row with its result."""
    if row.kind is not RowKind.TOOL or row.is_hidden:
        return None
    call, result = row.call, row.result
    if call is None or result is None or result.form is not PieceForm.RESULT:
        return None
    name, is_original = path_name(row), row.replacement is None
    is_read = call.name == READ and name is not None and is_original and not result.is_error
    is_change = call.name in CHANGING_TOOLS and name is not None and not result.is_error
    lines = texts.lines(result.text) if is_read else NO_LINES
    start, end = _asked(call, lines)
    return Finished(
        row,
        call,
        result,
        name,
        is_read,
        is_change,
        is_search(call.name),
        lines,
        start,
        end,
        _print(row, result, lines, texts),
    )


def _asked(call: Call, lines: Lines) -> tuple[int, int]:
    """The first and the last line that a read asked for."""
    offset, limit = number(call.input, "offset"), number(call.input, "limit")
    start = max(offset or 1, 1)
    if limit is not None:
        return start, start + limit - 1
    is_whole = lines.last - lines.first + 1 < READ_LIMIT_LINES
    return start, TO_THE_END if is_whole else lines.last


def _print(row: Row, result: Piece, lines: Lines, texts: TextMemory) -> int | None:
    """The print of an output that may repeat; None for errors, media, replacements, short ones."""
    if result.is_error or result.media or row.replacement is not None:
        return None
    is_long = len(result.text) >= SAME_CALL_CHARS
    return texts.print(result.text) if is_long or lines.first else None
