"""What an edit is worth: tokens spared with every request against a cache that it makes stale."""

from dataclasses import dataclass
from typing import Final

CACHE_WRITE_PERCENT: Final = 125
"""Price of writing a token to the cache, in percent of an uncached input token (rule F5)."""

CACHE_READ_PERCENT: Final = 10
"""Price of reading a token from the cache, in percent of an uncached input token (rule F5)."""

REWRITE_PERCENT: Final = CACHE_WRITE_PERCENT - CACHE_READ_PERCENT
"""What rewriting a cached token costs more than leaving it, in percent of an uncached one."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What an apply saves and costs.

    Attributes:
        saved_tokens: Tokens that every later request is spared; negative when it gets longer.
        rewritten_tokens: Tokens that stay behind the first edited row, never negative: they stood
            in the cache and must be written to it once more.
    """

    saved_tokens: int
    rewritten_tokens: int

    @property
    def cost_tokens(self) -> int:
        """The one-time cost in uncached input tokens: the write, less the read it replaces."""
        return (self.rewritten_tokens * REWRITE_PERCENT + 50) // 100

    @property
    def requests_to_pay_back(self) -> int | None:
        """Later requests after which the cost is paid back; None when nothing is saved.

        Both sides stand at their price: a token that is gone would have been a cache read.
        """
        if self.saved_tokens <= 0:
            return None
        cost = self.rewritten_tokens * REWRITE_PERCENT
        spared = self.saved_tokens * CACHE_READ_PERCENT
        return max(1, -(-cost // spared))

    @property
    def conclusion(self) -> str:
        """The answer in words (rule F5): `worth it after 12 requests`."""
        requests = self.requests_to_pay_back
        if requests is None:
            return "not worth it: nothing is saved"
        return f"worth it after {requests} request{'' if requests == 1 else 's'}"
