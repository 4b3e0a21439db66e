"""One build at a time, across processes; the kernel forgets an owner that dies."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path


@contextmanager
def held(path: Path, when_waiting: Callable[[], None]) -> Generator[None]:
    """Hold the lock on this file for the length of the block, waiting for it if need be.

    A file that a killed process left behind holds nothing: the lock is the kernel's (`flock`),
    and ends with its owner. The file itself stays; removing it would let two owners in.

    Args:
        path: The lock file; made when missing. Its folder must exist.
        when_waiting: Called once if another process holds the lock now.
    """
    # The programs that a build starts must not inherit the descriptor: one that outlived us
    # would hold the lock. Python opens it close-on-exec.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
