"""`edit`, `restore` and `apply`: queueing, and the edited copy that takes the queue in."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from context_editor.cli.choosing import Chosen, chosen
from context_editor.cli.output import say, say_json
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.copy import write_edited_copy
from context_editor.server.context_edit import TOOL, EditInput, call_of
from context_editor.server.refusals import words_of


def edit(asked: argparse.Namespace) -> int:
    """Queue the edits of a file; it holds what a `context_edit` call would."""
    call = call_of(_input_of(asked.file))
    session = chosen(asked.session, asked.data)
    say(session.engine().edit(call))
    return 0


def _input_of(file: str) -> EditInput:
    try:
        given: Any = json.loads(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())
    except ValueError as error:
        msg = f"{file} is not JSON: {error}"
        raise RefusedError(msg) from error
    try:
        return EditInput.model_validate(given)
    except ValidationError as error:
        raise RefusedError(words_of(file, error, TOOL.schema)) from error


def restore(asked: argparse.Namespace) -> int:
    """Queue bringing the original of a replacement back."""
    session = chosen(asked.session, asked.data)
    say(session.engine().edit(EditCall((EditRequest("restore", id=asked.id),))))
    return 0


def apply(asked: argparse.Namespace) -> int:
    """Write an edited copy of a session; the session itself stays as it is."""
    return applied_copy(chosen(asked.session, asked.data), is_json=asked.json)


def applied_copy(session: Chosen, before: str = "", *, is_json: bool = False) -> int:
    """Write the edited copy of a session, and say how to go on with it.

    Args:
        session: The session; its queue is what the copy takes in.
        before: What is said first.
        is_json: Whether to print JSON.
    """
    copy = write_edited_copy(session.engine())
    if is_json:
        say_json(
            {
                "session": copy.id,
                "transcript": str(copy.transcript),
                "original": session.ref.id,
                "report": copy.report,
            }
        )
        return 0
    say("\n".join(filter(None, (before, _applied_words(session, copy.id, copy.report)))))
    return 0


def _applied_words(session: Chosen, copy_id: str, report: str) -> str:
    return "\n".join(
        (
            report,
            f"The edited conversation is session {copy_id}; {session.ref.id} stays as it is.",
            "To go on with it:",
            f"  claude --resume {copy_id}",
        )
    )
