"""A cost tool counts every request once, also where an apply wrote its answer a second time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.host.plugin import Edited, edit, run_edited, seq, summarize
from tests.host.scripted_model import call, say
from tests.host.wire import result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

TOOL: Final = "ccusage@18.0.11"
"""A cost tool that many people read their transcripts with; npm fetches it once."""

FIGURES: Final = ("inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens")


@pytest.fixture(scope="module")
def npx() -> str:
    """The program that runs the cost tool, once it could be fetched."""
    program = shutil.which("npx")
    if program is None:
        pytest.skip("npm is not installed: the cost tool cannot be fetched")
    fetched = subprocess.run(
        [program, "--yes", TOOL, "--version"], capture_output=True, check=False, timeout=120
    )
    if fetched.returncode != 0:
        pytest.skip(f"npm could not fetch {TOOL}")
    return program


@pytest.fixture(scope="module")
def edited(machine: Callable[..., Host]) -> Edited:
    """Two applies, so that answers of the first are written a third time."""
    script = [
        say("I count.", seq(1, 900, "toolu_1")),
        call(edit(summarize("toolu_1"))),
        say("status: one edit"),
        say("And again.", seq(2000, 2900, "toolu_2")),
        call(edit(summarize("toolu_2"))),
        say("status: one more"),
        say("done"),
    ]
    return run_edited(machine(), "go", script, edited=[result_of("toolu_1", "toolu_2")])


def counted(npx: str, folder: Path, rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """The totals that the tool makes of these rows."""
    transcript = folder / "projects" / "project" / f"{folder.name}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = subprocess.run(
        [npx, "--yes", TOOL, "daily", "--offline", "--json"],
        env={**os.environ, "CLAUDE_CONFIG_DIR": str(folder)},
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    totals: dict[str, int] = json.loads(done.stdout)["totals"]
    return {name: totals[name] for name in FIGURES}


def written_once(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without those that an apply wrote again: from a boundary to the command's record."""
    kept: list[dict[str, Any]] = []
    is_copy = False
    for row in rows:
        is_copy = (is_copy or row.get("subtype") == "compact_boundary") and (
            "<command-name>" not in str(row.get("message"))
        )
        if not is_copy:
            kept.append(row)
    return kept


def test_a_cost_tool_counts_the_same_before_and_after_the_applies(
    npx: str, edited: Edited, tmp_path: Path
) -> None:
    rows = edited.run.rows()
    once = written_once(rows)
    answers = [row for row in rows if row["type"] == "assistant"]

    assert [apply.epoch for apply in edited.applies] == [1, 2]
    assert len(answers) > len([row for row in once if row["type"] == "assistant"])
    before = counted(npx, tmp_path / "once", once)
    assert before["outputTokens"] > 0
    assert counted(npx, tmp_path / "whole", rows) == before
