"""What the model reads of `attachment` lines.

Since 2.1.3xx the host stores the text that it sends (`rendered`) beside the raw payload. Older
releases store the payload alone, and the text here is then as near as it gives.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import (
    Raw,
    list_of,
    record_of,
    records_of,
    word_of,
    words_of,
)
from context_editor.hosts.claude_code.transcript.words import prompt_text

SILENT_TYPES: Final = frozenset(
    {
        "async_hook_response",
        "command_permissions",
        "deferred_tools_record",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "hook_system_message",
        "prompt_render_point",
        "prompt_snapshot",
        "session_context",
        "structured_output",
        "tool_offer_record",
    }
)
"""Attachments that the host keeps for itself: nothing of them is sent."""

_SPEAKING_HOOKS: Final = frozenset({"SessionStart", "UserPromptSubmit"})
_REMINDER_START: Final = "<system-reminder>\n"
_REMINDER_END: Final = "\n</system-reminder>"
_TEXT_FIELDS: Final = (
    "content",
    "text",
    "snippet",
    "prompt",
    "message",
    "addedBlocks",
    "addedLines",
    "planContent",
    "output",
)
_MAX_DEPTH: Final = 4
"""How deep older payloads nest their texts."""


def payload_of(entry: Entry) -> Raw:
    """The attachment's raw payload; empty when there is none."""
    return record_of(entry.content)


def type_of(entry: Entry) -> str:
    """The attachment's type; empty when it names none."""
    return word_of(payload_of(entry), "type")


def is_rendered(entry: Entry) -> bool:
    """Whether the host stored the text exactly as it is sent."""
    return isinstance(entry.facts.get("rendered"), list)


def is_sent(entry: Entry) -> bool:
    """Whether the model reads anything of the attachment."""
    if is_rendered(entry) or "renderedRole" in entry.facts:
        return True
    kind = type_of(entry)
    if kind == "hook_success":
        payload = payload_of(entry)
        return bool(payload.get("content")) and word_of(payload, "hookEvent") in _SPEAKING_HOOKS
    if kind.endswith("_delta") and not _any_text(payload_of(entry)):
        return False  # nothing was added: the host only notes that nothing is pending any more
    return bool(kind) and kind not in SILENT_TYPES


def attachment_text(entry: Entry) -> str:
    """The words that the model reads, without the reminder tags that the host puts around them.

    Tags are taken off where the host sends the text as a system message: it takes them off there
    itself.
    """
    if not is_rendered(entry):
        return _LEGACY.get(type_of(entry), _any_text)(payload_of(entry))
    texts = [prompt_text(part.get("content")) for part in records_of(entry.facts["rendered"])]
    if entry.facts.get("renderedRole") == "system":
        texts = [bare_reminder(text) for text in texts]
    return "\n\n".join(texts)


def bare_reminder(text: str) -> str:
    """The text without one pair of reminder tags around it."""
    stripped = text.strip()
    if stripped.startswith(_REMINDER_START) and stripped.endswith(_REMINDER_END):
        return stripped[len(_REMINDER_START) : -len(_REMINDER_END)]
    return text


def hook_contexts(entry: Entry) -> tuple[str, ...]:
    """The texts that hooks added here, one for each answer; empty for every other attachment."""
    if type_of(entry) != "hook_additional_context":
        return ()
    content = payload_of(entry).get("content")
    return (content,) if isinstance(content, str) else tuple(words_of(content))


def queued_typed(entry: Entry) -> str | None:
    """The words that a person typed while a turn ran; None for every other attachment."""
    payload = payload_of(entry)
    if type_of(entry) != "queued_command" or payload.get("commandMode", "prompt") != "prompt":
        return None
    if payload.get("isMeta") or payload.get("textNotTyped") or payload.get("fromConnector"):
        return None
    kind = record_of(payload.get("origin")).get("kind")
    if kind not in {None, "human", "voice-call"}:
        return None
    text = prompt_text(payload.get("prompt"))
    return None if text.startswith("<task-notification>") and kind is None else text or None


def _any_text(payload: Mapping[str, Any]) -> str:
    return "\n".join(_texts(payload, _MAX_DEPTH))


def _texts(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth == 0:
        return []
    record = record_of(value)
    named = [record[name] for name in _TEXT_FIELDS if name in record]
    return [text for part in named + list_of(value) for text in _texts(part, depth - 1)]


def _hook_context(payload: Mapping[str, Any]) -> str:
    return f"{payload.get('hookName', '')} hook additional context: {_any_text(payload)}"


def _hook_success(payload: Mapping[str, Any]) -> str:
    return f"{payload.get('hookName', '')} hook success: {payload.get('content', '')}"


def _nested_memory(payload: Mapping[str, Any]) -> str:
    return f"Contents of {payload.get('path', '')}:\n\n{_any_text(payload)}"


def _file(payload: Mapping[str, Any]) -> str:
    file = record_of(record_of(payload.get("content")).get("file"))
    return f"{payload.get('filename', '')}\n{word_of(file, 'content')}".strip()


def _queued(payload: Mapping[str, Any]) -> str:
    return prompt_text(payload.get("prompt"))


_LEGACY: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "file": _file,
    "hook_additional_context": _hook_context,
    "hook_success": _hook_success,
    "nested_memory": _nested_memory,
    "queued_command": _queued,
}
