"""The launcher: the server itself where it can be, else never a failed connection."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from tests.setup.product import LOCK_ID, PUBLISHED, Product

from context_editor.setup.waiting import HANDSHAKE_VERSIONS

pytestmark = pytest.mark.process


class Client:
    """An MCP client that speaks bytes: one line a message, both ways."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._ids = 0

    @classmethod
    def of_launcher(cls, product: Product, wait: str = "15") -> Client:
        return cls(product.start(product.module("context_editor.setup.launcher", "--wait", wait)))

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and read one line; it must be the answer."""
        self._ids += 1
        self.send({"id": self._ids, "method": method, "params": params})
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        answer: dict[str, Any] = json.loads(line)
        assert (answer.pop("jsonrpc"), answer.pop("id")) == ("2.0", self._ids)
        return answer

    def open(self, version: str = "2025-11-25") -> dict[str, Any]:
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={})
        self.send({"method": "notifications/initialized"})
        return answer

    def call(self) -> str:
        """The text of a call of the first tool; it must be one line, marked as an error."""
        result = self.ask("tools/call", name="context_list", arguments={})["result"]
        assert result["isError"] is True
        (content,) = result["content"]
        assert content["type"] == "text"
        assert "\n" not in content["text"]
        return str(content["text"])

    def leave(self) -> int:
        """Close the connection; the launcher's exit status."""
        self.process.communicate()
        return self.process.returncode


def test_a_ready_environments_server_takes_the_process_over(product: Product) -> None:
    product.install()

    client = Client.of_launcher(product)

    assert client.ask("initialize") == {"result": {"server": "initialize"}}
    assert client.process.stderr is not None
    assert json.loads(client.process.stderr.readline()) == {"server": client.process.pid}
    assert client.leave() == 7


def test_an_install_that_is_soon_done_leaves_the_first_answer_to_the_server(
    product: Product,
) -> None:
    client = Client.of_launcher(product)

    assert client.open() == {"result": {"server": "initialize"}}
    assert client.leave() == 7
    assert product.is_ready


def test_a_slow_install_is_answered_for_with_the_servers_own_handshake_and_tools(
    product: Product,
) -> None:
    product.tell_uv("hold")
    client = Client.of_launcher(product, wait="0.1")

    handshake = client.open(version="2025-06-18")["result"]

    assert handshake == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": PUBLISHED["serverInfo"],
        "instructions": PUBLISHED["instructions"],
    }
    assert client.ask("tools/list") == {"result": {"tools": PUBLISHED["tools"]}}
    assert client.ask("ping") == {"result": {}}
    assert client.leave() == 0
    (product.path / "uv.hold").unlink()


def test_a_call_during_a_slow_install_says_in_one_line_that_it_goes_on(product: Product) -> None:
    product.tell_uv("hold")
    client = Client.of_launcher(product, wait="0.1")
    client.open()

    text = client.call()

    assert text.startswith("context-editor is still installing its environment")
    assert f"{product.data}/env/{LOCK_ID}.log" in text
    client.leave()
    (product.path / "uv.hold").unlink()


def test_once_a_slow_install_is_done_the_server_answers_in_the_same_connection(
    product: Product,
) -> None:
    held = product.tell_uv("hold")
    client = Client.of_launcher(product, wait="0.1")
    client.open()
    client.call()

    held.unlink()
    product.await_ready()

    # The server hears the opening again; the client, who has its answer, does not.
    assert client.ask("tools/call", name="context_list") == {"result": {"server": "tools/call"}}
    assert client.ask("tools/list") == {"result": {"server": "tools/list"}}
    assert client.leave() == 7


def test_a_host_that_leaves_does_not_end_the_install(product: Product) -> None:
    held = product.tell_uv("hold")
    client = Client.of_launcher(product, wait="0.1")
    client.open()

    assert client.leave() == 0
    held.unlink()

    product.await_ready()


def test_a_failed_install_says_why_and_what_to_run_at_every_call(product: Product) -> None:
    product.tell_uv("fail")
    client = Client.of_launcher(product)

    assert client.open()["result"]["serverInfo"] == PUBLISHED["serverInfo"]
    texts = {client.call(), client.call()}

    (text,) = texts
    assert text.startswith("context-editor could not be installed: ")
    assert "the index cannot be reached" in text
    assert f"{product.root}/bin/context-editor install" in text
    assert client.leave() == 0


def test_an_install_made_by_hand_after_a_failed_one_is_used_without_a_restart(
    product: Product,
) -> None:
    failing = product.tell_uv("fail")
    client = Client.of_launcher(product)
    client.open()
    client.call()

    failing.unlink()
    assert product.script("install").returncode == 0

    assert client.ask("tools/list") == {"result": {"server": "tools/list"}}
    assert client.leave() == 7


def test_two_sessions_that_start_at_once_share_one_install(product: Product) -> None:
    held = product.tell_uv("hold")
    clients = [Client.of_launcher(product) for _ in range(2)]
    product.await_uv()
    held.unlink()

    answers = [client.open() for client in clients]

    assert answers == [{"result": {"server": "initialize"}}] * 2
    assert product.uv_calls() == ["venv --no-project", "pip install"]
    assert [client.leave() for client in clients] == [7, 7]


@pytest.mark.parametrize(
    ("asked", "given"),
    [*((version, version) for version in HANDSHAKE_VERSIONS), ("1999-01-01", "2025-11-25")],
)
def test_the_protocol_version_is_the_clients_where_it_is_known(
    product: Product, asked: str, given: str
) -> None:
    (product.root / "requirements.lock").unlink()
    client = Client.of_launcher(product)

    assert client.open(version=asked)["result"]["protocolVersion"] == given
    client.leave()


def test_the_known_protocol_versions_are_the_sdks() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


def test_what_the_stand_in_does_not_know_is_refused_by_name(product: Product) -> None:
    """The host tries `server/discover` first and falls back to the handshake upon this answer."""
    (product.root / "requirements.lock").unlink()
    client = Client.of_launcher(product)

    error = {"code": -32601, "message": "Method not found", "data": "server/discover"}
    assert client.ask("server/discover") == {"error": error}
    client.leave()


def test_lines_that_are_no_requests_are_passed_over_in_silence(product: Product) -> None:
    (product.root / "requirements.lock").unlink()
    client = Client.of_launcher(product)
    assert client.process.stdin is not None

    client.process.stdin.write(b'not json\n[]\n"text"\n{"id": 4}\n\n')
    client.send({"method": "notifications/cancelled", "params": {"requestId": 1}})

    assert client.ask("ping") == {"result": {}}
    assert client.leave() == 0


def test_a_damaged_copy_says_so_at_every_call(product: Product) -> None:
    (product.root / "requirements.lock").write_text("requests\n", encoding="utf-8")
    client = Client.of_launcher(product)
    client.open()

    assert client.call().startswith("context-editor cannot start: ")
    client.leave()


def test_a_python_too_old_tells_the_host_what_it_needs(bare: Product) -> None:
    old = next(filter(None, map(shutil.which, ("python3.8", "python3.9", "python3.10"))), None)
    works = old and subprocess.run([old, "-c", ""], check=False, capture_output=True)
    if not works or works.returncode:
        pytest.skip("no Python older than 3.11 is here")
    (bare.path / "python3").symlink_to(old or os.devnull)
    script = str(bare.root / "bin" / "context-editor")
    client = Client(bare.start([script, "serve"], PATH=f"{bare.path}:/nowhere"))
    client.open()

    assert client.call().startswith("context-editor needs Python 3.11 or newer; ")
    assert client.leave() == 0
