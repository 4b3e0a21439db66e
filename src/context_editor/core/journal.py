"""The gate in front of a molt: a journal entry must exist, and be one (rules K-J1 to K-J12).

The conversation that a molt sheds is gone for the agent; the journal is what it left itself to go
on from. So nothing is shed before every check has passed. The checks run in a fixed order over
facts that were gathered beforehand, and the first failure is the one that is told.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, cast

AREA: Final = "knowledge/session-journal"
"""Where entries live, below the project root."""

ENTRY_NAME: Final = "KNOWLEDGE.md"
"""The file name of an entry, and of the index of all entries one folder up."""

FRONTMATTER_CHARS_MOST: Final = 65_536
"""The longest frontmatter that is parsed: a page of fields is 2 kB, and parsing is slow."""

_ENTRY_DEPTH: Final = 2
"""An entry's folder and its file: what stands below the folder of all entries."""

_FENCE: Final = "---"
_BOM: Final = "\ufeff"
_JOURNAL_TYPE: Final = "session-journal"
_TRUE_WORDS: Final = ("true", "yes", "1")


class JournalCode(StrEnum):
    """Why a journal was refused."""

    REQUIRED = "journal_required"
    OUTSIDE = "journal_outside"
    WRONG_AREA = "journal_wrong_area"
    WRONG_NAME = "journal_wrong_name"
    IS_INDEX = "journal_is_index"
    DEPTH = "journal_depth"
    MISSING = "journal_missing"
    NOT_UTF8 = "journal_not_utf8"
    EMPTY = "journal_empty"
    FRONTMATTER = "journal_frontmatter"
    FIELDS = "journal_fields"
    MARKER = "journal_marker"


FileKind = Literal["file", "missing", "other", "unreadable"]
"""What stands at the place: a regular file, nothing, something else, or a locked file."""


@dataclass(frozen=True, slots=True)
class JournalFacts:
    """What the disk says about a journal path.

    Facts behind the first failure are not consulted, so they need not be gathered: see
    `is_entry_place`.

    Attributes:
        value: The argument as it was given, of any type.
        relative: The place below the project root with symbolic links followed, with `/`; None when
            it is outside or cannot be resolved.
        kind: What is there.
        content: The bytes of the file; empty when it is none.
        index: The text of the index of all entries; None when there is none that can be read.
        area: The folder of all entries, relative to the project root.
    """

    value: object
    relative: str | None = None
    kind: FileKind = "missing"
    content: bytes = b""
    index: str | None = None
    area: str = AREA


@dataclass(frozen=True, slots=True)
class JournalRefusal:
    """The first check that failed.

    Attributes:
        code: Which one.
        reason: What is wrong with what was given.
        hint: What to do; the same for every code.
    """

    code: JournalCode
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}. Nothing was shed. {self.hint}"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A journal entry that passed.

    Attributes:
        path: Its place below the project root, with `/`.
        warnings: What to look at again, one sentence each; may be empty.
    """

    path: str
    warnings: tuple[str, ...] = ()


Loader = Callable[[str], object]
"""YAML to plain values; raises `ValueError` with a one-line reason for text that is no YAML."""


class _FailedError(Exception):
    def __init__(self, code: JournalCode, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


def area_below(store_dir: str) -> str:
    """The folder of all entries for a store folder, both relative to the project root."""
    return "/".join((*_parts(store_dir), AREA))


def recovery_hint(area: str = AREA) -> str:
    """The way out of every refusal, in one sentence."""
    return (
        f"Write {area}/<YYYY-MM-DD>-molt-<count>-<slug>/{ENTRY_NAME} with the fields name,"
        f" description and `type: {_JOURNAL_TYPE}` between two lines `{_FENCE}`,"
        f" then call context_molt again with its path."
    )


def is_entry_place(relative: str | None, area: str = AREA) -> bool:
    """Whether a resolved path is where an entry may stand; nothing else needs to be opened."""
    try:
        _check_place(relative, area, "")
    except _FailedError:
        return False
    return True


def judged(
    facts: JournalFacts, load: Loader, used_paths: Collection[str] = ()
) -> JournalEntry | JournalRefusal:
    """The entry, or the first check that it failed.

    Args:
        facts: What the disk says.
        load: The YAML parser.
        used_paths: Paths of the journals of this session's earlier molts.
    """
    try:
        given = _given(facts.value)
        path = _check_place(facts.relative, facts.area, given)
        _check_fields(_frontmatter(_text(facts, path), path, load), path)
    except _FailedError as failure:
        return JournalRefusal(failure.code, failure.reason, recovery_hint(facts.area))
    return JournalEntry(path, tuple(_warnings(path, facts, used_paths)))


def _given(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    reason = f"session_journal_path must name the journal entry of this molt, not {value!r}"
    raise _FailedError(JournalCode.REQUIRED, reason)


def _check_place(relative: str | None, area: str, given: str) -> str:
    if relative is None:
        reason = f"{given} does not lead to a place inside the project"
        raise _FailedError(JournalCode.OUTSIDE, reason)
    place, folder = _parts(relative), _parts(area)
    below = place[len(folder) :]
    if place[: len(folder)] != folder or not below:
        raise _FailedError(JournalCode.WRONG_AREA, f"{relative} is not below {area}/")
    if below[-1] != ENTRY_NAME:
        reason = f"{relative} is not named {ENTRY_NAME}"
        raise _FailedError(JournalCode.WRONG_NAME, reason)
    if len(below) == 1:
        reason = f"{relative} is the index of all entries, not an entry"
        raise _FailedError(JournalCode.IS_INDEX, reason)
    if len(below) > _ENTRY_DEPTH:
        reason = f"{relative} lies deeper than one folder below {area}/"
        raise _FailedError(JournalCode.DEPTH, reason)
    return "/".join(place)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


_KINDS: Final[Mapping[FileKind, str]] = {
    "missing": "does not exist",
    "other": "is not a regular file",
    "unreadable": "cannot be read",
}


def _text(facts: JournalFacts, path: str) -> str:
    if facts.kind != "file":
        raise _FailedError(JournalCode.MISSING, f"{path} {_KINDS[facts.kind]}")
    try:
        text = facts.content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        reason = f"{path} is not UTF-8 at byte {error.start}"
        raise _FailedError(JournalCode.NOT_UTF8, reason) from error
    if not text.strip():
        raise _FailedError(JournalCode.EMPTY, f"{path} is empty")
    return text


def _frontmatter(text: str, path: str, load: Loader) -> Mapping[object, object]:
    first, *rest = (line.rstrip() for line in text.split("\n"))
    if first != _FENCE or _FENCE not in rest:
        reason = f"{path} does not begin with frontmatter between two lines `{_FENCE}`"
        raise _FailedError(JournalCode.FRONTMATTER, reason)
    block = "\n".join(rest[: rest.index(_FENCE)])
    if len(block) > FRONTMATTER_CHARS_MOST:
        reason = f"the frontmatter of {path} is longer than {FRONTMATTER_CHARS_MOST:,} characters"
        raise _FailedError(JournalCode.FRONTMATTER, reason)
    try:
        fields = load(block)
    except ValueError as error:
        reason = (
            f"the frontmatter of {path} is not YAML ({error});"
            f" quote values that hold a colon, or use `>-`"
        )
        raise _FailedError(JournalCode.FRONTMATTER, reason) from error
    if not isinstance(fields, Mapping):
        reason = f"the frontmatter of {path} is not a list of `field: value` lines"
        raise _FailedError(JournalCode.FRONTMATTER, reason)
    return cast("Mapping[object, object]", fields)


def _check_fields(fields: Mapping[object, object], path: str) -> None:
    for name in ("name", "description"):
        value = fields.get(name)
        if not isinstance(value, str) or not value.strip():
            reason = f"{name} in {path} must be text that is not blank"
            raise _FailedError(JournalCode.FIELDS, reason)
    if not _is_marked(fields):
        reason = f"{path} has neither `type: {_JOURNAL_TYPE}` nor `session_journal: true`"
        raise _FailedError(JournalCode.MARKER, reason)


def _is_marked(fields: Mapping[object, object]) -> bool:
    kind, flag = fields.get("type"), fields.get("session_journal")
    is_typed = isinstance(kind, str) and kind.strip().lower() == _JOURNAL_TYPE
    return is_typed or str(flag).strip().lower() in _TRUE_WORDS


def _warnings(path: str, facts: JournalFacts, used_paths: Collection[str]) -> Iterator[str]:
    pointer = "/".join(_parts(path)[-_ENTRY_DEPTH:])
    index = f"{facts.area}/{ENTRY_NAME}"
    if facts.index is None:
        yield f"{index} does not exist: write it with a line that points to {pointer}"
    elif not _points_to(facts.index, pointer):
        yield f"{index} has no line that points to {pointer}: add one"
    if path in used_paths:
        yield f"{path} was the journal of an earlier molt: give each molt an entry of its own"


def _points_to(index: str, pointer: str) -> bool:
    """Whether the index holds the path, and not only one that ends like it."""
    before = f" {index}".split(pointer)[:-1]
    return any(not (piece[-1:].isalnum() or piece[-1:] in ("-", "_", ".")) for piece in before)
