"""Whether a person's prompt waits for the running turn to end, as the transcript's queue says."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TAIL_BYTES: Final = 262_144
"""How much of the transcript's end is looked at: a prompt that waits was typed in the turn that ends."""

QUEUE_MARK: Final = b'"queue-operation"'

SERVICE_OPENING: Final = ("<task-notification>", "/compact context-editor:")
"""How queued texts begin that no person typed."""


def person_waits(transcript: Path) -> bool:
    """Whether something was queued and not taken yet. Observed on Claude Code 2.1.332 (docs/host-notes.md)."""
    try:
        with transcript.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            tail = file.read()
    except OSError:
        return False
    waiting: list[str] = []
    for line in tail.splitlines():
        operation = _operation(line) if QUEUE_MARK in line else {}
        content = str(operation.get("content", ""))
        if operation.get("operation") == "enqueue":
            waiting.append(content)
        elif operation and waiting:
            waiting.remove(_meant(content, waiting))
    return any(not words.startswith(SERVICE_OPENING) for words in waiting)


def _meant(content: str, waiting: Sequence[str]) -> str:
    """Which waiting prompt is taken: either row of a pair may lack the words that the other has."""
    if content in waiting:
        return content
    return "" if "" in waiting else waiting[0]


def _operation(line: bytes) -> dict[str, Any]:
    try:
        row: Any = json.loads(line)
    except ValueError:
        return {}
    is_one = isinstance(row, dict) and row.get("type") == "queue-operation"
    return row if is_one else {}
