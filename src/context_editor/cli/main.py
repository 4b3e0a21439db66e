"""The first step of every command: it imports what the command needs and nothing else.

Hooks pass through here on every tool call, so this module stays on the standard library and small.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

Door: TypeAlias = Callable[[Sequence[str]], int]

USAGE: Final = 2
"""The exit status of a command line that cannot be understood (contract)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The command and its arguments; None for those of the process.

    Returns:
        0 done, 1 refused, 2 not understood.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    door = _DOORS.get(given[0]) if given else None
    if door is not None:
        return door(given[1:])
    from context_editor.cli.commands import run  # noqa: PLC0415 (hooks must not pay for it)

    return run(given)


def _hook(arguments: Sequence[str]) -> int:
    from context_editor.hosts.claude_code import hooks  # noqa: PLC0415

    return hooks.main(arguments[0]) if arguments else _needs("hook", "EVENT")


def _bridge(arguments: Sequence[str]) -> int:
    import gc  # noqa: PLC0415

    # A process that reads one session and ends: looking for cycles would take a third of its time.
    gc.disable()
    from context_editor.hosts.claude_code import bridge  # noqa: PLC0415

    return bridge.main(arguments[0], _printed) if arguments else _needs("bridge", "EVENT")


def _printed(arguments: Sequence[str]) -> str:
    """What a command prints, errors included."""
    from contextlib import redirect_stderr, redirect_stdout  # noqa: PLC0415 (hooks must not pay for it)
    from io import StringIO  # noqa: PLC0415

    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        main(arguments)
    return said.getvalue().strip()


def _serve(arguments: Sequence[str]) -> int:
    from context_editor.server.__main__ import main as serve  # noqa: PLC0415

    return serve(arguments)


def _install(arguments: Sequence[str]) -> int:
    from context_editor.setup.install import main as install  # noqa: PLC0415

    return install(list(arguments))


def _needs(command: str, argument: str) -> int:
    sys.stderr.write(f"usage: context-editor {command} {argument}\n")
    return USAGE


_DOORS: Final[Mapping[str, Door]] = {
    "hook": _hook,
    "bridge": _bridge,
    "serve": _serve,
    "install": _install,
}
"""Commands that programs call; all others are a person's, and are parsed as such."""
