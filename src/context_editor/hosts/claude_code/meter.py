"""How full the context is, read off the end of the transcript; every tool call pays for it (see `quick`)."""

from __future__ import annotations

import json
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

TAIL_BYTES: Final = 262_144
"""How much of the transcript's end is looked at: the last answer's usage stands there.

The host writes an answer a little after its tools began; what stands in front of it are the results of
the answer before, of 60 KB each where they are long.
"""

CHARS_PER_TOKEN: Final = 3
"""Characters that count as one token of what came after the last usage: on the safe side for code."""

HEAVY_TURN_CHARS: Final = 60_000
"""Tool results of one turn from which the next prompt is looked at: 20,000 tokens (rule F4)."""

FIELDS: Final = (
    b"input_tokens",
    b"cache_creation_input_tokens",
    b"cache_read_input_tokens",
    b"output_tokens",
)


def context_tokens(transcript: str) -> int:
    """The size of the context: the last usage, and what was written after it; 0 when there is none."""
    try:
        with open(transcript, "rb") as file:  # noqa: PTH123 (see `quick`)
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            tail = file.read()
    except OSError:
        return 0
    at = tail.rfind(b'"usage":{')
    while at >= 0:
        usage = tail[at : at + 600]
        found = [re.search(rb'"' + name + rb'":\s*(\d+)', usage) for name in FIELDS]
        tokens = sum(int(match[1]) for match in found if match)
        if tokens:
            return tokens + (len(tail) - at) // CHARS_PER_TOKEN // 2
        at = tail.rfind(b'"usage":{', 0, at)
    return 0


def is_past_mark(folder: str, transcript: str) -> bool:
    """Whether the context reached the next mark of a suggestion, or fell so far that one counts anew.

    The engine wrote both sizes down at its last look.
    """
    try:
        with open(f"{folder}/next_mark", "rb") as file:  # noqa: PTH123 (see `quick`)
            mark, rearm = map(int, file.read().split())
    except (OSError, ValueError):
        return False
    if not mark and not rearm:
        return False
    tokens = context_tokens(transcript)
    return 0 < mark <= tokens or 0 < tokens <= rearm


def is_heavy_turn(folder: str) -> bool:
    """Whether the tools of the last turn brought so much that the prompt is looked at; counts it only once."""
    try:
        with open(f"{folder}/tools.jsonl", "rb") as log:  # noqa: PTH123 (see `quick`)
            log.seek(_seen(f"{folder}/tools_seen"))
            lines = log.read().splitlines()
            _see(f"{folder}/tools_seen", log.tell())
    except (OSError, ValueError):
        return False
    return sum(_result_chars(line) for line in lines) >= HEAVY_TURN_CHARS


def _seen(path: str) -> int:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (see `quick`)
            return int(file.read())
    except FileNotFoundError:
        return 0


def _see(path: str, size: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, str(size).encode())
    finally:
        os.close(descriptor)


def _result_chars(line: bytes) -> int:
    try:
        noted: Any = json.loads(line)
    except ValueError:
        return 0
    chars = noted.get("result_chars") if isinstance(noted, dict) else 0
    return chars if isinstance(chars, int) else 0
