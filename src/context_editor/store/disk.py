"""What stands on disk for the paths that rows name; decisions read only these facts."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from context_editor.core.candidates.calls import PathName
from context_editor.core.candidates.facts import DiskFacts, FileFact, contents_wanted, paths_named
from context_editor.core.rows import Conversation

COMPARED_BYTES: Final = 1_048_576
"""Files larger than this are not read for a comparison: a read of the host shows at most a part of them."""

TEMP_FOLDERS: Final = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 (only compared with, never written to)


def gathered(conversation: Conversation, project: Path | None) -> DiskFacts:
    """The facts for every path that a row names.

    Args:
        conversation: The rows.
        project: The folder that counts as the project; None when it is unknown.
    """
    temp = {Path(folder).resolve() for folder in (*TEMP_FOLDERS, tempfile.gettempdir())}
    root = project.resolve() if project else None
    files = {name: _fact(name, root, temp) for name in paths_named(conversation)}
    return DiskFacts(files, _contents(contents_wanted(conversation, files)))


def _fact(name: PathName, root: Path | None, temp: set[Path]) -> FileFact:
    try:
        path = Path(name.cwd, name.path).resolve()
        stat = path.stat()
    except (OSError, ValueError):
        path = Path(name.cwd, name.path).absolute()
        return FileFact(str(path), exists=False, is_lasting=_is_lasting(path, root, temp))
    return FileFact(str(path), is_lasting=_is_lasting(path, root, temp), modified_s=stat.st_mtime)


def _is_lasting(path: Path, root: Path | None, temp: set[Path]) -> bool:
    """Whether a path lies in the project; a project that itself lies in a temp folder counts as lasting."""
    if root is not None:
        return path.is_relative_to(root) and not any(
            path.is_relative_to(folder) and folder.is_relative_to(root) for folder in temp
        )
    return not any(path.is_relative_to(folder) for folder in temp)


def _contents(paths: frozenset[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        try:
            file = Path(path)
            if file.stat().st_size <= COMPARED_BYTES:
                found[path] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return found
