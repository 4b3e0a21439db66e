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
) -> dict[str, Any]:
    """The record without its stored pieces, which the archive adds.

    Args:
        edits: The edits that it is about; several for a batch of the policy.
        rows: The rows that they replace, in order.
        state: The session; its batch counter rises.
        stamp: The time, ISO 8601 with offset.
        tokens: The size before and after.
    """
    number = int(state.next_id("b")[1:])
    head = RecordHead(stamp, state.session_id, batch_id(number), edits[0].reason)
    before, after = tokens
    told = "\n".join(edit.text for edit in edits if edit.text and not edit.is_bare)
    exchange = Exchange(told or None, before, after)
    record = archive_record(
        head, [record_item(row) for row in rows], exchange, record_sources(rows)
    )
    return {**record, "op": str(edits[0].op), "author": edits[0].author}
