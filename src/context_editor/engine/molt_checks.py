"""Everything that a molt is checked for, before anything is written (rules K-M2 to K-M5 and K-J1 to K-J12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from context_editor.core.apply.molting import kept_rows
from context_editor.core.consent import checked as consent_of
from context_editor.core.consent import forged_opening
from context_editor.core.edits.checks import MAX_TEXT_CHARS
from context_editor.core.journal import JournalEntry, JournalRefusal, area_below, judged
from context_editor.core.molt import KEEP_LAST, MoltRequest, latest
from context_editor.core.rows import Row
from context_editor.engine.handoffs import ReadyHandoff, ready_handoff
from context_editor.engine.view import View
from context_editor.errors import RefusedError
from context_editor.store.journal import facts_of, loaded


@dataclass(frozen=True)
class CheckedMolt:
    """What a call asks for, once nothing is left to refuse.

    Attributes:
        entry: The journal entry.
        handoff: The handoff with everything that goes along.
        kept: The rows that stay, in order.
        suffix: How many of them are the newest rows; the others were named.
        warnings: What to look at again.
    """

    entry: JournalEntry
    handoff: ReadyHandoff
    kept: tuple[Row, ...]
    suffix: int
    warnings: tuple[str, ...]


def checked_molt(view: View, request: MoltRequest, root: Path, store_dir: str) -> CheckedMolt:
    """The molt, ready to be queued.

    Args:
        view: The session.
        request: What the call asks for.
        root: The project root.
        store_dir: Where the stores stand, relative to it.

    Raises:
        RefusedError: A check failed; the first one is told.
    """
    choices = view.state.choices
    if choices.turn == view.turn and choices.keep_cache:
        msg = "keep_cache was asked for in this turn, and a molt writes the whole cache anew. Nothing was shed."
        raise RefusedError(msg)
    _check_words(view, request.summary)
    used = [molt.journal for molt in view.state.molts if molt.journal]
    entry = judged(facts_of(root, request.journal, area_below(store_dir)), loaded, used)
    if isinstance(entry, JournalRefusal):
        raise RefusedError(str(entry))
    last = KEEP_LAST if request.keep_last is None else request.keep_last
    if isinstance(last, bool) or last < 0:
        msg = (
            f"keep_last is {request.keep_last!r}; allowed: an integer from 0 on, or null for {KEEP_LAST}. "
            f"Nothing was shed."
        )
        raise RefusedError(msg)
    calls = _checked_calls(request.keep_tool_calls, view)
    conversation = view.reading.conversation
    handoff = ready_handoff(request.summary, view, root)
    findings = tuple(finding.message for finding in handoff.findings)
    approvals = consent_of(request.summary, ()).warnings
    return CheckedMolt(
        entry,
        handoff,
        kept_rows(conversation, last, calls),
        len(kept_rows(conversation, last, ())),
        (*entry.warnings, *findings, *approvals),
    )


def _check_words(view: View, summary: str) -> None:
    """Refuse a handoff that is blank, too long, or puts words into a person's mouth."""
    if not summary.strip():
        msg = "summary is blank: write the handoff, the shortest text that is enough to go on. Nothing was shed."
        raise RefusedError(msg)
    if len(summary) > MAX_TEXT_CHARS:
        msg = (
            f"summary has {len(summary)} characters, allowed are {MAX_TEXT_CHARS}: a handoff is the shortest text "
            f"that is enough to go on; details belong into the journal. Nothing was shed."
        )
        raise RefusedError(msg)
    opening = forged_opening(summary)
    if opening:
        msg = (
            f"summary begins with {opening!r}, as words of a person, of the host or of this product do: "
            f"begin otherwise. Nothing was shed."
        )
        raise RefusedError(msg)
    earlier = latest(view.state.molts)
    said = (p.typed for p in view.reading.conversation.pieces if p.typed)
    refusals = consent_of(summary, (*said, *(earlier.instructions if earlier else ()))).refusals
    if refusals:
        msg = f"summary: {'; '.join(refusals)}. Nothing was shed."
        raise RefusedError(msg)


def _checked_calls(names: Sequence[str], view: View) -> tuple[str, ...]:
    """The ids of further calls to keep, each of which can be kept whole (rule K-M4).

    Args:
        names: Ids of calls, or refs of their rows: a listing shows refs.
        view: The session.

    Raises:
        RefusedError: One is unknown, of this product's own, or without its call or its result.
    """
    conversation = view.reading.conversation
    rows = {row.call.id: row for row in conversation.rows if row.call}
    anchors = view.names.anchors
    ids = tuple(anchors.get(name, "").removeprefix("t:") or name for name in names)
    orphans = {p.call_id for p in conversation.pieces if p.call_id} - rows.keys()
    reasons: list[str] = []
    unknown = [one for one in ids if one not in rows and one not in orphans]
    if unknown:
        reasons.append(f"unknown ids: {', '.join(unknown)}")
    reasons += [f"{one} has a result but no call" for one in ids if one in orphans]
    for one in ids:
        row = rows.get(one)
        if row is not None and row.is_hidden:
            reasons.append(f"{one} is a call of context-editor, which goes with a molt")
        elif row is not None and row.is_pending:
            reasons.append(f"{one} has no result yet")
    if reasons:
        msg = (
            f"keep_tool_calls: {'; '.join(reasons)}; allowed are ids of finished calls of this conversation, "
            f"or their refs, as context_list shows them. Nothing was shed."
        )
        raise RefusedError(msg)
    return ids
