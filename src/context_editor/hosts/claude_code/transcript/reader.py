"""A transcript file as entries, read incrementally; this module owns the reading of the file.

The host only appends to the file. The exceptions are a file that was replaced or cut (seen by its
inode, its size and its last bytes read) and this product's own patch of rows in place, after which
the caller asks for `TranscriptReader.reread`.
"""

import os
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from context_editor.hosts.claude_code.transcript.entries import (
    CHAIN_TYPES,
    Entry,
    Interned,
    entry_of,
)
from context_editor.hosts.claude_code.transcript.lines import (
    BOM,
    PADDING,
    Line,
    Loads,
    has_leftovers,
    is_blank,
    is_skippable,
    object_at,
    objects_in,
    strict,
)
from context_editor.hosts.claude_code.transcript.shapes import Raw, record_of, word_of
from context_editor.hosts.claude_code.transcript.turns import TurnLedger
from context_editor.hosts.claude_code.transcript.usage import UsageLedger
from context_editor.hosts.claude_code.transcript.words import is_own_compact, prompt_text

BUFFER_BYTES: Final = 1 << 18
"""How much of the file is read at a time; larger buffers were not faster on 20 MB."""

TAIL_BYTES: Final = 128
"""How many of the last bytes read are compared before new ones are read.

A line ends in its ids and its version, so that these differ between any two files.
"""

_WANTED_TYPES: Final = frozenset(name.encode() for name in CHAIN_TYPES)


class TranscriptReader:
    """The entries of one transcript, kept up to date by `refresh`.

    A line without its end is taken when it is a whole JSON object, because a shared session often
    ends without a newline; a half-written one is left for the next time. Malformed lines are
    counted and skipped.

    Attributes:
        path: The file.
        entries: Every entry of the tree, in file order; a later line with the same uuid stands in
            the earlier one's place.
        unreadable: Lines, or parts of a line, that hold no readable record.
        replaced: Lines that took the place of an earlier one with the same uuid.
        sessions: The session ids that entries name, in the order of their first appearance.
        forked_from: The session ids that entries say they were copied from, in the same order.
        generation: Rises whenever the file was read anew from its start: every entry may then be
            another.
        places: The place of each entry among them, by uuid.
        boundaries: The places of the main conversation's boundaries, in order.
        own_compacts: The prompt ids of `/compact` commands that this product ran.
        turns: The turns of the session, over the whole file.
        usage: The usage of every response, over the whole file.
    """

    def __init__(self, path: Path, loads: Loads) -> None:
        """A reader that has read nothing yet.

        Args:
            path: The transcript; it need not exist yet.
            loads: The JSON decoder, for bytes; it raises `ValueError`.
        """
        self.path = path
        self.generation = 0
        self._loads = strict(loads)
        self._identity: tuple[int, int] | None = None
        self._start_over()

    def _start_over(self) -> None:
        self.generation += 1
        self.entries: list[Entry] = []
        self.unreadable = 0
        self.replaced = 0
        self.sessions: dict[str, None] = {}
        self.forked_from: dict[str, None] = {}
        self.own_compacts: set[str] = set()
        self.turns = TurnLedger()
        self.usage = UsageLedger()
        self._offset = 0
        self._tail = b""
        self.places: dict[str, int] = {}
        self._strings: Interned = {}
        self.boundaries: list[int] = []
        self._boundary = -1
        self._unreadable_before = 0
        self._waiting_before = self.turns.waiting

    @property
    def boundary(self) -> Entry | None:
        """The last compact boundary; None before the first."""
        return self.entries[self._boundary] if self._boundary >= 0 else None

    @property
    def bytes_read(self) -> int:
        """How far the file was read, in bytes; a half-written last line is not counted."""
        return self._offset

    def by_uuid(self, uuid: str) -> Entry | None:
        """The entry with this uuid, which is the handle of its pieces; None when there is none."""
        place = self.places.get(uuid)
        return None if place is None else self.entries[place]

    def refresh(self) -> bool:
        """Read what was appended since the last time.

        Returns:
            Whether any entry came, changed or went. A file that is gone reads as empty.
        """
        try:
            with self.path.open("rb", buffering=BUFFER_BYTES) as file:
                is_anew = self._is_another(file)
                if is_anew:
                    self._start_over()
                return self._read_new(file) or is_anew
        except FileNotFoundError:
            had_entries = bool(self.entries)
            if self._offset:
                self._start_over()
            self._identity = None
            return had_entries

    def reread(self) -> bool:
        """Read all since the last boundary anew: for rows behind it that were patched in place at the same size."""
        boundary = self.boundary
        if boundary is None:
            self._start_over()
            return self.refresh()
        self.generation += 1
        self.unreadable = self._unreadable_before
        self.turns.again_from(self._waiting_before)
        self._offset = boundary.offset
        self._tail = self._bytes_at(max(0, boundary.offset - TAIL_BYTES), boundary.offset)
        return self.refresh()

    def loaded(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries with their content, read from the file where it was let go.

        An entry whose bytes hold no readable record any more, or whose file is gone, comes back as it is.
        """
        if not any(entry.is_let_go for entry in entries):
            return list(entries)
        try:
            with self.path.open("rb", buffering=0) as file:
                return [self._again(entry, file) if entry.is_let_go else entry for entry in entries]
        except FileNotFoundError:
            return list(entries)

    def raw_bytes(self, entry: Entry) -> bytes:
        """The bytes of the entry's JSON as they stand now; empty when the file is gone."""
        return self._bytes_at(entry.offset, entry.offset + entry.length)

    def _bytes_at(self, start: int, end: int) -> bytes:
        try:
            with self.path.open("rb", buffering=0) as file:
                return os.pread(file.fileno(), end - start, start)
        except FileNotFoundError:
            return b""

    def _again(self, entry: Entry, file: FileIO) -> Entry:
        raw = os.pread(file.fileno(), entry.length, entry.offset)
        line = object_at(raw, entry.offset, self._loads)
        return (line and self._entry(line, entry.index)) or entry

    def _entry(self, line: Line, index: int) -> Entry | None:
        return entry_of(line.value, line.offset, line.length, index, self._strings)

    def _is_another(self, file: BinaryIO) -> bool:
        stat = os.fstat(file.fileno())
        identity = (stat.st_dev, stat.st_ino)
        known, self._identity = self._identity, identity
        if known is None or not self._offset:
            return False
        if known != identity or stat.st_size < self._offset:
            return True
        return (
            os.pread(file.fileno(), len(self._tail), self._offset - len(self._tail)) != self._tail
        )

    def _read_new(self, file: BinaryIO) -> bool:
        file.seek(self._offset)
        count = 0
        last = b""
        for raw in file:
            is_ended = raw.endswith(b"\n")
            if is_skippable(raw, _WANTED_TYPES):
                if not is_ended:
                    break
            elif is_ended:
                count += self._take_line(raw)
            elif (line := self._whole_tail(raw)) is None:
                break
            else:
                count += self._take_record(line)
            self._offset += len(raw)
            last = raw
        if last:
            self._tail = last[-TAIL_BYTES:]
        return count > 0

    def _whole_tail(self, raw: bytes) -> Line | None:
        # Parsing a half-written 2 MB line at every refresh is saved by looking at its last byte.
        if not raw.rstrip(PADDING).endswith(b"}"):
            return None
        return object_at(self._without_bom(raw), self._json_offset(raw), self._loads)

    def _without_bom(self, raw: bytes) -> bytes:
        return raw.removeprefix(BOM) if self._offset == 0 else raw

    def _json_offset(self, raw: bytes) -> int:
        return len(BOM) if self._offset == 0 and raw.startswith(BOM) else self._offset

    def _take_line(self, raw: bytes) -> int:
        text, offset = self._without_bom(raw), self._json_offset(raw)
        line = object_at(text, offset, self._loads)
        if line is not None:
            return self._take_record(line)
        if is_blank(text):
            return 0
        found = list(objects_in(text, offset, self._loads))
        if not found or has_leftovers(text, found, offset):
            self.unreadable += 1
        return sum(self._take_record(record) for record in found)

    def _take_record(self, line: Line) -> int:
        entry = self._entry(line, len(self.entries))
        if entry is None:
            return 0
        if self.entries and entry.parent == self.entries[-1].uuid:
            entry.parent = self.entries[-1].uuid  # the same characters once
        self._note_sessions(entry, line.value)
        place = self.places.get(entry.uuid)
        if place is None:
            self.places[entry.uuid] = entry.index
            self.entries.append(entry)
        else:
            self.replaced += 1
            entry.index = place
            self.entries[place] = entry
        self.turns.take(entry)
        self.usage.take(entry)
        entry.forget("usage")
        self._note_own_compact(entry)
        if entry.is_side:
            entry.let_go()
        elif entry.is_boundary:
            self._let_go_before(entry)
        return 1

    def _let_go_before(self, boundary: Entry) -> None:
        for entry in self.entries[max(self._boundary, 0) : boundary.index]:
            entry.let_go()
        if boundary.index > self._boundary:
            self._boundary, self._unreadable_before = boundary.index, self.unreadable
            self.boundaries.append(boundary.index)
            self._waiting_before = self.turns.waiting

    def _note_sessions(self, entry: Entry, raw: Raw) -> None:
        if entry.session:
            self.sessions.setdefault(entry.session)
        origin = word_of(record_of(raw.get("forkedFrom")), "sessionId")
        if origin:
            self.forked_from.setdefault(origin)

    def _note_own_compact(self, entry: Entry) -> None:
        prompt_id = entry.facts.get("promptId")
        is_prompt = entry.type == "user" and not entry.answers and isinstance(prompt_id, str)
        if is_prompt and is_own_compact(entry, prompt_text(entry.content)):
            self.own_compacts.add(str(prompt_id))
