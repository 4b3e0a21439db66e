"""Where the product's own environment lives, and whether it is ready.

`bin/context-editor` decides the same in shell, so that a ready environment costs no second
interpreter; a test holds the two equal.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[3]
"""The product's folder: the checkout, or the copy that a host made of it."""

OLDEST_PYTHON = (3, 11)
"""The oldest Python that the product runs on, as `requires-python` says."""

RUN_LOCK = "requirements.lock"
TEST_LOCK = "requirements-dev.lock"
"""What the product needs, and that with the test tools; both with hashes, from `uv.lock`."""

LOCK_MARK = "# environment "
"""How a lock file's first line begins; what follows is the hash of the lines after it."""


class LockUnreadableError(Exception):
    """A lock file is missing or has no first line of ours; the copy of the product is damaged."""


@dataclass(frozen=True)
class Environment:
    """One virtual environment and the files around it.

    Attributes:
        folder: The environment itself.
        lock_file: The requirements that it holds, with hashes.
        lock_id: The hash that names this set of requirements.
        notes: The folder of the build's lock, log and note of failure.
        is_in_place: Whether it is a checkout's `.venv`, which is updated where it stands.
    """

    folder: Path
    lock_file: Path
    lock_id: str
    notes: Path
    is_in_place: bool

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """The file that is written last: while it is missing, the environment is not ready."""
        return stamp_in(self.folder, self.lock_id)

    @property
    def build_lock(self) -> Path:
        """The file whose lock a build holds."""
        return self.notes / f"{self.folder.name.lstrip('.')}.lock"

    @property
    def log(self) -> Path:
        """What the last build's programs printed."""
        return self.notes / f"{self.folder.name.lstrip('.')}.log"

    @property
    def failure(self) -> Path:
        """One line saying why the last build failed; missing when it did not."""
        return self.notes / f"{self.folder.name.lstrip('.')}.failed"

    def is_ready(self) -> bool:
        """Whether it can be used: the stamp is there, and the interpreter behind it still is."""
        return self.stamp.exists() and os.access(self.python, os.X_OK)


def stamp_in(folder: Path, lock_id: str) -> Path:
    """The stamp that says a folder holds the requirements of this id."""
    return folder / f"ready-{lock_id}"


def lock_id_of(lock_file: Path) -> str:
    """The id that a lock file's first line names.

    Raises:
        LockUnreadableError: There is no such file or no such line.
    """
    try:
        with lock_file.open(encoding="utf-8") as lines:
            first = lines.readline()
    except OSError as error:
        message = f"cannot read {lock_file}: {error.strerror}"
        raise LockUnreadableError(message) from error
    if not first.startswith(LOCK_MARK):
        message = f"{lock_file} does not begin with {LOCK_MARK.strip()!r}; run scripts/lock"
        raise LockUnreadableError(message)
    return first[len(LOCK_MARK) :].strip()


def run_environment(root: Path, variables: Mapping[str, str]) -> Environment:
    """The environment that the product runs in.

    Args:
        root: The product's folder.
        variables: The process's environment variables.

    Returns:
        `.venv` in a checkout that may be written; else a folder named by the lock's id under the
        host's data folder, or under the person's own where no host is around.
    """
    lock_file = root / RUN_LOCK
    lock_id = lock_id_of(lock_file)
    if is_checkout(root):
        return _in_checkout(root, lock_file, lock_id)
    notes = data_folder(variables) / "env"
    return Environment(notes / lock_id, lock_file, lock_id, notes, is_in_place=False)


def tools_environment(root: Path) -> Environment:
    """The environment with the test tools: always the checkout's own `.venv`."""
    lock_file = root / TEST_LOCK
    return _in_checkout(root, lock_file, lock_id_of(lock_file))


def is_checkout(root: Path) -> bool:
    """Whether this folder is a git checkout that we may write in, not a host's copy."""
    return (root / ".git").exists() and os.access(root, os.W_OK)


def data_folder(variables: Mapping[str, str]) -> Path:
    """`<data>`: the host's folder for this plugin, else the person's state folder."""
    given = variables.get("CLAUDE_PLUGIN_DATA")
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "context-editor"
    state = variables.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "context-editor"


def _in_checkout(root: Path, lock_file: Path, lock_id: str) -> Environment:
    notes = root / ".cache"
    return Environment(root / ".venv", lock_file, lock_id, notes, is_in_place=True)
