"""Molts: everything is checked first, the conversation is kept on disk, and what stays is planned (group K-M)."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from context_editor.core.apply.emissions import Build
from context_editor.core.apply.model import Plan
from context_editor.core.apply.molting import molt_plan, shed_positions, shed_rows, work_behind
from context_editor.core.edits.model import Edit, Op
from context_editor.core.edits.requests import EditCall
from context_editor.core.molt import (
    NOTICE_CHARS,
    Molt,
    MoltRequest,
    QueuedMolt,
    cleared_words,
    forced_notice,
    handoff_document,
    handoff_row,
    notice,
    notice_again,
    result_words,
)
from context_editor.core.rows import PieceForm, Row, RowKind
from context_editor.core.state import SessionState, TurnChoices
from context_editor.engine import applying
from context_editor.engine.beside_molt import rebuilt
from context_editor.engine.molt_checks import CheckedMolt, checked_molt
from context_editor.engine.originals import file_originals
from context_editor.engine.ports import ApplyAnswer, HostRow
from context_editor.engine.records import record_of
from context_editor.engine.retention import Retention
from context_editor.engine.snapshots import MoltFiles, write_snapshot
from context_editor.engine.stores import Stores
from context_editor.engine.view import View
from context_editor.errors import ArchiveError, RefusedError
from context_editor.store.files import write_verified

log = logging.getLogger(__name__)

TRIGGER: Final = "molt"
"""What an intent says that started it, and what archive records give as their reason."""

FORCED: Final = "forced"
"""The name of a conversation that was shed without a molt."""


@dataclass
class Molting(Retention):
    """A session that can be begun anew."""

    # --- what the tool asks ----------------------------------------------------------------------------

    def molt(self, request: MoltRequest) -> str:
        """Accept a molt for the end of this turn, or refuse it whole.

        Raises:
            RefusedError: A check failed, or nothing could be kept on disk; nothing was shed, counted or queued.
        """
        with self.folder.changed() as state:
            self._settle(state)
            view = self.view(state)
            found = checked_molt(view, request, self._root(view), self.limits.store_dir)
            queued = self._sized(view, self._queued(view, found))
            warning = self._kept_on_disk(view, queued)
            state.molt = queued
            before = state.choices if state.choices.turn == view.turn else TurnChoices()
            now_s = self.clock.now_s()
            state.choices = replace(before, turn=view.turn, has_turn_end_apply=True, asked_s=now_s)
            return "\n".join(self._answer(view, state.molt, found, warning))

    def _answer(
        self, view: View, queued: QueuedMolt, found: CheckedMolt, warning: str
    ) -> Iterator[str]:
        further = len(found.kept) - found.suffix
        approx = not view.sizes.is_known
        yield result_words(queued, approx=approx, rows=found.suffix, calls=further)
        yield from (f"Warning: {one}" for one in (*found.warnings, *filter(None, (warning,))))
        if not shed_rows(view.reading.conversation, found.kept):
            yield "Warning: every row stays, so nothing is shed: give a smaller keep_last"
        edits = len(view.state.queue)
        if edits:
            yield (
                f"Warning: {edits} queued edit(s) go with the molt: the rows that they mean stay whole, "
                f"here or in the snapshot"
            )
        if self.apply_mode:
            yield (
                f"Apply: {self.apply_mode}, so the conversation cannot be shed here. Tell the person to run /clear: "
                f"the new conversation then begins with this handoff."
            )
        else:
            yield (
                "The molt happens when this turn ends. End it now with one status line; the conversation then goes on "
                f'from the handoff. context_edit {{"edits":[{{"op":"cancel","id":"{queued.id}"}}]}} withdraws it.'
            )

    def notice(self) -> str:
        """The newest notice again (rule K-M9)."""
        with self.folder.changed() as state:
            self._settle(state)
            return notice_again(state.molts)

    def _root(self, view: View) -> Path:
        """The project root: what the host says, else where the session works."""
        return Path(self.limits.root or view.reading.cwd or ".")

    def rebuilt(self, call: EditCall, view: View) -> tuple[str, ...]:
        """What an apply without new edits says besides (group K-R).

        Raises:
            RefusedError: A store cannot be read, or nothing is pending so soon after another such call.
        """
        return rebuilt(call, view, Stores(self._root(view), self.limits.store_dir))

    # --- what is kept on disk --------------------------------------------------------------------------

    def _queued(self, view: View, found: CheckedMolt) -> QueuedMolt:
        state = view.state
        count = 1 + sum(1 for molt in state.molts if not molt.is_forced)
        files = self._files(f"molt_{count}_{int(self.clock.now_s())}")
        entries = view.reading.conversation.listed
        newest = next((row.anchor for row in reversed(entries) if not row.is_pending), "")
        return QueuedMolt(
            f"m{count}",
            count,
            found.handoff.text,
            found.entry.path,
            str(files.summary),
            str(files.snapshot),
            found.handoff.instructions,
            tuple(row.anchor for row in found.kept),
            newest,
            self.clock.stamp(),
        )

    def _files(self, stem: str) -> MoltFiles:
        return MoltFiles((self.folder.path / "molts").absolute(), stem)

    def _sized(self, view: View, queued: QueuedMolt) -> QueuedMolt:
        kept = view.rows(queued.kept)
        made = molt_plan(self.around(view), kept, handoff_row(queued))
        before, after = _sizes(view, made, kept)
        return replace(queued, before_tokens=before, after_tokens=after)

    def _kept_on_disk(self, view: View, queued: QueuedMolt) -> str:
        """Write the handoff and the snapshot; where that fails, the archive record takes its place.

        Returns:
            What to warn of; empty for nothing.

        Raises:
            RefusedError: Neither could be written (rule K-M7).
        """
        document = handoff_document(queued, view.state.session_id)
        try:
            write_verified(Path(queued.summary_path), document.encode("utf-8", "surrogatepass"))
            write_snapshot(Path(queued.snapshot_path), view, _facts(queued))
        except ArchiveError as error:
            try:
                self._archive_shed(view, view.rows(queued.kept))
            except (ArchiveError, OSError) as second:
                msg = (
                    f"neither the snapshot nor the archive could be written ({error}; {second}): "
                    f"free the disk or mend the folder. Nothing was shed."
                )
                raise RefusedError(msg) from second
            return f"{error}; every row is in the archive instead"
        return ""

    def _archive_shed(self, view: View, kept: Sequence[Row]) -> None:
        """One record of every row that goes (rule L11)."""
        rows = shed_rows(view.reading.conversation, kept)
        if not rows:
            return
        edit = Edit(TRIGGER, Op.COLLAPSE, tuple(row.anchor for row in rows), reason=TRIGGER)
        before = sum(map(view.sizes.row, rows))
        sizes, stamp = (before, 0), self.clock.stamp()
        record = record_of((edit,), rows, view.state, stamp, sizes, with_sources=False)
        conversation = view.reading.conversation
        file_originals(self.archive, ((edit, rows),), conversation, record, self._run_name())

    # --- the apply -------------------------------------------------------------------------------------

    def _plan_apply(
        self,
        state: SessionState,
        host_rows: Sequence[HostRow],
        trigger: str,
        started_s: float,
        *,
        rebuild: bool,
    ) -> ApplyAnswer:
        if state.molt is None or state.intent is not None:
            return super()._plan_apply(state, host_rows, trigger, started_s, rebuild=rebuild)
        view = self._awaited_view(state, host_rows)
        queued = state.molt
        conversation = view.reading.conversation
        wanted = {*queued.kept, *(row.anchor for row in work_behind(conversation, queued.newest))}
        kept = tuple(row for row in conversation.listed if row.anchor in wanted)
        self._keep_shed(view, queued, kept)
        made = molt_plan(self.around(view), kept, handoff_row(queued))
        rows = self._host_rows(made, conversation, host_rows)
        intent = self._intent(view, applying.Readied(), made, TRIGGER, started_s, rebuild=False)
        tokens = _sizes(view, made, kept)
        words = notice(queued, self.clock.stamp(), tokens, len(kept), len(state.queue))
        state.intent = replace(
            intent, before_tokens=tokens[0], after_tokens=tokens[1], report=words
        )
        return ApplyAnswer(rows=rows, edits=1)

    def _keep_shed(self, view: View, queued: QueuedMolt, kept: Sequence[Row]) -> None:
        """Write the record of what goes, the words behind the call included.

        Raises:
            ArchiveError: It could not be written, and no snapshot stands; nothing is to be shed.
        """
        try:
            self._archive_shed(view, kept)
        except ArchiveError:
            if not Path(queued.snapshot_path).is_file():
                raise
            log.warning("no archive record of a molt; its snapshot stands", exc_info=True)

    def _settle(self, state: SessionState, *, is_final: bool = False) -> str:
        intent, queued, epoch = state.intent, state.molt, state.epoch
        words = super()._settle(state, is_final=is_final)
        is_done = intent is not None and intent.trigger == TRIGGER and state.epoch > epoch
        if is_done and intent is not None and queued is not None:
            state.molt = None
            state.molts.append(self._carried_out(queued, intent.report, state.epoch))
        return words

    def _carried_out(self, queued: QueuedMolt, words: str, epoch: int) -> Molt:
        return Molt(
            queued.id,
            self.clock.stamp(),
            words,
            queued.snapshot_path,
            queued.summary_path,
            queued.journal,
            queued.instructions,
            epoch,
        )

    # --- a conversation that somebody else sheds -------------------------------------------------------

    def cleared(self) -> tuple[Molt, str] | None:
        """Keep the conversation that the host clears; a molt that waits is carried out by that (K-M15 and K-M16).

        Returns:
            What the next session goes on from, and what it is told once; None where there was nothing to keep.

        Raises:
            ArchiveError: The snapshot could not be written.
        """
        with self.folder.changed() as state:
            self._settle(state, is_final=True)
            view = self.view(state)
            queued = state.molt
            if queued is None:
                molt = self._forced(view, "/clear")
                return (molt, molt.notice) if molt else None
            # Work behind the call goes too: the snapshot of the call does not hold it.
            write_snapshot(Path(queued.snapshot_path), view, _facts(queued))
            self._keep_shed(view, queued, ())
            words = cleared_words(queued)
            molt = self._carried_out(queued, words, 0)
            state.molt, state.queue = None, []
            state.molts.append(molt)
            return molt, words

    def _forced(self, view: View, what: str) -> Molt | None:
        """Keep the whole conversation before somebody else sheds it; there is no journal (rule K-M15)."""
        rows = view.reading.conversation.listed
        if not any(row.kind in {RowKind.TEXT, RowKind.TOOL} for row in rows):
            return None
        at = self.clock.stamp()
        path = self._files(f"{FORCED}_{int(self.clock.now_s())}").snapshot
        facts = {"molt": FORCED, "journal": "forced, no journal", "by": what, "at": at}
        write_snapshot(path, view, facts)
        molt = Molt(FORCED, at, forced_notice(what, at, str(path)), str(path))
        view.state.molts.append(molt)
        return molt

    def _archive_all(self, view: View, reason: str = FORCED) -> None:
        super()._archive_all(view, reason)
        try:
            molt = self._forced(view, "the host's own compaction")
        except ArchiveError:
            log.warning(
                "no snapshot of what the host compacts; its rows are archived", exc_info=True
            )
            return
        index = self.folder.compacted.read_text(encoding="utf-8") if molt else ""
        if molt and index:
            self.folder.set_compacted(f"{molt.notice}\n{index}"[:NOTICE_CHARS])

    def adopt_molt(self, molt: Molt) -> None:
        """Go on from a molt whose conversation ended with another session of the same host process."""
        with self.folder.changed() as state:
            if all(known.snapshot_path != molt.snapshot_path for known in state.molts):
                state.molts.append(molt)


def _sizes(view: View, made: Plan, kept: Sequence[Row]) -> tuple[int, int]:
    """The conversation's size before and after a molt, in tokens."""
    conversation, sizes = view.reading.conversation, view.sizes
    gone = shed_positions(conversation, kept)
    rows = [row for row in conversation.rows if gone.issuperset(row.positions)]
    thinking = sum(sizes.piece(p) for p in conversation.pieces if p.form is PieceForm.THINKING)
    built = [emission for emission in made.emissions if isinstance(emission, Build)]
    new = sum(sizes.text(row.text) for row in built if row.carried)
    before = sizes.total_tokens
    shed = sum(map(sizes.row, rows)) + thinking
    return before, max(new, before - shed + new)


def _facts(queued: QueuedMolt) -> dict[str, Any]:
    return {
        "molt": queued.id,
        "count": queued.count,
        "journal": queued.journal,
        "handoff": queued.summary_path,
        "at": queued.asked_at,
    }
