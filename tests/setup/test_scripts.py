"""`bin/context-editor`: thin once the environment is ready, clear while it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.setup.product import ROOT, Product

from context_editor.setup.environment import run_environment

pytestmark = pytest.mark.process


def test_the_first_call_makes_the_environment_and_then_does_its_work(product: Product) -> None:
    done = product.script("list", "--json", "a b")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[1:] == ["list", "--json", "a b"]
    assert "making its environment" in done.stderr


def test_a_later_call_says_nothing_of_its_own(product: Product) -> None:
    product.install()

    done = product.script("list")

    assert (done.returncode, done.stderr) == (0, "")


def test_a_call_whose_install_fails_ends_with_one_and_the_reason(product: Product) -> None:
    product.tell_uv("fail")

    done = product.script("list")

    assert done.returncode == 1
    assert "to try again: " in done.stderr
    assert done.stdout == ""


def test_a_hook_never_installs_and_says_nothing(product: Product) -> None:
    done = product.script("hook", "Stop")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert product.uv_calls() == []


def test_a_hook_blocks_nothing_where_no_home_is_set(product: Product) -> None:
    variables = {"PATH": os.environ["PATH"]}
    script = str(product.root / "bin" / "context-editor")

    done = subprocess.run(
        [script, "hook", "pre-tool-use"],
        env=variables,
        capture_output=True,
        check=False,
        input=b"{}",
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("tool", "allowed"),
    [
        ({"tool_name": "mcp__plugin_context-editor_editor__context_list"}, True),
        ({"tool_name": "Read", "tool_input": {"file_path": "/x"}}, False),
        (
            {
                "tool_name": "Read",
                "tool_input": {"file_path": '"tool_name":"mcp__plugin_context-editor_editor__x"'},
            },
            False,
        ),
    ],
    ids=["own", "other", "other-that-quotes-our-name"],
)
def test_until_the_environment_is_ready_only_our_own_tools_are_allowed(
    product: Product, tool: dict[str, object], *, allowed: bool
) -> None:
    """What they do then is to say how the install goes; a refusal would hide that."""
    process = product.start([str(product.root / "bin" / "context-editor"), "hook", "pre-tool-use"])

    told, complaints = process.communicate(json.dumps(tool, separators=(",", ":")).encode())

    assert (process.returncode, complaints) == (0, b"")
    assert (b'"permissionDecision":"allow"' in told) is allowed
    assert allowed or told == b""


def test_the_bridge_never_installs_and_says_that_it_cannot_answer(product: Product) -> None:
    done = product.script("bridge", "compact")

    assert (done.returncode, done.stdout) == (1, "")
    assert "not ready" in done.stderr
    assert product.uv_calls() == []


def test_a_hook_runs_once_the_environment_is_ready(product: Product) -> None:
    product.install()

    assert json.loads(product.script("hook", "stop").stdout)[1:] == ["stop.py"]


def test_an_unknown_hook_is_named_and_stands_in_nobodys_way(product: Product) -> None:
    product.install()

    done = product.script("hook", "Stopp")

    assert done.returncode == 0
    assert "there is no hook 'Stopp'" in done.stderr


def test_it_works_through_links_from_elsewhere(product: Product) -> None:
    product.install()
    (product.machine / "one").symlink_to("plugin/bin/context-editor")
    (product.machine / "two").symlink_to(product.machine / "one")

    done = product.run([str(product.machine / "two"), "list"])

    assert json.loads(done.stdout)[1:] == ["list"]


def test_serve_is_the_server_once_the_environment_is_ready(product: Product) -> None:
    product.install()
    process = product.start([str(product.root / "bin" / "context-editor"), "serve"])

    _, told = process.communicate(b"")

    assert json.loads(told) == {"server": process.pid}
    assert process.returncode == 7


def test_the_persons_own_pythonpath_stays_out(product: Product) -> None:
    product.install()
    (product.machine / "json.py").write_text("raise SystemExit('theirs')", encoding="utf-8")

    done = product.script("list", PYTHONPATH=str(product.machine))

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", ["checkout", "host", "state", "home"])
def test_the_shell_finds_the_environment_where_python_makes_it(
    product: Product, place: str
) -> None:
    """The script decides in shell what `environment.py` decides in Python."""
    variables = dict(product.variables)
    if place == "checkout":
        (product.root / ".git").mkdir()
    elif place != "host":
        variables["CLAUDE_PLUGIN_DATA"] = ""
    if place == "state":
        variables["XDG_STATE_HOME"] = str(product.machine / "a state")
    script = str(product.root / "bin" / "context-editor")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [script, *arguments]
        return subprocess.run(
            command, env=variables, capture_output=True, check=True, encoding="utf-8"
        )

    call("install")
    after = call("list")

    assert after.stderr == ""
    if place != "home":  # where Path.home() of this very process is another
        assert run_environment(product.root, variables).is_ready()


def test_without_a_python_new_enough_one_line_says_so(bare: Product) -> None:
    done = bare.script("list", PATH=str(bare.path))

    assert done.returncode == 1
    assert done.stderr.startswith("context-editor needs Python 3.11 or newer; ")
    assert done.stderr.count("\n") == 1


def test_a_python_that_is_only_a_name_on_path_is_passed_over(product: Product) -> None:
    (product.path / "python3").unlink()
    product.program("python3", "echo 'not installed' >&2; exit 127\n", "/bin/sh")
    (product.path / "python3.13").symlink_to(sys.executable)

    done = product.script("list")

    assert done.returncode == 0, done.stderr


def test_the_install_goes_on_where_the_first_of_two_calls_is_ended(product: Product) -> None:
    held = product.tell_uv("hold")
    first = product.start([str(product.root / "bin" / "context-editor"), "list"])
    product.await_uv()
    first.terminate()
    first.wait()
    held.unlink()

    assert product.script("list").returncode == 0
    assert product.uv_calls() == ["venv --no-project", "pip install"]
    first.communicate()


def test_ci_runs_the_tests_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert lines == ["#!/bin/sh", 'exec "$(dirname -- "$0")/../bin/test"']


@pytest.mark.parametrize("name", ["bin/context-editor", "bin/test", ".ci/run", "scripts/lock"])
def test_the_scripts_are_executable_shell_that_parses(name: str) -> None:
    script = ROOT / name

    assert os.access(script, os.X_OK)
    assert subprocess.run(["/bin/sh", "-n", str(script)], check=False).returncode == 0
