"""Writes the demo's session as Claude Code writes its transcripts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

Block: TypeAlias = dict[str, Any]

Made: TypeAlias = tuple[str, Mapping[str, Any], str]
"""A tool call: the tool, its input, and its result."""

MODEL: Final = "claude-opus-5-5"
WINDOW_TOKENS: Final = 200_000
"""The window that the demo's model is said to have."""

BASE_TOKENS: Final = 17_000
CHARS_PER_TOKEN: Final = 3.1
"""What the demo's usage figures follow: a system prompt with tools, and code-like text."""


@dataclass
class Script:
    """A transcript in the making.

    Attributes:
        session: The session id.
        cwd: The folder that the session works in.
        lines: The lines so far.
    """

    session: str
    cwd: str
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _chars: int = 0
    _calls: int = 0
    _responses: int = 0
    _turns: int = 0

    def person(self, words: str) -> None:
        """A prompt that a person typed."""
        self._turns += 1
        facts = {
            "promptId": f"prompt-{self._turns}",
            "origin": {"kind": "human"},
            "promptSource": "typed",
            "turnOrigin": "human",
            "turnPosition": {"promptIndex": self._turns, "turnIndex": self._turns},
        }
        self._add("user", {"role": "user", "content": words}, facts)

    def host(self, kind: str, words: str) -> None:
        """What the host hangs behind the last line for the model to read."""
        shown = {"content": f"<system-reminder>\n{words}\n</system-reminder>"}
        attachment = {"attachment": {"type": kind}, "rendered": [shown], "renderedRole": "system"}
        self._add("attachment", {"content": words}, attachment)

    def says(self, words: str) -> None:
        """An answer without a call."""
        self._answer([{"type": "text", "text": words}])

    def does(self, words: str, *calls: Made) -> None:
        """An answer with calls, and their results."""
        made = [(self._next_call(), *given) for given in calls]
        uses: list[Block] = [
            {"type": "tool_use", "id": call_id, "name": tool, "input": dict(given)}
            for call_id, tool, given, _ in made
        ]
        self._answer([*([{"type": "text", "text": words}] if words else []), *uses])
        for call_id, _, _, result in made:
            block = {"tool_use_id": call_id, "type": "tool_result", "content": result}
            self._add("user", {"role": "user", "content": [block]}, {})

    def _next_call(self) -> str:
        self._calls += 1
        return f"toolu_demo_{self._calls:02d}"

    def _answer(self, blocks: Sequence[Block]) -> None:
        self._responses += 1
        read = BASE_TOKENS + round(self._chars / CHARS_PER_TOKEN)
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": read - 904,
            "output_tokens": 60 * len(blocks),
        }
        for block in blocks:
            message = {
                "id": f"msg_demo_{self._responses:03d}",
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
                "usage": usage,
            }
            self._add("assistant", message, {"requestId": f"req_demo_{self._responses:03d}"})

    def _add(self, kind: str, message: dict[str, Any], facts: Mapping[str, Any]) -> None:
        number = len(self.lines) + 1
        self._chars += len(json.dumps(message["content"]))
        self.lines.append(
            {
                "parentUuid": self.lines[-1]["uuid"] if self.lines else None,
                "isSidechain": False,
                **facts,
                "type": kind,
                **({} if kind == "attachment" else {"message": message}),
                "uuid": f"de300000-0000-4000-8000-{number:012d}",
                "timestamp": f"2026-11-30T09:{number // 60:02d}:{number % 60:02d}.000Z",
                "userType": "external",
                "entrypoint": "cli",
                "cwd": self.cwd,
                "sessionId": self.session,
                "version": "2.1.332",
                "gitBranch": "main",
            }
        )

    def write(self, path: Path) -> None:
        """Write the transcript."""
        written = (json.dumps(line, ensure_ascii=False) for line in self.lines)
        path.write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
