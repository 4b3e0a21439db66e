"""What admission is judged against, and what it grants."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.names import Names
from context_editor.core.rows import Piece, Row


class Sizer(Protocol):
    """Sizes in calibrated tokens."""

    def text(self, text: str) -> int:
        """The size of a text."""
        ...

    def row(self, row: Row) -> int:
        """The size of a row, its call, result and media included."""
        ...

    def piece(self, piece: Piece) -> int:
        """The size of one piece, its media included."""
        ...

    def each(self, pieces: Sequence[Piece]) -> Sequence[int]:
        """The size of each of several pieces: those of a whole conversation."""
        ...

    def at_least(self, pieces: Sequence[Piece], tokens: int) -> Sequence[bool]:
        """Whether each of several pieces is so large."""
        ...


@dataclass(frozen=True)
class Ground:
    """What admission is judged against.

    Attributes:
        names: The rows and their names.
        sizer: Sizes in tokens.
        queue: What is queued already.
        replacements: Every replacement so far, by id.
        protected: Rows that no edit may cover, by anchor, with the reason: `pinned`, `the state slot`.
        original_path: The path where an original with this text will stand.
        rewritable: The same as `protected`, for a rewrite: it may change a state slot without items.
        reproducible: Anchors of rows whose output can be had again (rule A6).
    """

    names: Names
    sizer: Sizer
    queue: Sequence[Edit] = ()
    replacements: Mapping[str, Replacement] = field(default_factory=dict)
    protected: Mapping[str, str] = field(default_factory=dict)
    original_path: Callable[[str], str] = lambda _: ""
    reproducible: Container[str] = frozenset()
    rewritable: Mapping[str, str] | None = None

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        return self.names.conversation

    def person_texts(self) -> tuple[str, ...]:
        """Everything that a person said in the session, in order."""
        return tuple(p.typed for p in self.conversation.pieces if p.typed)


@dataclass(frozen=True)
class Admitted:
    """An edit that may be queued.

    Attributes:
        op: Its op.
        rows: The rows that it replaces, in order.
        text: The caller's text.
        saved_tokens: What every later request is spared.
        warnings: What the caller should know.
        target: The replacement that a restore undoes.
        ousts: Queued edits of a disposable mark that this one takes the place of (rule D8).
    """

    op: Op
    rows: tuple[Row, ...]
    text: str = ""
    saved_tokens: int = 0
    warnings: tuple[str, ...] = ()
    target: str = ""
    ousts: tuple[str, ...] = ()
