"""What a text holds, told by its structure and in its own words: headings, names, errors, totals.

No word of any natural language is needed for it, and nothing is put in other words: an outline can
leave out, but it cannot be wrong.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, cast

_GUTTER: Final = r"[ \t]*+(?:\d{1,7}(?:→|\t))?+[ \t]*+"
"""Line numbers in front of a line, as file readers print them; nothing is taken back once read."""

_HEADING: Final = re.compile(rf"\n{_GUTTER}\n{_GUTTER}#{{1,6}} +(\S[^\n]*)")
"""A Markdown heading: with a blank line in front, or a comment in a script would look the same."""

_HTML_HEADING: Final = re.compile(
    r"<(?:title|h[1-3])\b[^<>\n]{0,200}>([^<\n]{1,200})", re.IGNORECASE
)

_NAME: Final = re.compile(
    rf"\n{_GUTTER}(?:(?:abstract|async|const|declare|default|export|final|internal|local|open|override"
    r"|private|protected|pub(?:\(\w+\))?|public|sealed|static|unsafe)\s+)*"
    r"(?:class|def|enum|fn|fun|func|function\*?|impl|interface|module|namespace|object|protocol|record"
    r"|struct|trait|type)\s+(?:\([^()\n]{0,80}\)\s*)?([A-Za-z_$][\w$.]*)"
    r"(?=[ \t]*(?:[(<{:=;\[\n]|\Z)|[ \t]+(?:extends|for|implements|interface|is|struct|where)\b)"
)
"""A definition with its name, in the languages that put a word in front."""

_FILE: Final = re.compile(
    r"\n((?:[\w.@+-]{1,80}/){0,20}[\w.@+-]{1,80}\.[A-Za-z]\w{0,9})(?=:\d|\n|\Z)"
)
"""A line that is a file's name, or begins with one and a line number, as searches print them."""

_FILES_LEAST: Final = 3
"""Fewer lines of that form may be prose."""

_ERROR: Final = re.compile(
    r"\n[ \t]*(?:E[ \t]+)?((?:[\w.]*(?:Error|Exception)"
    r"|error|ERROR|Error|FAILED|FATAL|fatal|panic|错误|失败)"
    r"(?:\[\w+\])?(?:[:：]| -|\s)\s*[^\s:][^\n]*)"  # noqa: RUF001 - the wide colon too
)
"""A line that begins as error messages do; an error's name in mid-line may be source."""

_MENTION: Final = re.compile(r"[A-Za-z0-9_@./:-]{12,120}")
"""A long name or a path: what later work is most likely to need again, and cannot guess."""

_TELLING: Final = re.compile(r"[A-Za-z].*[a-z0-9][./:_-][A-Za-z]|[a-z][A-Z]|[A-Z]+_[A-Z]|^[./@:]")
"""In what looks like a name: a join or a change of case, as no plain word has."""

MENTIONS: Final = "Mentions"
"""The label of the names of a text."""

_JSON_CHARS_MOST: Final = 1_000_000
"""The longest JSON that is parsed for its keys: about 10 ms."""

Entry = tuple[str, str, tuple[str, ...]]
"""A label, what stands between the pieces, and the pieces."""


def entries(text: str, *, is_error: bool) -> Iterator[Entry]:
    """The parts of an outline, the most telling first; may be none for a blank text."""
    # Two line feeds stand in for the blank line that a heading at the top has not got.
    framed = "\n\n" + text.replace("\r\n", "\n")
    names = _distinct(_NAME.findall(framed))
    headings = () if names else _headings(framed)
    files = _files(framed)
    keys = _keys(text)
    is_told = bool(names or headings or files or keys)
    if is_error:
        yield from _errors(framed, or_first=True)
    yield from _if_any("Headings", "; ", headings)
    yield from _if_any("Defines", ", ", names)
    yield from _if_any("Files", ", ", files)
    yield from _if_any("Keys", ", ", keys)
    if not is_error:
        yield from _errors(framed, or_first=False)
    yield from _if_any(MENTIONS, ", ", mentions(text))
    if not names and not keys:
        yield from _if_any("Last line", "", _last_line(text))
    if not is_told and not is_error:
        yield from _if_any("First line", "", _first_line(text))


def _if_any(label: str, between: str, pieces: tuple[str, ...]) -> Iterator[Entry]:
    if pieces:
        yield label, between, pieces


def _distinct(pieces: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))


def _headings(framed: str) -> tuple[str, ...]:
    return _distinct((*_HEADING.findall(framed), *_HTML_HEADING.findall(framed)))


def _files(framed: str) -> tuple[str, ...]:
    found = _FILE.findall(framed)
    return _distinct(found) if len(found) >= _FILES_LEAST else ()


def _keys(text: str) -> tuple[str, ...]:
    if len(text) > _JSON_CHARS_MOST or not text.lstrip().startswith(("{", "[")):
        return ()
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if isinstance(value, list) and value:
        value = cast("list[object]", value)[0]
    return _distinct(cast("dict[str, object]", value)) if isinstance(value, dict) else ()


def mentions(text: str) -> tuple[str, ...]:
    """Long names and paths of a text, the most frequent first."""
    counted = Counter([name.rstrip("./:-@") for name in _MENTION.findall(text)])
    return tuple(name for name, _ in counted.most_common() if _TELLING.search(name))


def _errors(framed: str, *, or_first: bool) -> Iterator[Entry]:
    found = _ERROR.search(framed)
    if found:
        yield "First error", "", (found[1].strip(),)
    elif or_first:
        yield from _if_any("Error", "", _first_line(framed))


def _first_line(text: str) -> tuple[str, ...]:
    return _distinct((text.strip().split("\n", 1)[0],))


def _last_line(text: str) -> tuple[str, ...]:
    body = text.strip()
    return _distinct((body.rsplit("\n", 1)[1],)) if "\n" in body else ()
