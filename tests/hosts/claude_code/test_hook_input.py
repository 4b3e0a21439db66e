"""Hooks hold against whatever comes in: they answer, end with 0, and write nowhere else."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.transcripts import SESSION

from context_editor.hosts.claude_code import hooks, quick

SURROGATE = "half \ud83d of one"

ODD: dict[str, bytes] = {
    "nothing": b"",
    "no text": b"\xff\xfe{",
    "a list": b"[]",
    "null": b"null",
    "no keys": b"{}",
    "very deep": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "other types": json.dumps(
        {
            "session_id": SESSION,
            "transcript_path": "/nowhere.jsonl",
            "tool_name": 7,
            "tool_input": "words",
            "tool_response": {"a": [1]},
            "prompt": ["x"],
            "last_assistant_message": {"a": 1},
            "custom_instructions": 7,
        }
    ).encode(),
    "half characters": json.dumps(
        {
            "session_id": SESSION,
            "transcript_path": "/nowhere.jsonl",
            "tool_name": "Read",
            "tool_input": {"file_path": f"{SURROGATE}\x00"},
            "tool_response": SURROGATE,
            "prompt": SURROGATE,
            "last_assistant_message": f"{SURROGATE}\n\n[context-editor: optimize]",
        }
    ).encode(),
}


@pytest.mark.parametrize("event", list(hooks.HANDLERS))
@pytest.mark.parametrize("raw", ODD.values(), ids=ODD.keys())
def test_a_hook_ends_with_0_whatever_comes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, raw: bytes
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    out = io.BytesIO()

    assert hooks.run(event, io.BytesIO(raw), out) == 0

    answer: dict[str, Any] = json.loads(out.getvalue() or b"{}")
    assert set(answer) <= {"systemMessage"}


@pytest.mark.parametrize("name", ["../../elsewhere", "a/b", "..", "", "a\x00b"])
@pytest.mark.parametrize("event", list(hooks.HANDLERS))
def test_a_session_id_leads_no_hook_out_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: str, name: str
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "a" / "b" / "data"))
    given = {"session_id": name, "transcript_path": "/nowhere.jsonl", "tool_name": "Bash"}

    assert hooks.run(event, io.BytesIO(json.dumps(given).encode()), io.BytesIO()) == 0

    left = {p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()}
    assert left <= {Path("a/b/data/log/hooks.log")}


def test_a_call_on_a_file_that_cannot_exist_is_noted_like_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path))

    assert quick.answered("post-tool-use", json.loads(ODD["half characters"])) == {}

    lines = (tmp_path / "sessions" / SESSION / "tools.jsonl").read_bytes().splitlines()
    assert json.loads(lines[0])["mtime"] == 0


@pytest.mark.parametrize(
    ("tool", "asked", "is_allowed"),
    [
        ("Read", {"file_path": "IN"}, True),
        ("Grep", {"path": "IN", "pattern": "x"}, True),
        ("Grep", {"path": "/etc", "file_path": "IN", "pattern": "x"}, False),
        ("Read", {"file_path": "/etc/passwd", "path": "IN"}, False),
        ("Read", {"file_path": "IN/../../../state.json"}, False),
        ("Write", {"file_path": "IN"}, False),
    ],
)
def test_only_a_read_of_the_archive_itself_raises_no_prompt(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    asked: dict[str, str],
    *,
    is_allowed: bool,
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path))
    inside = tmp_path / "sessions" / SESSION / "archive" / "originals"
    inside.mkdir(parents=True)
    given = {
        "session_id": SESSION,
        "tool_name": tool,
        "tool_input": {key: value.replace("IN", str(inside)) for key, value in asked.items()},
    }

    assert bool(quick.answered("pre-tool-use", given)) is is_allowed
