"""Live entries as the pieces of a conversation."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict

from context_editor.core.rows import Call, Json, Piece, PieceForm
from context_editor.hosts.claude_code.transcript.answers import typed_in_result
from context_editor.hosts.claude_code.transcript.attachments import (
    attachment_text,
    hook_contexts,
    is_rendered,
    is_sent,
    payload_of,
    queued_typed,
    type_of,
)
from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.media import media_in, media_of_file
from context_editor.hosts.claude_code.transcript.shapes import Raw, record_of, records_of, word_of
from context_editor.hosts.claude_code.transcript.source import source_label
from context_editor.hosts.claude_code.transcript.words import (
    LABELS,
    PLUGIN_NAME,
    Source,
    bash_typed,
    command_typed,
    is_own_compact,
    pasted_parts,
    plugin_of,
    prompt_text,
    source_of,
    typed_text,
)

API_ERROR_LABEL: Final = "api-error"
"""The label of an answer that the host wrote in the model's place."""


_ANSWER_FORMS: Final[Mapping[str, PieceForm]] = {
    "tool_use": PieceForm.CALL,
    "thinking": PieceForm.THINKING,
    "redacted_thinking": PieceForm.THINKING,
}
_PLAIN_BLOCKS: Final = frozenset({"text", *_ANSWER_FORMS})


class _Common(TypedDict):
    handle: str
    position_s: float
    turn: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the pieces of one entry depend on beside the entry.

    Attributes:
        turn: The turn that the entry belongs to.
        tools: The tool's name of every call, by the call's id.
        own_compacts: The prompt ids of `/compact` commands that this product ran.
    """

    turn: int
    tools: Mapping[str, str]
    own_compacts: Collection[str] = ()


def pieces_of(entry: Entry, around: Surroundings) -> tuple[Piece, ...]:
    """The pieces of one entry; empty for one that the model reads nothing of.

    Almost every stored line is one piece. The blocks of a line that holds several (older releases,
    other programs) are a piece each, and share the line's handle.
    """
    common = _Common(handle=entry.uuid, position_s=seconds_of(entry.timestamp), turn=around.turn)
    match entry.type:
        case "assistant":
            return tuple(_answer_pieces(entry, common))
        case "user":
            return tuple(_user_pieces(entry, around, common))
        case "attachment":
            return _attachment_pieces(entry, common)
        case "system":
            return _command_pieces(entry, around, common)
        case _:
            return ()


def seconds_of(timestamp: str) -> float:
    """An ISO time in seconds since the epoch, UTC; 0 when it is none."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0


def _answer_pieces(entry: Entry, common: _Common) -> Iterator[Piece]:
    content = entry.content
    text = [{"type": "text", "text": content}] if isinstance(content, str) else []
    for block in text or records_of(content):
        yield _answer_piece(block, entry, common)


def _answer_piece(block: Mapping[str, Any], entry: Entry, common: _Common) -> Piece:
    kind = block.get("type")
    form = _ANSWER_FORMS.get(str(kind), PieceForm.TEXT)
    call = _call(block) if form is PieceForm.CALL else None
    return Piece(
        form=form,
        role="assistant",
        text=_answer_text(block),
        response=entry.message_id or entry.uuid,
        call=call,
        label=source_label(call, entry.cwd) if call else _answer_label(entry, str(kind)),
        signature_chars=len(word_of(block, "signature") or word_of(block, "data")),
        model=str(entry.facts.get("model") or ""),
        cwd=entry.cwd if call else "",
        **common,
    )


def _answer_label(entry: Entry, kind: str) -> str:
    if "isApiErrorMessage" in entry.facts:
        return API_ERROR_LABEL
    return "" if kind in _PLAIN_BLOCKS else kind


def _answer_text(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return word_of(block, "text")
        case "thinking":
            return word_of(block, "thinking")
        case "tool_use" | "redacted_thinking":
            return ""
        case _:
            # Calls that the API ran by itself stand with their results inside the answer.
            return json.dumps(block, ensure_ascii=False)


def _call(block: Mapping[str, Any]) -> Call:
    arguments = record_of(block.get("input"))
    return Call(id=word_of(block, "id"), name=word_of(block, "name"), input=arguments)


def _user_pieces(entry: Entry, around: Surroundings, common: _Common) -> Iterator[Piece]:
    blocks = records_of(entry.content)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if not results:
        yield _prompt_piece(entry, around, common)
        return
    beside = [block for block in blocks if block.get("type") != "tool_result"]
    for nth, block in enumerate(results):
        is_last = nth == len(results) - 1
        yield _result_piece(entry, block, beside if is_last else [], around, common)


def _result_piece(
    entry: Entry,
    block: Mapping[str, Any],
    beside: Sequence[Raw],
    around: Surroundings,
    common: _Common,
) -> Piece:
    call_id = word_of(block, "tool_use_id")
    text = result_text(block.get("content"))
    typed = typed_in_result(entry, block, text, around.tools.get(call_id, ""))
    carried = prompt_text(list(beside))
    extra: dict[str, Json] = {}
    structured = entry.facts.get("structured")
    if structured is not None:
        extra["structured"] = structured
    if carried:
        extra["beside"] = carried
    return Piece(
        form=PieceForm.RESULT,
        role="user",
        text="\n\n".join(part for part in (text, carried) if part),
        call_id=call_id,
        is_error=block.get("is_error") is True,
        media=media_in(records_of(block.get("content"))) + media_in(beside),
        typed=typed,
        extra=extra,
        **common,
    )


def result_text(content: object) -> str:
    """The text of a tool result; tools that a search named are words of it too."""
    if isinstance(content, str):
        return content
    fields = {"text": "text", "tool_reference": "tool_name"}
    return "\n".join(
        word_of(block, fields[word_of(block, "type")])
        for block in records_of(content)
        if word_of(block, "type") in fields
    )


def _prompt_piece(entry: Entry, around: Surroundings, common: _Common) -> Piece:
    source, text = source_of(entry), prompt_text(entry.content)
    plugin = plugin_of(entry)
    extra: dict[str, Json] = {"plugin": plugin} if plugin else {}
    return Piece(
        form=PieceForm.ATTACHMENT if is_riding(entry) else PieceForm.PROMPT,
        role="user",
        text=text,
        media=media_in(records_of(entry.content)),
        label=LABELS[source],
        typed=typed_in_prompt(entry, source, text),
        pasted=pasted_parts(text),
        is_ours=plugin == PLUGIN_NAME or _is_of_own_compact(entry, source, around),
        extra=extra,
        **common,
    )


def is_riding(entry: Entry) -> bool:
    """Whether a prompt line hangs behind the line in front of it.

    Observed on Claude Code 2.1.332: a compaction hands over no `isMeta` and no `system` line; they
    stay with the line in front where that is kept, and are gone where it is not.
    """
    return entry.type == "system" or bool(entry.facts.get("isMeta"))


def typed_in_prompt(entry: Entry, source: Source, text: str) -> str | None:
    """The words that a person typed in a prompt; None where nobody did.

    A prompt that a plugin's compaction wrote anew counts as typed as a whole, since nothing tells
    whose it is.
    """
    match source:
        case Source.PERSON:
            return typed_text(entry.content)
        case Source.REBUILT:
            return text
        case Source.BASH:
            return bash_typed(text)
        case Source.COMMAND | Source.COMPACT:
            return None if is_own_compact(entry, text) else command_typed(text)
        case _:
            return None


def _is_of_own_compact(entry: Entry, source: Source, around: Surroundings) -> bool:
    if source is Source.COMPACT or source is Source.COMMAND:
        return is_own_compact(entry, prompt_text(entry.content))
    if source is Source.CAVEAT or source is Source.OUTPUT:
        return word_of(entry.facts, "promptId") in around.own_compacts
    return False


def _attachment_pieces(entry: Entry, common: _Common) -> tuple[Piece, ...]:
    if not is_sent(entry):
        return ()
    kind = type_of(entry)
    payload = payload_of(entry)
    extra: dict[str, Json] = {"rendered_known": is_rendered(entry)}
    contexts = hook_contexts(entry)
    if contexts:
        extra["contexts"] = contexts
    extra.update(_names_of(payload))
    role = "system" if entry.facts.get("renderedRole") == "system" else "user"
    return (
        Piece(
            form=PieceForm.ATTACHMENT,
            role="system" if role == "system" else "user",
            text=attachment_text(entry),
            media=media_of_file(payload) + media_in(records_of(payload.get("prompt"))),
            label=kind,
            typed=queued_typed(entry),
            extra=extra,
            **common,
        ),
    )


def _names_of(payload: Mapping[str, Any]) -> dict[str, Json]:
    """The hook or the file that an attachment is of."""
    names: dict[str, Json] = {}
    hook, path = payload.get("hookName"), payload.get("path") or payload.get("filename")
    if isinstance(hook, str):
        names["hookName"] = hook
    if isinstance(path, str):
        names["path"] = path
    return names


def _command_pieces(entry: Entry, around: Surroundings, common: _Common) -> tuple[Piece, ...]:
    """A local command's record or output, as recent releases store them."""
    is_sent = isinstance(entry.content, str)
    return (_prompt_piece(entry, around, common),) if is_sent else ()
