"""The programs that make an environment: uv where it is, else venv and pip."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

REASON_CHARS = 160
"""How much of a program's own error is repeated; a line of a terminal or two."""


class StepFailedError(Exception):
    """One program failed; the message is one line for a person."""


class Programs:
    """Runs programs one after another, their output in one log, within one span of time.

    Attributes:
        log: What they print, in order, each after its command line.
    """

    def __init__(self, log: Path, limit_s: float) -> None:
        self.log = log
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s
        log.write_bytes(b"")

    def run(
        self, command: Sequence[str], what: str, extra: Mapping[str, str] | None = None
    ) -> None:
        """Run one program to its end.

        Args:
            command: The program and its arguments.
            what: What it is for, as in "cannot …".
            extra: Environment variables on top of ours; may be None.

        Raises:
            StepFailedError: It could not be started, failed, or the time was up.
        """
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            start = log.tell()
            try:
                subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(extra or {})},
                    timeout=max(self._deadline - time.monotonic(), 0.1),
                    check=True,
                )
            except subprocess.TimeoutExpired as error:
                message = f"cannot {what}: not done after {self._limit_s:.0f} s"
                raise StepFailedError(message) from error
            except subprocess.CalledProcessError as error:
                message = f"cannot {what}: {self._reason(start, error.returncode)}"
                raise StepFailedError(message) from error
            except OSError as error:
                message = f"cannot {what}: {command[0]}: {error.strerror}"
                raise StepFailedError(message) from error

    def _reason(self, start: int, status: int) -> str:
        """The last line in which the program names an error, else its last, else its status."""
        with self.log.open("rb") as log:
            log.seek(start)
            lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
        told = [line for line in lines if line]
        named = [line for line in told if "error" in line.lower()]
        reason = (named or told or [f"status {status}"])[-1]
        return reason[:REASON_CHARS]


def make(folder: Path, lock_file: Path, programs: Programs) -> None:
    """Put the locked packages into the environment in this folder, making it when missing.

    Where uv is found but fails, venv and pip get their chance: an old or half-installed uv is
    no reason to be without the product.

    Raises:
        StepFailedError: Neither way worked.
    """
    uv = shutil.which("uv")
    if uv is None:
        _make_with_pip(folder, lock_file, programs)
        return
    try:
        _make_with_uv(uv, folder, lock_file, programs)
    except StepFailedError as first:
        _remove_unusable(folder)
        try:
            _make_with_pip(folder, lock_file, programs)
        except StepFailedError as second:
            message = f"{first}; {second}"
            raise StepFailedError(message) from second


def interpreter_works(folder: Path) -> bool:
    """Whether the folder holds an interpreter that is there and may be run."""
    return os.access(folder / "bin" / "python", os.X_OK)


def _make_with_uv(uv: str, folder: Path, lock_file: Path, programs: Programs) -> None:
    # uv may fetch interpreters of its own; the one that runs us is new enough and already here.
    own = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    if not interpreter_works(folder):
        venv = [uv, "venv", "--no-project", "--python", sys.executable, str(folder)]
        programs.run(venv, "make the environment with uv", own)
    packages = [uv, "pip", "install", "--python", str(folder / "bin" / "python")]
    packages += ["--require-hashes", "--compile-bytecode", "-r", str(lock_file)]
    programs.run(packages, "install the packages with uv", own)


def _make_with_pip(folder: Path, lock_file: Path, programs: Programs) -> None:
    python = str(folder / "bin" / "python")
    if not interpreter_works(folder):
        # Bringing pip into the environment takes 5 s of a wait that a person sees, and Debian's
        # Python cannot do it at all without a package of its own.
        venv = [sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)]
        programs.run(venv, "make the environment with venv")
    packages = [*_pip_for(python, programs), "install", "--require-hashes", "--no-deps"]
    # pip compiles on one core only, which takes half of the whole install.
    packages += ["--no-compile", "--no-user", "--no-input", "--disable-pip-version-check"]
    packages += ["--retries", "2", "--timeout", "15", "-r", str(lock_file)]
    programs.run(packages, "install the packages with pip")
    with contextlib.suppress(StepFailedError):  # a file left uncompiled is compiled when used
        compile_all = [python, "-I", "-m", "compileall", "-q", "-j", "0", str(folder / "lib")]
        programs.run(compile_all, "compile the packages")


def _pip_for(python: str, programs: Programs) -> list[str]:
    """The command that is pip for this environment: the base interpreter's, else its own.

    Raises:
        StepFailedError: There is none, and Python cannot bring one.
    """
    base = [sys.executable, "-I", "-m", "pip", "--python", python]
    own = [python, "-I", "-m", "pip"]
    for pip in (base, own):
        with contextlib.suppress(StepFailedError):
            programs.run([*pip, "--version"], "find pip")
            return pip
    ensure = [python, "-I", "-m", "ensurepip"]
    programs.run(ensure, "find pip (install uv, or on Debian python3-pip)")
    return own


def _remove_unusable(folder: Path) -> None:
    if not interpreter_works(folder):
        shutil.rmtree(folder, ignore_errors=True)
