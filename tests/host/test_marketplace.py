"""Installed from a marketplace into a fresh home: the first session works, the second at once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.host.host import Host
from tests.host.plugin import (
    ROOT,
    TOOLS,
    Edited,
    answered,
    edit,
    lay_parts,
    listing,
    run_edited,
    seq,
    shown,
    summarize,
)
from tests.host.scripted_model import Answer, Body, call, say, use
from tests.host.wire import result_of

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

UNTIL_READY = (
    "for n in $(seq 1200); do ls ~/.claude/plugins/data/*/env/*/ready-* >/dev/null 2>&1 && exit 0;"
    " sleep 0.1; done; exit 1"
)
"""A tool that ends once the plugin has made its environment; two minutes at most."""

CONNECTED = re.compile(r'"plugin:context-editor:editor": Successfully connected .* in (\d+)ms')


@pytest.fixture(scope="module")
def installed(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A machine on which a person added the marketplace and installed the plugin."""
    if shutil.which("uv") is None:
        pytest.skip("uv is not installed: the first install would take minutes")
    source = lay_parts(tmp_path_factory.mktemp("marketplace") / "source")
    shutil.copytree(ROOT / ".claude-plugin", source / ".claude-plugin", dirs_exist_ok=True)
    shutil.rmtree(source / ".claude-plugin" / "types", ignore_errors=True)
    cache = os.environ.get("UV_CACHE_DIR") or Path.home() / ".cache" / "uv"
    # The wheels come from this machine's cache where it has them: a fresh home has none.
    environment = {"UV_CACHE_DIR": str(cache)}
    host = Host(program, tmp_path_factory.mktemp("machine"), environment=environment)
    for words in (
        ("marketplace", "add", str(source)),
        ("install", "context-editor@context-editor"),
    ):
        managed(host, words)
    return host


def managed(host: Host, words: Sequence[str]) -> str:
    """What a `claude plugin …` command says."""
    done = subprocess.run(
        [str(host.program), "plugin", *words],
        cwd=host.project,
        env=host.environment_for("http://127.0.0.1:9"),
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def first_session(installed: Host) -> Edited:
    script: list[Answer] = [
        say("I wait.", use("Bash", {"command": UNTIL_READY, "timeout": 150_000}, "toolu_ready")),
        say("I count.", seq(1, 900, "toolu_1")),
        call(listing(count=0)),
        call(edit(summarize("toolu_1"))),
        say("status: one edit"),
        say("done"),
    ]
    return run_edited(installed, "go", script, edited=[result_of("toolu_1")], timeout_s=200)


def own_tools(body: Body) -> list[str]:
    return [tool["name"] for tool in body["tools"] if tool["name"].startswith(TOOLS)]


def test_the_first_session_lists_edits_and_applies_without_a_restart(first_session: Edited) -> None:
    assert answered(first_session.bodies[3]).startswith("Context: "), shown(first_session.last)
    assert first_session.only_apply.edits == 1


def test_the_tools_stand_in_the_very_first_request(first_session: Edited) -> None:
    """The launcher answers for the server while the environment is made."""
    assert f"{TOOLS}context_edit" in own_tools(first_session.bodies[0])


def test_the_second_session_has_the_same_tools_in_its_first_request(
    installed: Host, first_session: Edited
) -> None:
    run = installed.run("go", [call(listing(count=0)), say("done")])
    found = CONNECTED.search(run.debug)

    assert own_tools(run.bodies[0]) == own_tools(first_session.last)
    assert answered(run.bodies[1]).startswith("Context: ")
    assert found is not None
    assert int(found[1]) < 5_000, "the host waits 5 s for a server before it goes on without it"
