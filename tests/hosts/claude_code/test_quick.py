"""Hooks as their host starts them: what needs no look costs little, what needs one gets it once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.transcripts import SESSION, Transcript, call, text

from context_editor.hosts.claude_code.meter import context_tokens

ROOT = Path(__file__).resolve().parents[3]
HOOKS = ROOT / "hooks"
DEAR = {"typing", "pathlib", "dataclasses", "traceback", "filelock", "site"}

pytestmark = pytest.mark.process


def hook(data: Path, event: str, given: dict[str, Any]) -> dict[str, Any]:
    """A hook's answer, by its own process."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOKS / f"{event.replace('-', '_')}.py")],
        input=json.dumps(given).encode(),
        env={**os.environ, "CLAUDE_PLUGIN_DATA": str(data), "CLAUDE_PID": str(os.getpid())},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    answer: dict[str, Any] = json.loads(done.stdout or b"{}")
    return answer


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """What the host says of a session with one turn."""
    transcript = Transcript()
    transcript.prompt("go")
    transcript.answer(text("done"))
    path = transcript.write(tmp_path / f"{SESSION}.jsonl")
    return {"session_id": SESSION, "transcript_path": str(path)}


def used(given: dict[str, Any], chars: int) -> dict[str, Any]:
    return {
        **given,
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": {"command": "make"},
        "tool_response": "x" * chars,
    }


def test_a_hook_imports_nothing_that_costs_more_than_the_interpreter() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); "
        "import context_editor.hosts.claude_code.quick; print(*sys.modules)"
    )

    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True)

    assert set(done.stdout.decode().split()) & DEAR == set()


def test_a_tool_call_is_noted_in_one_private_line_and_answered_with_nothing(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    assert hook(tmp_path, "post-tool-use", used(given, 400)) == {}

    log = tmp_path / "sessions" / SESSION / "tools.jsonl"
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["result_chars"] == 400
    assert log.stat().st_mode & 0o077 == 0


def test_a_subagents_tool_call_is_not_noted(tmp_path: Path, given: dict[str, Any]) -> None:
    assert hook(tmp_path, "post-tool-use", {**used(given, 400), "agent_id": "agent-1"}) == {}

    assert not (tmp_path / "sessions").exists()


def test_a_heavy_turn_is_looked_at_once_by_the_next_prompt(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    hook(tmp_path, "post-tool-use", used(given, 90_000))
    folder = tmp_path / "sessions" / SESSION
    assert not (folder / "state.json").exists()

    hook(tmp_path, "prompt-submit", {**given, "prompt": "go on"})

    assert (folder / "state.json").exists()
    (folder / "state.json").unlink()
    hook(tmp_path, "prompt-submit", {**given, "prompt": "go on"})
    assert not (folder / "state.json").exists()


def test_our_own_tool_is_allowed_and_told_the_session(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    name = "mcp__plugin_context-editor_editor__context_list"
    asked = {"count": 3, "_host": {"session_id": "another"}}

    answer = hook(tmp_path, "pre-tool-use", {**given, "tool_name": name, "tool_input": asked})

    decided = answer["hookSpecificOutput"]
    assert decided["permissionDecision"] == "allow"
    assert decided["updatedInput"] == {"count": 3, "_host": given}


def test_a_read_below_the_sessions_archive_is_allowed_and_one_that_leads_out_of_it_is_not(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    archive = tmp_path / "sessions" / SESSION / "archive"
    archive.mkdir(parents=True)
    (archive / "out").symlink_to(tmp_path)

    def decided(path: Path) -> dict[str, Any]:
        asked = {"tool_name": "Read", "tool_input": {"file_path": str(path)}}
        return hook(tmp_path, "pre-tool-use", {**given, **asked})

    assert decided(archive / "c1.txt")["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert decided(archive / "out" / "secret") == {}
    assert decided(tmp_path / "archive" / "c1.txt") == {}


def test_a_fault_is_told_in_one_line_and_logged(tmp_path: Path) -> None:
    answer = hook(tmp_path, "post-tool-use", {"tool_name": "Bash"})

    assert "failed in its post-tool-use hook" in answer["systemMessage"]
    log = (tmp_path / "log" / "hooks.log").read_text(encoding="utf-8")
    assert "KeyError: 'session_id'" in log


def test_f4_the_size_is_read_off_the_last_usage_behind_the_long_results_that_follow_it(
    tmp_path: Path,
) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(
        call("Bash", "toolu_1", command="cat log"), usage={"input_tokens": 3, "output_tokens": 9}
    )
    session.result("toolu_1", "x" * 100_000)

    size = context_tokens(str(session.write(tmp_path / f"{SESSION}.jsonl")))

    assert size > 12
