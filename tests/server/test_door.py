"""Hooks that need a look have the running server look."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.transcripts import SESSION, Transcript, text

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / "hooks"
MARKER = "[context-editor: optimize]"

pytestmark = pytest.mark.process


@pytest.fixture
def given(tmp_path: Path) -> dict[str, Any]:
    """What the host says of a session with one turn."""
    transcript = Transcript()
    transcript.prompt("go")
    transcript.answer(text("A step."))
    transcript.answer(text(f"Done.\n\n{MARKER}"))
    path = transcript.write(tmp_path / f"{SESSION}.jsonl")
    return {"session_id": SESSION, "transcript_path": str(path)}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "CLAUDE_PLUGIN_DATA": str(tmp_path / "d"), "CLAUDE_PID": str(os.getpid())}


def door_of(environment: dict[str, str]) -> Path:
    return Path(environment["CLAUDE_PLUGIN_DATA"]) / "hosts" / f"{environment['CLAUDE_PID']}.sock"


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The server, once it listens."""
    command = [sys.executable, "-m", "context_editor.server"]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT / "src"
    )
    while not door_of(environment).exists():
        assert process.poll() is None
        time.sleep(0.01)
    yield process
    process.communicate(b"", timeout=10)


def hook(environment: dict[str, str], event: str, given: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOKS / f"{event.replace('-', '_')}.py")],
        input=json.dumps(given).encode(),
        env=environment,
        capture_output=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout or b"{}")
    return answer


def test_a_marker_is_looked_at_by_the_server_and_the_next_prompt_names_the_block_once(
    server: subprocess.Popen[bytes], environment: dict[str, str], given: dict[str, Any]
) -> None:
    assert server.poll() is None

    told = hook(environment, "stop", {**given, "last_assistant_message": f"Done.\n\n{MARKER}"})
    prompted = [hook(environment, "prompt-submit", {**given, "prompt": "go on"}) for _ in range(2)]

    assert told["systemMessage"].endswith('waiting to be compressed: "start" #1..#2')
    context = prompted[0]["hookSpecificOutput"]["additionalContext"]
    assert 'waiting block "start" #1..#2' in context
    assert prompted[1] == {}


def test_the_door_is_private_and_goes_with_the_server(
    server: subprocess.Popen[bytes], environment: dict[str, str]
) -> None:
    door = door_of(environment)
    assert door.stat().st_mode & 0o077 == 0
    assert door.parent.stat().st_mode & 0o077 == 0

    server.communicate(b"", timeout=10)

    assert not door.exists()


def test_a_question_that_is_none_is_logged_and_gets_no_answer(
    server: subprocess.Popen[bytes], environment: dict[str, str], given: dict[str, Any]
) -> None:
    assert server.poll() is None
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(str(door_of(environment)))
        asking.sendall(b"no such event\n" + json.dumps(given).encode())
        asking.shutdown(socket.SHUT_WR)
        assert asking.recv(100) == b""

    log = Path(environment["CLAUDE_PLUGIN_DATA"]) / "log" / "server.log"
    assert "a hook at the door failed" in log.read_text(encoding="utf-8")


def test_without_a_server_the_hook_looks_for_itself(
    environment: dict[str, str], given: dict[str, Any]
) -> None:
    door = door_of(environment)
    door.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(door))

    told = hook(environment, "stop", {**given, "last_assistant_message": f"Done.\n\n{MARKER}"})

    assert "waiting to be compressed" in told["systemMessage"]
