"""The candidates of a conversation, found anew at each look (rule G10)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import or_
from typing import Final, TypeAlias

from context_editor.core.candidates import ready
from context_editor.core.candidates.facts import DiskFacts
from context_editor.core.candidates.finished import CallMemory, Calls, Finished
from context_editor.core.candidates.model import POINTER_CAUSES, RANK, Candidate, Cause
from context_editor.core.candidates.reads import (
    duplicates,
    evidence,
    stale_reads,
    superseded_reads,
)
from context_editor.core.candidates.texts import REMEMBERED_TEXTS, TextMemory
from context_editor.core.conversation import Conversation
from context_editor.core.edits import wording
from context_editor.core.edits.admit import PLACEHOLDER_ID
from context_editor.core.edits.checks import is_gain
from context_editor.core.edits.ground import Ground
from context_editor.core.rows import Piece, Row, RowKind

CHARS_PER_BIG_TOKEN: Final = 4
"""Characters that count as one token of the big mark: 8,000 for 2,000 tokens (rule G1)."""

MOST_TOKENS_PER_CHAR: Final = 4
"""No text has more tokens than this for one character: a shorter one is never big."""

PointerKey: TypeAlias = tuple[str, Cause, str, int]
"""What a ready-made text is made of: the row, the cause, the row that shows it, and its number."""

_NEVER_KINDS: Final = frozenset({RowKind.PERSON, RowKind.SERVICE})


@dataclass(frozen=True)
class ReviewSettings:
    """What a person may set.

    Attributes:
        big_row_tokens: From this size on an output is big, in tokens.
        search_after_turns: Completed turns after its own after which a search is a candidate.
    """

    big_row_tokens: int = 2_000
    search_after_turns: int = 3


@dataclass
class ReviewMemory:
    """What was worked out at earlier looks; the engine keeps one for as long as it lives.

    Attributes:
        calls: What was worked out about calls.
        pointers: The size of the original, the ready-made text and what it saves, by what it is
            made of.
    """

    calls: CallMemory = field(default_factory=CallMemory)
    pointers: dict[PointerKey, tuple[int, str, int]] = field(
        default_factory=dict[PointerKey, tuple[int, str, int]]
    )

    @property
    def texts(self) -> TextMemory:
        """What was worked out about texts."""
        return self.calls.texts

    def forget_some(self) -> None:
        """Keep the memory bounded; called once a review."""
        self.texts.forget_some()
        if len(self.pointers) > REMEMBERED_TEXTS:
            self.pointers.clear()


@dataclass(frozen=True)
class Review:
    """Everything that a review looks at.

    Attributes:
        ground: Names, sizes, the queue, and the rows that are protected.
        disk: What the disk says about the files that rows name.
        settings: What a person may set.
        agent_marks: Anchors of the rows that the agent marked for review (rule G6).
        memory: What was worked out at earlier looks.
    """

    ground: Ground
    disk: DiskFacts = field(default_factory=DiskFacts)
    settings: ReviewSettings = field(default_factory=ReviewSettings)
    agent_marks: frozenset[str] = frozenset()
    memory: ReviewMemory = field(default_factory=ReviewMemory)

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        return self.ground.conversation


@dataclass(frozen=True)
class _Pointers:
    """Which rows are out of date or stand elsewhere, and the row that shows it, by anchor."""

    rows: Mapping[Cause, Mapping[str, Row | None]]

    def causes(self) -> dict[str, tuple[Cause, ...]]:
        """The pointer causes that hold, in the order of `Cause`, by anchor."""
        held: dict[str, tuple[Cause, ...]] = {}
        for cause, found in self.rows.items():
            for anchor in found:
                held[anchor] = (*held[anchor], cause) if anchor in held else (cause,)
        return held


def candidates(review: Review) -> tuple[Candidate, ...]:
    """The candidates, in the order of their rows; each row at most once.

    Never a row of a person or of this product, nor a protected, pending or queued one.
    """
    review.memory.forget_some()
    calls = review.memory.calls.finished(review.conversation.rows)
    causes = _tool_causes(calls, review)
    pointers = _pointers(calls, review)
    pointed = pointers.causes()
    named = {*causes, *pointed, *review.agent_marks}
    untouchable = untouchable_rows(review.ground, named)
    found: list[Candidate] = []
    for row in _standing(named - untouchable, review.conversation):
        anchor = row.anchor
        pointer_causes = pointed.get(anchor, ())
        text, saved = "", 0
        if pointer_causes:
            text, saved = _ready_made(row, pointer_causes[0], pointers, review)
        held = _in_order(pointer_causes if saved else (), causes.get(anchor, ()), anchor, review)
        if held:
            found.append(Candidate(anchor, held, review.ground.sizer.row(row), text, saved))
    return tuple(found)


def _standing(anchors: Iterable[str], conversation: Conversation) -> Sequence[Row]:
    """The rows with these anchors, in their order."""
    places = conversation.index.places
    found = sorted(places[anchor] for anchor in anchors if anchor in places)
    return [conversation.rows[place] for place in found]


def _in_order(
    pointers: tuple[Cause, ...], others: tuple[Cause, ...], anchor: str, review: Review
) -> tuple[Cause, ...]:
    """All causes of a row in the order of `Cause`."""
    if anchor not in review.agent_marks:
        return pointers + others
    return tuple(sorted((*pointers, *others, Cause.AGENT), key=RANK.__getitem__))


def _pointers(calls: Calls, review: Review) -> _Pointers:
    leaving = frozenset(anchor for edit in review.ground.queue for anchor in edit.anchors)
    texts = review.memory.texts
    found = evidence(calls, review.disk)
    return _Pointers(
        {
            Cause.STALE: stale_reads(found, review.disk, texts),
            Cause.SUPERSEDED: superseded_reads(found, texts),
            Cause.DUPLICATE: duplicates(calls, found, leaving),
        }
    )


def _tool_causes(calls: Calls, review: Review) -> dict[str, tuple[Cause, ...]]:
    """Which calls are old searches and which have a large output, by anchor."""
    newest = review.conversation.turns - review.settings.search_after_turns
    causes: dict[str, tuple[Cause, ...]] = {
        one.row.anchor: (Cause.BIG,) for one in _big(calls.originals, review)
    }
    for one in calls.searches:
        anchor = one.row.anchor
        if one.row.turn <= newest:
            causes[anchor] = (Cause.SEARCH, *causes.get(anchor, ()))
    return causes


def _big(calls: Sequence[Finished], review: Review) -> Iterable[Finished]:
    """The calls with a large output."""
    tokens = review.settings.big_row_tokens
    big_chars = CHARS_PER_BIG_TOKEN * tokens
    results = [one.result for one in calls]
    chars = [len(result.text) for result in results]
    measured = review.ground.sizer.at_least(results, tokens)
    found = compress(calls, map(or_, map(big_chars.__le__, chars), measured))
    return [
        one
        for one in found
        if MOST_TOKENS_PER_CHAR * len(one.result.text) >= tokens or one.result.media
    ]


def _ready_made(row: Row, cause: Cause, pointers: _Pointers, review: Review) -> tuple[str, int]:
    """The ready-made text and what it saves; nothing where that is too little (rule G8)."""
    by = pointers.rows[cause][row.anchor]
    names, result = review.ground.names, row.result
    before = review.ground.sizer.piece(result) if result else 0
    key = (row.anchor, cause, by.anchor if by else "", names.number(by) if by else 0)
    known = review.memory.pointers.get(key)
    if known is None or known[0] != before:
        what = ready.source_words(row, review.memory.texts.lines(row.text))
        text = ready.pointer_text(what, cause, by, names)
        known = (before, text, pointer_gain(row, before, text, review.ground))
        review.memory.pointers[key] = known
    return (known[1], known[2]) if known[2] else ("", 0)


def pointer_gain(row: Row, before: int, text: str, ground: Ground) -> int:
    """What a summarize of this row saves, in tokens; 0 where that is too little (rule C17).

    Args:
        row: The row.
        before: The size of its result.
        text: The text that is to stand there.
        ground: Sizes, and where originals go.
    """
    words = wording.summarized(
        "agent", row.source, PLACEHOLDER_ID, ground.original_path(""), (), text
    )
    after = ground.sizer.text(words)
    return before - after if is_gain(before, after) else 0


def untouchable_rows(
    ground: Ground, among: frozenset[str] | set[str] | None = None
) -> frozenset[str]:
    """Anchors of the rows that are never candidates, and that no policy may touch.

    Rows of a person and of this product; protected, pending and queued ones; and those that hold or
    carry what cannot be sent again.

    Args:
        ground: What is protected and queued.
        among: The rows that are asked about; None for all.
    """
    conversation = ground.conversation
    rows = conversation.rows if among is None else _standing(among, conversation)
    stuck = _stuck_positions(conversation)
    queued = {anchor for edit in ground.queue for anchor in edit.anchors}
    return frozenset(
        row.anchor
        for row in rows
        if row.kind in _NEVER_KINDS
        or row.is_pending
        or row.is_hidden
        or row.anchor in ground.protected
        or row.anchor in queued
        or (stuck and not stuck.isdisjoint(row.positions))
    )


def _stuck_positions(conversation: Conversation) -> set[int]:
    """Positions of pieces that cannot be replaced, because something could not be sent again.

    Either a host row behind the piece, or media beside it in the same stored row.
    """
    pieces, special = conversation.pieces, conversation.index.special
    holding = [at for at in special if not pieces[at].rides]
    stuck = {conversation.bearer(at) for at in special if pieces[at].rides}
    return stuck | _beside_media(holding, pieces)


def _beside_media(holding: Sequence[int], pieces: Sequence[Piece]) -> set[int]:
    """Positions in stored rows whose change would build another piece with media anew."""
    if not holding:
        return set()
    held = Counter(pieces[at].handle for at in holding)
    shared = (at for at, piece in enumerate(pieces) if piece.handle in held and not piece.rides)
    return {at for at in shared if held[pieces[at].handle] > bool(pieces[at].media)}


def has_pointer(candidate: Candidate) -> bool:
    """Whether what a candidate holds is out of date or stands elsewhere."""
    return not POINTER_CAUSES.isdisjoint(candidate.causes)
