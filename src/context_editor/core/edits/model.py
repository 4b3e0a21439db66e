"""Edits as they stand in the queue, and replacements as they stand in the conversation afterwards."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, TypeAlias

COLLAPSE_ID_PREFIX: Final = "toolu_ctxed_"
"""How the id of a synthetic collapse call begins; the replacement's id (`c7`) follows."""

Author: TypeAlias = Literal["agent", "tag", "policy"]
"""Who asked: the agent by `context_edit`, a disposable mark of `context_tag`, or the retention policy."""


class Op(StrEnum):
    """What an edit does with the rows that it names."""

    COLLAPSE = "collapse"
    SUMMARIZE = "summarize"
    DESCRIBE = "describe"
    REWRITE = "rewrite"
    STATE = "state"
    RESTORE = "restore"


@dataclass(frozen=True)
class Edit:
    """One accepted edit that waits for its apply.

    Attributes:
        id: The queue's id, such as `q3`.
        op: What it does.
        anchors: The rows that it covers, in their order; for a restore the row where the replacement stands.
        text: The text that takes their place, without the product's wording; empty for a restore.
        author: Who asked for it.
        target: The replacement that a restore undoes (`c4`); empty for every other op.
        saved_tokens: The tokens that every later request is spared, as estimated when it was accepted.
        digest_at: For a policy batch: the anchor of the row that holds the digest of all; empty else.
        reason: The archive's reason (rule L11): `agent_edit`, `disposable`, `token_budget_exceeded`.
        batch: For a policy edit: the anchor of the first row of its batch, which one archive record holds;
            empty else.
        is_bare: Whether nothing of what it replaces is told: its archive record then names no digest (rule L11).
    """

    id: str
    op: Op
    anchors: tuple[str, ...]
    text: str = ""
    author: Author = "agent"
    target: str = ""
    saved_tokens: int = 0
    digest_at: str = ""
    reason: str = "agent_edit"
    batch: str = ""
    is_bare: bool = False


@dataclass(frozen=True)
class Replacement:
    """What an apply put in the place of originals.

    Attributes:
        id: Its id, such as `c7`, unique in the session.
        op: The op that made it.
        author: Who asked for it.
        anchors: The rows where it stands now: one, or all that a restore brought back; empty once absorbed.
        source: What was replaced, in a few words: `Read docs/x.md`.
        original: The absolute path of the first original.
        record: The archive record that a restore reads: `<file>#<batch id>`.
        media: Absolute paths of the media that stood there.
        rows: How many rows it took the place of.
        tokens_before: Their size before, in tokens.
        tokens_after: Its own size, in tokens.
        epoch: The epoch that its apply began.
        turn: The turn after which it was applied.
        absorbed_by: The replacement that took this one in; empty while it stands.
        collapsed: For a collapse, the list of contents in its call.
        targets: What the replaced calls read, as keys of `core.candidates.targets` (`file:/abs/path`), so that
            reading it again is seen (rule F1).
    """

    id: str
    op: Op
    author: Author
    anchors: tuple[str, ...]
    source: str
    original: str
    record: str
    media: tuple[str, ...] = ()
    rows: int = 1
    tokens_before: int = 0
    tokens_after: int = 0
    epoch: int = 0
    turn: int = 0
    absorbed_by: str = ""
    collapsed: tuple[str, ...] = field(default=())
    targets: tuple[str, ...] = ()
