"""Generated sessions for measuring: of the usual shape, every output another one, none of a real person."""

from typing import Final

from tests.support.transcripts import CWD, Transcript, call, text, thinking

WORDS: Final = [
    "handler",
    "request",
    "status",
    "session",
    "buffer",
    "config",
    "worker",
    "region",
    "cursor",
    "packet",
    "vector",
    "kernel",
    "module",
    "thread",
    "cache",
    "driver",
    "socket",
    "parser",
    "header",
    "stream",
    "filter",
    "weight",
    "sample",
    "result",
]

USAGE: Final = {"input_tokens": 3, "cache_creation_input_tokens": 900, "output_tokens": 60}

CALLS_A_TURN: Final = 8
RESULT_CHARS: Final = 1_000
"""With these a row takes about two kilobytes of the file: 20 MB are 10,000 rows."""

BYTES_A_TURN: Final = 36_500


class Chance:
    """Numbers that look random and are the same in every run."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2_654_435_761 % 2**32 or 1

    def below(self, limit: int) -> int:
        """A number from 0 on, below the limit."""
        self._state = (self._state * 1_664_525 + 1_013_904_223) % 2**32
        return (self._state >> 8) % limit

    def word(self) -> str:
        """One word."""
        return WORDS[self.below(len(WORDS))]


def output(number: int, chars: int = RESULT_CHARS) -> str:
    """The output of one call: lines of code and of a log, a specific here and there."""
    chance = Chance(number + 1)
    lines: list[str] = []
    size = 0
    while size < chars:
        a, b, c = chance.word(), chance.word(), chance.word()
        line = f"    {a}_{b} = {c}({a!r}, limit={chance.below(9_000)})  # {b} of {c}"
        if chance.below(12) == 0:
            line = f"src/{a}/{b}.py:{chance.below(900)}: {c} failed with E{chance.below(9_000):04d}"
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)


def session(
    megabytes: float,
    result_chars: int = RESULT_CHARS,
    *,
    has_quotes: bool = False,
    before: Transcript | None = None,
) -> Transcript:
    """A session whose file is about so large.

    Args:
        megabytes: The size.
        result_chars: Characters of each output.
        has_quotes: Whether each turn's last answer quotes three earlier outputs, newer ones more often.
        before: What stands in front of it in the file, shed by a compaction; its size comes on top.
    """
    made = before or Transcript()
    if before is not None:
        made.boundary()
    turns = max(1, round(megabytes * 1e6 / BYTES_A_TURN * RESULT_CHARS / result_chars))
    for turn in range(turns):
        made.prompt(f"Please do step {turn} of the plan.")
        if turn == 0:
            made.attachment("environment", "# Environment\nPlatform: linux")
        for pair in range(CALLS_A_TURN // 2):
            _pair(made, turn, pair, result_chars)
        made.answer(
            text(f"Step {turn} is done.{_quotes(turn, result_chars) if has_quotes else ''}"),
            usage={**USAGE, "cache_read_input_tokens": 9_000 + 4_000 * turn},
        )
        made.system("turn_duration", durationMs=1000)
    return made


def _quotes(turn: int, result_chars: int) -> str:
    """Lines of three earlier outputs: half of the times of the last 16, else of any."""
    chance = Chance(7_919 * (turn + 1))
    known = CALLS_A_TURN * (turn + 1)
    quoted: list[str] = []
    for _ in range(3):
        reach = min(known, 16) if chance.below(2) else known
        lines = output(known - 1 - chance.below(reach), result_chars).splitlines()
        quoted.append(lines[chance.below(len(lines))].strip())
    return "".join(f"\nSeen before: {line}" for line in quoted)


def _pair(made: Transcript, turn: int, pair: int, result_chars: int) -> None:
    number = CALLS_A_TURN * turn + 2 * pair
    ids = [f"toolu_{number + n:06d}" for n in range(2)]
    made.answer(
        thinking("", "c2ln" * 100),
        text(f"I read two files ({pair})."),
        call("Read", ids[0], file_path=f"{CWD}/src/module_{turn}_{pair}.py"),
        call("Bash", ids[1], command=f"pytest -q tests/test_{turn}_{pair}.py"),
    )
    for n in (1, 0):
        made.result(ids[n], output(number + n, result_chars))
    made.attachment("hook_additional_context", "a hook said so", hookName="PostToolUse:Read")
    made.raw('{"type":"api-request","id":"r","params":{"model":"m"},"tail":["h1","h2"]}')
