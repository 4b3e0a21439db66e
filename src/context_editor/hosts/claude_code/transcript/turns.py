"""The turns of a session, counted over its whole transcript."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from context_editor.hosts.claude_code.transcript.entries import Entry
from context_editor.hosts.claude_code.transcript.shapes import records_of, word_of
from context_editor.hosts.claude_code.transcript.words import (
    PLUGIN_NAME,
    Source,
    is_rebuilt,
    is_tool_result,
    plugin_of,
    source_of,
)

OWN_TOOL_PREFIX: Final = "mcp__plugin_context-editor_editor__"
"""How this product's tools are named in Claude Code."""

_STARTING: Final = frozenset(
    {Source.PERSON, Source.PLUGIN, Source.TASK_NOTIFICATION, Source.SYSTEM}
)


Waiting: TypeAlias = tuple[tuple[str, bool] | None, int]
"""A prompt that may yet turn out to have started a turn, and its place; None for most points of a file."""


class TurnLedger:
    """The number of the turn that each prompt of the session started.

    A prompt of any origin starts a turn, also one that a plugin or the host submitted. A slash
    command or a `!` command starts one only when an answer follows it, `/compact` never; a
    continuation prompt of this product only when its turn makes a call other than of our own tools.
    A prompt that an apply wrote again keeps its turn.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._waiting: tuple[str, bool] | None = None
        self._waiting_index = -1

    @property
    def started(self) -> int:
        """Turns that have started, the running one included."""
        return len(self._numbers)

    @property
    def waiting_index(self) -> int | None:
        """The place of a prompt that may yet turn out to have started a turn; None for most."""
        return None if self._waiting is None else self._waiting_index

    def number(self, entry: Entry) -> int:
        """The number of the turn that this prompt started, from 1; 0 when it started none (yet)."""
        return self._numbers.get(turn_key(entry), 0)

    @property
    def waiting(self) -> Waiting:
        """What is not settled at this point of the file; for `again_from`."""
        return self._waiting, self._waiting_index

    def again_from(self, waiting: Waiting) -> None:
        """Be ready to take in once more what followed a point of the file; turns that started keep their numbers."""
        prompt, self._waiting_index = waiting
        self._waiting = None if prompt and prompt[0] in self._numbers else prompt

    def take(self, entry: Entry) -> None:
        """Take one more entry in, in file order."""
        if entry.is_side:
            return
        if entry.type == "assistant":
            self._take_answer(entry)
        elif entry.type == "user" and not is_tool_result(entry) and not is_rebuilt(entry):
            self._take_prompt(entry)

    def _take_prompt(self, entry: Entry) -> None:
        source, key = source_of(entry), turn_key(entry)
        self._waiting_index = entry.index
        if key in self._numbers:
            self._waiting = None
        elif plugin_of(entry) == PLUGIN_NAME:
            self._waiting = (key, True)
        elif source in _STARTING:
            self._start(key)
        elif source is Source.COMMAND or source is Source.BASH:
            self._waiting = (key, False)
        elif source is Source.COMPACT:
            self._waiting = None

    def _take_answer(self, entry: Entry) -> None:
        if self._waiting is None or entry.facts.get("isApiErrorMessage"):
            return
        key, needs_call = self._waiting
        if not needs_call or _calls_another_tool(entry):
            self._start(key)

    def _start(self, key: str) -> None:
        self._numbers[key] = len(self._numbers) + 1
        self._waiting = None


def rebuilt_runs(chain: Sequence[Entry], *, follows: bool = False) -> list[bool]:
    """For each entry, whether the newest prompt, result or answer up to it is a prompt that an apply wrote anew.

    Args:
        chain: Live entries in model order.
        follows: Whether it was in front of the first entry.
    """
    runs: list[bool] = []
    for entry in chain:
        if entry.type in {"user", "assistant"}:
            follows = _is_rebuilt_prompt(entry)
        runs.append(follows)
    return runs


def turns_of(
    chain: Sequence[Entry], ledger: TurnLedger, first: int = 0, *, follows: bool = False
) -> list[int]:
    """The turn of each entry.

    A prompt that an apply wrote anew has lost the host's marks; it counts as the turn after the one
    in front of it, where the next known turn leaves room for that. Directly behind another such prompt
    it holds what rode there, and belongs to the same turn.

    Args:
        chain: Live entries in model order.
        ledger: The turns of the session.
        first: The turn in front of the first entry.
        follows: Whether such a prompt is the newest line in front of the first entry.
    """
    known = [_started(entry, ledger) for entry in chain]
    upcoming = ledger.started + 1
    room: list[int] = []
    for number in reversed(known):
        room.append(upcoming)
        upcoming = number or upcoming
    turn = first
    turns: list[int] = []
    before = (follows, *rebuilt_runs(chain, follows=follows))
    for entry, number, limit, is_behind in zip(chain, known, reversed(room), before, strict=False):
        if number:
            turn = number
        elif _is_rebuilt_prompt(entry) and not is_behind:
            turn = max(turn, min(turn + 1, limit - 1))
        turns.append(turn)
    return turns


def _is_rebuilt_prompt(entry: Entry) -> bool:
    return entry.type == "user" and not entry.answers and is_rebuilt(entry)


def _started(entry: Entry, ledger: TurnLedger) -> int:
    is_prompt = entry.type == "user" and not entry.answers and not is_rebuilt(entry)
    return ledger.number(entry) if is_prompt else 0


def turn_key(entry: Entry) -> str:
    """What stays the same of a prompt when an apply writes it again."""
    prompt_id = entry.facts.get("promptId")
    return prompt_id if isinstance(prompt_id, str) else entry.uuid


def _calls_another_tool(entry: Entry) -> bool:
    return any(
        block.get("type") == "tool_use" and not word_of(block, "name").startswith(OWN_TOOL_PREFIX)
        for block in records_of(entry.content)
    )
