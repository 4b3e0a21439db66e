"""Finished calls, with all that a review needs of one worked out once: there are thousands."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from context_editor.core.growing import Growing, Sifted
from context_editor.core.rows import Call, Piece, PieceForm, Row, RowKind

TO_THE_END: Final = 1 << 60
"""Stands for the last line of a read that asked for everything."""

READ_LIMIT_LINES: Final = 2_000
"""Lines that a read without a limit stops at. Observed on Claude Code 1.0.98 to 2.1.215."""

SAME_CALL_CHARS: Final = 800
"""From this length on the equal output of the same call is a duplicate, in characters (rule G5)."""


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
        shows: Whether it shows what stands in the file that it names: a successful read or change.
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
    shows: bool
    lines: Lines
    start: int
    end: int
    print: int | None


@dataclass(frozen=True)
class Calls:
    """The finished calls of one look, oldest first, and those of them that a review looks at closer.

    Attributes:
        all: The listed tool rows with a result, without those of a person and of this product.
        originals: Those whose result stands unreplaced.
        searches: Successful searches among them.
        files: Calls that show what stands in a file, each with its place in `all`.
        prints: The print of each of `all`.
    """

    all: Sequence[Finished]
    originals: Sequence[Finished]
    searches: Sequence[Finished]
    files: Sequence[tuple[int, Finished]]
    prints: Sequence[int | None]


class CallMemory:
    """The finished calls of earlier looks; a row that is the same object is not looked at again."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.texts = TextMemory()
        self._all = Sifted(self._finished)
        self._originals = Sifted(_original)
        self._searches = Sifted(_search)
        self._files = Sifted(_file_call)
        self._prints = Growing(_print_of)

    def _finished(self, row: Row) -> Finished | None:
        return finished_call(row, self.texts)

    def finished(self, rows: Sequence[Row]) -> Calls:
        """The finished calls among these rows."""
        found = self._all.of(rows)
        originals = self._originals.of(found)
        return Calls(
            found,
            originals,
            self._searches.of(originals),
            self._files.placed(found),
            self._prints.of(found),
        )


def _original(one: Finished) -> Finished | None:
    return one if one.row.replacement is None else None


def _search(one: Finished) -> Finished | None:
    return one if one.is_search and not one.result.is_error else None


def _file_call(one: Finished) -> Finished | None:
    return one if one.shows else None


def _print_of(one: Finished) -> int | None:
    return one.print


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
        name is not None and not result.is_error and (call.name == READ or is_change),
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
