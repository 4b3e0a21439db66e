"""Where the values of a JSON object's keys stand in its bytes, so that one can be changed at the same length."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)

Span = tuple[int, int]
"""The first byte of a value and the byte past its last."""


QUOTE, COLON, OPENING, CLOSING = b'"', b":", (b"{", b"["), (b"}", b"]")


def spans(line: bytes, start: int = 0) -> Mapping[bytes, Span]:
    """The span of every value of the object that begins at `start`, by its key as it is written there.

    Raises:
        ValueError: No object begins there, or it does not end.
    """
    opening = line.find(b"{", start)
    if opening < 0 or line[start:opening].strip():
        msg = f"no JSON object begins at byte {start}"
        raise ValueError(msg)
    scan = _Scan(line)
    for token in TOKEN.finditer(line, opening):
        scan.take(token)
        if scan.depth == 0:
            return scan.found
    msg = "the JSON object does not end"
    raise ValueError(msg)


@dataclass
class _Scan:
    """One object as it is read, token by token."""

    line: bytes
    depth: int = 0
    key: bytes = b""
    begin: int = -1
    found: dict[bytes, Span] = field(default_factory=dict)

    def take(self, token: re.Match[bytes]) -> None:
        mark = self.line[token.start() : token.start() + 1]
        if mark == QUOTE:
            if self.depth == 1 and self.begin < 0:
                self.key = token.group()[1:-1]
        elif mark in OPENING:
            self.depth += 1
        elif mark == COLON:
            self.begin = token.end() if self.depth == 1 else self.begin
        else:
            self._end_value(token.start())
            self.depth -= mark in CLOSING

    def _end_value(self, end: int) -> None:
        if self.depth == 1 and self.begin >= 0:
            self.found[self.key] = _trimmed(self.line, self.begin, end)
            self.begin = -1


def _trimmed(line: bytes, start: int, end: int) -> Span:
    value = line[start:end]
    return start + len(value) - len(value.lstrip()), end - len(value) + len(value.rstrip())
