"""The retention policy over a session: at the host's own moment, when asked, and what is held and dropped (group L)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.edits.model import Edit, Op
from context_editor.core.edits.wording import cut
from context_editor.core.listing import ROW_TEXT_CHARS
from context_editor.core.policy import questions
from context_editor.core.policy.asked_digests import (
    DigestAnswer,
    DigestRequest,
    judged,
    request_for,
)
from context_editor.core.policy.candidates import result_words
from context_editor.core.policy.compacted import archived_words
from context_editor.core.policy.report import outcome_words
from context_editor.core.policy.run import Outcome, run
from context_editor.core.rows import Row
from context_editor.core.state import SessionState
from context_editor.engine.applies import Applies
from context_editor.engine.originals import file_originals
from context_editor.engine.ports import ApplyAnswer, HostRow
from context_editor.engine.records import record_of
from context_editor.engine.view import View
from context_editor.errors import ContextEditorError, RefusedError

log = logging.getLogger(__name__)

MODEL_BATCHES: Final = 12
"""Batches of which a model is asked for a digest in one pass, the oldest first: a person waits for it."""

KNOWN_RECORDS: Final = 12
"""Batch ids that a refusal names."""


def _batches(queue: Sequence[Edit]) -> dict[str, tuple[Edit, ...]]:
    """The queued batches of the policy that have a digest, by their name."""
    found: dict[str, tuple[Edit, ...]] = {}
    for edit in queue:
        if edit.author == "policy" and edit.digest_at:
            found[edit.batch] = (*found.get(edit.batch, ()), edit)
    return found


def _rows_of(edits: Sequence[Edit], view: View) -> tuple[Row, ...]:
    return view.rows([anchor for edit in edits for anchor in edit.anchors])


@dataclass
class Retention(Applies):
    """A session that the retention policy looks after."""

    # --- the host's own compaction ---------------------------------------------------------------------

    def answer_compaction(self, host_rows: Sequence[HostRow]) -> ApplyAnswer:
        """What takes the place of the host's own compaction, in the middle of a turn too (rule L17).

        Where the policy does not get below the trigger, the host goes on with its own over what is left;
        everything that it may drop is archived first.
        """
        started_s = self.clock.measure_s()
        try:
            with self.folder.changed() as state:
                self._settle_before(state, host_rows)
                self._settle(state, is_final=True)
                return self._answer_compaction(state, host_rows, started_s)
        except (ContextEditorError, OSError) as error:
            log.warning("the host compacts by itself", exc_info=True)
            self._report(f"context-editor: the host compacted by itself: {error}")
            self._archive_at_least()
            return ApplyAnswer(is_hosts=True)

    def _answer_compaction(
        self, state: SessionState, host_rows: Sequence[HostRow], started_s: float
    ) -> ApplyAnswer:
        view = self._awaited_view(state, host_rows)
        running = view.reading.running_response or None
        answer = ApplyAnswer(is_hosts=True)
        if self.limits.is_policy_on:
            outcome = run(self.policy_request(view, "host", running=running))
            edits = tuple([replace(edit, id=state.next_id("q")) for edit in outcome.edits])
            if edits:
                index = (outcome.index.behind, outcome.index.text) if outcome.index else None
                around = replace(self.around(view, running), index=index)
                answer = self._handed_over(view, edits, around, host_rows, ("auto", started_s))
                answer = replace(answer, is_hosts=not outcome.is_below_trigger)
                state.policy = state.policy.after_pass(view.turn)
        if answer.is_hosts:
            self._archive_all(view)
            state.intent = None
        return answer

    def archive_before(self, reason: str = "forced") -> None:
        """Archive the whole conversation before somebody else shortens it (rule L17)."""
        with self.folder.changed() as state:
            self._settle(state, is_final=True)
            self._archive_all(self.view(state), reason)

    def _archive_at_least(self) -> None:
        """Archive what the host may drop where no plan could be made."""
        try:
            self.archive_before()
        except (ContextEditorError, OSError):
            log.warning("the host compacts, and nothing could be archived before", exc_info=True)

    def _archive_all(self, view: View, reason: str = "forced") -> None:
        """One record of every row that the host's own summary may drop, and a text that says where it is."""
        rows = tuple(row for row in view.reading.conversation.listed if not row.is_pending)
        if not rows:
            return
        edit = Edit(reason, Op.COLLAPSE, tuple(row.anchor for row in rows), reason=reason)
        before = sum(map(view.sizes.row, rows))
        record = record_of((edit,), rows, view.state, self.clock.stamp(), (before, 0))
        conversation = view.reading.conversation
        run_name = self._run_name()
        (filed,) = file_originals(self.archive, ((edit, rows),), conversation, record, run_name)
        self.folder.set_compacted(archived_words(record, filed.original, before))

    def take_over(self) -> None:
        """Take over the state of the session that this one is a copy of, so that no purge takes what it names."""
        with self.folder.changed() as state:
            self._adopt(state)

    # --- when it is asked for --------------------------------------------------------------------------

    def queue_policy(
        self, view: View, target: float | None, queue: Sequence[Edit]
    ) -> tuple[tuple[Edit, ...], str]:
        """What a pass that was asked for would queue beside a queue, and its report (rule L20).

        Raises:
            RefusedError: The policy's parameters are wrong, so that it does not start (rule L-P).
        """
        outcome = self._asked(view, target, queue)
        state = view.state
        edits = tuple(replace(edit, id=state.next_id("q")) for edit in outcome.edits)
        if outcome.index is not None:
            state.queued_index = (outcome.index.behind, outcome.index.text)
        state.policy = state.policy.after_pass(view.turn)
        return edits, outcome_words(outcome, view.names, approx=not view.sizes.is_known)

    def compress(self, target: float | None = None) -> tuple[str, bool]:
        """Queue a pass that a person ordered; its report, and whether anything is to be applied.

        Raises:
            RefusedError: The policy does not start, or a molt is queued that takes everything with it.
        """
        with self.folder.changed() as state:
            self._settle(state)
            if state.molt is not None:
                msg = f"molt {state.molt.id} is queued: edits would go with it; let it happen, or cancel it first"
                raise RefusedError(msg)
            edits, words = self.queue_policy(self.view(state), target, tuple(state.queue))
            state.queue += edits
            state.is_ordered = state.is_ordered or bool(edits)
            return words, bool(edits)

    @property
    def wants_digests(self) -> bool:
        """Whether a model is to be asked for digests before the queue is applied."""
        return self.limits.has_digest_model and bool(_batches(self.folder.read().queue))

    def digests(self, answers: Sequence[DigestAnswer] = ()) -> tuple[DigestRequest, ...]:
        """Take a model's digests of queued batches in, each once it holds every specific (rule L9).

        Args:
            answers: What it answered so far; none to begin with.

        Returns:
            What it is to be asked, or asked once more; a batch that is not, keeps the digest by rule.
        """
        if not self.limits.has_digest_model:
            return ()
        with self.folder.changed() as state:
            view = self.view(state)
            batches = _batches(state.queue)
            if not answers:
                named = list(batches.items())[:MODEL_BATCHES]
                return tuple(request_for(name, _rows_of(edits, view)) for name, edits in named)
            again: list[DigestRequest] = []
            for answer in answers:
                edits = batches.get(answer.batch, ())
                rows = _rows_of(edits, view)
                text, request = judged(answer, rows) if rows else ("", None)
                again += [request] if request else []
                if text:
                    self._take_digest(view, edits, text)
            return tuple(again)

    def _take_digest(self, view: View, edits: Sequence[Edit], text: str) -> None:
        """Put a digest in the place of the one by rule, unless it is larger than what it stands for."""
        first = edits[0]
        ground = self.ground(view)
        (row,) = view.rows(first.anchors)
        before = view.sizes.piece(row.result) if row.result else 0
        saved = before - view.sizes.text(result_words(row, text, ground))
        if saved + sum(edit.saved_tokens for edit in edits[1:]) > 0:
            made = replace(first, text=text, saved_tokens=saved)
            view.state.queue = [made if edit is first else edit for edit in view.state.queue]

    def _asked(self, view: View, target: float | None, queue: Sequence[Edit]) -> Outcome:
        if self.limits.policy_fault:
            msg = f"the retention policy does not start: {self.limits.policy_fault}"
            raise RefusedError(msg)
        request = self.policy_request(view, "asked", target)
        ground = replace(request.ground.ground, queue=tuple(queue))
        return run(replace(request, ground=replace(request.ground, ground=ground)))

    def policy_words(self, target: float | None = None) -> str:
        """What a pass would do now; nothing is queued.

        Raises:
            RefusedError: The policy's parameters are wrong, so that it does not start (rule L-P).
        """
        view = self.view(self.folder.read())
        outcome = self._asked(view, target, view.state.queue)
        return outcome_words(outcome, view.names, approx=not view.sizes.is_known)

    # --- what is held, and what was dropped ------------------------------------------------------------

    def held(self) -> questions.Held:
        """What the conversation still holds (rule L14)."""
        return self._held(self.view(self.folder.read()))

    def held_words(self) -> str:
        """The answer to "what do you still have?"."""
        view = self.view(self.folder.read())
        return questions.held_words(self._held(view), approx=not view.sizes.is_known)

    def _held(self, view: View) -> questions.Held:
        request = self.policy_request(view, "asked")
        preserved = request.ground.preserved()
        limits = (request.fill, request.settings)
        return questions.held(view.names, view.sizes, view.state.replacements, preserved, limits)

    def dropped(self, grep: str = "") -> tuple[tuple[questions.DroppedBatch, ...], int]:
        """The archive's records, oldest first, and how many lines could not be read (rule L15).

        Args:
            grep: Only records that hold this text; empty for all.
        """
        records, unreadable = self._records()
        found = [record for record in records if not grep or questions.holds(record, grep)]
        return questions.dropped(found), unreadable

    def dropped_words(self, name: str = "", grep: str = "", limit: int = ROW_TEXT_CHARS) -> str:
        """The answer to "what got dropped?", or the originals of one record.

        Args:
            name: A batch id or a replacement's id; empty for the list.
            grep: Only records that hold this text.
            limit: How many characters of the originals are shown; 0 for all.

        Raises:
            RefusedError: There is no such record.
        """
        if not name:
            return questions.dropped_words(*self.dropped(grep))
        detail = questions.dropped_detail(self._record(name))
        return cut(detail, limit) if limit else detail

    def _records(self) -> tuple[tuple[questions.Record, ...], int]:
        """The records of this session and of those that it is a copy of, each once, oldest first."""
        found: dict[tuple[object, object], questions.Record] = {}
        unreadable = 0
        folder, seen = self.folder, list[str]()
        while folder.session_id not in seen:
            seen.append(folder.session_id)
            own, bad = replace(self.archive, session=folder.path).all_records()
            unreadable += bad
            older = {(r.get("session_id"), r.get("batch_id")): r for r in own}
            found = {**older, **found}
            origin = folder.read().forked_from
            folder = self.folder.sibling(origin) if origin else folder
        return tuple(found.values()), unreadable

    def _record(self, name: str) -> questions.Record:
        replacement = self.folder.read().replacements.get(name)
        if replacement is not None and replacement.record:
            address, _, item = replacement.record.partition("#")
            record = self.archive.record(address)
            items = list(record["items"])
            return {**record, "items": items[int(item) :][:1]} if item else record
        records, _ = self._records()
        named: list[questions.Record] = [r for r in records if r.get("batch_id") == name]
        if named:
            return named[-1]
        known = [str(record.get("batch_id")) for record in records[-KNOWN_RECORDS:]]
        there = f"the newest are {', '.join(known)}" if known else "nothing was archived yet"
        msg = f"there is no record {name!r}: {there}"
        raise RefusedError(msg)
