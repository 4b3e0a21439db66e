"""Speaks MCP over stdio while the real server cannot: one line a message, and no tool does work.

Parses on Python 3.8, so that a Python too old for the product can still say so to the host.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any, cast

from context_editor.setup.handover import hand_over

if TYPE_CHECKING:
    from collections.abc import Callable

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol versions that begin with `initialize`, oldest first; the newest is the default.

The later version without a handshake is refused as an unknown method, upon which clients fall
back. Source: `mcp_types.version`, mcp 2.3. Observed on Claude Code 2.1.332, 2026-11-30.
"""

METHOD_NOT_FOUND = -32601
"""JSON-RPC's code for a method that is not there."""

OPENING = ("initialize", "notifications/initialized")
"""What the client sends first, in order; the real server has to hear it too."""


def serve(
    published: dict[str, Any], state: Callable[[], str | None], command: list[str] | None
) -> int:
    """Answer the host until it leaves, or until the real server can take over.

    Args:
        published: What the real server answers: `serverInfo`, `instructions` and `tools`.
        state: Why the real server cannot answer yet, in one line; None once it can.
        command: The real server's command line; None where it can never run.

    Returns:
        The exit status: 0, or the real server's.
    """
    # The host ends a server by SIGINT; there is nothing to tidy up, and no traceback to show.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    opening: list[bytes] = []
    # Unbuffered: what this loop has not taken must still be there for the one that takes over.
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as lines:
        for line in lines:
            message = _message_on(line)
            if message is None:
                continue
            why = state()
            if why is None and command is not None:
                return hand_over(command, opening, line)
            if message["method"] in OPENING:
                opening.append(line)
            if "id" in message:
                _send(answer(message, published, why or ""))
    return 0


def answer(request: dict[str, Any], published: dict[str, Any], line: str) -> dict[str, Any]:
    """The response to one request; every tool call is answered by the line."""
    response: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    method = request["method"]
    if method == "initialize":
        response["result"] = _handshake(request.get("params"), published)
    elif method == "tools/list":
        response["result"] = {"tools": published["tools"]}
    elif method == "tools/call":
        response["result"] = {"content": [{"type": "text", "text": line}], "isError": True}
    elif method == "ping":
        response["result"] = {}
    else:
        response["error"] = {
            "code": METHOD_NOT_FOUND,
            "message": "Method not found",
            "data": method,
        }
    return response


def _handshake(params: object, published: dict[str, Any]) -> dict[str, Any]:
    asked = cast("dict[str, Any]", params).get("protocolVersion") if params else None
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": published["serverInfo"],
        "instructions": published["instructions"],
    }


def _message_on(line: bytes) -> dict[str, Any] | None:
    """The request or notification on this line; None for anything else, which the SDK drops too."""
    try:
        message: object = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    return cast("dict[str, Any]", message)


def _send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
    sys.stdout.flush()
