"""Which entries the model is sent now, in the order that it reads them.

The host writes the conversation as a tree: each line names the one that it follows. The live chain
is the walk from the newest answer or prompt to the last boundary, and the rows that hang beside
that walk: the other calls of a response, their results, and the attachments behind those. What a
person rewound away stays out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import Raw, record_of, words_of

Unit: TypeAlias = list[Entry]
"""A message line and the lines that ride behind it."""


def live_chain(window: Sequence[Entry], earlier: Mapping[str, Entry] | None = None) -> list[Entry]:
    """The live entries in model order.

    A missing parent does not cut the chain: the line then follows the one in front of it in the
    file. So the rows of an apply, whose results still name lines from before the boundary, are
    whole.

    Args:
        window: What may be live, in file order, its boundary first; see `window.live_window`.
        earlier: Entries in front of the boundary that it names as preserved, by uuid; may be empty.

    Returns:
        All block rows of one response together, then its results, each with what rides behind it.
        Subagent rows, boundaries and `progress` lines are not among them.
    """
    main = [entry for entry in window if not entry.is_side]
    boundary = main[0] if main and main[0].is_boundary else None
    tree = _Tree(main, preserved(boundary, earlier or {}))
    return [entry for unit in _in_model_order(_units(tree.live())) for entry in unit]


def preserved_uuids(boundary: Entry | None) -> tuple[str, ...]:
    """The uuids that a boundary lists as kept from before it; empty for most boundaries."""
    return tuple(words_of(_metadata(boundary, "preservedMessages").get("uuids")))


def preserved_segment(boundary: Entry | None) -> tuple[str, str] | None:
    """The first and the last uuid of the stretch that a boundary kept; None for most."""
    segment = _metadata(boundary, "preservedSegment")
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    return (head, tail) if isinstance(head, str) and isinstance(tail, str) else None


def _anchor(boundary: Entry) -> str | None:
    """The line that what a boundary preserved follows: the summary in front of it."""
    for name in ("preservedMessages", "preservedSegment"):
        anchor = _metadata(boundary, name).get("anchorUuid")
        if isinstance(anchor, str):
            return anchor
    return None


def _metadata(boundary: Entry | None, name: str) -> Raw:
    metadata = record_of(boundary.facts.get("compactMetadata")) if boundary else {}
    return record_of(metadata.get(name))


def leaf_of(main: Sequence[Entry]) -> Entry | None:
    """The newest answer or prompt of the main conversation; its newest result where it has neither."""
    last = None
    for entry in reversed(main):
        if entry.type == "assistant" or (entry.type == "user" and not entry.answers):
            return entry
        if last is None and entry.type == "user":
            last = entry
    return last


def preserved(boundary: Entry | None, earlier: Mapping[str, Entry]) -> list[Entry]:
    """The entries that a boundary kept from before it, of those given; empty for most boundaries."""
    uuids = preserved_uuids(boundary)
    if uuids:
        return [earlier[uuid] for uuid in uuids if uuid in earlier]
    segment = preserved_segment(boundary)
    return _walked(segment, earlier) if segment else []


def _walked(segment: tuple[str, str], earlier: Mapping[str, Entry]) -> list[Entry]:
    head, uuid = segment[0], segment[1]
    found: dict[str, Entry] = {}
    while uuid in earlier and uuid not in found:
        found[uuid] = earlier[uuid]
        if uuid == head:
            return list(reversed(found.values()))
        uuid = earlier[uuid].parent or ""
    return []


class _Tree:
    """The lines behind the last boundary, and what is live of them."""

    def __init__(self, main: Sequence[Entry], preserved: Sequence[Entry]) -> None:
        self._main = _with_preserved(main, preserved)
        self._places = {entry.uuid: place for place, entry in enumerate(self._main)}
        self._preserved = {entry.uuid for entry in preserved}
        self._responses: dict[str, list[Entry]] = {}
        for entry in self._main:
            if entry.type == "assistant":
                self._responses.setdefault(response_key(entry), []).append(entry)

    def live(self) -> list[Entry]:
        """The live lines in file order, preserved ones behind the summary that they follow."""
        leaf = leaf_of(self._main)
        if leaf is None:
            return self._before_any_message()
        walked = self._walk(leaf)
        beside = self._beside(walked)
        live = walked | beside | self._preserved
        live |= self._riders([leaf.uuid, *beside], live)
        return [entry for entry in self._main if entry.uuid in live]

    def _before_any_message(self) -> list[Entry]:
        return [entry for entry in self._main if entry.type in {"attachment", "system"}]

    def _walk(self, leaf: Entry) -> set[str]:
        seen: set[str] = set()
        entry: Entry | None = leaf
        while entry is not None and entry.uuid not in seen:
            seen.add(entry.uuid)
            entry = self._parent(entry, seen)
        return seen

    def _parent(self, entry: Entry, seen: set[str]) -> Entry | None:
        if entry.parent is None:
            return None
        place = self._places.get(entry.parent)
        is_here = place is not None and entry.parent not in seen
        return self._main[place] if is_here and place is not None else self._in_front(entry, seen)

    def _in_front(self, entry: Entry, seen: set[str]) -> Entry | None:
        for place in range(self._places[entry.uuid] - 1, -1, -1):
            if self._main[place].uuid not in seen:
                return self._main[place]
        return None

    def _beside(self, walked: set[str]) -> set[str]:
        """The rows of live responses that the walk passed by, and the results that it left out."""
        live = [entry for entry in self._main if entry.uuid in walked]
        keys = {response_key(entry) for entry in live if entry.type == "assistant"}
        rows = [row for key in keys for row in self._responses[key]]
        missing = Counter(call_id for row in rows for call_id in row.calls)
        missing.subtract(call_id for entry in live for call_id in entry.answers)
        beside = {row.uuid for row in rows}
        others = [entry for entry in self._main if entry.answers and entry.uuid not in walked]
        # Where an id was used twice, the result that hangs behind a live row is the right one.
        for entry in sorted(others, key=lambda other: other.parent not in beside):
            if any(missing[call_id] > 0 for call_id in entry.answers):
                missing.subtract(entry.answers)
                beside.add(entry.uuid)
        return beside - walked

    def _riders(self, heads: Iterable[str], live: set[str]) -> set[str]:
        """What hangs behind the leaf and behind rows beside the walk, down to the next message."""
        children: dict[str, list[str]] = {}
        for entry in self._main:
            if entry.parent is not None and entry.type not in {"user", "assistant"}:
                children.setdefault(entry.parent, []).append(entry.uuid)
        riders: set[str] = set()
        waiting = list(heads)
        while waiting:
            for uuid in children.get(waiting.pop(), ()):
                if uuid not in live and uuid not in riders:
                    riders.add(uuid)
                    waiting.append(uuid)
        return riders


def _with_preserved(main: Sequence[Entry], preserved: Sequence[Entry]) -> list[Entry]:
    if not preserved:
        return list(main)
    anchor = _anchor(main[0])
    places = [place for place, entry in enumerate(main) if entry.uuid == anchor]
    cut = places[0] + 1 if places else 1
    kept = {entry.uuid for entry in preserved}
    rest = [entry for entry in main if entry.uuid not in kept]
    return [*rest[:cut], *preserved, *rest[cut:]]


def _units(live: Iterable[Entry]) -> list[Unit]:
    units: list[Unit] = []
    for entry in live:
        if entry.type == "progress" or entry.is_boundary:
            continue
        if entry.type in {"user", "assistant"} or not units:
            units.append([entry])
        else:
            units[-1].append(entry)
    return units


def _in_model_order(units: Sequence[Unit]) -> Iterator[Unit]:
    """The units with each response in one piece and its results directly behind it."""
    order = _Order(units)
    for unit in units:
        if id(unit) not in order.taken:
            yield from order.next_of(unit)


class _Order:
    """Which units belong to a response, and which of them were given out."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self.taken: set[int] = set()
        self._rows: dict[str, list[Unit]] = {}
        self._results: dict[str, list[Unit]] = {}
        self._caller: dict[str, str] = {}
        self._done: set[str] = set()
        for unit in units:
            head = unit[0]
            if head.type == "assistant":
                key = response_key(head)
                self._rows.setdefault(key, []).append(unit)
                for call_id in head.calls:
                    self._caller.setdefault(call_id, key)
            elif head.type == "user":
                for call_id in head.answers:
                    self._results.setdefault(call_id, []).append(unit)

    def next_of(self, unit: Unit) -> Iterator[Unit]:
        """The unit, or its whole response with the results; nothing while it must wait."""
        head = unit[0]
        if head.type == "assistant":
            yield from self._response(response_key(head))
            return
        callers = {self._caller[i] for i in head.answers if i in self._caller}
        if callers <= self._done:
            self.taken.add(id(unit))
            yield unit

    def _response(self, key: str) -> Iterator[Unit]:
        self._done.add(key)
        rows = self._rows[key]
        answers: list[Unit] = []
        earlier: list[Unit] = []
        for row in rows:
            for call_id in row[0].calls:
                waiting = self._results.get(call_id, [])
                answers += waiting[:1]
                earlier += [unit for unit in waiting[1:] if unit[0].index < row[0].index]
        answers.sort(key=lambda unit: unit[0].index)
        # Results that came before the call wait for it; those that it did not take follow it.
        for unit in [*rows, *answers, *earlier]:
            if id(unit) not in self.taken:
                self.taken.add(id(unit))
                yield unit
        for call_id in (call_id for row in rows for call_id in row[0].calls):
            waiting = self._results.get(call_id, [])
            self._results[call_id] = [unit for unit in waiting if id(unit) not in self.taken]


def response_key(entry: Entry) -> str:
    """What the rows of one response share: its message id, else the row's own id."""
    return entry.message_id or entry.uuid
