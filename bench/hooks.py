"""What each command hook costs: its whole process, as a ratio to a bare interpreter in the same run.

    python -m bench.hooks [--sizes 1,5,20,50] [--runs 15] [--record FILE]

Run from the project's folder. Prints a markdown table of medians over generated sessions of these
sizes in MB. Every round runs the bare interpreter and then each hook once, so that a busy machine
weighs on both.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.support.transcripts import SESSION, Transcript, call, long_session, text

from context_editor.core.marker import MARKER
from context_editor.core.notes import NoteOp
from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, fast_loads, open_engine

PROJECT: Final = Path(__file__).resolve().parent.parent
PROGRAM: Final = PROJECT / "bin" / "context-editor"

TURN_MB: Final = 0.0546
"""About what one turn of a generated session takes in its file."""

WINDOW: Final = 200_000
OWN: Final = "mcp__plugin_context-editor_editor__context_list"


@dataclass(frozen=True)
class Case:
    """One hook in one situation.

    Attributes:
        name: What the table calls it.
        event: The hook's name on the command line.
        given: What the host says beside session and transcript.
        is_loud: Whether somebody has to look at the session.
        is_alone: Whether no server runs that could look, so that the hook reads the session itself.
        bar: The most that the design allows, in words.
    """

    name: str
    event: str
    given: Mapping[str, Any]
    is_loud: bool = False
    is_alone: bool = False
    bar: str = ""


QUIET_BAR: Final = "3 x"
LOUD_BAR: Final = "8 x or bare + 70 ms"
USED: Final = {
    "tool_name": "Bash",
    "tool_use_id": "t",
    "tool_input": {"command": "make"},
    "tool_response": {"stdout": "ok" * 400},
}
PROMPT: Final = {"prompt": "go"}
MARKED: Final = {"last_assistant_message": f"Done.\n{MARKER}"}

CASES: Final = (
    Case("PostToolUse", "post-tool-use", USED, bar=QUIET_BAR),
    Case("PreToolUse, our own tool", "pre-tool-use", {"tool_name": OWN}, bar=QUIET_BAR),
    Case("UserPromptSubmit, nothing to say", "prompt-submit", PROMPT, bar=LOUD_BAR),
    Case("UserPromptSubmit, a note waits", "prompt-submit", PROMPT, is_loud=True, bar=LOUD_BAR),
    Case("the same without a server", "prompt-submit", PROMPT, is_loud=True, is_alone=True),
    Case("Stop, no marker", "stop", {"last_assistant_message": "Done."}, bar=LOUD_BAR),
    Case("Stop, marker", "stop", MARKED, is_loud=True, bar=LOUD_BAR),
    Case("the same, without a server", "stop", MARKED, is_loud=True, is_alone=True),
)

ALONE_RUNS: Final = 5
"""A hook that reads a long session itself takes seconds: so many runs show that."""


@dataclass
class Ground:
    """One generated session on disk.

    Attributes:
        root: A folder of its own.
        megabytes: How large the transcript is meant to be.
    """

    root: Path
    megabytes: float
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def transcript(self) -> Path:
        """The session's file."""
        return self.root / f"{SESSION}.jsonl"

    def environment(self, *, is_alone: bool = False) -> dict[str, str]:
        """What the host's child finds in its environment; a process that is not ours has no server."""
        return {
            **os.environ,
            "CLAUDE_PLUGIN_DATA": str(self.root / "data"),
            "CLAUDE_PID": str(os.getpid() + is_alone),
        }

    def lay(self) -> None:
        """Write the session, and bring the product's own files to where they are in the middle of one."""
        session = long_session(max(1, round(self.megabytes / TURN_MB)))
        finished(session).write(self.transcript)
        presence.say_hello(self.root / "data", os.getpid(), {"window": WINDOW})
        engine = open_engine(
            SessionRef(SESSION, self.transcript), Opened(self.root / "data", fast_loads())
        )
        engine.note([NoteOp("add", text="look at the clock", remind_in_turns=1_000_000)])
        engine.folder.set_next_mark(10**9)

    def serve(self) -> subprocess.Popen[bytes]:
        """The server of this session, once it listens and has read it."""
        server = subprocess.Popen(
            [sys.executable, "-m", "context_editor.server"],
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        while not list((self.root / "data" / "hosts").glob("*.sock")):
            time.sleep(0.05)
        for case in CASES:
            if case.is_loud and not case.is_alone:
                self.time(case)
        self.times.clear()
        return server

    def time(self, case: Case) -> None:
        """Run one hook once, in a fresh state of its situation."""
        tell = self.root / "data" / "sessions" / SESSION / "tell"
        if case.is_loud:
            tell.touch()
        else:
            tell.unlink(missing_ok=True)
        said = {"session_id": SESSION, "transcript_path": str(self.transcript), **case.given}
        environment = self.environment(is_alone=case.is_alone)
        took = timed([str(PROGRAM), "hook", case.event], environment, json.dumps(said).encode())
        self.times.setdefault(case.name, []).append(took)


def finished(session: Transcript) -> Transcript:
    """The session with one more turn, which ends."""
    session.prompt("one more")
    session.answer(call("Bash", "toolu_last", command="make"))
    session.result("toolu_last", "ok")
    session.answer(text("Done."))
    return session


def timed(command: Sequence[str], environment: Mapping[str, str], stdin: bytes) -> float:
    """How long a process takes, in milliseconds."""
    begun = time.perf_counter()
    done = subprocess.run(command, input=stdin, env=environment, capture_output=True, check=True)
    took = 1_000 * (time.perf_counter() - begun)
    if b"failed" in done.stdout:
        raise RuntimeError(done.stdout)
    return took


def measured(grounds: Sequence[Ground], runs: int) -> list[float]:
    """Time every hook over every session, round by round; the bare interpreter's times."""
    bare: list[float] = []
    for number in range(runs):
        for ground in grounds:
            bare.append(timed([sys.executable, "-I", "-c", "pass"], ground.environment(), b""))
            for case in CASES:
                if not case.is_alone or number < ALONE_RUNS:
                    ground.time(case)
    return bare


def report(grounds: Sequence[Ground], bare: Sequence[float], runs: int) -> list[str]:
    """The lines of the report, in markdown."""
    floor = median(bare)
    sizes = [f"{ground.transcript.stat().st_size / 1e6:.0f} MB" for ground in grounds]
    lines = [
        "# Hooks: whole processes against a bare interpreter",
        "",
        f"Medians of {runs} runs ({ALONE_RUNS} without a server), ratio (ms); bare: {floor:.1f} ms.",
        "",
        f"| hook | bar | {' | '.join(sizes)} |",
        f"| --- | --- |{' --: |' * len(sizes)}",
    ]
    for case in CASES:
        cells = [
            f"{median(g.times[case.name]) / floor:.1f} x ({median(g.times[case.name]):.0f})"
            for g in grounds
        ]
        lines.append(f"| {case.name} | {case.bar} | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> int:
    """Measure, print, and record where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default="1,5,20,50", help="sizes in MB, with commas")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--record", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        grounds = [Ground(Path(folder) / size, float(size)) for size in options.sizes.split(",")]
        for ground in grounds:
            ground.root.mkdir()
            ground.lay()
        servers = [ground.serve() for ground in grounds]
        bare = measured(grounds, options.runs)
        for server in servers:
            server.communicate()
        lines = report(grounds, bare, options.runs)
    print("\n".join(lines))
    if options.record:
        options.record.write_text("\n".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
