"""The report of `bench.retention`: what each way removed and lost, compared at equal tokens removed."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Final

from bench.replay import Cut

PEERS: Final = ("cozempic gentle", "cozempic standard", "cozempic aggressive", "clearing")
TABLE_TARGET: Final = "policy 0.4"
"""The policy at its default target: what the figures of cost are taken at."""


@dataclass(frozen=True)
class Shortened:
    """One way's result for one beginning.

    Attributes:
        removed: The share of tokens that is gone.
        lost: The share of what is used later that is gone.
        specifics: How many specifics of changed results are still said, and how many there were.
        recoverable: How many changed results the conversation leads back to word for word, and how many there are.
        cpu_ms: What it took of the processor.
        peak_mb: The most memory that it held.
    """

    removed: float
    lost: float
    specifics: tuple[int, int] = (0, 0)
    recoverable: tuple[int, int] = (0, 0)
    cpu_ms: float = 0.0
    peak_mb: float = 0.0


@dataclass
class Table:
    """Everything that was measured, by way and beginning."""

    found: dict[str, dict[str, Shortened]] = field(default_factory=dict[str, dict[str, Shortened]])

    def add(self, way: str, cut: Cut, result: Shortened) -> None:
        """Note a result."""
        self.found.setdefault(way, {})[cut.name] = result

    def curve(self, prefix: str, cut: Cut) -> list[tuple[float, float]]:
        """Removed against lost for the ways whose names begin so, rising; nothing removed loses nothing."""
        points = [
            (by_cut[cut.name].removed, by_cut[cut.name].lost)
            for way, by_cut in self.found.items()
            if way.startswith(prefix) and cut.name in by_cut
        ]
        return sorted([(0.0, 0.0), *points])


def at(curve: Sequence[tuple[float, float]], removed: float) -> float | None:
    """What a curve loses where so much is removed, between its points; None beyond its end."""
    place = bisect_left(curve, (removed, -1.0))
    if place == len(curve):
        return None
    if place == 0:
        return curve[0][1]
    (x0, y0), (x1, y1) = curve[place - 1], curve[place]
    return y0 + (y1 - y0) * (removed - x0) / (x1 - x0 or 1)


def report(table: Table, cuts: Sequence[Cut], version: str) -> list[str]:
    """The lines of the report, in markdown."""
    return [
        "# Retention: what is lost when a session is shortened",
        "",
        (
            f"{len(cuts)} beginnings of {len({cut.path.parent.name.rsplit('-', 1)[0] for cut in cuts})} sessions; "
            f"cozempic {version}; clearing: the oldest results, the last 3 kept, no word left."
        ),
        "",
        (
            "Lost: the share of what later inputs and answers quote of the beginning's tool results (five words in a "
            "row, or a name of 12 characters) that the shortened beginning says nowhere."
        ),
        "",
        "## At equal tokens removed",
        "",
        *_equal(table, cuts),
        "",
        "## Each way by itself",
        "",
        *_alone(table),
        "",
        "## Each beginning: lost by the policy and by each peer, at what the peer removed",
        "",
        *_each(table, cuts),
        "",
    ]


def _pairs(table: Table, cuts: Sequence[Cut], way: str) -> list[tuple[float, float]]:
    """What a peer lost and what the policy loses where as much is removed, for each beginning."""
    found: list[tuple[float, float]] = []
    for cut in cuts:
        curve = table.curve("policy", cut)
        for name, by_cut in table.found.items():
            if (
                name == way or (way == "clearing" and name.startswith("clearing"))
            ) and cut.name in by_cut:
                theirs = by_cut[cut.name]
                ours = at(curve, theirs.removed)
                if ours is not None and theirs.removed > 0:
                    found.append((theirs.lost, ours))
    return found


def _equal(table: Table, cuts: Sequence[Cut]) -> list[str]:
    lines = [
        "| peer | comparisons | lost by the peer, mean | by the policy, mean | policy loses more in |",
        "| --- | --: | --: | --: | --: |",
    ]
    theirs_all: list[float] = []
    ours_all: list[float] = []
    for way in PEERS:
        pairs = _pairs(table, cuts, way)
        if not pairs:
            lines.append(f"| {way} | 0 | | | |")
            continue
        theirs, ours = mean(a for a, _ in pairs), mean(b for _, b in pairs)
        more = sum(b > a + 1e-9 for a, b in pairs)
        theirs_all.append(theirs)
        ours_all.append(ours)
        lines.append(f"| {way} | {len(pairs)} | {theirs:.1%} | {ours:.1%} | {more} |")
    if theirs_all:
        lines += [
            "",
            f"Median peer: {median(theirs_all):.1%} lost; the policy at the same removal: {median(ours_all):.1%}.",
        ]
    return lines


def _alone(table: Table) -> list[str]:
    lines = [
        "| way | removed | lost | specifics kept | changed results it leads back to | CPU, ms | memory, MB |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    for way, by_cut in table.found.items():
        if way.startswith("clearing") and way != "clearing 5":
            continue
        results = list(by_cut.values())
        kept = tuple(sum(r.specifics[n] for r in results) for n in (0, 1))
        back = tuple(sum(r.recoverable[n] for r in results) for n in (0, 1))
        lines.append(
            f"| {way} | {_mean(results, lambda r: r.removed):.0%} | {_mean(results, lambda r: r.lost):.1%} "
            f"| {_share(kept)} | {_share(back)} "
            f"| {median(r.cpu_ms for r in results):.0f} | {max(r.peak_mb for r in results):.0f} |"
        )
    return lines


def _mean(results: Sequence[Shortened], of: Callable[[Shortened], float]) -> float:
    return mean(of(result) for result in results)


def _share(part: Sequence[int]) -> str:
    said, whole = part
    return f"{said / whole:.0%} of {whole:,}" if whole else "none changed"


def _each(table: Table, cuts: Sequence[Cut]) -> list[str]:
    ways = [way for way in PEERS if way != "clearing"]
    lines = [
        f"| beginning | results | used later | {' | '.join(f'{w}: removed, lost, policy' for w in ways)} |",
        f"| --- | --: | --: |{' --: |' * len(ways)}",
    ]
    for cut in cuts:
        curve = table.curve("policy", cut)
        cells: list[str] = []
        for way in ways:
            theirs = table.found[way][cut.name]
            ours = at(curve, theirs.removed)
            ours_words = "beyond its reach" if ours is None else f"{ours:.1%}"
            cells.append(f"{theirs.removed:.0%}, {theirs.lost:.1%}, {ours_words}")
        results = sum(1 for _ in cut.results())
        lines.append(f"| {cut.name} | {results:,} | {len(cut.used):,} | {' | '.join(cells)} |")
    return lines
