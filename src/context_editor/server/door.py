"""A door beside the protocol: hooks have the running server look at a session.

The server has read the session already and keeps up with it; a hook's own process would have to read
the whole transcript first, at every prompt with something to say. Where no server listens, it does.
"""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from context_editor.errors import ContextEditorError
from context_editor.hosts.claude_code import hooks, quick
from context_editor.server.calls import log_fault
from context_editor.server.sessions import Sessions, caller_of

Answer: TypeAlias = dict[str, Any]


@asynccontextmanager
async def door_open(sessions: Sessions) -> AsyncGenerator[None]:
    """Answer hooks for as long as the block runs; where no door can be made, they look for themselves."""
    path = quick.door_path()
    listening = _listening(path)
    if listening is None:
        yield
        return
    try:
        async with await asyncio.start_unix_server(_Door(sessions).answer, sock=listening):
            yield
    finally:
        _take_away(path)


def _listening(path: str) -> socket.socket | None:
    """A socket at this path, for its owner alone; None where there can be none (the path may be too long)."""
    door = socket.socket(socket.AF_UNIX)
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _take_away(path)
        door.bind(path)
        Path(path).chmod(0o600)
    except OSError:
        door.close()
        return None
    return door


def _take_away(path: str) -> None:
    Path(path).unlink(missing_ok=True)


@dataclass(frozen=True)
class _Door:
    """What happens at the door.

    Attributes:
        sessions: The sessions that are looked at.
    """

    sessions: Sessions

    async def answer(self, asking: asyncio.StreamReader, telling: asyncio.StreamWriter) -> None:
        """Answer one hook: the event's name on a line, then what the host says, as JSON."""
        try:
            event, _, raw = (await asking.read()).partition(b"\n")
            telling.write(json.dumps(self.looked(event.decode(), json.loads(raw))).encode())
            await telling.drain()
        except Exception:  # noqa: BLE001 (logged; the hook then looks for itself, and tells what it meets)
            log_fault(self.sessions.data, "a hook at the door")
        finally:
            telling.close()

    def looked(self, event: str, given: Mapping[str, Any]) -> Answer:
        """What the hook answers."""
        try:
            caller = caller_of(given)
            with self.sessions.looked_at(caller, is_mid_turn=event in hooks.MID_TURN) as engine:
                return hooks.LOOKS[event](engine, given)
        except ContextEditorError as error:
            return {"systemMessage": f"context-editor: {error}"}
