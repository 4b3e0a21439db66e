"""Files that are whole or not there: atomic replacement, appended lines, and private permissions.

Standard library only (hooks import it).
"""

import os
import secrets
from pathlib import Path
from typing import Final

from context_editor.errors import ArchiveError
from context_editor.store.forcing import force_one

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
"""Archives hold what the transcript held: for their owner alone."""


def make_folder(path: Path) -> Path:
    """Make a folder and its parents, private to the owner."""
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    return path


def replace_file(path: Path, content: bytes, *, is_forced: bool = True) -> None:
    """Put a file there whole: readers see the old content or the new one, also after a crash.

    Args:
        path: The file.
        content: What it is to hold.
        is_forced: Whether it is forced to disk at once; else the caller does with `forcing.force`.

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
        force_one(path.parent)


def append_line(path: Path, line: bytes) -> int:
    """Append one line and force it to disk; what a crash left of a line before it is ended first.

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
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), start)
            raise
    return start + len(end)


def write_verified(path: Path, content: bytes) -> None:
    """Write a file that may already stand with the same content, force it to disk, and read it back.

    Raises:
        ArchiveError: It could not be written, or what was read back differs.
    """
    try:
        if not (path.exists() and path.read_bytes() == content):
            replace_file(path, content)
        is_same = path.read_bytes() == content
    except OSError as error:
        raise not_written(str(path), error) from error
    if not is_same:
        raise differs(str(path))


def write_addressed(path: str, content: bytes, *, is_forced: bool = True) -> None:
    """Write a file whose name is the address of its content, and read it back.

    Nothing names it before all is written, so it needs no draft: what a crash left half of it under that
    name differs from the content, and is replaced.

    Args:
        path: The file.
        content: What it is to hold.
        is_forced: Whether it is forced to disk at once; else the caller does with `forcing.force`.

    Raises:
        ArchiveError: It could not be written, or what was read back differs.
    """
    try:
        stored = _created(path, content, is_forced=is_forced)
        if stored is None and (stored := Path(path).read_bytes()) != content:
            replace_file(Path(path), content, is_forced=is_forced)
            stored = Path(path).read_bytes()
    except OSError as error:
        raise not_written(path, error) from error
    if stored != content:
        raise differs(path)


def not_written(path: str, error: OSError) -> ArchiveError:
    """The error for a file of the archive that could not be written."""
    return ArchiveError(f"{path} could not be written: {error.strerror or error}")


def differs(path: str) -> ArchiveError:
    """The error for a file of the archive that does not hold what was written."""
    return ArchiveError(f"{path} was written but reads back differently")


def _created(path: str, content: bytes, *, is_forced: bool) -> bytes | None:
    """What a file holds once it was made and written; None where it stands already."""
    try:
        descriptor = _new_file(path)
    except FileExistsError:
        return None
    try:
        try:
            write_all(descriptor, content)
            stored = read_at(descriptor, 0, len(content) + 1)
            if is_forced:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        Path(path).unlink(missing_ok=True)
        raise
    if is_forced:
        force_one(os.path.dirname(path))  # noqa: PTH120 (thousands of them a pass)
    return stored


def _new_file(path: str) -> int:
    """A descriptor of a file that did not stand, made with its folders where they are missing."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, FILE_MODE)
    except FileNotFoundError:
        make_folder(Path(path).parent)
        return os.open(path, flags, FILE_MODE)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """The bytes of a file from an offset on, at most so many."""
    parts: list[bytes] = []
    while size and (part := os.pread(descriptor, size, offset)):
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


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
