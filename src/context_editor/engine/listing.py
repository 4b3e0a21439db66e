"""The answer of `context_list`: header, rows, one row's text, rules (rules A1 to A14)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from context_editor.core import listing as lines
from context_editor.core.apply.model import Surroundings
from context_editor.core.candidates.model import Candidate, review_words
from context_editor.core.listing import Header, RowMarks
from context_editor.core.molt import header_words
from context_editor.core.notes import notes_words
from context_editor.core.rows import Row
from context_editor.core.rules import RULES
from context_editor.core.sizes.wording import format_delta
from context_editor.core.stages.header import stage_words
from context_editor.engine import editing
from context_editor.engine.look import Look
from context_editor.engine.view import View
from context_editor.errors import RefusedError

DEFAULT_COUNT: Final = 40
MAX_COUNT: Final = 500
"""Rows that a listing shows when the caller names no count, and the most that it may ask for (contract)."""

What: TypeAlias = Literal["rows", "archive", "held", "notice"]


@dataclass(frozen=True)
class ListRequest:
    """What a `context_list` call asks for.

    Attributes:
        count: How many of the newest rows; 0 for the header alone; None for the default.
        start: The first row of a window; None for none.
        end: The last row of a window; None for none.
        grep: Keep rows whose text holds this; empty keeps all.
        review: Keep review candidates only.
        row: Show one row's text; None for a listing.
        rules: Print the curation rules first.
        what: Rows, or the answer to another question.
    """

    count: int | None = None
    start: int | str | None = None
    end: int | str | None = None
    grep: str = ""
    review: bool = False
    row: int | str | None = None
    rules: bool = False
    what: What = "rows"


@dataclass(frozen=True)
class HeaderFacts:
    """What the header says besides the rows and the queue.

    Attributes:
        window: The model's context window, in tokens; 0 when unknown.
        keep_cache_positions: Content blocks from the end within which the cached prefix survives a change.
        apply_mode: Why edits are not applied at the turn's end; empty when they are.
        stage: The open or waiting stage, in words.
        effect: The Effect line without its name; empty for the plain one.
        others: Further header lines, in their order.
    """

    window: int = 0
    keep_cache_positions: int = editing.KEEP_CACHE_POSITIONS
    apply_mode: str = ""
    stage: str = "none"
    effect: str = ""
    others: tuple[str, ...] = ()


def shows_numbers(request: ListRequest) -> bool:
    """Whether the answer shows row numbers (rule A8)."""
    return request.count != 0 or request.row is not None or request.start is not None


def listed(
    request: ListRequest, view: View, around: Surroundings, facts: HeaderFacts, marks: RowMarks
) -> str:
    """The whole answer, ready to be read by a model.

    Raises:
        RefusedError: A row that was named is unknown or its number out of date.
    """
    rules = (RULES,) if request.rules else ()
    if request.rules and request.count is None and request.row is None and request.start is None:
        return RULES
    if request.row is not None:
        row = view.names.row(request.row)
        return "\n".join((*rules, lines.row_text(row, view.names, view.sizes.row(row), marks)))
    header = header_of(view, around, facts)
    rows = _chosen(request, view, marks)
    shown = [lines.row_line(row, view.names, view.sizes.row(row), marks) for row in rows]
    if not view.reading.conversation.listed:
        shown = ["no rows"]
    return "\n".join((*rules, *header.lines, *shown))


def header_of(view: View, around: Surroundings, facts: HeaderFacts) -> Header:
    """The header lines as the session stands now."""
    state, conversation = view.state, view.reading.conversation
    others = list(facts.others)
    if facts.apply_mode:
        others.insert(0, f"Apply: at resume: {facts.apply_mode}")
    if conversation.unreadable:
        at = next(
            (i for i, line in enumerate(others) if line.startswith("Suggestion:")), len(others)
        )
        others.insert(at, f"Unreadable: {conversation.unreadable} line(s)")
    return Header(
        lines.context_words(view.sizes.total_tokens, facts.window, is_known=view.sizes.is_known),
        f"{len(conversation.listed)} (epoch {state.epoch})",
        facts.stage,
        _queued_words(view, facts),
        facts.effect,
        _cache_words(view, around, facts),
        tuple(others),
    )


def _queued_words(view: View, facts: HeaderFacts) -> str:
    queue, molt = view.state.queue, view.state.molt
    if not (queue or molt):
        return "0"
    saved = sum(edit.saved_tokens for edit in queue)
    if facts.apply_mode:
        when = "applies at resume"
    elif view.state.choices.has_turn_end_apply:
        when = "applies when this turn ends"
    else:
        when = "waits for apply turn_end"
    if molt:
        return f"molt {molt.id}, {format_delta(molt.after_tokens - molt.before_tokens)}, {when}"
    return f"{len(queue)} edit(s), {format_delta(-saved)}, {when}"


def _cache_words(view: View, around: Surroundings, facts: HeaderFacts) -> str:
    distance = editing.queue_distance(view.state, around)
    if distance is None:
        return "nothing queued"
    limit = facts.keep_cache_positions
    return f"earliest change is {distance} positions from the end (≤{limit} keeps it)"


def header_facts(look: Look, view: View, found: Sequence[Candidate]) -> HeaderFacts:
    """What the header says of stages, candidates, notes and telemetry."""
    state, names = view.state, view.names
    reviewed = review_words(found, approx=not view.sizes.is_known)
    notes = notes_words(state.work, view.reading.conversation.turns)
    suggestion = look.suggestion(view, found)
    molt = header_words(state.molts)
    lines = (("Review", reviewed), ("Notes", notes), ("Molt", molt), ("Suggestion", suggestion))
    return HeaderFacts(
        look.limits.window,
        look.limits.keep_cache_positions,
        look.apply_mode,
        stage_words(state.work, names, view.sizes),
        look.effect(view),
        tuple(f"{name}: {words}" for name, words in lines if words),
    )


def _chosen(request: ListRequest, view: View, marks: RowMarks) -> Sequence[Row]:
    rows = _window(request, view)
    if request.grep:
        rows = [row for row in rows if request.grep in row.text]
    if request.review:
        rows = [
            row
            for row in rows
            if any("[review:" in flag for flag in marks.flags.get(row.anchor, ()))
        ]
    return rows


def _window(request: ListRequest, view: View) -> Sequence[Row]:
    listed_rows = view.reading.conversation.listed
    if request.start is None and request.end is None:
        count = DEFAULT_COUNT if request.count is None else request.count
        return listed_rows[-count:] if count else ()
    names = view.names
    first = names.number(names.row(request.start)) if request.start is not None else 1
    last = names.number(names.row(request.end)) if request.end is not None else len(listed_rows)
    if last < first:
        msg = f"the window #{first}..#{last} runs backwards: give the older row as from"
        raise RefusedError(msg)
    return listed_rows[first - 1 : last][: request.count or MAX_COUNT]
