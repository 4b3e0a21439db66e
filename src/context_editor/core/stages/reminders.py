"""Reminders of notes, due at a prompt (rule I5). Pure; no third party."""

from dataclasses import replace
from typing import Final

from context_editor.core.anchors import Places
from context_editor.core.edits.wording import cut
from context_editor.core.names import Names
from context_editor.core.rows import Row
from context_editor.core.stages.state import Note, WorkState

REMINDER_CHARS: Final = 1_200
"""The longest note in a reminder; a prompt carries 2,000 characters of ours at most."""


def note_row(note: Note, places: Places) -> Row | None:
    """The row that a note is about now; None where it was about none or that is gone."""
    return places.row(note.link) if note.link else None


def reminders(work: WorkState, names: Names, turns: int) -> tuple[WorkState, tuple[str, ...]]:
    """The state without the reminders that are due, and one line for each; to be shown exactly once (rule I5).

    Args:
        work: The state.
        names: How rows are named.
        turns: Completed turns so far.
    """
    due = [note for note in work.notes if is_due(note, turns)]
    if not due:
        return work, ()
    places = Places(names.conversation)
    lines = tuple(_reminder(note, note_row(note, places), names) for note in due)
    notes = tuple(replace(n, remind_after=0) if is_due(n, turns) else n for n in work.notes)
    return replace(work, notes=notes), lines


def is_due(note: Note, turns: int) -> bool:
    """Whether a note is to be shown at the next prompt, after this many completed turns."""
    return 0 < note.remind_after <= turns


def _reminder(note: Note, row: Row | None, names: Names) -> str:
    about = f" (about {names.words(row)} {row.source})" if row else ""
    return f"reminder from your note {note.id}: {cut(note.text, REMINDER_CHARS)}{about}"
