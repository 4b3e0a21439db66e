"""What a `context_edit` call asks for, after its JSON was checked and before any rule is."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from context_editor.core.names import Target


@dataclass(frozen=True)
class EditRequest:
    """One element of `edits`.

    Attributes:
        op: `collapse`, `summarize`, `describe`, `rewrite`, `restore`, `cancel`, `state` or `policy`.
        target: The rows that it names, for the ops that name rows.
        text: The caller's text (`summary` of a collapse).
        id: The replacement (restore) or the queued edit (cancel).
        changes: State changes, for a state op, as they were given.
        ratio: The target ratio of a policy op.
    """

    op: str
    target: Target = field(default_factory=Target)
    text: str = ""
    id: str = ""
    changes: tuple[object, ...] = ()
    ratio: float | None = None


When: TypeAlias = Literal["turn_end", "later"]


@dataclass(frozen=True)
class EditCall:
    """One whole `context_edit` call.

    Attributes:
        edits: Its elements, in order; may be empty only where `when` was given as `turn_end`.
        when: `turn_end` (the default) or `later`.
        has_when: Whether the caller gave `apply` at all.
        keep_cache: Whether to apply only where the cached prefix survives.
        resume: The continuation; None when the caller said nothing.
        epoch: The epoch that the numbers belong to; None when the caller said none.
    """

    edits: tuple[EditRequest, ...] = ()
    when: When = "turn_end"
    has_when: bool = False
    keep_cache: bool = False
    resume: str | bool | None = None
    epoch: int | None = None
