"""The state slot: numbered items that one own text row shows, rebuilt with every apply (group H). Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.edits.checks import MAX_TEXT_CHARS
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit, Op
from context_editor.core.rows import Row
from context_editor.core.stages.state import Item, ItemFlag, ItemKind, WorkState
from context_editor.core.stages.words import checked_words
from context_editor.errors import RefusedError

DOS: Final = "add, set, mark, unmark, remove"
KINDS: Final = ", ".join(ItemKind)

SECTIONS: Final[Mapping[ItemKind, str]] = {
    ItemKind.GOAL: "Goal",
    ItemKind.PLAN: "Plan",
    ItemKind.DONE: "Done",
    ItemKind.NEXT: "Next",
    ItemKind.FACT: "Facts",
    ItemKind.QUESTION: "Open questions",
}
"""The headings of the slot, in order."""

TITLE: Final = "State"
NO_LONGER_TRUE: Final = "No longer true"
NOT_TO_BE_ACTED_ON: Final = "not to be acted on"
EMPTY: Final = "no items"

FLAGS: Final[Mapping[str, ItemFlag]] = {"harmful": "harmful", "outdated": "outdated"}


@dataclass(frozen=True)
class StateChange:
    """One element of `changes`, after its JSON was checked.

    Attributes:
        do: `add`, `set`, `mark`, `unmark` or `remove`.
        kind: The kind of an added item: `goal`, `plan`, `done`, `next`, `fact` or `question`.
        id: The item that is changed.
        text: The item's words; for a mark the reason, which may be empty.
        flag: For a mark: `harmful` or `outdated`.
    """

    do: str
    kind: str = ""
    id: str = ""
    text: str = ""
    flag: str = ""


@dataclass(frozen=True)
class StateOutcome:
    """What a state op did.

    Attributes:
        work: The state afterwards.
        edit: The edit to queue. Where a state edit is queued already it has that edit's id and takes its place.
        texts: What happened, one text a change.
        warnings: What the caller should know.
    """

    work: WorkState
    edit: Edit
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def apply_state_changes(
    work: WorkState, changes: Sequence[StateChange], ground: Ground, new_id: Callable[[str], str]
) -> StateOutcome:
    """Carry out the changes of one state op, in order, whole or not at all.

    Args:
        work: The state; it is not changed.
        changes: The op's changes.
        ground: The conversation, sizes and the queue.
        new_id: Gives a fresh id for a letter; ids are never given out twice.

    Raises:
        RefusedError: A change breaks a rule; it is named by its position.
    """
    if not changes:
        msg = f"changes is empty: give at least one change; `do` is one of {DOS}"
        raise RefusedError(msg)
    items, texts = _Items(work.items, ground, new_id), list[str]()
    for position, change in enumerate(changes):
        try:
            texts.append(items.done(change))
        except RefusedError as error:
            msg = f"changes[{position}] ({change.do}): {error}"
            raise RefusedError(msg) from error
    after = replace(work, items=tuple(items.items))
    edit = state_edit(after, ground, new_id)
    return StateOutcome(after, edit, tuple(texts), tuple(items.warnings))


@dataclass
class _Items:
    """The items as the changes go along."""

    items: Sequence[Item]
    ground: Ground
    new_id: Callable[[str], str]
    warnings: list[str] = field(default_factory=list[str])
    _handlers: Mapping[str, Callable[[StateChange], str]] = field(init=False)

    def __post_init__(self) -> None:
        self._handlers = {
            "add": self._add,
            "set": self._set,
            "mark": self._mark,
            "unmark": self._unmark,
            "remove": self._remove,
        }

    def done(self, change: StateChange) -> str:
        handler = self._handlers.get(change.do)
        if handler is None:
            msg = f"unknown do {change.do!r}: allowed are {DOS}"
            raise RefusedError(msg)
        return handler(change)

    def _add(self, change: StateChange) -> str:
        if change.kind not in set(ItemKind):
            msg = f"unknown kind {change.kind!r}: allowed are {KINDS}"
            raise RefusedError(msg)
        kind = ItemKind(change.kind)
        text = self._checked(change.text)
        item = Item(self.new_id(kind[0]), kind, text)
        self.items = (*self.items, item)
        return f"{item.id} added to {kind}"

    def _set(self, change: StateChange) -> str:
        item = self._known(change.id)
        self._put(replace(item, text=self._checked(change.text)))
        return f"{item.id} set"

    def _mark(self, change: StateChange) -> str:
        item = self._known(change.id)
        flag = FLAGS.get(change.flag)
        if flag is None:
            msg = f"`as` is {change.flag!r}: allowed are {', '.join(FLAGS)}"
            raise RefusedError(msg)
        reason = self._checked(change.text) if change.text else ""
        self._put(replace(item, flag=flag, reason=reason))
        return f"{item.id} marked {flag}"

    def _unmark(self, change: StateChange) -> str:
        item = self._known(change.id)
        if not item.flag:
            msg = f"{item.id} has no mark to take back"
            raise RefusedError(msg)
        self._put(replace(item, flag="", reason=""))
        return f"{item.id} in force again"

    def _remove(self, change: StateChange) -> str:
        item = self._known(change.id)
        self.items = tuple(other for other in self.items if other != item)
        return f"{item.id} removed"

    def _put(self, item: Item) -> None:
        self.items = tuple(item if other.id == item.id else other for other in self.items)

    def _known(self, item_id: str) -> Item:
        for item in self.items:
            if item.id == item_id:
                return item
        known = ", ".join(item.id for item in self.items)
        msg = f"there is no item {item_id!r}: {f'items are {known}' if known else 'the state has no items'}"
        raise RefusedError(msg)

    def _checked(self, text: str) -> str:
        way = "say what the item holds"
        self.warnings += checked_words(text, "text", self.ground.person_texts(), way)
        return text.strip()


def state_edit(work: WorkState, ground: Ground, new_id: Callable[[str], str]) -> Edit:
    """The edit that rebuilds the slot from the items.

    Returns:
        A state edit; its anchors are empty where there is no slot yet. A queued one keeps its id.

    Raises:
        RefusedError: The items together are too long for one row.
    """
    text = slot_text(work.items)
    if len(text) > MAX_TEXT_CHARS:
        msg = f"the state would have {len(text)} characters, allowed are {MAX_TEXT_CHARS}: remove or shorten items"
        raise RefusedError(msg)
    places = Places(ground.conversation)
    slot = places.row(work.slot) if work.slot else None
    old = tuple(row for anchor in work.leaving if (row := places.row(anchor)))
    before = sum(map(ground.sizer.row, filter(None, (slot, *old))))
    queued = next((edit.id for edit in ground.queue if edit.op is Op.STATE), "")
    return Edit(
        id=queued or new_id("q"),
        op=Op.STATE,
        anchors=(slot.anchor,) if slot else (),
        text=text,
        saved_tokens=before - ground.sizer.text(text),
    )


def slot_text(items: Sequence[Item]) -> str:
    """The words of the slot: plain text, no replacement wording (rules H5 and H7).

    What is outdated stands under a heading of its own; what is harmful stays where it was, struck out.
    """
    parts = [TITLE]
    for kind, heading in SECTIONS.items():
        held = [item for item in items if item.kind is kind and item.flag != "outdated"]
        parts += _section(heading, held)
    parts += _section(NO_LONGER_TRUE, [item for item in items if item.flag == "outdated"])
    return "\n".join(parts if items else (*parts, EMPTY))


def _section(heading: str, items: Sequence[Item]) -> list[str]:
    return [f"{heading}:", *map(_item_line, items)] if items else []


def _item_line(item: Item) -> str:
    text = "\n  ".join(item.text.splitlines())
    reason = f": {item.reason}" if item.reason else ""
    match item.flag:
        case "harmful":
            return f"- {item.id} ~~{text}~~ ({NOT_TO_BE_ACTED_ON}{reason})"
        case "outdated":
            return f"- {item.id} {text}{f' ({item.reason})' if item.reason else ''}"
        case "":
            return f"- {item.id} {text}"


@dataclass(frozen=True)
class SlotPlace:
    """Where an apply puts the slot.

    Attributes:
        row: The row that is rebuilt; None where the slot is a new row.
        at: For a new row: the first row of the collapse in whose place it goes; None for the end.
        leaving: Earlier slots that go, because the items moved to another row.
    """

    row: Row | None = None
    at: Row | None = None
    leaving: tuple[Row, ...] = ()


def slot_place(work: WorkState, queue: Sequence[Edit], ground: Ground) -> SlotPlace:
    """Where a state edit of this queue puts the slot (rule H9).

    Of several collapses in one batch the last one is the place: what it took away is what the state is about.
    """
    places = Places(ground.conversation)
    row = places.row(work.slot) if work.slot else None
    leaving = tuple(old for anchor in work.leaving if (old := places.row(anchor)))
    firsts = (
        places.conversation.by_anchor.get(edit.anchors[0])
        for edit in queue
        if edit.op is Op.COLLAPSE and edit.anchors
    )
    at = max(filter(None, firsts), key=lambda r: r.positions[0], default=None)
    return SlotPlace(row, None if row else at, leaving)


def state_cancelled(work: WorkState) -> WorkState:
    """The state after its queued state edit was withdrawn: items and slot as the conversation shows them."""
    slot = work.leaving[0] if work.leaving else work.slot
    return replace(work, items=work.shown, slot=slot, leaving=())


def moved_slot(work: WorkState, row: Row, places: Places) -> WorkState:
    """The state with the slot on another row (rule H2); an earlier row that shows items goes with the next apply."""
    new = places.anchor(row)
    is_shown = work.slot is not None and bool(work.shown)
    leaving = (*work.leaving, work.slot) if is_shown and work.slot else work.leaving
    back = tuple(anchor for anchor in leaving if anchor.id != new.id)
    return replace(work, slot=new, leaving=back)


def is_slot_missing(work: WorkState, places: Places) -> bool:
    """Whether there are items and no row shows them: the slot is to be put back (rule H12)."""
    return bool(work.items) and (work.slot is None or places.row(work.slot) is None)
