"""The fixed words of replacements: who wrote them, what they replaced, where the original stands.

Every replacement says so in its opening, so that neither a model nor a person takes it for data, for an
order or for somebody else's words (rules J2 to J5; the forms stand in the contract).
"""

import re
from collections.abc import Sequence
from typing import Final

from context_editor.core.edits.model import Author, Op
from context_editor.core.plain import label
from context_editor.core.rows import Media, Piece

LISTED_CONTENTS: Final = 12
"""How many contents a collapse names before `+N more`: enough to know the block again, and one line."""

MEDIA_CARRIED: Final = "[context-editor: media carried as files] (media: {paths})"
"""Stands in a row that is kept as text while the host cannot carry its images."""

OPENING = re.compile(
    r"\A(?:Later, (?:your context_(?:edit|tag) |the retention policy replaced )"
    r"|\[context-editor\] you read .*?, then replaced )",
    re.DOTALL,
)
"""How a replacement begins, in the present form and in the old one (rule J7)."""


def is_replacement_text(text: str) -> bool:
    """Whether a text begins as one of our replacements does; wording alone never proves who wrote it."""
    return OPENING.match(text) is not None


def author_words(author: Author, op: Op) -> str:
    """The opening's subject, such as `your context_edit summarize call`."""
    match author:
        case "agent":
            return f"your context_edit {op} call"
        case "tag":
            return "your context_tag disposable mark"
        case "policy":
            return "the retention policy"


def _pointer(original: str, media: Sequence[str]) -> str:
    pointer = f"(original: {original}, open with Read)"
    return f"{pointer} (media: {', '.join(media)})" if media else pointer


def _where(author: Author, replacement_id: str) -> str:
    return "" if author == "policy" else f", id {replacement_id}"


def summarized(
    author: Author, source: str, replacement_id: str, original: str, media: Sequence[str], text: str
) -> str:
    """The text that stands in the place of one tool result."""
    read = "" if author == "policy" else " you had read here"
    opening = (
        f"Later, {author_words(author, Op.SUMMARIZE)} replaced the full output of {source}{read}"
    )
    return f"{opening}{_where(author, replacement_id)} {_pointer(original, media)}: {text}"


def digest_elsewhere(source: str, ref: str, original: str) -> str:
    """The text of a row whose digest stands in the first row of its batch (rule L4)."""
    opening = f"Later, the retention policy replaced the full output of {source}"
    return f"{opening}, digest at ref {ref} (original: {original})"


def contents_list(sources: Sequence[str]) -> tuple[str, ...]:
    """What a collapse held: at most `LISTED_CONTENTS` contents, then `+N more`."""
    listed = tuple(sources[:LISTED_CONTENTS])
    rest = len(sources) - len(listed)
    return (*listed, f"+{rest} more") if rest else listed


def collapsed(  # noqa: PLR0913, PLR0917 (the parts of one fixed sentence)
    author: Author,
    rows: int,
    contents: Sequence[str],
    replacement_id: str,
    original: str,
    media: Sequence[str],
    text: str,
) -> str:
    """The text that stands in the place of a range of rows."""
    opening = f"Later, {author_words(author, Op.COLLAPSE)} replaced these {rows} rows you had read"
    held = f"({', '.join(contents)})"
    return f"{opening} {held}{_where(author, replacement_id)} {_pointer(original, media)}: {text}"


def rewritten(author: Author, replacement_id: str, original: str, text: str) -> str:
    """The text that stands in the place of the agent's own text."""
    opening = f"Later, {author_words(author, Op.REWRITE)} replaced your own text here"
    return f"{opening}{_where(author, replacement_id)} {_pointer(original, ())}: {text}"


def described(
    what: Sequence[str],
    replacement_id: str,
    original: str,
    media: Sequence[str],
    text: str,
    typed: str,
) -> str:
    """The text of a prompt whose media, documents or pasted parts were described; typed words end it."""
    opening = f"Later, your context_edit describe call replaced {', '.join(what)} of this prompt"
    words = f"{opening}, id {replacement_id} {_pointer(original, media)}: {text}"
    return f"{words}\n\n{typed}" if typed else words


def described_parts(prompt: Sequence[Piece]) -> tuple[str, ...]:
    """What a describe takes out of a prompt, in the contract's words; empty when there is nothing to take."""
    images = [m for p in prompt for m in p.media if m.kind == "image"]
    documents = [m for p in prompt for m in p.media if m.kind == "document"]
    parts = ["an image" if len(images) == 1 else f"{len(images)} images"] if images else []
    parts += [_document_words(m) for m in documents]
    parts += [f"pasted text ({len(text)} characters)" for p in prompt for text in p.pasted]
    parts += [
        f"the attached file {label(str(p.extra.get('path') or 'of this prompt'))} (read it again if needed)"
        for p in prompt
        if p.rides and p.label == "file"
    ]
    return tuple(parts)


def _document_words(document: Media) -> str:
    return f"a document {label(document.name)}" if document.name else "a document"


def cut(text: str, limit: int) -> str:
    """The text, or its first `limit` characters and the cut notice (rule A13)."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} [context-editor: {len(text) - limit} chars cut]"
