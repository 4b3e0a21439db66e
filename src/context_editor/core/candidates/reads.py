"""Reads that say nothing any more that the disk or a later row does not say (rules G3 to G5)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from context_editor.core.candidates.facts import DiskFacts
from context_editor.core.candidates.finished import SAME_CALL_CHARS, TO_THE_END, Calls, Finished
from context_editor.core.candidates.texts import TextMemory
from context_editor.core.rows import Row

COMPARED_READS: Final = 100
"""How many of the newest ranges of one file an earlier read is compared with.

It keeps a file that was read thousands of times, each time elsewhere, from taking quadratic time.
"""

ANY_TOOL_CHARS: Final = 2_000
"""From this length on an equal output is a duplicate whatever gave it, in characters (rule G5)."""


@dataclass(frozen=True)
class Evidence:
    """What the rows of a conversation show about its files.

    Attributes:
        reads: Successful reads and their places, by file, oldest first; a file that one call names
            and that nothing changed is left out.
        changed: The place and row of the newest change, by file.
        files: The file of each call that shows what stands in one, by the call's place.
        unexplained: Files that were changed after a read by nothing that the session shows.
    """

    reads: Mapping[str, Sequence[tuple[int, Finished]]]
    changed: Mapping[str, tuple[int, Row]]
    files: Mapping[int, str]
    unexplained: Collection[str]


def evidence(calls: Calls, disk: DiskFacts) -> Evidence:
    """What finished calls show about files.

    Rows that were replaced no longer show what they held, only what they did. Only the content of
    an unexplained file need be compared with what was read (rule G3): a file that the agent changed
    by itself afterwards is known to be stale, and one that is older than the read is known not to
    be.
    """
    files: dict[int, str] = {}
    changed: dict[str, tuple[int, Row]] = {}
    unexplained: set[str] = set()
    for at, one in calls.files:
        if one.name is None:
            continue
        fact = disk.files.get(one.name)
        files[at] = file = fact.path if fact else disk.identity(one.name)
        if one.is_change:
            changed[file] = (at, one.row)
            unexplained.discard(file)
        elif fact and 0 < one.result.position_s < fact.modified_s:
            unexplained.add(file)
    return Evidence(_grouped(calls, files, unexplained), changed, files, unexplained)


def _grouped(
    calls: Calls, files: Mapping[int, str], unexplained: Collection[str]
) -> Mapping[str, Sequence[tuple[int, Finished]]]:
    """The reads of each file of which something may be said: most files are named by one call."""
    told = {file for file, times in Counter(files.values()).items() if times > 1}.union(unexplained)
    reads: dict[str, list[tuple[int, Finished]]] = {}
    for placed in calls.files:
        file = files.get(placed[0], "")
        if file in told and placed[1].is_read:
            reads.setdefault(file, []).append(placed)
    return reads


# --- stale: the file was changed after the read ---------------------------------------------------


def stale_reads(found: Evidence, disk: DiskFacts, memory: TextMemory) -> dict[str, Row | None]:
    """The row that changed a file last, by the anchor of each earlier read of it (rule G3).

    None where something outside the session changed the file.
    """
    stale: dict[str, Row | None] = {}
    for file, (changed_at, by) in found.changed.items():
        earlier = (read for at, read in found.reads.get(file, ()) if at < changed_at)
        stale.update({read.row.anchor: by for read in earlier})
    for file in found.unexplained:
        changed_at, _ = found.changed.get(file, (-1, None))
        later = [read for at, read in found.reads.get(file, ()) if at > changed_at]
        content = disk.contents.get(file) if later else None
        if content is not None:
            differing = (read for read in later if _differs_on_disk(read, content, memory))
            stale.update({read.row.anchor: None for read in differing})
    return stale


def _differs_on_disk(read: Finished, content: str, memory: TextMemory) -> bool:
    """Whether the lines that were read stand in the file no more."""
    if not read.lines.first:
        return False
    return not memory.stands_in(read.result.text, content, to_the_end=read.end == TO_THE_END)


# --- superseded: a later read covers it and says something else -----------------------------------


def superseded_reads(found: Evidence, memory: TextMemory) -> dict[str, Row]:
    """The later read that covers an earlier one with other content, by the earlier's anchor (G4).

    Compared is the newest read that covers it: what the file holds now is what counts.
    """
    superseded: dict[str, Row] = {}
    for reads in [reads for reads in found.reads.values() if len(reads) > 1]:
        newest: list[Finished] = []
        for _, read in reversed(reads):
            if not read.lines.first:
                continue
            covering = next((later for later in newest if _covers(later, read)), None)
            if covering is None:
                newest = [*newest[-COMPARED_READS + 1 :], read]
            elif not _says_the_same(covering, read, memory):
                superseded[read.row.anchor] = covering.row
    return superseded


def _covers(later: Finished, earlier: Finished) -> bool:
    return later.start <= earlier.lines.first and earlier.lines.last <= later.end


def _says_the_same(later: Finished, earlier: Finished, memory: TextMemory) -> bool:
    if later.lines == earlier.lines:
        return memory.print(later.result.text) == memory.print(earlier.result.text)
    skipped = earlier.lines.first - later.lines.first
    return skipped >= 0 and memory.is_within(earlier.result.text, later.result.text, skipped)


# --- duplicate: the same output stands again further on -------------------------------------------


def duplicates(calls: Calls, found: Evidence, leaving: Collection[str]) -> dict[str, Row]:
    """The newest row with the same output, by the anchor of every earlier one (rule G5).

    Args:
        calls: All finished calls.
        found: What they show about files.
        leaving: Anchors of rows that an edit is queued for; none of them is the copy that stays.
    """
    newest: dict[object, list[Finished]] = {}
    earlier: dict[str, Row] = {}
    for at in reversed(_repeated(calls.prints)):
        one = calls.all[at]
        keys = _keys(one, found.files.get(at, ""))
        newer = _newer(one, keys, newest)
        if newer is not None:
            earlier[one.row.anchor] = newer
        elif one.row.anchor not in leaving:
            for key in keys:
                newest.setdefault(key, []).append(one)
    return earlier


def _repeated(prints: Sequence[int | None]) -> list[int]:
    """The places of prints that occur more than once: most occur once, and are not looked at closer."""
    repeated = {one for one, times in Counter(prints).items() if times > 1 and one is not None}
    return [at for at, one in enumerate(prints) if one in repeated] if repeated else []


class _SameCall(NamedTuple):
    """A key under which only the output of one and the same call counts as equal."""

    tool: str
    print: int | None


def _keys(one: Finished, file: str) -> list[object]:
    """What makes this output equal to another."""
    keys: list[object] = []
    if one.lines.first:
        keys.append((file, one.lines, one.print))
    if len(one.result.text) >= ANY_TOOL_CHARS:
        keys.append(one.print)
    elif len(one.result.text) >= SAME_CALL_CHARS:
        keys.append(_SameCall(one.call.name, one.print))
    return keys


def _newer(
    one: Finished, keys: Iterable[object], newest: Mapping[object, Sequence[Finished]]
) -> Row | None:
    for key in keys:
        for copy in newest.get(key, ()):
            if not isinstance(key, _SameCall) or copy.call.input == one.call.input:
                return copy.row
    return None
