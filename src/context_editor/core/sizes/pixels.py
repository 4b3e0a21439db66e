"""The dimensions of an image, read from the first bytes of its base64."""

import base64
import binascii
from typing import Final

HEAD_CHARS: Final = 65_536
"""Characters of base64 that are decoded (48 kB): a JPEG may begin with a preview."""

_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame; the three left out are tables."""


def image_dimensions(data: str) -> tuple[int, int]:
    """Width and height in pixels of a PNG, GIF, WebP or JPEG in base64; (0, 0) where unreadable."""
    head_chars = data[:HEAD_CHARS]
    try:
        head = base64.b64decode(head_chars[: len(head_chars) // 4 * 4])
    except (binascii.Error, ValueError):
        return (0, 0)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return (_big(head[16:20]), _big(head[20:24]))
    if head.startswith((b"GIF87a", b"GIF89a")):
        return (_little(head[6:8]), _little(head[8:10]))
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp(head)
    return _jpeg(head) if head.startswith(b"\xff\xd8") else (0, 0)


def _big(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def _little(raw: bytes) -> int:
    return int.from_bytes(raw, "little")


def _webp(head: bytes) -> tuple[int, int]:
    """The dimensions of a WebP, by its first chunk: lossy, lossless or extended."""
    match head[12:16]:
        case b"VP8 ":
            return (_little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF)
        case b"VP8L":
            packed = _little(head[21:25])
            return ((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            return (_little(head[24:27]) + 1, _little(head[27:30]) + 1)
        case _:
            return (0, 0)


_JPEG_MARKER: Final = 0xFF
"""The byte that begins every segment of a JPEG."""


def _jpeg(head: bytes) -> tuple[int, int]:
    """The dimensions of a JPEG: its segments are walked until one begins a frame."""
    at = 2
    while at + 9 <= len(head) and head[at] == _JPEG_MARKER:
        if head[at + 1] in _JPEG_FRAMES:
            return (_big(head[at + 7 : at + 9]), _big(head[at + 5 : at + 7]))
        at += 2 + max(2, _big(head[at + 2 : at + 4]))
    return (0, 0)
