"""Which edits are admitted to the queue: every rule of group C that can be judged before the apply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from context_editor.core.consent import checked, forged_opening
from context_editor.core.edits import wording
from context_editor.core.edits.model import Author, Edit, Op, Replacement
from context_editor.core.edits.requests import EditRequest
from context_editor.core.names import Names
from context_editor.core.rows import Conversation, Piece, PieceForm, Row, RowKind
from context_editor.core.state import STANDING_LABELS
from context_editor.errors import RefusedError

OPS: Final = "collapse, summarize, describe, rewrite, state, restore, cancel, policy"
"""Every op of `context_edit`, for messages."""

MAX_TEXT_CHARS: Final = 20_000
"""The longest replacement text, in characters (rule C23): more is a copy, not a summary."""

MIN_GAIN_SHARE: Final = 0.2
MIN_GAIN_TOKENS: Final = 50
"""An edit that saves less than this share or this many tokens of its range is refused (rule C17)."""

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


class Sizer(Protocol):
    """Sizes in calibrated tokens."""

    def text(self, text: str) -> int:
        """The size of a text."""

    def row(self, row: Row) -> int:
        """The size of a row, its call, result and media included."""

    def piece(self, piece: Piece) -> int:
        """The size of one piece, its media included."""


@dataclass(frozen=True)
class Ground:
    """What admission is judged against.

    Attributes:
        names: The rows and their names.
        sizer: Sizes in tokens.
        queue: What is queued already.
        replacements: Every replacement so far, by id.
        protected: Rows that no edit may cover, by anchor, with the reason: `pinned`, `the state slot`.
        original_path: The path where an original with this text will stand.
        rewritable: The same as `protected`, for a rewrite: it may change a state slot without items.
        reproducible: Anchors of rows whose output can be had again (rule A6).
    """

    names: Names
    sizer: Sizer
    queue: Sequence[Edit] = ()
    replacements: Mapping[str, Replacement] = field(default_factory=dict)
    protected: Mapping[str, str] = field(default_factory=dict)
    original_path: Callable[[str], str] = lambda _: ""
    reproducible: frozenset[str] = frozenset()
    rewritable: Mapping[str, str] | None = None

    @property
    def conversation(self) -> Conversation:
        """The conversation as it is now."""
        return self.names.conversation

    def person_texts(self) -> tuple[str, ...]:
        """Everything that a person said in the session, in order."""
        return tuple(p.typed for p in self.conversation.pieces if p.typed)


@dataclass(frozen=True)
class Admitted:
    """An edit that may be queued.

    Attributes:
        op: Its op.
        rows: The rows that it replaces, in order.
        text: The caller's text.
        saved_tokens: What every later request is spared.
        warnings: What the caller should know.
        target: The replacement that a restore undoes.
        ousts: Queued edits of a disposable mark that this one takes the place of (rule D8).
    """

    op: Op
    rows: tuple[Row, ...]
    text: str = ""
    saved_tokens: int = 0
    warnings: tuple[str, ...] = ()
    target: str = ""
    ousts: tuple[str, ...] = ()


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
    text = _checked_text(request.text, "summary", ground)
    _refuse_person_rows(rows, ground.names)
    covered = collapsible(rows)
    _refuse_untouchable(covered, ground)
    ousts = _refuse_overlap(covered, ground, author)
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
    saved = _gain(covered, ground, ground.sizer.text(size) + ground.sizer.text(contents))
    warnings = (
        *_record_warning(text, covered),
        *_host_warning(covered),
        *_consent_warnings(text, ground),
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
    row = _single(request, ground, epoch)
    text = _checked_text(request.text, "text", ground)
    _refuse_person_rows((row,), ground.names)
    if row.call is None:
        way = "use rewrite" if row.kind is RowKind.TEXT else "use collapse"
        msg = f"{ground.names.words(row)} is not a tool result ({row.source}): {way}"
        raise RefusedError(msg)
    _refuse_untouchable((row,), ground)
    ousts = _refuse_overlap((row,), ground, author)
    result = row.result
    if result is None:
        raise _pending((row,), ground.names)
    words = wording.summarized(
        author, row.source, PLACEHOLDER_ID, ground.original_path(result.text), (), text
    )
    saved = _gain_of(ground.sizer.piece(result), ground.sizer.text(words), ground.names.words(row))
    warnings = (*_short_warning(row, text, ground), *_consent_warnings(text, ground))
    return Admitted(Op.SUMMARIZE, (row,), text, saved, warnings, ousts=ousts)


def _admit_rewrite(
    request: EditRequest, ground: Ground, epoch: int | None, author: Author
) -> Admitted:
    row = _single(request, ground, epoch)
    text = _checked_text(request.text, "text", ground)
    _refuse_person_rows((row,), ground.names)
    if row.kind is not RowKind.TEXT:
        way = "use summarize" if row.call else "only your own text can be rewritten"
        msg = f"{ground.names.words(row)} is not your own text ({row.source}): {way}"
        raise RefusedError(msg)
    _refuse_untouchable((row,), ground, ground.rewritable)
    ousts = _refuse_overlap((row,), ground, author)
    words = wording.rewritten(author, PLACEHOLDER_ID, ground.original_path(row.text), text)
    before, after = ground.sizer.row(row), ground.sizer.text(words)
    warnings = _consent_warnings(text, ground)
    if not is_gain(before, after):
        warnings = (
            *warnings,
            f"the rewrite saves {before - after} of {before} tokens, its wording included",
        )
    return Admitted(Op.REWRITE, (row,), text, before - after, warnings, ousts=ousts)


def _admit_describe(request: EditRequest, ground: Ground, epoch: int | None) -> Admitted:
    row = _single(request, ground, epoch)
    text = _checked_text(request.text, "text", ground)
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
    _refuse_untouchable((row,), ground)
    ousts = _refuse_overlap((row,), ground, "agent")
    typed = "\n\n".join(p.typed for p in row.pieces if p.typed)
    words = wording.described(what, PLACEHOLDER_ID, ground.original_path(""), (), text, typed)
    before = sum(ground.sizer.piece(p) for p in prompt)
    saved = _gain_of(before, ground.sizer.text(words), ground.names.words(row))
    return Admitted(Op.DESCRIBE, (row,), text, saved, _consent_warnings(text, ground), ousts=ousts)


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
    _refuse_overlap(rows, ground, "agent")
    saved = replacement.tokens_after - replacement.tokens_before
    return Admitted(Op.RESTORE, rows, "", saved, (), request.id)


def _known(replacements: Mapping[str, Replacement]) -> str:
    standing = [r.id for r in replacements.values() if not r.absorbed_by]
    return (
        f"those that stand are {', '.join(standing[-12:])}"
        if standing
        else "nothing was replaced yet"
    )


def _single(request: EditRequest, ground: Ground, epoch: int | None) -> Row:
    rows = ground.names.resolved(request.target, epoch)
    if len(rows) != 1:
        msg = (
            f"{request.op} takes one row, {request.target.words} names {len(rows)}: "
            f"send one edit a row, or use collapse"
        )
        raise RefusedError(msg)
    return rows[0]


def _checked_text(text: str, key: str, ground: Ground) -> str:
    if not text.strip():
        msg = f"{key} is blank: say what stood there and what of it still matters"
        raise RefusedError(msg)
    if len(text) > MAX_TEXT_CHARS:
        msg = (
            f"{key} has {len(text)} characters, allowed are {MAX_TEXT_CHARS}: "
            f"shorten it, the original stays in the archive"
        )
        raise RefusedError(msg)
    opening = forged_opening(text)
    if opening:
        msg = f"{key} begins with {opening!r}, as words of a person, of the host or of this product do: begin otherwise"
        raise RefusedError(msg)
    refusals = checked(text, ground.person_texts()).refusals
    if refusals:
        raise RefusedError("; ".join(refusals))
    return text


def _consent_warnings(text: str, ground: Ground) -> tuple[str, ...]:
    return checked(text, ground.person_texts()).warnings


def _refuse_person_rows(rows: Sequence[Row], names: Names) -> None:
    persons = [row for row in rows if row.kind is RowKind.PERSON]
    if not persons:
        return
    found = ", ".join(names.words(row) for row in persons)
    runs = split_around(rows, persons, names)
    way = (
        f"send instead {' and '.join(runs)}"
        if runs
        else "only describe may take media, documents and pasted text out of a prompt"
    )
    msg = f"{found} hold{'s' if len(persons) == 1 else ''} a person's words, which are never replaced: {way}"
    raise RefusedError(msg)


def split_around(rows: Sequence[Row], barriers: Sequence[Row], names: Names) -> list[str]:
    """The runs of a range that are left when some rows are taken out, as `#10..#14`."""
    stops = {row.anchor for row in barriers}
    runs: list[list[int]] = []
    for row in rows:
        if row.anchor in stops:
            runs.append([])
        else:
            if not runs:
                runs.append([])
            runs[-1].append(names.number(row))
    return [f"#{run[0]}..#{run[-1]}" if len(run) > 1 else f"#{run[0]}" for run in runs if run]


def _pending(rows: Sequence[Row], names: Names) -> RefusedError:
    found = ", ".join(names.words(row) for row in rows)
    msg = f"{found}: still pending (no result yet, or part of the answer being written): edit it in the next turn"
    return RefusedError(msg)


def _refuse_untouchable(
    rows: Sequence[Row], ground: Ground, protected: Mapping[str, str] | None = None
) -> None:
    held = ground.protected if protected is None else protected
    pending = [row for row in rows if row.is_pending]
    if pending:
        raise _pending(pending, ground.names)
    for row in rows:
        reason = held.get(row.anchor)
        if reason:
            msg = (
                f"{ground.names.words(row)} is {reason}: leave it out of the range, "
                f"or change its tag with context_tag first"
            )
            raise RefusedError(msg)
    _refuse_uncarriable(rows, ground)


def _refuse_uncarriable(rows: Sequence[Row], ground: Ground) -> None:
    positions = {position for row in rows for position in row.positions}
    for piece, base in riding_pieces(ground.conversation):
        if base not in positions or not (piece.media or piece.extra.get("rendered_known") is False):
            continue
        row = ground.conversation.row_at[base]
        msg = (
            f"{ground.names.words(row)}: behind it stands a host row ({piece.label}) that cannot be sent "
            f"again as it was; leave this row out"
        )
        raise RefusedError(msg)


def riding_pieces(conversation: Conversation) -> list[tuple[Piece, int]]:
    """Every attachment with the position of the piece that it stands or falls with."""
    riding: list[tuple[Piece, int]] = []
    base = -1
    for position, piece in enumerate(conversation.pieces):
        if piece.rides:
            riding.append((piece, base))
        else:
            base = position
    return riding


def _refuse_overlap(rows: Sequence[Row], ground: Ground, author: Author) -> tuple[str, ...]:
    covered = {row.anchor for row in rows}
    ousts: list[str] = []
    for queued in ground.queue:
        if covered.isdisjoint(queued.anchors):
            continue
        if queued.author == "tag" and author == "agent":
            ousts.append(queued.id)
            continue
        way = f'{{"op": "cancel", "id": "{queued.id}"}}'
        msg = f"these rows are already in {queued.id} ({queued.op}): cancel it first with {way}"
        raise RefusedError(msg)
    return tuple(ousts)


def _gain(rows: Sequence[Row], ground: Ground, after: int) -> int:
    before = sum(ground.sizer.row(row) for row in rows)
    where = ground.names.words(rows[0])
    return _gain_of(before, after, f"{where} and {len(rows) - 1} more" if len(rows) > 1 else where)


def is_gain(before: int, after: int) -> bool:
    """Whether a replacement saves enough of its range (rule C17); both sizes in tokens, wording included."""
    saved = before - after
    return saved >= MIN_GAIN_TOKENS and saved >= MIN_GAIN_SHARE * before


def _gain_of(before: int, after: int, where: str) -> int:
    if not is_gain(before, after):
        msg = (
            f"no gain at {where}: {before} tokens before, {after} after with the fixed wording "
            f"(an edit must save 20 % and {MIN_GAIN_TOKENS} tokens): shorten the text, take more rows, or leave it"
        )
        raise RefusedError(msg)
    return before - after


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


def is_media_piece(piece: Piece) -> bool:
    """Whether a piece holds images or documents."""
    return bool(piece.media) and piece.form is not PieceForm.THINKING
