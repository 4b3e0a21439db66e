"""The composition root for Claude Code: which files, which decoder, which settings make an engine."""

import json
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from context_editor.core.sizes.estimate import CountTokens
from context_editor.engine.limits import Limits, limits_of
from context_editor.engine.ports import Clock
from context_editor.engine.session import Engine
from context_editor.hosts.claude_code import presence
from context_editor.hosts.claude_code.environment import host_pid, project_root, variables
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.transcript import Loads
from context_editor.settings import Loaded, load
from context_editor.store.session import session_folder


@dataclass(frozen=True)
class SessionRef:
    """Which session is meant.

    Attributes:
        id: The host's session id.
        transcript: Its transcript file, absolute.
    """

    id: str
    transcript: Path


def system_clock() -> Clock:
    """The machine's clock."""
    return Clock(
        time.time,
        lambda: datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        time.perf_counter,
    )


def standard_loads() -> Loads:
    """The standard library's decoder, for processes without third-party packages."""
    return json.loads


def fast_loads() -> Loads:
    """The fast decoder, for the server and the bridge."""
    import orjson

    return orjson.loads


@dataclass(frozen=True)
class Opened:
    """How a session is opened, besides which one it is.

    Attributes:
        data: The data folder.
        loads: The JSON decoder.
        limits: Settings.
        apply_mode: Why edits are not applied at the turn's end; empty when they are.
        is_mid_turn: Whether an answer is being written now.
        count: Counts o200k tokens; None where the table is not at hand.
    """

    data: Path
    loads: Loads
    limits: Limits = field(default_factory=Limits)
    apply_mode: str = ""
    is_mid_turn: bool = False
    count: CountTokens | None = None


def loaded_settings() -> Loaded:
    """The settings that hold here."""
    return load(variables(), project_root())


def limits_here(data: Path) -> Limits:
    """The limits by the settings that hold here, and by what the host process said of itself."""
    limits = limits_of(loaded_settings(), *presence.sizes(data, host_pid()))
    return replace(limits, root=variables().get("CLAUDE_PROJECT_DIR", ""))


def open_engine(ref: SessionRef, how: Opened) -> Engine:
    """The engine of a session.

    Raises:
        RefusedError: The session id cannot be a folder's name.
    """
    folder = session_folder(how.data, ref.id)
    host = ClaudeSession(ref.transcript, how.loads, how.is_mid_turn)
    return Engine(folder, host, system_clock(), how.limits, how.apply_mode, how.count)
