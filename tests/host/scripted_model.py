"""A Messages API on loopback that answers from a script, so the real host runs without a model."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self, cast

from tests.host.wire import prompt_parts, shared_length

Body = dict[str, Any]
"""A request as the host sent it, parsed."""

CHARS_PER_TOKEN: Final = 4
"""How this model counts: exact figures do not matter, only that more text is more tokens."""

EXHAUSTED: Final = "(the script is at its end)"


@dataclass(frozen=True, slots=True)
class Step:
    """What the model answers to one request.

    Attributes:
        blocks: Content blocks as the API has them; a `tool_use` without an `id` gets one.
        usage: Usage figures that replace the simulated ones.
        delay_s: How long the model thinks before it answers, in seconds.
        status: An HTTP status; any but 200 answers an API error and no blocks.
    """

    blocks: tuple[dict[str, Any], ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    delay_s: float = 0.0
    status: int = 200


Answer = Step | Callable[[Body], Step]
"""A step, or what makes one from the request that it answers."""


def say(text: str, *more: dict[str, Any]) -> Step:
    """A step that says a text, then calls the tools given."""
    return Step(({"type": "text", "text": text}, *more))


def use(name: str, tool_input: Mapping[str, Any], call_id: str | None = None) -> dict[str, Any]:
    """A tool call block."""
    named = {} if call_id is None else {"id": call_id}
    return {"type": "tool_use", "name": name, "input": dict(tool_input), **named}


def think(thought: str, signature: str = "c2lnbmVk") -> dict[str, Any]:
    """A thinking block."""
    return {"type": "thinking", "thinking": thought, "signature": signature}


def call(*blocks: dict[str, Any]) -> Step:
    """A step of raw blocks: thinking, texts, tool calls, in the order given."""
    return Step(blocks)


def fail(status: int) -> Step:
    """A step that answers an API error, such as 400 or 529."""
    return Step(status=status)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of the main conversation and what was answered.

    Attributes:
        body: The request, parsed.
        usage: The usage figures that the host was given.
        status: The HTTP status that the host was given.
    """

    body: Body
    usage: Mapping[str, int]
    status: int


class ScriptedModel:
    """The server; a context manager whose `url` is the host's `ANTHROPIC_BASE_URL`.

    Requests without tools (titles and the like) are answered apart: they take no step and stand
    in `side_bodies`.
    """

    def __init__(self, script: Sequence[Answer]) -> None:
        self.exchanges: list[Exchange] = []
        self.side_bodies: list[Body] = []
        self.faults: list[str] = []
        self._script = list(script)
        self._taken = 0
        self._prompts_seen: list[str] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def bodies(self) -> list[Body]:
        """The main conversation's requests, oldest first."""
        return [exchange.body for exchange in self.exchanges]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: Body) -> tuple[Step, Mapping[str, int]]:
        """The step for a request, its usage figures, and the record of both."""
        with self._lock:
            if not body.get("tools"):
                self.side_bodies.append(body)
                return say("side"), {"input_tokens": 1, "output_tokens": 1}
            number = self._taken
            self._taken += 1
            step = self._step(number, body)
            usage = {**self._simulated_usage(body, step), **step.usage}
            self.exchanges.append(Exchange(body, usage, step.status))
            return step, usage

    def _step(self, number: int, body: Body) -> Step:
        planned = self._script[number] if number < len(self._script) else say(EXHAUSTED)
        try:
            step = planned(body) if callable(planned) else planned
        except AssertionError as error:
            # The test's own check ran on this thread: keep its words for the test to raise.
            self.faults.append(f"step {number}: {error}")
            step = say(EXHAUSTED)
        blocks = tuple(
            {"id": _fresh_id("toolu"), **block} if block["type"] == "tool_use" else block
            for block in step.blocks
        )
        return Step(blocks, step.usage, step.delay_s, step.status)

    def _simulated_usage(self, body: Body, step: Step) -> dict[str, int]:
        """What a prompt cache would bill: the longest prefix shared with an earlier request."""
        prompt = "\n".join(prompt_parts(body))
        shared = max((shared_length(prompt, seen) for seen in self._prompts_seen), default=0)
        self._prompts_seen.append(prompt)
        return {
            "input_tokens": 3,
            "cache_read_input_tokens": shared // CHARS_PER_TOKEN,
            "cache_creation_input_tokens": (len(prompt) - shared) // CHARS_PER_TOKEN,
            "output_tokens": max(1, len(json.dumps(step.blocks)) // CHARS_PER_TOKEN),
        }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ScriptedModel

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a host that is killed leaves its connection half read."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _model(self) -> ScriptedModel:
        return cast("_Server", self.server).model

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing on the terminal."""

    def do_GET(self) -> None:
        self._send_json({"data": []})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        body: Body = json.loads(raw) if raw else {}
        if path.endswith("/count_tokens"):
            size = sum(len(part) for part in prompt_parts(body))
            self._send_json({"input_tokens": size // CHARS_PER_TOKEN})
        elif path.endswith("/v1/messages"):
            self._send_message(body)
        else:
            self._send_json({})

    def _send_message(self, body: Body) -> None:
        step, usage = self._model.answer(body)
        time.sleep(step.delay_s)
        if step.status != 200:
            error = {"type": "api_error", "message": f"scripted {step.status}"}
            self._send_json({"type": "error", "error": error}, step.status)
            return
        calls = any(block["type"] == "tool_use" for block in step.blocks)
        head = {
            "id": _fresh_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "stop_sequence": None,
        }
        stop_reason = "tool_use" if calls else "end_turn"
        if not body.get("stream"):
            whole = {"content": step.blocks, "stop_reason": stop_reason, "usage": usage}
            self._send_json({**head, **whole})
            return
        self._start_stream()
        opening: dict[str, Any] = {
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        self._send_event("message_start", message={**head, **opening})
        for index, block in enumerate(step.blocks):
            self._send_block(index, block)
        closing = {"stop_reason": stop_reason, "stop_sequence": None}
        spent = {"output_tokens": usage["output_tokens"]}
        self._send_event("message_delta", delta=closing, usage=spent)
        self._send_event("message_stop")
        self.close_connection = True

    def _send_block(self, index: int, block: Mapping[str, Any]) -> None:
        empty, deltas = _streamed(block)
        self._send_event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            self._send_event("content_block_delta", index=index, delta=delta)
        self._send_event("content_block_stop", index=index)

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("request-id", _fresh_id("req"))
        self.send_header("connection", "close")
        self.end_headers()

    def _send_event(self, kind: str, **fields: object) -> None:
        data = json.dumps({"type": kind, **fields})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def _send_json(self, value: Mapping[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("request-id", _fresh_id("req"))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _streamed(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as the stream opens it, and the pieces that fill it."""
    match block["type"]:
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "tool_use":
            filled = json.dumps(block["input"])
            delta = {"type": "input_json_delta", "partial_json": filled}
            return {**block, "input": {}}, [delta]
        case _:
            return dict(block), []


def _fresh_id(kind: str) -> str:
    """An id of the API's own shape and length, never the same twice."""
    return f"{kind}_01{secrets.token_hex(11)}"
