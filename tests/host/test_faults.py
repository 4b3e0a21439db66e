"""Faults in the middle of an apply: the conversation stays, the queue stays, nothing runs in circles."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.host.host import Host
from tests.host.plugin import (
    Edited,
    answered,
    assert_unchanged,
    edit,
    listing,
    log_of,
    numbers,
    original_in,
    result_text,
    run_edited,
    seq,
    shown,
    summarize,
)
from tests.host.scripted_model import Answer, call, say, use
from tests.host.wire import blocks, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.host.scripted_model import Body

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

CHOSEN = (result_of("toolu_1"),)

FAULTY = """#!/bin/sh
# Runs the real launcher; the file `fault` of the project says what is to go wrong in an apply.
here=$(dirname -- "$0")
fault=$(cat "$CLAUDE_PROJECT_DIR/fault" 2>/dev/null)
if [ "$1 $2" = "bridge compact" ]; then
  for session in "$CLAUDE_PLUGIN_DATA"/sessions/*/; do
    [ -f "$session/archive" ] && rm "$session/archive" && mv "$session/kept" "$session/archive"
    [ "$fault" = unwritable ] && mkdir -p "$session/archive" &&
      mv "$session/archive" "$session/kept" && : >"$session/archive"
  done
  case $fault in
    dies) echo 'Traceback (most recent call last):' >&2; exit 1 ;;
    killed) kill -9 $$ ;;
    garbage) echo '{"rows": [[0, '; exit 0 ;;
    silent) exit 0 ;;
    sleeps) exec sleep 4 ;;
    full)
      # The running server has a limit of its own: this process must do the work.
      for door in "$CLAUDE_PLUGIN_DATA"/hosts/*.sock; do mv "$door" "$door.kept"; done
      (ulimit -f 0; exec "$here/real" "$@")
      status=$?
      for door in "$CLAUDE_PLUGIN_DATA"/hosts/*.sock.kept; do mv "$door" "${door%.kept}"; done
      exit $status ;;
    locked)
      exec "$here/python" "$here/locked.py" "$session/state.lock" "$here/real" "$@" ;;
  esac
fi
exec "$here/real" "$@"
"""

LOCKED = """
import fcntl, subprocess, sys
with open(sys.argv[1], "a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    sys.exit(subprocess.run(sys.argv[2:]).returncode)
"""

FAULTS = ("dies", "killed", "garbage", "silent", "sleeps", "full", "unwritable", "locked")
REQUESTS = 3
"""What one fault takes: it is ordered, the queue is to be applied, the turn ends."""


def lay_faulty(plugin: Path, folder: Path) -> Path:
    """The plugin with a launcher that fails when it is told to, and a mod that does not wait long."""
    copy = folder / "context-editor"
    shutil.copytree(plugin, copy, symlinks=True)
    launcher = copy / "bin" / "context-editor"
    launcher.rename(copy / "bin" / "real")
    launcher.write_text(FAULTY, encoding="utf-8")
    launcher.chmod(0o755)
    (copy / "bin" / "locked.py").write_text(LOCKED, encoding="utf-8")
    (copy / "bin" / "python").symlink_to(copy / ".venv" / "bin" / "python")
    bridge = copy / "hooks" / "mod" / "bridge.ts"
    text, changed = re.subn(
        r"(?<=BRIDGE_TIMEOUT_MS = )[\d_]+", "3_000", bridge.read_text(encoding="utf-8")
    )
    assert changed == 1
    bridge.write_text(text, encoding="utf-8")
    return copy


@pytest.fixture(scope="module")
def faulty_machine(program: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Host:
    faulty = lay_faulty(plugin, tmp_path_factory.mktemp("faulty"))
    return Host(program, tmp_path_factory.mktemp("machine"), plugins=[faulty])


@pytest.fixture(scope="module")
def failed(faulty_machine: Host) -> Edited:
    """One edit, and an apply that fails in every way there is, one turn each; then one that works."""
    script: list[Answer] = [
        say("I count.", seq(1, 900, "toolu_1")),
        call(edit(summarize("toolu_1"), apply="later")),
    ]
    for fault in (*FAULTS, "none"):
        script += [
            say(fault, use("Bash", {"command": f"echo {fault} >fault"}, f"toolu_{fault}")),
            call(edit(apply="turn_end")),
            say(f"status: {fault}"),
        ]
    script += [call(listing(count=0)), say("done")]
    return run_edited(faulty_machine, "go", script, edited=CHOSEN, timeout_s=120)


def around(failed: Edited, fault: str) -> tuple[Body, Body]:
    """The last request before a faulty apply, and the first one after."""
    at = 2 + FAULTS.index(fault) * REQUESTS + REQUESTS - 1
    return failed.bodies[at], failed.bodies[at + 1]


@pytest.mark.parametrize("fault", FAULTS)
def test_scenario_21_after_a_failed_apply_the_conversation_is_the_same_to_the_byte(
    failed: Edited, fault: str
) -> None:
    before, after = around(failed, fault)

    assert_unchanged(before, after)
    assert result_text(after, "toolu_1") == numbers(1, 900)


@pytest.mark.parametrize("fault", FAULTS)
def test_c18_a_failed_apply_is_told_in_one_line_and_the_queue_stays(
    failed: Edited, fault: str
) -> None:
    before, after = around(failed, fault)
    told = [b.text for b in blocks(after)[len(blocks(before)) :] if "nothing was applied" in b.text]

    assert told, shown(after)
    assert "the queue stays" in told[0]
    assert "are applied" not in str(after["messages"][len(before["messages"]) :])


def test_a_failed_apply_makes_one_continuation_and_no_loop(failed: Edited) -> None:
    assert len(failed.bodies) == 2 + (len(FAULTS) + 1) * REQUESTS + 2
    assert failed.run.answers()[-1] == "done"


def test_the_host_never_makes_a_summary_of_its_own_where_an_apply_failed(failed: Edited) -> None:
    assert not [body for body in failed.run.side_bodies if "summar" in str(body["messages"][-1])]


def test_the_queue_is_applied_once_the_fault_is_gone(faulty_machine: Host, failed: Edited) -> None:
    (apply,) = failed.applies

    assert apply.edits == 1
    assert original_in(result_text(apply.after, "toolu_1")).read_text("utf-8") == numbers(1, 900)
    assert "Queued: 0" in answered(failed.last)
    assert len(log_of(faulty_machine, failed.run.session_id)) == 1


# --- where the mod is not there, or not heard ----------------------------------------------------


def lay_without_mod(plugin: Path, folder: Path) -> Path:
    copy = folder / "context-editor"
    shutil.copytree(plugin, copy, symlinks=True)
    path = copy / "hooks" / "hooks.json"
    hooks = json.loads(path.read_text(encoding="utf-8"))
    del hooks["modules"]
    path.write_text(json.dumps(hooks), encoding="utf-8")
    return copy


def lay_unheard(plugin: Path, folder: Path) -> Path:
    """The mod is loaded, but its compaction hook takes no compaction for ours."""
    copy = folder / "context-editor"
    shutil.copytree(plugin, copy, symlinks=True)
    path = copy / "hooks" / "mod" / "register.ts"
    text = path.read_text(encoding="utf-8")
    mark = "(instructions ?? '').startsWith(OWN_COMMAND)"
    assert mark in text
    path.write_text(
        text.replace(mark, "(instructions ?? '') === 'nobody says this'"), encoding="utf-8"
    )
    return copy


def queueing() -> list[Answer]:
    return [
        say("I count.", seq(1, 900, "toolu_1")),
        call(edit(summarize("toolu_1"))),
        say("status: one edit"),
    ]


def test_without_the_mod_edits_wait_and_our_compaction_is_never_answered_by_the_host(
    program: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bare = lay_without_mod(plugin, tmp_path_factory.mktemp("bare"))
    host = Host(program, tmp_path_factory.mktemp("machine"), plugins=[bare])
    queued = run_edited(host, "go", [*queueing(), say("never")], edited=())
    words = "/compact context-editor: apply 1 edit(s)"
    tried = host.run(words, [say("a summary")], resume=queued.run.session_id)
    later = run_edited(host, "and?", [say("later")], edited=(), after=queued)

    assert len(queued.bodies) == 3
    assert "Apply: at resume: mods are off" in answered(queued.last)
    assert tried.bodies == tried.side_bodies == []
    assert_unchanged(queued.last, later.run.bodies[0])


def test_where_the_host_does_not_ask_the_mod_nothing_is_applied_and_the_host_makes_no_summary(
    program: Path, plugin: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    unheard = lay_unheard(plugin, tmp_path_factory.mktemp("unheard"))
    host = Host(program, tmp_path_factory.mktemp("machine"), plugins=[unheard])
    script = [*queueing(), call(listing(count=0)), say("done")]
    run = run_edited(host, "go", script, edited=())
    before, after = run.bodies[2:4]

    assert len(run.bodies) == 5
    assert_unchanged(before, after)
    assert "nothing was applied" in str(after["messages"][-2:])
    assert "Queued: 1 edit(s)" in answered(run.last)
    assert "Apply: at resume: this host keeps mods from answering a compaction" in answered(
        run.last
    )
