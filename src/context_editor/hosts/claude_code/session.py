"""One Claude Code session as the engine's host: its transcript as rows, and applies made safe to resume."""

import mmap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from context_editor.core.assemble import OWN_TOOL_PREFIX, Assembler, OwnFacts
from context_editor.core.growing import Growing
from context_editor.core.measure import PlacedSample
from context_editor.core.sizes.calibration import Sample
from context_editor.engine.ports import Reading, Settled
from context_editor.hosts.claude_code.resume import make_resumable
from context_editor.hosts.claude_code.transcript import LiveTranscript, Loads, UsageSample

OWN_TOOL: Final = f"{OWN_TOOL_PREFIX}context_edit"
"""The name of the editing tool in Claude Code: plugin, server and tool."""

CALL_WAIT_S: Final = 1.0
"""How long the row of a running call may take to reach the file, in seconds.

The host starts a call before it has written the answer that makes it, and the results of the one before.
Observed on Claude Code 2.1.332, 2026-11-30: up to 0.1 s.
"""

CALL_POLL_S: Final = 0.005
"""How often the file is looked at meanwhile, in seconds."""


@dataclass
class ClaudeSession:
    """A session by its transcript file.

    Attributes:
        transcript: The file; it need not exist yet.
        loads: The JSON decoder for its lines.
        is_mid_turn: Whether an answer is being written now.
    """

    transcript: Path
    loads: Loads
    is_mid_turn: bool = False
    _live: LiveTranscript = field(init=False)
    _reread_at: int = -1
    _assembler: Assembler = field(default_factory=Assembler)
    _samples: Growing[UsageSample, PlacedSample] = field(default_factory=lambda: Growing(_placed))

    def __post_init__(self) -> None:
        self._live = LiveTranscript(self.transcript, self.loads)

    @property
    def own_tool(self) -> str:
        """See `HostPort.own_tool`."""
        return OWN_TOOL

    def read(self, own: OwnFacts) -> Reading:
        """See `HostPort.read`."""
        live = self._live
        live.refresh()
        pending = live.last_response if self.is_mid_turn else None
        turns = max(0, live.turns_started - 1) if self.is_mid_turn else live.turns_started
        facts = replace(own, pending_response=pending)
        reader = live.reader
        return Reading(
            self._assembler.conversation(live.pieces, facts, live.unreadable, turns),
            self._samples.of(live.usage),
            self.transcript,
            reader.bytes_read,
            cwd=next((e.cwd for e in reversed(live.chain) if e.cwd), ""),
            is_mid_turn=self.is_mid_turn,
            running_response=live.last_response or "",
        )

    def await_call(self, call_id: str) -> None:
        """Read until the row of a running call is there, so that all in front of it is there as well."""
        deadline_s = time.monotonic() + CALL_WAIT_S
        self._live.refresh()
        while not self._live.has_call(call_id) and time.monotonic() < deadline_s:
            time.sleep(CALL_POLL_S)
            self._live.refresh()

    def forget(self) -> None:
        """Read the transcript anew the next time: another process may have patched rows in place."""
        self._live = LiveTranscript(self.transcript, self.loads)

    def origin(self, candidates: Sequence[str]) -> str:
        """See `HostPort.origin`.

        A fork keeps the ids of its rows and names no origin: the file that holds its first row is the one.
        Observed on Claude Code 2.1.332, 2026-11-30.
        """
        self._live.refresh()
        named = [
            s
            for s in (*self._live.reader.forked_from, *self._live.reader.sessions)
            if s in candidates
        ]
        if named:
            return named[0]
        first = next((entry.uuid for entry in self._live.chain), "")
        return next((c for c in candidates if first and self._holds(c, first)), "")

    def _holds(self, session_id: str, uuid: str) -> bool:
        path = self.transcript.with_name(f"{session_id}.jsonl")
        if session_id == self.transcript.stem or not path.is_file() or not path.stat().st_size:
            return False
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(f'"uuid":"{uuid}"'.encode()) >= 0

    def settle(self, offset: int) -> Settled:
        """See `HostPort.settle`."""
        live = self._live
        live.refresh()
        boundary = live.reader.boundary
        if boundary is None or boundary.offset < offset:
            return Settled(is_found=False)
        patched = make_resumable(self.transcript, self.loads)
        if patched.rows or self._reread_at != boundary.offset:
            live.reread()
            self._reread_at = boundary.offset
        how = (
            f"patched {patched.rows} rows"
            if not patched.reason
            else f"not patched: {patched.reason}"
        )
        return Settled(is_found=True, is_resumable=not patched.reason, how=how)


def _placed(usage: UsageSample) -> PlacedSample:
    sample = Sample(
        usage.model,
        usage.input,
        usage.cache_read,
        usage.cache_creation,
        usage.output,
        usage.message_id,
    )
    return PlacedSample(sample, usage.handle)
