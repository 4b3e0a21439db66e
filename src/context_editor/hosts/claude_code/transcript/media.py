"""Images and documents of content blocks; pixel sizes are read from the first bytes alone."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, Final

from context_editor.core.rows import Media

HEAD_CHARS: Final = 1024
"""How much of an image's base64 is decoded to find its size, in characters.

PNG, GIF and WebP name it in their first 30 bytes. A JPEG may carry a profile or a preview in front of it:
`JPEG_CHARS` then.
"""

JPEG_CHARS: Final = 1 << 18

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_GIF: Final = (b"GIF87a", b"GIF89a")
_JPEG_WITHOUT_SIZE: Final = frozenset({0xC4, 0xC8, 0xCC})
_JPEG_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def media_of(block: Mapping[str, Any]) -> Media | None:
    """The image or the document that a content block holds; None for every other block."""
    kind = block.get("type")
    if kind not in {"image", "document"}:
        return None
    source = block.get("source")
    source = source if isinstance(source, Mapping) else {}
    data = source.get("data") if source.get("type", "base64") in {"base64", "text"} else ""
    return _media(kind, source.get("media_type"), data, block.get("title"))


def media_in(blocks: Iterable[object]) -> tuple[Media, ...]:
    """The media of content blocks, in order."""
    found = (media_of(block) for block in blocks if isinstance(block, Mapping))
    return tuple(media for media in found if media is not None)


def media_of_file(payload: Mapping[str, Any]) -> tuple[Media, ...]:
    """The image or PDF of a `file` attachment, whose content the host stores in its own shape."""
    content = payload.get("content")
    file = content.get("file") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(file, Mapping):
        return ()
    kinds = {"image": "image", "pdf": "document"}
    kind = kinds.get(str(content.get("type")))
    if kind is None:
        return ()
    media_type = file.get("type") or ("application/pdf" if kind == "document" else "")
    return (_media(kind, media_type, file.get("base64"), payload.get("filename")),)


def _media(kind: object, media_type: object, data: object, name: object) -> Media:
    text = data if isinstance(data, str) else ""
    width, height = image_size(text) if kind == "image" else (0, 0)
    return Media(
        kind="image" if kind == "image" else "document",
        media_type=media_type if isinstance(media_type, str) else "",
        data=text,
        name=name if isinstance(name, str) and kind == "document" else "",
        width=width,
        height=height,
    )


def image_size(data: str) -> tuple[int, int]:
    """The width and height of a base64 image in pixels; zeros for an unknown or damaged format."""
    head = _decoded(data, HEAD_CHARS)
    if head.startswith(_PNG) and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head.startswith(_GIF) and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp_size(head)
    if head.startswith(_JPEG):
        return _jpeg_size(_decoded(data, JPEG_CHARS))
    return 0, 0


def _decoded(data: str, chars: int) -> bytes:
    try:
        return base64.b64decode(data[: chars - chars % 4])
    except (binascii.Error, ValueError):
        return b""


def _webp_size(head: bytes) -> tuple[int, int]:
    form = head[12:16]
    if form == b"VP8X" and len(head) >= 30:
        return (
            int.from_bytes(head[24:27], "little") + 1,
            int.from_bytes(head[27:30], "little") + 1,
        )
    if form == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and len(head) >= 30:
        return (
            int.from_bytes(head[26:28], "little") & 0x3FFF,
            int.from_bytes(head[28:30], "little") & 0x3FFF,
        )
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_ALONE or marker == 0xFF:
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in _JPEG_WITHOUT_SIZE:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return 0, 0
