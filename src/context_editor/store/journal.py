"""What the disk says about a journal entry; the only importer of `yaml`.

See docs/decisions/2026-11-30-yaml.md for why a library reads the frontmatter.
"""

import os
import stat
from pathlib import Path
from typing import Final

import yaml

from context_editor.core.journal import AREA, ENTRY_NAME, FileKind, JournalFacts, is_entry_place

_LOADER_FAULTS: Final = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    RecursionError,
)
"""What the parser lets out.

Its own errors, those of its converters for a scalar that does not fit its tag
(`2026-13-45` as a date, `!!bool x`), and the interpreter's for text nested too deep."""


def loaded(text: str) -> object:
    """The plain values of a YAML text.

    Raises:
        ValueError: It is not YAML; the message is one line.
    """
    try:
        return yaml.safe_load(text)
    except _LOADER_FAULTS as error:
        msg = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(msg) from error


def facts_of(root: Path, value: object, area: str = AREA) -> JournalFacts:
    """The facts about a journal path, as far as the checks can need them.

    Nothing is opened unless the resolved path is where an entry may stand.

    Args:
        root: The project root.
        value: The path as it was given, of any type; a relative one counts from the root.
        area: The folder of all entries, relative to the root.
    """
    if not isinstance(value, str) or not value.strip():
        return JournalFacts(value, area=area)
    relative = _relative(root, value)
    # The folder itself may be a link to another place in the project.
    area = _relative(root, area) or area
    if relative is None or not is_entry_place(relative, area):
        return JournalFacts(value, relative, area=area)
    kind, content = _read(root / relative)
    _, index = _read(root / area / ENTRY_NAME)
    text = index.decode("utf-8", "replace") if index else None
    return JournalFacts(value, relative, kind, content, text, area)


def _relative(root: Path, value: str) -> str | None:
    try:
        home = root.resolve(strict=True)
        return (home / value.strip()).resolve().relative_to(home).as_posix()
    except (OSError, ValueError, RuntimeError):
        # Outside, a NUL byte, or links that run in a circle (RuntimeError up to Python 3.12).
        return None


def _read(path: Path) -> tuple[FileKind, bytes]:
    """What stands there, and its bytes.

    Opened without waiting, then looked at through the open file: a pipe in the entry's place must
    neither hold the call up nor be swapped in between the look and the reading.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return "missing", b""
    except OSError:
        return "unreadable", b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "other", b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return "file", file.read()
    finally:
        os.close(descriptor)
