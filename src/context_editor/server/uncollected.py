"""Answering without the search for cycles: over a long session it costs more than the answer."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

MANY_VALUES: Final = 100_000
"""So many new values in one answer are a session that was read: they stay for as long as it is open."""


@contextmanager
def uncollected() -> Generator[None]:
    """A block during which Python does not look for cycles.

    Each full search walks every value of every session that was read. Nothing that stands for a
    session refers back to it, so nothing would be found: what was read is left out of all later
    searches, and goes when nothing refers to it any more. Measured at 20 MB: half of an apply's time.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY_VALUES:
            gc.freeze()
        gc.enable()
