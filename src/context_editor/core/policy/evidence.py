"""Evidence items in a tool result: with a title and an address, or without (rule L21)."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

LIST_KEYS: Final = ("results", "items", "evidence", "sources", "documents")
"""Keys under which tools put their list of items."""

MAX_EVIDENCE_CHARS: Final = 2_000_000
"""Results longer than this are not parsed: they count as plain text."""


@dataclass(frozen=True)
class Evidence:
    """The items of a result that is a list of sources.

    Attributes:
        good: Items with a title and an address, as text, one a line; the whole text where it is no
            list.
        malformed: How many items lack one of both.
    """

    good: str
    malformed: int = 0


def evidence_of(text: str) -> Evidence:
    """The items of a result; one that is no JSON list of sources is taken as it is."""
    items = _items(text)
    if not any(isinstance(item, dict) and {"title", "url"} & item.keys() for item in items):
        return Evidence(text)
    good = [item for item in items if _is_good(item)]
    lines = [json.dumps(item, ensure_ascii=False) for item in good]
    return Evidence("\n".join(lines), len(items) - len(good))


def channel_of(tool: str) -> str:
    """The channel that a tool reads from: the server of an MCP tool, else the tool itself."""
    parts = tool.split("__")
    is_mcp = parts[0] == "mcp" and len(parts) > 1
    return parts[1] if is_mcp else tool


def _items(text: str) -> Sequence[object]:
    if text.lstrip()[:1] not in ("[", "{") or len(text) > MAX_EVIDENCE_CHARS:
        return ()
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return next((found for found in _lists(document) if found), ())


def _lists(document: object) -> Iterator[Sequence[object]]:
    if isinstance(document, list):
        yield cast("list[object]", document)
    if isinstance(document, dict):
        held = cast("dict[str, object]", document)
        found = (held.get(key) for key in LIST_KEYS)
        yield from (cast("list[object]", value) for value in found if isinstance(value, list))


def _is_good(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    held = cast("dict[str, object]", item)
    values = (held.get(key) for key in ("title", "url"))
    return all(isinstance(value, str) and bool(value.strip()) for value in values)
