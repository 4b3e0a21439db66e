"""What a session remembers about its own work: stage, blocks, marks, notes and items. Never the conversation.

Frozen values all through: a call works on its own copy, so that a refused one has changed nothing.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from context_editor.core.anchors import Anchor


class MarkKind(StrEnum):
    """What a mark says about its rows; the state slot has a field of its own."""

    PIN = "pin"
    DISPOSABLE = "disposable"
    REVIEW = "review"
    KEEP = "keep"


class ItemKind(StrEnum):
    """What an item of the state slot is; the first letter begins its id."""

    GOAL = "goal"
    PLAN = "plan"
    DONE = "done"
    NEXT = "next"
    FACT = "fact"
    QUESTION = "question"


ItemFlag: TypeAlias = Literal["", "harmful", "outdated"]
"""Why an item is not to be used any more; empty while it is."""

ClosedBy: TypeAlias = Literal["tool", "marker"]
"""How a block was closed: by a call of context_tag, or by the optimize marker."""


@dataclass(frozen=True)
class Stage:
    """The open stage.

    Attributes:
        name: Its name.
        start: Where it begins.
        is_behind: Whether it begins behind that row: the answer that opened it was not to be seen yet.
    """

    name: str
    start: Anchor
    is_behind: bool = False


@dataclass(frozen=True)
class Block:
    """A closed stretch of rows. A record, not an owner: blocks may overlap.

    Attributes:
        name: The stage's name, or `since …` for a stretch without one.
        first: Its first row.
        last: Its last row.
        turn: The turn in which it was closed.
        by: What closed it.
    """

    name: str
    first: Anchor
    last: Anchor
    turn: int = 0
    by: ClosedBy = "tool"


@dataclass(frozen=True)
class Waiting:
    """Says that the latest block waits to be compressed (rule E4).

    Attributes:
        is_told: Whether a prompt has named it already (rule E5).
    """

    is_told: bool = False


@dataclass(frozen=True)
class Run:
    """Neighbouring rows, by the first and the last of them."""

    first: Anchor
    last: Anchor


@dataclass(frozen=True)
class Mark:
    """One mark on rows.

    Attributes:
        kind: What it says.
        runs: Its rows: one row, except for a disposable mark, which has a run on either side of a person's row.
        note: The words that it was given; for a disposable mark they become the replacement.
        kept_as: For a keep mark: the protected kind (`rubrics`).
        until_turns: For a review mark with a life: it is gone once this many turns are completed; 0 for no end.
        is_product: Whether this product set it (the handoff document, the summary that a conversation begins with).
    """

    kind: MarkKind
    runs: tuple[Run, ...]
    note: str = ""
    kept_as: str = ""
    until_turns: int = 0
    is_product: bool = False


@dataclass(frozen=True)
class Item:
    """One item of the state slot.

    Attributes:
        id: Its id, such as `p3`; never given out again.
        kind: What it is.
        text: Its words.
        flag: Why it is not to be used any more.
        reason: The words given with the flag.
    """

    id: str
    kind: ItemKind
    text: str
    flag: ItemFlag = ""
    reason: str = ""


@dataclass(frozen=True)
class Note:
    """One note; it lives outside the conversation.

    Attributes:
        id: Its id, such as `n2`.
        text: Its words.
        link: The row that it is about; None for a note about none.
        quote: The beginning of the row when the note was written.
        remind_after: It is shown at the first prompt after this many completed turns; 0 for never (again).
    """

    id: str
    text: str
    link: Anchor | None = None
    quote: str = ""
    remind_after: int = 0


@dataclass(frozen=True)
class WorkState:
    """Everything of groups B, D, E, H and I that outlives a call.

    Attributes:
        stage: The open stage.
        blocks: Closed blocks, oldest first; the last one is the one that waits, if one does.
        waiting: Whether the latest block waits.
        has_staged: Whether a stage was ever opened in this session.
        marks: Marks, oldest first. A disposable mark leaves this list when it becomes a queued edit.
        slot: The state slot.
        items: Items as accepted, in the order of their making.
        shown: Items as the slot in the conversation shows them; differs while a state edit is queued.
        leaving: Earlier slots that go with the next apply, because the items moved to another row.
        notes: Notes, oldest first.
        seeds: Prints of rows that this product pinned once and never pins again.
    """

    stage: Stage | None = None
    blocks: tuple[Block, ...] = ()
    waiting: Waiting | None = None
    has_staged: bool = False
    marks: tuple[Mark, ...] = ()
    slot: Anchor | None = None
    items: tuple[Item, ...] = ()
    shown: tuple[Item, ...] = ()
    leaving: tuple[Anchor, ...] = ()
    notes: tuple[Note, ...] = ()
    seeds: tuple[str, ...] = ()

    @property
    def waiting_block(self) -> Block | None:
        """The block that waits to be compressed; None when none does."""
        return self.blocks[-1] if self.waiting and self.blocks else None
