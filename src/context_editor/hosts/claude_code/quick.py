"""What a hook answers without a look at the session: most of the time, all that it has to.

Every tool call and every prompt of a session pays for this module, so it and what it imports stay without
`typing`, `pathlib`, `dataclasses` and third parties: these alone cost more than a bare interpreter.
"""

from __future__ import annotations

import json
import os
import sys

from context_editor.hosts.claude_code.environment import data_path, host_pid
from context_editor.hosts.claude_code.meter import is_heavy_turn, is_past_mark
from context_editor.hosts.claude_code.tool_log import note_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Final, TypeAlias

    Given: TypeAlias = Mapping[str, Any]
    Answer: TypeAlias = dict[str, Any]

OWN_TOOLS: Final = "mcp__plugin_context-editor_editor__"
"""How the names of our tools begin in this host."""

MARKER: Final = "[context-editor: optimize]"
"""The optimize marker, wherever it stands; `core.marker` says whether it counts."""

READ_BY: Final = {"Read": "file_path", "Grep": "path"}
"""The tools that may open the archive, and the argument that says where each of them reads."""

ON_HOST: Final = ("session_id", "transcript_path", "cwd", "agent_id", "tool_use_id")
"""What our own tools are told of the session."""


def answered(event: str, given: Given) -> Answer | None:
    """The answer to an event; None where the session has to be looked at."""
    handler = HANDLERS.get(event)
    return handler(given) if handler else None


def session_path(given: Given) -> str:
    """The folder of the session.

    Raises:
        ValueError: Its id would lead elsewhere.
    """
    name = str(given["session_id"])
    if not name or name[0] == "." or "/" in name or "\x00" in name:
        msg = f"{name!r} is not a session id"
        raise ValueError(msg)
    return f"{data_path()}/sessions/{name}"


def _prompt_submitted(given: Given) -> Answer | None:
    folder = session_path(given)
    is_heavy = is_heavy_turn(folder)
    return None if is_heavy or os.path.exists(f"{folder}/tell") else {}  # noqa: PTH110 (see above)


def _tool_used(given: Given) -> Answer | None:
    if given.get("agent_id"):
        return {}
    folder = session_path(given)
    note_tool(folder, given)
    return None if is_past_mark(folder, str(given.get("transcript_path", ""))) else {}


def _tool_asked(given: Given) -> Answer:
    """Let our own tools, and reads of this session's archive, pass without a prompt; name the session to them."""
    name = str(given.get("tool_name", ""))
    asked = given.get("tool_input") or {}
    if name.startswith(OWN_TOOLS):
        host = {key: given[key] for key in ON_HOST if given.get(key)}
        return _allowed({**asked, "_host": host})
    path = str(asked.get(READ_BY.get(name, "")) or "")
    return _allowed(None) if path and _is_in_archive(path, given) else {}


def _allowed(updated: Answer | None) -> Answer:
    decision: Answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    if updated is not None:
        decision["updatedInput"] = updated
    return {"hookSpecificOutput": decision}


def _is_in_archive(path: str, given: Given) -> bool:
    """Whether a path is below what this session archived, or below the snapshots of its molts."""
    folder = session_path(given)
    return any(_is_below(path, f"{folder}/{name}") for name in ("archive", "molts"))


def _is_below(path: str, folder: str) -> bool:
    try:
        real = os.path.realpath(folder)
        inside = os.path.commonpath([real, os.path.realpath(path)]) == real
        return inside and os.path.isdir(real)  # noqa: PTH112 (see above)
    except (OSError, ValueError):
        return False


def _turn_ended(given: Given) -> Answer | None:
    answer = str(given.get("last_assistant_message") or "")
    return {} if given.get("agent_id") or MARKER not in answer else None


HANDLERS: Final[Mapping[str, Callable[[Given], Answer | None]]] = {
    "prompt-submit": _prompt_submitted,
    "post-tool-use": _tool_used,
    "pre-tool-use": _tool_asked,
    "stop": _turn_ended,
}
"""The events that may need no look, by their names on the command line."""


DOOR_WAIT_S: Final = 10.0
"""How long the server may take to say that it heard, and a hook's answer, in seconds.

One that never read a long session before reads it then; one that is stopped must not be waited for long.
"""

ANSWER_END: Final = b"\n"
"""What stands behind a whole answer: half of one is none."""


def door_path() -> str:
    """Where the server of this host process listens for hooks."""
    return f"{data_path()}/hosts/{host_pid()}.sock"


LOOKED_AT: Final = ("prompt-submit", "post-tool-use", "stop")
"""The hooks that the server answers, where a look is needed; all others are a process's own work."""

BRIDGE_WAIT_S: Final = 40.0
"""How long the server may take over what the mod asks, in seconds: less than the mod waits for its child."""

BRIDGE: Final = "bridge "
"""What stands in front of the events of the mod's bridge, at the door."""

AT_THE_DOOR: Final = ("turn-end", "compact", "digests", "archive", "confirm", "command")
"""The bridge's events that need the session read; the server leaves some commands to the process that asks."""


def _at_the_door(event: str, raw: bytes, wait_s: float = DOOR_WAIT_S) -> bytes:
    """The running server's answer as JSON; empty where none answers, or not to the end."""
    import socket

    told = b""
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(DOOR_WAIT_S)
            door.connect(door_path())
            door.sendall(event.encode() + b"\n" + raw)
            door.shutdown(socket.SHUT_WR)
            door.recv(1)  # it heard
            door.settimeout(wait_s)
            while part := door.recv(65_536):
                told += part
    except OSError:
        return b""
    return told[:-1] if told.endswith(ANSWER_END) else b""


def bridge(event: str) -> bytes:
    """Have the running server answer the mod over standard output.

    Returns:
        What the mod said, where no server answers and this process must; empty where it was answered.
    """
    raw = sys.stdin.buffer.read()
    told = _at_the_door(BRIDGE + event, raw, BRIDGE_WAIT_S) if event in AT_THE_DOOR else b""
    sys.stdout.buffer.write(told)
    return b"" if told else raw or b"{}"


def main(event: str) -> int:
    """Run one hook over standard input and output; 0 always (see `hooks.run`)."""
    raw = sys.stdin.buffer.read()
    try:
        answer = answered(event, json.loads(raw))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        # The whole hook meets the same fault, tells it and logs it.
        return _looked(event, raw, is_answered=False)
    if answer is None:
        return _looked(event, raw, is_answered=True)
    if answer:
        sys.stdout.write(json.dumps(answer))
    return 0


def _looked(event: str, raw: bytes, *, is_answered: bool) -> int:
    """Have the running server look, which has read the session; without one, run the whole hook here."""
    told = _at_the_door(event, raw) if is_answered and event in LOOKED_AT else b""
    if told:
        sys.stdout.buffer.write(told if told != b"{}" else b"")
        return 0
    import io
    import site

    site.main()  # what the interpreter was started without
    from context_editor.hosts.claude_code import hooks

    return hooks.run(event, io.BytesIO(raw), sys.stdout.buffer, needs_look=is_answered)
