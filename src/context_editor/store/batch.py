"""What is put into an archive together: lines are appended, and everything is forced to disk, at the end.

Standard library only (hooks import the store).
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from context_editor.errors import ArchiveError
from context_editor.store.files import (
    FILE_MODE,
    differs,
    make_folder,
    not_written,
    read_at,
    write_all,
)
from context_editor.store.forcing import force, opened_filesystem

WAITING_MOST_BYTES: Final = 4 * 1024 * 1024
"""How many bytes of lines wait in memory before they are written."""


@dataclass
class Appended:
    """Lines that are appended to one file, each at an offset that is known before it is written.

    Attributes:
        path: The file.
        descriptor: The file, open for as long as lines may come.
        end: Where the file ends now, in bytes.
        most_bytes: How many bytes may wait in memory.
        waiting: What is not written yet.
        waiting_bytes: How many bytes that is.
    """

    path: Path
    descriptor: int
    end: int
    most_bytes: int
    waiting: list[bytes] = field(default_factory=list[bytes])
    waiting_bytes: int = 0

    @classmethod
    def opened(cls, path: Path, most_bytes: int) -> "Appended":
        """A file to append to; what a crash left of a line before is ended first.

        Raises:
            OSError: It cannot be opened.
        """
        make_folder(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
        appended = cls(path, descriptor, os.fstat(descriptor).st_size, most_bytes)
        if appended.end and read_at(descriptor, appended.end - 1, 1) != b"\n":
            appended.add(b"")
        return appended

    def add(self, line: bytes) -> int:
        """Have a line follow; the offset at which it will begin, in bytes.

        Raises:
            ArchiveError: Lines could not be written, or what was read back differs.
        """
        offset = self.end + self.waiting_bytes
        self.waiting += (line, b"\n")
        self.waiting_bytes += len(line) + 1
        if self.waiting_bytes >= self.most_bytes:
            self.write()
        return offset

    def write(self) -> None:
        """Write what waits, whole, and read it back; where that fails, the file is cut back to what it was.

        Raises:
            ArchiveError: It could not be written, or what was read back differs.
        """
        content = b"".join(self.waiting)
        try:
            stored = self._written(content)
        except OSError as error:
            raise not_written(str(self.path), error) from error
        if stored != content:
            raise differs(str(self.path))
        self.end += len(content)
        self.waiting, self.waiting_bytes = [], 0

    def _written(self, content: bytes) -> bytes:
        if os.fstat(self.descriptor).st_size != self.end:
            msg = "it was changed meanwhile"
            raise OSError(msg)
        try:
            write_all(self.descriptor, content)
            return read_at(self.descriptor, self.end, len(content) + 1)
        except OSError:
            os.ftruncate(self.descriptor, self.end)
            raise


@dataclass
class Batch:
    """What was put in so far.

    Attributes:
        folder: The session's folder.
        files: Files that wait to be forced to disk.
        lines: The files that lines are appended to.
        filesystem: A descriptor of the folder's filesystem, open since before the first write.
        fault: Why a line could not be written: lines that were promised before it are lost with it.
        most_bytes: How many bytes of a file's lines may wait in memory.
    """

    folder: Path
    files: list[str] = field(default_factory=list[str])
    lines: dict[Path, Appended] = field(default_factory=dict[Path, Appended])
    filesystem: int | None = None
    fault: ArchiveError | None = None
    most_bytes: int = WAITING_MOST_BYTES

    @classmethod
    def begun(cls, folder: Path, most_bytes: int = WAITING_MOST_BYTES) -> "Batch":
        """A batch of which nothing is written yet."""
        return cls(folder, filesystem=opened_filesystem(folder), most_bytes=most_bytes)

    def append(self, path: Path, line: bytes) -> int:
        """Have a line follow in a file; the offset at which it will begin, in bytes.

        Raises:
            ArchiveError: Lines could not be written, or what was read back differs.
        """
        if self.fault is not None:
            raise self.fault
        try:
            if path not in self.lines:
                self.lines[path] = Appended.opened(path, self.most_bytes)
            return self.lines[path].add(line)
        except OSError as error:
            raise not_written(str(path), error) from error
        except ArchiveError as error:
            self.fault = error
            raise

    def finish(self) -> None:
        """Write every line that waits, read it back, and force all to disk.

        Raises:
            ArchiveError: That failed, or a line could not be written before: nothing that was put in is to be
                relied on.
        """
        if self.fault is not None:
            raise self.fault
        for appended in self.lines.values():
            appended.write()
        force((*self.files, *map(str, self.lines)), self.filesystem)

    def close(self) -> None:
        """Close what is open; what was not written by then is given up."""
        for appended in self.lines.values():
            os.close(appended.descriptor)
        if self.filesystem is not None:
            os.close(self.filesystem)
