"""One session looked at: what every use case begins with, gathered from the host, the store and the disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

from context_editor.core.apply.model import Surroundings
from context_editor.core.apply.plan import first_change
from context_editor.core.candidates.find import Review, ReviewMemory, candidates
from context_editor.core.candidates.model import Candidate
from context_editor.core.edits.given import given_numbers, newest_id
from context_editor.core.edits.ground import Ground
from context_editor.core.growing import Growing
from context_editor.core.listing import RowMarks
from context_editor.core.measure import Estimates
from context_editor.core.names import RefMemory
from context_editor.core.policy.candidates import PolicyGround
from context_editor.core.policy.gate import Fill, Situation
from context_editor.core.policy.gate import Moment as Moment_
from context_editor.core.policy.record import next_batch_number
from context_editor.core.policy.run import Request, run, tool_calls
from context_editor.core.rows import Row
from context_editor.core.sizes.estimate import CountTokens, Ruler
from context_editor.core.sizes.families import Family, family_of
from context_editor.core.stages.blocks import extent
from context_editor.core.stages.carry import settled
from context_editor.core.stages.flags import kept_rows, listing_flags, protected, review_marks
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.turns import pinned_by_product
from context_editor.core.state import HANDOFF_LABEL, SessionState
from context_editor.core.suggestions import (
    POLICY_MARK,
    FinishedBlock,
    Proposal,
    block_proposal,
    policy_proposal,
    review_proposal,
    standing_suggestion,
)
from context_editor.core.telemetry import Effect, ReadMemory, rereads
from context_editor.engine.limits import Limits
from context_editor.engine.ports import Clock, HostPort, Reading
from context_editor.engine.view import View, names_of, own_facts, sizes_of
from context_editor.store.archive import Archive
from context_editor.store.disk import DiskMemory, gathered
from context_editor.store.session import SessionFolder

SUMMARY_LABEL = "compact-summary"
"""The label of the summary that a compaction of the host begins a conversation with."""

LEAST_FILL = 0.5
"""A host that compacts below this share of the limit it told has another one by now, as after a change of model."""


@dataclass
class Look:
    """One session, ready to be looked at.

    Attributes:
        folder: The session's folder.
        host: The host's conversation.
        clock: The time.
        limits: Settings.
        apply_mode: Why edits are not applied at the turn's end; empty when they are.
        count: Counts o200k tokens where the table is on disk; None else.
    """

    folder: SessionFolder
    host: HostPort
    clock: Clock
    limits: Limits = field(default_factory=Limits)
    apply_mode: str = ""
    count: CountTokens | None = None
    _estimates: dict[Family, Estimates] = field(default_factory=dict)
    _memory: ReviewMemory = field(default_factory=ReviewMemory)
    _refs: RefMemory = field(default_factory=RefMemory)
    _reads: ReadMemory = field(default_factory=ReadMemory)
    _numbers: Growing[Row, int] = field(default_factory=given_numbers)
    _disk: DiskMemory = field(default_factory=DiskMemory)
    _is_adopted: bool = False

    def view(self, state: SessionState) -> View:
        """The session as it is now; what `state` holds of marks and sizes is brought up to it."""
        self._adopt(state)
        self._take_window(state)
        reading = self._read(state)
        sizes = sizes_of(state, reading, self._estimates_for(state, reading))
        state.calibration = sizes.calibration
        names = names_of(state, reading, self.folder.path / "applies", self._refs)
        project = Path(reading.cwd) if reading.cwd else None
        disk = gathered(reading.conversation, project, self._disk)
        state.work = settled(state.work, reading.conversation).work
        view = View(state, reading, names, sizes, disk)
        self._pin_seed(view)
        self._count_on(view)
        state.rereads = self._rereads(view)
        return view

    def _rereads(self, view: View) -> list[str]:
        state, conversation = view.state, view.reading.conversation
        known = rereads(conversation, state.replacements, view.disk, state.rereads, self._reads)
        return list(dict.fromkeys((*state.rereads, *known)))

    def _take_window(self, state: SessionState) -> None:
        """Remember what the host told of its window, and go by it where no host is there to tell."""
        limits = self.limits
        if limits.window:
            state.window, state.auto_compact = limits.window, limits.auto_compact
        elif state.window:
            known = (state.window, state.auto_compact)
            self.limits = replace(limits, window=known[0], auto_compact=known[1])

    def _read(self, state: SessionState) -> Reading:
        return self.host.read(own_facts(state, self.host.own_tool))

    def _adopt(self, state: SessionState) -> None:
        """Begin with the state of the session that this one is a copy of, once (rule B12)."""
        if self.folder.state_path.exists() or self._is_adopted:
            return
        self._is_adopted = True
        others = self.folder.others()
        origin = self.host.origin([other.session_id for other in others]) if others else ""
        if origin:
            source = next(other for other in others if other.session_id == origin).read()
            copied = replace(source, session_id=state.session_id, forked_from=origin, intent=None)
            for one in fields(SessionState):
                setattr(state, one.name, getattr(copied, one.name))

    def _estimates_for(self, state: SessionState, reading: Reading) -> Estimates:
        model = reading.samples[-1].sample.model if reading.samples else state.calibration.model
        family = family_of(model)
        return self._estimates.setdefault(family, Estimates(Ruler(family, self.count)))

    @staticmethod
    def _pin_seed(view: View) -> None:
        """Pin the summary that the conversation begins with, when it is first seen (rule C12)."""
        first = next(iter(view.reading.conversation.listed), None)
        if first is not None and first.pieces[0].label in {SUMMARY_LABEL, HANDOFF_LABEL}:
            moment = Moment(view.names, view.turn)
            note = "the conversation begins with it"
            view.state.work = pinned_by_product(view.state.work, first, note, moment)

    def _count_on(self, view: View) -> None:
        """Go on from the ids that are given out already, where the state that counted them is lost (rule L13)."""
        counters = view.state.counters
        if "c" not in counters:
            made = newest_id(view.reading.conversation, self._numbers)
            counters.update({"c": made} if made else {})
        if "b" not in counters:
            records, _ = self.archive.all_records()
            counters["b"] = next_batch_number(str(r.get("batch_id")) for r in records) - 1

    @property
    def archive(self) -> Archive:
        """The session's archive."""
        return Archive(self.folder.path, self.limits.policy.offload_archive_path)

    def around(self, view: View, running_response: str | None = None) -> Surroundings:
        """What a plan is made in."""
        conversation = view.reading.conversation
        hidden = {row.anchor: view.sizes.row(row) for row in conversation.hidden}
        choices = view.state.choices
        return Surroundings(
            conversation,
            self.host.own_tool,
            running_response,
            hidden,
            keep_cache=choices.keep_cache and choices.turn == view.turn,
        )

    def ground(self, view: View) -> Ground:
        """What edits are judged against."""
        work, conversation = view.state.work, view.reading.conversation
        return Ground(
            view.names,
            view.sizes,
            tuple(view.state.queue),
            view.state.replacements,
            protected=protected(work, conversation),
            original_path=lambda text: str(self.archive.original_path(text)),
            reproducible=view.reproducible,
            rewritable=protected(work, conversation, for_rewrite=True),
        )

    def candidates(self, view: View) -> tuple[Candidate, ...]:
        """What is worth a review, in the order of the rows (group G)."""
        marks = review_marks(view.state.work, view.reading.conversation)
        review = Review(self.ground(view), view.disk, self.limits.review, marks, self._memory)
        return candidates(review)

    def marks(self, view: View, found: Sequence[Candidate]) -> RowMarks:
        """What stands behind the sizes of rows in a listing."""
        state = view.state
        flags = listing_flags(state.work, view.reading.conversation, state.queue, found)
        return RowMarks(view.queued, flags, view.reproducible)

    def kept(self, view: View) -> Mapping[str, str]:
        """What each row is kept as, by anchor (rule L10)."""
        return kept_rows(view.state.work, view.reading.conversation)

    def effect(self, view: View) -> str:
        """The Effect line, without its name."""
        state = view.state
        count = len(state.replacements)
        effect = Effect(count, max(0, state.saved_tokens), len(state.rereads), count)
        return effect.words(approx=not view.sizes.is_known)

    def proposal(self, view: View, found: Sequence[Candidate]) -> Proposal | None:
        """The one batch that a suggestion would propose: the policy, the latest finished block, or candidates."""
        if view.state.suggestions.due == POLICY_MARK:
            of_policy = self._policy_proposal(view, found)
            if of_policy is not None and of_policy.is_worthwhile:
                return of_policy
        block = self._finished(view)
        of_block = block_proposal(block, view.names, view.sizes) if block else None
        if of_block is not None and of_block.is_worthwhile:
            return of_block
        return review_proposal(found, view.names, view.sizes)

    def _policy_proposal(self, view: View, found: Sequence[Candidate]) -> Proposal | None:
        """What the retention policy would do now (rule L20); None where it would do nothing."""
        if self.limits.policy_fault:
            return None
        outcome = run(self.policy_request(view, "check", found=found))
        rows = view.rows([anchor for edit in outcome.edits for anchor in edit.anchors])
        if not rows:
            return None
        behind = view.sizes.behind(first_change(rows, self.around(view)), view.reading.conversation)
        saved = outcome.saved_tokens
        return policy_proposal(saved, max(0, behind - saved), outcome.target)

    def _finished(self, view: View) -> FinishedBlock | None:
        work = view.state.work
        if not work.blocks:
            return None
        moment = Moment(view.names, view.turn)
        standing = extent(work.blocks[-1], moment.places)
        return FinishedBlock(standing.block.name, tuple(standing.rows)) if standing else None

    def suggestion(self, view: View, found: Sequence[Candidate]) -> str:
        """The suggestion for a header or a close report, while one is due."""
        state = view.state.suggestions
        return standing_suggestion(state, self.proposal(view, found)) if state.due else ""

    def ratio(self, view: View) -> float:
        """Used tokens as a share of the window; 0 when the window is unknown."""
        window = self.limits.window
        return view.sizes.total_tokens / window if window else 0.0

    def policy_request(
        self,
        view: View,
        moment: Moment_,
        target: float | None = None,
        running: str | None = None,
        found: Sequence[Candidate] | None = None,
    ) -> Request:
        """What a pass of the retention policy is asked with."""
        review = self.candidates(view) if found is None else found
        over = PolicyGround(self.ground(view), review, self.kept(view))
        situation = Situation(moment, view.turn, tool_calls(over))
        fill = self._fill(view.sizes.total_tokens, moment)
        memory = view.state.policy
        return Request(
            over,
            self.limits.policy,
            fill,
            situation,
            memory=memory,
            target=target,
            running_response=running,
        )

    def _fill(self, tokens: int, moment: Moment_) -> Fill:
        """How full the context is; the host's moment itself says where the host compacts."""
        known = self.limits.max_tokens
        is_wrong = tokens < known * LEAST_FILL
        return Fill(tokens, tokens if moment == "host" and (is_wrong or not known) else known)

    @staticmethod
    def moment(view: View, epoch: int | None = None) -> Moment:
        """Where in the conversation a call is made."""
        response = view.reading.running_response
        return Moment(view.names, view.turn, response, epoch)


@dataclass(frozen=True)
class Found:
    """A view with its candidates, worked out once for one answer.

    Attributes:
        look: The session.
        view: What was seen.
    """

    look: Look
    view: View

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """What is worth a review."""
        return self.look.candidates(self.view)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The listed rows."""
        return self.view.reading.conversation.listed
