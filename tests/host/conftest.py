"""What every test against the real host is given: a fresh machine, or a clear word why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.host.host import MISSING, Host, binary
from tests.host.plugin import lay_plugin

if TYPE_CHECKING:
    from collections.abc import Callable
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


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin under test, laid once; nothing changes it."""
    return lay_plugin(tmp_path_factory.mktemp("plugin") / "context-editor")


@pytest.fixture(scope="session")
def machine(
    program: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Host]:
    """Makes scratch machines that have the plugin; further plugin folders may be named."""

    def made(*others: Path) -> Host:
        return Host(program, tmp_path_factory.mktemp("machine"), plugins=[plugin, *others])

    return made
