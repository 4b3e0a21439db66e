"""What an apply costs: the whole process of the bridge, and where its time goes.

    python -m bench.apply [--sizes 1,5,20] [--runs 9] [--record FILE]

Run from the project's folder. Over generated sessions of these sizes in MB: five queued edits, the
policy's pass at the host's own moment, and a bare interpreter in the same rounds. CPU time is what
a busy machine changes least.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.sessions import session
from tests.support.transcripts import SESSION

from context_editor.core.assemble import OwnFacts
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import Conversation, Piece, PieceForm
from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, fast_loads, open_engine

PROJECT: Final = Path(__file__).resolve().parent.parent
PROGRAM: Final = PROJECT / "bin" / "context-editor"
EDITS: Final = 5
BAR_MS: Final = 400
GLIMPSE_CHARS: Final = 64


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
        megabytes: How large the transcript is meant to be.
        costs: What was measured, by name.
    """

    root: Path
    megabytes: float
    costs: dict[str, list[Cost]] = field(default_factory=dict[str, list[Cost]])
    rows: int = 0
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
        session(self.megabytes).write(self.transcript)
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

    def time(self, name: str, given: dict[str, Any], tokens: int) -> None:
        """Run the bridge once."""
        data = self.root / "data"
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(self.root / "fresh", data)
        presence.say_hello(data, os.getpid(), {"window": tokens, "auto_compact": tokens})
        environment = {
            **os.environ,
            "CLAUDE_PLUGIN_DATA": str(data),
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_PROJECT_DIR": str(self.root),
        }
        about = {"id": SESSION, "transcript": str(self.transcript), "cwd": str(self.root)}
        stdin = json.dumps({"session": about, "rows": self._glimpses, **given}).encode()
        answer, cost = timed([str(PROGRAM), "bridge", "compact"], environment, stdin)
        if not json.loads(answer).get("rows"):
            raise RuntimeError(answer[:500])
        self.costs.setdefault(name, []).append(cost)


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
    for _ in range(runs):
        for ground in grounds:
            bare.append(timed([sys.executable, "-I", "-c", "pass"], dict(os.environ), b"")[1])
            ground.time("apply of 5 edits", {"trigger": "manual", "instructions": "x"}, 200_000)
            tokens = 900 * ground.rows // 4
            ground.time("policy at the host's moment", {"trigger": "auto"}, tokens)
    return bare


def report(grounds: Sequence[Ground], bare: Sequence[Cost], runs: int) -> list[str]:
    """The lines of the report, in markdown."""
    floor = median(cost.cpu for cost in bare)
    lines = [
        "# Apply: the bridge's whole process",
        "",
        (
            f"Medians of {runs} runs; bare `python -I -c pass`: {floor:.0f} ms of CPU. "
            f"The bar at 20 MB is {BAR_MS} ms by the clock on a machine that does nothing else."
        ),
        "",
        "| what | session | rows | clock, ms | CPU, ms | CPU against bare |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for ground in grounds:
        for name, costs in ground.costs.items():
            cpu = median(cost.cpu for cost in costs)
            wall = median(cost.wall for cost in costs)
            ratio = cpu / max(floor, 0.1)
            cells = (name, f"{ground.size:.0f} MB", f"{ground.rows:,}")
            lines.append(f"| {' | '.join(cells)} | {wall:.0f} | {cpu:.0f} | {ratio:.1f} x |")
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


def _work(options: argparse.Namespace) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        grounds = [Ground(Path(folder) / size, float(size)) for size in options.sizes.split(",")]
        for ground in grounds:
            ground.root.mkdir()
            ground.lay()
        return report(grounds, measured(grounds, options.runs), options.runs)


if __name__ == "__main__":
    sys.exit(run_bench(__doc__ or "", _work, "1,5,20"))
