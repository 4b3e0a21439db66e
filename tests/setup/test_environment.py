"""Where the environment lives, when it is ready, and what the lock files hold."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

import pytest
from tests.setup.product import LOCK_ID, ROOT, Product

from context_editor.setup.environment import (
    LOCK_MARK,
    LockUnreadableError,
    lock_id_of,
    run_environment,
)

LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-dev.lock"]


def pinned(lock: Path) -> set[str]:
    """The `name==version` of every requirement of a lock file."""
    return set(re.findall(r"^([\w.\[\]-]+==\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


def test_a_checkout_has_its_own_environment(product: Product) -> None:
    (product.root / ".git").mkdir()

    environment = run_environment(product.root, product.variables)

    assert environment.folder == product.root / ".venv"


def test_a_hosts_copy_has_one_in_the_hosts_data_folder_named_by_its_lock(
    product: Product,
) -> None:
    environment = run_environment(product.root, product.variables)

    assert environment.folder == product.data / "env" / LOCK_ID


def test_a_copy_without_a_host_has_one_in_the_persons_state_folder(product: Product) -> None:
    environment = run_environment(product.root, {"XDG_STATE_HOME": "/state"})

    assert environment.folder == Path("/state/context-editor/env") / LOCK_ID


def test_an_environment_without_its_stamp_is_not_ready(product: Product) -> None:
    product.install()
    environment = run_environment(product.root, product.variables)
    assert environment.is_ready()

    environment.stamp.unlink()

    assert not environment.is_ready()


def test_an_environment_of_another_lock_is_not_ready(product: Product) -> None:
    product.install()
    (product.root / "requirements.lock").write_text("# environment 1\n", encoding="utf-8")

    assert not run_environment(product.root, product.variables).is_ready()


def test_a_lock_file_without_its_mark_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("pydantic==2\n", encoding="utf-8")

    with pytest.raises(LockUnreadableError, match=r"requirements\.lock does not begin with"):
        lock_id_of(tmp_path / "requirements.lock")


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_files_id_is_the_hash_of_what_it_holds(lock: Path) -> None:
    """`scripts/lock` writes both; an edit by hand would let an old environment pass as ready."""
    mark, _, body = lock.read_bytes().partition(b"\n")

    assert mark.decode() == LOCK_MARK + hashlib.sha256(body).hexdigest()[:16]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_requirement_has_a_version_and_a_hash(lock: Path) -> None:
    joined = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()[1:]

    assert joined
    assert [line for line in joined if not re.match(r"\S+==\S+ .*--hash=sha256:\w{64}", line)] == []


def test_the_tools_environment_holds_everything_that_the_product_needs() -> None:
    run, tools = map(pinned, LOCKS)

    assert run < tools


def test_the_locks_name_no_index_but_the_public_one() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in [*LOCKS, ROOT / "uv.lock"])

    hosts = set(re.findall(r"https?://([^/\"]+)", text))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}


@pytest.mark.parametrize(
    "module", sorted((ROOT / "src/context_editor/setup").glob("*.py")), ids=lambda path: path.name
)
def test_the_set_up_parses_on_a_python_too_old_for_the_product(module: Path) -> None:
    """It has to say that the Python is too old, so it must come as far as saying it."""
    ast.parse(module.read_text(encoding="utf-8"), feature_version=(3, 8))
