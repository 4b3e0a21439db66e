"""Lines of any shape: nothing in them may stop a session from being read (rule A14)."""

import json
import random
from pathlib import Path
from typing import Any, Final, cast

import pytest
from tests.support.transcripts import Transcript, call, image, text, thinking

from context_editor.core.assemble import OwnFacts
from context_editor.hosts.claude_code.resume import make_resumable
from context_editor.hosts.claude_code.session import ClaudeSession

ODD: Final[list[Any]] = [
    None,
    True,
    -1,
    1.5,
    "",
    "x",
    "\ud83d",
    "\x00",
    [],
    {},
    [None],
    [[]],
    {"a": 1},
    [{"type": None}],
    [{"type": ["text"]}],
    {"type": "tool_use"},
]

CALLS: Final[dict[str, dict[str, Any]]] = {
    "Read": {"file_path": "/a.py"},
    "Agent": {"prompt": "x", "description": "d"},
    "TodoWrite": {"todos": [{"content": "c", "status": "pending"}]},
    "AskUserQuestion": {"questions": [{"question": "q"}]},
    "Edit": {"file_path": "/a.py", "old_string": "a", "new_string": "b"},
}


def session() -> Transcript:
    """A session with a line of every kind, an apply in the middle."""
    transcript = Transcript()
    transcript.prompt([text("look"), image()])
    transcript.attachment("skill_listing", "- a skill")
    ids = {name: f"toolu_{name}" for name in CALLS}
    calls = [call(name, ids[name], **arguments) for name, arguments in CALLS.items()]
    blocks = transcript.answer(thinking(), text("I look."), *calls)
    result = {
        "file": {"filePath": "/a.py", "numLines": 3, "startLine": 1, "totalLines": 3},
        "answers": {"q": "yes"},
        "structuredPatch": [{"lines": ["a"]}],
    }
    results = [transcript.result(ids[name], "words", toolUseResult=result) for name in CALLS]
    transcript.queued("stop that")
    transcript.plugin_prompt("go on")
    transcript.boundary()
    for row in (*blocks, *results):
        transcript.kept(row)
    transcript.compact_records("context-editor: apply 1 edit(s)")
    transcript.answer(text("Done."))
    return transcript


def changed(chosen: random.Random, value: object) -> object:
    """The value with one thing in it of another shape."""
    if isinstance(value, dict) and value and chosen.random() < 0.8:
        record = cast("dict[str, object]", value)
        key = chosen.choice(list(record))
        return {**record, key: changed(chosen, record[key])}
    if isinstance(value, list) and value and chosen.random() < 0.8:
        items = cast("list[object]", value)
        at = chosen.randrange(len(items))
        return [*items[:at], changed(chosen, items[at]), *items[at + 1 :]]
    return chosen.choice(ODD)


@pytest.mark.parametrize("seed", range(200))
def test_a14_a_session_is_read_and_made_resumable_or_left_whatever_shape_a_line_has(
    tmp_path: Path, seed: int
) -> None:
    chosen = random.Random(seed)  # noqa: S311 (a test that repeats)
    rows: list[object] = list(session().rows)
    for _ in range(3):
        at = chosen.randrange(len(rows))
        rows[at] = changed(chosen, rows[at])
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="ascii")
    size = path.stat().st_size

    ClaudeSession(path, json.loads).read(OwnFacts())
    make_resumable(path)

    assert path.stat().st_size == size
