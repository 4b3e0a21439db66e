"""The archive record of one applied edit (rule L11)."""

from collections.abc import Sequence
from typing import Any, Final

from context_editor.core.edits.model import Edit
from context_editor.core.rows import Row
from context_editor.engine.view import View

RECORD_SCHEMA: Final = 1
"""The version of the record; readers keep fields that they do not know."""


def record_of(
    edit: Edit, rows: Sequence[Row], view: View, stamp: str, tokens: tuple[int, int]
) -> dict[str, Any]:
    """The record without its stored pieces, which the archive adds.

    Args:
        edit: The edit that is applied.
        rows: The rows that it replaces.
        view: The session; its batch counter rises.
        stamp: The time, ISO 8601 with offset.
        tokens: The size before and after.
    """
    state = view.state
    before, after = tokens
    return {
        "schema": RECORD_SCHEMA,
        "ts": stamp,
        "session_id": state.session_id,
        "batch_id": f"offload_{int(state.next_id('b')[1:]):04d}",
        "reason": edit.reason,
        "op": str(edit.op),
        "author": edit.author,
        "items": [_item(row) for row in rows],
        "digest_replacing_inline": edit.text or None,
        "original_token_count": before,
        "digest_token_count": after if edit.text else 0,
    }


def _item(row: Row) -> dict[str, Any]:
    call = row.call
    return {
        "kind": str(row.kind),
        "source": row.source,
        "tool_name": call.name if call else None,
        "tool_use_id": call.id if call else None,
        "args": call.input if call else None,
        "result": row.text,
    }
