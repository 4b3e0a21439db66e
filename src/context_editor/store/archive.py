"""The archive: originals and media by content address, and one record for each replacement.

An original is written, forced to disk and read back before the conversation changes (rule J14). The same
content is stored once; nothing here is ever deleted by an edit.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from context_editor.core.rows import Media, Piece
from context_editor.errors import ArchiveError
from context_editor.store import codec
from context_editor.store.batch import Batch
from context_editor.store.files import append_line, differs, not_written, write_addressed

ADDRESS_HEX_CHARS: Final = 24
"""Hexadecimal characters of a content address: 96 bits."""

PART_BYTES: Final = 4 * 1024 * 1024 - 65_536
"""The largest part of an original, in bytes: a tool that opens files reads up to 4 MiB (rule J5)."""

UTF8_MARK: Final = 0xC0
UTF8_CONTINUATION: Final = 0x80
"""A byte that goes on a character in UTF-8: no part may begin with one."""

RECORDS: Final = "offloaded/<ts>.jsonl"
"""Where records go unless a setting says otherwise."""

ENCODER: Final = json.JSONEncoder(ensure_ascii=False)

RUN: Final = "<ts>"
"""What stands for the time of a run in the name of its file."""

EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/plain": "txt",
}


@dataclass(frozen=True)
class Archive:
    """The archive of one session.

    Attributes:
        session: The session's folder.
        pattern: Where records go below it, with `<ts>` for the time of a run (`offload_archive_path`).
        batch: What waits to be written and forced to disk together; None where everything is at once.
    """

    session: Path
    pattern: str = RECORDS
    batch: Batch | None = None

    @property
    def folder(self) -> Path:
        """Originals and media."""
        return self.session / "archive"

    @contextmanager
    def together(self) -> Generator["Archive"]:
        """The same archive, with records written and all forced to disk when the block ends: much faster.

        Raises:
            ArchiveError: They could not be; what was put in is not to be relied on.
        """
        batch = Batch.begun(self.session)
        try:
            yield replace(self, batch=batch)
            batch.finish()
        finally:
            batch.close()

    def _write(self, path: str, content: bytes) -> None:
        write_addressed(path, content, is_forced=self.batch is None)
        if self.batch is not None:
            self.batch.files.append(path)

    def _original(self, content: bytes, suffix: str) -> str:
        return f"{self.session}/archive/originals/{_address(content)}{suffix}.txt"

    def original_path(self, text: str) -> str:
        """Where an original with this text stands, or its first part; nothing is written."""
        content = _bytes(text)
        return self._original(content, "" if len(content) <= PART_BYTES else ".part1")

    def put_original(self, text: str) -> str:
        """Store an original, in parts where it is large, and return the path of the first.

        Raises:
            ArchiveError: It could not be written and read back.
        """
        content = _bytes(text)
        if len(content) <= PART_BYTES:
            path = self._original(content, "")
            self._write(path, content)
            return path
        for number, part in enumerate(_parts(content), start=1):
            self._write(self._original(content, f".part{number}"), part)
        return self._original(content, ".part1")

    def put_media(self, media: Media) -> str | None:
        """Store an image or a document as the file that it was; None where the host holds no content of it.

        Raises:
            ArchiveError: It could not be written and read back, or its base64 text is broken.
        """
        if not media.data:
            return None
        try:
            content = base64.b64decode(media.data, validate=True)
        except binascii.Error as error:
            msg = f"{media.media_type or 'media'} of the conversation is not valid base64: {error}"
            raise ArchiveError(msg) from error
        extension = EXTENSIONS.get(media.media_type, "bin")
        path = f"{self.session}/archive/media/{_address(content)}.{extension}"
        self._write(path, content)
        return path

    def put_record(self, run: str, record: dict[str, Any]) -> str:
        """Append one record (rule L11) to the file of a run and return its address for `pieces_of`.

        Raises:
            ArchiveError: It could not be written and read back.
        """
        path = self.session / self.pattern.replace(RUN, run)
        line = ENCODER.encode(record).encode("utf-8", "surrogatepass")
        offset = self.batch.append(path, line) if self.batch else _appended(path, line)
        return f"{path.absolute()}@{offset}"

    def pieces_of(self, address: str) -> tuple[Piece, ...]:
        """The stored pieces of a record, or of the one item of it that the address names.

        Raises:
            ArchiveError: The record cannot be read.
        """
        whole, _, item = address.partition("#")
        items = self.record(whole)["items"]
        wanted = items[int(item) : int(item) + 1] if item else items
        return tuple(codec.decoded(Piece, stored) for entry in wanted for stored in entry["pieces"])

    def all_records(self) -> tuple[tuple[dict[str, Any], ...], int]:
        """Every record of the session, oldest first, and how many lines could not be read (rule L11)."""
        found: list[dict[str, Any]] = []
        unreadable = 0
        globs = dict.fromkeys(one.replace(RUN, "*") for one in (RECORDS, self.pattern))
        paths = {path for glob in globs for path in self.session.glob(glob)}
        for path in sorted(paths, key=lambda path: path.name):
            for line in path.read_bytes().splitlines():
                try:
                    record = json.loads(line.decode("utf-8", "surrogatepass"))
                except ValueError:
                    unreadable += 1
                    continue
                if isinstance(record, dict):
                    found.append(record)
                else:
                    unreadable += 1
        return tuple(found), unreadable

    def record(self, address: str) -> dict[str, Any]:
        """The record at an address, which names no single item.

        Raises:
            ArchiveError: It cannot be read.
        """
        name, _, offset = address.rpartition("@")
        path = Path(name)
        try:
            record: dict[str, Any] = json.loads(
                _line_at(path, int(offset)).decode("utf-8", "surrogatepass")
            )
        except (OSError, ValueError) as error:
            msg = f"the archive record {address} in {path} cannot be read: {error}"
            raise ArchiveError(msg) from error
        return record


def stored_pieces(pieces: Sequence[Piece]) -> list[Any]:
    """The pieces as JSON values, whole: what a restore reads."""
    return [codec.encoded(piece) for piece in pieces]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _address(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:ADDRESS_HEX_CHARS]


def _parts(content: bytes) -> list[bytes]:
    parts: list[bytes] = []
    start = 0
    while start < len(content):
        end = min(start + PART_BYTES, len(content))
        while end < len(content) and content[end] & UTF8_MARK == UTF8_CONTINUATION:
            end -= 1
        parts.append(content[start:end])
        start = end
    return parts


def _appended(path: Path, line: bytes) -> int:
    try:
        offset = append_line(path, line)
        stored = _line_at(path, offset)
    except OSError as error:
        raise not_written(str(path), error) from error
    if stored != line:
        raise differs(str(path))
    return offset


def _line_at(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.readline().removesuffix(b"\n")
