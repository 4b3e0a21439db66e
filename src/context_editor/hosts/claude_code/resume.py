"""Making a resumed session show what the live one shows, after an apply (rule C25).

The host writes a kept row again with a new `uuid` but the old `message.id`, and a kept tool result still
names its old parent; on resume it groups rows by `message.id` over the whole file and follows that parent,
so the originals come back. Here the new rows are patched in place with values of the same length: the file
keeps its size, and the host only ever appends to it. Observed on Claude Code 2.1.287 to 2.1.332, 2026-11-30.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from context_editor.hosts.claude_code.spans import Span, spans

BOUNDARY_MARK: Final = b'"compact_boundary"'

Loads = Callable[[bytes], Any]
"""A JSON decoder for bytes; it raises `ValueError`."""


@dataclass(frozen=True)
class Patched:
    """What became of the file.

    Attributes:
        rows: How many rows were patched.
        reason: Why the file was left as it was; empty when it is safe now.
    """

    rows: int = 0
    reason: str = ""


@dataclass(frozen=True)
class _Line:
    offset: int
    raw: bytes
    row: dict[str, Any]


@dataclass
class _Old:
    """What stood in the file before the new rows."""

    message_ids: set[str] = field(default_factory=set)
    uuids: set[str] = field(default_factory=set)


def make_resumable(path: Path, loads: Loads = json.loads) -> Patched:
    """Patch the rows behind the last boundary, all of them or none.

    Doing it again changes nothing. A file that cannot be patched safely is left as it was.
    """
    try:
        old, new = _parts(path, loads)
        changes = list(_changes(old, new))
        _check(changes, loads)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        # A row of another shape than the host writes: nothing was written yet.
        return Patched(reason=f"{type(error).__name__}: {error}")
    return _write(path, changes)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    offset = 0
    with path.open("rb") as file:
        for raw in file:
            yield offset, raw
            offset += len(raw)


def _parts(path: Path, loads: Loads) -> tuple[_Old, list[_Line]]:
    """The ids in front of the last boundary, and the rows behind it."""
    old, pending, new = _Old(), _Old(), list[_Line]()
    for offset, raw in _lines(path):
        if b'"uuid"' not in raw:
            continue
        row = loads(raw) if raw.rstrip().endswith(b"}") else None
        if not isinstance(row, dict) or "uuid" not in row:
            continue
        if row.get("type") == "system" and row.get("subtype") == "compact_boundary":
            old.message_ids |= pending.message_ids
            old.uuids |= pending.uuids
            pending, new = _Old(), []
        pending.uuids.add(str(row["uuid"]))
        if row.get("type") == "assistant":
            pending.message_ids.add(str(row["message"]["id"]))
        new.append(_Line(offset, raw, row))
    return old, new


@dataclass(frozen=True)
class _Change:
    line: _Line
    raw: bytes


def _changes(old: _Old, new: Sequence[_Line]) -> Iterator[_Change]:
    fresh: dict[str, str] = {}
    # Not the new rows' own: where a crash cut a patch off, the rest of an answer gets the id of its beginning.
    taken = set(old.message_ids)
    callers: dict[str, str] = {}
    for line in new:
        row, edits = line.row, list[tuple[Span, bytes]]()
        if row.get("type") == "assistant":
            for block in _blocks(row, "tool_use"):
                callers[str(block.get("id"))] = str(row["uuid"])
            message_id = str(row["message"]["id"])
            if message_id in old.message_ids:
                edits += _renamed(line, fresh.setdefault(message_id, _fresh_id(message_id, taken)))
        elif row.get("parentUuid") in old.uuids:
            edits += _reparented(line, callers)
        if edits:
            yield _Change(line, _applied(line.raw, edits))


def _blocks(row: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = row.get("message", {}).get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def _fresh_id(message_id: str, taken: set[str]) -> str:
    """An id of the same length that nothing in the file has."""
    nth = 0
    while True:
        letters = hashlib.sha256(f"{message_id}.{nth}".encode()).hexdigest()
        tail = letters[: min(12, max(1, len(message_id) - 4))]
        candidate = message_id[: len(message_id) - len(tail)] + tail
        if candidate not in taken:
            taken.add(candidate)
            return candidate
        nth += 1


def _renamed(line: _Line, message_id: str) -> Iterator[tuple[Span, bytes]]:
    """A new message id, and no usage: the figures are those of a request that was counted already."""
    message = spans(line.raw)[b"message"]
    inside = spans(line.raw, message[0])
    yield inside[b"id"], json.dumps(message_id).encode()
    if b"usage" in inside and line.raw[inside[b"usage"][0]] == ord("{"):
        yield from _zeroed(line.raw, inside[b"usage"][0])


def _zeroed(raw: bytes, start: int) -> Iterator[tuple[Span, bytes]]:
    for begin, end in spans(raw, start).values():
        value = raw[begin:end]
        if value.isdigit():
            yield (begin, end), b"0".rjust(end - begin)
        elif value.startswith(b"{"):
            yield from _zeroed(raw, begin)


def _reparented(line: _Line, callers: dict[str, str]) -> Iterator[tuple[Span, bytes]]:
    """A kept tool result names the new row of its call as its parent."""
    results = _blocks(line.row, "tool_result")
    if not results:
        return
    caller = callers[str(results[0].get("tool_use_id"))]
    top = spans(line.raw)
    for key in (b"parentUuid", b"sourceToolAssistantUUID"):
        if key in top and isinstance(line.row.get(key.decode()), str):
            yield top[key], json.dumps(caller).encode()


def _applied(raw: bytes, edits: Sequence[tuple[Span, bytes]]) -> bytes:
    patched = bytearray(raw)
    for (begin, end), value in edits:
        if end - begin != len(value):
            msg = f"a value of {end - begin} bytes cannot become one of {len(value)}"
            raise ValueError(msg)
        patched[begin:end] = value
    return bytes(patched)


def _check(changes: Sequence[_Change], loads: Loads) -> None:
    """Every patched row reads as before but for the ids and the usage."""
    for change in changes:
        patched = loads(change.raw)
        if _without_ids(patched) != _without_ids(change.line.row):
            msg = f"row {change.line.row['uuid']} would change in more than its ids"
            raise ValueError(msg)


def _without_ids(row: dict[str, Any]) -> dict[str, Any]:
    rest = {
        k: v
        for k, v in row.items()
        if k not in {"parentUuid", "sourceToolAssistantUUID", "message"}
    }
    message = row.get("message")
    if isinstance(message, dict):
        rest["message"] = {k: v for k, v in message.items() if k not in {"id", "usage"}}
    return rest


def _write(path: Path, changes: Sequence[_Change]) -> Patched:
    if not changes:
        return Patched()
    descriptor = os.open(path, os.O_RDWR)
    done: list[_Change] = []
    try:
        for change in changes:
            _refuse_changed(descriptor, change.line)
            done.append(change)
            _put(descriptor, change.raw, change.line.offset)
        os.fsync(descriptor)
    except OSError as error:
        for change in done:
            _put(descriptor, change.line.raw, change.line.offset)
        return Patched(reason=f"undone: {error}")
    finally:
        os.close(descriptor)
    return Patched(len(changes))


def _refuse_changed(descriptor: int, line: _Line) -> None:
    if os.pread(descriptor, len(line.raw), line.offset) != line.raw:
        msg = "the file changed while it was patched"
        raise OSError(msg)


def _put(descriptor: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
