"""What the host says in the environment of its children; the only module that reads it.

Standard library only, and as little of it as there is to be had: every hook imports it (see `quick`).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Final

DATA_OPTION: Final = "CLAUDE_PLUGIN_OPTION_DATA_DIR"
"""The host's option for the data folder; a project's file cannot set it."""


def variables() -> Mapping[str, str]:
    """The environment."""
    return os.environ


def data_folder() -> Path:
    """Where this product keeps its files: where a person set it, in the plugin's folder, else in the platform's."""
    from pathlib import Path

    from context_editor.setup.environment import data_folder as platform_data_folder

    told = variables().get(DATA_OPTION, "").strip()
    return Path(told) if told.startswith("/") else platform_data_folder(variables())


def data_path() -> str:
    """The same as a text; in the host without an import."""
    told = variables().get(DATA_OPTION, "").strip()
    return (
        told
        if told.startswith("/")
        else variables().get("CLAUDE_PLUGIN_DATA") or str(data_folder())
    )


def project_root() -> Path | None:
    """The project: what the host says, else the folder that we run in; None where that is gone."""
    from pathlib import Path

    told = variables().get("CLAUDE_PROJECT_DIR", "")
    try:
        return Path(told) if told else Path.cwd()
    except OSError:
        return None


def host_pid() -> int:
    """The host's process id: what it says, else our parent."""
    told = variables().get("CLAUDE_PID", "")
    return int(told) if told.isdecimal() else os.getppid()
