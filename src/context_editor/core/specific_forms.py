"""How each class of specifics is written, and where a find begins and ends (rule L9).

Scanning runs over UTF-8 bytes and stays linear. Each class has an anchor, a few bytes that every
one of its members holds and that ordinary text seldom does; only around an anchor is the whole form
tried, in a window of fixed size.
"""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from operator import attrgetter
from typing import Final, NamedTuple

from context_editor.core.specific_text import DIGITS, LOWER, UPPER, WORD, Text


class SpecificKind(StrEnum):
    """The classes of specifics, in the order in which one span is given its class."""

    URL = "url"
    ERROR = "error"
    ISSUE = "issue"
    VERSION = "version"
    FIGURE = "figure"
    HASH = "hash"
    PLACE = "place"


class Hit(NamedTuple):
    """One find.

    Attributes:
        start: Offset of the first byte.
        end: Offset behind the last byte.
        kind: The class.
        label: The words that make a bare number a score; empty for everything else.
    """

    start: int
    end: int
    kind: SpecificKind
    label: str = ""


WINDOW_BYTES: Final = 48
"""How far behind an anchor a form may run before it is tried again without a limit.

Longer than any version seen in practice; a longer one is still found whole.
"""

# --- addresses -----------------------------------------------------------------------------------

URL_BYTES: Final = 2_048
"""The longest address, the limit that browsers and servers share; the rest is cut off."""

_SCHEME_BYTES: Final = 12
_SCHEME: Final = UPPER + LOWER + DIGITS + b"+.-"
_URL_RUN: Final = re.compile(rb"[^\x00-\x20\x7f<>\"'`|\\^]*+")
_URL_STOP: Final = re.compile(
    r"[\s\ufffd\u2018-\u201f\u3000-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20]"
)
"""Typographic quotation marks and wide punctuation: never part of an address."""

_BRACKET: Final = re.compile(r"[()\[\]{}]")
_CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def trimmed_url(run: str) -> str:
    """The part of a run of characters that is the address: no sentence mark, no foreign bracket."""
    stop = _URL_STOP.search(run)
    run = run[: stop.start()] if stop else run
    depth = dict.fromkeys(_CLOSERS.values(), 0)
    for bracket in _BRACKET.finditer(run):
        at, char = bracket.start(), bracket.group()
        depth[_CLOSERS.get(char, char)] += -1 if char in _CLOSERS else 1
        if min(depth.values()) < 0:
            run = run[:at]
            break
    return run.rstrip(".,;:!?*~")


def urls(text: Text) -> Iterator[Hit]:
    """The addresses: a scheme, `://` and what belongs to it."""
    at = text.data.find(b"://")
    while at >= 0:
        start = text.tail(at, _SCHEME_BYTES, _SCHEME)
        rest = text.data[at + 3 : at + 3 + URL_BYTES]
        run = _URL_RUN.match(rest)
        # A rest cut at the limit, and a lone surrogate, end the address as a stop mark would.
        body = trimmed_url(run.group().decode("utf-8", "replace")) if run else ""
        end = at + 3 + len(body.encode())
        if body and text.data[start : start + 1].isalpha() and at - start > 1:
            yield Hit(start, end, SpecificKind.URL)
        at = text.data.find(b"://", max(end, at + 3))


# --- errors and issues ---------------------------------------------------------------------------

_CODE: Final = re.compile(
    rb"A(?<![0A-Za-z_]A)(?:[A0]{1,9}(?:-0{1,7})+|A{0,7}[-_]?0{2,6})(?![0A-Za-z_])"
)
"""Read on the mask for codes: the first byte is a literal, looking back ends a try in mid-word."""

_ERROR_HEAD: Final = re.compile(rb"E(?:RR|RROR)?[-_0-9]")
"""`ERR-1042` is an error code although it is written like an issue key."""


def codes(text: Text) -> Iterator[Hit]:
    """Error codes (`E1042`, `HTTP_502`) and issue keys (`KEY-123`)."""
    for found in _CODE.finditer(text.codes):
        word = text.data[found.start() : found.end()]
        is_key = b"-" in word and not _ERROR_HEAD.match(word)
        yield Hit(*found.span(), SpecificKind.ISSUE if is_key else SpecificKind.ERROR)


_ERRNOS: Final = (
    b"E2BIG|EACCES|EADDRINUSE|EADDRNOTAVAIL|EAGAIN|EAI_AGAIN|EBADENGINE|EBADF|EBUSY|ECANCELED|ECHILD"
    b"|ECONNABORTED|ECONNREFUSED|ECONNRESET|EDEADLK|EDOM|EDQUOT|EEXIST|EFAULT|EFBIG|EHOSTDOWN"
    b"|EHOSTUNREACH|EILSEQ|EINPROGRESS|EINTEGRITY|EINTR|EINVAL|EIO|EISCONN|EISDIR|ELIFECYCLE|ELOOP"
    b"|EMFILE|EMLINK|EMSGSIZE|ENAMETOOLONG|ENETDOWN|ENETUNREACH|ENFILE|ENOBUFS|ENODEV|ENOENT|ENOEXEC"
    b"|ENOLCK|ENOMEM|ENOSPC|ENOSYS|ENOTCONN|ENOTDIR|ENOTEMPTY|ENOTFOUND|ENOTSOCK|ENOTSUP|ENOTTY|ENXIO"
    b"|EOPNOTSUPP|EOVERFLOW|EPERM|EPIPE|EPROTO|ERANGE|ERESOLVE|EROFS|ESHUTDOWN|ESPIPE|ESRCH|ESTALE"
    b"|ETIMEDOUT|ETXTBSY|EWOULDBLOCK|EXDEV"
)
"""The errors of the operating system, and npm's. A table, for `END` and `ERROR` look alike."""

_NAMED: Final = (
    re.compile(rb"Error(?![0-9A-Za-z_])"),
    re.compile(rb"Exception(?![0-9A-Za-z_])"),
    re.compile(rb"E(?:" + _ERRNOS.replace(b"|E", b"|")[1:] + rb")(?![0-9A-Za-z_])"),
    re.compile(rb"ERR_[0-9A-Z_]++(?![a-z])"),
    re.compile(rb"Err[A-Z][0-9A-Za-z]++"),
    re.compile(rb"SIG(?:ABRT|BUS|FPE|HUP|ILL|INT|KILL|PIPE|SEGV|TERM|TRAP)(?![0-9A-Za-z_])"),
)
_NAME_BYTES: Final = 80
_BARE_NAMES: Final = (b"Error", b"Exception")
"""The plain words: they name no error."""


def named_errors(text: Text) -> Iterator[Hit]:
    """Errors with a name: `TypeError`, `IOException`, `ENOENT`, `ERR_NOT_FOUND`, `SIGSEGV`."""
    for form in _NAMED:
        for found in form.finditer(text.data):
            start = text.tail(found.start(), _NAME_BYTES, WORD)
            name = text.data[start : found.end()]
            has_front = found.group() in _BARE_NAMES
            if has_front != (start == found.start()) and name[:1].isupper():
                yield Hit(start, found.end(), SpecificKind.ERROR)


_ISSUE_ANCHOR: Final = re.compile(rb"#0")
_ISSUE: Final = re.compile(rb"#[0-9]{1,9}(?![0-9A-Za-z_])")
_REPO_BYTES: Final = 140
_REPO_CHARS: Final = WORD + b"./-"
_REPO: Final = re.compile(rb"[0-9A-Za-z][0-9A-Za-z_.-]*/[0-9A-Za-z_.-]+")


def issues(text: Text) -> Iterator[Hit]:
    """Issues by number: `#981`, `owner/repo#981`; `&#39;` is a character, no issue."""
    for anchor in _ISSUE_ANCHOR.finditer(text.digits):
        found = _ISSUE.match(text.data, anchor.start())
        if not found or text.data[max(0, found.start() - 1) : found.start()] in (b"&", b"#"):
            continue
        start = text.tail(found.start(), _REPO_BYTES, _REPO_CHARS)
        if not _REPO.fullmatch(text.data, start, found.start()):
            start = found.start()
        yield Hit(start, found.end(), SpecificKind.ISSUE)


# --- versions ------------------------------------------------------------------------------------

PRERELEASE: Final = (
    r"[-+._]?(?:alpha|beta|canary|dev|nightly|next|post|preview|pre|rc|snapshot|SNAPSHOT|a|b)"
    r"[-._]?[0-9]{1,9}(?:[.][0-9]{1,9})*|[-+](?:alpha|beta|canary|dev|nightly|next|pre|rc|snapshot|SNAPSHOT)"
)
"""What makes another version of the same three numbers: `-rc.1`, `b2`, `.post1`."""

_SUFFIX: Final = rb"(?:(?:" + PRERELEASE.encode() + rb")(?![0-9A-Za-z_]))?"
_DOTTED_ANCHOR: Final = re.compile(rb"\.0++\.0")
_DOTTED: Final = re.compile(
    rb"(?:(?<![0-9A-Za-z_])v|(?<![0-9])(?<![0-9]\.))[0-9]{1,9}(?:\.[0-9]{1,9}){2,}+" + _SUFFIX
)
_WITH_V_ANCHOR: Final = re.compile(rb"v0")
_WITH_V: Final = re.compile(rb"(?<![0-9A-Za-z_])v[0-9]{1,9}(?:\.[0-9]{1,9})++" + _SUFFIX)
_PIN_ANCHORS: Final = tuple((sign, re.compile(sign + b"v?0")) for sign in (b"==", b"@"))
_PINNED: Final = re.compile(
    rb"(?:(?<=[0-9A-Za-z_\]]==)|(?<=[0-9A-Za-z_]@))v?[0-9]{1,9}(?:\.[0-9]{1,9})*+"
    + _SUFFIX
    + rb"(?!\.?[0-9A-Za-z_])"
)
_AT_RANK: Final = re.compile(
    rb"(?:\b|_)(?:acc|hits?|k|map|mrr|ndcg|p|pass|precision|r|recall|top)@\Z"
)
"""`pass@1` is a score's name, not version 1."""

_SAID: Final = re.compile(
    rb"(?:version|\xe7\x89\x88\xe6\x9c\xac)s?[\"']?[ \t]{0,2}"
    rb"(?:[:=]|\xef\xbc\x9a|is)?[ \t]{0,2}[\"']?"
    rb"(v?[0-9]{1,9}(?:\.[0-9]{1,9})*+" + _SUFFIX + rb")(?![.,]?[0-9A-Za-z_])"
)
"""The number behind the word version, also behind its Chinese form."""

_VERSION_WORDS: Final = (b"version", "版本".encode())
_VERSION_ANCHORS: Final = tuple(map(re.compile, _VERSION_WORDS))
_VERSION_BYTES: Final = 12
_VERSION_CHARS: Final = DIGITS + b".v"


def _dotted(text: Text) -> Iterator[Hit]:
    done = 0
    for anchor in _DOTTED_ANCHOR.finditer(text.digits):
        if anchor.start() < done:
            continue
        start = text.tail(anchor.start(), _VERSION_BYTES, _VERSION_CHARS)
        found = _DOTTED.search(text.data, max(done, start), anchor.end() + WINDOW_BYTES)
        if found and found.end() == anchor.end() + WINDOW_BYTES:
            # The window's end looks like the end of the text: the form may go on behind it.
            found = _DOTTED.match(text.data, found.start())
        if found:
            done = found.end()
            yield Hit(*found.span(), SpecificKind.VERSION)


def _pinned(text: Text) -> Iterator[Hit]:
    for sign, anchors in _PIN_ANCHORS:
        for anchor in anchors.finditer(text.digits):
            at = anchor.start() + len(sign)
            found = _PINNED.match(text.data, at)
            if found and not _AT_RANK.search(text.lower, max(0, at - 12), at):
                yield Hit(*found.span(), SpecificKind.VERSION)


def versions(text: Text) -> Iterator[Hit]:
    """Versions: three numbers, `v` and two, or one behind `==`, `@` or the word version."""
    yield from _dotted(text)
    yield from _pinned(text)
    for anchor in _WITH_V_ANCHOR.finditer(text.digits):
        if found := _WITH_V.match(text.data, anchor.start()):
            yield Hit(*found.span(), SpecificKind.VERSION)
    for words in _VERSION_ANCHORS:
        for anchor in words.finditer(text.lower):
            if said := _SAID.match(text.lower, anchor.start()):
                yield Hit(*said.span(1), SpecificKind.VERSION)


# --- hashes and places ---------------------------------------------------------------------------

_HASH_RUN: Final = re.compile(rb"hhhhhhhh*+")
HASH_CHARS_MOST: Final = 64
_UUID: Final = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z_])")


def hashes(text: Text) -> Iterator[Hit]:
    """Lower-case hexadecimal words of 7 to 64 digits with a letter and a figure; whole UUIDs."""
    hexes = text.hexes
    for run in _HASH_RUN.finditer(hexes):
        start, end = run.span()
        word = text.data[start:end]
        is_mixed = not word.isdigit() and not word.isalpha()
        is_alone = not text.follows_word(start) and hexes[end : end + 1] != b"w"
        if is_mixed and is_alone and end - start <= HASH_CHARS_MOST:
            uuid = _UUID.match(text.data, start)
            yield Hit(start, uuid.end() if uuid else end, SpecificKind.HASH)


_PLACE_ANCHOR: Final = re.compile(rb":0")
_PLACE_BYTES: Final = 240
_PATH_CHARS: Final = WORD + b"./\\~@+-"
_FILE_NAME: Final = re.compile(rb"[0-9A-Za-z_)\]-]\.[A-Za-z][0-9A-Za-z_]{0,9}\Z")
_LINE: Final = re.compile(rb":[0-9]{1,9}(?::[0-9]{1,9}|-[0-9]{1,9})?(?![0-9A-Za-z_])")


def places(text: Text) -> Iterator[Hit]:
    """A file with a line: `src/app.py:120`, `src/app.py:120:7`."""
    for anchor in _PLACE_ANCHOR.finditer(text.digits):
        at = anchor.start()
        if not text.follows_word(at):
            continue
        line = _LINE.match(text.data, at)
        start = text.tail(at, _PLACE_BYTES, _PATH_CHARS)
        if line and _FILE_NAME.search(text.data, max(start, at - 12), at):
            yield Hit(start, line.end(), SpecificKind.PLACE)


class Scanner(NamedTuple):
    """One class's search over a text.

    Attributes:
        scan: The search.
        may_hold: Whether a text has what every member of the class has: most short texts have it of few.
    """

    scan: Callable[[Text], Iterator[Hit]]
    may_hold: Callable[[Text], bool]


def _has_scheme(text: Text) -> bool:
    return b"://" in text.data


def _has_name(text: Text) -> bool:
    return b"E" in text.data or b"SIG" in text.data


def _has_issue(text: Text) -> bool:
    return b"#0" in text.digits


def _has_version(text: Text) -> bool:
    digits = text.digits
    is_marked = b".0" in digits or b"v0" in digits or b"@" in digits or b"==" in digits
    return text.has_digit and (is_marked or any(word in text.lower for word in _VERSION_WORDS))


def _has_place(text: Text) -> bool:
    return b":0" in text.digits


has_digit: Final = attrgetter("has_digit")
"""Whether a text has what every figure has."""

REQUIRED: Final = (
    Scanner(urls, _has_scheme),
    Scanner(codes, has_digit),
    Scanner(named_errors, _has_name),
    Scanner(issues, _has_issue),
    Scanner(versions, _has_version),
    Scanner(hashes, has_digit),
)
"""The classes that are told by their form, of which a digest must hold every member."""

PLACES: Final = Scanner(places, _has_place)
"""`file:line`."""
