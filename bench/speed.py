"""What a warm server costs: a call, its memory, and the time from its start to the first answer.

    python -m bench.speed [--sizes 1,20,50] [--runs 15] [--record FILE]

Run from the project's folder. Calls go through the server's own desk, over generated sessions of
these sizes in MB; before each call a finished exchange is added to the file, as in a real session.
Memory and starts are those of servers started as the host does, memory as the kernel tells it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.apply import run_bench
from bench.sessions import output, session
from tests.support.transcripts import SESSION, Transcript, call

from context_editor.hosts.claude_code import presence
from context_editor.server.calls import Desk
from context_editor.server.sessions import Sessions

PROJECT: Final = Path(__file__).resolve().parent.parent
PROGRAM: Final = PROJECT / "bin" / "context-editor"
OWN: Final = "mcp__plugin_context-editor_editor__"

CALLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "context_list, 40 rows": {"count": 40},
    "context_list, header": {"count": 0},
    "context_list, review": {"count": 0, "review": True},
    "context_note": {"notes": [{"op": "list"}]},
    "context_tag": {"tags": [{"op": "open", "stage": "measuring"}]},
    "context_edit": {"edits": [{"op": "summarize", "text": "It printed what was expected."}]},
}
"""What is asked, by the name in the table; the first word is the tool."""

LIVES: Final[Mapping[str, Callable[["Life"], float]]] = {
    "start to first answer, ms": lambda one: one.answer_ms,
    "start to first listing, ms": lambda one: one.listing_ms,
    "memory after these calls, MB": lambda one: one.memory_mb,
    "memory at its most, MB": lambda one: one.most_mb,
}
"""What is told of a server's life, by the name in the table."""

BARS: Final = (
    "Bars: a call over 20 MB 30 ms, memory at 50 MB 200 MB, start to first answer 1,000 ms."
)


class Ground:
    """One generated session that grows, and a server over it."""

    def __init__(self, root: Path, megabytes: float) -> None:
        self.root = root
        self.path = root / f"{SESSION}.jsonl"
        self.whole = session(megabytes)
        self.whole.write(self.path)
        self.size = self.path.stat().st_size / 1e6
        self.calls = 0
        presence.say_hello(root / "data", os.getpid(), {"window": 200_000})
        self.desk = Desk(Sessions(root / "data"))

    def _added(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """One finished exchange and the call that is asked now, at the end of the file."""
        self.calls += 1
        grown = Transcript(leaf=self.whole.leaf, _uuids=self.whole._uuids)  # noqa: SLF001
        grown._responses = 10**6 + 10 * self.calls  # noqa: SLF001
        done, now = f"toolu_done{self.calls}", f"toolu_now{self.calls}"
        grown.answer(call("Bash", done, command=f"make {self.calls}"))
        grown.result(done, output(10**5 + self.calls))
        grown.answer(call(f"{OWN}{tool}", now, **arguments))
        with self.path.open("ab") as file:
            file.write(grown.bytes())
        self.whole.leaf, self.whole._uuids = grown.leaf, grown._uuids  # noqa: SLF001
        return done, now

    def ask(self, name: str) -> float:
        """One call, in milliseconds of CPU: a busy machine changes them least."""
        tool = name.split(",", 1)[0]
        arguments = json.loads(json.dumps(CALLS[name]))
        done, now = self._added(tool, arguments)
        for edit in arguments.get("edits", ()):
            edit["tool_use_id"] = done
        host = {"session_id": SESSION, "transcript_path": str(self.path), "tool_use_id": now}
        begun = time.process_time()
        answer = self.desk.answer(tool, {**arguments, "_host": host})
        took = 1_000 * (time.process_time() - begun)
        if answer.is_refusal:
            raise RuntimeError(answer.text)
        return took


class Server:
    """The server as the host starts it, asked over its standard input and output."""

    def __init__(self, data: Path) -> None:
        self.begun = time.perf_counter()
        self._process = subprocess.Popen(
            [str(PROGRAM), "serve"],
            env={**os.environ, "CLAUDE_PLUGIN_DATA": str(data)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._ids = 0

    def asked(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        self._ids += 1
        self._say({"id": self._ids, "method": method, "params": params})
        if self._process.stdout is None:
            raise RuntimeError
        answer: dict[str, Any] = {}
        while answer.get("id") != self._ids:
            answer = json.loads(self._process.stdout.readline())
        result: dict[str, Any] = answer["result"]
        if result.get("isError"):
            raise RuntimeError(answer)
        return result

    def _say(self, message: Mapping[str, Any]) -> None:
        if self._process.stdin is None:
            raise RuntimeError
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def greeted(self) -> float:
        """Open the conversation; how long it is since the start, in milliseconds."""
        client = {"clientInfo": {"name": "bench", "version": "1"}, "capabilities": {}}
        self.asked("initialize", {"protocolVersion": "2025-06-18", **client})
        took = self.milliseconds()
        self._say({"method": "notifications/initialized"})
        return took

    def calls(self, tool: str, path: Path, arguments: Mapping[str, Any]) -> None:
        """One call of a tool, over the session in this file."""
        host = {"session_id": SESSION, "transcript_path": str(path)}
        self.asked("tools/call", {"name": tool, "arguments": {**arguments, "_host": host}})

    def milliseconds(self) -> float:
        """Since the start."""
        return 1_000 * (time.perf_counter() - self.begun)

    def memory_mb(self) -> tuple[float, float]:
        """What it holds now, and what it held at its most, in MB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
        held = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        now, most = (float(held[key].split()[0]) / 1_000 for key in ("VmRSS", "VmHWM"))
        return now, most

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@dataclass(frozen=True)
class Life:
    """What a server took over one session.

    Attributes:
        answer_ms: From its start to its first answer.
        listing_ms: From its start to its first listing of the session.
        memory_mb: What it holds after a call of each kind.
        most_mb: What it held at its most.
    """

    answer_ms: float
    listing_ms: float
    memory_mb: float
    most_mb: float


def life(root: Path, path: Path) -> Life:
    """Start a server, have it list a session, and answer a call of each kind that changes nothing."""
    server = Server(root / "data")
    answered = server.greeted()
    server.calls("context_list", path, {"count": 40})
    listed = server.milliseconds()
    for name, arguments in CALLS.items():
        if not {"edits", "tags"} & set(arguments):
            server.calls(name.split(",", 1)[0], path, arguments)
    now, most = server.memory_mb()
    server.close()
    return Life(answered, listed, now, most)


def table(grounds: Sequence[Ground], runs: int) -> list[str]:
    """Medians of each call, by session."""
    for ground in grounds:
        ground.ask("context_list, header")
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(runs):
        for number, ground in enumerate(grounds):
            for name in CALLS:
                times.setdefault((name, number), []).append(ground.ask(name))
    heads = " | ".join(f"{ground.size:.0f} MB, ms" for ground in grounds)
    lines = [f"| call | {heads} |", f"| --- |{' --: |' * len(grounds)}"]
    for name in CALLS:
        cells = [f"{median(times[name, number]):.0f}" for number in range(len(grounds))]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _work(options: argparse.Namespace) -> list[str]:
    sizes = [float(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder) / str(size) for size in sizes]
        for root in roots:
            root.mkdir()
        grounds = [Ground(root, size) for root, size in zip(roots, sizes, strict=True)]
        lines = table(grounds, options.runs)
        lives = [[life(g.root, g.path) for _ in range(min(options.runs, 5))] for g in grounds]
    for title, measure in LIVES.items():
        cells = [f"{median(map(measure, of_one)):.0f}" for of_one in lives]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    head = ["# Speed: the warm server", "", f"Medians of {options.runs} runs. {BARS}", ""]
    return [*head, "Calls in milliseconds of CPU, starts by the clock.", "", *lines, ""]


if __name__ == "__main__":
    sys.exit(run_bench(__doc__ or "", _work, "1,20,50"))
