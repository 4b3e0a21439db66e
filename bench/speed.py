"""What a warm server costs: a call, its memory, and the time from its start to the first answer.

    python -m bench.speed [--sizes 1,20,50] [--runs 15] [--record FILE]

Run from the project's folder. Calls go through the server's own desk, over generated sessions of
these sizes in MB; before each call a finished exchange is added to the file, as in a real session.
Memory is that of a process that answered calls over a session, taken from the kernel.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
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


def memory_mb(megabytes: float) -> tuple[float, float]:
    """Memory of a fresh process over a session: at its end, and at its most, in MB."""
    code = (
        "import sys; from bench.speed import Ground, CALLS; from pathlib import Path\n"
        "import tempfile\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    ground = Ground.__new__(Ground)\n"
        "    import bench.speed as s; s.attach(ground, Path(sys.argv[1]), Path(folder))\n"
        "    [ground.ask(name) for name in CALLS for _ in range(3)]\n"
        "print(open('/proc/self/status').read())\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{SESSION}.jsonl"
        session(megabytes).write(path)
        environment = {**os.environ, "PYTHONPATH": f"{PROJECT}:{PROJECT / 'src'}"}
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        )
    held = dict(line.split(":\t", 1) for line in done.stdout.splitlines() if ":\t" in line)
    return tuple(float(held[key].split()[0]) / 1_000 for key in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def attach(ground: Ground, path: Path, root: Path) -> None:
    """Make a ground over a file that stands, without holding what generated it."""
    *_, last = path.read_bytes().rstrip().rsplit(b"\n", 1)
    row: dict[str, Any] = json.loads(last)
    ground.root, ground.path, ground.calls = root, path, 0
    ground.size = path.stat().st_size / 1e6
    ground.whole = Transcript(leaf=row["uuid"], _uuids=10**7)
    presence.say_hello(root / "data", os.getpid(), {"window": 200_000})
    ground.desk = Desk(Sessions(root / "data"))


def first_answer_ms(root: Path, path: Path) -> float:
    """From the server's start to its answer to a first listing, in milliseconds."""
    host = {"session_id": SESSION, "transcript_path": str(path)}
    messages = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "context_list", "arguments": {"count": 40, "_host": host}},
        },
    ]
    environment = {**os.environ, "CLAUDE_PLUGIN_DATA": str(root / "data")}
    begun = time.perf_counter()
    with subprocess.Popen(
        [str(PROGRAM), "serve"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answer: dict[str, Any] = {}
        while answer.get("id") != messages[-1]["id"]:
            answer = json.loads(server.stdout.readline())
        took = 1_000 * (time.perf_counter() - begun)
        server.stdin.close()
    if answer["result"].get("isError"):
        raise RuntimeError(answer)
    return took


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
        begun = [
            median(first_answer_ms(g.root, g.path) for _ in range(min(options.runs, 5)))
            for g in grounds
        ]
    held = [memory_mb(size) for size in sizes]
    for title, cells in (
        ("start to first listing, ms", [f"{took:.0f}" for took in begun]),
        ("memory after these calls, MB", [f"{now:.0f}" for now, _ in held]),
        ("memory at its most, MB", [f"{most:.0f}" for _, most in held]),
    ):
        lines.append(f"| {title} | {' | '.join(cells)} |")
    head = ["# Speed: the warm server", "", f"Medians of {options.runs} runs. {BARS}", ""]
    return [*head, "Calls in milliseconds of CPU, starts by the clock.", "", *lines, ""]


if __name__ == "__main__":
    sys.exit(run_bench(__doc__ or "", _work, "1,20,50"))
