"""Hooks that need a look, and the mod's bridge, have the running server look."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.glimpses import host_row
from tests.support.transcripts import SESSION, Transcript, call, text

from context_editor.server.calls import Desk
from context_editor.server.sessions import Sessions

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


def is_open(door: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        return asking.connect_ex(str(door)) == 0


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The server, once it listens."""
    command = [sys.executable, "-m", "context_editor.server"]
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT / "src"
    )
    while not is_open(door_of(environment)):
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
        told = b""
        while part := asking.recv(100):
            told += part
        assert told.strip() == b""

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


# --- the mod's bridge ------------------------------------------------------------------------------


@pytest.fixture
def queued(tmp_path: Path, environment: dict[str, str]) -> dict[str, Any]:
    """What the mod says of a session with one edit in its queue, due at the end of the turn."""
    transcript = Transcript()
    transcript.prompt("go")
    transcript.answer(text("I look."), call("Bash", "toolu_1", command="ls"))
    transcript.result("toolu_1", "src/file.py\n" * 400)
    transcript.answer(text("Done."))
    path = transcript.write(tmp_path / f"{SESSION}.jsonl")
    host = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(tmp_path)}
    edit = {"op": "summarize", "tool_use_id": "toolu_1", "text": "A listing."}
    desk = Desk(Sessions(Path(environment["CLAUDE_PLUGIN_DATA"])))
    answer = desk.answer("context_edit", {"edits": [edit], "_host": host})
    assert not answer.is_refusal, answer.text
    rows = [host_row(row) for row in transcript.rows if isinstance(row, dict)]
    session = {"id": SESSION, "transcript": str(path), "cwd": str(tmp_path)}
    return {"session": session, "rows": rows, "isNormal": True, "answer": "Done."}


def bridge(environment: dict[str, str], event: str, given: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOKS / "bridge.py"), event],
        input=json.dumps(given).encode(),
        env=environment,
        capture_output=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def applied(environment: dict[str, str], given: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The mod's questions at the end of a turn, up to the hand-over."""
    return bridge(environment, "turn-end", given), bridge(environment, "compact", given)


def test_the_server_answers_the_mod_as_a_process_of_its_own_would(
    environment: dict[str, str], queued: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    data = Path(environment["CLAUDE_PLUGIN_DATA"])
    kept = data.with_name("kept")
    shutil.copytree(data, kept)
    alone = applied(environment, queued)
    state = data / "sessions" / SESSION / "state.json"
    assert '"intent"' in state.read_text(encoding="utf-8")
    shutil.rmtree(data)
    shutil.copytree(kept, data)
    server = request.getfixturevalue("server")

    at_the_door = applied(environment, queued)

    assert server.poll() is None
    assert at_the_door == alone
    assert alone[1]["edits"] == 1
    assert not (data / "log").exists()


def test_while_the_host_still_writes_the_server_waits_and_answers_others(
    environment: dict[str, str], queued: dict[str, Any], server: subprocess.Popen[bytes]
) -> None:
    assert server.poll() is None
    path = queued["session"]["transcript"]
    prompted = {"session_id": SESSION, "transcript_path": path, "prompt": "go on"}
    applied(environment, queued)
    waiting = subprocess.Popen(
        [sys.executable, "-I", "-S", str(HOOKS / "bridge.py"), "confirm"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with waiting:
        assert waiting.stdin is not None
        waiting.stdin.write(json.dumps(queued).encode())
        waiting.stdin.close()

        hook(environment, "prompt-submit", prompted)

        assert waiting.poll() is None
        assert waiting.stdout is not None
        assert json.loads(waiting.stdout.read()) == {"notice": ""}


def test_what_no_server_is_needed_for_is_answered_by_the_process_itself(
    environment: dict[str, str], queued: dict[str, Any], server: subprocess.Popen[bytes]
) -> None:
    assert server.poll() is None

    assert bridge(environment, "precompute", queued) == {"skip": True}
    assert hook(environment, "session-start", {**queued["session"], "session_id": SESSION}) == {}

    assert not (Path(environment["CLAUDE_PLUGIN_DATA"]) / "log").exists()


def test_a_persons_command_is_answered_by_the_server_unless_the_command_line_is_needed(
    environment: dict[str, str], queued: dict[str, Any], server: subprocess.Popen[bytes]
) -> None:
    assert server.poll() is None

    status = bridge(environment, "command", {**queued, "name": "status", "args": ""})
    health = bridge(environment, "command", {**queued, "name": "doctor", "args": ""})

    assert "Queued: 1 edit(s)" in status["text"]
    assert "Python" in health["text"]
    assert not (Path(environment["CLAUDE_PLUGIN_DATA"]) / "log").exists()


HALF = [b"", b" ", b' {"hookSpecificOutput": {"hookEve', b" {}"]


@pytest.mark.parametrize("half", HALF)
def test_an_answer_that_breaks_off_is_none_and_the_hook_looks_for_itself(
    environment: dict[str, str], given: dict[str, Any], half: bytes
) -> None:
    door = door_of(environment)
    door.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as broken:
        broken.bind(str(door))
        broken.listen()

        def answer() -> None:
            asking, _ = broken.accept()
            with asking:
                while asking.recv(65_536):
                    pass
                asking.sendall(half)

        thread = threading.Thread(target=answer)
        thread.start()
        told = hook(environment, "stop", {**given, "last_assistant_message": f"Done.\n\n{MARKER}"})
        thread.join()

    assert "waiting to be compressed" in told["systemMessage"]
