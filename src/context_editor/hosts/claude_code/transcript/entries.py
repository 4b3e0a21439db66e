"""One stored line of a Claude Code transcript, reduced to what the conversation needs of it."""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from context_editor.hosts.claude_code.transcript.shapes import (
    Raw,
    record_of,
    records_of,
    word_of,
)

Interned: TypeAlias = MutableMapping[str, str]
"""Strings that many lines repeat (session ids, folders), kept once."""

CHAIN_TYPES: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Line types that carry a `uuid` and a `parentUuid`; every other line is bookkeeping of the host.

`progress` lines (releases before 2.1.100) hold nothing that a model reads, but parents lead through
them.
"""

MAX_FACT_CHARS: Final = 500
"""Longest string that is kept of a `toolUseResult`, in characters.

The field repeats the result in the host's own shape (a whole file, a whole output). Facts worth
keeping (paths, line numbers, flags) are short; the text itself stands in the message.
"""

_USER_FACTS: Final = (
    "isMeta",
    "isCompactSummary",
    "origin",
    "pluginPrompt",
    "promptId",
    "promptSource",
    "turnOrigin",
    "turnPosition",
    "rowSource",
    "textNotTyped",
    "fromConnector",
    "toolDenialKind",
    "userFeedback",
    "sourceToolUseID",
)
_SYSTEM_FACTS: Final = ("subtype", "compactMetadata", "isMeta")
_ATTACHMENT_FACTS: Final = ("rendered", "renderedRole", "renderedBesideToolResult")


NO_FACTS: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(slots=True)
class Entry:
    """One line that stands in the tree of the conversation.

    Attributes:
        uuid: The line's own id; the host's handle of the piece.
        parent: The id of the line that it follows; None for a root.
        type: `user`, `assistant`, `system`, `attachment` or `progress`.
        offset: Where the line's JSON begins in the file, in bytes.
        length: How long the JSON is, in bytes, without the line's end.
        index: Its place among all entries of the file, from 0.
        session: The session id that the line names; empty when it names none.
        timestamp: When it was written, in the host's ISO form; empty when unknown, and once the
            content is let go.
        cwd: The folder that the session worked in; empty when unknown.
        is_side: Whether it belongs to a subagent's conversation.
        message_id: The response that an assistant line belongs to; None for every other type.
        facts: The host's facts that a decision needs; without the content. Only those of `system`
            lines stay when the content is let go.
        calls: The ids of the tool calls that an assistant line makes.
        answers: The ids of the calls that a user line holds results of; empty for a prompt.
        content: The message's content, an attachment's payload, or None where the line holds none.
        is_let_go: Whether the content was dropped, as for lines in front of the last boundary and
            for those whose pieces are made: `TranscriptReader.loaded` reads it again.
    """

    uuid: str
    parent: str | None
    type: str
    offset: int
    length: int
    index: int
    session: str
    timestamp: str
    cwd: str
    is_side: bool
    message_id: str | None
    facts: Mapping[str, Any]
    calls: tuple[str, ...]
    answers: tuple[str, ...]
    content: Any
    is_let_go: bool = False

    def forget(self, name: str) -> None:
        """Drop one fact, once who needed it has it."""
        if name in self.facts:
            self.facts = {key: fact for key, fact in self.facts.items() if key != name}

    def let_go(self) -> None:
        """Drop the content and what is told of it, which are most of an entry and stand in the file."""
        self.content, self.timestamp, self.is_let_go = None, "", True
        if self.type != "system":
            self.facts = NO_FACTS

    @property
    def is_boundary(self) -> bool:
        """Whether the conversation starts anew behind this line."""
        return self.type == "system" and self.facts.get("subtype") == "compact_boundary"


def entry_of(raw: Raw, offset: int, length: int, index: int, interned: Interned) -> Entry | None:
    """The entry of a parsed line; None for a line outside the tree.

    A line of a known type without a `uuid` counts as outside: nothing can name it and nothing
    follows it.
    """
    kind, uuid = word_of(raw, "type"), raw.get("uuid")
    if kind not in CHAIN_TYPES or not isinstance(uuid, str):
        return None
    facts, content = _PARTS[kind](raw)
    if "model" in facts:
        facts["model"] = _kept_once(facts["model"], interned)
    is_answer = kind == "assistant"
    return Entry(
        uuid=uuid,
        parent=_text_or_none(raw.get("parentUuid")),
        type=kind,
        offset=offset,
        length=length,
        index=index,
        session=_kept_once(raw.get("sessionId"), interned),
        timestamp=_text_or_none(raw.get("timestamp")) or "",
        cwd=_kept_once(raw.get("cwd"), interned),
        is_side=bool(raw.get("isSidechain") or raw.get("agentId")),
        message_id=_kept_once(facts.pop("id"), interned) if is_answer and "id" in facts else None,
        facts=facts,
        calls=_ids(content, "tool_use", "id") if is_answer else (),
        answers=_ids(content, "tool_result", "tool_use_id") if kind == "user" else (),
        content=content,
    )


def _ids(content: object, kind: str, name: str) -> tuple[str, ...]:
    """The ids of a line's blocks of one kind; an id that is missing counts as empty."""
    return tuple(word_of(block, name) for block in records_of(content) if block.get("type") == kind)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _kept_once(value: object, interned: Interned) -> str:
    return interned.setdefault(value, value) if isinstance(value, str) else ""


def _picked(raw: Raw, names: tuple[str, ...]) -> Raw:
    return {name: raw[name] for name in names if name in raw and raw[name] is not None}


def _user_parts(raw: Raw) -> tuple[Raw, object]:
    facts = _picked(raw, _USER_FACTS)
    if "toolUseResult" in raw:
        facts["structured"] = slimmed(raw["toolUseResult"])
    return facts, record_of(raw.get("message")).get("content")


def _assistant_parts(raw: Raw) -> tuple[Raw, object]:
    message = record_of(raw.get("message"))
    facts = _picked(message, ("id", "model", "usage"))
    if not isinstance(facts.get("id", ""), str):
        del facts["id"]
    if raw.get("isApiErrorMessage"):
        facts["isApiErrorMessage"] = True
    return facts, message.get("content")


def _system_parts(raw: Raw) -> tuple[Raw, object]:
    # Only local command records are content, and not those whose output was for the person alone;
    # stop_hook_summary and turn_duration are the host's own.
    is_sent = raw.get("subtype") == "local_command" and not raw.get("isDisplayOnly")
    return _picked(raw, _SYSTEM_FACTS), raw.get("content") if is_sent else None


def _attachment_parts(raw: Raw) -> tuple[Raw, object]:
    payload = record_of(raw.get("attachment"))
    facts = _picked(raw, _ATTACHMENT_FACTS)
    # Where the sent text is known, the payload repeats it (14 KB for a listing), and a snapshot of
    # the system prompt (57 KB) is never sent from here.
    is_told = "rendered" in facts or payload.get("type") == "prompt_snapshot"
    return facts, slimmed_payload(payload) if is_told else payload


def _no_parts(_raw: Raw) -> tuple[Raw, object]:
    return {}, None


_PARTS: Final[Mapping[str, Callable[[Raw], tuple[Raw, object]]]] = {
    "user": _user_parts,
    "assistant": _assistant_parts,
    "system": _system_parts,
    "attachment": _attachment_parts,
    "progress": _no_parts,
}


_WHOLE_PAYLOADS: Final = frozenset({"queued_command", "hook_additional_context"})


def slimmed_payload(payload: Raw) -> Raw:
    """An attachment's payload without long texts; words whose author must be told stay whole."""
    if word_of(payload, "type") in _WHOLE_PAYLOADS:
        return payload
    return {key: value for key, value in payload.items() if _is_short(value)}


def slimmed(result: object) -> object:
    """A tool's structured result without its long texts; an answer to questions stays whole.

    Keeps scalars, short strings, and one level of nested records.
    """
    if isinstance(result, str):
        return result[:MAX_FACT_CHARS]
    kept: Raw = {}
    for key, value in record_of(result).items():
        if key in {"answers", "annotations", "response"} or _is_short(value):
            kept[key] = value
        elif nested := record_of(value):
            kept[key] = {name: part for name, part in nested.items() if _is_short(part)}
    return kept


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_FACT_CHARS
    return value is None or isinstance(value, bool | int | float)
