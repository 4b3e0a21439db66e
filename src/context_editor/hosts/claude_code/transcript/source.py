"""What a tool call is in a few words: `Read src/app.py 1-220`."""

import os.path
from collections.abc import Callable, Mapping
from typing import Final

from context_editor.core.plain import label
from context_editor.core.rows import Call, Json

MAX_SOURCE_CHARS: Final = 80
"""Longest source label, in characters: it stands on one line of a listing with everything else."""

CUT_MARK: Final = "…"

_MAIN_ARGUMENTS: Final = (
    "description",
    "command",
    "file_path",
    "path",
    "query",
    "url",
    "pattern",
    "prompt",
    "skill",
    "name",
    "id",
)
_PATH_ARGUMENTS: Final = frozenset({"file_path", "path", "notebook_path"})
_MCP_PREFIX: Final = "mcp__"


def source_label(call: Call, cwd: str) -> str:
    """The call's tool and main argument, on one line of at most `MAX_SOURCE_CHARS` characters.

    Args:
        call: The call.
        cwd: The folder that paths are shown relative to when they lie below it; may be empty.
    """
    name, words = call.name, _OWN_WORDS.get(call.name, _main_argument)
    if name.startswith(_MCP_PREFIX):
        name = name.removeprefix(_MCP_PREFIX).replace("__", ".")
    text = label(f"{name} {words(call.input, cwd)}")
    return text if len(text) <= MAX_SOURCE_CHARS else text[: MAX_SOURCE_CHARS - 1] + CUT_MARK


def shown_path(path: str, cwd: str) -> str:
    """The path relative to the folder when it lies below it, else as it is."""
    root = cwd.rstrip("/")
    if root and path.startswith(f"{root}/"):
        return os.path.normpath(path[len(root) + 1 :])
    return path


def _word(arguments: Mapping[str, Json], name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


def _number(arguments: Mapping[str, Json], name: str) -> int | None:
    value = arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read(arguments: Mapping[str, Json], cwd: str) -> str:
    path = shown_path(_word(arguments, "file_path"), cwd)
    offset, limit = _number(arguments, "offset"), _number(arguments, "limit")
    if offset is None and limit is None:
        return f"{path} {_word(arguments, 'pages')}"
    first = offset or 1
    return f"{path} {first}-{first + limit - 1 if limit else ''}"


def _search(arguments: Mapping[str, Json], cwd: str) -> str:
    pattern, path = _word(arguments, "pattern"), _word(arguments, "path")
    return f"{pattern} in {shown_path(path, cwd) or '.'}" if path else pattern


def _edited(arguments: Mapping[str, Json], cwd: str) -> str:
    path = _word(arguments, "file_path") or _word(arguments, "notebook_path")
    return shown_path(path, cwd)


def _todos(arguments: Mapping[str, Json], _cwd: str) -> str:
    todos = arguments.get("todos")
    return f"{len(todos)} item(s)" if isinstance(todos, list) else ""


def _questions(arguments: Mapping[str, Json], _cwd: str) -> str:
    questions = arguments.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    return _word(first, "question") if isinstance(first, Mapping) else ""


def _main_argument(arguments: Mapping[str, Json], cwd: str) -> str:
    for name in _MAIN_ARGUMENTS:
        word = _word(arguments, name)
        if word:
            return shown_path(word, cwd) if name in _PATH_ARGUMENTS else word
    return next((value for value in arguments.values() if isinstance(value, str) and value), "")


def _command(arguments: Mapping[str, Json], _cwd: str) -> str:
    return _word(arguments, "command")


_OWN_WORDS: Final[Mapping[str, Callable[[Mapping[str, Json], str], str]]] = {
    "Read": _read,
    "Grep": _search,
    "Glob": _search,
    "Edit": _edited,
    "MultiEdit": _edited,
    "Write": _edited,
    "NotebookEdit": _edited,
    "Bash": _command,
    "TodoWrite": _todos,
    "AskUserQuestion": _questions,
}
