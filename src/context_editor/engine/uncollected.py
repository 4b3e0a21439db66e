"""Work that makes many values and no cycles: the search for cycles waits until it is done."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """A block during which Python does not look for cycles, which in a long session costs more than a plan.

    Each search walks every value of the session that a running server has read. Measured at 20 MB: half of
    an apply's time, and nothing was found. Where it was off already, it stays off.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()
