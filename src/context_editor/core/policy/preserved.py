"""What the policy never takes, and why, in the terms of each host (rule L10)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.policy.settings import LEAST_KEPT_RESULTS
from context_editor.core.rows import Row, RowKind


@dataclass(frozen=True)
class HostTable:
    """The rows of one host that are rules, plans or loop state, by how the host names them.

    Attributes:
        rules: Tools whose results are instructions still in force.
        tasks: Tools whose newest result is the list of tasks.
        plans: Tools whose newest result is the plan.
        attachments: Types of attachments that hold instructions; a trailing `*` stands for any
            ending.
    """

    rules: frozenset[str]
    tasks: frozenset[str]
    plans: frozenset[str]
    attachments: tuple[str, ...]


CLAUDE_CODE: Final = HostTable(
    rules=frozenset({"Skill"}),
    tasks=frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"}),
    plans=frozenset({"ExitPlanMode", "EnterPlanMode"}),
    attachments=("nested_memory", "invoked_skills", "plan_mode*"),
)

HOSTS: Final[Mapping[str, HostTable]] = {"claude-code": CLAUDE_CODE}
"""The table of each host, by its name."""

RULES_IN_FORCE: Final = "rules in force"
NEWEST_TASKS: Final = "newest tasks"
NEWEST_PLAN: Final = "newest plan"
FIRST_PROMPT: Final = "first prompt"
PERSON: Final = "person"


def is_result(row: Row) -> bool:
    """Whether a row counts as a tool result: a finished call that is not this product's own."""
    return row.call is not None and row.kind is not RowKind.SERVICE and len(row.pieces) > 1


def newest_results(conversation: Conversation, kept: int) -> frozenset[str]:
    """Anchors of the newest tool results, at least `LEAST_KEPT_RESULTS` of them."""
    wanted = max(kept, LEAST_KEPT_RESULTS)
    found: list[str] = []
    for row in reversed(conversation.rows):
        if len(found) == wanted:
            break
        if is_result(row):
            found.append(row.anchor)
    return frozenset(found)


def preserved(
    conversation: Conversation,
    protected: Mapping[str, str],
    kept_as: Mapping[str, str],
    table: HostTable = CLAUDE_CODE,
) -> Mapping[str, str]:
    """Why each preserved row is never taken, by anchor; the newest results are not part of it.

    Args:
        conversation: The conversation.
        protected: Rows that no edit may cover, with the reason: pinned, the state slot.
        kept_as: What each row with a keep mark is kept as.
        table: The host's table.
    """
    reasons: dict[str, str] = {}
    reasons.update(_newest(conversation, table.tasks, NEWEST_TASKS))
    reasons.update(_newest(conversation, table.plans, NEWEST_PLAN))
    for row in conversation.rows:
        reason = _reason(row, table)
        if reason:
            reasons[row.anchor] = reason
    first = next((row for row in conversation.rows if row.kind is RowKind.PERSON), None)
    if first is not None:
        reasons[first.anchor] = FIRST_PROMPT
    standing = conversation.by_anchor
    reasons.update({a: f"kept as {kind}" for a, kind in kept_as.items() if a in standing})
    reasons.update({a: reason for a, reason in protected.items() if a in standing})
    return reasons


def _newest(conversation: Conversation, tools: Iterable[str], reason: str) -> Mapping[str, str]:
    """The newest finished call of some tools, and why it stays; empty when there is none."""
    for row in reversed(conversation.rows):
        if is_result(row) and row.call is not None and row.call.name in tools:
            return {row.anchor: reason}
    return {}


def _reason(row: Row, table: HostTable) -> str:
    if row.kind is RowKind.PERSON:
        return PERSON
    if row.call is not None:
        return RULES_IN_FORCE if row.call.name in table.rules else ""
    if row.kind is RowKind.HOST and any(_is_label(row, label) for label in table.attachments):
        return RULES_IN_FORCE
    return ""


def _is_label(row: Row, label: str) -> bool:
    held = row.pieces[0].label
    return held.startswith(label[:-1]) if label.endswith("*") else held == label
