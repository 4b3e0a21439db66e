"""What is lost when a session is shortened: the retention policy against other ways, in one run.

    python -m bench.retention [--corpus FOLDER] [--record FILE]

Run from the project's folder. Real sessions are read from `--corpus` (without it only generated ones
are used). Each is cut at 40, 60 and 80 %; its beginning is shortened, and what its rest quotes of the
beginning's tool results must still stand there. The peer, cozempic, is installed anew from PyPI into a
throw-away environment and runs in a home of its own, since its first run changes the host's settings.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.apply import PROGRAM, glimpses
from bench.replay import Cut, View, conversation_of, cuts_of, view_of
from bench.retention_report import Shortened, Table, report
from bench.sessions import session
from tests.support.transcripts import SESSION

from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, fast_loads, open_engine

SHARES: Final = (0.4, 0.6, 0.8)
TARGETS: Final = (0.6, 0.5, 0.4, 0.3, 0.2)
"""What the policy is asked to come down to: together they make a curve of removed against lost."""

LIGHT_TARGETS: Final = (0.95, 0.9, 0.8, 0.7)
"""Further points, for peers that remove little."""

PEER: Final = "cozempic"
PRESCRIPTIONS: Final = ("gentle", "standard", "aggressive")
KEPT_BY_CLEARING: Final = 3
LEAST_RESULTS: Final = 20
"""Sessions with fewer tool results are left out: there is nothing to shorten."""

HELPER: Final = """
import json, os, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
took = {"cpu_ms": 1000 * (used.ru_utime + used.ru_stime), "peak_mb": used.ru_maxrss / 1000}
sys.stderr.write("\\n" + json.dumps(took) + "\\n")
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Starts a process out of a small one: the kernel counts the memory of who started it as well."""

GENERATED_MB: Final = (1.0, 5.0)


# --- the policy -----------------------------------------------------------------------------------


def policy(cut: Cut, target: float, folder: Path) -> Shortened:
    """The bridge's answer at the host's own moment, as the mod would carry it out."""
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    tokens = asked_size(cut, data)
    presence.say_hello(data, os.getpid(), {"window": tokens, "auto_compact": tokens})
    environment = {
        **os.environ,
        "CLAUDE_PLUGIN_DATA": str(data),
        "CLAUDE_PID": str(os.getpid()),
        "CLAUDE_PROJECT_DIR": str(folder),
        "CLAUDE_PLUGIN_OPTION_OFFLOAD_TRIGGER_TOKEN_RATIO": "1",
        "CLAUDE_PLUGIN_OPTION_OFFLOAD_TARGET_TOKEN_RATIO": str(target),
    }
    about = {"id": SESSION, "transcript": str(cut.path), "cwd": str(folder)}
    given = {"session": about, "trigger": "auto", "rows": glimpses(cut.conversation)}
    command = [str(PROGRAM), "bridge", "compact"]
    answer, cpu_ms, peak_mb = run(command, environment, json.dumps(given).encode())
    view = carried_out(cut, json.loads(answer)["rows"], given["rows"])
    return shortened(cut, view, cpu_ms, peak_mb, archived(data))


def asked_size(cut: Cut, data: Path) -> int:
    """The size of the beginning as the product sees it: what the host would compact at."""
    engine = open_engine(SessionRef(SESSION, cut.path), Opened(data, fast_loads()))
    tokens = engine.view(engine.folder.read()).sizes.total_tokens
    shutil.rmtree(data, ignore_errors=True)
    return tokens


def carried_out(cut: Cut, rows: Sequence[Any], given: Sequence[Mapping[str, Any]]) -> View:
    """The conversation that the host holds once it did what it was answered."""
    if not rows:
        return cut.whole
    spans = [row for row in rows if isinstance(row, list)]
    handles = {given[n]["handle"] for first, last in spans for n in range(first, last)}
    built = [row for row in rows if isinstance(row, dict)]
    texts = [one["text"] for row in built for one in row["results"]]
    texts += [row["text"] for row in built if row["text"]]
    texts += [json.dumps(one["input"]) for row in built for one in row["calls"]]
    kept = [piece for piece, base in with_bases(cut) if base in handles]
    return view_of(kept, texts)


def with_bases(cut: Cut) -> Iterator[tuple[Any, str]]:
    """Each piece and the handle of the stored row that it stands or falls with."""
    base = ""
    for piece in cut.conversation.pieces:
        base = base if piece.rides else piece.handle
        yield piece, base


def archived(data: Path) -> frozenset[str]:
    """The originals that stand in the archive, word for word."""
    folder = data / "sessions" / SESSION / "archive" / "originals"
    return frozenset(
        path.read_bytes().decode("utf-8", "surrogatepass") for path in folder.glob("*.txt")
    )


# --- other ways -----------------------------------------------------------------------------------


def clearing(cut: Cut, count: int) -> Shortened:
    """Clear the oldest results, so many of them, and leave no word of what they said."""
    rows = list(cut.results())[: -KEPT_BY_CLEARING or None]
    cleared = {id(row.result) for row in rows[:count]}
    kept = [piece for piece in cut.conversation.pieces if id(piece) not in cleared]
    return shortened(cut, view_of(kept, ["[cleared]"] * len(cleared)))


def peer(cut: Cut, prescription: str, program: Path, folder: Path) -> Shortened:
    """The peer's treatment of a copy."""
    copy = folder / "treated" / cut.path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cut.path, copy)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "COZEMPIC_NO_GLOBAL_INIT": "1",
        "COZEMPIC_NO_AUTO_INIT": "1",
        "COZEMPIC_NO_AUTO_UPDATE": "1",
    }
    command = [str(program), "treat", str(copy), "-rx", prescription, "--execute"]
    _, cpu_ms, peak_mb = run(command, environment, b"")
    view = view_of(conversation_of(copy).pieces)
    return shortened(cut, view, cpu_ms, peak_mb)


def shortened(
    cut: Cut,
    view: View,
    cpu_ms: float = 0.0,
    peak_mb: float = 0.0,
    originals: frozenset[str] = frozenset(),
) -> Shortened:
    """What a shortened beginning is worth."""
    standing = set(view.texts)
    gone = [row.text for row in cut.results() if row.text and row.text not in standing]
    back = sum(text in originals for text in gone)
    return Shortened(
        cut.removed(view),
        cut.lost(view),
        cut.specifics_kept(view),
        (back, len(gone)),
        cpu_ms,
        peak_mb,
    )


def run(command: Sequence[str], env: Mapping[str, str], given: bytes) -> tuple[bytes, float, float]:
    """A process: what it printed, its CPU time in milliseconds, and the most memory that it held, in MB."""
    helper = [sys.executable, "-I", "-S", "-c", HELPER, *command]
    done = subprocess.run(helper, env=dict(env), input=given, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace")[-500:])
    used = json.loads(done.stderr.splitlines()[-1])
    return done.stdout, used["cpu_ms"], used["peak_mb"]


# --- everything in one run ------------------------------------------------------------------------


def peer_program(folder: Path) -> tuple[Path, str]:
    """The peer, installed anew, and its version."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PEER]
    subprocess.run(pip, check=True, capture_output=True)
    code = f"from importlib.metadata import version; print(version({PEER!r}))"
    asked = [str(folder / "bin" / "python"), "-c", code]
    version = subprocess.run(
        asked, check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout.strip()
    return folder / "bin" / PEER, version


def generated(folder: Path) -> list[Path]:
    """Generated sessions whose later turns quote earlier outputs."""
    paths = [folder / f"generated-{size:g}MB.jsonl" for size in GENERATED_MB]
    for size, path in zip(GENERATED_MB, paths, strict=True):
        session(size, 4_000, has_quotes=True).write(path)
    return paths


def measured(cuts: Sequence[Cut], program: Path, folder: Path) -> Table:
    """Every way over every beginning."""
    table = Table()
    for cut in cuts:
        print(f"{cut.name} …", file=sys.stderr)
        for target in (*LIGHT_TARGETS, *TARGETS):
            table.add(f"policy {target:g}", cut, policy(cut, target, folder))
        results = sum(1 for _ in cut.results())
        for step in range(1, 11):
            table.add(f"clearing {step}", cut, clearing(cut, results * step // 10))
        for name in PRESCRIPTIONS:
            table.add(f"{PEER} {name}", cut, peer(cut, name, program, folder))
    return table


def main() -> int:
    """Measure, print, and record where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="a folder of Claude Code transcripts")
    parser.add_argument("--record", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, version = peer_program(folder / "peer")
        paths = generated(folder)
        if options.corpus:
            paths = [*sorted(options.corpus.glob("*.jsonl")), *paths]
        cuts = [cut for path in paths for cut in cuts_of(path, folder / "cuts", SHARES)]
        cuts = [cut for cut in cuts if sum(1 for _ in cut.results()) >= LEAST_RESULTS]
        table = measured(cuts, program, folder)
        lines = report(table, cuts, version)
    print("\n".join(lines))
    if options.record:
        options.record.write_text("\n".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
