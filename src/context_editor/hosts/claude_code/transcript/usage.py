"""What the model reported about sizes: one sample for each response."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from context_editor.hosts.claude_code.transcript.entries import Entry

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The model name of answers that the host wrote itself, such as an API error."""


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

    The rows of one response repeat its usage, early ones with an output that is still growing: the maximum
    counts. Rows of a subagent, of the host itself and rows without usage are left out. A response that an
    apply wrote again under the same message id keeps its first place and is not counted twice.
    """

    def __init__(self) -> None:
        self._samples: dict[str, UsageSample] = {}

    @property
    def samples(self) -> tuple[UsageSample, ...]:
        """Every sample, oldest first."""
        return tuple(self._samples.values())

    def take(self, entry: Entry) -> None:
        """Take the usage of one more entry in."""
        usage = entry.facts.get("usage") if entry.type == "assistant" else None
        if entry.is_side or not isinstance(usage, Mapping) or entry.message_id is None:
            return
        model = entry.facts.get("model")
        if entry.facts.get("isApiErrorMessage") or model == SYNTHETIC_MODEL:
            return
        known = self._samples.get(entry.message_id)
        self._samples[entry.message_id] = UsageSample(
            message_id=entry.message_id,
            model=model if isinstance(model, str) else "",
            input=_most(usage, "input_tokens", known.input if known else 0),
            cache_read=_most(usage, "cache_read_input_tokens", known.cache_read if known else 0),
            cache_creation=_most(
                usage, "cache_creation_input_tokens", known.cache_creation if known else 0
            ),
            output=_most(usage, "output_tokens", known.output if known else 0),
            handle=known.handle if known else entry.uuid,
            index=known.index if known else entry.index,
        )


def _most(usage: Mapping[str, Any], name: str, known: int) -> int:
    value = usage.get(name)
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return max(known, value) if is_count and value is not None else known
