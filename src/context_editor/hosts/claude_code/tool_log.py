"""One line for each finished tool call, appended without a lock; every tool call pays for it (see `quick`)."""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PATH_KEYS = ("file_path", "notebook_path", "path")


def note_tool(folder: str, given: Mapping[str, Any]) -> None:
    """Append what a call was and how large its result is; one write, so that lines never mix."""
    asked = given.get("tool_input") or {}
    path = next((str(asked[key]) for key in PATH_KEYS if asked.get(key)), "")
    line = {
        "id": given.get("tool_use_id", ""),
        "tool": given.get("tool_name", ""),
        "path": path,
        "input_chars": len(json.dumps(asked)),
        "result_chars": _chars(given.get("tool_response")),
        "mtime": _mtime(path),
        "at": time.time(),
    }
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 (see `quick`)
    descriptor = os.open(f"{folder}/tools.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, json.dumps(line).encode() + b"\n")
    finally:
        os.close(descriptor)


def _chars(response: Any) -> int:
    return len(response) if isinstance(response, str) else len(json.dumps(response))


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime if path else 0.0  # noqa: PTH116 (see `quick`)
    except (OSError, ValueError):  # a name that no file can have
        return 0.0
