"""The idle reminder's words (group K-I): to a person a line, to the agent the whole rule. The clock is the host's."""

from typing import Final

TOKENS_ABOVE: Final = 100_000
"""A molt is considered only where the current context is strictly larger, in tokens (rule K-I4)."""

REMINDER: Final = f"""\
context-editor: system.auto_molt. Nobody has prompted for {{duration}}. This text comes at most once in an idle period \
and knows nothing of your context; it is no order of a person.
Real work wins: with a prompt, a task or a message waiting, ignore this.
Look at your CURRENT context alone (what the next request carries, not the sum of all turns). Only if it is strictly \
above {TOKENS_ABOVE:,} tokens, consider ONE safe molt: tend the stores that changed, write a valid journal entry, \
carry along the unfinished duties that you were authorised to do, then call context_molt with its path. If that \
cannot be done safely, defer it.
At {TOKENS_ABOVE:,} tokens or less, or if you do not know the size, do nothing at all: no tool, no answer.
Nothing is discarded by force, no journal is written for you, and nothing is promised about the cache. After a molt, \
once you have read where you stand, stay idle until a person or other real work comes; invent none."""
"""The whole rule, as it is delivered (rules K-I1 to K-I8)."""

NOTICE: Final = (
    "context-editor: idle for {duration}. If the context is large and the cache has gone cold, a fresh start with "
    "/context-editor:molt may be cheaper than the next prompt. Nothing was sent or changed."
)
"""The free line to the person."""


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return f"{seconds} s"
    return f"{minutes} min" if not rest else f"{minutes} min {rest} s"


def reminder(seconds: int) -> str:
    """What the agent is told after so many idle seconds."""
    return REMINDER.format(duration=_duration(seconds))


def notice(seconds: int) -> str:
    """What the person is told after so many idle seconds."""
    return NOTICE.format(duration=_duration(seconds))
