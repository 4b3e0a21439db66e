"""What a session's own `usage` says about the sizes of its rows, and when that may be trusted.

A host reports after every response how many tokens it sent. That total is the truth; the
transcript is a lower bound, because reminders and schemas are sent without being stored. So the
total is taken from `usage`, and the estimates only decide how it is shared out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import sub
from typing import Final

from context_editor.core.sizes.families import FIGURES, Family, family_of

SAMPLES_UNTIL_KNOWN: Final = 3
"""Consecutive usage samples of one model after which sizes are said without `approx.` (F3)."""

FACTOR_MIN: Final = 0.6
"""The least that calibration makes of an estimate; also the least that one step may say.

A step that grew by less than six tenths of its estimate holds something that was not sent.
"""

FACTOR_MAX: Final = 1.8
"""The most that calibration makes of an estimate; also the most that one step may say.

95 % of all steps stay within 21 % of the estimate (682 public sessions). Beyond 1.8 hidden
context was added, which is no row's size.
"""

PRIOR_TOKENS: Final = 2_000
"""Estimated tokens that the uncalibrated estimate counts for when the factor is formed.

The size of one large tool result: a session's first small steps hardly move the factor, ten
thousand tokens of evidence decide five sixths of it.
"""

MEMORY_STEPS: Final = 40
"""Steps after which evidence has lost two thirds of its weight.

A session's content changes with its phases: what reading code taught misleads while tests run.
"""

DEFAULT_BASE_TOKENS: Final = 27_000
"""The part before any message, until the first response tells it.

Source: 18,000 to 52,000 in 682 public sessions; system prompt, tools and folder instructions.
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """The `usage` of one response, in tokens.

    Attributes:
        model: The id of the model that answered.
        input_tokens: Sent and not cached.
        cache_read: Sent and read from the cache.
        cache_creation: Sent and written to the cache.
        output_tokens: Answered. Trustworthy from Claude Code 2.1.100, mostly too small before
            2.1.60.
        message_id: The response's id; several rows of a transcript carry the same.
    """

    model: str
    input_tokens: int
    cache_read: int
    cache_creation: int
    output_tokens: int
    message_id: str

    @property
    def context_tokens(self) -> int:
        """Everything sent with the request: the truth about the context at that moment."""
        return self.input_tokens + self.cache_read + self.cache_creation

    def merged(self, other: "Sample") -> "Sample":
        """The larger of each figure: a response's rows are written while it still grows."""
        return replace(
            self,
            input_tokens=max(self.input_tokens, other.input_tokens),
            cache_read=max(self.cache_read, other.cache_read),
            cache_creation=max(self.cache_creation, other.cache_creation),
            output_tokens=max(self.output_tokens, other.output_tokens),
        )


@dataclass(frozen=True, slots=True)
class Content:
    """The estimated size of what came into the conversation with one step.

    Attributes:
        reply_tokens: The previous response: its text, calls and thinking.
        new_tokens: What followed it: tool results, prompts, attachments.
    """

    reply_tokens: int = 0
    new_tokens: int = 0


NOTHING: Final = Content()
"""No content at all."""


@dataclass(frozen=True, slots=True)
class RowSizes:
    """The context shared out.

    Attributes:
        base_tokens: What no row holds: system prompt, tools, hidden reminders, thinking.
        rows: One size a row, in the order of the rows that were given.
    """

    base_tokens: int
    rows: tuple[int, ...]

    @property
    def total_tokens(self) -> int:
        """The size of the whole context."""
        return self.base_tokens + sum(self.rows)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known about one session's sizes; every change makes a new one.

    Plain numbers and one sample, made to be stored.

    Attributes:
        model: The model in use, by the last sample or as announced; empty before the first.
        streak: Consecutive samples of this model; stops at `SAMPLES_UNTIL_KNOWN`.
        was_known: Whether sizes have been known before in this session.
        is_awaiting: Whether an apply or a change of model waits for its next usage.
        base_tokens: The fixed part before any message; None before the first response.
        last: The newest sample; None before the first, after an apply and after a change of
            tokenizer, when it is the truth no longer.
        newest: The id of the response folded last; unlike `last` it outlives an apply, so that a
            reader knows which samples it has folded already.
        estimated: Estimated tokens of past steps, older ones fading.
        measured: What these steps measured, each held between `FACTOR_MIN` and `FACTOR_MAX` of
            its estimate.
    """

    model: str = ""
    streak: int = 0
    was_known: bool = False
    is_awaiting: bool = False
    base_tokens: int | None = None
    last: Sample | None = None
    newest: str = ""
    estimated: float = 0.0
    measured: float = 0.0

    @property
    def family(self) -> Family:
        """The tokenizer family of the model in use."""
        return family_of(self.model)

    @property
    def is_known(self) -> bool:
        """Whether sizes may be said without `approx.` (rule F3)."""
        return self.was_known and not self.is_awaiting

    @property
    def factor(self) -> float:
        """What an estimate is multiplied by here; 1 without evidence, never out of its range."""
        return (self.measured + PRIOR_TOKENS) / (self.estimated + PRIOR_TOKENS)

    def calibrated(self, estimated_tokens: int) -> int:
        """An estimate as this session would count it."""
        return round(estimated_tokens * self.factor)

    def all_calibrated(self, estimated_tokens: Iterable[int]) -> list[int]:
        """Many estimates as this session would count them."""
        factor = self.factor
        return [round(one * factor) for one in estimated_tokens]

    def after(self, sample: Sample, content: Content) -> "Calibration":
        """The calibration once a response has reported its usage.

        Another row of the response that was folded last only completes it. A sample of another
        model is itself the sign of the change: the sizes are known again with the one after it,
        unless the change was announced (`with_model`).

        Args:
            sample: The usage of the response.
            content: What came into the context since the request of the sample before, by the
                estimate; for the first sample, all that stands before it.
        """
        if self.last is not None and self.last.message_id == sample.message_id:
            return replace(self, last=self.last.merged(sample))
        is_same_model = sample.model == self.model
        start = self if is_same_model else self.with_model(sample.model)
        learned = _with_step(start, sample, content) if is_same_model else start
        streak = min(start.streak + 1, SAMPLES_UNTIL_KNOWN)
        before = content.reply_tokens + content.new_tokens
        base = max(0, sample.context_tokens - before)
        return replace(
            learned,
            streak=streak,
            was_known=self.was_known or streak >= SAMPLES_UNTIL_KNOWN,
            is_awaiting=not is_same_model and bool(self.model),
            base_tokens=base if start.base_tokens is None else start.base_tokens,
            last=sample,
            newest=sample.message_id,
        )

    def with_model(self, model: str) -> "Calibration":
        """The calibration once another model was chosen: `approx.` until its next usage.

        What was learned stays with its tokenizer family; the base is converted to the new one.
        """
        if model == self.model:
            return self
        changed = replace(self, model=model, streak=0, is_awaiting=bool(self.model))
        family, former = family_of(model), self.family
        if family is former or not self.model:
            return changed
        rate = FIGURES[family].tokens_per_o200k / FIGURES[former].tokens_per_o200k
        base = None if self.base_tokens is None else round(self.base_tokens * rate)
        return replace(changed, base_tokens=base, last=None, estimated=0.0, measured=0.0)

    def after_apply(self) -> "Calibration":
        """The calibration once an apply changed the rows: the last usage holds no longer."""
        return replace(self, is_awaiting=True, last=None)

    def row_sizes(
        self,
        estimates: Sequence[int],
        sent: int,
        since: Content = NOTHING,
        unlisted_tokens: int = 0,
    ) -> RowSizes:
        """The size of every row, so that rows and base make up the context as it stands.

        What was sent with the last request shares that request's usage. Hidden context is no
        row's: no row leaves the range of the factor, the rest counts as base. What came later, and
        everything while no usage is at hand, is calibrated by the factor.

        Args:
            estimates: Estimated tokens of each row, oldest first; may be empty.
            sent: How many of them, from the first, were sent with the request of `last`.
            since: What came after that request: its response, thinking included, and what followed.
            unlisted_tokens: Estimated tokens that were sent and that no row holds, as thinking.
        """
        base = DEFAULT_BASE_TOKENS if self.base_tokens is None else self.base_tokens
        if self.last is None:
            hidden = self.calibrated(unlisted_tokens)
            return RowSizes(base + hidden, tuple(self.all_calibrated(estimates)))
        truth = self.last.context_tokens
        weights = (*estimates[:sent], unlisted_tokens)
        whole = sum(weights)
        share = clamped(truth - base, FACTOR_MIN * whole, FACTOR_MAX * whole)
        *old, _ = spread(min(round(share), truth), weights)
        new = self.all_calibrated(estimates[sent:])
        reply = max(self.last.output_tokens, self.calibrated(since.reply_tokens))
        later = max(sum(new), reply + self.calibrated(since.new_tokens))
        return RowSizes(truth - sum(old) + later - sum(new), (*old, *new))


def clamped(value: float, low: float, high: float) -> float:
    """The value, or the bound that it passes."""
    return max(low, min(value, high))


def spread(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """A total shared out in proportion to weights; the shares add up to it exactly.

    Equal shares where every weight is 0; empty where there are none. Each share is the difference
    of two rounded running sums, so it is never negative and off by one at most.

    Args:
        total: Tokens to share out, never negative.
        weights: Estimated tokens, never negative.
    """
    whole = sum(weights)
    parts = weights if whole else [1] * len(weights)
    whole = whole or len(parts)
    half = whole // 2
    up_to = [(total * seen + half) // whole for seen in accumulate(parts)]
    return tuple(map(sub, up_to, (0, *up_to)))


def _with_step(before: Calibration, sample: Sample, content: Content) -> Calibration:
    """What one step of growth teaches; nothing where the context shrank or nothing came in."""
    if before.last is None:
        return before
    growth = sample.context_tokens - before.last.context_tokens
    estimated, measured = content.new_tokens, growth - before.last.output_tokens
    if before.last.output_tokens < content.reply_tokens:
        # An older host counted before the answer was complete: take the whole step as evidence.
        estimated, measured = content.new_tokens + content.reply_tokens, growth
    if growth <= 0 or estimated <= 0:
        return before
    fading = 1 - 1 / MEMORY_STEPS
    held = clamped(measured, FACTOR_MIN * estimated, FACTOR_MAX * estimated)
    return replace(
        before,
        estimated=before.estimated * fading + estimated,
        measured=before.measured * fading + held,
    )
