"""The conversation that a transcript holds now; the front door of this package."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from context_editor.core.rows import Piece
from context_editor.hosts.claude_code.transcript.chain import (
    live_chain,
    preserved_segment,
    preserved_uuids,
)
from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.lines import Loads
from context_editor.hosts.claude_code.transcript.pieces import Surroundings, pieces_of
from context_editor.hosts.claude_code.transcript.reader import TranscriptReader
from context_editor.hosts.claude_code.transcript.turns import TurnLedger, turns_of
from context_editor.hosts.claude_code.transcript.usage import UsageSample
from context_editor.hosts.claude_code.transcript.words import (
    is_own_compact,
    is_tool_result,
    prompt_text,
)

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

    def __init__(self, path: Path, loads: Loads) -> None:
        """A transcript that has read nothing yet; see `TranscriptReader`."""
        self.reader = TranscriptReader(path, loads)
        self._work = _Work()

    def refresh(self) -> bool:
        """Read what was appended; whether anything changed."""
        before = (self.reader.generation, len(self.reader.entries), self.reader.replaced)
        is_changed = self.reader.refresh()
        if is_changed:
            cut = self._cut(before)
            self._work = self._anew() if cut is None else self._continued(*cut)
        return is_changed

    def reread(self) -> bool:
        """Read the whole file anew, for rows that were patched in place."""
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

    def entry(self, handle: str) -> Entry | None:
        """The stored row of a piece, with its offset and length; None when there is none."""
        return self.reader.by_uuid(handle)

    def _anew(self) -> "_Work":
        chain = live_chain(self.reader.entries_since_boundary(), self._earlier())
        work = _Work()
        work.extend([self.reader.loaded(entry) for entry in chain], self.reader.turns)
        return work

    def _continued(self, place: int, index: int) -> "_Work":
        """The work with everything from a place of the chain on worked out anew."""
        tail = live_chain(self.reader.entries[index:])
        if not any(entry.index == index for entry in tail):
            return self._anew()
        work = self._work
        work.cut(place)
        work.extend(tail, self.reader.turns)
        return work

    def _cut(self, before: tuple[int, int, int]) -> tuple[int, int] | None:
        """Where the chain can be cut so that the new lines only change what is behind.

        Returns:
            The place in the chain and the index among all entries; None where all must be worked
            out.
        """
        generation, count, replaced = before
        reader = self.reader
        boundary = reader.boundary
        if generation != reader.generation or replaced != reader.replaced:
            return None
        if boundary is not None and boundary.index >= count:
            return None
        place = self._work.settled_place(reader.turns.waiting_index)
        if place is None:
            return None
        index = self._work.chain[place].index
        later = {entry.uuid for entry in reader.entries[index:]}
        calls = {call_id for entry in reader.entries[index:] for call_id in entry.calls}
        new = (entry for entry in reader.entries[count:] if not entry.is_side)
        is_behind = all(_hangs_behind(entry, later, calls) for entry in new)
        return (place, index) if is_behind and not self._joins_older(place, count) else None

    def _joins_older(self, place: int, count: int) -> bool:
        """Whether a new line belongs to a response in front of the place."""
        new = {e.message_id for e in self.reader.entries[count:] if e.message_id is not None}
        return not new.isdisjoint(self._work.responses_before(place, new))

    def _earlier(self) -> Mapping[str, Entry]:
        boundary = self.reader.boundary
        uuids = set(preserved_uuids(boundary))
        if boundary is None or not (uuids or preserved_segment(boundary)):
            return {}
        before = self.reader.entries[: boundary.index]
        wanted = (entry for entry in before if not uuids or entry.uuid in uuids)
        return {entry.uuid: self.reader.loaded(entry) for entry in wanted}


def _hangs_behind(entry: Entry, later: set[str], calls: set[str]) -> bool:
    return (entry.parent in later) if not entry.answers else calls.issuperset(entry.answers)


class _Work:
    """What was made of a chain, by entry, so that its end can be cut off and made again."""

    def __init__(self) -> None:
        self.chain: list[Entry] = []
        self.pieces: list[Piece] = []
        self._starts: list[int] = []
        self._turns: list[int] = []
        self._newest: list[int] = []
        self._open_calls: list[int] = []
        self._tools: dict[str, str] = {}
        self._answered: set[str] = set()
        self._responses: dict[str, int] = {}
        self._own_compacts: set[str] = set()

    def cut(self, place: int) -> None:
        """Let everything from a place on go."""
        for entry in self.chain[place:]:
            self._answered.difference_update(entry.answers)
            if entry.message_id is not None and self._responses.get(entry.message_id, -1) >= place:
                del self._responses[entry.message_id]
        del self.pieces[self._starts[place] :]
        for column in (self.chain, self._starts, self._turns, self._newest, self._open_calls):
            del column[place:]

    def extend(self, entries: Sequence[Entry], ledger: TurnLedger) -> None:
        """Take more entries in, at the end."""
        self._tools.update(tool_names(entries))
        self._own_compacts.update(own_compact_ids(entries))
        first_turn = self._turns[-1] if self._turns else 0
        turns = turns_of(entries, ledger, first_turn)
        newest = self._newest[-1] if self._newest else -1
        open_calls = self._open_calls[-1] if self._open_calls else 0
        around = Surroundings(0, self._tools, self._own_compacts)
        for entry, turn in zip(entries, turns, strict=True):
            if entry.message_id is not None:
                self._responses.setdefault(entry.message_id, len(self.chain))
            newest = max(newest, entry.index)
            open_calls += len(entry.calls) - len(set(entry.answers) - self._answered)
            self._answered.update(entry.answers)
            self.chain.append(entry)
            self._turns.append(turn)
            self._newest.append(newest)
            self._open_calls.append(open_calls)
            self._starts.append(len(self.pieces))
            if around.turn != turn:
                around = Surroundings(turn, self._tools, self._own_compacts)
            self.pieces.extend(pieces_of(entry, around))

    def settled_place(self, waiting_index: int | None) -> int | None:
        """The last place that only newer lines stand behind, with no call open in front of it.

        Args:
            waiting_index: The place among all entries of a prompt whose turn is not settled; it
                stays behind.
        """
        for place in range(len(self.chain) - SETTLED_ENTRIES, 0, -1):
            entry = self.chain[place]
            is_start = entry.type == "user" and not is_tool_result(entry)
            is_start = is_start or self._responses.get(entry.message_id or "") == place
            if not is_start or self._open_calls[place - 1] or self._newest[place - 1] > entry.index:
                continue
            if waiting_index is None or entry.index <= waiting_index:
                return place
        return None

    def responses_before(self, place: int, wanted: Iterable[str]) -> set[str]:
        """Those of the wanted responses that have a row in front of a place."""
        return {one for one in wanted if self._responses.get(one, place) < place}


def tool_names(entries: Iterable[Entry]) -> Iterable[tuple[str, str]]:
    """The id and the tool's name of every call that the entries make."""
    for entry in entries:
        if entry.calls:
            for block in entry.content:
                if isinstance(block, Mapping) and block.get("type") == "tool_use":
                    yield str(block.get("id", "")), str(block.get("name", ""))


def own_compact_ids(entries: Iterable[Entry]) -> Iterable[str]:
    """The prompt ids of `/compact` commands that this product ran."""
    for entry in entries:
        prompt_id = entry.facts.get("promptId")
        if entry.type != "user" or entry.answers or not isinstance(prompt_id, str):
            continue
        if is_own_compact(entry, prompt_text(entry.content)):
            yield prompt_id
