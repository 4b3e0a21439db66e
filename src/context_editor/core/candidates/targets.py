"""What a call reads, as one key: the same key, the same content (rule F1)."""

from collections.abc import Iterable
from typing import Final

from context_editor.core.candidates.calls import PathName, path_name
from context_editor.core.candidates.facts import DiskFacts
from context_editor.core.rows import Call, Row

FILE: Final = "file:"
"""How the key of a file begins; its real path follows."""

READING_TOOLS: Final = frozenset({"Read", "Grep", "Glob", "WebFetch"})
"""Tools whose calls have a key."""


def target_of(row: Row, disk: DiskFacts) -> str:
    """The key of what a row's call reads: a file, a page or a search; empty for every other row."""
    return "" if row.call is None else key_of(row.call, path_name(row), disk)


def key_of(call: Call, name: PathName | None, disk: DiskFacts) -> str:
    """The key of what a call reads, whose path is worked out already."""
    match call.name:
        case "Read":
            return f"{FILE}{disk.identity(name)}" if name else ""
        case "Grep" | "Glob":
            place = disk.identity(name) if name else "."
            return f"{call.name.lower()}:{place}:{_word(call, 'pattern')}"
        case "WebFetch":
            return f"url:{_word(call, 'url').rstrip('/')}"
        case _:
            return ""


def targets_of(rows: Iterable[Row], disk: DiskFacts) -> tuple[str, ...]:
    """The keys of what several rows read, each once, in order: `Replacement.targets`."""
    found = (target_of(row, disk) for row in rows)
    return tuple(dict.fromkeys(target for target in found if target))


def file_of(target: str) -> str:
    """The real path that a key names; empty where it names no file."""
    return target.removeprefix(FILE) if target.startswith(FILE) else ""


def _word(call: Call, name: str) -> str:
    value = call.input.get(name)
    return value if isinstance(value, str) else ""
