"""The conversation that a transcript holds now; the front door of this package."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from context_editor.core.rows import Piece
from context_editor.hosts.claude_code.transcript.chain import (
    call_blocks,
    live_chain,
    preserved_segment,
    preserved_uuids,
)
from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.lines import Loads
from context_editor.hosts.claude_code.transcript.pieces import Surroundings, pieces_of
from context_editor.hosts.claude_code.transcript.reader import TranscriptReader
from context_editor.hosts.claude_code.transcript.turns import TurnLedger
from context_editor.hosts.claude_code.transcript.usage import UsageSample
from context_editor.hosts.claude_code.transcript.words import (
    is_own_compact,
    is_rebuilt,
    is_tool_result,
    prompt_text,
)


class LiveTranscript:
    """A transcript's live pieces, kept up to date; what did not change is not built again.

    Attributes:
        reader: The file's entries, with offsets and lengths.
    """

    def __init__(self, path: Path, loads: Loads) -> None:
        """A transcript that has read nothing yet; see `TranscriptReader`."""
        self.reader = TranscriptReader(path, loads)
        self._chain: list[Entry] = []
        self._pieces: tuple[Piece, ...] = ()
        self._built: dict[tuple[str, int], tuple[Entry, tuple[Piece, ...]]] = {}

    def refresh(self) -> bool:
        """Read what was appended; whether anything changed."""
        is_changed = self.reader.refresh()
        if is_changed:
            self._rebuild()
        return is_changed

    def reread(self) -> bool:
        """Read the whole file anew, for rows that were patched in place; whether anything is there."""
        is_changed = self.reader.reread()
        self._built.clear()
        self._rebuild()
        return is_changed

    @property
    def chain(self) -> Sequence[Entry]:
        """The live entries in model order, with offsets and lengths of their stored rows."""
        return self._chain

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The live pieces in model order."""
        return self._pieces

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
        return next((p.response for p in reversed(self._pieces) if p.response is not None), None)

    def _rebuild(self) -> None:
        reader = self.reader
        chain = live_chain(reader.entries_since_boundary(), self._earlier())
        self._chain = [reader.loaded(entry) for entry in chain]
        turns = turns_of(self._chain, reader.turns)
        tools = {block["id"]: str(block.get("name")) for block in call_blocks(self._chain)}
        own = frozenset(own_compact_ids(self._chain))
        built: dict[tuple[str, int], tuple[Entry, tuple[Piece, ...]]] = {}
        for entry, turn in zip(self._chain, turns, strict=True):
            key = (entry.uuid, turn)
            known = self._built.get(key)
            is_current = known is not None and known[0] is entry and not _depends(entry)
            if known is None or not is_current:
                known = (entry, pieces_of(entry, Surroundings(turn, tools, own)))
            built[key] = known
        self._built = built
        self._pieces = tuple(piece for _, pieces in built.values() for piece in pieces)

    def _earlier(self) -> dict[str, Entry]:
        boundary = self.reader.boundary
        if not preserved_uuids(boundary) and preserved_segment(boundary) is None:
            return {}
        return {e.uuid: self.reader.loaded(e) for e in self._before(boundary)}

    def _before(self, boundary: Entry | None) -> Iterable[Entry]:
        wanted = set(preserved_uuids(boundary))
        before = self.reader.entries[: boundary.index if boundary else 0]
        return [entry for entry in before if not wanted or entry.uuid in wanted]


def _depends(entry: Entry) -> bool:
    """Whether an entry's pieces depend on others: a result on its call, a command's record on the command."""
    return entry.type == "user" and (is_tool_result(entry) or "isMeta" in entry.facts)


def turns_of(chain: Sequence[Entry], ledger: TurnLedger) -> list[int]:
    """The turn of each entry.

    A prompt that an apply wrote anew has lost the host's marks; it counts as the turn after the one in front
    of it, where the next known turn leaves room for that.
    """
    known = [_started(entry, ledger) for entry in chain]
    upcoming = ledger.started + 1
    room: list[int] = []
    for number in reversed(known):
        room.append(upcoming)
        upcoming = number or upcoming
    turn, turns = 0, []
    for entry, number, limit in zip(chain, known, reversed(room), strict=True):
        if number:
            turn = number
        elif entry.type == "user" and is_rebuilt(entry) and not is_tool_result(entry):
            turn = max(turn, min(turn + 1, limit - 1))
        turns.append(turn)
    return turns


def _started(entry: Entry, ledger: TurnLedger) -> int:
    is_prompt = entry.type == "user" and not is_tool_result(entry) and not is_rebuilt(entry)
    return ledger.number(entry) if is_prompt else 0


def own_compact_ids(chain: Iterable[Entry]) -> Iterable[str]:
    """The prompt ids of `/compact` commands that this product ran."""
    for entry in chain:
        prompt_id = entry.facts.get("promptId")
        if entry.type != "user" or not isinstance(prompt_id, str) or is_tool_result(entry):
            continue
        if is_own_compact(entry, prompt_text(entry.content)):
            yield prompt_id
