"""The conversation that a transcript holds now; the front door of this package."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from context_editor.core.rows import Piece
from context_editor.hosts.claude_code.transcript.chain import (
    live_chain,
    preserved,
    preserved_segment,
    preserved_uuids,
)
from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.lines import Loads
from context_editor.hosts.claude_code.transcript.pieces import Surroundings, pieces_of
from context_editor.hosts.claude_code.transcript.reader import TranscriptReader
from context_editor.hosts.claude_code.transcript.shapes import records_of, word_of
from context_editor.hosts.claude_code.transcript.turns import rebuilt_runs, turns_of
from context_editor.hosts.claude_code.transcript.usage import UsageSample
from context_editor.hosts.claude_code.transcript.window import live_window

NEWEST_PIECES: Final = 256
"""How far back a running call is looked for, in pieces: more than an answer and its results are."""

HELD_TIMES: Final = 4
"""How many times the newest live entries of `SETTLED_ENTRIES` keep their content.

All others are pieces already, which hold what is needed of it; where one is worked out anew after
all, its line is read again.
"""

SETTLED_ENTRIES: Final = 64
"""How many of the newest live entries are always worked out anew, in entries.

Results come out of order, attachments late, and the three lines of a command one by one, but all
within the newest response or two. An older part is reused only where the new lines prove to hang
behind it.
"""


class LiveTranscript:
    """A transcript's live pieces, kept up to date; the part that new lines cannot change is reused.

    Attributes:
        reader: The file's entries, with offsets and lengths.
    """

    def __init__(self, path: Path, loads: Loads, settled: int = SETTLED_ENTRIES) -> None:
        """A transcript that has read nothing yet; see `TranscriptReader`.

        Args:
            path: The transcript; it need not exist yet.
            loads: The JSON decoder, for bytes.
            settled: How many of the newest entries are worked out anew at each refresh, at least 1.
        """
        self.reader = TranscriptReader(path, loads)
        self._settled = settled
        self._work = _Work(HELD_TIMES * settled)

    def refresh(self) -> bool:
        """Read what was appended; whether anything changed."""
        before = _Mark.of(self.reader)
        is_changed = self.reader.refresh()
        if is_changed:
            cut = self._cut(before)
            self._work = self._anew() if cut is None else self._continued(*cut)
        return is_changed

    def reread(self) -> bool:
        """Read all since the last boundary anew, for rows that were patched in place."""
        is_changed = self.reader.reread()
        self._work = self._anew()
        return is_changed

    @property
    def chain(self) -> Sequence[Entry]:
        """The live entries in model order, with offsets and lengths of their stored rows."""
        return self._work.chain

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The live pieces in model order."""
        return tuple(self._work.pieces)

    @property
    def unreadable(self) -> int:
        """Stored lines that could not be read."""
        return self.reader.unreadable

    @property
    def turns_started(self) -> int:
        """Turns that have started in the whole session, the running one included."""
        return self.reader.turns.started

    @property
    def usage(self) -> tuple[UsageSample, ...]:
        """The usage of every response of the session, oldest first."""
        return self.reader.usage.samples

    @property
    def last_response(self) -> str | None:
        """The id of the newest response; None before the first."""
        pieces = reversed(self._work.pieces)
        return next((piece.response for piece in pieces if piece.response is not None), None)

    def has_call(self, call_id: str) -> bool:
        """Whether a call is among the newest rows."""
        newest = self._work.pieces[-NEWEST_PIECES:]
        return any(piece.call is not None and piece.call.id == call_id for piece in newest)

    def entry(self, handle: str) -> Entry | None:
        """The stored row of a piece, with its offset and length; None when there is none."""
        return self.reader.by_uuid(handle)

    def _anew(self) -> "_Work":
        reader = self.reader
        earlier = self._earlier(reader.boundary)
        kept = {entry.uuid for entry in preserved(reader.boundary, earlier)}
        window = live_window(reader.entries, reader.places, reader.boundaries, kept)
        first = window[0] if window and window[0].is_boundary else None
        chain = live_chain(window, earlier if first is reader.boundary else self._earlier(first))
        work = _Work(HELD_TIMES * self._settled)
        work.extend(self.reader.loaded(chain), self.reader)
        return work

    def _continued(self, place: int, index: int) -> "_Work":
        """The work with everything from a place of the chain on worked out anew."""
        tail = live_chain(self.reader.entries[index:])
        if not any(entry.index == index for entry in tail):
            return self._anew()
        work = self._work
        work.cut(place)
        work.extend(self.reader.loaded(tail), self.reader)
        return work

    def _cut(self, before: "_Mark") -> tuple[int, int] | None:
        """Where the chain can be cut so that the new lines only change what is behind.

        Returns:
            The place in the chain and the index among all entries; None where nothing can be kept.
        """
        reader = self.reader
        boundary = reader.boundary
        if not before.is_continued_by(reader) or (boundary and boundary.index >= before.count):
            return None
        place = self._work.settled_place(self._settled, before.waiting_index)
        if place is None:
            return None
        index = self._work.chain[place].index
        # A person who went back to in front of the boundary: what is live is no stretch of the file.
        if boundary and boundary.index > index:
            return None
        tail = reader.entries[index:]
        later = {entry.uuid for entry in tail}
        calls = {call_id for entry in tail for call_id in entry.calls}
        responses = {entry.message_id for entry in tail if entry.message_id is not None}
        new = (entry for entry in reader.entries[before.count :] if not entry.is_side)
        is_behind = all(_hangs_behind(entry, later, calls) for entry in new)
        # A response that goes on, or an id that is used again, would be read with the older part.
        is_apart = not self._work.has_before(place, calls | responses)
        return (place, index) if is_behind and is_apart else None

    def _earlier(self, boundary: Entry | None) -> Mapping[str, Entry]:
        uuids = set(preserved_uuids(boundary))
        if boundary is None or not (uuids or preserved_segment(boundary)):
            return {}
        before = self.reader.entries[: boundary.index]
        wanted = [entry for entry in before if not uuids or entry.uuid in uuids]
        return {entry.uuid: entry for entry in self.reader.loaded(wanted)}


@dataclass(frozen=True)
class _Mark:
    """How far a reader had read.

    Attributes:
        generation: See `TranscriptReader.generation`.
        replaced: See `TranscriptReader.replaced`.
        count: How many entries there were.
        waiting_index: The place of a prompt whose turn was not settled; None for most.
    """

    generation: int
    replaced: int
    count: int
    waiting_index: int | None

    @classmethod
    def of(cls, reader: TranscriptReader) -> "_Mark":
        """The mark of a reader now."""
        waiting = reader.turns.waiting_index
        return cls(reader.generation, reader.replaced, len(reader.entries), waiting)

    def is_continued_by(self, reader: TranscriptReader) -> bool:
        """Whether all that was read since is new lines at the end."""
        return (self.generation, self.replaced) == (reader.generation, reader.replaced)


def _hangs_behind(entry: Entry, later: set[str], calls: set[str]) -> bool:
    return (entry.parent in later) if not entry.answers else calls.issuperset(entry.answers)


class _Work:
    """What was made of a chain, by entry, so that its end can be cut off and made again."""

    def __init__(self, held: int) -> None:
        self._held = held
        self.chain: list[Entry] = []
        self.pieces: list[Piece] = []
        self._starts: list[int] = []
        self._turns: list[int] = []
        self._newest: list[int] = []
        self._rebuilt: list[bool] = []
        self._tools: dict[str, str] = {}
        self._firsts: dict[str, int] = {}

    def cut(self, place: int) -> None:
        """Let everything from a place on go."""
        for entry in self.chain[place:]:
            for name in (entry.message_id, *entry.calls):
                if name is not None and self._firsts.get(name, -1) >= place:
                    del self._firsts[name]
        del self.pieces[self._starts[place] :]
        for column in (self.chain, self._starts, self._turns, self._newest, self._rebuilt):
            del column[place:]

    def extend(self, entries: Sequence[Entry], reader: TranscriptReader) -> None:
        """Take more entries in, at the end."""
        self._tools.update(tool_names(entries))
        first_turn = self._turns[-1] if self._turns else 0
        follows = bool(self._rebuilt) and self._rebuilt[-1]
        turns = turns_of(entries, reader.turns, first_turn, follows=follows)
        self._rebuilt += rebuilt_runs(entries, follows=follows)
        newest = self._newest[-1] if self._newest else -1
        around = Surroundings(0, self._tools, reader.own_compacts)
        for entry, turn in zip(entries, turns, strict=True):
            for name in (entry.message_id, *entry.calls):
                if name is not None:
                    self._firsts.setdefault(name, len(self.chain))
            newest = max(newest, entry.index)
            self.chain.append(entry)
            self._turns.append(turn)
            self._newest.append(newest)
            self._starts.append(len(self.pieces))
            if around.turn != turn:
                around = Surroundings(turn, self._tools, reader.own_compacts)
            self.pieces.extend(pieces_of(entry, around))
            if len(self.chain) > self._held:
                self.chain[-1 - self._held].let_go()

    def settled_place(self, newest: int, waiting_index: int | None) -> int | None:
        """The last place that parts older lines from newer ones, where a prompt or response begins.

        Args:
            newest: How many of the newest entries stand behind it at least.
            waiting_index: The place among all entries of a prompt whose turn is not settled; it
                stays behind.
        """
        oldest = len(self.chain) and self.chain[-1].index
        for place in range(len(self.chain) - 1, 0, -1):
            entry = self.chain[place]
            oldest = min(oldest, entry.index)
            # A result that came before its call stands behind it: the cut would leave it out.
            is_parting = self._newest[place - 1] < entry.index == oldest
            is_far = place <= len(self.chain) - newest
            is_settled = waiting_index is None or entry.index <= waiting_index
            if is_parting and is_far and is_settled and self._is_start(place):
                return place
        return None

    def _is_start(self, place: int) -> bool:
        """Whether a prompt or a response begins here."""
        entry = self.chain[place]
        is_prompt = entry.type == "user" and not entry.answers
        return is_prompt or self._firsts.get(entry.message_id or "") == place

    def has_before(self, place: int, names: Iterable[str]) -> bool:
        """Whether a response or a call of one of these ids has a row in front of a place."""
        return any(self._firsts.get(name, place) < place for name in names)


def tool_names(entries: Iterable[Entry]) -> Iterable[tuple[str, str]]:
    """The id and the tool's name of every call that the entries make."""
    for entry in entries:
        if entry.calls:
            for block in records_of(entry.content):
                if block.get("type") == "tool_use":
                    yield word_of(block, "id"), word_of(block, "name")
