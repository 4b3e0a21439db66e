"""Rows that an apply wrote again, made safe to resume."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.transcripts import Transcript, call, text, thinking

from context_editor.hosts.claude_code import resume


def applied(path: Path) -> bytes:
    """A session in which an apply kept two answers and a result."""
    transcript = Transcript()
    transcript.prompt("look")
    first = transcript.answer(thinking(), text("I look."), call("Bash", "toolu_1", command="ls"))
    result = transcript.result("toolu_1", "a b c")
    second = transcript.answer(thinking(), text("Done."))
    transcript.boundary()
    for row in (*first, result, *second):
        transcript.kept(row)
    return transcript.write(path).read_bytes()


def answers(path: Path) -> list[str]:
    """The message ids behind the boundary."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_bytes().splitlines()]
    start = next(at for at, row in enumerate(rows) if row.get("subtype") == "compact_boundary")
    return [row["message"]["id"] for row in rows[start:] if row["type"] == "assistant"]


@pytest.mark.parametrize("done", range(7))
def test_a_patch_that_a_crash_cut_off_is_finished_as_it_was_begun(
    tmp_path: Path, done: int
) -> None:
    path = tmp_path / "s.jsonl"
    before = applied(path).splitlines(keepends=True)
    assert resume.make_resumable(path).reason == ""
    whole = path.read_bytes().splitlines(keepends=True)
    changed = [at for at, line in enumerate(whole) if line != before[at]]
    kept = changed[:done]
    path.write_bytes(b"".join(whole[at] if at in kept else line for at, line in enumerate(before)))

    assert resume.make_resumable(path).reason == ""

    assert path.read_bytes() == b"".join(whole)
    assert len(set(answers(path))) == 2
