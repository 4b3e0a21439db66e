"""How often compressed content was read again, and what the header says (rules F1, F2, J7)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from context_editor.core.candidates.calls import CHANGING_TOOLS, READ, PathName, path_name
from context_editor.core.candidates.facts import DiskFacts, FileFact
from context_editor.core.candidates.targets import (
    READING_TOOLS,
    file_of,
    key_of,
    target_of,
)
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Op, Replacement
from context_editor.core.growing import Sifted
from context_editor.core.rows import Call, Row, RowKind
from context_editor.core.sizes.wording import format_tokens

WARNED_REREADS: Final = 3
WARNED_SHARE: Final = 0.2
"""From this many rereads, and this many for one replacement, on the header warns (rule F2)."""

OLD_OPENING: Final = "[context-editor] you read "
"""How a replacement of the old form begins (rule J7); nothing is recorded of these."""

_ARCHIVE: Final = "archive:"
"""How the key of an archived original begins; its path follows."""

_PART_MARK: Final = ".part"
"""Stands in the names of the parts of a large original, behind what is the same in all."""


@dataclass(frozen=True, slots=True)
class _Compressed:
    """Something that was replaced.

    Attributes:
        turn: The turn after which it was applied.
        at: The place of the row where it stands; -1 when it stands nowhere.
        since_s: When its original was read, in seconds since the epoch; 0 when unknown.
    """

    turn: int
    at: int
    since_s: float = 0.0


class _Counted(NamedTuple):
    """A call that reads something, or that changed a file.

    Attributes:
        row: Its row.
        call: The call.
        name: The path that it names; None where it names none.
        is_change: Whether it changed that file.
    """

    row: Row
    call: Call
    name: PathName | None
    is_change: bool


class ReadMemory:
    """Which rows read or change something, remembered from look to look."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._calls = Sifted(_counted)
        self._old_forms = Sifted(_old_form)

    def calls(self, conversation: Conversation) -> Iterable[tuple[int, _Counted]]:
        """The calls that read or change something, each with its place."""
        return self._calls.placed(conversation.rows)

    def old_forms(self, conversation: Conversation) -> Iterable[tuple[int, Row]]:
        """The replacements of the old form, each with its place."""
        return self._old_forms.placed(conversation.rows)


def _counted(row: Row) -> _Counted | None:
    call, result = row.call, row.result
    if row.kind is not RowKind.TOOL or call is None:
        return None
    if call.name in READING_TOOLS:
        return _Counted(row, call, path_name(row), is_change=False)
    name = path_name(row) if call.name in CHANGING_TOOLS else None
    is_done = result is not None and not result.is_error
    return _Counted(row, call, name, is_change=True) if name and is_done else None


def _old_form(row: Row) -> Row | None:
    is_original = row.kind is RowKind.TOOL and row.replacement is None
    return row if is_original and row.text.startswith(OLD_OPENING) else None


def rereads(
    conversation: Conversation,
    replacements: Mapping[str, Replacement],
    disk: DiskFacts,
    known: Collection[str] = (),
    memory: ReadMemory | None = None,
) -> tuple[str, ...]:
    """Tool call ids of the reads of compressed content, oldest first; each counts once for ever.

    A call counts when it reads what a replacement replaced, or opens an archived original, in a
    later turn than the one that the replacement was applied after, and the file was not changed in
    between. What a restore brought back is not compressed any more.

    Args:
        conversation: The conversation as it is.
        replacements: Every replacement so far, by id.
        disk: The disk facts, for the identity of files.
        known: Call ids that were counted earlier; they stay counted when their rows are gone.
        memory: What an earlier look worked out; brought up to this one.
    """
    held = memory or ReadMemory()
    compressed = _compressed(conversation, replacements, disk, held)
    if not compressed:
        return tuple(known)
    since = min(one.turn for found in compressed.values() for one in found)
    folders = frozenset(_folder(key) for key in compressed if key.startswith(_ARCHIVE))
    changed: dict[str, int] = {}
    found = list(known)
    seen = set(known)
    for at, one in held.calls(conversation):
        if one.is_change and one.name:
            changed[disk.identity(one.name)] = at
            continue
        if one.row.turn <= since or one.call.id in seen:
            continue
        target = key_of(one.call, one.name, disk)
        # Most reads are of something else, and only this much is asked of each of thousands.
        is_near = target in compressed or (_folder(target) in folders)
        if is_near and _is_reread(one, target, compressed, changed, disk):
            seen.add(one.call.id)
            found.append(one.call.id)
    return tuple(found)


def _compressed(
    conversation: Conversation,
    replacements: Mapping[str, Replacement],
    disk: DiskFacts,
    memory: ReadMemory,
) -> dict[str, list[_Compressed]]:
    """What was replaced, by the key of what reads it."""
    places = conversation.index.places
    found: dict[str, list[_Compressed]] = {}
    for replacement in replacements.values():
        if _is_restored(replacement, replacements):
            continue
        at = min((places[a] for a in replacement.anchors if a in places), default=-1)
        since_s = conversation.rows[at].pieces[0].position_s if at >= 0 else 0.0
        for target in replacement.targets:
            found.setdefault(target, []).append(_Compressed(replacement.turn, at, since_s))
        for path in (replacement.original, *replacement.media):
            found.setdefault(_archive_key(path), []).append(_Compressed(replacement.turn, at))
    for at, row in memory.old_forms(conversation):
        one = _Compressed(row.turn, at, row.pieces[0].position_s)
        found.setdefault(target_of(row, disk), []).append(one)
    found.pop("", None)
    return found


def _is_restored(replacement: Replacement, replacements: Mapping[str, Replacement]) -> bool:
    if replacement.op is Op.RESTORE:
        return True
    absorber = replacements.get(replacement.absorbed_by)
    return absorber is not None and absorber.op is Op.RESTORE


def _archive_key(path: str) -> str:
    """The key of an archived original: the same for all of its parts."""
    folder, slash, name = path.rpartition("/")
    return f"{_ARCHIVE}{folder}{slash}{name.split(_PART_MARK)[0]}" if path else ""


def _folder(key: str) -> str:
    """The folder of the file that a key names."""
    return key.partition(":")[2].rpartition("/")[0]


def _is_reread(
    read: _Counted,
    target: str,
    compressed: Mapping[str, list[_Compressed]],
    changed: Mapping[str, int],
    disk: DiskFacts,
) -> bool:
    turn, file = read.row.turn, file_of(target)
    originals = compressed.get(_archive_key(file), ()) if file else ()
    if any(turn > one.turn for one in originals):
        return True
    earlier = [one for one in compressed.get(target, ()) if turn > one.turn]
    if not file or not earlier:
        return bool(earlier)
    changed_at, modified_s = changed.get(file, -1), _modified_s(read, disk)
    return any(not _was_changed(one, changed_at, modified_s) for one in earlier)


def _was_changed(one: _Compressed, changed_at: int, modified_s: float) -> bool:
    """Whether the file was changed between the original read and this one, here or on disk."""
    is_changed_here = changed_at > one.at >= 0 or (one.at < 0 <= changed_at)
    return is_changed_here or 0 < one.since_s < modified_s


def _modified_s(read: _Counted, disk: DiskFacts) -> float:
    """When the file of a read was changed on disk before that read, in seconds; 0 where it was not."""
    name = read.name if read.call.name == READ else None
    fact: FileFact | None = disk.files.get(name) if name else None
    is_before = fact is not None and fact.modified_s < read.row.pieces[-1].position_s
    return fact.modified_s if fact is not None and is_before else 0.0


@dataclass(frozen=True, slots=True)
class Effect:
    """What all edits together did.

    Attributes:
        edits: Edits applied so far.
        saved_tokens: What every request is spared by them.
        rereads: Rereads of compressed content.
        replacements: Replacements made so far.
    """

    edits: int
    saved_tokens: int
    rereads: int
    replacements: int

    @property
    def is_over_compressed(self) -> bool:
        """Whether so much was read again that less should be compressed (rule F2)."""
        if self.rereads < WARNED_REREADS:
            return False
        return self.rereads >= WARNED_SHARE * self.replacements

    def words(self, *, approx: bool = False) -> str:
        """The header's figures: `5 edit(s), 61.0k saved, 1 reread(s) of compressed content`."""
        saved = format_tokens(self.saved_tokens, approx=approx)
        figures = (
            f"{self.edits} edit(s), {saved} saved, {self.rereads} reread(s) of compressed content"
        )
        warning = (
            ": what you still need is being compressed; keep more of it, or write fuller texts"
        )
        return f"{figures}{warning}" if self.is_over_compressed else figures
