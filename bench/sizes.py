"""How far estimated sizes are off: the growth of real sessions against their own `usage`.

    python bench/sizes.py [--corpus FOLDER] [--table FOLDER] [--record FILE]

Prints a markdown table. A session's figure is the error of its summed growth, step by step over its
main chain; "calibrated" predicts each step with what the steps before it taught.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from context_editor.core.sizes import Calibration, Content, Family, Ruler, family_of
from context_editor.core.sizes.estimate import plain_chars
from context_editor.store.tokenizer import O200kCounter, o200k_counter
from corpus_steps import Step, host_version, new_tokens, reply_tokens, steps_of

PROJECT: Final = Path(__file__).resolve().parent.parent

OUTPUT_COUNTED_FROM: Final = (2, 1, 60)
"""Hosts before this version mostly wrote `output_tokens` down before the answer was complete."""

BAR_PERCENT: Final = {Family.NEWER: 5.0, Family.OLDER: 8.0}
"""The most that a family's median session error may be, with the table."""

BAR_WITHOUT_TABLE_POINTS: Final = 3.0
"""What the bar allows more where characters are counted."""

WAYS: Final = "table | table, calibrated | chars | chars, calibrated"
"""The columns: each way of counting alone, and with what the session taught until then."""

SPEED_CHARS: Final = 20_000_000
"""Characters that the speed figure measures: the text of a very long session."""


@dataclass(frozen=True)
class Errors:
    """What one session was measured at, in percent of its true growth.

    Signed: above zero the estimate is too large.

    Attributes:
        estimate: The estimate alone.
        calibrated: The estimate with the calibration of the steps before.
    """

    estimate: float
    calibrated: float


@dataclass(frozen=True)
class Session:
    """One session of the corpus and its errors.

    Attributes:
        name: The file's name.
        family: The tokenizer family of its first response.
        version: The host's version.
        steps: Steps with a known growth.
        growth_tokens: Their true growth together.
        by_table: Errors with the o200k table; None where it is not at hand.
        by_chars: Errors by characters.
    """

    name: str
    family: Family
    version: tuple[int, ...]
    steps: int
    growth_tokens: int
    by_table: Errors | None
    by_chars: Errors


def session_errors(steps: Sequence[Step], count: O200kCounter | None) -> Errors:
    """The error of the summed growth of one session."""
    calibration = Calibration()
    true = estimated = calibrated = 0
    for step in steps:
        ruler = Ruler(family_of(step.sample.model), count)
        content = Content(reply_tokens(step.reply, ruler), new_tokens(step.new, ruler))
        if step.growth_tokens and step.previous:
            output = step.previous.output_tokens
            true += step.growth_tokens
            estimated += max(output, content.reply_tokens) + content.new_tokens
            calibrated += max(output, calibration.calibrated(content.reply_tokens))
            calibrated += calibration.calibrated(content.new_tokens)
        calibration = calibration.after(step.sample, content)
    return Errors(100 * (estimated - true) / true, 100 * (calibrated - true) / true)


def measured(path: Path, count: O200kCounter | None) -> Session | None:
    """One session's figures; None when it has no step whose growth is known."""
    steps = steps_of(path)
    growths = [step.growth_tokens for step in steps if step.growth_tokens]
    if not growths:
        return None
    return Session(
        name=path.name,
        family=family_of(steps[0].sample.model),
        version=host_version(path),
        steps=len(growths),
        growth_tokens=sum(growths),
        by_table=session_errors(steps, count) if count else None,
        by_chars=session_errors(steps, None),
    )


def report(sessions: Sequence[Session]) -> Iterator[str]:
    """The lines of the report, in markdown."""
    yield f"| session | family | steps | growth | {WAYS} |"
    yield "| --- | --- | --: | --: | --: | --: | --: | --: |"
    for s in sessions:
        yield (
            f"| {s.name} | {s.family} | {s.steps} | {s.growth_tokens:,}"
            f" | {_cells(s.by_table)} | {_cells(s.by_chars)} |"
        )
    yield ""
    yield f"| median of the absolute error | n | bar | {WAYS} |"
    yield "| --- | --: | --: | --: | --: | --: | --: |"
    for family in Family:
        yield from _medians(family, [s for s in sessions if s.family is family])


def _medians(family: Family, sessions: Sequence[Session]) -> Iterator[str]:
    """One line for a family's sessions, and one for either side of the version that matters."""
    before = [s for s in sessions if s.version < OUTPUT_COUNTED_FROM]
    since = [s for s in sessions if s.version >= OUTPUT_COUNTED_FROM]
    version = ".".join(map(str, OUTPUT_COUNTED_FROM))
    bar = BAR_PERCENT[family]
    bars = f"{bar:.0f} % ({bar + BAR_WITHOUT_TABLE_POINTS:.0f} % by chars)"
    for name, group in (("all", sessions), (f"{version} on", since), (f"before {version}", before)):
        if group:
            cells = [
                _median(group, lambda s: s.by_table.estimate if s.by_table else None),
                _median(group, lambda s: s.by_table.calibrated if s.by_table else None),
                _median(group, lambda s: s.by_chars.estimate),
                _median(group, lambda s: s.by_chars.calibrated),
            ]
            yield f"| {family}, {name} | {len(group)} | {bars} | {' | '.join(cells)} |"


def _median(sessions: Sequence[Session], error: Callable[[Session], float | None]) -> str:
    errors = [abs(e) for e in map(error, sessions) if e is not None]
    return f"{median(errors):.1f} %" if errors else "n/a"


def _cells(errors: Errors | None) -> str:
    if errors is None:
        return "n/a | n/a"
    return f"{errors.estimate:+.1f} % | {errors.calibrated:+.1f} %"


def speed() -> Iterator[str]:
    """What measuring a very long session by characters takes, as lines of markdown."""
    yield f"| {SPEED_CHARS // 1_000_000} million characters in 1,000 rows | ms |"
    yield "| --- | --: |"
    for name, line in (
        ("ASCII", "    return [row for row in rows if row]\n"),
        ("numbered source lines with an arrow", "   12→    return [row for row in rows]\n"),
        ("Chinese", "这是一个用来测试速度的中文句子。\n"),
    ):
        row = line * (SPEED_CHARS // 1_000 // len(line))
        rows = [f"{row}{number}" for number in range(1_000)]
        begun = time.perf_counter()
        sum(map(plain_chars, rows))
        yield f"| {name} | {1_000 * (time.perf_counter() - begun):.1f} |"


def main() -> int:
    """Measure, print, and record where asked; 1 when there is no corpus to measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, default=PROJECT.parent / "shared" / "corpus")
    parser.add_argument(
        "--table", type=Path, help="folder with the o200k_base table (a tiktoken cache)"
    )
    parser.add_argument("--record", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    paths = sorted(options.corpus.glob("*.jsonl"))
    if not paths:
        print(f"no sessions in {options.corpus}: nothing measured (see --corpus)", file=sys.stderr)
        return 1
    count = o200k_counter(options.table)
    if count is None:
        print("no o200k table (see --table): measured by characters only", file=sys.stderr)
    sessions = [s for s in (measured(path, count) for path in paths) if s]
    lines = ["# Sizes: the estimate against `usage`", "", *report(sessions), "", *speed(), ""]
    print("\n".join(lines))
    if options.record:
        options.record.write_text("\n".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
