"""`doctor`: whether this installation can do its work, and what to do where it cannot."""

import argparse
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, TypeAlias

from filelock import FileLock, Timeout

from context_editor.cli.output import say, say_json, table
from context_editor.errors import StateUnreadableError
from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.environment import data_folder, project_root, variables
from context_editor.hosts.claude_code.projects import plugin_data_folders
from context_editor.settings import FILE_NAME, load
from context_editor.setup.environment import ROOT, LockUnreadableError, run_environment
from context_editor.store.files import make_folder, replace_file
from context_editor.store.session import SESSION_ID, session_folder
from context_editor.version import VERSION

Level: TypeAlias = Literal["ok", "note", "problem"]

OLDEST_HOST_WITH_MODS: Final = (2, 1, 287)
"""The first Claude Code whose mods can carry an apply out. Source: runs on 2.1.270 to 2.1.332."""

HOST_WAIT_S: Final = 10.0
"""How long the host may take to name its version, in seconds; it takes about a tenth of one."""

PACKAGES: Final = ("mcp", "pydantic", "orjson", "filelock", "platformdirs", "tiktoken")


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        check: What was looked at.
        level: `ok`, `note` (works, but worth knowing) or `problem`.
        text: What was found, and for a problem what to do.
    """

    check: str
    level: Level
    text: str


Check: TypeAlias = Callable[[], Iterator[Finding]]


def doctor(asked: argparse.Namespace) -> int:
    """Run every check.

    Returns:
        0 when there is no problem, else 1.
    """
    findings = [finding for check in CHECKS for finding in check()]
    problems = sum(finding.level == "problem" for finding in findings)
    if asked.json:
        say_json({"problems": problems, "findings": [vars(finding) for finding in findings]})
    else:
        say(table([(f.level, f.check, f.text) for f in findings]))
        say(f"{problems} problem(s)" if problems else "no problems")
    return 1 if problems else 0


def _versions() -> Iterator[Finding]:
    yield Finding("version", "ok", f"context-editor {VERSION}, from {ROOT}")
    where = f"Python {platform.python_version()} at {sys.executable}"
    yield Finding("python", "ok", f"{where}, {platform.platform(terse=True)}")
    missing = [name for name in PACKAGES if _version_of(name) is None]
    if missing:
        text = f"missing: {', '.join(missing)}. Run `context-editor install`"
        yield Finding("packages", "problem", text)
    else:
        yield Finding("packages", "ok", ", ".join(f"{n} {_version_of(n)}" for n in PACKAGES))


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _environment() -> Iterator[Finding]:
    try:
        environment = run_environment(ROOT, variables())
    except LockUnreadableError:
        yield Finding("environment", "ok", f"the one that this runs in, {sys.prefix}")
        return
    if environment.is_ready():
        yield Finding("environment", "ok", f"{environment.folder} ({environment.lock_id})")
        return
    text = f"{environment.folder} is not ready. Run `context-editor install`"
    yield Finding("environment", "problem", text)


def _data() -> Iterator[Finding]:
    data = data_folder()
    probe = data / "doctor.probe"
    try:
        replace_file(probe, b"")
        probe.unlink()
    except OSError as error:
        text = (
            f"{data} cannot be written: {error.strerror}. Make it yours, or set CLAUDE_PLUGIN_DATA"
        )
        yield Finding("data folder", "problem", text)
        return
    yield Finding("data folder", "ok", f"{data} can be written")
    yield _lock(data)
    for other in plugin_data_folders(variables()):
        if other != data:
            yield Finding("data folder", "note", f"the plugin's own in the host: {other}")


def _lock(data: Path) -> Finding:
    path = make_folder(data) / "doctor.lock"
    try:
        with FileLock(path, timeout=1):
            is_exclusive = _is_taken(path)
        path.unlink(missing_ok=True)
    except (OSError, Timeout) as error:
        return Finding("lock", "problem", f"{path} cannot be locked: {error}. Use a local disk")
    if not is_exclusive:
        text = f"two processes can hold a lock in {data} at once. Use a local disk"
        return Finding("lock", "problem", text)
    return Finding("lock", "ok", "one process at a time")


def _is_taken(path: Path) -> bool:
    """Whether another process is kept out of a lock that this one holds."""
    code = "import sys, filelock; filelock.FileLock(sys.argv[1]).acquire(timeout=0)"
    done = subprocess.run(  # noqa: S603 (this interpreter, with a program of our own)
        [sys.executable, "-c", code, str(path)], capture_output=True, check=False
    )
    return b"Timeout" in done.stderr


def _host() -> Iterator[Finding]:
    program = shutil.which("claude")
    if program is None:
        text = "no `claude` on PATH: demo, list and apply work; nothing edits a running session"
        yield Finding("host", "note", text)
        return
    version = _host_version(program)
    words = ".".join(map(str, version)) or "of unknown version"
    if not version or version >= OLDEST_HOST_WITH_MODS:
        yield Finding("host", "ok" if version else "note", f"Claude Code {words} at {program}")
        return
    needed = ".".join(map(str, OLDEST_HOST_WITH_MODS))
    text = (
        f"Claude Code {words} applies edits only by `context-editor apply`; {needed} does by itself"
    )
    yield Finding("host", "note", text)


def _host_version(program: str) -> tuple[int, ...]:
    try:
        done = subprocess.run(  # noqa: S603 (the program that the person runs as `claude`)
            [program, "--version"], capture_output=True, check=False, timeout=HOST_WAIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(rb"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, found.groups())) if found else ()


def _mods() -> Iterator[Finding]:
    told = variables().get("CLAUDE_PID", "")
    if told.isdecimal():
        reason = presence.apply_mode(data_folder(), int(told))
        if reason:
            text = f"{reason} in this host process: edits apply by `context-editor apply`"
            yield Finding("mods", "problem", text)
        else:
            yield Finding("mods", "ok", "live in this host process: edits apply at a turn's end")
        return
    live = sum(1 for folder in _data_folders() for _ in _live_hosts(folder))
    text = f"live in {live} running host process(es)" if live else "no host process is running"
    yield Finding("mods", "ok" if live else "note", text)


def _data_folders() -> Sequence[Path]:
    return list(dict.fromkeys([data_folder(), *plugin_data_folders(variables())]))


def _live_hosts(data: Path) -> Iterator[int]:
    for path in (data / "hosts").glob("*.json"):
        is_running = path.stem.isdecimal() and Path(f"/proc/{path.stem}").exists()
        if is_running and not presence.apply_mode(data, int(path.stem)):
            yield int(path.stem)


def _settings() -> Iterator[Finding]:
    project = project_root()
    loaded = load(variables(), project)
    for mistake in loaded.mistakes:
        yield Finding("settings", "problem", mistake.words)
    if loaded.policy_fault:
        yield Finding("settings", "note", "the retention policy does not start with these")
    path = project / FILE_NAME if project else None
    if not loaded.mistakes:
        is_there = path is not None and path.is_file()
        text = f"{path} is understood" if is_there else f"no {FILE_NAME} here"
        yield Finding("settings", "ok", text)


def _sessions() -> Iterator[Finding]:
    count = 0
    for data in _data_folders():
        for path in sorted((data / "sessions").glob("*/state.json")):
            if not SESSION_ID.fullmatch(path.parent.name):
                continue
            count += 1
            try:
                session_folder(data, path.parent.name).read()
            except StateUnreadableError as error:
                yield Finding("sessions", "problem", str(error))
    yield Finding("sessions", "ok", f"{count} session(s) known")


def _faults() -> Iterator[Finding]:
    logs = [path for data in _data_folders() for path in sorted((data / "log").glob("*.log"))]
    for path in filter(_has_text, logs):
        yield Finding("faults", "note", f"logged in {path}: attach it to a report")


def _has_text(path: Path) -> bool:
    return path.stat().st_size > 0


CHECKS: Final[Sequence[Check]] = (
    _versions,
    _environment,
    _data,
    _host,
    _mods,
    _settings,
    _sessions,
    _faults,
)
"""The checks, in the order in which they are shown."""
