"""Stored rows as the mod hands them to the bridge."""

from __future__ import annotations

from typing import Any

from tests.support.transcripts import text

GLIMPSE_CHARS = 64
"""Characters of a row that the mod sends along, counted as UTF-16 units."""


def utf16_head(words: str) -> str:
    """The first units of a text, as `slice` of the mod's language cuts them."""
    units = words.encode("utf-16-le", "surrogatepass")[: 2 * GLIMPSE_CHARS]
    return units.decode("utf-16-le", "surrogatepass")


def host_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the mod glimpses it."""
    content = row["message"]["content"]
    blocks = content if isinstance(content, list) else [text(content)]
    words = "".join(block["text"] for block in blocks if block["type"] == "text")
    return {
        "handle": row["uuid"],
        "role": row["message"]["role"],
        "length": len(words),
        "head": utf16_head(words),
        "calls": [block["id"] for block in blocks if block["type"] == "tool_use"],
        "results": [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"],
    }
