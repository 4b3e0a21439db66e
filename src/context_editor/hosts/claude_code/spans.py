"""Where the values of a JSON object's keys stand in its bytes, so that one can be changed at the same length."""

import re
from collections.abc import Mapping

STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)

Span = tuple[int, int]
"""The first byte of a value and the byte past its last."""


def spans(line: bytes, start: int = 0) -> Mapping[bytes, Span]:
    """The span of every value of the object that begins at `start`, by its key as it is written there.

    Raises:
        ValueError: No object begins there, or it does not end.
    """
    opening = line.find(b"{", start)
    if opening < 0 or line[start:opening].strip():
        msg = f"no JSON object begins at byte {start}"
        raise ValueError(msg)
    found: dict[bytes, Span] = {}
    depth, key, value_start = 0, b"", -1
    for token in TOKEN.finditer(line, opening):
        mark = line[token.start()]
        if mark == 0x22:
            if depth == 1 and value_start < 0:
                key = token.group()[1:-1]
            continue
        if mark == 0x3A and depth == 1:
            value_start = token.end()
        elif mark in b"{[":
            depth += 1
        else:
            is_end = mark in b"}]"
            if depth == 1 and value_start >= 0 and mark in b",}":
                found[key] = _trimmed(line, value_start, token.start())
                value_start = -1
            depth -= is_end
            if is_end and depth == 0:
                return found
    msg = "the JSON object does not end"
    raise ValueError(msg)


def _trimmed(line: bytes, start: int, end: int) -> Span:
    value = line[start:end]
    return start + len(value) - len(value.lstrip()), end - len(value) + len(value.rstrip())
