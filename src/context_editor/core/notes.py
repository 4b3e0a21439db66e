"""Notes: words about rows that live outside the conversation, and their reminders (group I). Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.edits.checks import MAX_TEXT_CHARS
from context_editor.core.names import Names, Target
from context_editor.core.rows import Row
from context_editor.core.stages.lines import one_line
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.reminders import is_due, note_row
from context_editor.core.stages.state import Note, WorkState
from context_editor.errors import RefusedError

QUOTE_CHARS: Final = 80
"""The longest quote of a linked row: enough to see that it is the one that was meant."""

NUMBERS: Final = re.compile(r"#\d+")
"""Row numbers in a note: they change with every apply (rule I4)."""

OPS: Final = "add, set, remove, list"


@dataclass(frozen=True)
class NoteOp:
    """One element of `notes`, after its JSON was checked.

    Attributes:
        op: `add`, `set`, `remove` or `list`.
        id: The note that is set or removed.
        target: The row that an added note is about, `last` included; None for a note about none.
        text: The note's words.
        remind_in_turns: After how many further turns it is shown once; None for never.
    """

    op: str
    id: str = ""
    target: Target | None = None
    text: str = ""
    remind_in_turns: int | None = None


@dataclass(frozen=True)
class NoteOutcome:
    """What a call did.

    Attributes:
        work: The state afterwards.
        texts: What happened, one text an op.
        warnings: What the caller should know.
    """

    work: WorkState
    texts: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def apply_notes(
    work: WorkState, ops: Sequence[NoteOp], moment: Moment, new_id: Callable[[str], str]
) -> NoteOutcome:
    """Carry out one context_note call, in order, whole or not at all.

    Args:
        work: The state; it is not changed.
        ops: The call's elements.
        moment: Where the call is made.
        new_id: Gives a fresh id for a letter; ids are never given out twice.

    Raises:
        RefusedError: An element breaks a rule; it is named by its position.
    """
    if not ops:
        msg = f"notes is empty: give at least one element; ops are {OPS}"
        raise RefusedError(msg)
    call = _Notes(work, moment, new_id)
    for position, op in enumerate(ops):
        try:
            call.texts.append(call.done(op))
        except RefusedError as error:
            msg = f"notes[{position}] ({op.op}): {error}. Nothing of this call was done."
            raise RefusedError(msg) from error
    return NoteOutcome(call.work, tuple(call.texts), tuple(call.warnings))


@dataclass
class _Notes:
    """One call as it goes along."""

    work: WorkState
    moment: Moment
    new_id: Callable[[str], str]
    texts: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    def done(self, op: NoteOp) -> str:
        match op.op:
            case "add":
                return self._add(op)
            case "set":
                return self._set(op)
            case "remove":
                note = self._known(op.id)
                self.work = replace(self.work, notes=tuple(n for n in self.work.notes if n != note))
                return f"{note.id} removed"
            case "list":
                return "\n".join(note_lines(self.work, self.moment.names)) or "no notes"
            case _:
                msg = f"unknown op {op.op!r}: allowed are {OPS}"
                raise RefusedError(msg)

    def _add(self, op: NoteOp) -> str:
        text = self._checked(op.text)
        remind_after = self._remind_after(op.remind_in_turns)
        row = self.moment.row(op.target, "a note") if op.target else None
        note = Note(
            self.new_id("n"),
            text,
            self.moment.places.anchor(row) if row else None,
            quoted(row) if row else "",
            remind_after,
        )
        self.work = replace(self.work, notes=(*self.work.notes, note))
        link = f"about {_link_words(row, self.moment.names)}" if row else "about no row"
        return f"{note.id} noted, {link}{_reminder_words(op.remind_in_turns)}"

    def _set(self, op: NoteOp) -> str:
        note = self._known(op.id)
        changed = replace(note, text=self._checked(op.text))
        if op.target is not None:
            row = self.moment.row(op.target, "a note")
            changed = replace(changed, link=self.moment.places.anchor(row), quote=quoted(row))
        if op.remind_in_turns is not None:
            changed = replace(changed, remind_after=self._remind_after(op.remind_in_turns))
        notes = tuple(changed if n == note else n for n in self.work.notes)
        self.work = replace(self.work, notes=notes)
        return f"{note.id} set{_reminder_words(op.remind_in_turns)}"

    def _known(self, note_id: str) -> Note:
        for note in self.work.notes:
            if note.id == note_id:
                return note
        known = ", ".join(note.id for note in self.work.notes)
        msg = f"there is no note {note_id!r}: {f'notes are {known}' if known else 'there are no notes'}"
        raise RefusedError(msg)

    def _checked(self, text: str) -> str:
        if not text.strip():
            msg = "text is blank: say what is to be remembered"
            raise RefusedError(msg)
        if len(text) > MAX_TEXT_CHARS:
            msg = f"text has {len(text)} characters, allowed are {MAX_TEXT_CHARS}: shorten it"
            raise RefusedError(msg)
        found = NUMBERS.findall(text)
        if found:
            self.warnings.append(
                f"the note names {', '.join(dict.fromkeys(found))}: row numbers change with the next apply; "
                f"describe the content, or use the ref"
            )
        return text

    def _remind_after(self, turns: int | None) -> int:
        if turns is None:
            return 0
        check_turns("remind_in_turns", turns)
        return self.moment.turn + turns


def check_turns(key: str, turns: int) -> None:
    """Refuse a count of turns that is not a whole number from 1 on.

    Raises:
        RefusedError: It is something else.
    """
    if type(turns) is not int or turns < 1:
        msg = f"{key} is {turns!r}: give a whole number of turns, 1 or more, or leave it out"
        raise RefusedError(msg)


def quoted(row: Row) -> str:
    """The beginning of what a row holds, for quoting."""
    return one_line(row.text[: 4 * QUOTE_CHARS], QUOTE_CHARS)


def _link_words(row: Row, names: Names) -> str:
    quote = quoted(row)
    return f"{names.words(row)} {row.source}{f' “{quote}”' if quote else ''}"


def _reminder_words(turns: int | None) -> str:
    if turns is None:
        return ""
    return f"; shown once more after {turns} further turn{'' if turns == 1 else 's'}"


def note_lines(work: WorkState, names: Names) -> tuple[str, ...]:
    """All notes, one line each, oldest first: id, row, text, and whether a reminder is to come."""
    places = Places(names.conversation)
    return tuple(note_line(note, note_row(note, places), names) for note in work.notes)


def note_line(note: Note, row: Row | None, names: Names) -> str:
    """One note on one line; a note whose row is gone is `unlinked` and quotes what it was about."""
    where = ""
    if row is not None:
        where = f" {names.words(row)} {row.source}"
    elif note.link is not None:
        where = f" unlinked (was “{note.quote}”)"
    due = " (reminder to come)" if note.remind_after else ""
    return f"{note.id}{where}: {note.text}{due}"


def notes_words(work: WorkState, turns: int) -> str:
    """The header's words about notes: `3 (1 due)`; empty when there is none."""
    if not work.notes:
        return ""
    return f"{len(work.notes)} ({sum(is_due(note, turns) for note in work.notes)} due)"
