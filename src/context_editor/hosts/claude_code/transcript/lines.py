"""Bytes of a transcript as parsed lines, however damaged; this module owns the file's syntax."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias, cast

Loads: TypeAlias = Callable[[bytes], Any]
"""A JSON decoder: `orjson.loads`, or the standard library's where a caller may not import more.

It raises `ValueError` on malformed input.
"""

BOM: Final = b"\xef\xbb\xbf"
PADDING: Final = b"\x00 \t\r\n"
"""What may stand around a line's JSON: blanks, a CR, and the NULs that a crash leaves behind."""

COMMENT_MARKS: Final = (b"#", b"//")
"""How a line begins that exporting tools put at the top of a shared session."""

TYPE_FIRST: Final = b'{"type":"'
"""How the host begins every line that is not in the tree; lines of the tree begin with
`parentUuid`."""

_LONE_SURROGATE: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:d[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})"
    rb"|(?<!\\ud[89ab][0-9a-f]{2}\\u)d[c-f][0-9a-f]{2})",
    re.IGNORECASE,
)
_REPLACEMENT: Final = rb"\1\\ufffd"
_RECORD_START: Final = re.compile(r'\{\s*"')


class Line(NamedTuple):
    """A JSON object of the file: where it begins, how long it is (both in bytes), and its value."""

    offset: int
    length: int
    value: dict[str, Any]


def is_skippable(line: bytes, wanted: frozenset[bytes]) -> bool:
    """Whether a line is bookkeeping by its first bytes alone, so that it need not be parsed."""
    if not line.startswith(TYPE_FIRST):
        return False
    start = len(TYPE_FIRST)
    return line[start : line.find(b'"', start)] not in wanted


def is_blank(line: bytes) -> bool:
    """Whether a line holds no record and never did: nothing, padding, or a comment."""
    text = line.strip(PADDING)
    return not text or text.startswith(COMMENT_MARKS)


def object_at(line: bytes, offset: int, loads: Loads) -> Line | None:
    """The one JSON object that a line is; None when it is anything else.

    Lone surrogate escapes and bytes that are not UTF-8 read as U+FFFD, with every decoder alike.
    """
    if line.startswith(b"{") and line.endswith(b"}\n"):
        start, text = 0, line[:-1]
    else:
        text = line.strip(PADDING)
        start = line.find(b"{")
        if not text.startswith(b"{"):
            return None
    value = _decoded(text, loads)
    return Line(offset + start, len(text), value) if isinstance(value, dict) else None


def objects_in(line: bytes, offset: int, loads: Loads) -> Iterator[Line]:
    """The records of a line that is not one JSON object: two on one line, or one behind a torn one.

    Objects that are part of a torn record (a content block) are passed over: a record has a `type`
    and a `uuid` or `sessionId` of its own.
    """
    # Only damaged lines come here, so the cost of the standard library's decoder is paid by few. It
    # is used for where an object ends, which no other decoder tells.
    import json  # noqa: PLC0415

    decoder = json.JSONDecoder(strict=False)
    text = line.decode("utf-8", "surrogateescape")
    at = 0
    while (start := _RECORD_START.search(text, at)) is not None:
        try:
            _, end = decoder.raw_decode(text, start.start())
        except ValueError:
            at = start.start() + 1
            continue
        raw = text[start.start() : end].encode("utf-8", "surrogateescape")
        value = _decoded(raw, loads)
        if not _is_record(value):
            at = start.start() + 1
            continue
        before = len(text[: start.start()].encode("utf-8", "surrogateescape"))
        yield Line(offset + before, len(raw), cast("dict[str, Any]", value))
        at = end


def has_leftovers(line: bytes, found: list[Line], offset: int) -> bool:
    """Whether anything but padding stands in a line beside the records that were found in it."""
    at = 0
    for record in found:
        if line[at : record.offset - offset].strip(PADDING):
            return True
        at = record.offset - offset + record.length
    return bool(line[at:].strip(PADDING))


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and "type" in value and ("uuid" in value or "sessionId" in value)


def _decoded(text: bytes, loads: Loads) -> object:
    try:
        return cast("object", loads(text))
    except ValueError:
        return _decoded_repaired(text, loads)


def well_formed(text: bytes) -> bytes:
    """JSON text in which U+FFFD stands for lone surrogate escapes and bytes that are not UTF-8."""
    return _LONE_SURROGATE.sub(_REPLACEMENT, text.decode("utf-8", "replace").encode())


def _decoded_repaired(text: bytes, loads: Loads) -> object:
    repaired = well_formed(text)
    if repaired == text:
        return None
    try:
        return cast("object", loads(repaired))
    except ValueError:
        return None


def strict(loads: Loads) -> Loads:
    """The decoder, made to refuse lone surrogate escapes where it takes them.

    The standard library's decoder makes strings of them that cannot be written again as UTF-8.
    """
    try:
        loads(b'"\\ud800"')
    except ValueError:
        return loads

    def refusing(text: bytes) -> object:
        # A plain byte search first: nearly no line has an escaped surrogate, lone or paired.
        if (b"\\ud" in text or b"\\uD" in text) and _LONE_SURROGATE.search(text):
            msg = "a lone surrogate escape"
            raise ValueError(msg)
        return cast("object", loads(text))

    return refusing
