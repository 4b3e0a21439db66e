"""The environment: made once, whole or not at all, whoever asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.setup.product import LOCK_ID, Product, wheel

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

INSTALL = "context_editor.setup.install"


def beside(product: Product) -> set[str]:
    """The names of what stands in the folder of environments."""
    return {path.name for path in (product.data / "env").iterdir()}


def test_an_install_leaves_a_stamp_an_interpreter_and_its_log(product: Product) -> None:
    done = product.install()

    assert done.returncode == 0, done.stderr
    assert product.is_ready
    assert os.access(product.folder / "bin" / "python", os.X_OK)
    names = {LOCK_ID, f"{LOCK_ID}.lock", f"{LOCK_ID}.log", f"{LOCK_ID}.table.log"}
    assert beside(product) == names


def test_an_install_says_on_stderr_where_it_is_made_and_that_it_is_ready(product: Product) -> None:
    done = product.install()

    first, last = done.stderr.splitlines()
    assert first.startswith(f"context-editor: making its environment in {product.folder}")
    assert last.startswith("context-editor: environment ready after ")
    assert done.stdout == ""


def test_what_an_install_writes_is_the_persons_own(product: Product) -> None:
    product.install()

    assert (product.data / "env").stat().st_mode & 0o077 == 0
    assert (product.data / "env" / f"{LOCK_ID}.log").stat().st_mode & 0o077 == 0


def test_a_ready_environment_is_not_made_again(product: Product) -> None:
    product.install()
    calls = product.uv_calls()

    again = product.install()

    assert (again.returncode, again.stderr) == (0, "")
    assert product.uv_calls() == calls


def test_an_environment_is_made_anew_when_asked(product: Product) -> None:
    product.install()
    (product.folder / "damaged").touch()

    done = product.install("--again")

    assert done.returncode == 0, done.stderr
    assert product.is_ready
    assert not (product.folder / "damaged").exists()


def test_a_failed_install_says_why_and_what_to_run_in_one_line(product: Product) -> None:
    product.tell_uv("fail")

    done = product.install("--quiet")

    assert done.returncode == 1
    line = done.stderr.removeprefix("context-editor: ")
    assert line == (product.data / "env" / f"{LOCK_ID}.failed").read_text(encoding="utf-8")
    assert line.count("\n") == 1
    assert line.startswith(
        "cannot install the packages with uv: error: the index cannot be reached; cannot find pip"
    )
    assert f"to try again: {product.root}/bin/context-editor install" in line


def test_a_failed_install_leaves_nothing_half_made_and_the_next_one_clears_its_note(
    product: Product,
) -> None:
    failing = product.tell_uv("fail")
    product.install()
    assert f"{LOCK_ID}.failed" in beside(product)
    assert LOCK_ID not in beside(product)

    failing.unlink()
    product.install()

    assert product.is_ready
    assert f"{LOCK_ID}.failed" not in beside(product)


def test_two_installs_at_once_make_one_environment(product: Product) -> None:
    held = product.tell_uv("hold")
    first = product.start(product.module(INSTALL))
    product.await_uv()
    second = product.start(product.module(INSTALL))
    assert second.stderr is not None
    assert b"another install is going on; waiting" in second.stderr.readline()

    held.unlink()

    for process in (first, second):
        process.communicate()
        assert process.returncode == 0
    assert product.uv_calls() == ["venv --no-project", "pip install"]


def test_a_killed_install_holds_up_nobody_and_its_leftovers_go(product: Product) -> None:
    held = product.tell_uv("hold")
    killed = product.start(product.module(INSTALL))
    product.await_uv()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert any(name.startswith(f".{LOCK_ID}-") for name in beside(product))
    held.unlink()

    done = product.install()

    assert done.returncode == 0, done.stderr
    assert not any(name.startswith(f".{LOCK_ID}-") for name in beside(product))


def test_an_environment_whose_interpreter_is_gone_is_made_again(product: Product) -> None:
    product.install()
    (product.folder / "bin" / "python").unlink()
    (product.folder / "bin" / "python").symlink_to("/nowhere/python3.11")

    done = product.install()

    assert done.returncode == 0, done.stderr
    assert (product.folder / "bin" / "python").resolve().exists()


def test_a_folder_that_cannot_be_written_is_named(product: Product) -> None:
    product.data.write_text("a file stands in the way", encoding="utf-8")

    done = product.install()

    assert done.returncode == 1
    assert str(product.data) in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_copy_is_named(product: Product) -> None:
    (product.root / "requirements.lock").unlink()

    done = product.install()

    assert done.returncode == 1
    assert "requirements.lock" in done.stderr


@pytest.mark.timeout(60)
def test_without_uv_the_locked_packages_come_by_pip(bare: Product, tmp_path: Path) -> None:
    bare.lock(wheel(tmp_path / "wheels"))
    command = bare.module(INSTALL)

    done = bare.run(command, PIP_FIND_LINKS=str(tmp_path / "wheels"))

    assert done.returncode == 0, done.stderr
    python = [str(bare.folder / "bin" / "python"), "-I", "-c", "import tiny; print(tiny.VALUE)"]
    assert subprocess.check_output(python, encoding="utf-8") == "1\n"


@pytest.mark.timeout(60)
def test_a_package_that_is_not_the_locked_one_is_refused(bare: Product, tmp_path: Path) -> None:
    requirement = wheel(tmp_path / "wheels")
    bare.lock(requirement[:-65] + "0" * 64 + "\n")

    done = bare.run(bare.module(INSTALL), PIP_FIND_LINKS=str(tmp_path / "wheels"))

    assert done.returncode == 1
    assert not bare.is_ready


def test_a_checkouts_own_environment_is_updated_where_it_stands(product: Product) -> None:
    (product.root / ".git").mkdir()
    venv = product.root / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (venv / "ready-of-an-older-lock").touch()

    done = product.install()

    assert done.returncode == 0, done.stderr
    assert product.uv_calls() == ["pip install"]
    assert [path.name for path in venv.glob("ready-*")] == [f"ready-{LOCK_ID}"]
    link = venv / "lib" / "python3.11" / "site-packages" / "context_editor.pth"
    assert link.read_text(encoding="utf-8") == f"{product.root / 'src'}\n"
    assert not product.data.exists()


def test_the_environment_with_the_tools_is_ready_for_the_product_too(product: Product) -> None:
    (product.root / ".git").mkdir()
    tools_lock = product.root / "requirements-dev.lock"
    tools_lock.write_text("# environment fedcba9876543210\n", encoding="utf-8")

    done = product.install("--tools")

    assert done.returncode == 0, done.stderr
    stamps = {path.name for path in (product.root / ".venv").glob("ready-*")}
    assert stamps == {f"ready-{LOCK_ID}", "ready-fedcba9876543210"}
