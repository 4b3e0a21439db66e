"""Which rows hold output that the same call brings again (rule A6)."""

from collections.abc import Container
from dataclasses import dataclass

from context_editor.core.candidates.calls import READ, path_name
from context_editor.core.candidates.facts import DiskFacts, FileFact, paths_named
from context_editor.core.conversation import Conversation
from context_editor.core.edits.admit import REPRODUCIBLE_TOOLS
from context_editor.core.rows import Row, RowKind

__all__ = ["DiskFacts", "FileFact", "Reproducible", "paths_named", "reproducible"]


@dataclass(frozen=True)
class Reproducible(Container[str]):
    """Anchors of the Read, Grep and Glob pairs whose output can be had again; each is looked at when asked for.

    Not one that names a file outside the project, in a temp folder, or gone; and not one of which
    nothing was gathered. A search that names no path searches the project.

    Attributes:
        conversation: The rows.
        facts: What stands on disk.
    """

    conversation: Conversation
    facts: DiskFacts

    def __contains__(self, anchor: object) -> bool:
        """Whether the row with this anchor is one."""
        row = self.conversation.by_anchor.get(anchor) if isinstance(anchor, str) else None
        return (
            row is not None
            and row.kind is RowKind.TOOL
            and row.call is not None
            and row.call.name in REPRODUCIBLE_TOOLS
            and row.result is not None
            and _can_be_had_again(row, self.facts)
        )


def reproducible(conversation: Conversation, facts: DiskFacts) -> frozenset[str]:
    """All anchors of `Reproducible`: a look at every path that is named."""
    held = Reproducible(conversation, facts)
    return frozenset(row.anchor for row in conversation.rows if row.anchor in held)


def _can_be_had_again(row: Row, facts: DiskFacts) -> bool:
    name = path_name(row)
    if name is None:
        return row.call is not None and row.call.name != READ
    fact = facts.files.get(name)
    return fact is not None and fact.exists and fact.is_lasting
