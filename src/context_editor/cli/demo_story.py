"""The demo's session: four pieces of work on a parcel tracker, about eighty rows."""

from collections.abc import Sequence
from typing import Any, Final

from context_editor.cli import demo_texts as texts
from context_editor.cli.demo_session import Made, Script

CWD: Final = "/home/dev/parcel-tracker"
"""The folder that the session is said to work in."""

UPDATED: Final = "The file has been updated."


def demo_session(session: str) -> Script:
    """Two pieces of work that are finished, one dead end, and one that has just begun."""
    script = Script(session, CWD)
    _search(script)
    _repair(script)
    _dead_end(script)
    _next_work(script)
    return script


def _read(name: str, functions: int) -> Made:
    return "Read", {"file_path": f"{CWD}/tracker/{name}.py"}, texts.module(name, functions)


def _grep(pattern: str, path: str, files: int) -> Made:
    return "Grep", {"pattern": pattern, "path": path}, texts.hits(pattern, files, 4)


def _bash(command: str, printed: str) -> Made:
    return "Bash", {"command": command}, printed


def _edit(name: str, old: str, new: str) -> Made:
    given: dict[str, Any] = {"file_path": f"{CWD}/{name}", "old_string": old, "new_string": new}
    return "Edit", given, UPDATED


def _tests(command: str, passed: int, failed: Sequence[str] = ()) -> Made:
    return _bash(command, texts.run_of_tests(passed, failed))


def _search(script: Script) -> None:
    script.person("The tracking page shows stale states for rerouted parcels. Find out why.")
    script.host("environment", f"# Environment\nPrimary working directory: {CWD}\nPlatform: linux")
    script.host("skill_listing", "\n".join(f"- skill-{n}: does one thing well" for n in range(40)))
    script.does("I look where the state is read.", _grep("check_state", "tracker", 14))
    script.does("", _read("state", 26), _read("route", 24), _read("carrier", 22))
    script.does(
        "The route is asked for before the state.",
        _tests("pytest -q tests/test_route.py", 90, ["test_rerouted_state"]),
    )
    for name in ("depot", "eta", "customs"):
        script.does(f"Next: {name}.", _read(name, 18))
        script.says(f"{name}.py keeps its value as state.py does, by the carrier's clock.")
    script.does("What does the service say?", _bash("journalctl -u tracker", texts.log(180)))
    script.does("", _grep("expire_state", "tracker", 12), _bash("git log --oneline", texts.log(20)))
    script.says(
        "Found: state.py line 18 takes the age from our own clock, so that a reroute within a "
        "minute is kept back."
    )


def _repair(script: Script) -> None:
    script.person("Good. Fix it with a test, and do not touch the carrier module.")
    script.does("", _read("state", 26), _read("clock", 12))
    script.does(
        "The age now comes from the event.",
        _edit("tracker/state.py", "now - known.at", "event.at - known.at"),
    )
    script.does("", _edit("tests/test_state.py", "", "def test_reroute_is_shown(): ..."))
    for number, failed in enumerate((["test_reroute_is_shown"], ["test_old_event"], [])):
        script.does(f"Run {number + 1}.", _tests("pytest -q", 120, failed))
        script.says("One is left: events come out of order." if failed else "All pass.")
        script.does("", _edit("tracker/state.py", f"# step {number}", f"# step {number + 1}"))
    script.does("", _bash("ruff check . && mypy .", "Success: no issues found in 48 source files"))
    script.does("", _bash("git commit -qam 'Take the age from the event'", "[main 3f2c1aa]"))
    script.says("Fixed in 3f2c1aa: state.py takes the age from the event; a test holds it.")


def _dead_end(script: Script) -> None:
    script.person("Can we get the states pushed instead of asking for them?")
    page = {"url": "https://carrier.example/docs/events", "prompt": "events"}
    script.does("I read what the carrier offers.", ("WebFetch", page, texts.handbook(34)))
    for name in ("webhook", "queue", "retry"):
        script.does(f"I try it with {name}.", _read(name, 14))
        script.does("", _bash(f"python -m tracker.try_{name}", texts.log(60)))
        script.says(f"{name}: answered 403, this contract has no pushed events.")
    script.says("Not with this contract: pushed events need the carrier's business plan.")
    script.does("I take it out again.", _bash("git checkout tracker && git status", "clean"))


def _next_work(script: Script) -> None:
    script.person("Then leave it. The nightly import takes an hour now: where does the time go?")
    script.does("I profile it.", _bash("python -m cProfile -m tracker.nightly", texts.log(90)))
    script.does("", _read("nightly", 20), _grep("rows", "tracker", 10))
    script.says("Most of it is rows(newest=True), called for each parcel and field.")
