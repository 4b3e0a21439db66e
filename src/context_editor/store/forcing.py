"""Forcing many files to disk at once, by whatever way is sure to say when it failed.

Standard library only (hooks import the store).
"""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from context_editor.errors import ArchiveError

FORCING_THREADS: Final = 16
"""How many files are forced to disk at a time: the disk takes waiting ones in one go."""

MANY_FILES: Final = 64
"""From so many files on the whole filesystem is forced in one call, where that is as sure."""

LEAST_KERNEL: Final = (5, 8)
"""The first Linux whose `syncfs` reports what could not be written.

Source: sync(2), Linux man-pages 5.13: "Linux waits for I/O completions, and thus sync() or syncfs() provide the
same guarantees as fsync() called on every file in the system or filesystem respectively"; "Since Linux 5.8,
syncfs() will also report an error if one or more inodes failed to be written back since the last syncfs() call".
"""

SURE_FILESYSTEMS: Final = frozenset({"ext4", "xfs"})
"""Filesystems of a local disk of which this is known; a network's or a user's own may pass nothing on."""

DIRTY_MOST_BYTES: Final = 256 * 1024 * 1024
"""Where programs wait to write more than this, one call for all of it would keep the archive waiting for them."""


def opened_filesystem(folder: Path) -> int | None:
    """A descriptor by which the filesystem of a folder can be forced at once; None where that is not known.

    It is opened before anything is written: errors are reported that came after that.
    """
    if sys.platform != "linux" or _kernel() < LEAST_KERNEL:
        return None
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:
        return None


def force(paths: Iterable[str], filesystem: int | None = None) -> None:
    """Force files that were written before, and their folders, to disk: all at once, which costs little more than one.

    Args:
        paths: The files.
        filesystem: From `opened_filesystem`, since before they were written.

    Raises:
        ArchiveError: One of them could not be.
    """
    files = list(dict.fromkeys(paths))
    folders = list(dict.fromkeys(map(os.path.dirname, files)))
    try:
        if not _is_all_forced(files, folders, filesystem):
            _force_each(files)
            _force_all(folders)
    except OSError as error:
        msg = f"{error.filename or 'the archive'} could not be forced to disk: {error.strerror or error}"
        raise ArchiveError(msg) from error


def force_one(path: str | Path) -> None:
    """Force one file or folder to disk.

    Raises:
        OSError: It could not be.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _force_all(paths: Sequence[str]) -> None:
    for path in paths:
        force_one(path)


def _force_each(files: Sequence[str]) -> None:
    # Imported here: most processes force no more than a file or two.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    shares = [files[nth::FORCING_THREADS] for nth in range(FORCING_THREADS)]
    with ThreadPoolExecutor(FORCING_THREADS) as pool:
        list(pool.map(_force_all, shares))


# --- a whole filesystem ----------------------------------------------------------------------------------


def _is_all_forced(files: Sequence[str], folders: Sequence[str], filesystem: int | None) -> bool:
    """Whether there was nothing to force, or all was with its filesystem."""
    if not files:
        return True
    if filesystem is None or len(files) < MANY_FILES:
        return False
    return _is_sure(filesystem, folders) and _is_forced(filesystem)


def _is_forced(descriptor: int) -> bool:
    """Force a filesystem, and say whether this Python and its C library have a call for that.

    Raises:
        OSError: Something could not be written.
    """
    try:
        # Imported here: it is dear, and nothing else needs it.
        import ctypes  # noqa: PLC0415

        library = ctypes.CDLL(None, use_errno=True)
        call = library.syncfs
    except (ImportError, AttributeError):
        return False
    if call(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def _is_sure(descriptor: int, folders: Sequence[str]) -> bool:
    """Whether forcing this filesystem forces what was written to these folders, without a long wait for others."""
    device = os.fstat(descriptor).st_dev
    if any(Path(folder).stat().st_dev != device for folder in folders):
        return False
    return _kind_of(device) in SURE_FILESYSTEMS and _dirty_bytes() <= DIRTY_MOST_BYTES


def _kernel() -> tuple[int, ...]:
    words = os.uname().release.split(".", 2)[:2]
    return tuple(int(word) if word.isdecimal() else 0 for word in words)


def _kind_of(device: int) -> str:
    """What a device is mounted as; empty where that is not known. Source: proc_pid_mountinfo(5)."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in _lines("/proc/self/mountinfo"):
        front, _, back = line.partition(" - ")
        if front.split(" ")[2:3] == [number]:
            return back.split(" ", 1)[0]
    return ""


def _dirty_bytes() -> int:
    """What programs have written and the disks have not yet. Source: proc_meminfo(5)."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("Dirty:"):
            return int(line.split()[1]) * 1024
    return DIRTY_MOST_BYTES + 1


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
