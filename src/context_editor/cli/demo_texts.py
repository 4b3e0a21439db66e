"""What the demo's files, searches and runs print: made up, always the same, of real size."""

from collections.abc import Sequence
from typing import Final

FIELDS: Final = ("state", "carrier", "route", "eta", "weight", "depot", "customs", "recipient")
VERBS: Final = ("load", "merge", "check", "expire", "publish", "normalise", "reroute", "audit")

FUNCTION: Final = '''

def {verb}_{field}_{number}(parcel, *, now, dry_run=False):
    """The {field} of a parcel after {verb}; None when the carrier sent nothing newer."""
    known = rows('{field}', parcel.id, newest=True)
    if known and now - known.at < {age_s}:
        log.debug('%s: {field} is younger than {age_s} s, kept', parcel.id)
        return known.value
    value = parcel.carrier.ask('{field}', since=known.at if known else 0)
    if not dry_run:
        write('{field}', parcel.id, value, at=now)
    return value'''

FRAME: Final = """\
  File "tracker/{field}.py", line {line}, in {verb}_{field}_{number}
    value = parcel.carrier.ask('{field}', since=known.at if known else 0)"""

LOGGED: Final = (
    "2026-11-29T09:{minute:02d}:{second:02d}Z worker-{worker} INFO parcel=PX{parcel} "
    "{verb} {field} took {took_ms} ms"
)

EVENT: Final = """\
## {number}. Event `{field}.{verb}`

Sent when the {field} of a parcel changes. The body holds `parcel_id`, `occurred_at` (UTC) and
`{field}`. Events may arrive out of order: compare `occurred_at`, never the time of arrival. A
receiver answers 2xx within {wait_s} seconds, else the event is sent again with growing pauses."""


def _words(number: int) -> dict[str, str]:
    return {"field": FIELDS[number % len(FIELDS)], "verb": VERBS[number % len(VERBS)]}


def module(name: str, functions: int) -> str:
    """A Python module, numbered as a Read shows it."""
    head = f'"""{name}: what the tracker knows of one part of a way."""\n\nimport logging\n'
    names = [{**_words(n), "field": FIELDS[(3 * n + len(name)) % 8]} for n in range(functions)]
    parts = (FUNCTION.format(number=n, age_s=60 * (n + 1), **name) for n, name in enumerate(names))
    lines = (head + "\n".join(parts)).splitlines()
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=1))


def hits(pattern: str, files: int, each: int) -> str:
    """What a search prints."""
    return "\n".join(
        f"tracker/{FIELDS[n % 8]}_{n}.py:{17 * m + n}:    {pattern}(parcel, now=clock.now())"
        for n in range(files)
        for m in range(each)
    )


def run_of_tests(passed: int, failed: Sequence[str]) -> str:
    """What a test run prints."""
    done = "\n".join(
        f"tests/test_{FIELDS[n % 8]}.py::test_{VERBS[n % 8]}_{n} PASSED [{n:3d}]"
        for n in range(passed)
    )
    frames = "\n".join(FRAME.format(line=40 + 11 * n, number=n, **_words(n)) for n in range(8))
    broken = "\n\n".join(f"_____ {name} _____\n{frames}\nE   AssertionError" for name in failed)
    return f"{done}\n{broken}\n=== {passed} passed, {len(failed)} failed in 41.27s ==="


def log(lines: int) -> str:
    """A service's log."""
    return "\n".join(
        LOGGED.format(
            minute=n // 60,
            second=n % 60,
            worker=n % 4,
            parcel=730_000 + 37 * n,
            took_ms=7 + n % 90,
            **_words(n),
        )
        for n in range(lines)
    )


def handbook(sections: int) -> str:
    """A carrier's documentation, as a fetched page."""
    return "\n\n".join(
        EVENT.format(number=n + 1, wait_s=n % 7 + 3, **_words(n)) for n in range(sections)
    )
