"""Makes the environment, once, whoever asks first; everyone else waits for that one.

    python -I enter.py context_editor.setup.install [--tools] [--again] [--quiet]

`--tools` makes a checkout's environment with the test tools, `--again` makes one that is ready
anew, `--quiet` leaves out the lines of progress.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from context_editor.setup.environment import (
    OLDEST_PYTHON,
    ROOT,
    RUN_LOCK,
    Environment,
    LockUnreadableError,
    lock_id_of,
    run_environment,
    stamp_in,
    tools_environment,
)
from context_editor.setup.lock import held
from context_editor.setup.programs import Programs, StepFailedError, make

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL_LIMIT_S = 900.0
"""How long one build may take, in seconds: pip without a cache on a slow line, doubled."""

TABLE_LIMIT_S = 5.0
"""How long the one try to fetch the tokenizer's table may take, in seconds.

The table is 3.6 MB and only makes the first sizes better; nobody should wait for it longer.
"""

TABLE_FOLDER = "tiktoken"
"""Where in the environment the table lies: `Path(sys.prefix) / TABLE_FOLDER` at run time."""

TABLE_CODE = "import tiktoken; tiktoken.get_encoding('o200k_base')"
"""What makes tiktoken fetch its o200k table into its cache folder."""


class InstallError(Exception):
    """The environment could not be made; the message says why and what to run, in one line."""


def install(
    root: Path, environment: Environment, report: Callable[[str], None], *, again: bool = False
) -> None:
    """Make the environment ready; nothing happens where it already is.

    Args:
        root: The product's folder.
        environment: Which environment.
        report: Gets a line when it starts, waits and is done.
        again: Whether to make it anew although it is ready.

    Raises:
        InstallError: It is not ready. The same line stands in the environment's failure note.
    """
    try:
        environment.notes.mkdir(parents=True, exist_ok=True)
        with held(environment.build_lock, lambda: report("another install is going on; waiting")):
            if again or not environment.is_ready():
                _build(root, environment, report)
            environment.failure.unlink(missing_ok=True)
    except (StepFailedError, OSError, LockUnreadableError) as error:
        message = f"{error}; to try again: {root / 'bin' / 'context-editor'} install"
        message += f" (log: {environment.log})" if environment.log.exists() else ""
        _note_failure(environment, message)
        raise InstallError(message) from error


def _note_failure(environment: Environment, message: str) -> None:
    try:
        environment.failure.write_text(message + "\n", encoding="utf-8")
    except OSError:
        # Where not even the note can be written, the exception that follows is the only word.
        return


def _build(root: Path, environment: Environment, report: Callable[[str], None]) -> None:
    """Make the environment under the build lock, its stamp last.

    Raises:
        StepFailedError: A program failed; what stood before is left as it was, without a stamp
            only where it is updated in place.
        OSError: A folder could not be written.
    """
    report(f"making its environment in {environment.folder} (first call only) …")
    started = time.monotonic()
    programs = Programs(environment.log, INSTALL_LIMIT_S)
    if environment.is_in_place:
        _build_in_place(root, environment, programs)
    else:
        _build_aside(environment, programs)
    report(f"environment ready after {time.monotonic() - started:.1f} s")


def _build_in_place(root: Path, environment: Environment, programs: Programs) -> None:
    """Bring a checkout's `.venv` up to the lock, whoever made it."""
    for stale in environment.folder.glob("ready-*"):
        stale.unlink()
    make(environment.folder, environment.lock_file, programs)
    for packages in environment.folder.glob("lib/python3.*/site-packages"):
        (packages / "context_editor.pth").write_text(f"{root / 'src'}\n", encoding="utf-8")
    _fetch_table(environment.folder, programs)
    # The locks are exported from one resolution: what holds the tools holds the product's needs.
    stamp_in(environment.folder, lock_id_of(root / RUN_LOCK)).touch()
    environment.stamp.touch()


def _build_aside(environment: Environment, programs: Programs) -> None:
    """Make the environment beside its place and move it there whole.

    Only interpreters are started in it, never its scripts, so their first lines may name the
    folder in which they were made.
    """
    for leftover in environment.notes.glob(f".{environment.lock_id}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{environment.lock_id}-", dir=environment.notes))
    try:
        folder = aside / "new"
        make(folder, environment.lock_file, programs)
        _fetch_table(folder, programs)
        stamp_in(folder, environment.lock_id).touch()
        if environment.folder.exists():
            environment.folder.rename(aside / "old")
        folder.rename(environment.folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _fetch_table(folder: Path, programs: Programs) -> None:
    """Try once to lay the tokenizer's table into the environment; a miss is fine."""
    table = folder / TABLE_FOLDER
    if table.is_dir() and any(table.iterdir()):
        return
    fetch = Programs(programs.log.with_suffix(".table.log"), TABLE_LIMIT_S)
    command = [str(folder / "bin" / "python"), "-I", "-c", TABLE_CODE]
    try:
        fetch.run(command, "fetch the tokenizer's table", {"TIKTOKEN_CACHE_DIR": str(table)})
    except StepFailedError:
        # Sizes are then estimated until the host's own figures calibrate them.
        return


def old_python_message() -> str | None:
    """One line for a person whose Python is too old; None when this one will do."""
    if sys.version_info >= OLDEST_PYTHON:
        return None
    needed = ".".join(map(str, OLDEST_PYTHON))
    found = ".".join(map(str, sys.version_info[:3]))
    return (
        f"context-editor needs Python {needed} or newer; {sys.executable} is {found}."
        f" Install a newer one, so that python3 or python{needed} on PATH is it, and start again."
    )


def main(arguments: list[str]) -> int:
    """Make the environment that the arguments name; 0 when it is ready, 1 with one line if not."""
    too_old = old_python_message()
    if too_old is not None:
        print(too_old, file=sys.stderr)
        return 1
    # The environment and its log are the person's own; a checkout keeps the person's umask.
    report = _silent if "--quiet" in arguments else _to_stderr
    try:
        environment = _named_by(arguments)
        if not environment.is_in_place:
            os.umask(0o077)
        install(ROOT, environment, report, again="--again" in arguments)
    except (InstallError, LockUnreadableError) as error:
        print(f"context-editor: {error}", file=sys.stderr)
        return 1
    return 0


def _named_by(arguments: list[str]) -> Environment:
    if "--tools" in arguments:
        return tools_environment(ROOT)
    return run_environment(ROOT, os.environ)


def _to_stderr(line: str) -> None:
    print(f"context-editor: {line}", file=sys.stderr, flush=True)


def _silent(line: str) -> None:
    """Drop a line of progress."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
