"""Ids of replacements that stand in a conversation, told by its rows alone. Pure."""

import re
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX
from context_editor.core.edits.wording import is_replacement_text
from context_editor.core.growing import Growing
from context_editor.core.rows import Row

_CALL_ID: Final = re.compile(rf"t:{COLLAPSE_ID_PREFIX}c([0-9]{{1,9}})")
_NAMED: Final = re.compile(r", id c([0-9]{1,9}) \(original: ")

OPENING_CHARS: Final = 1_000
"""Where a replacement names itself: a collapse lists up to twelve contents in front of its id."""


def given_numbers() -> Growing[Row, int]:
    """A memory of the numbers that rows tell, for the looks at one conversation that grows."""
    return Growing(_number)


def newest_id(conversation: Conversation, known: Growing[Row, int] | None = None) -> int:
    """The highest number of a replacement that stands here; 0 where there is none.

    A text that only pretends to be one makes the next number higher, and does nothing else.

    Args:
        conversation: The rows.
        known: What an earlier look worked out; brought up to this one.
    """
    numbers = known or given_numbers()
    return max(numbers.of(conversation.rows), default=0)


def _number(row: Row) -> int:
    found = _CALL_ID.fullmatch(row.anchor)
    if found is None and is_replacement_text(row.text):
        found = _NAMED.search(row.text, 0, OPENING_CHARS)
    return int(found[1]) if found else 0
