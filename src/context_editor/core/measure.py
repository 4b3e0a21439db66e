"""The sizes of a conversation's rows and of its whole, in calibrated tokens (rules A12 and F3)."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.conversation import Conversation
from context_editor.core.growing import Growing
from context_editor.core.rows import Piece, Row
from context_editor.core.sizes.calibration import (
    FACTOR_MIN,
    Calibration,
    Content,
    RowSizes,
    Sample,
)
from context_editor.core.sizes.estimate import Ruler

SPARE_PIECES: Final = 1_000
"""Pieces beyond twice those of a conversation whose sizes are remembered."""


@dataclass(frozen=True)
class PlacedSample:
    """A usage sample and the host's id of the first row of the response that it belongs to."""

    sample: Sample
    handle: str


class Estimates:
    """Estimated sizes of pieces, each measured once while it is the same object.

    Attributes:
        ruler: Measures for the session's tokenizer family.
    """

    def __init__(self, ruler: Ruler) -> None:
        self.ruler = ruler
        self._known: dict[int, tuple[Piece, int]] = {}
        self._thinking = Growing(self.piece)
        self._rows = Growing(self.row)
        self._all = Growing(self.piece)
        self._compared = Growing(self.piece)

    @property
    def remembered(self) -> int:
        """How many pieces are remembered."""
        return len(self._known)

    def piece(self, piece: Piece) -> int:
        """The size of a piece, in estimated tokens."""
        known = self._known.get(id(piece))
        if known is not None and known[0] is piece:
            return known[1]
        size = self.ruler.piece(piece)
        self._known[id(piece)] = (piece, size)
        return size

    def row(self, row: Row) -> int:
        """The size of a row's pieces, in estimated tokens."""
        return self.pieces(row.pieces)

    def of_rows(self, conversation: Conversation) -> Sequence[int]:
        """The size of every row, in estimated tokens."""
        self._forget_others(conversation)
        return self._rows.of(conversation.rows)

    def each(self, pieces: Sequence[Piece]) -> Sequence[int]:
        """The size of each piece, in estimated tokens; quick where the pieces are mostly those of before."""
        return self._all.of(pieces)

    def at_least(self, pieces: Sequence[Piece], tokens: int) -> Sequence[bool]:
        """Whether each piece has so many estimated tokens; quick where the pieces are mostly those of before."""
        return list(map(tokens.__le__, self._compared.of(pieces)))

    def _forget_others(self, conversation: Conversation) -> None:
        """Keep the memory bounded: the newest pieces are made anew at each look."""
        if len(self._known) > 2 * len(conversation.pieces) + SPARE_PIECES:
            standing = {id(piece) for piece in conversation.pieces}
            self._known = {key: one for key, one in self._known.items() if key in standing}

    def thinking(self, conversation: Conversation, before: int) -> int:
        """The size of all thinking in front of a position, in estimated tokens."""
        positions = conversation.index.thinking
        pieces = conversation.pieces
        sizes = self._thinking.of([pieces[at] for at in positions])
        return sum(sizes[: bisect_left(positions, before)])

    def pieces(self, pieces: Iterable[Piece]) -> int:
        """The size of several pieces together, in estimated tokens."""
        return sum(map(self.piece, pieces))


@dataclass(frozen=True)
class Measured:
    """The sizes of one conversation: a `Sizer` for every decision.

    Attributes:
        estimates: Estimated sizes.
        calibration: What the session's usage says about them.
        shares: Calibrated sizes, one a row of `rows`, and the base.
        rows: The place of every row, hidden ones included, by anchor.
    """

    estimates: Estimates
    calibration: Calibration
    shares: RowSizes
    rows: Mapping[str, int]

    @property
    def total_tokens(self) -> int:
        """The size of the whole context."""
        return self.shares.total_tokens

    @property
    def is_known(self) -> bool:
        """Whether sizes may be said without `approx.`."""
        return self.calibration.is_known

    def text(self, text: str) -> int:
        """The size of a text, in calibrated tokens."""
        return self.calibration.calibrated(self.estimates.ruler.text(text))

    def piece(self, piece: Piece) -> int:
        """The size of a piece, in calibrated tokens."""
        return self.calibration.calibrated(self.estimates.piece(piece))

    def row(self, row: Row) -> int:
        """The size of a row: its share of the truth where it was sent already."""
        at = self.rows.get(row.anchor)
        if at is None:
            return sum(map(self.piece, row.pieces))
        return self.shares.rows[at]

    def each(self, pieces: Sequence[Piece]) -> Sequence[int]:
        """The size of each of several pieces, in calibrated tokens."""
        return self.calibration.all_calibrated(self.estimates.each(pieces))

    def at_least(self, pieces: Sequence[Piece], tokens: int) -> Sequence[bool]:
        """Whether each of several pieces is so large, in calibrated tokens."""
        most = round(tokens / FACTOR_MIN) + 1
        least = bisect_left(range(most), tokens, key=self.calibration.calibrated)
        return self.estimates.at_least(pieces, least)

    def behind(self, position: int, conversation: Conversation) -> int:
        """The tokens of everything from a position on: what a change there writes to the cache anew."""
        estimated = self.estimates.each(conversation.pieces)
        return sum(self.calibration.all_calibrated(estimated[position:]))


def measured(
    conversation: Conversation,
    samples: Sequence[PlacedSample],
    calibration: Calibration,
    estimates: Estimates,
) -> Measured:
    """The sizes of a conversation as its newest usage and the session's calibration give them.

    Args:
        conversation: The conversation as it is.
        samples: Usage samples of the transcript, oldest first; those folded already are passed over.
        calibration: What was known before.
        estimates: Estimated sizes, for the calibration's family.
    """
    starts = conversation.index.responses
    known = _folded(conversation, samples, calibration, estimates, starts)
    sent_until = starts.get(known.last.message_id, -1) if known.last else -1
    if known.last is not None and sent_until < 0:
        known = replace(known, last=None)
    sent = bisect_left(conversation.rows, sent_until, key=_position)
    shares = known.row_sizes(
        estimates.of_rows(conversation),
        sent,
        _content(conversation.pieces[max(sent_until, 0) :], known.last, estimates),
        estimates.thinking(conversation, sent_until),
    )
    return Measured(estimates, known, shares, conversation.index.places)


def _position(row: Row) -> int:
    return row.positions[0]


def _content(pieces: Sequence[Piece], last: Sample | None, estimates: Estimates) -> Content:
    """What came with and after the response of the last sample."""
    if last is None:
        return Content()
    reply = [p for p in pieces if p.response == last.message_id]
    rest = [p for p in pieces if p.response != last.message_id]
    return Content(estimates.pieces(reply), estimates.pieces(rest))


def _folded(
    conversation: Conversation,
    samples: Sequence[PlacedSample],
    calibration: Calibration,
    estimates: Estimates,
    starts: Mapping[str, int],
) -> Calibration:
    """The calibration with every newer sample whose response stands in the conversation."""
    ids = [placed.sample.message_id for placed in samples]
    first = ids.index(calibration.newest) if calibration.newest in ids else 0
    known, before = calibration, starts.get(calibration.newest, 0)
    for sample in _by_response(samples[first:]):
        start = starts.get(sample.message_id)
        if start is None:
            continue
        between = conversation.pieces[before:start]
        previous = known.last.message_id if known.last else None
        reply = [p for p in between if p.response is not None and p.response == previous]
        rest = [p for p in between if p.response is None or p.response != previous]
        known = known.after(sample, Content(estimates.pieces(reply), estimates.pieces(rest)))
        before = start
    return known


def _by_response(samples: Sequence[PlacedSample]) -> Iterable[Sample]:
    """One sample a response, whatever the order of its rows."""
    merged: dict[str, Sample] = {}
    for placed in samples:
        sample = placed.sample
        known = merged.get(sample.message_id)
        merged[sample.message_id] = known.merged(sample) if known else sample
    return merged.values()
