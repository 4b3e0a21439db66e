"""The use cases of one session: list, edit, tag, note, and what the end of a turn and a prompt mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.apply.model import Surroundings
from context_editor.core.assemble import text_print
from context_editor.core.close_report import ReportFacts
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.edits.wording import cut
from context_editor.core.marker import ends_with_marker
from context_editor.core.molt import RESUME, decided, latest, molt_waits
from context_editor.core.notes import NoteOp, apply_notes
from context_editor.core.stages.marks import TagOp
from context_editor.core.stages.turns import on_prompt, on_turn_end
from context_editor.core.state import TurnChoices
from context_editor.core.suggestions import (
    POLICY_MARK,
    answered,
    is_wanted_at_prompt,
    next_mark,
    observed,
    rearm_mark,
    suggested_at_prompt,
    suggested_at_tool,
    turn_result_tokens,
)
from context_editor.core.tags import TagContext, apply_tags
from context_editor.engine import editing, listing
from context_editor.engine.beside_molt import beside_molt
from context_editor.engine.limits import Limits
from context_editor.engine.molting import Molting
from context_editor.engine.retention import Retention
from context_editor.engine.undoing import of_last_apply, queue_restores
from context_editor.engine.view import View

__all__ = ["Engine", "Limits", "TurnEnd"]

DEFAULT_RESUME: Final = "Go on with the work where you stopped."
"""The continuation prompt where the caller gave no text."""


CARRIED_CHARS: Final = 2_000
"""The most that one prompt is made to carry, in characters: a hard cap, whatever there is to say."""

CUT_NOTICE_CHARS: Final = 48
"""Room for the notice of how much was cut (rule A13), with the line's end."""


@dataclass(frozen=True)
class TurnEnd:
    """What is to happen at the end of a turn.

    Attributes:
        edits: How many edits to apply now; 0 to apply nothing.
        resume: The continuation prompt; empty to wait for the person.
        notice: One line for the person; empty when there is nothing to say.
    """

    edits: int = 0
    resume: str = ""
    notice: str = ""


@dataclass
class Engine(Molting, Retention):
    """One session: the only door to its state and to the decisions."""

    # --- what the tools ask ----------------------------------------------------------------------------

    def list(self, request: listing.ListRequest, *, for_person: bool = False) -> str:
        """The answer of `context_list`.

        Args:
            request: What is to be shown.
            for_person: Whether a person reads it: its numbers are then none that the model was shown (rule A8).
        """
        match request.what:
            case "notice":
                return self.notice()
            case "held":
                return self.held_words()
            case "archive":
                return self.dropped_words(str(request.row or ""), request.grep)
            case "rows":
                pass
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            self._observe(view)
            found = self.candidates(view)
            facts = listing.header_facts(self, view, found)
            text = listing.listed(request, view, self.around(view), facts, self.marks(view, found))
            if listing.shows_numbers(request) and not for_person:
                state.numbered_epoch = state.epoch
        return text

    def edit(self, call: EditCall) -> str:
        """Queue the edits of one call, or none of them.

        Raises:
            RefusedError: An edit breaks a rule; nothing was queued.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            call, before = beside_molt(call, view)
            if before and not call.edits:
                return "\n".join((*before, *self._next_words(view, self.around(view))))
            before += self.rebuilt(call, view)
            queued = editing.queue_edits(call, view, self.ground(view), self.queue_policy)
            now_s = self.clock.now_s()
            state.choices = editing.choices_after(call, state.choices, view.turn, now_s)
            state.suggestions = answered(state.suggestions)
            around = self.around(view)
            if state.choices.keep_cache:
                editing.check_keep_cache(view, around, self.limits.keep_cache_positions)
            lines = (*before, *queued.lines, *self._next_words(view, around))
            return "\n".join((*lines, *_warning_lines(queued.warnings)))

    def bring_back(self, replacement_id: str = "") -> str:
        """Queue an original, or all that the last apply replaced, to come back; the person's own order (rule C26).

        Raises:
            RefusedError: It cannot come back; nothing was queued.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            beside_molt(EditCall((EditRequest("restore", id=replacement_id),)), view)
            ids: tuple[str, ...] = (replacement_id,)
            if not replacement_id:
                ids = of_last_apply(state.replacements, state.molts)
            lines = queue_restores(ids, view, self.ground(view))
            state.is_ordered = True
            return "\n".join(lines)

    def tag(self, ops: Sequence[TagOp], epoch: int | None = None) -> str:
        """Carry out one `context_tag` call, whole or not at all.

        Raises:
            RefusedError: An element breaks a rule; nothing was changed.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            self._observe(view)
            found = self.candidates(view)
            facts = ReportFacts(
                found,
                self.effect(view),
                self.suggestion(view, found),
                is_approx=not view.sizes.is_known,
            )
            context = TagContext(
                self.ground(view),
                state.next_id,
                view.turn,
                view.reading.running_response,
                epoch,
                self.limits.policy.never_compact,
                facts,
                last.id if (last := latest(state.molts)) else "",
            )
            outcome = apply_tags(state.work, ops, context)
            state.molts = decided(state.molts, outcome.decision, outcome.decision_note)
            state.work = outcome.work
            replaced = {*outcome.withdrawn, *(edit.id for edit in outcome.queued)}
            state.queue = [edit for edit in state.queue if edit.id not in replaced]
            state.queue += outcome.queued
            if outcome.queued:
                state.choices = _after_tags(state.choices, view.turn, self.clock.now_s())
            state.numbered_epoch = state.epoch
            return "\n".join((*outcome.texts, *_warning_lines(outcome.warnings)))

    def note(self, ops: Sequence[NoteOp], epoch: int | None = None) -> str:
        """Carry out one `context_note` call, whole or not at all.

        Raises:
            RefusedError: An element breaks a rule; nothing was changed.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            outcome = apply_notes(state.work, ops, self.moment(view, epoch), state.next_id)
            state.work = outcome.work
            return "\n".join((*outcome.texts, *_warning_lines(outcome.warnings)))

    def _next_words(self, view: View, around: Surroundings) -> tuple[str, ...]:
        state = view.state
        if state.molt:
            return (molt_waits(state.molt),)
        if not state.queue:
            return ("Queued: 0. Nothing is applied.",)
        words = editing.queue_words(view, around)
        if self.apply_mode:
            way = "`context-editor apply` makes the edited copy."
            return (words, f"Apply: at resume: {self.apply_mode}. {way}")
        if not state.choices.has_turn_end_apply:
            return (words, 'They wait: {"apply": "turn_end"} in a later context_edit applies them.')
        match state.choices.resume:
            case False:
                after = "then it waits for the person"
            case True:
                after = "the conversation then resumes by itself"
            case text:
                after = f"the conversation then resumes by itself with: {text}"
        return (
            words,
            f"They apply when this turn ends. End it now with one status line; {after}.",
        )

    # --- the end of a turn -----------------------------------------------------------------------------

    def turn_ended(
        self,
        *,
        is_normal: bool,
        answer: str = "",
        person_waits: bool = False,
        ended_s: float = 0.0,
    ) -> TurnEnd:
        """Whether the queue is applied now, and how the conversation goes on (rules C7, C8, C10).

        Args:
            is_normal: Whether the turn came to its end by itself.
            answer: The answer that it ended with.
            person_waits: Whether a person's prompt comes next.
            ended_s: When it ended, in seconds since the epoch, UTC; 0 when unknown. A call that was made later
                belongs to the turn that has begun meanwhile, and is left to that turn's end.
        """
        with self.folder.changed() as state:
            self._settle(state)
            choices = state.choices
            if 0 < ended_s < choices.asked_s:
                return TurnEnd()
            # One try: an apply that fails is told, and waits for the next call that asks for it; so
            # does one whose turn was broken off.
            state.choices = replace(choices, has_turn_end_apply=False)
            is_due = is_normal and choices.has_turn_end_apply
            if not (state.queue or state.molt) or not is_due:
                return TurnEnd()
            view = self.view(state)
            held = self._held_words(view) if choices.keep_cache else ""
            if held:
                state.tell(f"{held}; resend without keep_cache to apply them")
                return TurnEnd(notice=held)
            is_late = choices.turn < view.turn  # a person's next prompt was begun meanwhile
            is_waiting = person_waits or is_late or ends_with_marker(answer)
            default = RESUME if state.molt else DEFAULT_RESUME
            state.continuation = "" if is_waiting else _resume_words(choices, default)
            count = 1 if state.molt else len(state.queue)
            return TurnEnd(count, state.continuation)

    def _held_words(self, view: View) -> str:
        """Why `keep_cache` holds the queue back; empty when it does not."""
        distance = editing.queue_distance(view.state, self.around(view))
        if distance is None or distance <= self.limits.keep_cache_positions:
            return ""
        count = len(view.state.queue)
        return (
            f"context-editor: {count} edit(s) held: keep_cache, and the earliest change is now "
            f"{distance} positions from the end"
        )

    def answered_with(self, answer: str) -> str:
        """Take the end of a turn in by its answer: a valid optimize marker closes a block (group E).

        Returns:
            One line for the person; empty when there is nothing to say.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            is_valid = ends_with_marker(answer)
            ended = on_turn_end(state.work, self.moment(view), marker_is_valid=is_valid)
            state.work = ended.work
            state.numbered_epoch = state.epoch
            return ended.words

    # --- prompts and tools -----------------------------------------------------------------------------

    def prompt_lines(self, prompt: str = "") -> tuple[str, ...]:
        """What the next prompt is to carry; each line is told once."""
        with self.folder.changed() as state:
            self._settle(state)
            report, state.report = state.report, ""
            view = self.view(state)
            is_continuation = bool(prompt) and prompt == state.continuation
            turns = view.reading.conversation.turns
            prompted = on_prompt(
                state.work, self.moment(view), turns, is_continuation=is_continuation
            )
            state.work = prompted.work
            words = _within_cap(report, (*prompted.lines, *self._prompt_suggestion(view)))
            if not words:
                return ()
            state.service.append(text_print(words))
            state.numbered_epoch = state.epoch
            return tuple(words.splitlines())

    def _prompt_suggestion(self, view: View) -> Sequence[str]:
        self._observe(view)
        state = view.state
        tokens = turn_result_tokens(view.reading.conversation, view.turn, view.sizes)
        if not is_wanted_at_prompt(state.suggestions, view.turn + 1, tokens):
            return ()
        proposal = self.proposal(view, self.candidates(view))
        state.suggestions, words = suggested_at_prompt(
            state.suggestions, proposal, view.turn + 1, tokens
        )
        self._offered(view, words, view.turn + 1)
        return (words,) if words else ()

    def suggest_at_tool(self) -> str:
        """The suggestion behind a tool call where a mark was just crossed; empty else (rule F4)."""
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            self._observe(view)
            if not state.suggestions.due or state.suggestions.is_told:
                return ""
            proposal = self.proposal(view, self.candidates(view))
            state.suggestions, words = suggested_at_tool(state.suggestions, proposal, view.turn)
            self._offered(view, words, view.turn)
            if words:
                state.service.append(text_print(words))
            return words

    @staticmethod
    def _offered(view: View, words: str, turn: int) -> None:
        """Remember that a pass of the policy was suggested; one that is passed over is counted (rule L18)."""
        if words and view.state.suggestions.due == POLICY_MARK:
            view.state.policy = view.state.policy.after_offer(turn)

    def _observe(self, view: View) -> None:
        state = view.state
        state.suggestions = observed(state.suggestions, self.ratio(view), self.limits.suggestions)
        state.policy = state.policy.after_turn(view.turn)
        marks, window = self.limits.suggestions, self.limits.window
        mark = next_mark(state.suggestions, marks) or 0.0
        rearm = rearm_mark(state.suggestions, marks) or 0.0
        self.folder.set_next_mark(round(mark * window), round(rearm * window))


def _within_cap(report: str, lines: Sequence[str]) -> str:
    """What a prompt carries: a long report gives way, since everything else is told this once only."""
    rest = "\n".join(lines)
    room = max(0, CARRIED_CHARS - len(rest) - CUT_NOTICE_CHARS)
    return "\n".join(filter(None, (cut(report, room), rest)))[:CARRIED_CHARS]


def _warning_lines(warnings: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"Warning: {warning}" for warning in warnings)


def _resume_words(choices: TurnChoices, default: str) -> str:
    if choices.resume is False:
        return ""
    return default if choices.resume is True else choices.resume


def _after_tags(choices: TurnChoices, turn: int, now_s: float) -> TurnChoices:
    """What a turn asks for once a tag call queued something: it applies, and waits for the person (rule C8)."""
    if choices.turn == turn and choices.has_turn_end_apply:
        return replace(choices, asked_s=now_s)
    return replace(choices, turn=turn, has_turn_end_apply=True, resume=False, asked_s=now_s)
