"""The digest of a batch: asked of a model or made by rule, whole, or given up (rules L5 and L9)."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from context_editor.core import digest
from context_editor.core.candidates.calls import path_name
from context_editor.core.policy.evidence import evidence_of
from context_editor.core.rows import Row

CHANNEL_TOOLS: Final = frozenset({"WebFetch"})
"""Tools that bring one published page: a title and an address belong to it (rule L21)."""

ForeignDigest: TypeAlias = Callable[[Sequence[Row], str], str | None]
"""A digest by a model: the rows of a batch, and what to mend of its first try (empty at first).

None or a blank text where it has none; then the digest by rule is taken.
"""


def evidence_item(row: Row) -> digest.Evidence:
    """A row as the digest reads it, without malformed items."""
    return _item(row, evidence_of(row.text).good)


def _item(row: Row, text: str) -> digest.Evidence:
    call, result = row.call, row.result
    if call is None:
        return digest.Evidence(row.source, text)
    name = path_name(row)
    place = name.path if name else _word(row, "url")
    return digest.Evidence(
        row.source,
        text,
        title=place or _word(row, "query"),
        urls=(place,) if place else (),
        is_error=result is not None and result.is_error,
        channel=call.name if call.name in CHANNEL_TOOLS else "",
    )


def malformed_items(row: Row) -> int:
    """How many items of a row are no evidence: archived and listed, never told as facts."""
    found = evidence_of(row.text)
    has_channel = row.call is not None and row.call.name in CHANNEL_TOOLS
    is_bad = has_channel and bool(digest.malformed(_item(row, found.good)))
    return found.malformed + is_bad


def digest_of(rows: Sequence[Row], foreign: ForeignDigest | None = None) -> str:
    """The digest of a batch with every specific; empty where it is not worth having.

    A model's digest that lacks something is asked for once more; what it then still lacks follows
    in one line by rule. Where it cannot be mended, or no model is asked, the digest is made by
    rule.

    Args:
        rows: The rows of the batch, oldest first.
        foreign: Asks a model; None where none may be asked.
    """
    found = [evidence_of(row.text) for row in rows]
    items = [_item(row, one.good) for row, one in zip(rows, found, strict=True)]
    text = _foreign(rows, items, foreign) if foreign else ""
    made = digest.mended(text, items) if text else digest.by_rule(items)
    if not made.fits:
        return ""
    bad = sum(one.malformed for one in found)
    return f"{made.text}\n({bad} malformed item(s), only in the original)" if bad else made.text


def _foreign(rows: Sequence[Row], items: Sequence[digest.Evidence], foreign: ForeignDigest) -> str:
    """The better of a model's two tries; empty where neither can be mended."""
    first = (foreign(rows, "") or "").strip()
    check = digest.checked(first, items)
    if check.is_good or not first:
        return first
    second = (foreign(rows, check.request) or "").strip()
    after = digest.checked(second, items)
    is_better = after.is_mendable and len(after.missing) < len(check.missing)
    if after.is_good or is_better:
        return second
    return first if check.is_mendable else ""


def _word(row: Row, name: str) -> str:
    value = row.call.input.get(name) if row.call else None
    return value if isinstance(value, str) else ""
