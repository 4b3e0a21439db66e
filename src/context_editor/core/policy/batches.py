"""Batches of the policy: three rows, one digest, one archive record (rules L4 to L6)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from context_editor.core.edits import wording
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit, Op
from context_editor.core.policy.candidates import PolicyRow, Step, dropped_text, result_words
from context_editor.core.policy.citations import Cited, sources_of
from context_editor.core.rows import Row

BATCH_ROWS: Final = 3
"""Rows of a batch; the last one may have fewer (rule L4)."""

REASON: Final = "token_budget_exceeded"
"""The reason of the policy's archive records (rule L11)."""

BatchKind: TypeAlias = Literal["pointer", "digest", "drop", "fold"]
"""What stands afterwards: a ready-made text a row, one digest for all, a bare pointer a row, or one row for all."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class PlannedBatch:
    """One batch that a pass replaces.

    Attributes:
        kind: What stands afterwards.
        rows: Its rows, oldest first.
        edits: One summarize a row, in the same order, or one collapse; ids are empty until they are queued.
        digest: What the archive record says that stands in their place; None for bare pointers.
        original_tokens: The size of the results before.
        digest_tokens: The size of the digest or of the ready-made texts; 0 for bare pointers.
        saved_tokens: What every later request is spared, all wording counted.
        cited: The sources of its rows.
    """

    kind: BatchKind
    rows: tuple[Row, ...]
    edits: tuple[Edit, ...]
    digest: str | None
    original_tokens: int
    digest_tokens: int
    saved_tokens: int
    cited: tuple[Cited, ...] = ()


@dataclass(frozen=True)
class LeftBatch:
    """One batch that stays as it is.

    Attributes:
        rows: Its rows.
        why: Why it stays.
    """

    rows: tuple[Row, ...]
    why: str


def batched(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """The items in threes, in order; the last batch may be smaller."""
    for start in range(0, len(items), BATCH_ROWS):
        yield tuple(items[start : start + BATCH_ROWS])


def in_batches(rows: Sequence[PolicyRow]) -> list[tuple[PolicyRow, ...]]:
    """Rows in the order of their steps as batches; ready-made texts in batches of their own."""
    pointers = [row for row in rows if row.step is Step.POINTER]
    others = [row for row in rows if row.step is not Step.POINTER]
    return [*batched(pointers), *batched(others)]


def pointer_batch(members: Sequence[PolicyRow], ground: Ground) -> PlannedBatch:
    """A batch of rows that are out of date or stand elsewhere."""
    said = [_Said(m.row, m.text, result_words(m.row, m.text, ground)) for m in members]
    return _planned("pointer", said, "\n".join(one.text for one in said), ground)


def drop_batch(rows: tuple[Row, ...], ground: Ground) -> PlannedBatch:
    """A batch that goes without a digest: archived, with a pointer for each row (rule L6)."""
    said = [
        _Said(row, text := dropped_text(row, ground), result_words(row, text, ground))
        for row in rows
    ]
    return _planned("drop", said, None, ground)


def digest_batch(rows: tuple[Row, ...], digest: str, ground: Ground) -> PlannedBatch:
    """A batch whose first row holds the digest of all; the others say where it stands (rule L4)."""
    first, *others = rows
    ref, path = ground.names.ref(first), ground.original_path("")
    said = [
        _Said(first, digest, result_words(first, digest, ground)),
        *(_Said(row, "", wording.digest_elsewhere(row.source, ref, path)) for row in others),
    ]
    return _planned("digest", said, digest, ground)


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said in the place of a row: the edit's text, and all words that will stand there."""

    row: Row
    text: str
    words: str


def _planned(
    kind: BatchKind, said: Sequence[_Said], digest: str | None, ground: Ground
) -> PlannedBatch:
    sizer = ground.sizer
    rows = tuple(one.row for one in said)
    before = [sizer.piece(row.result) if row.result else 0 for row in rows]
    spared = [size - sizer.text(one.words) for size, one in zip(before, said, strict=True)]
    first = rows[0].anchor
    edits = tuple(
        Edit(
            "",
            Op.SUMMARIZE,
            (one.row.anchor,),
            one.text,
            "policy",
            saved_tokens=saved,
            digest_at=first if kind == "digest" else "",
            reason=REASON,
            batch=first,
            is_bare=kind == "drop",
        )
        for one, saved in zip(said, spared, strict=True)
    )
    cited = () if kind == "pointer" else tuple(_cited(row, ground) for row in rows)
    digest_tokens = sizer.text(digest) if digest else 0
    return PlannedBatch(kind, rows, edits, digest, sum(before), digest_tokens, sum(spared), cited)


def _cited(row: Row, ground: Ground) -> Cited:
    return Cited(row, ground.names.ref(row), sources_of(row))
