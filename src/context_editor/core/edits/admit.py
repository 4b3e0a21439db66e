"""Which edits are admitted to the queue: every rule of group C that can be judged before the apply."""

from collections.abc import Mapping, Sequence
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.edits import wording
from context_editor.core.edits.checks import (
    checked_text,
    consent_warnings,
    gain,
    gain_of,
    is_gain,
    refuse_overlap,
    refuse_person_rows,
    refuse_untouchable,
    single_row,
    still_pending,
)
from context_editor.core.edits.ground import Admitted, Ground
from context_editor.core.edits.model import Author, Op, Replacement
from context_editor.core.edits.requests import EditRequest
from context_editor.core.rows import Piece, Row, RowKind
from context_editor.core.state import STANDING_LABELS
from context_editor.errors import RefusedError

OPS: Final = "collapse, summarize, describe, rewrite, state, restore, cancel, policy"
"""Every op of `context_edit`, for messages."""

SHORT_TEXT_CHARS: Final = 200
LARGE_RESULT_TOKENS: Final = 2_000
"""A text this short for a result this large that cannot be read again draws a warning (rule C19)."""

REPRODUCIBLE_TOOLS: Final = frozenset({"Read", "Grep", "Glob"})
"""Tools whose output can be had again by the same call (rule A6)."""

RECORD_PARTS: Final = (
    "goal",
    "decision",
    "fact",
    "file",
    "changed",
    "question",
    "open",
    "目标",
    "决定",
    "事实",
    "文件",
    "问题",
)
"""Words of which a stage record holds at least one (rule C20)."""

PLACEHOLDER_ID: Final = "c9999"
"""Stands for the id that an edit gets at its apply where its size is estimated before."""

INSTRUCTION_LABELS: Final = frozenset(
    {"nested_memory", "invoked_skills", "skill_listing", "plan_mode", "plan_mode_exit"}
)
"""Attachments that hold rules still in force; collapsing them alone draws a warning (rule L10)."""


def admit(
    request: EditRequest, ground: Ground, epoch: int | None, author: Author = "agent"
) -> Admitted:
    """The edit that a request asks for, with every rule checked.

    Raises:
        RefusedError: A rule is broken; the text names it, the rows and the way out.
    """
    match request.op:
        case "collapse":
            return _admit_collapse(request, ground, epoch, author)
        case "summarize":
            return _admit_summarize(request, ground, epoch, author)
        case "rewrite":
            return _admit_rewrite(request, ground, epoch, author)
        case "describe":
            return _admit_describe(request, ground, epoch)
        case "restore":
            return _admit_restore(request, ground)
        case _:
            msg = f"unknown op {request.op!r}: allowed are {OPS}"
            raise RefusedError(msg)


def _admit_collapse(
    request: EditRequest, ground: Ground, epoch: int | None, author: Author
) -> Admitted:
    rows = ground.names.resolved(request.target, epoch)
    text = checked_text(request.text, "summary", ground)
    refuse_person_rows(rows, ground.names)
    covered = collapsible(rows)
    refuse_untouchable(covered, ground)
    ousts = refuse_overlap(covered, ground, author)
    held = [row.source for row in covered]
    size = wording.collapsed(
        author,
        len(covered),
        wording.contents_list(held),
        PLACEHOLDER_ID,
        ground.original_path(""),
        (),
        text,
    )
    contents = " ".join(wording.contents_list(held))
    saved = gain(covered, ground, ground.sizer.text(size) + ground.sizer.text(contents))
    warnings = (
        *_record_warning(text, covered),
        *_host_warning(covered),
        *consent_warnings(text, ground),
    )
    return Admitted(Op.COLLAPSE, covered, text, saved, warnings, ousts=ousts)


def collapsible(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows of a range that a collapse replaces.

    What the host hung behind them stays, word for word (rule C27); only a range of nothing else takes it.
    """
    agent_rows = tuple(
        row
        for row in rows
        if row.kind is not RowKind.HOST and row.pieces[0].label not in STANDING_LABELS
    )
    return agent_rows or tuple(rows)


def _admit_summarize(
    request: EditRequest, ground: Ground, epoch: int | None, author: Author
) -> Admitted:
    row = single_row(request, ground, epoch)
    text = checked_text(request.text, "text", ground)
    refuse_person_rows((row,), ground.names)
    if row.call is None:
        way = "use rewrite" if row.kind is RowKind.TEXT else "use collapse"
        msg = f"{ground.names.words(row)} is not a tool result ({row.source}): {way}"
        raise RefusedError(msg)
    refuse_untouchable((row,), ground)
    ousts = refuse_overlap((row,), ground, author)
    result = row.result
    if result is None:
        raise still_pending((row,), ground.names)
    words = wording.summarized(
        author, row.source, PLACEHOLDER_ID, ground.original_path(result.text), (), text
    )
    saved = gain_of(ground.sizer.piece(result), ground.sizer.text(words), ground.names.words(row))
    warnings = (*_short_warning(row, text, ground), *consent_warnings(text, ground))
    return Admitted(Op.SUMMARIZE, (row,), text, saved, warnings, ousts=ousts)


def _admit_rewrite(
    request: EditRequest, ground: Ground, epoch: int | None, author: Author
) -> Admitted:
    row = single_row(request, ground, epoch)
    text = checked_text(request.text, "text", ground)
    refuse_person_rows((row,), ground.names)
    if row.kind is not RowKind.TEXT:
        way = "use summarize" if row.call else "only your own text can be rewritten"
        msg = f"{ground.names.words(row)} is not your own text ({row.source}): {way}"
        raise RefusedError(msg)
    refuse_untouchable((row,), ground, ground.rewritable)
    ousts = refuse_overlap((row,), ground, author)
    words = wording.rewritten(author, PLACEHOLDER_ID, ground.original_path(row.text), text)
    before, after = ground.sizer.row(row), ground.sizer.text(words)
    warnings = consent_warnings(text, ground)
    if not is_gain(before, after):
        warnings = (
            *warnings,
            f"the rewrite saves {before - after} of {before} tokens, its wording included",
        )
    return Admitted(Op.REWRITE, (row,), text, before - after, warnings, ousts=ousts)


def _admit_describe(request: EditRequest, ground: Ground, epoch: int | None) -> Admitted:
    row = single_row(request, ground, epoch)
    text = checked_text(request.text, "text", ground)
    if row.kind is not RowKind.PERSON or row.call is not None:
        msg = (
            f"{ground.names.words(row)} is not a person's prompt ({row.source}): describe takes images, "
            f"documents, pasted text and attached files of a prompt"
        )
        raise RefusedError(msg)
    prompt = described_pieces(row, ground.conversation)
    what = wording.described_parts(prompt)
    if not what:
        msg = (
            f"{ground.names.words(row)} holds no image, document, pasted text or attached file; "
            f"typed words always stay"
        )
        raise RefusedError(msg)
    refuse_untouchable((row,), ground)
    ousts = refuse_overlap((row,), ground, "agent")
    typed = "\n\n".join(p.typed for p in row.pieces if p.typed)
    words = wording.described(what, PLACEHOLDER_ID, ground.original_path(""), (), text, typed)
    before = sum(ground.sizer.piece(p) for p in prompt)
    saved = gain_of(before, ground.sizer.text(words), ground.names.words(row))
    return Admitted(Op.DESCRIBE, (row,), text, saved, consent_warnings(text, ground), ousts=ousts)


def described_pieces(row: Row, conversation: Conversation) -> tuple[Piece, ...]:
    """The pieces of a prompt that a describe covers: its own, and the files attached behind it."""
    files = (
        piece
        for other in conversation.rows
        if other.owner == row.anchor
        for piece in other.pieces
        if piece.label in {"file", "image-source"}
    )
    return (*row.pieces, *files)


def _admit_restore(request: EditRequest, ground: Ground) -> Admitted:
    replacement = ground.replacements.get(request.id)
    if replacement is None:
        msg = f"there is no replacement {request.id!r}: {_known(ground.replacements)}"
        raise RefusedError(msg)
    if replacement.absorbed_by:
        absorber = replacement.absorbed_by
        msg = f"{request.id} stands no more: {absorber} took it in; restore {absorber} first"
        raise RefusedError(msg)
    found = ground.conversation.by_anchor
    rows = tuple(found[anchor] for anchor in replacement.anchors if anchor in found)
    if not rows or len(rows) != len(replacement.anchors):
        msg = f"{request.id} is not in the conversation any more; its original is at {replacement.original}"
        raise RefusedError(msg)
    refuse_overlap(rows, ground, "agent")
    saved = replacement.tokens_after - replacement.tokens_before
    return Admitted(Op.RESTORE, rows, "", saved, (), request.id)


def _known(replacements: Mapping[str, Replacement]) -> str:
    standing = [r.id for r in replacements.values() if not r.absorbed_by]
    return (
        f"those that stand are {', '.join(standing[-12:])}"
        if standing
        else "nothing was replaced yet"
    )


def _short_warning(row: Row, text: str, ground: Ground) -> tuple[str, ...]:
    is_short = len(text) < SHORT_TEXT_CHARS
    if (
        not is_short
        or row.anchor in ground.reproducible
        or ground.sizer.row(row) <= LARGE_RESULT_TOKENS
    ):
        return ()
    size = f"{ground.sizer.row(row)} tokens really fit in {len(text)} characters"
    return (f"{row.source} cannot be had again by a read: check that its {size}",)


def _record_warning(text: str, rows: Sequence[Row]) -> tuple[str, ...]:
    folded = text.lower()
    if len(rows) == 1 or any(part in folded for part in RECORD_PARTS):
        return ()
    return (
        "a stage record says goal, decisions with reasons, verified facts with source, changed files, open questions",
    )


def _host_warning(rows: Sequence[Row]) -> tuple[str, ...]:
    held = sorted({p.label for row in rows for p in row.pieces if p.label in INSTRUCTION_LABELS})
    return (
        (f"this takes rules still in force out of the conversation: {', '.join(held)}",)
        if held
        else ()
    )
