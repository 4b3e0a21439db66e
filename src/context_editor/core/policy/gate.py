"""Whether a pass of the policy may run now (rules L1, L16, L18 and L19)."""

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from context_editor.core.policy.settings import PolicySettings

Moment: TypeAlias = Literal["check", "asked", "host"]
"""What a pass answers: a look of its own, a request, or the host that is about to compact.

Only a look of its own has to pass the trigger.
"""

LEAST_TOOL_CALLS: Final = 10
"""Tool calls below which a session is taken for a short one, which needs no policy (rule L16)."""

URGENT_RATIO: Final = 0.9
"""From here on a short session is no exception any more."""

TURNS_BETWEEN: Final = 3
"""Turns after a pass before the next look of its own may lead to one (rule L19)."""


@dataclass(frozen=True)
class PolicyMemory:
    """What is remembered of earlier passes; plain values, made to be stored.

    Attributes:
        last_turn: The turn of the last pass; -1 before the first.
        passes: Passes so far.
        skipped: How often the agent passed a suggested pass over; it costs nothing (rule L18).
        offered_turn: The turn in which a pass was suggested last and nothing came of it yet; -1 for none.
    """

    last_turn: int = -1
    passes: int = 0
    skipped: int = 0
    offered_turn: int = -1

    def after_offer(self, turn: int) -> "PolicyMemory":
        """What is remembered once a pass was suggested."""
        return replace(self, offered_turn=turn)

    def after_turn(self, turn: int) -> "PolicyMemory":
        """What is remembered in this turn: a pass suggested in an earlier one was passed over."""
        is_passed_over = 0 <= self.offered_turn < turn
        return self.after_skip() if is_passed_over else self

    def after_pass(self, turn: int) -> "PolicyMemory":
        """What is remembered once a pass ran."""
        return replace(self, last_turn=turn, passes=self.passes + 1, offered_turn=-1)

    def after_skip(self) -> "PolicyMemory":
        """What is remembered once a suggested pass was passed over."""
        return replace(self, skipped=self.skipped + 1, offered_turn=-1)


@dataclass(frozen=True)
class Fill:
    """How full the context is.

    Attributes:
        tokens: Its size.
        max_tokens: The size at which the host would compact by itself where that is known, else the
            model's window; 0 when unknown.
    """

    tokens: int
    max_tokens: int

    @property
    def ratio(self) -> float:
        """The share in use; 0 when the maximum is unknown."""
        return self.tokens / self.max_tokens if self.max_tokens > 0 else 0.0

    def is_at_most(self, ratio: float) -> bool:
        """Whether no more than this share is in use."""
        return self.tokens <= ratio * self.max_tokens


@dataclass(frozen=True)
class Situation:
    """When a pass is asked for.

    Attributes:
        moment: What it answers.
        turn: The turn that runs or ended last.
        tool_calls: Tool calls so far.
    """

    moment: Moment
    turn: int = 0
    tool_calls: int = 0


def not_now(
    fill: Fill, settings: PolicySettings, situation: Situation, memory: PolicyMemory
) -> str:
    """Why no pass may run now; empty where one may."""
    if fill.max_tokens <= 0:
        return "the size of the context window is unknown, so the retention policy is off"
    return _no_look_now(fill, settings, situation, memory) if situation.moment == "check" else ""


def _no_look_now(
    fill: Fill, settings: PolicySettings, situation: Situation, memory: PolicyMemory
) -> str:
    trigger = settings.offload_trigger_token_ratio
    if fill.tokens < trigger * fill.max_tokens:
        used = f"{fill.tokens} of {fill.max_tokens} tokens are in use"
        return f"{used}, below {settings.trigger_percent} %"
    if situation.tool_calls < LEAST_TOOL_CALLS and fill.ratio < URGENT_RATIO:
        return f"only {situation.tool_calls} tool call(s) so far: a short session needs no policy"
    if memory.last_turn >= 0 and situation.turn - memory.last_turn < TURNS_BETWEEN:
        return f"the last pass was in turn {memory.last_turn}, fewer than {TURNS_BETWEEN} turns ago"
    return ""
