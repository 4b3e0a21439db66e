"""One look at a session: the conversation, its names and its sizes, taken at the same moment."""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from context_editor.core.assemble import OwnFacts
from context_editor.core.candidates.reproducible import DiskFacts, Reproducible
from context_editor.core.edits.model import Op, Replacement
from context_editor.core.measure import Estimates, Measured, measured
from context_editor.core.names import Names, RefMemory
from context_editor.core.rows import Row
from context_editor.core.state import SessionState
from context_editor.engine.ports import Reading


@dataclass(frozen=True)
class Numberings(Mapping[str, Sequence[str]]):
    """Refs in the order of their numbers, by older epoch, read only when an old number is used.

    Attributes:
        folder: Where applies keep their lists.
    """

    folder: Path

    def __getitem__(self, epoch: str) -> Sequence[str]:
        path = self.folder / f"{epoch}.json"
        try:
            document: Any = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise KeyError(epoch) from error
        numbering: Sequence[str] = document["numbering"]
        return numbering

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in self.folder.glob("*.json"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class View:
    """What every use case looks at.

    Attributes:
        state: What only we know.
        reading: What the host's file holds.
        names: How rows are named.
        sizes: How large they are.
        disk: What stands on disk for the paths that rows name.
    """

    state: SessionState
    reading: Reading
    names: Names
    sizes: Measured
    disk: DiskFacts = field(default_factory=DiskFacts)

    @property
    def turn(self) -> int:
        """The number of the turn that the newest piece belongs to."""
        pieces = self.reading.conversation.pieces
        return pieces[-1].turn if pieces else 0

    @cached_property
    def reproducible(self) -> Container[str]:
        """Anchors of rows whose output can be had again (rule A6)."""
        return Reproducible(self.reading.conversation, self.disk)

    @cached_property
    def queued(self) -> Mapping[str, str]:
        """The queued edit that covers a row, by anchor."""
        return {anchor: edit.id for edit in self.state.queue for anchor in edit.anchors}

    def rows(self, anchors: Sequence[str]) -> tuple[Row, ...]:
        """The rows with these anchors that still stand, in the order given."""
        found = self.reading.conversation.by_anchor
        return tuple(found[anchor] for anchor in anchors if anchor in found)


def own_facts(state: SessionState, own_tool: str) -> OwnFacts:
    """What tells our rows from all others: our records, never their wording."""
    return OwnFacts(
        own_tool_prefix=own_tool.rpartition("__")[0] + "__",
        replacements={
            anchor: replacement.id
            for replacement in state.replacements.values()
            if not replacement.absorbed_by and replacement.op is not Op.RESTORE
            for anchor in replacement.anchors
        },
        service=frozenset(state.service),
        carried=state.carried,
    )


def names_of(
    state: SessionState, reading: Reading, applies: Path, memory: RefMemory | None = None
) -> Names:
    """How the rows of this reading are named."""
    replacements: Mapping[str, Replacement] = state.replacements
    return Names(
        reading.conversation,
        state.refs,
        state.absorbed,
        {r.id: r.anchors[0] for r in replacements.values() if r.anchors and not r.absorbed_by},
        {r.id: r.absorbed_by for r in replacements.values() if r.absorbed_by},
        state.epoch,
        state.numbered_epoch,
        Numberings(applies),
        memory,
    )


def sizes_of(state: SessionState, reading: Reading, estimates: Estimates) -> Measured:
    """How large the rows of this reading are."""
    return measured(reading.conversation, reading.samples, state.calibration, estimates)
