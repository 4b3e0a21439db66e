"""One pass of the retention policy: what goes, until the target is reached (rules L1 to L9)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Final

from context_editor.core.edits.model import Edit
from context_editor.core.policy.batches import (
    LeftBatch,
    PlannedBatch,
    digest_batch,
    drop_batch,
    in_batches,
    pointer_batch,
)
from context_editor.core.policy.candidates import PolicyGround, PolicyRow, Step, policy_rows
from context_editor.core.policy.citations import HEAD, Cited, all_sources, index_text
from context_editor.core.policy.digesting import ForeignDigest, digest_of
from context_editor.core.policy.folding import folds
from context_editor.core.policy.gate import Fill, PolicyMemory, Situation, not_now
from context_editor.core.policy.preserved import is_result, newest_results
from context_editor.core.policy.settings import LEAST_KEPT_RESULTS, PolicySettings
from context_editor.core.rows import Row
from context_editor.core.specifics import LINE_SHARE

LOWERING_STEPS: Final = 9
"""How often at most the number of kept results is lowered: from 12 to 3 one by one."""

NO_GAIN: Final = "its digest would be no smaller than itself"
TOO_SPECIFIC: Final = "it is mostly specifics: a digest with all of them would be a worse copy"


@dataclass(frozen=True)
class Request:
    """A pass that is asked for.

    Attributes:
        ground: What the policy decides on.
        settings: Its parameters.
        fill: How full the context is.
        situation: When it is asked for.
        foreign: Asks a model for a digest; never used at the host's moment.
        memory: What is remembered of earlier passes.
        target: The share to come down to; None for the setting.
        running_response: While a turn runs, the answer that must stay whole; None at a turn's end.
    """

    ground: PolicyGround
    settings: PolicySettings
    fill: Fill
    situation: Situation
    foreign: ForeignDigest | None = None
    memory: PolicyMemory = field(default_factory=PolicyMemory)
    target: float | None = None
    running_response: str | None = None

    @property
    def target_ratio(self) -> float:
        """The share to come down to."""
        return self.settings.offload_target_token_ratio if self.target is None else self.target

    @property
    def is_host_moment(self) -> bool:
        """Whether the host is about to compact by itself."""
        return self.situation.moment == "host"


@dataclass(frozen=True)
class CitationIndex:
    """The index row that a pass leaves (rule L7).

    Attributes:
        text: Its text.
        behind: The anchor of the row that it stands behind: the newest one that the pass digested.
        sources: Every source that it lists.
    """

    text: str
    behind: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What a pass does.

    Attributes:
        before: How full the context is.
        after: How full it is once the pass is applied.
        target: The share that it was to come down to.
        kept_results: How many of the newest results it leaves whole.
        kept_setting: How many it was to leave whole.
        batches: What goes, in order.
        left: Batches that it tried and left as they are.
        index: The index row; None where nothing that goes has a source.
        not_now: Why nothing was tried; empty where it was.
        is_below_trigger: Whether the host need not compact any more.
    """

    before: Fill
    after: Fill
    target: float
    kept_results: int
    kept_setting: int
    batches: tuple[PlannedBatch, ...] = ()
    left: tuple[LeftBatch, ...] = ()
    index: CitationIndex | None = None
    not_now: str = ""
    is_below_trigger: bool = False

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Every edit, in order of the batches; ids are empty until they are queued."""
        return tuple(edit for batch in self.batches for edit in batch.edits)

    @property
    def is_reached(self) -> bool:
        """Whether the target is reached."""
        return self.before.max_tokens > 0 and self.after.is_at_most(self.target)

    @property
    def saved_tokens(self) -> int:
        """What every later request is spared, the index row counted."""
        return self.before.tokens - self.after.tokens


def run(request: Request) -> Outcome:
    """What a pass does now. It decides only; nothing is archived or changed by it.

    At the host's moment, where what may go does not suffice, the number of newest results that stay
    whole is lowered step by step, never below `LEAST_KEPT_RESULTS`; where even that leaves the
    context above the trigger, old digests are folded.
    """
    settings = request.settings
    kept = settings.kept_results
    reason = not_now(request.fill, settings, request.situation, request.memory)
    idle = Outcome(request.fill, request.fill, request.target_ratio, kept, kept, not_now=reason)
    if reason or idle.is_reached:
        return _rated(idle, settings)
    walker = _Walker(request)
    outcome = walker.walked(kept)
    for fewer in _lower(kept) if request.is_host_moment else ():
        if outcome.is_reached:
            break
        outcome = walker.walked(fewer)
    if request.is_host_moment and not _rated(outcome, settings).is_below_trigger:
        outcome = walker.folded(outcome)
    return _rated(outcome, settings)


def _rated(outcome: Outcome, settings: PolicySettings) -> Outcome:
    limit = settings.offload_trigger_token_ratio * outcome.after.max_tokens
    return replace(outcome, is_below_trigger=outcome.after.tokens < limit)


def _lower(kept: int) -> list[int]:
    """Fewer results to keep, step by step, `LEAST_KEPT_RESULTS` last."""
    step = max(1, -(-(kept - LEAST_KEPT_RESULTS) // LOWERING_STEPS))
    lowered = list(range(kept - step, LEAST_KEPT_RESULTS, -step))
    return [*lowered, LEAST_KEPT_RESULTS] if kept > LEAST_KEPT_RESULTS else []


@dataclass(frozen=True)
class _Tried:
    """What became of one batch.

    Attributes:
        batch: What goes, or what stays and why.
        cited: Its rows that the index lists.
        index_tokens: The size of their lines.
    """

    batch: PlannedBatch | LeftBatch
    cited: tuple[Cited, ...] = ()
    index_tokens: int = 0


class _Walker:
    """Walks through batches for one number of kept results after the other, each made once."""

    def __init__(self, request: Request) -> None:
        given = request.ground.ground
        # Where an original would stand is asked for each row, and nearly always of no text.
        ground = replace(given, original_path=cache(given.original_path))
        request = replace(request, ground=replace(request.ground, ground=ground))
        self._request = request
        self._rows = [
            row
            for row in policy_rows(request.ground, LEAST_KEPT_RESULTS)
            if not _is_running(row.row, request.running_response)
        ]
        self._batches: dict[tuple[int, ...], _Tried] = {}

    def walked(self, kept: int) -> Outcome:
        """What goes while so many of the newest results stay whole."""
        request = self._request
        newest = newest_results(request.ground.conversation, kept)
        rows = [row for row in self._rows if row.row.anchor not in newest]
        limit = request.target_ratio * request.fill.max_tokens
        tokens = request.fill.tokens
        planned: list[PlannedBatch] = []
        left: list[LeftBatch] = []
        indexed: list[Cited] = []
        for members in in_batches(rows):
            if tokens <= limit:
                break
            tried = self._tried(members)
            if isinstance(tried.batch, LeftBatch):
                left.append(tried.batch)
                continue
            head = self._head_tokens if tried.cited and not indexed else 0
            tokens -= tried.batch.saved_tokens - head - tried.index_tokens
            planned.append(tried.batch)
            indexed += tried.cited
        return Outcome(
            request.fill,
            Fill(max(0, tokens), request.fill.max_tokens),
            request.target_ratio,
            kept,
            request.settings.kept_results,
            tuple(planned),
            tuple(left),
            self._index(indexed, planned),
        )

    def folded(self, outcome: Outcome) -> Outcome:
        """The same with old digests folded, as many as it takes."""
        request = self._request
        limit = request.target_ratio * request.fill.max_tokens
        tokens = outcome.after.tokens
        made: list[PlannedBatch] = []
        for batch in folds(request.ground, request.running_response):
            if tokens <= limit:
                break
            tokens -= batch.saved_tokens
            made.append(batch)
        after = Fill(max(0, tokens), request.fill.max_tokens)
        return replace(outcome, after=after, batches=(*outcome.batches, *made))

    def _tried(self, members: Sequence[PolicyRow]) -> "_Tried":
        # The rows are the walker's own, each held for as long as it walks.
        key = tuple(map(id, members))
        tried = self._batches.get(key)
        if tried is None:
            tried = self._batches[key] = self._new_batch(members)
        return tried

    def _new_batch(self, members: Sequence[PolicyRow]) -> "_Tried":
        ground = self._request.ground.ground
        rows = tuple(member.row for member in members)
        if members[0].step is Step.POINTER:
            batch = pointer_batch(members, ground)
        elif not self._request.settings.prefer_compact_over_drop:
            batch = drop_batch(rows, ground)
        else:
            foreign = None if self._request.is_host_moment else self._request.foreign
            text = digest_of(rows, foreign)
            if not text and not self._request.is_host_moment:
                return _Tried(LeftBatch(rows, TOO_SPECIFIC))
            batch = digest_batch(rows, text, ground) if text else drop_batch(rows, ground)
        cited = self._indexed(batch)
        cost = self._index_tokens(cited)
        is_gain = batch.saved_tokens > cost
        return _Tried(batch, tuple(cited), cost) if is_gain else _Tried(LeftBatch(rows, NO_GAIN))

    def _indexed(self, batch: PlannedBatch) -> list[Cited]:
        """The rows of a batch that the index lists: those with sources, while an index is kept.

        Where a batch goes without a digest because it is little else than sources, its archive
        record lists them instead.
        """
        if not self._request.settings.keep_all_citations_index:
            return []
        cited = [one for one in batch.cited if one.sources]
        size = self._index_tokens(cited)
        is_too_long = batch.kind == "drop" and size > LINE_SHARE * batch.original_tokens
        return [] if is_too_long else cited

    def _index_tokens(self, cited: Sequence[Cited]) -> int:
        sizer = self._request.ground.ground.sizer
        return sum(sizer.text(one.line) for one in cited)

    @cached_property
    def _head_tokens(self) -> int:
        return self._request.ground.ground.sizer.text(HEAD)

    def _index(
        self, indexed: Sequence[Cited], planned: Sequence[PlannedBatch]
    ) -> CitationIndex | None:
        text = index_text(indexed)
        if not text:
            return None
        digests = [b.rows[0] for b in planned if b.kind == "digest"]
        rows = digests or [one.row for one in indexed]
        last = max(rows, key=lambda row: row.positions[0])
        return CitationIndex(text, last.anchor, all_sources(indexed))


def _is_running(row: Row, response: str | None) -> bool:
    return response is not None and row.pieces[0].response == response


def tool_calls(ground: PolicyGround) -> int:
    """Tool calls in the conversation, this product's own left out."""
    return sum(map(is_result, ground.conversation.rows))
