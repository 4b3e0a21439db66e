"""Which entries the model is sent now, in the order that it reads them.

The host writes the conversation as a tree: each line names the one that it follows. The live chain is the walk
from the newest answer or prompt to the last boundary, and the rows that hang beside that walk: the other calls
of a response, their results, and the attachments behind those. What a person rewound away stays out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.words import is_tool_result

Unit: TypeAlias = list[Entry]
"""A message line and the lines that ride behind it."""


def live_chain(window: Sequence[Entry], earlier: Mapping[str, Entry] | None = None) -> list[Entry]:
    """The live entries in model order.

    A missing parent does not cut the chain: a result follows its call, any other line the one in front of it
    in the file. So the rows of an apply, whose results still name lines from before the boundary, are whole.

    Args:
        window: The last boundary and what follows it, in file order; every entry before the first boundary.
        earlier: Entries in front of the boundary that it names as preserved, by uuid; may be empty.

    Returns:
        All block rows of one response together, then its results, each with what rides behind it. Subagent
        rows, boundaries and `progress` lines are not among them.
    """
    main = [entry for entry in window if not entry.is_side]
    tree = _Tree(main, _preserved(main, earlier or {}))
    return [entry for unit in _in_model_order(_units(tree.live())) for entry in unit]


def preserved_uuids(boundary: Entry | None) -> tuple[str, ...]:
    """The uuids that a boundary lists as kept from before it; empty for most boundaries."""
    listed = _preserved_list(boundary)
    return tuple(uuid for uuid in listed.get("uuids", ()) if isinstance(uuid, str))


def preserved_segment(boundary: Entry | None) -> tuple[str, str] | None:
    """The first and the last uuid of the stretch that a boundary kept; None where it lists or keeps none."""
    metadata = boundary.facts.get("compactMetadata") if boundary else None
    segment = metadata.get("preservedSegment") if isinstance(metadata, Mapping) else None
    if not isinstance(segment, Mapping):
        return None
    head, tail = segment.get("headUuid"), segment.get("tailUuid")
    return (head, tail) if isinstance(head, str) and isinstance(tail, str) else None


def _preserved_list(boundary: Entry | None) -> Mapping[str, Any]:
    metadata = boundary.facts.get("compactMetadata") if boundary else None
    listed = metadata.get("preservedMessages") if isinstance(metadata, Mapping) else None
    return listed if isinstance(listed, Mapping) else {}


def _preserved(main: Sequence[Entry], earlier: Mapping[str, Entry]) -> list[Entry]:
    boundary = main[0] if main and main[0].is_boundary else None
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
        self._callers: dict[str, Entry] = {}
        self._responses: dict[str, list[Entry]] = {}
        for entry in self._main:
            if entry.type == "assistant":
                self._responses.setdefault(response_key(entry), []).append(entry)
                for call_id in call_ids(entry):
                    self._callers.setdefault(call_id, entry)

    def live(self) -> list[Entry]:
        """The live lines in file order, preserved ones behind the summary that they follow."""
        leaf = self._leaf()
        if leaf is None:
            return self._before_any_message()
        walked = self._walk(leaf)
        beside = self._beside(walked)
        live = walked | beside | self._preserved
        live |= self._riders([leaf.uuid, *beside], live)
        return [entry for entry in self._main if entry.uuid in live]

    def _leaf(self) -> Entry | None:
        last = None
        for entry in reversed(self._main):
            if entry.type == "assistant" or (entry.type == "user" and not is_tool_result(entry)):
                return entry
            if last is None and entry.type == "user":
                last = entry
        return last

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
        if place is not None and entry.parent not in seen:
            return self._main[place]
        if is_tool_result(entry):
            for call_id in answered_ids(entry):
                caller = self._callers.get(call_id)
                if caller is not None and caller.uuid not in seen:
                    return caller
        return self._in_front(entry, seen)

    def _in_front(self, entry: Entry, seen: set[str]) -> Entry | None:
        for place in range(self._places[entry.uuid] - 1, -1, -1):
            if self._main[place].uuid not in seen:
                return self._main[place]
        return None

    def _beside(self, walked: set[str]) -> set[str]:
        """The rows of live responses that the walk passed by, and the results that it left out."""
        beside: set[str] = set()
        called: set[str] = set()
        answered: set[str] = set()
        for entry in self._main:
            if entry.uuid not in walked:
                continue
            if entry.type == "assistant":
                for row in self._responses[response_key(entry)]:
                    called.update(call_ids(row))
                    if row.uuid not in walked:
                        beside.add(row.uuid)
            elif entry.type == "user":
                answered.update(answered_ids(entry))
        for entry in self._main:
            if entry.type != "user" or entry.uuid in walked:
                continue
            missing = [i for i in answered_ids(entry) if i in called and i not in answered]
            if missing:
                answered.update(missing)
                beside.add(entry.uuid)
        return beside

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
    anchor = _preserved_list(main[0]).get("anchorUuid")
    places = [place for place, entry in enumerate(main) if entry.uuid == anchor]
    cut = places[0] + 1 if places else 1
    kept = {entry.uuid for entry in preserved}
    rest = [entry for entry in main if entry.uuid not in kept]
    return [*rest[:cut], *preserved, *rest[cut:]]


def call_blocks(entries: Iterable[Entry]) -> Iterator[Mapping[str, Any]]:
    """The `tool_use` blocks of assistant lines, in order."""
    for entry in entries:
        if entry.type == "assistant":
            for block in blocks_of(entry):
                if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                    yield block


def call_ids(entry: Entry) -> list[str]:
    """The ids of the tool calls that a line makes."""
    return [block["id"] for block in call_blocks((entry,))]


def answered_ids(entry: Entry) -> list[str]:
    """The ids of the calls that a line holds results of."""
    return [
        block["tool_use_id"]
        for block in blocks_of(entry)
        if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str)
    ]


def blocks_of(entry: Entry) -> Iterator[Mapping[str, Any]]:
    """The content blocks of a line; none where its content is plain text."""
    if isinstance(entry.content, list):
        yield from (block for block in entry.content if isinstance(block, dict))


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
                for call_id in call_ids(head):
                    self._caller.setdefault(call_id, key)
            elif head.type == "user":
                for call_id in answered_ids(head):
                    self._results.setdefault(call_id, []).append(unit)

    def next_of(self, unit: Unit) -> Iterator[Unit]:
        """The unit, with all of its response and the results where it is one; nothing while it must wait."""
        head = unit[0]
        if head.type == "assistant":
            yield from self._response(response_key(head))
            return
        callers = {self._caller[i] for i in answered_ids(head) if i in self._caller}
        if callers <= self._done:
            self.taken.add(id(unit))
            yield unit

    def _response(self, key: str) -> Iterator[Unit]:
        self._done.add(key)
        rows = self._rows[key]
        ids = [call_id for row in rows for call_id in call_ids(row[0])]
        answers = [self._results[i].pop(0) for i in ids if self._results.get(i)]
        for unit in [*rows, *sorted(answers, key=lambda answer: answer[0].index)]:
            if id(unit) not in self.taken:
                self.taken.add(id(unit))
                yield unit


def response_key(entry: Entry) -> str:
    """What the rows of one response share: its message id, or the row's own id where there is none."""
    return entry.message_id or entry.uuid
