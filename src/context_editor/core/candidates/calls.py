"""What a tool call reads, searches or changes, by the host's tool names."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from context_editor.core.rows import Json, Row

READ: Final = "Read"

PATH_ARGUMENTS: Final[Mapping[str, str]] = {
    READ: "file_path",
    "Grep": "path",
    "Glob": "path",
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""The argument that names the file or folder, by tool."""

CHANGING_TOOLS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
"""Tools that change the file that they name (rule G3)."""

SEARCH_TOOLS: Final = frozenset({"Grep", "Glob", "WebSearch"})
"""Search tools whose names do not end in `search`, and the one that does (rule G2)."""

SEARCH_ENDING: Final = "search"
"""How the names of other search tools end, whatever the case: `mcp__docs__code_search`."""


class PathName(NamedTuple):
    """A path as a call names it.

    Attributes:
        cwd: The folder that the session worked in; empty when unknown.
        path: The path as the model wrote it, absolute or relative to `cwd`.
    """

    cwd: str
    path: str


def path_name(row: Row) -> PathName | None:
    """The file or folder that a row's call names; None where it names none."""
    call = row.call
    if call is None:
        return None
    argument = PATH_ARGUMENTS.get(call.name)
    path = call.input.get(argument) if argument else None
    if not isinstance(path, str) or not path.strip():
        return None
    return PathName(row.pieces[0].cwd, path)


def is_search(tool: str) -> bool:
    """Whether a tool is one of those whose results lose their worth after some turns (rule G2)."""
    return tool in SEARCH_TOOLS or tool.lower().endswith(SEARCH_ENDING)


def number(arguments: Mapping[str, Json], name: str) -> int | None:
    """An argument that is a whole number; None where it is missing or anything else."""
    value = arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
