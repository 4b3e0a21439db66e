"""What a new conversation is made of: rows kept as the host has them, and rows built anew."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from context_editor.core.rows import Call, Role
from context_editor.core.state import CarriedPart


@dataclass(frozen=True)
class BuiltResult:
    """A tool result to build: the id of its call, its text, and whether it reports a failure."""

    call_id: str
    text: str
    is_error: bool = False


class Keep(NamedTuple):
    """A stored row that stays whole: its thinking, media and everything that hangs behind it.

    Attributes:
        handle: The host's id of the row.
        position: The position of its first piece in the conversation.
    """

    handle: str
    position: int


@dataclass(frozen=True)
class Build:
    """A row to build from plain parts.

    Attributes:
        role: Who speaks.
        text: Its words; beside results they follow them in the same message.
        calls: Tool calls, for an assistant row.
        results: Tool results, for a user row.
        anchor: The anchor that the row had before, where it stands for one.
        replacement: The replacement that it holds; empty for a carrier.
        service: Whether it is the product's own words.
        carried: Parts of the text that rode behind replaced rows.
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[BuiltResult, ...] = ()
    anchor: str = ""
    replacement: str = ""
    service: bool = False
    carried: tuple[CarriedPart, ...] = ()

    @property
    def words(self) -> str:
        """Everything that it says, for sizes and prints."""
        return "\n".join(filter(None, (*(r.text for r in self.results), self.text)))


Emission: TypeAlias = Keep | Build


class KeptShape(NamedTuple):
    """What legality needs to know of a row: who speaks, its calls and results, and whether it has words."""

    role: Role
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    has_words: bool = False


def built_shape(row: Build) -> KeptShape:
    """What legality needs to know of a built row."""
    return KeptShape(
        row.role,
        tuple(call.id for call in row.calls),
        tuple(result.call_id for result in row.results),
        bool(row.text),
    )


def _shape(emission: Build | KeptShape) -> KeptShape:
    return emission if isinstance(emission, KeptShape) else built_shape(emission)


def illegal_because(
    emissions: Sequence[Build | KeptShape], tolerated: frozenset[str] = frozenset()
) -> str:
    """Why a list of rows is not a legal conversation; empty when it is.

    Every call has exactly one result, all results of an answer come before anything else that a user or
    an assistant says, and no result stands without its call (rule C13).

    Args:
        emissions: The rows in order.
        tolerated: Ids of calls that were not whole before either (an interrupt, an orphan): the host closes them.
    """
    open_calls: set[str] = set()
    seen: set[str] = set()
    for shape in map(_shape, emissions):
        for call_id in shape.results:
            if call_id not in open_calls and call_id not in tolerated:
                return f"a result of {call_id} stands without its call"
            open_calls.discard(call_id)
        if open_calls and shape.has_words and shape.role == "user" and not shape.results:
            return f"words stand between {min(open_calls)} and its result"
        for call_id in shape.calls:
            if call_id in tolerated:
                continue
            if call_id in seen:
                return f"{call_id} is called twice"
            seen.add(call_id)
            open_calls.add(call_id)
    return f"{min(open_calls)} has no result" if open_calls else ""
