"""A handoff made ready: what must go along is put in, and what it says is held against the session."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.handoff import (
    Finding,
    HandoffFacts,
    OpenItem,
    checked,
    named_paths,
    standing_instructions,
    with_instructions,
)
from context_editor.core.molt import latest
from context_editor.core.rows import Json, Piece, PieceForm
from context_editor.core.slot import slot_text
from context_editor.engine.view import View

STATE_HEADING: Final = "Items of the state slot, as they stand:"
"""What stands above the items that a handoff takes along (rule H12)."""

_TASK_STARTED: Final = re.compile(r"running in background with ID: ([\w-]+)")
_TASK_CREATED: Final = re.compile(r"Task #(\w+) created")


@dataclass(frozen=True)
class ReadyHandoff:
    """A handoff with everything that goes along.

    Attributes:
        text: Its words.
        instructions: The person's standing instructions of the whole session so far, oldest first.
        findings: What does not agree with the session or the disk.
    """

    text: str
    instructions: tuple[str, ...]
    findings: tuple[Finding, ...]


def ready_handoff(summary: str, view: View, root: Path) -> ReadyHandoff:
    """The handoff with the person's instructions and the state's items, and what to look at again.

    Args:
        summary: The agent's words.
        view: The session.
        root: The project root, from which relative paths count.
    """
    pieces = view.reading.conversation.pieces
    said = tuple(piece.typed for piece in pieces if piece.typed)
    earlier = latest(view.state.molts)
    before = earlier.instructions if earlier else ()
    instructions = standing_instructions(said)
    everything = (*(one for one in before if one not in instructions), *instructions)
    facts = HandoffFacts(
        tuple(_session_texts(view.reading.conversation)),
        said,
        {path: _exists(root, path) for path in named_paths(summary)},
        tuple(open_items(pieces)),
        tuple(running_tasks(pieces)),
    )
    text = with_instructions(summary.strip(), everything)
    items = view.state.work.items
    if items:
        text = f"{text.rstrip()}\n\n{STATE_HEADING}\n{slot_text(items)}"
    return ReadyHandoff(text, everything, checked(summary, facts))


def _session_texts(conversation: Conversation) -> Iterator[str]:
    for piece in conversation.pieces:
        if piece.text:
            yield piece.text
        if piece.call is not None:
            yield f"{piece.call.id} {piece.call.input}"


def _exists(root: Path, path: str) -> bool:
    try:
        return (root / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        # A name that no file can have, or a home folder that nobody has.
        return False


def open_items(pieces: Sequence[Piece]) -> Iterator[OpenItem]:
    """The items of the agent's todo list that are not done, as its newest calls leave it."""
    todos: list[OpenItem] = []
    tasks: dict[str, OpenItem] = {}
    subjects: dict[str, str] = {}
    for piece in pieces:
        given: Mapping[str, Json] = piece.call.input if piece.call else {}
        match piece.call.name if piece.call else "":
            case "TodoWrite":
                todos = list(_todos(given.get("todos")))
            case "TaskCreate" if piece.call:
                subjects[piece.call.id] = str(given.get("subject", ""))
            case "TaskUpdate" if given.get("status") in {"completed", "deleted"}:
                tasks.pop(str(given.get("taskId")), None)
            case _:
                made = _TASK_CREATED.search(piece.text) if piece.call_id in subjects else None
                if made and piece.call_id:
                    tasks[made[1]] = OpenItem(subjects[piece.call_id], f"#{made[1]}")
    yield from todos
    yield from tasks.values()


def _todos(given: Json) -> Iterator[OpenItem]:
    for todo in given if isinstance(given, list) else ():
        if isinstance(todo, dict) and todo.get("status") != "completed":
            yield OpenItem(str(todo.get("content", "")))


def running_tasks(pieces: Sequence[Piece]) -> Iterator[str]:
    """Ids of background tasks that were started and of which no end was told."""
    started: dict[str, None] = {}
    for piece in pieces:
        if piece.form is PieceForm.RESULT:
            started.update(dict.fromkeys(_TASK_STARTED.findall(piece.text)))
        stopped = str(piece.call.input) if piece.call and piece.call.name in _STOPPERS else ""
        ended = piece.text if piece.label == "task-notification" else stopped
        for task_id in [one for one in started if one in ended]:
            del started[task_id]
    yield from started


_STOPPERS: Final = frozenset({"KillShell", "TaskStop"})
