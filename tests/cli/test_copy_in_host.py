"""The real host resumes an edited copy: the model is sent the edited conversation and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import MISSING, Host, Typed, binary, once_file
from tests.host.scripted_model import call, say, think, use
from tests.host.wire import (
    assert_conserved,
    assert_legal,
    assert_prefix_kept,
    blocks,
    pair_of,
    result_of,
)

if TYPE_CHECKING:
    from tests.host.host import Run

pytestmark = [pytest.mark.host, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
TOOL = "mcp__plugin_context-editor_editor__context_edit"
RECORD = "Goal: count. Facts: 300 numbers, then 400 more. Open: nothing."


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """The real host with this plugin; skipped where there is none."""
    program = binary()
    if program is None:
        pytest.skip(MISSING)
    return Host(program, tmp_path, plugins=[ROOT])


def had(host: Host, *edits: dict[str, Any]) -> Run:
    """A session that read and counted, with a word of the person in between, and queued the edits."""
    (host.project / "a.txt").write_text("a line of the file\n" * 300, encoding="utf-8")
    held = {"edits": list(edits), "apply": "later"}
    script = [
        call(
            think("I should read."),
            {"type": "text", "text": "I read and count."},
            use("Read", {"file_path": str(host.project / "a.txt")}, "toolu_a"),
            use("Bash", {"command": "seq 1 300"}, "toolu_b"),
        ),
        say("Now the rest.", use("Bash", {"command": "touch at; sleep 2; seq 1 400"}, "toolu_c")),
        call(think("And one more."), use("Bash", {"command": "seq 5 400"}, "toolu_d")),
        call(use(TOOL, held, "toolu_e")),
        say("They wait."),
    ]
    typed = [Typed("read the file and count"), Typed("but do not push", once_file("at"))]
    return host.run(typed, script, tools=("Bash", "Read", TOOL))


def copied(host: Host) -> str:
    """The id of the edited copy that the command line makes of the project's newest session."""
    done = subprocess.run(
        [sys.executable, "-m", "context_editor.cli", "apply", "--json"],
        cwd=host.project,
        env={**os.environ, "HOME": str(host.home), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    session: str = json.loads(done.stdout)["session"]
    return session


def test_resume_sends_the_replacements_and_all_that_was_not_edited(host: Host) -> None:
    replaced = [
        {"op": "summarize", "tool_use_id": "toolu_b", "text": "300 numbers from 1."},
        {"op": "summarize", "tool_use_id": "toolu_d", "text": "396 numbers from 5."},
    ]
    run = had(host, *replaced)
    before = run.transcript.read_bytes()
    copy = copied(host)

    resumed = host.run("go on", [say("Yes.")], resume=copy)

    first = resumed.bodies[0]
    assert resumed.session_id == copy
    assert_legal(first)
    assert_conserved(run.bodies[-1], first, result_of("toolu_b"), result_of("toolu_d"))
    results = {block.call_id: block.text for block in blocks(first) if block.kind == "tool_result"}
    assert results["toolu_b"].startswith("Later, your context_edit summarize call replaced")
    assert results["toolu_b"].endswith("300 numbers from 1.")
    assert "do not push" in json.dumps(first)
    assert run.transcript.read_bytes() == before


def test_resume_sends_a_collapse_in_place_of_its_rows(host: Host) -> None:
    run = had(host, {"op": "summarize", "tool_use_id": "toolu_a", "text": "300 equal lines."})
    copy = copied(host)
    path = host.project / "more.json"
    rows = _rows(host, copy)
    edit = {"op": "collapse", "index": rows["toolu_c"], "to": rows["toolu_c"], "summary": RECORD}
    path.write_text(json.dumps({"edits": [edit]}), encoding="utf-8")
    _run(host, "edit", str(path), "--session", copy)
    again = json.loads(_run(host, "apply", copy, "--json"))["session"]

    resumed = host.run("go on", [say("Yes."), say("Yes.")], resume=again)

    first = resumed.bodies[0]
    assert_legal(first)
    assert_conserved(run.bodies[-1], first, result_of("toolu_a"), pair_of("toolu_c"))
    assert any(block.call_id == "toolu_ctxed_c2" for block in blocks(first))
    later = host.run("and on", [say("Done.")], resume=again)
    assert_prefix_kept(first, later.bodies[0], lambda block: block.text == "go on")


def _rows(host: Host, session: str) -> dict[str, str]:
    """The refs of tool rows by what their call is known by here."""
    rows = json.loads(_run(host, "list", session, "--json"))["rows"]
    return {"toolu_c": next(row["ref"] for row in rows if "touch at" in row["source"])}


def _run(host: Host, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "context_editor.cli", *arguments],
        cwd=host.project,
        env={**os.environ, "HOME": str(host.home), "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
