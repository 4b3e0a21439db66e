"""Images and documents of content blocks; pixel sizes are read from the first bytes alone."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, Final

from context_editor.core.rows import Media
from context_editor.hosts.claude_code.transcript.shapes import record_of, word_of

HEAD_CHARS: Final = 1024
"""How much of an image's base64 is decoded to find its size, in characters.

PNG, GIF and WebP name it in their first 30 bytes. A JPEG may carry a profile or a preview in front
of it: `JPEG_CHARS` then.
"""

JPEG_CHARS: Final = 1 << 18

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_GIF: Final = (b"GIF87a", b"GIF89a")
_FIXED_HEAD_BYTES: Final = 30
"""Bytes in which PNG, GIF and WebP name their size."""

_VP8_BITS: Final = 14
_VP8_MASK: Final = (1 << _VP8_BITS) - 1
_JPEG_MARK: Final = 0xFF
_JPEG_FRAME_BYTES: Final = 9
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def media_of(block: Mapping[str, Any]) -> Media | None:
    """The image or the document that a content block holds; None for every other block."""
    kind = word_of(block, "type")
    if kind not in {"image", "document"}:
        return None
    source = record_of(block.get("source"))
    is_held = (word_of(source, "type") or "base64") in {"base64", "text"}
    data = word_of(source, "data") if is_held else ""
    return _media(kind == "image", word_of(source, "media_type"), data, word_of(block, "title"))


def media_in(blocks: Iterable[Mapping[str, Any]]) -> tuple[Media, ...]:
    """The media of content blocks, in order."""
    found = (media_of(block) for block in blocks)
    return tuple(media for media in found if media is not None)


def media_of_file(payload: Mapping[str, Any]) -> tuple[Media, ...]:
    """The image or PDF of a `file` attachment, whose content the host stores in its own shape."""
    content = record_of(payload.get("content"))
    file, kind = record_of(content.get("file")), word_of(content, "type")
    if not file or kind not in {"image", "pdf"}:
        return ()
    media_type = word_of(file, "type") or ("application/pdf" if kind == "pdf" else "")
    name = word_of(payload, "filename")
    return (_media(kind == "image", media_type, word_of(file, "base64"), name),)


def _media(is_image: bool, media_type: str, data: str, name: str) -> Media:  # noqa: FBT001
    width, height = image_size(data) if is_image else (0, 0)
    return Media(
        kind="image" if is_image else "document",
        media_type=media_type,
        data=data,
        name="" if is_image else name,
        width=width,
        height=height,
    )


def image_size(data: str) -> tuple[int, int]:
    """The width and height of a base64 image in pixels; zeros for an unknown or damaged format."""
    head = _decoded(data, HEAD_CHARS)
    if head.startswith(_JPEG):
        return _jpeg_size(_decoded(data, JPEG_CHARS))
    if len(head) < _FIXED_HEAD_BYTES:
        head = head.ljust(_FIXED_HEAD_BYTES, b"\0")
    if head.startswith(_PNG):
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head.startswith(_GIF):
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp_size(head)
    return 0, 0


def _decoded(data: str, chars: int) -> bytes:
    try:
        return base64.b64decode(data[:chars][: len(data[:chars]) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _webp_size(head: bytes) -> tuple[int, int]:
    match head[12:16]:
        case b"VP8X":
            width, height = (int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
            return width + 1, height + 1
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & _VP8_MASK) + 1, (bits >> _VP8_BITS & _VP8_MASK) + 1
        case b"VP8 ":
            width, height = (int.from_bytes(head[at : at + 2], "little") for at in (26, 28))
            return width & _VP8_MASK, height & _VP8_MASK
        case _:
            return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = len(_JPEG)
    while at + _JPEG_FRAME_BYTES <= len(data) and data[at] == _JPEG_MARK:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        if marker == _JPEG_MARK:
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0
