"""What the engine asks of a host, and what it is told: the seams that an adapter fills."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from context_editor.core.apply.emissions import Build
from context_editor.core.assemble import OwnFacts
from context_editor.core.conversation import Conversation
from context_editor.core.measure import PlacedSample


@dataclass(frozen=True)
class Reading:
    """The conversation as the host's file holds it now.

    Attributes:
        conversation: Pieces and rows.
        samples: Usage samples, oldest first.
        transcript: The host's file.
        size: Bytes of it that were read.
        boundaries: How many times the conversation was begun anew in this file.
        cwd: The folder that the session works in; empty when unknown.
        is_mid_turn: Whether an answer is being written, or a tool is running, now.
        running_response: The id of the newest answer: the one that makes a call, or that ended the turn.
    """

    conversation: Conversation
    samples: Sequence[PlacedSample] = ()
    transcript: Path = field(default_factory=Path)
    size: int = 0
    boundaries: int = 0
    cwd: str = ""
    is_mid_turn: bool = False
    running_response: str = ""


@dataclass(frozen=True)
class HostRow:
    """One row of the conversation as the host hands it over for an apply.

    Attributes:
        handle: The token by which the host knows it.
        role: Who speaks.
        length: Characters of its text.
        head: The first characters of its text.
        tail: The last characters of its text.
        calls: Ids of its tool calls.
        results: Ids of the calls whose results it holds.
    """

    handle: str
    role: str
    length: int = 0
    head: str = ""
    tail: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApplyAnswer:
    """What the host is to do with its conversation.

    Attributes:
        skip: Why nothing is to change; empty when the conversation is to be replaced.
        rows: Runs of the host's own rows to keep, as (first, past the last), and rows to build, in order.
        edits: How many edits this applies.
        is_hosts: Whether the host goes on with a compaction of its own, over `rows` where there are any.
    """

    skip: str = ""
    rows: tuple[tuple[int, int] | Build, ...] = ()
    edits: int = 0
    is_hosts: bool = False


@dataclass(frozen=True)
class Settled:
    """What became of an apply that was handed to the host.

    Attributes:
        is_found: Whether a new conversation stands in the host's file behind the hand-over.
        is_resumable: Whether a resume is sure to show what the live session shows.
        how: How that was made sure, for the log of applies; why not, where it is not sure.
    """

    is_found: bool
    is_resumable: bool = False
    how: str = ""


class HostPort(Protocol):
    """One session of one host."""

    @property
    def own_tool(self) -> str:
        """The full name of our editing tool in this host: the tool that a collapse pretends was called."""
        ...

    def read(self, own: OwnFacts) -> Reading:
        """The conversation as it is now.

        Raises:
            TranscriptError: The host's file cannot be read.
        """
        ...

    def origin(self, candidates: Sequence[str]) -> str:
        """Which of these sessions this one was copied from; empty when it is none's copy."""
        ...

    def settle(self, offset: int) -> Settled:
        """Look for a new conversation behind `offset` bytes of the host's file, and make a resume show it."""
        ...


@dataclass(frozen=True)
class Clock:
    """The time, passed in so that decisions never read it.

    Attributes:
        now_s: Seconds since the epoch, UTC.
        stamp: The time as ISO 8601 with offset.
        measure_s: A steady clock for durations, in seconds.
        sleep: Waits so many seconds.
    """

    now_s: Callable[[], float]
    stamp: Callable[[], str]
    measure_s: Callable[[], float]
    sleep: Callable[[float], None] = time.sleep
