"""The refusals of group C: what no edit may cover, say or be too small for."""

from collections.abc import Mapping, Sequence
from typing import Final

from context_editor.core.consent import checked, forged_opening
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Author
from context_editor.core.edits.requests import EditRequest
from context_editor.core.names import Names
from context_editor.core.rows import Row, RowKind
from context_editor.errors import RefusedError

MAX_TEXT_CHARS: Final = 20_000
"""The longest replacement text, in characters (rule C23): more is a copy, not a summary."""

MIN_GAIN_SHARE: Final = 0.2
MIN_GAIN_TOKENS: Final = 50
"""An edit that saves less than this share or this many tokens of its range is refused (rule C17)."""


def single_row(request: EditRequest, ground: Ground, epoch: int | None) -> Row:
    """The one row that a request names.

    Raises:
        RefusedError: It names several.
    """
    rows = ground.names.resolved(request.target, epoch)
    if len(rows) != 1:
        msg = (
            f"{request.op} takes one row, {request.target.words} names {len(rows)}: "
            f"send one edit a row, or use collapse"
        )
        raise RefusedError(msg)
    return rows[0]


def checked_text(text: str, key: str, ground: Ground) -> str:
    """The caller's text, as it may stand in the conversation.

    Raises:
        RefusedError: It is blank, too long, forged, or quotes a person who did not say it.
    """
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


def consent_warnings(text: str, ground: Ground) -> tuple[str, ...]:
    """What to look at again in a text that claims an approval."""
    return checked(text, ground.person_texts()).warnings


def refuse_person_rows(rows: Sequence[Row], names: Names) -> None:
    """Refuse a range with a person's row in it, with the ranges around it (rule C11)."""
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


def still_pending(rows: Sequence[Row], names: Names) -> RefusedError:
    """The refusal of rows that are not finished (rule C14)."""
    found = ", ".join(names.words(row) for row in rows)
    msg = f"{found}: still pending (no result yet, or part of the answer being written): edit it in the next turn"
    return RefusedError(msg)


def refuse_untouchable(
    rows: Sequence[Row], ground: Ground, protected: Mapping[str, str] | None = None
) -> None:
    """Refuse rows that are pending, protected, or carry what cannot be sent again (rules C12, C14 and C27)."""
    held = ground.protected if protected is None else protected
    pending = [row for row in rows if row.is_pending]
    if pending:
        raise still_pending(pending, ground.names)
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
    conversation = ground.conversation
    positions = {position for row in rows for position in row.positions}
    for at in conversation.index.special:
        piece = conversation.pieces[at]
        base = conversation.bearer(at) if piece.rides else -1
        if base not in positions:
            continue
        row = conversation.row_at[base]
        msg = (
            f"{ground.names.words(row)}: behind it stands a host row ({piece.label}) that cannot be sent "
            f"again as it was; leave this row out"
        )
        raise RefusedError(msg)


def refuse_overlap(rows: Sequence[Row], ground: Ground, author: Author) -> tuple[str, ...]:
    """Refuse rows that are queued already (rule C15).

    Returns:
        Queued edits of disposable marks that give way (rule D8).
    """
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


def gain(rows: Sequence[Row], ground: Ground, after: int) -> int:
    """What a range saves, in tokens; a range that gains nothing is refused (rule C17)."""
    before = sum(ground.sizer.row(row) for row in rows)
    where = ground.names.words(rows[0])
    return gain_of(before, after, f"{where} and {len(rows) - 1} more" if len(rows) > 1 else where)


def is_gain(before: int, after: int) -> bool:
    """Whether a replacement saves enough of its range (rule C17); both sizes in tokens, wording included."""
    saved = before - after
    return saved >= MIN_GAIN_TOKENS and saved >= MIN_GAIN_SHARE * before


def gain_of(before: int, after: int, where: str) -> int:
    """What an edit saves, in tokens.

    Raises:
        RefusedError: It saves less than a fifth or 50 tokens.
    """
    if not is_gain(before, after):
        msg = (
            f"no gain at {where}: {before} tokens before, {after} after with the fixed wording "
            f"(an edit must save 20 % and {MIN_GAIN_TOKENS} tokens): shorten the text, take more rows, or leave it"
        )
        raise RefusedError(msg)
    return before - after
