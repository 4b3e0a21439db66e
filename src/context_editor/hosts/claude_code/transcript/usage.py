"""What the model reported about sizes: one sample for each response."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import record_of, word_of

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

    def with_more(self, usage: Mapping[str, object]) -> "UsageSample":
        """The larger of each figure: one more row of the response tells them."""
        return replace(
            self,
            input=max(self.input, _count(usage, "input_tokens")),
            cache_read=max(self.cache_read, _count(usage, "cache_read_input_tokens")),
            cache_creation=max(self.cache_creation, _count(usage, "cache_creation_input_tokens")),
            output=max(self.output, _count(usage, "output_tokens")),
        )


class UsageLedger:
    """Usage samples in the order of their responses.

    The rows of one response repeat its usage, early ones with an output that is still growing: the
    maximum counts. Rows of a subagent, of the host itself and rows whose figures are all zero are
    left out: an apply zeroes the figures of the rows that it writes again, and where it keeps their
    message id the response keeps its first place.
    """

    def __init__(self) -> None:
        self._samples: dict[str, UsageSample] = {}

    @property
    def samples(self) -> tuple[UsageSample, ...]:
        """Every sample, oldest first; one that no row changed is the same object as before."""
        return tuple(self._samples.values())

    def last(self) -> UsageSample | None:
        """The newest sample; None before the first."""
        return next(reversed(self._samples.values()), None)

    def take(self, entry: Entry) -> None:
        """Take the usage of one more entry in."""
        usage, message_id = record_of(entry.facts.get("usage")), entry.message_id
        if message_id is None or entry.is_side:
            return
        if entry.facts.get("model") == SYNTHETIC_MODEL or "isApiErrorMessage" in entry.facts:
            return
        if not any(usage.get(name) for name in _FIGURES):
            return
        known = self._samples.get(message_id)
        model = word_of(entry.facts, "model")
        first = known or UsageSample(message_id, model, 0, 0, 0, 0, entry.uuid, entry.index)
        larger = first.with_more(usage)
        if larger != known:
            self._samples[message_id] = larger


def _count(usage: Mapping[str, object], name: str) -> int:
    count = usage.get(name)
    return count if type(count) is int else 0
