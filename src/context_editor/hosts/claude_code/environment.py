"""What the host says in the environment of its children; the only module that reads it.

Standard library only (hooks import it).
"""

import os
from collections.abc import Mapping
from pathlib import Path

from context_editor.setup.environment import data_folder as _platform_data_folder


def variables() -> Mapping[str, str]:
    """The environment."""
    return os.environ


def data_folder() -> Path:
    """Where this product keeps its files: the plugin's data folder in the host, else the platform's."""
    return _platform_data_folder(variables())


def host_pid() -> int:
    """The host's process id: what it says, else our parent."""
    told = variables().get("CLAUDE_PID", "")
    return int(told) if told.isdecimal() else os.getppid()
