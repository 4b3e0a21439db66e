"""What tests ask of request bodies: the same prefix, a legal form, nothing lost. Pure.

A body is a Messages API request, parsed. Cache marks (`cache_control`) never count: the host moves
them from request to request, and they are no part of what the model reads.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, cast

Body = Mapping[str, Any]

OWN_TOOL: Final = re.compile(r"(^|_)context_(list|edit|tag|note|molt|manual)$")
"""The plugin's own tools, whatever server prefix the host gives them."""

OWN_TEXT: Final = re.compile(
    r"(UserPromptSubmit hook additional context: )?(\[context-editor|context-editor:)"
    r"|<command-name>/compact</command-name>"
    r"|<local-command-(caveat|stdout)>"
    r"|The context-editor plugin sent a message:"
)
"""How a service row begins: the two prefixes, and what the host records of our `/compact`."""

_FIRST_PROMPT_PRINT: Final = re.compile(r"(?<=cc_version=\d\.\d\.)(\d+)\.\w+(?=;)")
"""Stands in the host's own line of the system prompt. Observed on Claude Code 2.1.332."""

_REMINDER: Final = re.compile(r"</?system-reminder>")


@dataclass(frozen=True, slots=True)
class Block:
    """One content block of a request.

    Attributes:
        message: The number of its message in the body, from 0.
        role: Its message's role.
        kind: The block's `type`.
        call_id: The tool call it is or answers; empty for every other kind.
        name: The tool called; empty for every other kind.
        text: The words it holds: the text, the thought, the call's input as JSON, or the texts of
            a result.
        media: A digest of each image or document in it, in order.
        is_error: Whether it is a result that the tool marked as an error.
    """

    message: int
    role: str
    kind: str
    call_id: str = ""
    name: str = ""
    text: str = ""
    media: tuple[str, ...] = ()
    is_error: bool = False

    @property
    def what(self) -> tuple[object, ...]:
        """The block apart from where it stands."""
        return (self.role, self.kind, self.call_id, self.name, self.text, self.media, self.is_error)

    def __str__(self) -> str:
        label = " ".join(part for part in (self.kind, self.name, self.call_id) if part)
        shown = self.text if len(self.text) <= 80 else f"{self.text[:80]}…"
        return f"message {self.message} {self.role} {label}: {shown!r}"


Chosen = Callable[[Block], bool]
"""Which blocks a test means."""


def result_of(*call_ids: str) -> Chosen:
    """The results of these calls; the calls themselves are not meant."""
    return lambda block: block.kind == "tool_result" and block.call_id in call_ids


def pair_of(*call_ids: str) -> Chosen:
    """These calls and their results."""
    return lambda block: block.call_id in call_ids


def text_with(*parts: str) -> Chosen:
    """The text blocks that hold one of these parts."""
    return lambda block: block.kind == "text" and any(part in block.text for part in parts)


def is_media(block: Block) -> bool:
    """Whether the block is an image or a document outside a tool result."""
    return block.kind in {"image", "document"}


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """The value without cache marks, at any depth."""
    match value:
        case dict():
            held = cast("dict[str, Any]", value)
            return {key: plain(part) for key, part in held.items() if key != "cache_control"}
        case list():
            return [plain(part) for part in cast("Iterable[Any]", value)]
        case _:
            return value


def messages_of(body: Body) -> list[dict[str, Any]]:
    """The messages without cache marks, each content a list of blocks.

    The host sends a message's only text as a bare string, and as a block in the request where a
    cache mark stands on it: the same to the model and to its cache.
    """
    return [
        {**message, "content": _listed(message["content"])}
        for message in plain(body.get("messages", []))
    ]


def _listed(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def prompt_parts(body: Body) -> list[str]:
    """What a prompt cache hashes, in its order: tools, system, then one part for each message."""
    parts = [plain(body.get("tools")), plain(body.get("system")), *messages_of(body)]
    return [json.dumps(part, sort_keys=True, ensure_ascii=False) for part in parts]


def common_prefix_bytes(first: Body, second: Body) -> int:
    """How many bytes of the two prompts are the same from the start."""
    prompt, other = ("\n".join(prompt_parts(body)) for body in (first, second))
    return len(prompt[: shared_length(prompt, other)].encode())


def shared_length(first: str, second: str) -> int:
    """How many characters two texts share from the start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def blocks(body: Body) -> list[Block]:
    """The content blocks of every message, in order; a message that is a bare string is one."""
    return list(_blocks(body))


def _blocks(body: Body) -> Iterator[Block]:
    for number, message in enumerate(messages_of(body)):
        for raw in message["content"]:
            yield _block(number, message["role"], raw)


def _block(number: int, role: str, raw: Mapping[str, Any]) -> Block:
    kind = raw["type"]
    match kind:
        case "text":
            return Block(number, role, kind, text=raw["text"])
        case "thinking":
            return Block(number, role, kind, text=raw["thinking"])
        case "tool_use":
            given = json.dumps(raw["input"], sort_keys=True, ensure_ascii=False)
            return Block(number, role, kind, raw["id"], raw["name"], given)
        case "tool_result":
            inner = _listed(raw.get("content") or [])
            words = "\n".join(part["text"] for part in inner if part["type"] == "text")
            media = tuple(_digest(part) for part in inner if part["type"] != "text")
            is_error = bool(raw.get("is_error"))
            return Block(
                number, role, kind, raw["tool_use_id"], text=words, media=media, is_error=is_error
            )
        case _:
            return Block(number, role, kind, media=(_digest(raw),))


def _digest(raw: Mapping[str, Any]) -> str:
    whole = json.dumps(plain(raw), sort_keys=True).encode()
    return hashlib.sha256(whole).hexdigest()[:16]


def assert_legal(body: Body) -> None:
    """Fail where the API would refuse the request.

    Every call has exactly one result, in the next user message and before any text there; no
    result without its call, no id twice; only roles that may stand, the first a person's.
    """
    messages = messages_of(body)
    assert messages, "the request has no messages"
    assert messages[0]["role"] == "user", f"the first message is {messages[0]['role']}"
    _assert_roles(messages)
    listed = blocks(body)
    repeated = [
        key
        for key, times in Counter(
            (block.kind, block.call_id) for block in listed if block.call_id
        ).items()
        if times > 1
    ]
    assert not repeated, f"these stand twice: {repeated}"
    _assert_pairs(len(messages), listed, [message["role"] for message in messages])
    empty = [str(block) for block in listed if block.kind == "text" and not block.text.strip()]
    assert not empty, f"empty text blocks: {empty}"


def _assert_roles(messages: Sequence[Mapping[str, Any]]) -> None:
    before: Mapping[str, Any] = {"role": ""}
    for number, message in enumerate(messages):
        role = message["role"]
        assert role in {"user", "assistant", "system"}, f"message {number} has role {role!r}"
        # The API joins two answers in a row; a call in the first would be left without its result.
        joined = role == before["role"] == "assistant"
        called = joined and any(block["type"] == "tool_use" for block in before["content"])
        assert not called, f"message {number} parts the calls before it from their results"
        # The host sends an empty system message that only carries an option of the turn.
        assert message["content"] or role == "system", f"message {number} is empty"
        before = message


def _assert_pairs(count: int, listed: Sequence[Block], roles: Sequence[str]) -> None:
    for number in range(count):
        held = [block for block in listed if block.message == number]
        results = [block.call_id for block in held if block.kind == "tool_result"]
        led_by = list(takewhile(lambda block: block.kind == "tool_result", held))
        assert len(led_by) == len(results), f"message {number} has text before a tool result"
        asked = next((n for n in range(number - 1, -1, -1) if roles[n] != "system"), None)
        calls = [b.call_id for b in listed if b.message == asked and b.kind == "tool_use"]
        if roles[number] == "user":
            assert sorted(results) == sorted(calls), (
                f"message {number} answers {results}, but message {asked} called {calls}"
            )
        else:
            assert not results, f"message {number} ({roles[number]}) holds tool results"
    last = [block for block in listed if block.message == count - 1 and block.kind == "tool_use"]
    assert not last, f"the request ends with calls that have no result: {last}"


def _steady(part: Any) -> str:  # noqa: ANN401 - JSON of any shape
    """A part of the prompt without the host's print of the first prompt, which follows its words."""
    return _FIRST_PROMPT_PRINT.sub("", json.dumps(plain(part), ensure_ascii=False))


def assert_prefix_kept(
    before: Body, after: Body, changed: Chosen, *, is_resumed: bool = False
) -> int:
    """Fail unless all that stands before the first changed block of `before` is the same after.

    System prompt and tools are compared byte for byte, whole messages too; in the message of the
    first changed block, the blocks in front of it. A resumed session begins with the stored words
    of the session before, and the host words its own tools anew after any compaction: there the
    tools are compared by name.

    Returns:
        How many blocks were held equal.
    """
    listed = [[tool["name"] for tool in body.get("tools", ())] for body in (before, after)]
    assert listed[0] == listed[1], f"other tools: {set(listed[0]) ^ set(listed[1])}"
    for part in ("system",) if is_resumed else ("system", "tools"):
        assert _steady(after.get(part)) == _steady(before.get(part)), f"`{part}` changed"
    first = next((block for block in blocks(before) if changed(block)), None)
    assert first is not None, "no block of the request before is the changed one"
    whole = messages_of(after)
    for number, message in enumerate(messages_of(before)[: first.message]):
        found = whole[number] if number < len(whole) else None
        assert found == message, f"message {number} changed: {message} became {found}"
    kept = list(takewhile(lambda block: block != first, blocks(before)))
    assert blocks(after)[: len(kept)] == kept
    return len(kept)


def assert_conserved(before: Body, after: Body, *edited: Chosen) -> None:
    """Fail if the apply between the two requests lost anything but what was edited.

    Every block of `before` must be there after, in the same order, unless it was `edited`, is
    thinking behind the first edited block, a call of our own tools or its result, an old service
    row, or the definition of a tool that came late, which the host sends again by itself. Calls,
    results, media and thinking must be the same block. A text may have another carrier (a
    reminder's wrapper may come or go, texts may share a block), but its words must stand together.
    """
    listed = blocks(before)
    first = next((at for at, block in enumerate(listed) if _any(edited, block)), None)
    assert first is not None, "no block of the request before was edited"
    own = {block.call_id for block in listed if OWN_TOOL.search(block.name)}
    due = [
        block
        for at, block in enumerate(listed)
        if not (
            _any(edited, block)
            or (block.kind == "thinking" and at > first)
            or (block.call_id and block.call_id in own)
            or is_service_text(block)
            or block.kind == "tool_addition"
        )
    ]
    lost = _first_lost(due, blocks(after))
    assert lost is None, f"lost, or no longer in its place: {lost}"


def _any(chosen: Iterable[Chosen], block: Block) -> bool:
    return any(means(block) for means in chosen)


def is_service_text(block: Block) -> bool:
    """Whether a text is one of this product's own rows."""
    return block.kind == "text" and bool(OWN_TEXT.match(_REMINDER.sub("", block.text).strip()))


def _first_lost(due: Sequence[Block], found: Sequence[Block]) -> Block | None:
    """The first block due that is not found behind the ones before it, or None."""
    at, offset = 0, 0
    for block in due:
        place = _place(block, found, at, offset)
        if place is None:
            return block
        at, offset = place
    return None


def _place(block: Block, found: Sequence[Block], at: int, offset: int) -> tuple[int, int] | None:
    """Where the search goes on once the block is found at or behind a place, else None."""
    for number in range(at, len(found)):
        candidate = found[number]
        if block.kind != "text":
            if candidate.what == block.what and (number > at or offset == 0):
                return number + 1, 0
            continue
        words = _words(candidate)
        start = words.find(_words(block), offset if number == at else 0)
        if start >= 0:
            return number, start + len(_words(block)) - 1
    return None


def _words(block: Block) -> str:
    """The words of a block, reminders unwrapped, one space between and around them."""
    return f" {' '.join(_REMINDER.sub(' ', block.text).split())} "


def assert_same_conversation(live: Body, resumed: Body) -> None:
    """Fail unless a resumed session was sent what the live one would have sent.

    Args:
        live: The last request of the session while it ran, or the one that it would make next.
        resumed: The first request after the resume; it may go on behind what was live.
    """
    expected, found = blocks(live), blocks(resumed)
    for at, block in enumerate(expected):
        assert at < len(found), f"the resumed session ends before {block}"
        assert found[at].what == block.what, f"live has {block}, resumed has {found[at]}"
    assert_legal(resumed)
