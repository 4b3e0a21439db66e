"""Applying the queue: archive first, then an intent, then the plan that the host carries out.

Nothing here changes the conversation: the host does, with the answer. What cannot be proved safe answers
`skip`, and the conversation stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from context_editor.core.apply.model import Placed, Plan, Surroundings
from context_editor.core.apply.plan import plan
from context_editor.core.candidates.targets import targets_of
from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.names import Names
from context_editor.core.rows import Piece, Row, RowKind
from context_editor.core.sizes.wording import format_tokens
from context_editor.engine.originals import Filed, file_originals, first_original
from context_editor.engine.ports import Clock
from context_editor.engine.records import record_of
from context_editor.engine.view import View
from context_editor.errors import ArchiveError
from context_editor.store.archive import Archive


@dataclass
class Readied:
    """Edits whose originals are archived, and those that were left out.

    Attributes:
        placed: The edits to plan, in order of the queue.
        replacements: What will stand afterwards, in the same order.
        skipped: Why an edit was left out, by its id.
    """

    placed: list[Placed] = field(default_factory=list)
    replacements: list[Replacement] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def ready(view: View, queue: Sequence[Edit], archive: Archive, run: str, clock: Clock) -> Readied:
    """Archive the originals of every edit that can be applied (rule J14); a batch goes whole or not at all."""
    with archive.together() as batch:
        return _readied(view, queue, batch, run, clock)


def _readied(
    view: View, queue: Sequence[Edit], archive: Archive, run: str, clock: Clock
) -> Readied:
    readied = Readied()
    for _, group in groupby(queue, key=lambda edit: edit.batch or edit.id):
        edits = tuple(group)
        reason = next(filter(None, (_cannot_apply(edit, view) for edit in edits)), "")
        try:
            if not reason:
                _ready_group(edits, view, archive, run, clock, readied)
        except ArchiveError as error:
            reason = f"its original could not be archived: {error}"
        if reason:
            readied.skipped.update(dict.fromkeys((edit.id for edit in edits), reason))
    return readied


def _cannot_apply(edit: Edit, view: View) -> str:
    rows = view.rows(edit.anchors)
    if len(rows) != len(edit.anchors):
        return "its rows stand no more"
    if any(row.is_pending for row in rows):
        return "a row of it is pending"
    persons = any(row.kind is RowKind.PERSON for row in rows)
    if persons and edit.op not in {Op.DESCRIBE, Op.RESTORE}:
        return "a row of it holds a person's words"
    return ""


def _ready_group(
    edits: tuple[Edit, ...], view: View, archive: Archive, run: str, clock: Clock, readied: Readied
) -> None:
    """Archive one edit or one batch under one record, and note what will stand afterwards."""
    group = [(edit, view.rows(edit.anchors)) for edit in edits]
    rows = [row for _, covered in group for row in covered]
    filed: Sequence[Filed] = [Filed()] * len(group)
    if rows:
        before = sum(map(view.sizes.row, rows))
        after = max(0, before - sum(edit.saved_tokens for edit in edits))
        record = record_of(edits, rows, view.state, clock.stamp(), (before, after))
        filed = file_originals(archive, group, view.reading.conversation, record, run)
    restored = [
        archive.pieces_of(view.state.replacements[edit.target].record)
        if edit.op is Op.RESTORE
        else ()
        for edit in edits
    ]
    for (edit, covered), one, pieces in zip(group, filed, restored, strict=True):
        _note_ready(edit, covered, one, pieces, view, readied)


def _note_ready(
    edit: Edit,
    rows: tuple[Row, ...],
    filed: Filed,
    restored: tuple[Piece, ...],
    view: View,
    readied: Readied,
) -> None:
    state = view.state
    replacement_id = state.next_id("c")
    original = first_original(rows, state.replacements) or filed.original
    undone = state.replacements[edit.target] if edit.op is Op.RESTORE else None
    is_slot = edit.op is Op.STATE or (edit.op is Op.REWRITE and _is_slot(rows[0], view))
    digest = view.rows((edit.digest_at,)) if edit.digest_at not in edit.anchors else ()
    readied.placed.append(
        Placed(
            edit,
            rows,
            replacement_id,
            original,
            undone.media if undone else filed.media,
            restored,
            view.names.ref(digest[0]) if digest else "",
            edit.text if is_slot else "",
        )
    )
    before = sum(map(view.sizes.row, rows))
    readied.replacements.append(
        Replacement(
            replacement_id,
            edit.op,
            edit.author,
            edit.anchors,
            _source_words(edit, rows),
            original,
            filed.record,
            filed.media,
            len(rows),
            before,
            max(0, before - edit.saved_tokens),
            state.epoch + 1,
            view.turn,
            targets=targets_of(rows, view.disk),
        )
    )


def _source_words(edit: Edit, rows: Sequence[Row]) -> str:
    if edit.op is Op.STATE:
        return "the state slot"
    return rows[0].source if len(rows) == 1 else f"{len(rows)} rows"


def _is_slot(row: Row, view: View) -> bool:
    """Whether a row is the state slot: it shows clean text, without the product's wording (rule C5)."""
    slot = view.state.work.slot
    return slot is not None and slot.id == row.anchor


def planned(readied: Readied, around: Surroundings) -> Plan:
    """The new conversation.

    Raises:
        RefusedError: It would not be legal, or words that must stay cannot be carried.
    """
    return plan(readied.placed, around)


def absorbed_refs(readied: Readied, names: Names) -> dict[str, str]:
    """Refs of rows that a collapse takes in, and the replacement that they lead to."""
    return {
        names.ref(row): placed.id
        for placed in readied.placed
        if placed.edit.op is Op.COLLAPSE
        for row in placed.rows
    }


def report_words(
    readied: Readied, names: Names, tokens: tuple[int, int], epoch: int, thinking: int
) -> str:
    """The applied report without the rows' new numbers, which the confirmation adds (rule J9)."""
    before, after = tokens
    count = len(readied.placed)
    sizes = f"{format_tokens(before)} → {format_tokens(after)} tokens"
    head = f"context-editor: applied {count} edit(s): {sizes}, epoch {epoch}"
    lines = [_report_line(placed, names) for placed in readied.placed]
    lines += [f"{edit_id} skipped: {reason}" for edit_id, reason in readied.skipped.items()]
    if thinking:
        lines.append(f"{thinking} thinking block(s) behind the first change went")
    return f"{head}; {'; '.join(lines)}"


def _report_line(placed: Placed, names: Names) -> str:
    numbers = [names.number(row) for row in placed.rows] or [0]
    first, last = numbers[0], numbers[-1]
    span = f"#{first}" if first == last else f"#{first}..#{last}"
    span = span if first else "a new row"
    target = f" of {placed.edit.target}" if placed.edit.target else ""
    saved = format_tokens(abs(placed.edit.saved_tokens))
    change = "saved" if placed.edit.saved_tokens >= 0 else "brought back"
    return f"{placed.id} {placed.edit.op}{target} {span} → {{{placed.id}}} ({saved} {change})"
