"""How full the context is, read off the end of the transcript; standard library only (every tool call pays for it)."""

import json
import re
from pathlib import Path
from typing import Any, Final

TAIL_BYTES: Final = 65_536
"""How much of the transcript's end is looked at: the last answer's usage stands there."""

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


def context_tokens(transcript: Path) -> int:
    """The size of the context: the last usage, and what was written after it; 0 when there is none."""
    try:
        with transcript.open("rb") as file:
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


def is_past_mark(folder: Path, transcript: Path) -> bool:
    """Whether the context reached the next mark of a suggestion, or fell so far that one counts anew.

    The engine wrote both sizes down at its last look.
    """
    try:
        mark, rearm = map(int, (folder / "next_mark").read_bytes().split())
    except (OSError, ValueError):
        return False
    if not mark and not rearm:
        return False
    tokens = context_tokens(transcript)
    return 0 < mark <= tokens or 0 < tokens <= rearm


def is_heavy_turn(folder: Path) -> bool:
    """Whether the tools of the last turn brought so much that the prompt is looked at; counts it only once."""
    log, seen = folder / "tools.jsonl", folder / "tools_seen"
    try:
        start = int(seen.read_bytes()) if seen.exists() else 0
        with log.open("rb") as file:
            file.seek(start)
            lines = file.read().splitlines()
            seen.touch(mode=0o600)
            seen.write_bytes(str(file.tell()).encode())
    except (OSError, ValueError):
        return False
    return sum(_result_chars(line) for line in lines) >= HEAVY_TURN_CHARS


def _result_chars(line: bytes) -> int:
    try:
        noted: Any = json.loads(line)
    except ValueError:
        return 0
    chars = noted.get("result_chars") if isinstance(noted, dict) else 0
    return chars if isinstance(chars, int) else 0
