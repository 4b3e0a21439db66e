"""The use cases of one session: list, edit, apply, confirm, and what a prompt is told."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from context_editor.core.apply.emissions import Build
from context_editor.core.apply.plan import Plan, Surroundings
from context_editor.core.assemble import text_print
from context_editor.core.edits.requests import EditCall
from context_editor.core.listing import RowMarks
from context_editor.core.measure import Estimates
from context_editor.core.rows import Conversation
from context_editor.core.sizes.estimate import CountTokens, Ruler
from context_editor.core.sizes.families import Family, family_of
from context_editor.core.state import Intent, Planted, SessionState, TurnChoices
from context_editor.engine import applying, editing, listing, repairing, settling
from context_editor.engine.align import aligned
from context_editor.engine.ports import ApplyAnswer, Clock, HostPort, HostRow, Reading
from context_editor.engine.view import View, names_of, own_facts, sizes_of
from context_editor.errors import ContextEditorError, RefusedError, TranscriptError
from context_editor.store import codec
from context_editor.store.archive import Archive
from context_editor.store.disk import gathered
from context_editor.store.files import replace_file
from context_editor.store.session import SessionFolder

log = logging.getLogger(__name__)

INTENT_GRACE_S: Final = 20.0
"""How long an apply may take to reach the host's file before it counts as not done, in seconds.

The host writes the new rows once its own hooks have returned; that took under a second wherever it was seen.
"""

APPLIES_KEPT: Final = 5
"""Lists of emitted rows that are kept, so that a number of an older listing can be answered with today's."""

DEFAULT_RESUME: Final = "Go on with the work where you stopped; the edits you queued are applied."
"""The continuation prompt where the caller gave no text."""


NOT_TAKEN: Final = "context-editor: nothing was applied: the host did not take the edited conversation; the queue stays"


@dataclass(frozen=True)
class Limits:
    """Settings that the engine needs.

    Attributes:
        window: The model's context window, in tokens; 0 when unknown.
        keep_cache_positions: See `editing.KEEP_CACHE_POSITIONS`.
    """

    window: int = 0
    keep_cache_positions: int = editing.KEEP_CACHE_POSITIONS


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
class Engine:
    """One session: the only door to its state and to the decisions.

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
    _is_adopted: bool = False

    # --- looking ---------------------------------------------------------------------------------------

    def view(self, state: SessionState) -> View:
        """The session as it is now; folds new usage into the calibration of `state`."""
        self._adopt(state)
        reading = self._read(state)
        estimates = self._estimates_for(state, reading)
        sizes = sizes_of(state, reading, estimates)
        state.calibration = sizes.calibration
        names = names_of(state, reading, self.folder.path / "applies")
        disk = gathered(reading.conversation, Path(reading.cwd) if reading.cwd else None)
        return View(state, reading, names, sizes, disk)

    def _adopt(self, state: SessionState) -> None:
        """Begin with the state of the session that this one is a copy of, once (rule B12)."""
        if self.folder.state_path.exists() or self._is_adopted:
            return
        self._is_adopted = True
        others = self.folder.others()
        origin = self.host.origin([other.session_id for other in others]) if others else ""
        if origin:
            copied = next(other for other in others if other.session_id == origin).read()
            copied = replace(copied, session_id=state.session_id, forked_from=origin, intent=None)
            for one in fields(SessionState):
                setattr(state, one.name, getattr(copied, one.name))

    def _estimates_for(self, state: SessionState, reading: Reading) -> Estimates:
        model = reading.samples[-1].sample.model if reading.samples else state.calibration.model
        family = family_of(model)
        return self._estimates.setdefault(family, Estimates(Ruler(family, self.count)))

    @property
    def archive(self) -> Archive:
        """The session's archive."""
        return Archive(self.folder.archive, self.folder.offloaded)

    def list(self, request: listing.ListRequest) -> str:
        """The answer of `context_list`."""
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            text = listing.listed(
                request, view, self._around(view), self._header_facts(), self._marks(view)
            )
            if listing.shows_numbers(request):
                state.numbered_epoch = state.epoch
        return text

    def _header_facts(self) -> listing.HeaderFacts:
        return listing.HeaderFacts(
            self.limits.window, self.limits.keep_cache_positions, self.apply_mode
        )

    @staticmethod
    def _marks(view: View) -> RowMarks:
        return RowMarks(view.queued, {}, view.reproducible)

    # --- editing ---------------------------------------------------------------------------------------

    def edit(self, call: EditCall) -> str:
        """Queue the edits of one call, or none of them.

        Raises:
            RefusedError: An edit breaks a rule; nothing was queued.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            queued = editing.queue_edits(call, view, self._ground(view))
            state.choices = editing.choices_after(call, state.choices, view.turn)
            around = self._around(view)
            if state.choices.keep_cache:
                editing.check_keep_cache(view, around, self.limits.keep_cache_positions)
            return "\n".join(
                (
                    *queued.lines,
                    *self._next_words(view, around),
                    *self._warning_lines(queued.warnings),
                )
            )

    def _ground(self, view: View) -> Any:
        return replace(
            view.ground(), original_path=lambda text: str(self.archive.original_path(text))
        )

    @staticmethod
    def _warning_lines(warnings: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"Warning: {warning}" for warning in warnings)

    def _next_words(self, view: View, around: Surroundings) -> tuple[str, ...]:
        state = view.state
        if not state.queue:
            return ("Queued: 0. Nothing is applied.",)
        words = editing.queue_words(view, around)
        if self.apply_mode:
            return (
                words,
                f"Apply: at resume: {self.apply_mode}. `context-editor apply` makes the edited copy.",
            )
        if not state.choices.has_turn_end_apply:
            return (words, 'They wait: {"apply": "turn_end"} in a later context_edit applies them.')
        match state.choices.resume:
            case False:
                after = "then it waits for the person"
            case True:
                after = "the conversation then resumes by itself"
            case text:
                after = f"the conversation then resumes by itself with: {text}"
        return (words, f"They apply when this turn ends. End it now with one status line; {after}.")

    def _around(self, view: View, running_response: str | None = None) -> Surroundings:
        conversation = view.reading.conversation
        hidden = {row.anchor: view.sizes.row(row) for row in conversation.rows if row.is_hidden}
        return Surroundings(
            conversation,
            self.host.own_tool,
            running_response,
            hidden,
            keep_cache=view.state.choices.keep_cache and view.state.choices.turn == view.turn,
        )

    # --- the end of a turn -----------------------------------------------------------------------------

    def turn_ended(self, *, is_normal: bool, person_waits: bool = False) -> TurnEnd:
        """Whether the queue is applied now, and how the conversation goes on (rules C7, C8, C10)."""
        with self.folder.changed() as state:
            self._settle(state)
            if not state.queue or not is_normal:
                return TurnEnd()
            view = self.view(state)
            choices = state.choices
            if not choices.has_turn_end_apply or choices.turn != view.turn:
                return TurnEnd()
            # One try: an apply that fails is told, and waits for the next call that asks for it.
            state.choices = replace(choices, has_turn_end_apply=False)
            around = self._around(view)
            if state.choices.keep_cache:
                distance = editing.queue_distance(state, around)
                if distance is not None and distance > self.limits.keep_cache_positions:
                    held = f"context-editor: {len(state.queue)} edit(s) held: keep_cache, and the earliest change is now {distance} positions from the end"
                    state.report = f"{held}; resend without keep_cache to apply them"
                    return TurnEnd(notice=held)
            resume = self._resume_words(choices)
            return TurnEnd(len(state.queue), "" if person_waits else resume)

    @staticmethod
    def _resume_words(choices: TurnChoices) -> str:
        if choices.marker or choices.resume is False:
            return ""
        return DEFAULT_RESUME if choices.resume is True else choices.resume

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
                self._settle(state)
                return self._plan_apply(state, host_rows, trigger, started_s, rebuild=rebuild)
        except (ContextEditorError, OSError) as error:
            words = f"context-editor: nothing was applied: {error}; the queue stays"
            self._report(words)
            return ApplyAnswer(skip=words)

    def _report(self, words: str) -> None:
        """Have the next prompt carry a line, where the state can be written at all."""
        try:
            with self.folder.changed() as state:
                state.report = "\n".join(filter(None, (state.report, words)))
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
        view = self.view(state)
        readied = applying.ready(view, self.archive, self._run_name(), self.clock)
        if not readied.placed:
            reasons = "; ".join(f"{i}: {reason}" for i, reason in readied.skipped.items())
            msg = f"no queued edit could be applied ({reasons})"
            raise RefusedError(msg)
        around = replace(self._around(view), rebuild=rebuild)
        made = applying.planned(readied, around)
        rows = self._host_rows(made, view.reading.conversation, host_rows)
        state.intent = self._intent(view, readied, made, trigger, started_s, rebuild=rebuild)
        return ApplyAnswer(rows=rows, edits=len(readied.placed))

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
                held = repairing.known_again(_planted_in(last), conversation, host_rows)
                made = repairing.repair_plan(self._around(view), held)
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
        planted = applying.planted_rows(made, conversation, view.names)
        name = f"applies/{state.epoch}.json"
        numbering = [view.names.ref(row) for row in conversation.listed]
        document = {"planted": codec.encoded(planted), "numbering": numbering}
        replace_file(
            self.folder.path / name,
            json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        )
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
            return self._settle(state, is_final=is_final)

    def _settle(self, state: SessionState, *, is_final: bool = False) -> str:
        intent = state.intent
        if intent is None:
            return ""
        settled = self.host.settle(intent.offset)
        if not settled.is_found:
            if not is_final and self.clock.now_s() - intent.started_s < INTENT_GRACE_S:
                return ""
            state.intent = None
            state.report = NOT_TAKEN
            return state.report
        found = settling.matched(
            _planted_in(self.folder.path / intent.planted), self._read(state).conversation
        )
        settling.take_in(state, intent, found)
        words = self._numbered_report(state, intent)
        state.report = "\n".join(filter(None, (state.report, words)))
        settling.log_apply(self.folder, state, intent, settled, found.reason, self.clock.stamp())
        settling.prune_applies(self.folder.path / "applies", state.epoch - APPLIES_KEPT)
        return words

    def _read(self, state: SessionState) -> Reading:
        return self.host.read(own_facts(state, self.host.own_tool))

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

    # --- prompts ---------------------------------------------------------------------------------------

    def prompt_lines(self) -> tuple[str, ...]:
        """What the next prompt is to carry; each line is told once."""
        with self.folder.changed() as state:
            self._settle(state)
            lines = (state.report,) if state.report else ()
            state.report = ""
            if lines:
                state.service.append(text_print("\n".join(lines)))
            return lines


def _planted_in(path: Path) -> tuple[Planted, ...]:
    """The rows that an apply emitted, as its list says.

    Raises:
        TranscriptError: The list cannot be read.
    """
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        msg = f"the list of emitted rows {path} cannot be read: {error}"
        raise TranscriptError(msg) from error
    return codec.decoded(tuple[Planted, ...], document["planted"])
