"""The archive record of one applied edit, or of one batch (rule L11)."""

from collections.abc import Sequence
from typing import Any

from context_editor.core.edits.model import Edit
from context_editor.core.policy.record import (
    Exchange,
    RecordHead,
    archive_record,
    batch_id,
    record_item,
    record_sources,
)
from context_editor.core.rows import Row
from context_editor.core.state import SessionState


def record_of(
    edits: Sequence[Edit],
    rows: Sequence[Row],
    state: SessionState,
    stamp: str,
    tokens: tuple[int, int],
    *,
    with_sources: bool = True,
) -> dict[str, Any]:
    """The record without its stored pieces, which the archive adds.

    Args:
        edits: The edits that it is about; several for a batch of the policy.
        rows: The rows that they replace, in order.
        state: The session; its batch counter rises.
        stamp: The time, ISO 8601 with offset.
        tokens: The size before and after.
        with_sources: Whether to look for the sources that the rows name; dear for a whole conversation.
    """
    number = int(state.next_id("b")[1:])
    head = RecordHead(stamp, state.session_id, batch_id(number), edits[0].reason)
    before, after = tokens
    told = "\n".join(edit.text for edit in edits if edit.text and not edit.is_bare)
    exchange = Exchange(told or None, before, after)
    sources = record_sources(rows) if with_sources else ()
    record = archive_record(head, [record_item(row) for row in rows], exchange, sources)
    return {**record, "op": str(edits[0].op), "author": edits[0].author}
