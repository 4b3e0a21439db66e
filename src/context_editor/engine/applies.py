"""Applying and confirming: the queue becomes a plan, the host carries it out, and the state takes it in."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from context_editor.core.apply.emissions import Build
from context_editor.core.apply.model import Plan, Surroundings
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit, Op
from context_editor.core.slot import slot_place
from context_editor.core.stages.carry import after_apply
from context_editor.core.stages.moves import moves_of
from context_editor.core.state import Intent, SessionState
from context_editor.core.suggestions import answered
from context_editor.engine import applying, repairing, settling
from context_editor.engine.align import aligned
from context_editor.engine.awaiting import await_rows
from context_editor.engine.look import Look
from context_editor.engine.planted import planted_document, planted_in
from context_editor.engine.ports import ApplyAnswer, HostRow
from context_editor.engine.view import View, names_of
from context_editor.errors import ContextEditorError, RefusedError, TranscriptError
from context_editor.store.files import replace_file

log = logging.getLogger(__name__)

INTENT_GRACE_S: Final = 20.0
"""How long an apply may take to reach the host's file before it counts as not done, in seconds.

The host writes the new rows once its own hooks have returned; that took under a second wherever it was seen.
"""

APPLIES_KEPT: Final = 5
"""Lists of emitted rows that are kept, so that a number of an older listing can be answered with today's."""

GONE: Final = "context-editor: {ids} left the queue: their rows stand no more; nothing was applied"
"""What is told where nothing that is queued can ever be applied: the rows were rewound or summarised away."""

NOT_TAKEN: Final = "context-editor: nothing was applied: the host did not take the edited conversation; the queue stays"


@dataclass
class Applies(Look):
    """A session whose queue can be applied."""

    # --- applying --------------------------------------------------------------------------------------

    def plan_apply(
        self, host_rows: Sequence[HostRow], trigger: str = "manual", *, rebuild: bool = False
    ) -> ApplyAnswer:
        """What the host is to do with its conversation now.

        Every failure answers `skip`: the conversation stays as it is and the queue stays.
        """
        started_s = self.clock.measure_s()
        try:
            with self.folder.changed() as state:
                told = state.report
                if self._settle_before(state, host_rows) == NOT_TAKEN:
                    state.report = told  # what was dropped is about to be handed over again
                return self._plan_apply(state, host_rows, trigger, started_s, rebuild=rebuild)
        except (ContextEditorError, OSError) as error:
            words = f"context-editor: nothing was applied: {error}; the queue stays"
            self._report(words)
            return ApplyAnswer(skip=words)

    def _report(self, words: str) -> None:
        """Have the next prompt carry a line, where the state can be written at all."""
        try:
            with self.folder.changed() as state:
                state.tell(words)
        except (ContextEditorError, OSError):
            log.warning("could not note for the next prompt: %s", words, exc_info=True)

    def _plan_apply(
        self,
        state: SessionState,
        host_rows: Sequence[HostRow],
        trigger: str,
        started_s: float,
        *,
        rebuild: bool,
    ) -> ApplyAnswer:
        if state.intent is not None:
            return ApplyAnswer(skip="context-editor: an apply is under way already")
        if not state.queue:
            return ApplyAnswer(skip="context-editor: nothing is queued")
        view = self._awaited_view(state, host_rows)
        if not any(not edit.anchors or view.rows(edit.anchors) for edit in state.queue):
            ids = ", ".join(edit.id for edit in state.queue)
            state.queue, words = [], GONE.format(ids=ids)
            state.tell(words)
            return ApplyAnswer(skip=words)
        has_slot = any(edit.op is Op.STATE for edit in state.queue)
        slot = slot_place(state.work, state.queue, self.ground(view)) if has_slot else None
        index = self._queued_index(state)
        is_rebuilt = rebuild or state.rebuilds
        around = replace(self.around(view), rebuild=is_rebuilt, slot=slot, index=index)
        return self._handed_over(view, tuple(state.queue), around, host_rows, (trigger, started_s))

    def _settle_before(self, state: SessionState, host_rows: Sequence[HostRow]) -> str:
        """Settle an apply that was handed over before the host asks for another, and say what became of it.

        Once the file shows the very rows that the host holds now, it shows whether that apply was taken.
        """
        if state.intent is None:
            return ""
        is_written = await_rows(
            lambda: self._read(state).conversation.pieces, host_rows, self.clock.sleep, by_id=True
        )
        return self._settle(state, is_final=is_written)

    def _awaited_view(self, state: SessionState, host_rows: Sequence[HostRow]) -> View:
        """The session once its file shows what the host holds."""
        await_rows(lambda: self._read(state).conversation.pieces, host_rows, self.clock.sleep)
        return self.view(state)

    @staticmethod
    def _queued_index(state: SessionState) -> tuple[str, str] | None:
        """The citation index of a queued pass, while a row of the pass is still queued."""
        anchors = {anchor for edit in state.queue for anchor in edit.anchors}
        index = state.queued_index
        return (
            (index[0], index[1])
            if len(index) == len(("anchor", "text")) and index[0] in anchors
            else None
        )

    def _handed_over(
        self,
        view: View,
        edits: tuple[Edit, ...],
        around: Surroundings,
        host_rows: Sequence[HostRow],
        start: tuple[str, float],
    ) -> ApplyAnswer:
        """Archive, plan and note an intent; the answer is for the host to carry out.

        Raises:
            ContextEditorError: Nothing can be applied, or not safely; the conversation is to stay.
        """
        state = view.state
        readied = applying.ready(view, edits, self.archive, self._run_name(), self.clock)
        if not readied.placed:
            reasons = "; ".join(f"{i}: {reason}" for i, reason in readied.skipped.items())
            msg = f"no queued edit could be applied ({reasons})"
            raise RefusedError(msg)
        made = applying.planned(readied, around)
        rows = self._host_rows(made, view.reading.conversation, host_rows)
        trigger, started_s = start
        intent = self._intent(view, readied, made, trigger, started_s, rebuild=around.rebuild)
        state.intent = replace(intent, dropped=tuple(edit.id for edit in edits))
        return ApplyAnswer(rows=rows, edits=len(readied.placed))

    # --- a resumed conversation ------------------------------------------------------------------------

    def needs_repair(self, held: Sequence[HostRow]) -> bool:
        """Whether what the host loaded differs from what its file holds, after applies of ours."""
        with self.folder.changed() as state:
            self._settle(state, is_final=True)
            return bool(state.epoch) and repairing.surplus(self._read(state).conversation, held) > 0

    def plan_repair(self, host_rows: Sequence[HostRow]) -> ApplyAnswer:
        """What the host is to do so that it holds what its file holds; `skip` where nothing is wrong."""
        started_s = self.clock.measure_s()
        try:
            with self.folder.changed() as state:
                self._settle(state, is_final=True)
                view = self.view(state)
                conversation = view.reading.conversation
                wrong = repairing.surplus(conversation, host_rows)
                if not wrong:
                    return ApplyAnswer(
                        skip="context-editor: the conversation is as its file holds it"
                    )
                last = self.folder.path / f"applies/{state.epoch - 1}.json"
                held = repairing.known_again(planted_in(last), conversation, host_rows)
                made = repairing.repair_plan(self.around(view), held)
                rows = self._host_rows(made, conversation, held, is_lenient=True)
                intent = self._intent(
                    view, applying.Readied(), made, "repair", started_s, rebuild=False
                )
                words = (
                    f"context-editor: repaired the resumed conversation: {wrong} row(s) put right"
                )
                state.intent = replace(intent, dropped=(), report=words)
                return ApplyAnswer(rows=rows)
        except ContextEditorError as error:
            return ApplyAnswer(skip=f"context-editor: nothing was repaired: {error}")

    @staticmethod
    def _host_rows(
        made: Plan,
        conversation: Conversation,
        host_rows: Sequence[HostRow],
        *,
        is_lenient: bool = False,
    ) -> tuple[tuple[int, int] | Build, ...]:
        places = aligned(conversation.pieces, host_rows, is_lenient=is_lenient)
        rows: list[tuple[int, int] | Build] = []
        for emission in made.emissions:
            if isinstance(emission, Build):
                rows.append(emission)
                continue
            at = places.get(emission.handle)
            if at is None and conversation.pieces[emission.position].rides:
                continue  # it rides in front of the first prompt: the host keeps it with that row
            if at is None:
                msg = f"the host did not hand over row {emission.handle}, which must stay"
                raise TranscriptError(msg)
            last = rows[-1] if rows else None
            if isinstance(last, tuple) and last[1] == at:
                rows[-1] = (last[0], at + 1)
            else:
                rows.append((at, at + 1))
        return tuple(rows)

    def _intent(
        self,
        view: View,
        readied: applying.Readied,
        made: Plan,
        trigger: str,
        started_s: float,
        *,
        rebuild: bool,
    ) -> Intent:
        state, conversation = view.state, view.reading.conversation
        name = f"applies/{state.epoch}.json"
        planted = planted_document(made, conversation, view.names)
        replace_file(self.folder.path / name, planted)
        before = view.sizes.total_tokens
        after = max(0, before - sum(p.edit.saved_tokens for p in readied.placed))
        first = conversation.row_at.get(made.first_changed)
        return Intent(
            self.clock.now_s(),
            trigger,
            str(view.reading.transcript),
            view.reading.size,
            name,
            tuple(p.edit for p in readied.placed),
            tuple(readied.replacements),
            applying.absorbed_refs(readied, view.names),
            readied.skipped,
            tuple(edit.id for edit in state.queue),
            before,
            after,
            view.names.number(first) if first else 0,
            made.first_changed,
            made.thinking_dropped,
            1000 * (self.clock.measure_s() - started_s),
            rebuild,
            applying.report_words(
                readied, view.names, (before, after), state.epoch + 1, made.thinking_dropped
            ),
        )

    def _run_name(self) -> str:
        """A file name for the records of this run: the time without colons (rule L12)."""
        return datetime.fromisoformat(self.clock.stamp()).strftime("%Y%m%dT%H%M%S%z")

    # --- confirming ------------------------------------------------------------------------------------

    def confirm(self, *, is_final: bool = False) -> str:
        """Settle an apply that was handed to the host, if there is one.

        Args:
            is_final: Whether the host has nothing more to write: an apply that is not there was not done.

        Returns:
            One line for the person; empty when there was nothing to settle.
        """
        with self.folder.changed() as state:
            if is_final:
                # The turn that asked for an apply did not come to its end: the queue waits (rule C7).
                state.choices = replace(state.choices, has_turn_end_apply=False)
            return self._settle(state, is_final=is_final)

    def _settle(self, state: SessionState, *, is_final: bool = False) -> str:
        intent = state.intent
        if intent is None:
            return ""
        settled = self.host.settle(intent.offset)
        if not settled.is_found and not is_final and self._may_still_come(intent):
            return ""
        found = self._matched(state, intent) if settled.is_found else None
        if found and found.is_partial and not is_final and self._may_still_come(intent):
            return ""
        if found is None or not found.is_ours:
            state.intent = None
            state.tell(NOT_TAKEN)
            return NOT_TAKEN
        settling.take_in(state, intent, found)
        state.rebuilds = not settled.is_resumable
        self._carry_work(state, intent, found)
        words = self._numbered_report(state, intent)
        state.tell(words)
        settling.log_apply(self.folder, state, intent, settled, found.reason, self.clock.stamp())
        settling.prune_applies(self.folder.path / "applies", state.epoch - APPLIES_KEPT)
        return words

    def _may_still_come(self, intent: Intent) -> bool:
        """Whether the host may still be writing; a clock that was put back by more than that tells nothing."""
        return abs(self.clock.now_s() - intent.started_s) < INTENT_GRACE_S

    def _matched(self, state: SessionState, intent: Intent) -> settling.Matched:
        """The emitted rows in the conversation that now stands; by their calls alone where their list is lost."""
        conversation = self._read(state).conversation
        try:
            planted = planted_in(self.folder.path / intent.planted)
        except TranscriptError as error:
            return settling.matched_by_calls(intent.replacements, conversation, str(error))
        return settling.matched(planted, conversation)

    def _carry_work(self, state: SessionState, intent: Intent, found: settling.Matched) -> None:
        """Bring marks, stages and notes over to the rows that now stand (rule B10)."""
        applied = [
            (edit, made.id) for edit, made in zip(intent.edits, intent.replacements, strict=True)
        ]
        moves = moves_of(applied, found.standing, found.renamed)
        carried = after_apply(state.work, self._read(state).conversation, moves)
        state.work = carried.work
        state.suggestions = answered(state.suggestions)

    def _numbered_report(self, state: SessionState, intent: Intent) -> str:
        """The report with the rows' numbers as they are now."""
        reading = self._read(state)
        names = names_of(state, reading, self.folder.path / "applies")
        words = intent.report
        for replacement in intent.replacements:
            standing = state.replacements.get(replacement.id)
            numbers = [
                names.conversation.numbers.get(a, 0) for a in (standing.anchors if standing else ())
            ]
            place = f"#{numbers[0]}" if numbers and numbers[0] else "nothing"
            words = words.replace(f"{{{replacement.id}}}", place)
        state.numbered_epoch = state.epoch
        return words
