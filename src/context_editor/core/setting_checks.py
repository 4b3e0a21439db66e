"""Checks of single settings: each gives the value as it is used, or names what is allowed."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from context_editor.core.rows import Json
from context_editor.errors import SettingsError

Check: TypeAlias = Callable[[str, Json], object]
"""Takes a setting's name and its value; raises SettingsError where the value is not allowed."""


SHOWN_CHARS: Final = 60
"""How much of a wrong value is shown: enough to know it again."""


def shown(value: object) -> str:
    """A value or a key as it is shown: quoted, since a file from elsewhere may hold anything."""
    words = repr(value)
    return words if len(words) <= SHOWN_CHARS else f"{words[: SHOWN_CHARS - 1]}…"


def wrong(key: str, value: Json, allowed: str) -> SettingsError:
    """The error that names a setting, what was given and what is allowed."""
    msg = f"{key} is {shown(value)}: allowed is {allowed}"
    return SettingsError(msg)


def count_from(least: int) -> Check:
    """A whole number, at least this one."""

    def check(key: str, value: Json) -> int:
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole or int(value) < least:  # type: ignore[arg-type]
            raise wrong(key, value, f"a whole number from {least} on")
        return int(value)  # type: ignore[arg-type]

    return check


def ratio(key: str, value: Json) -> float:
    """A share above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise wrong(key, value, "a number above 0 and at most 1")
    return float(value)


def ratios(key: str, value: Json) -> tuple[float, ...]:
    """Shares, rising; none at all is allowed."""
    allowed = "a list of numbers above 0 and at most 1"
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong(key, value, allowed)
    found: set[float] = set()
    for one in value:
        try:
            found.add(ratio(key, float(one) if isinstance(one, str) else one))
        except (SettingsError, ValueError):
            raise wrong(key, value, allowed) from None
    return tuple(sorted(found))


def switch(key: str, value: Json) -> bool:
    """A truth value."""
    if not isinstance(value, bool):
        raise wrong(key, value, "true or false")
    return value


def text(key: str, value: Json) -> str:
    """A text; an empty one stands for none."""
    if not isinstance(value, str) or "\x00" in value:
        raise wrong(key, value, "a text")
    return value.strip()


def folder(key: str, value: Json) -> str:
    """An absolute path; an empty one stands for none."""
    path = text(key, value)
    if path and not path.startswith("/"):
        raise wrong(key, value, "an absolute path")
    return path


def names(key: str, value: Json) -> tuple[str, ...]:
    """Names, each once and none of them blank."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong(key, value, "a list of names")
    found: list[str] = []
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise wrong(key, value, "a list of names, none of them blank")
        found.append(name.strip())
    return tuple(dict.fromkeys(found))


def one_of(*allowed: str) -> Check:
    """One of these words."""

    def check(key: str, value: Json) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise wrong(key, value, " or ".join(allowed))
        return value

    return check


def run_file(key: str, value: Json) -> str:
    """A file name for each run, in a folder below another one: relative, with `<ts>` for the time."""
    allowed = "a path below the session's folder that ends in .jsonl, with <ts> in the file's name"
    if not isinstance(value, str) or "\x00" in value or "\\" in value:
        raise wrong(key, value, allowed)
    *folders, name = value.split("/")
    is_below = all(folder.strip(".") for folder in folders)
    if not is_below or "<ts>" not in name or not name.endswith(".jsonl") or "<" in "".join(folders):
        raise wrong(key, value, allowed)
    return value
