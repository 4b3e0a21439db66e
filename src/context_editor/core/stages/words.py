"""Checks of words that will stand in the conversation as the agent's own. Pure."""

from collections.abc import Iterable

from context_editor.core.consent import checked, forged_opening
from context_editor.core.edits.checks import MAX_TEXT_CHARS
from context_editor.errors import RefusedError


def checked_words(
    text: str, key: str, person_texts: Iterable[str], blank_way: str
) -> tuple[str, ...]:
    """What the caller should know about a text that is to stand in the conversation.

    Args:
        text: The text.
        key: How the call names it.
        person_texts: Everything that a person said.
        blank_way: What is to be said instead of nothing.

    Raises:
        RefusedError: It is blank or too long, begins as if it came from somebody else, or quotes a person with
            words that were never said.
    """
    if not text.strip():
        msg = f"{key} is missing or blank: {blank_way}"
        raise RefusedError(msg)
    if len(text) > MAX_TEXT_CHARS:
        msg = f"{key} has {len(text)} characters, allowed are {MAX_TEXT_CHARS}: shorten it"
        raise RefusedError(msg)
    forged = forged_opening(text)
    if forged:
        msg = f"{key} begins with {forged!r}, as if somebody else spoke: begin with your own words"
        raise RefusedError(msg)
    found = checked(text, person_texts)
    if found.refusals:
        raise RefusedError("; ".join(found.refusals))
    return found.warnings
