"""Files that are whole or not there: atomic replacement, appended lines, and private permissions.

Standard library only (hooks import it).
"""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from context_editor.errors import ArchiveError

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
"""Archives hold what the transcript held: for their owner alone."""


FORCING_THREADS: Final = 16
"""How many files are forced to disk at a time: the disk takes waiting ones in one go."""


def make_folder(path: Path) -> Path:
    """Make a folder and its parents, private to the owner."""
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def replace_file(path: Path, content: bytes, *, is_forced: bool = True) -> None:
    """Put a file there whole: readers see the old content or the new one, also after a crash.

    Args:
        path: The file.
        content: What it is to hold.
        is_forced: Whether it is forced to disk at once; else the caller does with `force`.

    Raises:
        OSError: It could not be written; the old file, if any, is as it was.
    """
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        _write_new(draft, content, is_forced=is_forced)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    if is_forced:
        _force_one(path.parent)


def force(paths: Iterable[Path]) -> None:
    """Force files that were written before, and their folders, to disk: all at once, which costs little more than one.

    Raises:
        ArchiveError: One of them could not be.
    """
    files = list(dict.fromkeys(paths))
    folders = dict.fromkeys(path.parent for path in files)
    if not files:
        return
    # Imported here: most processes force no more than a file or two.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    try:
        with ThreadPoolExecutor(FORCING_THREADS) as pool:
            list(pool.map(_force_one, files))
        for folder in folders:
            _force_one(folder)
    except OSError as error:
        msg = f"{error.filename or 'the archive'} could not be forced to disk: {error.strerror or error}"
        raise ArchiveError(msg) from error


def append_line(path: Path, line: bytes, *, is_forced: bool = True) -> int:
    """Append one line; what a crash left of a line before it is ended first.

    Args:
        path: The file.
        line: The line, without its end.
        is_forced: Whether it is forced to disk at once; else the caller does with `force`.

    Returns:
        The offset, in bytes, at which the line begins.

    Raises:
        OSError: It could not be written whole; the file is cut back to what it was.
    """
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
    with os.fdopen(descriptor, "ab", buffering=0) as file:
        start = os.fstat(file.fileno()).st_size
        end = b"\n" if start and os.pread(file.fileno(), 1, start - 1) != b"\n" else b""
        try:
            write_all(file.fileno(), end + line + b"\n")
            if is_forced:
                os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), start)
            raise
    return start + len(end)


def write_verified(path: Path, content: bytes, *, is_forced: bool = True) -> None:
    """Write a file that may already stand with the same content, and read it back.

    Args:
        path: The file.
        content: What it is to hold.
        is_forced: Whether it is forced to disk at once; else the caller does with `force`.

    Raises:
        ArchiveError: It could not be written, or what was read back differs.
    """
    try:
        if not (path.exists() and path.read_bytes() == content):
            replace_file(path, content, is_forced=is_forced)
        is_same = path.read_bytes() == content
    except OSError as error:
        msg = f"{path} could not be written: {error.strerror or error}"
        raise ArchiveError(msg) from error
    if not is_same:
        msg = f"{path} was written but reads back differently"
        raise ArchiveError(msg)


def write_all(descriptor: int, content: bytes) -> None:
    """Write every byte; a short write goes on where it stopped."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _write_new(path: Path, content: bytes, *, is_forced: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        write_all(descriptor, content)
        if is_forced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _force_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
