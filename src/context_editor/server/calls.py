"""One tool call: from raw arguments to a text, whatever happens in between."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Final

from context_editor.errors import ContextEditorError, RefusedError
from context_editor.server.registry import TOOLS
from context_editor.server.sessions import HOST_KEY, SESSION_VARIABLE, Sessions, caller_of
from context_editor.server.tool import Tool
from context_editor.server.uncollected import uncollected

LOG_BYTES: Final = 256_000
"""The log of faults is small: it is read after one, and one older file is kept beside it."""

FAULT: Final = (
    "{} failed by a fault of context-editor; the conversation and the queue are unchanged (log: {})"
)
"""What a call is told that failed in a way nobody foresaw."""

_log = logging.getLogger("context_editor.server.faults")


@dataclass(frozen=True)
class Answer:
    """What a call is answered with.

    Attributes:
        text: For the model.
        is_refusal: Whether the call did nothing.
    """

    text: str
    is_refusal: bool = False


@dataclass(frozen=True)
class Desk:
    """Answers calls.

    Attributes:
        sessions: The sessions that it answers for.
    """

    sessions: Sessions

    def answer(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer to a call; every failure is one as well."""
        try:
            with uncollected():
                return Answer(self._text(name, dict(arguments)))
        except ContextEditorError as error:
            return Answer(str(error), is_refusal=True)
        except Exception:  # noqa: BLE001 (the one boundary: logged with its traceback, told in a line)
            return Answer(FAULT.format(name, log_fault(self.sessions.data, name)), is_refusal=True)

    def _text(self, name: str, arguments: dict[str, Any]) -> str:
        tool = _tool(name)
        caller = caller_of(arguments.pop(HOST_KEY, None))
        text = tool.answer(lambda: self.sessions.engine(caller), arguments)
        self.sessions.answered(caller)
        if not caller.is_assumed:
            return text
        return f"{text}\nSession: {caller.id} (named by {SESSION_VARIABLE})"


def _tool(name: str) -> Tool[Any]:
    tool = TOOLS.get(name)
    if tool is None:
        msg = f"there is no tool {name!r}; allowed: {', '.join(TOOLS)}"
        raise RefusedError(msg)
    return tool


def log_fault(data: Path, name: str) -> str:
    """Write the fault that is being handled to the log; where that is, or why there is none."""
    path = data / "log" / "server.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
    except OSError as error:
        return f"none could be written: {error}"
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    _log.addHandler(handler)
    _log.propagate = False
    _log.exception("%s failed", name)
    _log.removeHandler(handler)
    handler.close()
    path.chmod(0o600)
    return str(path)
