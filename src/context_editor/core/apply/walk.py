"""The walk over the conversation that turns changes into the rows of the new one.

The host keeps a stored row whole or not at all, with what hangs behind it; it joins the kept rows of one
answer; and it drops what stood behind a row that is built or left out. So words that rode there follow as
plain text (rule C27), and an answer of which one row is built is built from there on, in one row.
Observed on Claude Code 2.1.332, 2026-11-30 (docs/host-notes.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from context_editor.core.apply.emissions import Build, BuiltResult, Emission, Keep, KeptShape
from context_editor.core.apply.model import Changes, Surroundings
from context_editor.core.rows import Conversation, Piece, PieceForm
from context_editor.core.state import CarriedPart
from context_editor.errors import RefusedError


@dataclass(frozen=True)
class StoredRow:
    """The pieces of one stored row, and what rides behind it.

    Attributes:
        members: Positions and pieces; the row's own come first.
    """

    members: tuple[tuple[int, Piece], ...]

    @property
    def own(self) -> tuple[tuple[int, Piece], ...]:
        """The row's own pieces; empty where a host begins with something that hangs behind nothing."""
        return tuple((at, piece) for at, piece in self.members if not piece.rides)

    @property
    def riders(self) -> tuple[tuple[int, Piece], ...]:
        """What rides behind it."""
        return tuple((at, piece) for at, piece in self.members if piece.rides)

    @property
    def response(self) -> str | None:
        """The answer that it belongs to; None for a user row."""
        return self.members[0][1].response


def stored_rows(pieces: Sequence[Piece]) -> Iterator[StoredRow]:
    """The pieces by stored row."""
    group: list[tuple[int, Piece]] = []
    for at, piece in enumerate(pieces):
        is_same = bool(group) and piece.handle == group[0][1].handle
        if group and not piece.rides and not is_same:
            yield StoredRow(tuple(group))
            group = []
        group.append((at, piece))
    if group:
        yield StoredRow(tuple(group))


def emitted(around: Surroundings, changes: Changes) -> tuple[Emission, ...]:
    """The rows of the new conversation, in order."""
    walk = _Walk(around, changes)
    rows = stored_rows(around.conversation.pieces)
    for response, block in groupby(rows, key=lambda row: row.response):
        if response is None:
            for row in block:
                walk.take_row(row)
        else:
            walk.take_answer(tuple(block))
    walk.flush()
    return tuple(_merged(walk.out))


@dataclass
class _Walk:
    around: Surroundings
    changes: Changes
    out: list[Emission] = field(default_factory=list)
    carried: list[tuple[bool, CarriedPart]] = field(default_factory=list)
    open_calls: set[str] = field(default_factory=set)

    def take_row(self, row: StoredRow) -> None:
        """A stored row that is no answer's: a prompt or results."""
        own = row.own
        if own and own[0][1].form is not PieceForm.RESULT:
            self.flush()
        for at, _ in row.members:
            self._emit_all(self.changes.inserted.get(at, ()))
        if not own:
            self.out.append(Keep(row.members[0][1].handle, row.members[0][0]))
        elif self._is_kept(row):
            self._emit(Keep(own[0][1].handle, own[0][0]))
        else:
            self._emit_all(tuple(self._contents(own)))
            self.carried += self._parts(row)
        self._behind(row)

    def take_answer(self, rows: tuple[StoredRow, ...]) -> None:
        """All stored rows of one answer; from the first built one on, one built row."""
        self.flush()
        start = self._built_from(rows)
        for row in rows[:start]:
            for at, _ in row.members:
                self._emit_all(self.changes.inserted.get(at, ()))
            if self._stays(row):
                self._emit(Keep(row.own[0][1].handle, row.own[0][0]))
            else:
                self.carried += self._parts(row)
        contents: list[Build] = []
        for row in rows[start:]:
            for at, _ in row.members:
                self._emit_all(self.changes.inserted.get(at, ()))
            contents += self._contents(row.own)
            self.carried += self._parts(row)
        if contents:
            self._emit(joined(contents))
        for row in rows:
            self._behind(row)

    def _behind(self, row: StoredRow) -> None:
        for at, _ in row.members:
            extra = self.changes.behind.get(at, ())
            if extra:
                self.flush()
                self._emit_all(extra)

    def _emit(self, emission: Emission) -> None:
        self.out.append(emission)
        shape = shape_of(emission, self.around.conversation)
        self.open_calls = (self.open_calls - set(shape.results)) | set(shape.calls)

    def _emit_all(self, rows: Sequence[Emission]) -> None:
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
        is_touched = any(at in self.changes.built or at in self.changes.gone for at, _ in row.own)
        return not is_touched and not (self.around.rebuild and self._is_rebuildable(row))

    def _stays(self, row: StoredRow) -> bool:
        return not any(at in self.changes.gone for at, _ in row.own)

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
        if any(at in self.changes.built for at, _ in row.own):
            return True
        if not self._stays(row):
            # A stored row of several blocks, of which some go: the host keeps whole rows only.
            return any(at not in self.changes.gone for at, _ in row.own)
        if self.around.rebuild and self._is_rebuildable(row):
            return True
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


def kept_shape(keep: Keep, conversation: Conversation) -> KeptShape:
    """What legality needs to know of a kept row."""
    pieces = conversation.pieces
    end = keep.position
    while end < len(pieces) and pieces[end].handle == keep.handle:
        end += 1
    parts = pieces[keep.position : end]
    return KeptShape(
        parts[0].role,
        tuple(p.call.id for p in parts if p.call),
        tuple(p.call_id for p in parts if p.form is PieceForm.RESULT and p.call_id),
        parts[0].form in {PieceForm.PROMPT, PieceForm.TEXT},
    )


def shape_of(emission: Emission, conversation: Conversation) -> KeptShape:
    """What legality needs to know of an emitted row."""
    if isinstance(emission, Keep):
        return kept_shape(emission, conversation)
    return KeptShape(
        emission.role,
        tuple(call.id for call in emission.calls),
        tuple(result.call_id for result in emission.results),
        bool(emission.text),
    )


def _merged(emissions: Sequence[Emission]) -> Iterator[Emission]:
    """Carriers joined to the built result in front of them: one message, the words behind the result."""
    held: Build | None = None
    for emission in emissions:
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
