"""Where Claude Code keeps transcripts: one folder for each project, one file for each session."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
"""Names the host's folder where it is not `~/.claude`."""

_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]")


def projects_folder(variables: Mapping[str, str]) -> Path:
    """The folder that holds a folder for each project."""
    named = variables.get(CONFIG_VARIABLE, "")
    return (Path(named) if named else Path.home() / ".claude") / "projects"


def plugin_data_folders(variables: Mapping[str, str]) -> list[Path]:
    """The data folders that the host gave this plugin, one for each place it was installed from."""
    return sorted((projects_folder(variables).parent / "plugins" / "data").glob("context-editor*"))


def project_folder(directory: Path, variables: Mapping[str, str]) -> Path:
    """The folder with the transcripts of the sessions that were started in a directory."""
    return projects_folder(variables) / _NOT_ALPHANUMERIC.sub("-", str(directory))


def transcript_of(session_id: str, directory: Path, variables: Mapping[str, str]) -> Path:
    """The transcript of a session: that of the directory's project, else the newest of any project.

    Returns:
        The path where it stands; where it would stand for this directory when there is none.
    """
    usual = project_folder(directory, variables) / f"{session_id}.jsonl"
    if usual.exists() or not session_id or "/" in session_id:
        return usual
    found = projects_folder(variables).glob(f"*/{_plain(session_id)}.jsonl")
    return max(found, key=_changed_s, default=usual)


def transcripts_in(folder: Path) -> list[Path]:
    """The transcripts of a project's folder, the one that changed last first."""
    return sorted(folder.glob("*.jsonl"), key=_changed_s, reverse=True)


def all_transcripts(variables: Mapping[str, str]) -> Iterator[Path]:
    """The transcripts of every project, in no order."""
    return projects_folder(variables).glob("*/*.jsonl")


def _plain(name: str) -> str:
    """A name without what a glob pattern would read as more than itself."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
