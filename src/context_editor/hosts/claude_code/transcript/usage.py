"""What the model reported about sizes: one sample for each response."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import record_of

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The model name of answers that the host wrote itself, such as an API error."""

_FIGURES: Final = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


@dataclass(frozen=True, slots=True)
class UsageSample:
    """The usage of one response, in tokens.

    Attributes:
        message_id: The response.
        model: The model that gave it.
        input: Input tokens that were neither read from nor written to the cache.
        cache_read: Input tokens read from the cache.
        cache_creation: Input tokens written to the cache.
        output: Output tokens; the most that any row of the response says.
        handle: The first row of the response.
        index: That row's place among all entries of the file.
    """

    message_id: str
    model: str
    input: int
    cache_read: int
    cache_creation: int
    output: int
    handle: str
    index: int

    @property
    def context(self) -> int:
        """Tokens of everything that the model was sent for this response."""
        return self.input + self.cache_read + self.cache_creation


class UsageLedger:
    """Usage samples in the order of their responses.

    The rows of one response repeat its usage, early ones with an output that is still growing: the
    maximum counts. Rows of a subagent, of the host itself and rows whose figures are all zero are
    left out: an apply zeroes the figures of the rows that it writes again, and where it keeps their
    message id the response keeps its first place.
    """

    def __init__(self) -> None:
        self._reports: dict[str, list[Mapping[str, object]]] = {}
        self._firsts: dict[str, Entry] = {}
        self._made: dict[str, UsageSample] = {}

    @property
    def samples(self) -> tuple[UsageSample, ...]:
        """Every sample, oldest first."""
        return tuple(self._sample(message_id) for message_id in self._reports)

    def last(self) -> UsageSample | None:
        """The newest sample; None before the first."""
        newest = next(reversed(self._reports), None)
        return None if newest is None else self._sample(newest)

    def take(self, entry: Entry) -> None:
        """Take the usage of one more entry in."""
        usage, message_id = record_of(entry.facts.get("usage")), entry.message_id
        if message_id is None or entry.is_side:
            return
        if entry.facts.get("model") == SYNTHETIC_MODEL or "isApiErrorMessage" in entry.facts:
            return
        if not any(usage.get(name) for name in _FIGURES):
            return
        self._firsts.setdefault(message_id, entry)
        self._reports.setdefault(message_id, []).append(usage)
        self._made.pop(message_id, None)

    def _sample(self, message_id: str) -> UsageSample:
        made = self._made.get(message_id)
        if made is None:
            made = self._made[message_id] = self._counted(message_id)
        return made

    def _counted(self, message_id: str) -> UsageSample:
        first, reports = self._firsts[message_id], self._reports[message_id]
        model = first.facts.get("model")
        return UsageSample(
            message_id=message_id,
            model=model if isinstance(model, str) else "",
            input=_most(reports, "input_tokens"),
            cache_read=_most(reports, "cache_read_input_tokens"),
            cache_creation=_most(reports, "cache_creation_input_tokens"),
            output=_most(reports, "output_tokens"),
            handle=first.uuid,
            index=first.index,
        )


def _most(reports: Iterable[Mapping[str, object]], name: str) -> int:
    counts = (report.get(name) for report in reports)
    return max((count for count in counts if type(count) is int), default=0)
