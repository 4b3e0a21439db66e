"""What stands on disk for the paths that rows name; decisions read only these facts."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from context_editor.core.candidates.calls import PathName
from context_editor.core.candidates.facts import DiskFacts, FileFact, paths_named
from context_editor.core.conversation import Conversation

COMPARED_BYTES: Final = 1_048_576
"""Files larger than this are not read for a comparison: a read of the host shows at most a part of them."""

TEMP_FOLDERS: Final = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 (only compared with, never written to)

REMEMBERED_PATHS: Final = 100_000
"""Paths that are remembered before all are forgotten: several very long sessions."""


class _Known(NamedTuple):
    """What was found at a path.

    Attributes:
        given: The path, absolute.
        folder: The folder that it names.
        file: The device and number of the file that stood there; None where none did.
        fact: What is told of it.
    """

    given: str
    folder: str
    file: tuple[int, int] | None
    fact: FileFact


@dataclass(eq=False)
class DiskMemory:
    """What was found at earlier looks: a real path is worked out anew only where another file stands."""

    _place: object = None
    _known: dict[PathName, _Known] = field(default_factory=dict[PathName, _Known])

    def found_at(self, place: object) -> dict[PathName, _Known]:
        """What is known while project and temp folders are these."""
        if place != self._place or len(self._known) > REMEMBERED_PATHS:
            self._place = place
            self._known.clear()
        return self._known


def gathered(
    conversation: Conversation, project: Path | None, memory: DiskMemory | None = None
) -> DiskFacts:
    """The facts for every path that a row names; each is looked up when it is first asked for.

    Most looks at a session ask for none of them, and a long one names thousands.

    Args:
        conversation: The rows.
        project: The folder that counts as the project; None when it is unknown.
        memory: What an earlier look found; brought up to this one.
    """
    files = _Files(conversation, project, memory or DiskMemory())
    return DiskFacts(files, _Contents())


@dataclass(eq=False)
class _Files(Mapping[PathName, FileFact]):
    """What stands at each path."""

    conversation: Conversation
    project: Path | None
    memory: DiskMemory
    _seen: dict[PathName, FileFact] = field(default_factory=dict[PathName, FileFact])
    _folders: dict[str, bool] = field(default_factory=dict[str, bool])

    @cached_property
    def _root(self) -> str:
        return str(self.project.resolve()) if self.project else ""

    @cached_property
    def _temp(self) -> frozenset[str]:
        return frozenset(
            str(Path(folder).resolve()) for folder in (*TEMP_FOLDERS, tempfile.gettempdir())
        )

    @cached_property
    def _known(self) -> dict[PathName, _Known]:
        return self.memory.found_at((self._root, self._temp))

    def __getitem__(self, name: PathName) -> FileFact:
        known = self._known.get(name)
        if known is not None and not known.file and not self._folders.get(known.folder, True):
            return known.fact
        fact = self._seen.get(name)
        if fact is None:
            fact = self._seen[name] = self._fact(name)
        return fact

    def __iter__(self) -> Iterator[PathName]:
        return iter(paths_named(self.conversation))

    def __len__(self) -> int:
        return len(paths_named(self.conversation))

    def _fact(self, name: PathName) -> FileFact:
        # A long session names thousands of paths: one question each is all that may be asked.
        known = self._known.get(name)
        if known is not None:
            given, folder = known.given, known.folder
        else:
            given = os.path.join(name.cwd, name.path)  # noqa: PTH118
            folder = os.path.dirname(given)  # noqa: PTH120
        status = _status(given) if self._stands(folder) else None
        file = (status.st_dev, status.st_ino) if status else None
        if known is None or known.file != file:
            fact = _fact(given, status, self._root, self._temp)
        elif status is None or status.st_mtime == known.fact.modified_s:
            return known.fact
        else:
            fact = replace(known.fact, modified_s=status.st_mtime)
        self._known[name] = _Known(given, folder, file if fact.exists else None, fact)
        return fact

    def _stands(self, folder: str) -> bool:
        """Whether a folder is there: where it is gone, so is all that it held."""
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = not folder or _status(folder) is not None
        return known


@dataclass(eq=False)
class _Contents(Mapping[str, str]):
    """The text of files by real path, each read when it is first asked for."""

    _texts: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def __getitem__(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = _text(path)
        text = self._texts[path]
        if text is None:
            raise KeyError(path)
        return text

    def __iter__(self) -> Iterator[str]:
        return (path for path, text in self._texts.items() if text is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 (`pathlib` costs more than all else that is asked)
    except (OSError, ValueError):
        return None


def _fact(given: str, status: os.stat_result | None, root: str, temp: frozenset[str]) -> FileFact:
    try:
        path = os.path.realpath(given, strict=True) if status else ""
    except (OSError, ValueError):
        path = ""
    if not status or not path:
        path = os.path.abspath(given)  # noqa: PTH100
        return FileFact(path, exists=False, is_lasting=_is_lasting(path, root, temp))
    lasting = _is_lasting(path, root, temp)
    return FileFact(path, is_lasting=lasting, modified_s=status.st_mtime)


def _is_lasting(path: str, root: str, temp: frozenset[str]) -> bool:
    """Whether a path lies in the project; a project that itself lies in a temp folder counts as lasting."""
    if root:
        return _is_below(path, root) and not any(
            _is_below(path, folder) and _is_below(folder, root) for folder in temp
        )
    return not any(_is_below(path, folder) for folder in temp)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _text(path: str) -> str | None:
    """The text of a file; None where it is too large, gone or no text."""
    try:
        file = Path(path)
        return file.read_text(encoding="utf-8") if file.stat().st_size <= COMPARED_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None
