"""A door beside the protocol: hooks and the mod's bridge have the running server look at a session.

The server has read the session already and keeps up with it; a process of their own would have to read
the whole transcript first, at every prompt with something to say and at every apply. Where no server
listens, it does.
"""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from context_editor.errors import ContextEditorError
from context_editor.hosts.claude_code import hooks, quick
from context_editor.server.calls import log_fault
from context_editor.server.sessions import Caller, Sessions, caller_of
from context_editor.server.uncollected import uncollected

Answer: TypeAlias = dict[str, Any]

HEARD: Final = b" "
"""What is said at once, so that whoever asked knows that the server runs and may take its time."""


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
        # At once: whoever comes before the loop runs waits, and need not read the session by itself.
        door.listen()
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
        """Answer once: the event's name on a line, then what the host or the mod says, as JSON."""
        try:
            asked = await asking.read()
            if not asked:
                return  # somebody who only wanted to know whether there is a server
            name, _, raw = asked.partition(b"\n")
            event = name.decode()
            telling.write(HEARD)
            await telling.drain()
            is_mods = event.startswith(quick.BRIDGE)
            told = await self._bridged(event, raw) if is_mods else self._hooked(event, raw)
            telling.write(told + quick.ANSWER_END if told else b"")
            await telling.drain()
        except Exception:  # noqa: BLE001 (logged; who asked then looks for itself, and tells what it meets)
            log_fault(self.sessions.data, "a hook at the door")
        finally:
            telling.close()

    async def _bridged(self, event: str, raw: bytes) -> bytes:
        """What the mod is answered; the host may still be writing what it asks to have confirmed."""
        from context_editor.hosts.claude_code import bridge  # noqa: PLC0415 (see `Sessions._opened`)

        name, given = event.removeprefix(quick.BRIDGE), bridge.given_in(raw)
        if bridge.needs_command_line(name, given):
            return b""
        caller = Caller(str(given["session"]["id"]), Path(str(given["session"]["transcript"])))
        for _ in range(bridge.CONFIRM_TRIES):
            with uncollected(), self.sessions.looked_at(caller, is_mid_turn=False) as engine:
                told = bridge.answer_of(name, engine, given)
            if told:
                return told
            await asyncio.sleep(bridge.CONFIRM_PAUSE_S)
        return json.dumps(bridge.UNCONFIRMED).encode()

    def _hooked(self, event: str, raw: bytes) -> bytes:
        return json.dumps(self.looked(event, json.loads(raw))).encode()

    def looked(self, event: str, given: Mapping[str, Any]) -> Answer:
        """What the hook answers."""
        try:
            caller = caller_of(given)
            is_mid_turn = event in hooks.MID_TURN
            with uncollected(), self.sessions.looked_at(caller, is_mid_turn=is_mid_turn) as engine:
                return hooks.LOOKS[event](engine, given)
        except ContextEditorError as error:
            return {"systemMessage": f"context-editor: {error}"}
