"""What a plan is made of: edits that are ready, what they are placed in, and what becomes of each piece."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from context_editor.core.apply.emissions import (
    Build,
    Emission,
)
from context_editor.core.apply.stored import StoredRow, stored_rows
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit
from context_editor.core.rows import Piece, Row
from context_editor.core.slot import SlotPlace


@dataclass(frozen=True)
class Placed:
    """An edit whose originals are archived and whose rows were found again.

    Attributes:
        edit: The queued edit.
        rows: The rows that it replaces, in order.
        id: The replacement's id, such as `c7`.
        original: The absolute path of the first original.
        media: Absolute paths of the media that stood in the rows.
        restored: For a restore: the pieces to bring back, in order.
        digest_ref: For a policy batch: the ref of the row that holds the digest; empty for that row itself.
        text: The text to put there, where it differs from the edit's own (a state slot, a batch pointer).
    """

    edit: Edit
    rows: tuple[Row, ...]
    id: str
    original: str
    media: tuple[str, ...] = ()
    restored: tuple[Piece, ...] = ()
    digest_ref: str = ""
    text: str = ""


@dataclass(frozen=True)
class Plan:
    """A new conversation, ready to hand to the host.

    Attributes:
        emissions: Its rows, in order.
        first_changed: The position of the first piece that changes; the count of pieces when none does.
        thinking_dropped: Thinking blocks that go behind it.
        dropped_own: Anchors of own rows that go.
    """

    emissions: tuple[Emission, ...]
    first_changed: int
    thinking_dropped: int
    dropped_own: tuple[str, ...]


@dataclass(frozen=True)
class Surroundings:
    """What a plan needs to know besides the edits.

    Attributes:
        conversation: The conversation as it is.
        own_tool: The full name of the tool whose call a collapse pretends.
        running_response: While a turn runs, the answer that must stay whole; None at a turn's end.
        service_tokens: The size of every hidden row, by anchor.
        keep_cache: Whether own rows in front of the first edit must stay.
        rebuild: Whether every assistant row and every result is built anew (the resume fallback).
        index: The anchor of a row and the text of the product's own row that is to stand behind it; None for none.
        slot: Where a state edit puts the slot, and which earlier slots go; None where there is no such edit.
    """

    conversation: Conversation
    own_tool: str
    running_response: str | None = None
    service_tokens: Mapping[str, int] = field(default_factory=dict)
    keep_cache: bool = False
    rebuild: bool = False
    slot: SlotPlace | None = None
    index: tuple[str, str] | None = None

    @cached_property
    def stored(self) -> tuple[StoredRow, ...]:
        """The conversation by stored row."""
        return tuple(stored_rows(self.conversation.pieces))


@dataclass
class Changes:
    """What becomes of single positions.

    Attributes:
        built: The row that takes the place of one piece.
        inserted: Rows that stand on their own where a block begins: a collapse's pair, restored rows.
        behind: Such rows behind the stored row of a position, where they may not stand earlier.
        gone: Positions that are left out.
    """

    built: dict[int, Build] = field(default_factory=dict)
    inserted: dict[int, tuple[Build, ...]] = field(default_factory=dict)
    behind: dict[int, tuple[Build, ...]] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def touched(self) -> set[int]:
        """Every position at which something changes."""
        return {*self.built, *self.inserted, *self.gone, *(at + 1 for at in self.behind)}

    def places(self) -> set[int]:
        """Every position whose stored row is not simply kept."""
        return {*self.built, *self.inserted, *self.gone, *self.behind}
