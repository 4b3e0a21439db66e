"""How rows and the header are shown: one line each, in the contract's forms (group A)."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from context_editor.core.edits.admit import REPRODUCIBLE_TOOLS
from context_editor.core.edits.wording import cut
from context_editor.core.names import Names
from context_editor.core.plain import one_line
from context_editor.core.rows import Row, RowKind
from context_editor.core.sizes.wording import format_tokens

PREVIEW_CHARS: Final = 80
"""The longest preview of a row: it says which row it is, no more."""

ROW_TEXT_CHARS: Final = 4_000
"""The longest text of one row that a listing shows (contract)."""


@dataclass(frozen=True)
class Header:
    """The lines above the rows, as far as there is something to say.

    Attributes:
        context: Tokens, the window (0 when unknown), and whether the figure is approximate.
        rows: The count and the epoch.
        stage: The open or waiting stage, in words.
        queued: Queued edits, tokens saved, and when they apply.
        effect: What was saved so far.
        cache: What the queue means for the cached prefix.
        others: Further lines, whole, in their order.
    """

    context: str
    rows: str
    stage: str = "none"
    queued: str = "0"
    effect: str = "0 edit(s), 0 saved, 0 reread(s) of compressed content"
    cache: str = "nothing queued"
    others: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The header, one line each."""
        return (
            f"Context: {self.context}",
            f"Rows: {self.rows}",
            f"Stage: {self.stage}",
            f"Queued: {self.queued}",
            f"Effect: {self.effect}",
            f"Cache: {self.cache}",
            *self.others,
        )


@dataclass(frozen=True)
class RowMarks:
    """What stands behind a row's size.

    Attributes:
        queued: The queued edit that covers it, by anchor.
        flags: Flags in their order, by anchor: `[pin]`, `[state]`, `[disposable: …]`, stage and block, review.
        reproducible: Anchors of rows whose output can be had again.
    """

    queued: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reproducible: Container[str] = frozenset()


def context_words(tokens: int, window: int, *, is_known: bool) -> str:
    """`83.4k of 200k tokens (42%)`, with `approx.` in front until sizes are calibrated."""
    figure = format_tokens(tokens, approx=not is_known)
    if not window:
        return f"{figure} tokens (window unknown)"
    return f"{figure} of {format_tokens(window)} tokens ({round(100 * tokens / window)}%)"


def row_line(row: Row, names: Names, tokens: int, marks: RowMarks) -> str:
    """One row: index, ref, what it is, size, what applies to it, preview."""
    sign = "~" if row.anchor in marks.reproducible else ""
    head = f"#{names.number(row)} {names.ref(row)} {sign}{row.source} · {format_tokens(tokens)}"
    return " ".join(filter(None, (head, *_facts(row, names, marks), _preview(row))))


def _facts(row: Row, names: Names, marks: RowMarks) -> Sequence[str]:
    owner = names.conversation.by_anchor.get(row.owner or "")
    queued = marks.queued.get(row.anchor, "")
    return (
        _media_words(row),
        f"of #{names.number(owner)}" if owner and names.number(owner) else "",
        f"[{row.replacement}]" if row.replacement else "",
        "[pending]" if row.is_pending else "",
        f"[{queued}]" if queued else "",
        *marks.flags.get(row.anchor, ()),
    )


def _media_words(row: Row) -> str:
    if not row.media:
        return ""
    images = sum(m.kind == "image" for m in row.media)
    documents = len(row.media) - images
    counted = [
        f"{count} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((images, "image"), (documents, "document"))
        if count
    ]
    return f"media {', '.join(counted)}"


def _preview(row: Row) -> str:
    """The beginning of what the row holds, on one line."""
    text = one_line(row.text[: 4 * PREVIEW_CHARS])
    return text if len(text) <= PREVIEW_CHARS else f"{text[: PREVIEW_CHARS - 1]}…"


def is_reproducible_call(row: Row) -> bool:
    """Whether a row is a call of a tool whose output can be had again, by its name alone (rule A6)."""
    return row.kind is RowKind.TOOL and row.call is not None and row.call.name in REPRODUCIBLE_TOOLS


def row_text(row: Row, names: Names, tokens: int, marks: RowMarks) -> str:
    """One row with its text, at most `ROW_TEXT_CHARS` characters and the cut notice."""
    return f"{row_line(row, names, tokens, marks)}\n\n{cut(row.text, ROW_TEXT_CHARS)}"
