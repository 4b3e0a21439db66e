"""Starts the MCP server for the host, making the environment first where there is none yet.

    python -I enter.py context_editor.setup.launcher [--wait SECONDS]

The host calls a server failed when it does not answer within 30 s, and keeps a failed one out
of later sessions for a while. So the launcher waits for an install only so long, and answers
the host itself after that: until the environment is ready, and then hands over to the server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from context_editor.setup.environment import (
    ROOT,
    Environment,
    LockUnreadableError,
    run_environment,
)
from context_editor.setup.install import old_python_message
from context_editor.setup.waiting import serve

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 25.0
"""How long an install may hold up the handshake, in seconds: 5 s below the host's own limit.

Observed on Claude Code 2.1.332, 2026-11-30: "Starting connection with timeout of 30000ms".
"""

ENTER = ROOT / "src" / "context_editor" / "setup" / "enter.py"
"""The script that runs a module of the product in a given interpreter."""

TOOLS = ROOT / "src" / "context_editor" / "server" / "tools.json"
"""What the server answers to the handshake and to `tools/list`, written by the server itself."""


def main(arguments: list[str]) -> int:
    """Become the server when the environment is ready in time, else stand in for it."""
    wait_s = float(arguments[arguments.index("--wait") + 1]) if "--wait" in arguments else WAIT_S
    too_old = old_python_message()
    if too_old is not None:
        return _stand_in(lambda: too_old, None)
    try:
        environment = run_environment(ROOT, os.environ)
    except LockUnreadableError as error:
        message = f"context-editor cannot start: {error}. Install the plugin again."
        return _stand_in(lambda: message, None)
    command = server_command(environment)
    child = None if environment.is_ready() else _start_install(wait_s)
    if child is None or environment.is_ready():
        os.execv(command[0], command)  # noqa: S606 - the server takes this process over; no shell
    return _stand_in(lambda: state_of(environment, child), command)


def server_command(environment: Environment) -> list[str]:
    """The command line of the real server."""
    return [str(environment.python), "-I", str(ENTER), "context_editor.server"]


def state_of(environment: Environment, child: subprocess.Popen[bytes]) -> str | None:
    """Why the server cannot answer yet, in one line for the model; None once it can."""
    if environment.is_ready():
        return None
    if child.poll() is None:
        return (
            "context-editor is still installing its environment (first session only; log: "
            f"{environment.log}). Nothing was done. Call again in a minute."
        )
    try:
        reason = environment.failure.read_text(encoding="utf-8").strip()
    except OSError:
        reason = f"the install ended with status {child.returncode}"
        reason += f"; to try again: {ROOT / 'bin' / 'context-editor'} install"
    return f"context-editor could not be installed: {reason}. Nothing was done."


def _start_install(wait_s: float) -> subprocess.Popen[bytes]:
    """Start the install and wait for it so long, in seconds.

    It runs in a session of its own: a host that ends this server meanwhile does not end it.
    """
    child = subprocess.Popen(
        [sys.executable, "-I", str(ENTER), "context_editor.setup.install", "--quiet"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        child.wait(timeout=wait_s)
    except subprocess.TimeoutExpired:
        print("context-editor: the install goes on; answering meanwhile", file=sys.stderr)
    return child


def _stand_in(state: Callable[[], str | None], command: list[str] | None) -> int:
    return serve(json.loads(TOOLS.read_text(encoding="utf-8")), state, command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
