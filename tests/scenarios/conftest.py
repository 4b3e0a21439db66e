"""A session that is driven through the tools and the hooks."""

import os
from pathlib import Path

import pytest
from tests.support.fake_host import FakeHost, engine_of
from tests.support.scene import Applied, Scene


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A session that begins, in a host process whose mod is there."""
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    return Scene(tmp_path)


@pytest.fixture
def applied(tmp_path: Path) -> Applied:
    """A session whose queue can be applied."""
    host = FakeHost()
    return Applied(host, engine_of(host, tmp_path))
