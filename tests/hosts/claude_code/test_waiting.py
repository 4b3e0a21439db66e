"""Whether a person's prompt waits, by the queue rows of a transcript."""

from pathlib import Path

import pytest
from tests.support.transcripts import Transcript

from context_editor.hosts.claude_code.waiting import person_waits

WORDS = "do not push"
OWN = "/compact context-editor: apply 1 edit(s)"


def queue(*rows: tuple[str, str | None]) -> Transcript:
    session = Transcript()
    for operation, content in rows:
        held = {} if content is None else {"content": content}
        session.rows.append({"type": "queue-operation", "operation": operation, **held})
    return session


@pytest.mark.parametrize(
    ("rows", "is_waiting"),
    [
        pytest.param([("enqueue", WORDS)], True, id="typed, and not taken"),
        pytest.param([("enqueue", WORDS), ("dequeue", None)], False, id="taken without its words"),
        pytest.param([("enqueue", WORDS), ("remove", WORDS)], False, id="taken with its words"),
        pytest.param([("enqueue", None), ("remove", WORDS)], False, id="words only where taken"),
        pytest.param([("enqueue", None), ("dequeue", None)], False, id="no words at all"),
        pytest.param(
            [("enqueue", None), ("dequeue", None), ("enqueue", None), ("remove", WORDS)],
            False,
            id="a prompt, then words typed meanwhile",
        ),
        pytest.param([("enqueue", OWN)], False, id="a command of ours"),
        pytest.param(
            [("enqueue", OWN), ("enqueue", WORDS), ("dequeue", None)],
            True,
            id="a prompt behind a command of ours",
        ),
        pytest.param([], False, id="nothing"),
    ],
)
def test_c8_a_prompt_waits_until_it_is_taken(
    tmp_path: Path, rows: list[tuple[str, str | None]], *, is_waiting: bool
) -> None:
    path = queue(*rows).write(tmp_path / "session.jsonl")

    assert person_waits(path) is is_waiting


def test_c8_without_a_transcript_nobody_waits(tmp_path: Path) -> None:
    assert not person_waits(tmp_path / "missing.jsonl")
