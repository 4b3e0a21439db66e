"""The bridge: bytes of the mod in, bytes for the mod out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.glimpses import GLIMPSE_CHARS, host_row
from tests.support.transcripts import SESSION, Transcript, call, text

from context_editor.hosts.claude_code import bridge
from context_editor.server.calls import Desk
from context_editor.server.sessions import Sessions


def asked(monkeypatch: pytest.MonkeyPatch, event: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the bridge answers."""
    out = io.BytesIO()
    stdin = SimpleNamespace(buffer=io.BytesIO(json.dumps(given).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    assert bridge.main(event, lambda _: "") == 0
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.mark.parametrize("summary", ["A listing of 400 files.", "A listing \ud83d of 400 files."])
def test_rows_cut_within_a_character_and_half_characters_are_applied_like_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summary: str
) -> None:
    transcript = Transcript()
    transcript.prompt(f"{'x' * (GLIMPSE_CHARS - 1)}\U0001f600 please look")
    transcript.answer(text(f"half \ud83d of one {'y' * 80}"), call("Bash", "toolu_1", command="ls"))
    transcript.result("toolu_1", "src/file.py\n" * 400)
    transcript.answer(text("Done."))
    lines = [json.dumps(row) for row in transcript.rows]
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    host = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(tmp_path)}
    edit = {"op": "summarize", "tool_use_id": "toolu_1", "text": summary}
    queued = Desk(Sessions(tmp_path / "data")).answer(
        "context_edit", {"edits": [edit], "_host": host}
    )
    assert not queued.is_refusal, queued.text

    rows = [host_row(row) for row in transcript.rows if isinstance(row, dict)]
    session = {"id": SESSION, "transcript": str(path), "cwd": str(tmp_path)}
    answer = asked(
        monkeypatch,
        "compact",
        {"session": session, "instructions": "context-editor: apply 1 edit(s)", "rows": rows},
    )

    assert answer.get("skip") is None, answer
    assert answer["edits"] == 1
    built = [row for row in answer["rows"] if isinstance(row, dict)]
    assert built[0]["results"][0]["text"].endswith(summary)


def test_an_answer_larger_than_the_host_takes_stands_in_a_file_until_it_was_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = Transcript()
    transcript.prompt("write it")
    content = "\u00e9\U0001f600 line\n" * 400_000
    transcript.answer(text("plan " * 400), call("Write", "toolu_1", content=content))
    transcript.result("toolu_1", "written")
    transcript.answer(text("Done."))
    path = transcript.write(tmp_path / f"{SESSION}.jsonl")
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    host = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(tmp_path)}
    edit = {"op": "rewrite", "index": 2, "text": "The plan was to write it."}
    queued = Desk(Sessions(tmp_path / "data")).answer(
        "context_edit", {"edits": [edit], "_host": host}
    )
    assert not queued.is_refusal, queued.text
    given = {"session": {"id": SESSION, "transcript": str(path), "cwd": str(tmp_path)}}

    rows = [host_row(row) for row in transcript.rows if isinstance(row, dict)]
    answer = asked(monkeypatch, "compact", {**given, "rows": rows})

    raw = Path(answer["file"]).read_bytes()
    assert (len(raw), raw.isascii()) == (answer["bytes"], True)
    (built,) = [row for row in json.loads(raw)["rows"] if isinstance(row, dict)]
    assert built["calls"][0]["input"] == {"content": content}

    monkeypatch.setattr(bridge, "CONFIRM_TRIES", 1)
    asked(monkeypatch, "confirm", given)
    assert not Path(answer["file"]).exists()
