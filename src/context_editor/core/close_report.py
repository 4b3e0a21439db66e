"""What the caller is told of a block that was closed: everything needed to edit it at once (rules B4 and G7). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from context_editor.core.anchors import Places
from context_editor.core.candidates.model import Candidate
from context_editor.core.candidates.report import close_lines
from context_editor.core.disposable import Due, queued_words
from context_editor.core.edits.checks import split_around
from context_editor.core.edits.ground import Ground
from context_editor.core.notes import note_line
from context_editor.core.rows import Row, RowKind
from context_editor.core.sizes.wording import format_tokens
from context_editor.core.stages.blocks import Extent
from context_editor.core.stages.reminders import note_row
from context_editor.core.stages.state import WorkState

NO_EFFECT = "0 edit(s), 0 saved, 0 reread(s) of compressed content"


@dataclass(frozen=True)
class ReportFacts:
    """What a close report says besides the block itself.

    Attributes:
        candidates: Review candidates of the whole conversation.
        effect: The telemetry, as the header's `Effect:` line has it.
        suggestion: The suggestion that is due; empty when none is.
        is_approx: Whether sizes are not calibrated yet.
    """

    candidates: Sequence[Candidate] = ()
    effect: str = NO_EFFECT
    suggestion: str = ""
    is_approx: bool = False


def close_report(
    closed: Extent, work: WorkState, ground: Ground, facts: ReportFacts, due: Due
) -> str:
    """The report on a closed block, one fact a line; figures stand there when they are zero too.

    Its row numbers are current: edits may use them at once (rule B5).

    Args:
        closed: The block.
        work: The state, with the block's notes.
        ground: Names and sizes.
        facts: Candidates and telemetry.
        due: What became of disposable marks with this close.
    """
    names, rows = ground.names, closed.rows
    anchors = {row.anchor for row in rows}
    candidates = [one for one in facts.candidates if one.anchor in anchors]
    reproducible = sum(anchor in ground.reproducible for anchor in anchors)
    size = format_tokens(sum(map(ground.sizer.row, rows)), approx=facts.is_approx)
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    lines = (
        f"closed {closed.words(names)}: {count}, {size} tokens",
        f"Person rows: {_person_words(closed, ground)}",
        f"Media: {_media_words(rows, ground, is_approx=facts.is_approx)}",
        *close_lines(candidates, names, reproducible, approx=facts.is_approx),
        *_note_lines(closed, work, ground),
        f"Disposable replacements queued: {len(due.edits)}",
        *(f"  {line}" for line in queued_words(due, names)),
        f"Effect: {facts.effect}",
        f"Suggestion: {facts.suggestion or 'none due'}",
    )
    return "\n".join(lines)


def _person_words(closed: Extent, ground: Ground) -> str:
    """How many rows hold a person's words, and the ranges around them (rule B11)."""
    persons = [row for row in closed.rows if row.kind is RowKind.PERSON]
    if not persons:
        return "0"
    held = ", ".join(f"#{ground.names.number(row)}" for row in persons)
    runs = split_around(closed.rows, persons, ground.names)
    around = f"; edit around them: {', '.join(runs)}" if runs else ""
    return f"{len(persons)} ({held}){around}"


def _media_words(rows: Sequence[Row], ground: Ground, *, is_approx: bool) -> str:
    held = [(piece, media) for row in rows for piece in row.pieces for media in piece.media]
    images = sum(media.kind == "image" for _, media in held)
    documents = len(held) - images
    pieces = {id(piece): piece for piece, _ in held}
    known = sum(media.tokens for _, media in held)
    tokens = known or sum(map(ground.sizer.piece, pieces.values()))
    size = format_tokens(tokens, approx=is_approx)
    return (
        f"{images} image{'' if images == 1 else 's'}, "
        f"{documents} document{'' if documents == 1 else 's'}, {size} tokens"
    )


def _note_lines(closed: Extent, work: WorkState, ground: Ground) -> Sequence[str]:
    """The notes that are linked to rows of the block (rule I6)."""
    places = Places(ground.conversation)
    anchors = {row.anchor for row in closed.rows}
    linked = [(note, note_row(note, places)) for note in work.notes]
    held = [(note, row) for note, row in linked if row and row.anchor in anchors]
    return (
        f"Notes: {len(held)}",
        *(f"  {note_line(note, row, ground.names)}" for note, row in held),
    )
