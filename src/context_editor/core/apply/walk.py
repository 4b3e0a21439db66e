"""The walk over the conversation that turns changes into the rows of the new one.

The host keeps a stored row whole or not at all, with what hangs behind it; it joins the kept rows of one
answer; and it drops what stood behind a row that is built or left out. So words that rode there follow as
plain text (rule C27), and an answer of which one row is built is built from there on, in one row.
Observed on Claude Code 2.1.332, 2026-11-30 (docs/host-notes.md).
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter

from context_editor.core.apply.emissions import (
    Build,
    BuiltResult,
    Emission,
    Keep,
    KeptShape,
    built_shape,
)
from context_editor.core.apply.model import Changes, Surroundings
from context_editor.core.apply.stored import StoredRow
from context_editor.core.rows import Piece, PieceForm
from context_editor.core.state import CarriedPart
from context_editor.errors import RefusedError


def emitted(around: Surroundings, changes: Changes) -> tuple[Emission, ...]:
    """The rows of the new conversation, in order."""
    front = 0 if around.rebuild else _untouched(around.stored, changes.places())
    return walked(around, changes, front)


def walked(around: Surroundings, changes: Changes, front: int) -> tuple[Emission, ...]:
    """The rows of the new conversation, in order; the first so many stored rows are known to stay as they are."""
    walk = _Walk(around, changes)
    rows = around.stored
    walk.keep(rows[:front])
    for response, block in groupby(rows[front:], key=attrgetter("response")):
        if response is None:
            for row in block:
                walk.take_row(row)
        else:
            walk.take_answer(tuple(block))
    walk.flush()
    return tuple(_merged(walk.out))


def _untouched(rows: Sequence[StoredRow], places: Collection[int]) -> int:
    """How many rows stand in front of every place at which something changes, whole answers only."""
    first = min(places, default=None)
    if first is None:
        return len(rows)
    count = max(0, bisect_right(rows, first, key=attrgetter("start")) - 1)
    response = rows[count].response if rows else None
    while response is not None and count and rows[count - 1].response == response:
        count -= 1
    return count


@dataclass
class _Walk:
    around: Surroundings
    changes: Changes
    out: list[Emission] = field(default_factory=list[Emission])
    carried: list[tuple[bool, CarriedPart]] = field(default_factory=list[tuple[bool, CarriedPart]])
    open_calls: set[str] = field(default_factory=set[str])

    def keep(self, rows: Sequence[StoredRow]) -> None:
        """Stored rows at which nothing changes, while nothing is carried."""
        for row in rows:
            self._keep(row)

    def take_row(self, row: StoredRow) -> None:
        """A stored row that is no answer's: a prompt or results."""
        own = row.own
        if own and own[0][1].form is not PieceForm.RESULT:
            self.flush()
        self._insert(row)
        if not own:
            self.out.append(Keep(row.handle, row.at))
        elif self._is_kept(row):
            self._keep(row)
        else:
            self._emit_all(tuple(self._contents(own)))
            self.carried += self._parts(row)
        self._behind(row)

    def take_answer(self, rows: tuple[StoredRow, ...]) -> None:
        """All stored rows of one answer; from the first built one on, one built row."""
        self.flush()
        start = self._built_from(rows)
        for row in rows[:start]:
            self._insert(row)
            if self._stays(row):
                self._keep(row)
            else:
                self.carried += self._parts(row)
        contents: list[Build] = []
        for row in rows[start:]:
            self._insert(row)
            contents += self._contents(row.own)
            self.carried += self._parts(row)
        if contents:
            self._emit(joined(contents))
        for row in rows:
            self._behind(row)

    def _insert(self, row: StoredRow) -> None:
        if self.changes.inserted:
            for at, _ in row.members:
                self._emit_all(self.changes.inserted.get(at, ()))

    def _behind(self, row: StoredRow) -> None:
        if not self.changes.behind:
            return
        for at, _ in row.members:
            extra = self.changes.behind.get(at, ())
            if extra:
                self.flush()
                self._emit_all(extra)

    def _keep(self, row: StoredRow) -> None:
        self.out.append(Keep(row.handle, row.at))
        self._note(row.shape)

    def _emit(self, row: Build) -> None:
        self.out.append(row)
        self._note(built_shape(row))

    def _note(self, shape: KeptShape) -> None:
        if shape.results:
            self.open_calls.difference_update(shape.results)
        if shape.calls:
            self.open_calls.update(shape.calls)

    def _emit_all(self, rows: Sequence[Build]) -> None:
        for row in rows:
            self._emit(row)

    def flush(self) -> None:
        """Let carried words follow, where no call waits for its result.

        The host's own words stand last: it sends them as a message of its own behind a person's.
        """
        if self.carried and not self.open_calls:
            parts = tuple(part for _, part in sorted(self.carried, key=lambda held: held[0]))
            self._emit(Build("user", "\n\n".join(part.text for part in parts), carried=parts))
            self.carried = []

    def _is_kept(self, row: StoredRow) -> bool:
        is_touched = not self._stays(row) or self._has_built(row)
        return not is_touched and not (self.around.rebuild and self._is_rebuildable(row))

    def _has_built(self, row: StoredRow) -> bool:
        built = self.changes.built
        return bool(built) and any(at in built for at, _ in row.own)

    def _stays(self, row: StoredRow) -> bool:
        gone = self.changes.gone
        return not any(at in gone for at, _ in row.own)

    def _is_rebuildable(self, row: StoredRow) -> bool:
        running = self.around.running_response
        form = row.own[0][1].form
        return (running is None or row.response != running) and form is not PieceForm.PROMPT

    def _built_from(self, rows: tuple[StoredRow, ...]) -> int:
        """Where an answer's rows begin to be built; past the last where all that stay are kept.

        A call may not stay in front of a built row of its answer: its result would be lost.
        """
        asked = [at for at, row in enumerate(rows) if self._must_build(row)]
        if not asked:
            return len(rows)
        calls = [at for at, row in enumerate(rows) if self._stays(row) and row.own[0][1].call]
        return min([asked[0], *calls[:1]])

    def _must_build(self, row: StoredRow) -> bool:
        if self._has_built(row):
            return True
        if not self._stays(row):
            # A stored row of several blocks, of which some go: the host keeps whole rows only.
            return any(at not in self.changes.gone for at, _ in row.own)
        if self.around.rebuild and self._is_rebuildable(row):
            return True
        if not row.riders:
            return False
        # A row is built anew to be rid of our own words behind it: the host would keep both.
        running = self.around.running_response
        is_shed = any(at in self.changes.gone for at, _ in row.riders)
        return is_shed and (running is None or row.response != running)

    def _contents(self, own: Sequence[tuple[int, Piece]]) -> Iterator[Build]:
        for at, piece in own:
            if at in self.changes.built:
                yield self.changes.built[at]
            elif at not in self.changes.gone and piece.form is not PieceForm.THINKING:
                yield copied(piece)

    def _parts(self, row: StoredRow) -> Iterator[tuple[bool, CarriedPart]]:
        """What rides behind a row, and whether it is sent as the host's own word."""
        for at, piece in row.riders:
            if at in self.changes.gone or piece.is_ours or not piece.text:
                continue
            if piece.media or piece.extra.get("rendered_known") is False:
                msg = f"a host row ({piece.label}) behind an edited row cannot be sent again as it was"
                raise RefusedError(msg)
            is_hosts = piece.role == "system" and piece.typed is None
            yield is_hosts, CarriedPart(piece.label, piece.text, piece.typed)


def joined(rows: Sequence[Build]) -> Build:
    """Several built assistant rows as one: all their words, then all their calls."""
    if len(rows) == 1:
        return rows[0]
    named = next((row for row in rows if row.replacement), rows[0])
    return replace(
        named,
        text="\n\n".join(row.text for row in rows if row.text),
        calls=tuple(call for row in rows for call in row.calls),
    )


def copied(piece: Piece) -> Build:
    """A piece as a built row, for one that stays while its stored row cannot be kept.

    Raises:
        RefusedError: It holds media, which a built row cannot.
    """
    if piece.media:
        msg = f"a {piece.form} row holds media that cannot be sent again"
        raise RefusedError(msg)
    match piece.form:
        case PieceForm.CALL if piece.call is not None:
            return Build("assistant", calls=(piece.call,), anchor=f"t:{piece.call.id}")
        case PieceForm.RESULT:
            result = BuiltResult(piece.call_id or "", piece.text, piece.is_error)
            return Build("user", results=(result,), anchor=f"t:{piece.call_id}")
        case _:
            return Build(piece.role, piece.text, anchor=f"u:{piece.handle}")


def _merged(emissions: Sequence[Emission]) -> Iterator[Emission]:
    """Carriers joined to the built result in front of them: one message, the words behind the result."""
    held: Build | None = None
    for emission in emissions:
        if held is None and isinstance(emission, Keep):
            yield emission
            continue
        is_carrier = (
            isinstance(emission, Build) and bool(emission.carried) and not emission.replacement
        )
        if held is not None and is_carrier and isinstance(emission, Build) and not held.text:
            yield replace(held, text=emission.text, carried=emission.carried)
            held = None
            continue
        if held is not None:
            yield held
        held = emission if isinstance(emission, Build) and emission.results else None
        if held is None:
            yield emission
    if held is not None:
        yield held
