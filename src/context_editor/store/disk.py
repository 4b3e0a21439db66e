"""What stands on disk for the paths that rows name; decisions read only these facts."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from context_editor.core.candidates.calls import PathName
from context_editor.core.candidates.facts import DiskFacts, FileFact, contents_wanted, paths_named
from context_editor.core.rows import Conversation

COMPARED_BYTES: Final = 1_048_576
"""Files larger than this are not read for a comparison: a read of the host shows at most a part of them."""

TEMP_FOLDERS: Final = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 (only compared with, never written to)


def gathered(conversation: Conversation, project: Path | None) -> DiskFacts:
    """The facts for every path that a row names; each is looked up when it is first asked for.

    Most looks at a session ask for none of them, and a long one names thousands.

    Args:
        conversation: The rows.
        project: The folder that counts as the project; None when it is unknown.
    """
    files = _Files(conversation, project)
    return DiskFacts(files, _Contents(conversation, files))


@dataclass(eq=False)
class _Files(Mapping[PathName, FileFact]):
    """What stands at each path."""

    conversation: Conversation
    project: Path | None
    _known: dict[PathName, FileFact] = field(default_factory=dict[PathName, FileFact])

    @cached_property
    def _names(self) -> Mapping[PathName, None]:
        return dict.fromkeys(paths_named(self.conversation))

    @cached_property
    def _root(self) -> str:
        return str(self.project.resolve()) if self.project else ""

    @cached_property
    def _temp(self) -> frozenset[str]:
        return frozenset(
            str(Path(folder).resolve()) for folder in (*TEMP_FOLDERS, tempfile.gettempdir())
        )

    def __getitem__(self, name: PathName) -> FileFact:
        known = self._known.get(name)
        if known is None:
            if name not in self._names:
                raise KeyError(name)
            known = self._known[name] = _fact(name, self._root, self._temp)
        return known

    def __iter__(self) -> Iterator[PathName]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(eq=False)
class _Contents(Mapping[str, str]):
    """The text of the files that are to be compared, by real path."""

    conversation: Conversation
    files: Mapping[PathName, FileFact]

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return _contents(contents_wanted(self.conversation, self.files))

    def __getitem__(self, path: str) -> str:
        return self._texts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _fact(name: PathName, root: str, temp: frozenset[str]) -> FileFact:
    # A long session names thousands of paths: `pathlib` would cost more than all else that is asked of them.
    given = os.path.join(name.cwd, name.path)  # noqa: PTH118
    try:
        path = os.path.realpath(given, strict=True)
        modified_s = os.stat(path).st_mtime  # noqa: PTH116
    except (OSError, ValueError):
        path = os.path.abspath(given)  # noqa: PTH100
        return FileFact(path, exists=False, is_lasting=_is_lasting(path, root, temp))
    return FileFact(path, is_lasting=_is_lasting(path, root, temp), modified_s=modified_s)


def _is_lasting(path: str, root: str, temp: frozenset[str]) -> bool:
    """Whether a path lies in the project; a project that itself lies in a temp folder counts as lasting."""
    if root:
        return _is_below(path, root) and not any(
            _is_below(path, folder) and _is_below(folder, root) for folder in temp
        )
    return not any(_is_below(path, folder) for folder in temp)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


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
