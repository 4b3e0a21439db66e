"""Ready-made texts: what stood in a row, where, and why it is not needed (rule G8).

They claim nothing about the content.
"""

import re
from typing import Final

from context_editor.core.candidates.calls import READ, path_name
from context_editor.core.candidates.model import Cause
from context_editor.core.candidates.texts import Lines
from context_editor.core.names import Names
from context_editor.core.rows import Row

SOURCE_CHARS: Final = 120
"""The longest description of a call in a ready-made text, in characters: a pointer is one line."""

AGAIN: Final = "read again if needed"

_QUOTING: Final = re.compile(r"[\"'`\u2018\u2019\u201c\u201d\u300c\u300d\u300e\u300f\u00ab\u00bb]")
"""Quotation marks: a command's own would read as a quotation of somebody's words."""


def source_words(row: Row, lines: Lines) -> str:
    """What a row's call was, on one line: `Read src/a.py lines 1-120`."""
    name = path_name(row)
    if row.call is None or row.call.name != READ or name is None:
        return _plain(row.source)
    path = name.path.removeprefix(f"{name.cwd.rstrip('/')}/") if name.cwd else name.path
    span = f" lines {lines.first}-{lines.last}" if lines.first else ""
    return f"{_plain(f'{READ} {path}')}{span}"


def _plain(words: str) -> str:
    line = " ".join(_QUOTING.sub("", words).split())
    return line if len(line) <= SOURCE_CHARS else f"{line[: SOURCE_CHARS - 1]}…"


def pointer_text(what: str, cause: Cause, by: Row | None, names: Names) -> str:
    """The text for a row that is out of date or stands elsewhere.

    Args:
        what: What the row's call was.
        cause: Why it is not needed.
        by: The row that changed the file, reads it again or repeats the output; None where the file
            changed on disk.
        names: How rows are named.
    """
    if by is None:
        return f"{what}; the file changed on disk afterwards, so this copy is out of date; {AGAIN}."
    where = f"(#{names.number(by)}) at ref {names.ref(by)}"
    match cause:
        case Cause.STALE:
            return f"{what}; edited afterwards {where}, so this copy is out of date; {AGAIN}."
        case Cause.SUPERSEDED:
            return f"{what}; read again later {where} with changes, so this copy is out of date."
        case _:
            return f"{what}; the same stands further on {where}; {AGAIN}."


def again_text(what: str) -> str:
    """The text for an output that the same call brings again."""
    return f"{what}; {AGAIN}."
