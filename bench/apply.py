"""What an apply costs: the whole process of the bridge, and where its time goes.

    python -m bench.apply [--sizes 1,5,20,2/20,9/20] [--runs 9] [--record FILE]

Run from the project's folder. Over generated sessions of these sizes in MB, all of their rows live, or
2 or 9 of 20 MB, as where a context of 200,000 or a million tokens was filled again and again:
five queued edits, the policy's pass at the host's own moment, from where the host compacts down to
the policy's target, and a bare interpreter in the same rounds. With the server of the session
running, as in the host, which has read it; and without one. CPU time is that of the bridge and the
server together; it is what a busy machine changes least.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.sessions import session
from tests.support.transcripts import SESSION

from context_editor.core.assemble import OwnFacts
from context_editor.core.conversation import Conversation
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import Piece, PieceForm
from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, fast_loads, open_engine

PROJECT: Final = Path(__file__).resolve().parent.parent
PROGRAM: Final = PROJECT / "bin" / "context-editor"
EDITS: Final = 5
BAR_MS: Final = 400
GLIMPSE_CHARS: Final = 64

EDITS_DUE: Final = {"trigger": "manual", "instructions": "x"}
CASES: Final[Mapping[str, Mapping[str, str]]] = {
    f"apply of {EDITS} edits": EDITS_DUE,
    "policy at the host's moment": {"trigger": "auto"},
}
"""What the mod asks, by the name in the table."""

ALONE_RUNS: Final = 3
"""A bridge that reads a long session itself takes seconds: so many runs show that."""


@dataclass(frozen=True)
class Cost:
    """What one process took, in milliseconds.

    Attributes:
        wall: By the clock.
        cpu: Of the processor, user and system.
    """

    wall: float
    cpu: float


@dataclass
class Ground:
    """One generated session, with what the product keeps of it.

    Attributes:
        root: A folder of its own.
        megabytes: How large the live part of the transcript is meant to be.
        shed_megabytes: How much stands in front of it, shed by a compaction.
        costs: What was measured, by name.
    """

    root: Path
    megabytes: float
    shed_megabytes: float = 0
    costs: dict[str, list[Cost]] = field(default_factory=dict[str, list[Cost]])
    rows: int = 0
    tokens: int = 0
    server: subprocess.Popen[bytes] | None = None
    _glimpses: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def transcript(self) -> Path:
        """The session's file."""
        return self.root / f"{SESSION}.jsonl"

    @property
    def size(self) -> float:
        """How large the file came out, in MB."""
        return self.transcript.stat().st_size / 1e6

    def lay(self) -> None:
        """Write the session and queue the edits; a copy of the data folder is what every round begins with."""
        shed = session(self.shed_megabytes) if self.shed_megabytes else None
        session(self.megabytes, before=shed).write(self.transcript)
        conversation = conversation_of(self.transcript)
        self.rows = len(conversation.rows)
        self._glimpses = glimpses(conversation)
        engine = open_engine(
            SessionRef(SESSION, self.transcript), Opened(self.root / "fresh", fast_loads())
        )
        calls = [row.anchor.removeprefix("t:") for row in conversation.rows if row.call is not None]
        targets = calls[len(calls) // 2 :: len(calls) // (2 * EDITS) or 1][:EDITS]
        requests = [
            EditRequest("summarize", Target(tool_use_id=name), text="It printed what was expected.")
            for name in targets
        ]
        engine.edit(EditCall(tuple(requests)))
        self.tokens = engine.view(engine.folder.read()).sizes.total_tokens

    def serve(self) -> None:
        """Start the server of this session, and have it read the session."""
        self.server = subprocess.Popen(
            [sys.executable, "-m", "context_editor.server"],
            env=self._environment(is_alone=False),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        door = self.data / "hosts" / f"{os.getpid()}.sock"
        while not door.exists():
            time.sleep(0.05)
        self.time("read", EDITS_DUE, is_alone=False)
        self.costs.clear()

    @property
    def data(self) -> Path:
        """Where the product keeps its files."""
        return self.root / "data"

    def _environment(self, *, is_alone: bool) -> dict[str, str]:
        """What the mod's child finds in its environment; one of another host process has no server."""
        return {
            **os.environ,
            "CLAUDE_PLUGIN_DATA": str(self.data),
            "CLAUDE_PID": str(os.getpid() + is_alone),
            "CLAUDE_PROJECT_DIR": str(self.root),
        }

    def time(self, name: str, given: Mapping[str, Any], *, is_alone: bool) -> None:
        """Run the bridge once, over the state that every round begins with."""
        self._begin_anew()
        about = {"window": self.tokens, "auto_compact": self.tokens}
        presence.say_hello(self.data, os.getpid() + is_alone, about)
        session = {"id": SESSION, "transcript": str(self.transcript), "cwd": str(self.root)}
        stdin = json.dumps({"session": session, "rows": self._glimpses, **given}).encode()
        environment = self._environment(is_alone=is_alone)
        before = self._server_cpu_ms()
        answer, cost = timed([str(PROGRAM), "bridge", "compact"], environment, stdin)
        if not json.loads(answer).get("rows"):
            raise RuntimeError(answer[:500])
        whole = Cost(cost.wall, cost.cpu + self._server_cpu_ms() - before)
        self.costs.setdefault(name, []).append(whole)

    def _begin_anew(self) -> None:
        """Put the queue back; what a round archived is only moved away: ext4 makes files slowly behind a deletion."""
        sessions = self.data / "sessions"
        if sessions.exists():
            sessions.rename(Path(tempfile.mkdtemp(dir=self.root)) / "sessions")
        shutil.copytree(self.root / "fresh" / "sessions", sessions)

    def _server_cpu_ms(self) -> float:
        """What the server took so far, in milliseconds of CPU."""
        if self.server is None:
            return 0.0
        ticks = Path(f"/proc/{self.server.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return 1_000 * (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def conversation_of(transcript: Path) -> Conversation:
    """The conversation in a file."""
    own = OwnFacts("mcp__plugin_context-editor_editor__")
    return ClaudeSession(transcript, fast_loads()).read(own).conversation


def glimpses(conversation: Conversation) -> list[dict[str, Any]]:
    """The rows as the mod hands them over: one a stored row, small."""
    stored: dict[str, list[Piece]] = {}
    for piece in conversation.pieces:
        if not piece.rides:
            stored.setdefault(piece.handle, []).append(piece)
    return [_glimpse(handle, pieces) for handle, pieces in stored.items()]


def _glimpse(handle: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    spoken = {PieceForm.TEXT, PieceForm.PROMPT}
    words = "".join(piece.text for piece in pieces if piece.form in spoken)
    return {
        "handle": handle,
        "role": pieces[0].role,
        "length": len(words),
        "head": words[:GLIMPSE_CHARS],
        "calls": [piece.call.id for piece in pieces if piece.call],
        "results": [piece.call_id for piece in pieces if piece.form is PieceForm.RESULT],
    }


def timed(command: Sequence[str], environment: dict[str, str], stdin: bytes) -> tuple[bytes, Cost]:
    """What a process answers, and what it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, input=stdin, env=environment, capture_output=True, check=True)
    wall = 1_000 * (time.perf_counter() - begun)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return done.stdout, Cost(wall, 1_000 * cpu)


def measured(grounds: Sequence[Ground], runs: int) -> list[Cost]:
    """Round by round: a bare interpreter, then each case over each session."""
    bare: list[Cost] = []
    for number in range(runs):
        for ground in grounds:
            bare.append(timed([sys.executable, "-I", "-c", "pass"], dict(os.environ), b"")[1])
            for name, given in CASES.items():
                ground.time(name, given, is_alone=False)
                if number < ALONE_RUNS:
                    ground.time(f"{name}, without a server", given, is_alone=True)
    return bare


def report(grounds: Sequence[Ground], bare: Sequence[Cost], runs: int) -> list[str]:
    """The lines of the report, in markdown."""
    floor, pause = median(cost.cpu for cost in bare), median(cost.wall for cost in bare)
    lines = [
        "# Apply: the bridge's whole process",
        "",
        (
            f"Medians of {runs} runs ({ALONE_RUNS} without a server); bare `python -I -c pass`: "
            f"{pause:.0f} ms, {floor:.0f} ms of CPU. "
            f"The bar at 20 MB is {BAR_MS} ms by the clock on a machine that does nothing else."
        ),
        "",
        "| what | session | rows | clock, ms | clock against bare | CPU, ms |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for ground in grounds:
        for name, costs in ground.costs.items():
            cpu = median(cost.cpu for cost in costs)
            wall = median(cost.wall for cost in costs)
            live = f", {ground.megabytes:g} of it live" if ground.shed_megabytes else ""
            cells = (name, f"{ground.size:.0f} MB{live}", f"{ground.rows:,}")
            lines.append(f"| {' | '.join(cells)} | {wall:.0f} | {wall / pause:.1f} x | {cpu:.0f} |")
    return [*lines, ""]


def run_bench(about: str, work: Callable[[argparse.Namespace], list[str]], sizes: str) -> int:
    """Parse the options that these benchmarks share, measure, print, and record where asked."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default=sizes, help="sizes in MB, with commas")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--record", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    lines = work(options)
    print("\n".join(lines))
    if options.record:
        options.record.write_text("\n".join(lines), "utf-8")
    return 0


def _ground(folder: Path, size: str) -> Ground:
    """A session of this size; `2/20` for 20 MB of which 2 are live."""
    live, _, whole = size.partition("/")
    shed = float(whole) - float(live) if whole else 0
    return Ground(folder / size.replace("/", "_"), float(live), shed)


def _work(options: argparse.Namespace) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        grounds = [_ground(Path(folder), size) for size in options.sizes.split(",")]
        for ground in grounds:
            ground.root.mkdir()
            ground.lay()
            ground.serve()
        bare = measured(grounds, options.runs)
        for ground in grounds:
            if ground.server is not None:
                ground.server.communicate()
        return report(grounds, bare, options.runs)


if __name__ == "__main__":
    sys.exit(run_bench(__doc__ or "", _work, "1,5,20,2/20,9/20"))
