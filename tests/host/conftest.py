"""What every test against the real host is given: a fresh machine, or a clear word why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.host.host import MISSING, Host, binary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def program() -> Path:
    """The host's binary; a test that asks for it is skipped where there is none."""
    found = binary()
    if found is None:
        pytest.skip(MISSING)
    return found


@pytest.fixture
def host(program: Path, tmp_path: Path) -> Host:
    """The real host on a scratch machine, without plugins."""
    return Host(program, tmp_path)
