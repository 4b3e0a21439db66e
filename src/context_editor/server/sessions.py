"""Which session a call means, and its engine, kept open so that a call reads only what is new."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.environment import data_folder, host_pid, variables
from context_editor.hosts.claude_code.projects import transcript_of

if TYPE_CHECKING:
    from context_editor.engine.session import Engine

HOST_KEY: Final = "_host"
"""The reserved argument that our hook adds to a call: which session it was made in."""

SESSION_VARIABLE: Final = "CLAUDE_CODE_SESSION_ID"
"""Names the session that the host process was started with; after `/clear` it may be another."""

SUBAGENT: Final = (
    "context-editor works on the main conversation only: a subagent's conversation is its own. "
    "Nothing was read or changed."
)
"""What a call from a subagent is told (rule A15)."""

NO_SESSION: Final = (
    "context-editor cannot tell which session this is: its PreToolUse hook did not name one and "
    f"{SESSION_VARIABLE} is not set. Nothing was read or changed."
)


@dataclass(frozen=True)
class Caller:
    """The session that a call was made in.

    Attributes:
        id: The host's session id.
        transcript: Its transcript file.
        is_assumed: Whether the hook did not name it, so that the answer says which one it was.
        call_id: The call's own id; empty when the hook did not name it.
    """

    id: str
    transcript: Path
    is_assumed: bool = False
    call_id: str = field(default="", compare=False)


def caller_of(host: object) -> Caller:
    """The session that a call was made in, by what our hook added to it.

    Args:
        host: The reserved argument; None where there was none.

    Raises:
        RefusedError: The call comes from a subagent, or nothing names the session.
    """
    told = cast("Mapping[str, object]", host if isinstance(host, Mapping) else {})
    if told.get("agent_id"):
        raise RefusedError(SUBAGENT)
    session_id, transcript = told.get("session_id"), told.get("transcript_path")
    if isinstance(session_id, str) and isinstance(transcript, str) and session_id and transcript:
        return Caller(session_id, Path(transcript), call_id=str(told.get("tool_use_id") or ""))
    assumed = variables().get(SESSION_VARIABLE, "")
    if not assumed:
        raise RefusedError(NO_SESSION)
    return Caller(assumed, transcript_of(assumed, Path.cwd(), variables()), is_assumed=True)


@dataclass
class Sessions:
    """The sessions that this process answers for.

    Attributes:
        data: The data folder.
    """

    data: Path = field(default_factory=data_folder)
    _engines: dict[Caller, "Engine"] = field(default_factory=dict[Caller, "Engine"])
    _epochs: dict[Caller, int] = field(default_factory=dict[Caller, int])

    def engine(self, caller: Caller) -> "Engine":
        """The engine of a session, told what the host process says of itself now.

        Raises:
            ContextEditorError: The session's state cannot be read.
        """
        from context_editor.hosts.claude_code import presence  # noqa: PLC0415 (see `_opened`)
        from context_editor.hosts.claude_code.session import ClaudeSession  # noqa: PLC0415
        from context_editor.hosts.claude_code.wiring import limits_here  # noqa: PLC0415

        engine = self._engines.get(caller)
        if engine is None:
            engine = self._engines[caller] = self._opened(caller)
        self._forget_if_patched(caller, engine)
        if caller.call_id and isinstance(engine.host, ClaudeSession):
            engine.host.await_call(caller.call_id)
        engine.apply_mode = presence.apply_mode(self.data, host_pid())
        engine.limits = limits_here(self.data)
        return engine

    @contextmanager
    def looked_at(self, caller: Caller, *, is_mid_turn: bool) -> Generator["Engine"]:
        """The engine of a session for the length of a look that no call of ours asks for.

        Args:
            caller: The session.
            is_mid_turn: Whether an answer is being written now.

        Raises:
            ContextEditorError: The session's state cannot be read.
        """
        from context_editor.hosts.claude_code.session import ClaudeSession  # noqa: PLC0415 (see `_opened`)

        engine = self.engine(replace(caller, call_id=""))
        host = engine.host
        if isinstance(host, ClaudeSession):
            host.is_mid_turn = is_mid_turn
        try:
            yield engine
        finally:
            if isinstance(host, ClaudeSession):
                host.is_mid_turn = True
            self.answered(caller)

    def answered(self, caller: Caller) -> None:
        """Note the epoch after a call: what this process took in itself, it has read already."""
        engine = self._engines.get(caller)
        if engine is not None:
            self._epochs[caller] = engine.folder.epoch()

    def _forget_if_patched(self, caller: Caller, engine: "Engine") -> None:
        """Have the transcript read anew where another process took an apply in and patched rows."""
        from context_editor.hosts.claude_code.session import ClaudeSession  # noqa: PLC0415

        known = self._epochs.get(caller)
        if known is None or known == engine.folder.epoch():
            return
        if isinstance(engine.host, ClaudeSession):
            engine.host.forget()

    def _opened(self, caller: Caller) -> "Engine":
        # Imported with the first call: the list of tools must not wait for the engine.
        from context_editor.hosts.claude_code.wiring import (  # noqa: PLC0415
            Opened,
            SessionRef,
            fast_loads,
            open_engine,
        )

        # The call itself has no result yet while it is answered: a turn always runs here.
        how = Opened(self.data, fast_loads(), is_mid_turn=True)
        return open_engine(SessionRef(caller.id, caller.transcript), how)
