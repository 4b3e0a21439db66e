"""A person's words in tool results: answers, reasons of a refusal, remarks on an approval."""

from collections.abc import Mapping
from typing import Any, Final

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import (
    record_of,
    records_of,
    word_of,
    words_of,
)
from context_editor.hosts.claude_code.transcript.words import is_rebuilt, typed_text

QUESTION_TOOL: Final = "AskUserQuestion"

_REFUSAL_REASONS: Final = (
    "To tell you how to proceed, the user said:\n",
    "the user said:\n",
    "The user provided the following reason for the rejection:",
)
_REFUSAL_START: Final = "The user doesn't want to proceed with this tool use."
_ANSWER_STARTS: Final = (
    "The user answered: ",
    "The user responded: ",
    "Your questions have been answered: ",
    "User has answered your questions: ",
)
_HOST_STARTS: Final = ("<system-reminder>", "[Request interrupted by user")
_LATER_NOTE: Final = "\n\nNote: The user's next message may contain a correction or preference."


def typed_in_result(
    entry: Entry, block: Mapping[str, Any], text: str, tool_name: str
) -> str | None:
    """The words of a person in a tool result; None where no person speaks.

    Args:
        entry: The line that holds the result.
        block: The result's block.
        text: The result's text.
        tool_name: The tool that was called; empty when the call is unknown.
    """
    refusal = _refusal(entry, block, text)
    if refusal:
        return refusal
    if tool_name == QUESTION_TOOL and not block.get("is_error"):
        return _answer(entry, text)
    return _remark(entry)


def _refusal(entry: Entry, block: Mapping[str, Any], text: str) -> str | None:
    feedback = entry.facts.get("userFeedback")
    if isinstance(feedback, str) and feedback.strip():
        return feedback
    if not block.get("is_error") or not text.startswith(_REFUSAL_START):
        return None
    for mark in _REFUSAL_REASONS:
        _, found, reason = text.partition(mark)
        if found and reason.strip():
            return reason.partition(_LATER_NOTE)[0].strip()
    return None


def _answer(entry: Entry, text: str) -> str | None:
    structured = record_of(entry.facts.get("structured"))
    words = [*_values(structured.get("answers")), *_notes(structured.get("annotations"))]
    response = word_of(structured, "response")
    if response.strip():
        words.append(response)
    # A compaction by a plugin empties the structured result, and older releases had other shapes.
    by_text = text if text.startswith(_ANSWER_STARTS) else None
    return "\n".join(words) or by_text


def _values(answers: object) -> list[str]:
    values: list[str] = []
    for answer in record_of(answers).values():
        values += [answer] if isinstance(answer, str) else words_of(answer)
    return [value for value in values if value]


def _notes(annotations: object) -> list[str]:
    notes = [word_of(record_of(note), "notes") for note in record_of(annotations).values()]
    return [note for note in notes if note]


def _remark(entry: Entry) -> str | None:
    """What a person wrote when approving the call: a text block beside the result.

    A line that a compaction wrote anew may carry other words there, so that only the recorded ones
    count.
    """
    if is_rebuilt(entry):
        return None
    beside = [block for block in records_of(entry.content) if block.get("type") == "text"]
    text = typed_text(beside) if beside else ""
    return text if text.strip() and not text.lstrip().startswith(_HOST_STARTS) else None
