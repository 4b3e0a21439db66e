"""Digests of what was read: what it was, what it held, every specific (rules L5, L9, L21).

A digest by rule is made of pieces of its originals only. A digest that somebody else wrote, a small
model for one, is held against the same originals by `checked`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from context_editor.core import outline
from context_editor.core.specifics import Original, Specific

LINES_MOST: Final = 10
"""The longest digest, in lines; one more may hold the specifics (rules L5 and L9)."""

LINE_CHARS: Final = 200
"""The longest line: two on a wide screen, and ten of them are 500 tokens or so."""

PIECES_MOST: Final = 200
"""The most names put in one line before it is cut to length."""

MENTION_SHARE: Final = 6
MENTION_CHARS: Final = 1_600
"""The long names of an item may take this part of its text: at least a line and at most so many characters.

Measured: they are what later work quotes most, for its size (`bench/retention.py`).
"""

ELLIPSIS: Final = "…"

Invents: TypeAlias = Callable[[str], object]
"""Says of a line's words whether they hold a value that the originals lack; true where they do."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was read: a tool call with its result.

    Attributes:
        source: Tool and main argument, as listings show them: `Read src/a.py 1-120`, `Bash pytest
        -q`.
        text: The result.
        title: What it is called; for a file its path.
        urls: Where it can be found again: addresses, or the file's path. May be empty for a
        command.
        is_error: Whether the call failed.
        channel: For a search or a fetch the name of the channel it went through; else empty.
    """

    source: str
    text: str
    title: str = ""
    urls: tuple[str, ...] = ()
    is_error: bool = False
    channel: str = ""


def malformed(item: Evidence) -> str:
    """Why an item is no evidence, in a few words; empty when it is.

    Such an item is archived and listed, but nothing in it is told as a fact. A command has no
    address; what came through a channel needs a title, an address and that channel's name in front
    of its source.
    """
    if not item.text.strip():
        return "empty result"
    if not item.channel:
        return ""
    if not item.title.strip():
        return "no title"
    if not any(url.strip() for url in item.urls):
        return "no address"
    return "" if item.source.split(" ", 1)[0] == item.channel else "another channel's name"


def original_text(items: Sequence[Evidence]) -> str:
    """Everything that a digest of the items may draw on."""
    return "\n".join(
        part for item in items for part in (item.source, item.title, *item.urls, item.text) if part
    )


@dataclass(frozen=True, slots=True)
class Digest:
    """A digest that holds every specific of its originals.

    Attributes:
        text: The lines, the specifics line included.
        fits: Whether that line keeps within its share of the originals; where not, the digest is
            not worth having and the caller decides what to do (rule L9).
    """

    text: str
    fits: bool


def by_rule(items: Sequence[Evidence], *, at_once: bool = True) -> Digest:
    """The digest of a batch from its items' structure alone; the same items give the same one.

    Args:
        items: What was read.
        at_once: Whether all lines are held against the originals together, and one by one only where that
            does not say that all is well; the digest is the same.
    """
    original = Original(original_text(items))
    said: list[str] = []
    lines = _lines(items, said.append) if at_once else []
    if not (at_once and original.holds_all(said)):
        lines = _lines(items, original.invented)
    done = original.completed("\n".join(lines))
    return Digest(done.text, done.fits)


@dataclass(frozen=True, slots=True)
class DigestCheck:
    """What is wrong with a digest that was written by somebody else.

    Attributes:
        missing: Required specifics of the originals that it lacks.
        invented: Specifics in it that its originals do not hold.
        extra_lines: Lines over the limit; 0 when it is short enough.
        is_blank: Whether it says nothing at all.
    """

    missing: tuple[Specific, ...]
    invented: tuple[Specific, ...]
    extra_lines: int
    is_blank: bool

    @property
    def is_good(self) -> bool:
        """Whether it may stand as it is."""
        return not (self.missing or self.invented or self.extra_lines or self.is_blank)

    @property
    def is_mendable(self) -> bool:
        """Whether the specifics line is all it lacks."""
        return not (self.invented or self.extra_lines or self.is_blank)

    @property
    def request(self) -> str:
        """What to ask of its writer, once; empty when it is good."""
        parts = [
            "Keep these exactly, character for character: "
            + "; ".join(s.words for s in self.missing)
            if self.missing
            else "",
            "Leave these out, they are not in the text: " + "; ".join(s.text for s in self.invented)
            if self.invented
            else "",
            f"Use at most {LINES_MOST} lines." if self.extra_lines or self.is_blank else "",
        ]
        return "\n".join(part for part in parts if part)


def checked(digest: str, items: Sequence[Evidence]) -> DigestCheck:
    """A foreign digest held against its originals."""
    original = Original(original_text(items))
    lines = [line for line in digest.splitlines() if line.strip()]
    return DigestCheck(
        original.missing(digest),
        original.invented(digest),
        max(0, len(lines) - LINES_MOST),
        not lines,
    )


def mended(digest: str, items: Sequence[Evidence]) -> Digest:
    """A foreign digest with the specifics it lacks behind it in one line."""
    done = Original(original_text(items)).completed(digest)
    return Digest(done.text, done.fits)


# --- the lines -----------------------------------------------------------------------------------


def _lines(items: Sequence[Evidence], invents: Invents) -> list[str]:
    told, rest = items[:LINES_MOST], items[LINES_MOST:]
    if rest:
        told, rest = items[: LINES_MOST - 1], items[LINES_MOST - 1 :]
    parts = [[_headline(item, invents)] for item in told]
    details = [_details(item, invents) for item in told]
    _share_out(details, parts, LINES_MOST - len(told) - bool(rest))
    lines = [line for part in parts for line in part]
    if rest:
        sources = tuple(item.source for item in rest)
        lines.append(_joined(f"- {len(rest)} more: ", "; ", sources, invents))
    return lines


def _share_out(details: Sequence[Iterator[str]], parts: Sequence[list[str]], lines: int) -> None:
    """Give each item one line in turn, until none has more or all are given out; no other line is made."""
    waiting = list(zip(details, parts, strict=True))
    while lines > 0 and waiting:
        still: list[tuple[Iterator[str], list[str]]] = []
        for more, part in waiting:
            line = next(more, None) if lines > 0 else None
            if line is not None:
                part.append(line)
                still.append((more, part))
                lines -= 1
        waiting = still


def _headline(item: Evidence, invents: Invents) -> str:
    title = "" if item.title in item.source else f": {item.title}"
    count = len(item.text.splitlines())
    size = f" ({count} line{'' if count == 1 else 's'}{', failed' if item.is_error else ''})"
    if reason := malformed(item):
        size = f" (malformed: {reason})"
    return _joined("- ", "", (f"{item.source}{title}",), invents, tail=size)


def _details(item: Evidence, invents: Invents) -> Iterator[str]:
    if malformed(item):
        return
    for label, between, pieces in outline.entries(item.text, is_error=item.is_error):
        if label == outline.MENTIONS:
            line = _mentions(item, pieces, invents)
        else:
            line = _joined(f"  {label}: ", between, pieces, invents)
        if line.strip() != f"{label}:":
            yield line


def mentions(item: Evidence) -> str:
    """The line of an item's long names; empty where it holds none."""
    found = outline.mentions(item.text)
    invents = Original(original_text((item,))).invented
    return _mentions(item, found, invents).strip() if found else ""


def _mentions(item: Evidence, names: Sequence[str], invents: Invents) -> str:
    told = [name for name in names if name not in item.source and name not in item.title]
    chars = min(MENTION_CHARS, max(LINE_CHARS, len(item.text) // MENTION_SHARE))
    return _joined(f"  {outline.MENTIONS}: ", ", ", told, invents, chars=chars)


def _joined(
    label: str,
    between: str,
    pieces: Sequence[str],
    invents: Invents,
    tail: str = "",
    chars: int = LINE_CHARS,
) -> str:
    """A line of pieces, cut to length; no cut or join makes a value that the originals lack."""
    words = between.join([" ".join(piece.split()) for piece in pieces[:PIECES_MOST]])
    body = _cut(words, chars - len(label) - len(tail))
    is_cut = body != words or len(pieces) > PIECES_MOST
    while body and invents(body + ELLIPSIS * is_cut):
        body = body.rpartition(" ")[0]
        is_cut = True
    return f"{label}{body}{ELLIPSIS if is_cut and body else ''}{tail}"


def _cut(words: str, chars: int) -> str:
    """The words that fit whole."""
    if len(words) <= chars:
        return words
    return words[: chars - len(ELLIPSIS) + 1].rpartition(" ")[0].rstrip(" ,;")
