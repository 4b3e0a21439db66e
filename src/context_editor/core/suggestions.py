"""When a suggestion is due, and what it proposes (rules F4 to F6, L20): rare, and one batch.

A suggestion queues nothing. Sizes alone make a poor prompt to act on, so its words speak of work
that is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from context_editor.core.candidates.model import Candidate
from context_editor.core.conversation import Conversation
from context_editor.core.edits.ground import Sizer
from context_editor.core.names import Names
from context_editor.core.rows import Row, RowKind
from context_editor.core.sizes.gain import Gain
from context_editor.core.sizes.wording import format_tokens
from context_editor.core.suggestion_state import SuggestionState

HEAD: Final = "[context-editor: suggestion]"

REARM_BELOW: Final = 0.10
"""How far usage must fall below a mark before its crossing counts anew, in shares of the window."""

HEAVY_TURN_TOKENS: Final = 20_000
"""Tool results of one turn from which the next prompt carries a suggestion."""

COOLDOWN_TURNS: Final = 3
"""Turns between two suggestions."""

MIN_GAIN_TOKENS: Final = 5_000
"""A batch that spares a request less than this is not worth a line."""

MIN_GAIN_PER_COST: Final = 3
"""A batch is not proposed where its one-time cost is more than this many times its gain."""

POLICY_MARK: Final = "policy"
"""Stands in `SuggestionState.crossed` for the trigger of the retention policy."""

KEPT_PERCENT: Final = 15
"""What a careful summary keeps of a row, in percent: what a proposal may promise is the rest."""

NAMED_ROWS: Final = 8
"""How many rows a proposal names; the listing has the others."""

_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class SuggestionSettings:
    """What a person may set.

    Attributes:
        marks: Shares of the window whose crossing raises a suggestion, rising.
        policy_trigger: The share at which the suggestion names the retention policy.
    """

    marks: tuple[float, ...] = (0.5, 0.65, 0.8)
    policy_trigger: float = 0.7


@dataclass(frozen=True)
class Proposal:
    """One batch of edits, and what it is worth.

    Attributes:
        what: What to do, in words.
        gain: What it saves and costs.
        is_policy: Whether the retention policy is to do it.
    """

    what: str
    gain: Gain
    is_policy: bool = False

    @property
    def is_worthwhile(self) -> bool:
        """Whether it may be proposed at all (rule F4)."""
        saved = self.gain.saved_tokens
        return saved >= MIN_GAIN_TOKENS and saved * MIN_GAIN_PER_COST >= self.gain.cost_tokens


# --- when -----------------------------------------------------------------------------------------


def observed(state: SuggestionState, ratio: float, settings: SuggestionSettings) -> SuggestionState:
    """The state once the usage was seen: marks crossed, marks armed again, and what is due.

    Args:
        state: What was remembered.
        ratio: Used tokens as a share of the window; negative or 0 when unknown, then nothing
            changes.
        settings: The marks.
    """
    if ratio <= 0:
        return state
    marks = _marks(settings)
    standing = [
        n for n in state.crossed if n in marks and ratio > marks[n] - REARM_BELOW + _ROUNDING
    ]
    reached = [n for n, mark in marks.items() if ratio >= mark - _ROUNDING]
    fresh = [name for name in reached if name not in standing]
    crossed = tuple(name for name in marks if name in standing or name in fresh)
    if fresh:
        return replace(state, crossed=crossed, due=fresh[-1], is_told=False)
    return replace(state, crossed=crossed, due=state.due if state.due in crossed else "")


def next_mark(state: SuggestionState, settings: SuggestionSettings) -> float | None:
    """The lowest mark whose crossing would be new; None when every one was crossed.

    Below it a hook need not look any closer.
    """
    marks = _marks(settings)
    return min((mark for name, mark in marks.items() if name not in state.crossed), default=None)


def rearm_mark(state: SuggestionState, settings: SuggestionSettings) -> float | None:
    """The usage down to which a crossed mark is armed again; None when none was crossed.

    Above it, and below the next mark, a hook need not look any closer.
    """
    marks = _marks(settings)
    crossed = [marks[name] for name in state.crossed if name in marks]
    return max(crossed) - REARM_BELOW if crossed else None


def answered(state: SuggestionState) -> SuggestionState:
    """The state once the agent queued an edit, or an apply was made: what was due is settled."""
    return replace(state, due="", is_told=False)


def _marks(settings: SuggestionSettings) -> dict[str, float]:
    """All marks by name, rising."""
    named = {f"{mark:g}": mark for mark in settings.marks}
    named[POLICY_MARK] = settings.policy_trigger
    return dict(sorted(named.items(), key=lambda item: item[1]))


def turn_result_tokens(conversation: Conversation, turn: int, sizer: Sizer) -> int:
    """The size of all tool results of one turn, in tokens."""
    rows = (row for row in conversation.rows if row.turn == turn and not row.is_hidden)
    return sum(sizer.piece(result) for row in rows if (result := row.result) is not None)


def suggested_at_tool(
    state: SuggestionState, proposal: Proposal | None, turn: int
) -> tuple[SuggestionState, str]:
    """The suggestion behind a tool call, once for each crossing; empty when none is due."""
    if not state.due or state.is_told:
        return state, ""
    return _told(state, proposal, turn)


def suggested_at_prompt(
    state: SuggestionState, proposal: Proposal | None, turn: int, last_turn_tokens: int
) -> tuple[SuggestionState, str]:
    """The suggestion with a person's prompt: after heavy reading, or one that was held back.

    Args:
        state: What was remembered.
        proposal: What would be proposed; None where there is nothing.
        turn: The number of the turn that the prompt begins.
        last_turn_tokens: Tool results of the turn before, in tokens.
    """
    if not is_wanted_at_prompt(state, turn, last_turn_tokens):
        return state, ""
    return _told(state, proposal, turn)


def is_wanted_at_prompt(state: SuggestionState, turn: int, last_turn_tokens: int) -> bool:
    """Whether a prompt may carry a suggestion at all: only then a proposal need be worked out."""
    is_waiting = bool(state.due) and not state.is_told
    is_heavy = last_turn_tokens >= HEAVY_TURN_TOKENS
    return (is_waiting or is_heavy) and not _is_cooling(state, turn)


def _is_cooling(state: SuggestionState, turn: int) -> bool:
    return state.last_turn >= 0 and turn - state.last_turn < COOLDOWN_TURNS


def standing_suggestion(state: SuggestionState, proposal: Proposal | None) -> str:
    """The suggestion in a header or a close report while one is due; empty else."""
    if not state.due or proposal is None or not proposal.is_worthwhile:
        return ""
    return suggestion_words(proposal, with_policy=state.due == POLICY_MARK)


def _told(
    state: SuggestionState, proposal: Proposal | None, turn: int
) -> tuple[SuggestionState, str]:
    if _is_cooling(state, turn) or proposal is None or not proposal.is_worthwhile:
        return state, ""
    words = suggestion_words(proposal, with_policy=state.due == POLICY_MARK)
    return replace(state, is_told=bool(state.due), last_turn=turn), words


# --- what -----------------------------------------------------------------------------------------


def suggestion_words(proposal: Proposal, *, with_policy: bool = False) -> str:
    """The one text of a suggestion.

    Args:
        proposal: What is proposed.
        with_policy: Whether the retention policy is named as well, where it is not the proposal itself.
    """
    gain = proposal.gain
    policy = (
        ' Or let the retention policy do it: context_edit {"edits": [{"op": "policy"}]}.'
        if with_policy and not proposal.is_policy
        else ""
    )
    return (
        f"{HEAD} {proposal.what} "
        f"That spares every later request {format_tokens(gain.saved_tokens)} tokens "
        f"and rewrites {format_tokens(gain.rewritten_tokens)} of cache once "
        f"(costs {format_tokens(gain.cost_tokens)}): {gain.conclusion}.{policy} "
        f"Decide by the state of the work: leave what you still need. Nothing is queued."
    )


@dataclass(frozen=True)
class FinishedBlock:
    """A closed stage whose rows still stand.

    Attributes:
        name: The stage's name.
        rows: Its rows, oldest first, those of a person included.
    """

    name: str
    rows: tuple[Row, ...] = field(default_factory=tuple)


def block_proposal(block: FinishedBlock, names: Names, sizer: Sizer) -> Proposal | None:
    """The proposal to collapse a finished stage; None where nothing of it could be collapsed."""
    rows = [row for row in block.rows if row.kind in {RowKind.TOOL, RowKind.TEXT}]
    if not rows:
        return None
    saved = _promised(sum(map(sizer.row, rows)))
    first, last = names.number(rows[0]), names.number(rows[-1])
    around = " around the person's rows" if len(rows) < len(block.rows) else ""
    what = (
        f"Stage {block.name!r} is finished (#{first}..#{last}): if the work has moved on, "
        f"collapse it in one context_edit{around}, "
        f"with a record of goal, decisions, facts and changed files."
    )
    behind = _behind(names.conversation, sizer)[rows[0].positions[0]]
    return Proposal(what, Gain(saved, max(0, behind - saved)))


def review_proposal(candidates: Sequence[Candidate], names: Names, sizer: Sizer) -> Proposal | None:
    """The proposal to replace review candidates: those from one row on that together gain most.

    Rows far back make everything behind them be cached anew, so the batch begins where the gain is
    worth it; the largest such batch is taken. None where there is no such batch.
    """
    behind = _behind(names.conversation, sizer)
    found = names.conversation.by_anchor
    batch = [(one, one.saved_tokens or _promised(one.tokens)) for one in reversed(candidates)]
    best: tuple[int, Gain] | None = None
    saved = 0
    for count, (candidate, spared) in enumerate(batch, start=1):
        saved += spared
        start = found[candidate.anchor].positions[0]
        gain = Gain(saved, max(0, behind[start] - saved))
        if Proposal("", gain).is_worthwhile:
            best = (count, gain)
    return Proposal(_batch_words(batch[: best[0]], names), best[1]) if best else None


def policy_proposal(saved_tokens: int, rewritten_tokens: int, target: float) -> Proposal:
    """The proposal to let the retention policy bring the context down (rule L20)."""
    what = (
        'If what you read early on is settled, queue the retention policy: context_edit {"edits": '
        f'[{{"op": "policy"}}]}} digests the oldest tool results '
        f"down to {round(100 * target)} % of the window."
    )
    return Proposal(what, Gain(saved_tokens, rewritten_tokens), is_policy=True)


def _promised(tokens: int) -> int:
    return tokens * (100 - KEPT_PERCENT) // 100


def _batch_words(batch: Sequence[tuple[Candidate, int]], names: Names) -> str:
    largest = sorted(batch, key=lambda one: -one[1])[:NAMED_ROWS]
    rows = _ordered(largest, names)
    named = ", ".join(f"{names.words(row)} ({c.shown})" for row, c in rows)
    more = (
        f" and {len(batch) - len(rows)} more (context_list review: true)"
        if len(batch) > len(rows)
        else ""
    )
    return (
        f"If the work that these rows served is finished, "
        f"replace them in one context_edit: {named}{more}; "
        f"stale, superseded and duplicate ones have ready-made texts in the listing."
    )


def _ordered(batch: Sequence[tuple[Candidate, int]], names: Names) -> list[tuple[Row, Candidate]]:
    found = names.conversation.by_anchor
    rows = [(found[candidate.anchor], candidate) for candidate, _ in batch]
    return sorted(rows, key=lambda one: one[0].positions[0])


def _behind(conversation: Conversation, sizer: Sizer) -> list[int]:
    """The tokens of everything from each position on."""
    sizes = sizer.each(conversation.pieces)
    return list(accumulate(reversed(sizes), initial=0))[::-1]
