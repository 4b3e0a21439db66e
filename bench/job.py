"""The same job in three stages with and without the plugin, in the real host with a scripted model.

    python -m bench.job [--outputs 4,8,16,32] [--record FILE]

Run from the project's folder; `CONTEXT_EDITOR_CLAUDE` names the host's binary, or `bin/test` has
fetched it. The job reads, probes without success, and fixes: in each stage so many tool outputs of
about 1,700 tokens. With the plugin the model folds a stage when it is done: it writes a record of
the first, marks the second as a dead end, and the work goes on by itself.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.host.host import MISSING, Host, binary
from tests.host.plugin import (
    TOOLS,
    answered,
    edit,
    lay_plugin,
    listing,
    log_of,
    number_of,
    seq,
)
from tests.host.scripted_model import Answer, Body, Exchange, Step, call, say, use

NUMBERS: Final = 1_350
"""How many lines each output has: about 1,700 tokens as the scripted model counts."""

RECORD: Final = (
    "goal: find why it is slow; decision: look at the clock, since the cache is warm; facts: "
    "src/clock.py:12 reads the time zone on every call (seen in the fourth output); config in "
    "etc/app.toml is the default one; changed: nothing yet; open: is the cache to blame?"
)
DEAD_END: Final = "dead end: warming the cache in several ways changed nothing; it is not the cache; fix the clock"
GO_ON: Final = "Go on with the next stage."

APPLIES: Final = 2
"""One for each of the first two stages."""


@dataclass(frozen=True)
class Prices:
    """Dollars for a million tokens.

    Attributes:
        model: Whose prices these are.
        uncached: Input that no cache holds.
        write: Input written to the cache for five minutes.
        read: Input read from the cache.
        output: Output.
    """

    model: str
    uncached: float
    write: float
    read: float
    output: float


PRICES: Final = (
    Prices("Claude Opus 5", 5, 6.25, 0.50, 25),
    Prices("Claude Sonnet 4.6", 3, 3.75, 0.30, 15),
    Prices("Claude Fable 5.1", 10, 12.50, 0.25, 50),
)
"""List prices. Source: platform.claude.com/docs/en/about-claude/pricing, as stored in 2026."""


@dataclass(frozen=True)
class Bill:
    """What one session sent and got, in tokens as the scripted model counts.

    Attributes:
        requests: Requests of the main conversation.
        uncached: Input that no cache held.
        write: Input written to the cache.
        read: Input read from the cache.
        output: Output.
        last: The size of the last request.
    """

    requests: int
    uncached: int
    write: int
    read: int
    output: int
    last: int

    @property
    def sent(self) -> int:
        """All input."""
        return self.uncached + self.write + self.read

    def cost(self, prices: Prices) -> float:
        """The session's price in dollars."""
        millionths = (
            self.uncached * prices.uncached
            + self.write * prices.write
            + self.read * prices.read
            + self.output * prices.output
        )
        return millionths / 1_000_000


def bill_of(exchanges: Sequence[Exchange]) -> Bill:
    """The bill of a session."""

    def total(name: str) -> int:
        return sum(exchange.usage[name] for exchange in exchanges)

    newest = exchanges[-1].usage
    return Bill(
        len(exchanges),
        total("input_tokens"),
        total("cache_creation_input_tokens"),
        total("cache_read_input_tokens"),
        total("output_tokens"),
        newest["cache_read_input_tokens"] + newest["cache_creation_input_tokens"],
    )


# --- the job --------------------------------------------------------------------------------------


def outputs(stage: int, count: int, *beside: dict[str, Any]) -> list[Answer]:
    """The tool calls of one stage, one a response; the first response makes the calls `beside` as well."""
    first = [100_000 * stage + 2_000 * n for n in range(count)]
    calls = [seq(start, start + NUMBERS, f"toolu_{stage}_{n:03}") for n, start in enumerate(first)]
    return [
        say(f"Step {n} of stage {stage}.", *(beside if n == 0 else ()), one)
        for n, one in enumerate(calls)
    ]


def plain_job(count: int) -> list[Answer]:
    """The job without the plugin."""
    stages = [step for stage in (1, 2, 3) for step in outputs(stage, count)]
    return [*stages, say("It is fixed: the clock reads its zone once.")]


def folded_job(count: int) -> list[Answer]:
    """The job with the plugin: every finished stage is folded."""
    return [
        *outputs(1, count, tag({"op": "open", "stage": "read"})),
        call(tag({"op": "close"})),
        folding("read"),
        say("The reading is folded."),
        *outputs(2, count, tag({"op": "open", "stage": "probe"})),
        call(listing(count=3 * count)),
        dead_end,
        call(edit(apply="turn_end", resume=GO_ON)),
        say("The probe is folded."),
        *outputs(3, count),
        say("It is fixed: the clock reads its zone once."),
    ]


def tag(*tags: dict[str, Any]) -> dict[str, Any]:
    """A call of `context_tag`."""
    return use(f"{TOOLS}context_tag", {"tags": list(tags)})


def folding(stage: str) -> Callable[[Body], Step]:
    """A step that collapses the stage that was just closed, by the numbers of its close report."""

    def made(body: Body) -> Step:
        found = re.search(rf'closed "{stage}" #(\d+)\.\.#(\d+)', answered(body))
        assert found is not None, answered(body)  # noqa: S101 (told by the scripted model)
        span = {"index": int(found[1]), "to": int(found[2])}
        return call(edit({"op": "collapse", **span, "summary": RECORD}, resume=GO_ON))

    return made


def dead_end(body: Body) -> Step:
    """The step that marks the second stage's outputs as a dead end, and closes the stage."""
    span = {"index": number_of("seq 2", body, 0), "to": number_of("seq 2", body)}
    mark = {"op": "add", "kind": "disposable", **span, "note": DEAD_END}
    return call(tag(mark, {"op": "close"}))


# --- measuring ------------------------------------------------------------------------------------


def measured(program: Path, folder: Path, count: int) -> tuple[Bill, Bill]:
    """The job's bill without and with the plugin, one after the other."""
    plain = Host(program, folder / f"plain-{count}")
    folded = Host(program, folder / f"folded-{count}", plugins=[folder / "context-editor"])
    folded.run("warm up", [say("warm")])
    without = billed(plain, plain_job(count))
    with_it = billed(folded, folded_job(count))
    return without, with_it


def billed(host: Host, script: Sequence[Answer]) -> Bill:
    """The bill of one session; every step of its script must have been asked for."""
    run = host.run("Find out why it is slow, and fix it.", script, timeout_s=600)
    applies = len(log_of(host, run.session_id)) if host.plugins else APPLIES
    if len(run.exchanges) != len(script) or applies != APPLIES:
        message = f"{len(run.exchanges)} of {len(script)} requests, {applies} applies: {run.stderr}"
        raise RuntimeError(message)
    return bill_of(run.exchanges)


def report(bills: Sequence[tuple[int, Bill, Bill]]) -> Iterator[str]:
    """The lines of the report, in markdown."""
    yield "# A job in three stages, with and without the plugin"
    yield ""
    yield (
        "The mechanism's figures, with a scripted model: what the same tool calls cost where every finished stage is "
        "folded. They are no study of what models do. Tokens are characters / 4; the prompt cache is simulated as the "
        "longest prefix that an earlier request of the session had, without a lifetime. Our own tools, their text and "
        "every call of them are counted."
    )
    yield ""
    head = [
        "outputs a stage",
        "plugin",
        "requests",
        "sent",
        "cache reads",
        "cache writes",
        "output",
        "last request",
    ]
    yield f"| {' | '.join((*head, *(p.model for p in PRICES)))} |"
    yield f"| --: | --- |{' --: |' * (len(head) - 2 + len(PRICES))}"
    for count, plain, folded in bills:
        yield _line(count, "without", plain)
        yield _line(count, "with", folded)
        yield _change(count, plain, folded)
    yield ""
    for prices in PRICES:
        yield (
            f"- {prices.model}: ${prices.uncached:g} a million uncached input tokens, ${prices.write:g} written to the "
            f"cache (5 minutes), ${prices.read:g} read from it, ${prices.output:g} output."
        )
    yield ""
    yield "List prices of platform.claude.com/docs/en/about-claude/pricing, as stored in 2026."
    yield ""


def _line(count: int, which: str, bill: Bill) -> str:
    figures = (bill.requests, bill.sent, bill.read, bill.write, bill.output, bill.last)
    cells = (*(f"{figure:,}" for figure in figures), *(f"${bill.cost(p):.3f}" for p in PRICES))
    return f"| {count} | {which} | {' | '.join(cells)} |"


def _change(count: int, plain: Bill, folded: Bill) -> str:
    pairs = (
        (plain.requests, folded.requests),
        (plain.sent, folded.sent),
        (plain.read, folded.read),
        (plain.write, folded.write),
        (plain.output, folded.output),
        (plain.last, folded.last),
        *((plain.cost(p), folded.cost(p)) for p in PRICES),
    )
    return f"| {count} | change | {' | '.join(f'{100 * (b - a) / a:+.0f} %' for a, b in pairs)} |"


def main() -> int:
    """Measure, print, and record where asked; 1 where the host is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--outputs", default="4,8,16,32", help="tool outputs a stage, with commas")
    parser.add_argument("--record", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    program = binary()
    if program is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_plugin(root / "context-editor")
        counts = [int(part) for part in options.outputs.split(",")]
        lines = list(report([(n, *measured(program, root, n)) for n in counts]))
    print("\n".join(lines))
    if options.record:
        options.record.write_text("\n".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
