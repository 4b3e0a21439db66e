"""The project's settings file, checked against what the manifest declares."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from context_editor.setup.environment import ROOT

FILE_NAME: Final = ".context-editor.toml"

NOT_FROM_A_PROJECT: Final = frozenset(
    {"data_dir", "store_dir", "offload_archive_path", "digest_model", "auto_compaction"}
)
"""What a project's file may not set: it comes with a cloned repository (contract)."""


def mistakes_in(path: Path) -> list[str]:
    """What is wrong with a settings file, one line each; empty when nothing is."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return [f"it cannot be read: {error}"]
    manifest: Mapping[str, Any] = json.loads((ROOT / "plugin.json").read_bytes())
    return [
        mistake
        for key, value in settings.items()
        for mistake in _mistakes(key, value, manifest["userConfig"])
    ]


def _mistakes(key: str, value: object, declared: Mapping[str, Any]) -> Iterator[str]:
    if key not in declared:
        yield f"{key} is not a setting; allowed: {', '.join(declared)}"
    elif key in NOT_FROM_A_PROJECT:
        yield f"{key} cannot be set by a project's file; set it in the host's plugin settings"
    elif not _is_allowed(value, declared[key]):
        yield f"{key} is {json.dumps(value, default=str)}; allowed: {_allowed_words(declared[key])}"


def _is_allowed(value: object, declared: Mapping[str, Any]) -> bool:
    if declared.get("multiple"):
        return isinstance(value, list) and all(map(_is_item, value))
    match declared["type"]:
        case "boolean":
            return isinstance(value, bool)
        case "number":
            return _is_number(value) and _is_within(value, declared)
        case _:
            return isinstance(value, str) and value in declared.get("options", [value])


def _is_item(value: object) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_within(value: Any, declared: Mapping[str, Any]) -> bool:  # noqa: ANN401 (a number by now)
    is_enough: bool = value >= declared.get("min", value)
    is_little: bool = value <= declared.get("max", value)
    return is_enough and is_little


def _allowed_words(declared: Mapping[str, Any]) -> str:
    if declared.get("multiple"):
        return "a list"
    if "options" in declared:
        return ", ".join(declared["options"])
    bounds = [f"{word} {declared[key]}" for key, word in BOUNDS.items() if key in declared]
    return " ".join((WORDS[declared["type"]], *bounds))


BOUNDS: Final[Mapping[str, str]] = {"min": "from", "max": "up to"}
WORDS: Final[Mapping[str, str]] = {
    "boolean": "true or false",
    "number": "a number",
    "string": "a text",
    "directory": "a path",
}
"""How types are named to a person."""
