"""What a conversation is told after the host shortened it by itself: where the dropped rows stand (rule L17)."""

from collections.abc import Mapping, Sequence
from typing import Final

from context_editor.core.policy.questions import dropped
from context_editor.core.rows import Json
from context_editor.core.sizes.wording import format_tokens

INDEX_CHARS: Final = 1_900
"""The most that the index may take: what a hook puts into a conversation has a hard cap of 2,000."""


def archived_words(record: Mapping[str, Json], original: str, tokens: int) -> str:
    """The index of a conversation that the host is about to shorten.

    Args:
        record: Its archive record.
        original: The path of its text, or of the first part of it.
        tokens: Its size.
    """
    (batch,) = dropped((record,))
    head = (
        f"context-editor: the host shortened this conversation by its own summary. All "
        f"{len(batch.items)} rows that stood before it ({format_tokens(tokens)} tokens) are archived "
        f"word for word: {original} (open with Read, search with Grep), record {batch.id}; "
        f'context_list {{"what": "archive"}} lists every record. Open it before you doubt or guess a detail.'
    )
    tools = [f"{item.tool} {item.argument}".strip() for item in batch.items if item.argument]
    return _listed(f"{head}\nIt holds: ", tuple(dict.fromkeys(tools)))


def _listed(head: str, names: Sequence[str]) -> str:
    """The head and as many names as there is room for, the newest ones, then how many more there are."""
    shown: list[str] = []
    room = INDEX_CHARS - len(head)
    for name in reversed(names):
        room -= len(name) + 2
        if room < 0:
            break
        shown.insert(0, name)
    more = len(names) - len(shown)
    return head + "; ".join((*([f"{more} older ones"] if more else []), *shown))
