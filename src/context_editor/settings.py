"""The settings: the host's options for the plugin, and over them the project's own file.

Standard library only (hooks import it). A wrong key or value is named and takes its default; where it
touches the retention policy, the policy does not start.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from context_editor.core import setting_checks as checks
from context_editor.core.policy.settings import CHECKS as POLICY_CHECKS
from context_editor.core.policy.settings import PolicySettings, policy_settings
from context_editor.core.rows import Json
from context_editor.core.setting_checks import Check
from context_editor.errors import SettingsError

FILE_NAME: Final = ".context-editor.toml"
"""The project's own file, in its root."""

MAX_FILE_BYTES: Final = 65_536
"""A settings file larger than this is not read: it comes with a cloned repository."""

OPTION_PREFIX: Final = "CLAUDE_PLUGIN_OPTION_"
"""How the variables begin in which the host hands options to the plugin's programs."""

NOT_FROM_A_PROJECT: Final = frozenset(
    {"data_dir", "store_dir", "offload_archive_path", "digest_model", "auto_compaction"}
)
"""What a project's file may not set: it comes with a cloned repository (contract)."""

AutoCompaction: TypeAlias = Literal["policy", "host"]
IdleReminder: TypeAlias = Literal["off", "notice", "prompt"]
DigestModel: TypeAlias = Literal["none", "fast"]


@dataclass(frozen=True)
class Settings:
    """Every setting, checked.

    Attributes:
        auto_compaction: What answers when the host is about to compact by itself.
        keep_last_k_tool_results: See `PolicySettings`, as all names that stand there too.
        offload_trigger_token_ratio: See there.
        offload_target_token_ratio: See there.
        prefer_compact_over_drop: See there.
        keep_all_citations_index: See there.
        keep_all_rubrics: See there.
        never_compact: See there.
        offload_archive_path: See there.
        big_row_tokens: From this size on an output is listed for review as big, in tokens.
        search_after_turns: Completed turns after which a search is listed for review.
        keep_cache_positions: Content blocks from the end within which `keep_cache` accepts a change.
        suggest_at: Shares of the window whose crossing raises a suggestion.
        idle_reminder_seconds: How long nobody may prompt before the idle reminder is due.
        idle_reminder: What the idle reminder does.
        archive_days: Days after which the archive of a session is deleted whose transcript is gone; 0 for never.
        store_dir: Where the pad and the journal stand, relative to the project.
        data_dir: Where sessions and archives are kept; empty for the plugin's own data folder.
        digest_model: Who writes the digests of a pass that was asked for.
    """

    auto_compaction: AutoCompaction = "policy"
    keep_last_k_tool_results: int = 12
    offload_trigger_token_ratio: float = 0.7
    offload_target_token_ratio: float = 0.4
    prefer_compact_over_drop: bool = True
    keep_all_citations_index: bool = True
    keep_all_rubrics: bool = True
    never_compact: tuple[str, ...] = PolicySettings().never_compact
    big_row_tokens: int = 2_000
    search_after_turns: int = 3
    keep_cache_positions: int = 20
    suggest_at: tuple[float, ...] = (0.5, 0.65, 0.8)
    idle_reminder_seconds: int = 1_800
    idle_reminder: IdleReminder = "notice"
    archive_days: int = 0
    store_dir: str = "."
    data_dir: str = ""
    offload_archive_path: str = "offloaded/<ts>.jsonl"
    digest_model: DigestModel = "none"

    @property
    def policy(self) -> PolicySettings:
        """The parameters of the retention policy.

        Raises:
            SettingsError: The target is not below the trigger.
        """
        return policy_settings({name: getattr(self, name) for name in POLICY_CHECKS})


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong with the settings.

    Attributes:
        key: The key; empty where a whole file cannot be read.
        words: What is wrong, and where.
    """

    key: str
    words: str


@dataclass(frozen=True)
class Loaded:
    """Settings as they were found.

    Attributes:
        settings: What holds; a wrong value took its default.
        mistakes: What is wrong.
    """

    settings: Settings = Settings()
    mistakes: tuple[Mistake, ...] = ()

    @property
    def policy_fault(self) -> str:
        """Why the retention policy does not start; empty where it does (rule L-P).

        A key that nobody knows counts as well: it may be a parameter of the policy, misspelt.
        """
        stopping = [m for m in self.mistakes if m.key in POLICY_CHECKS or m.key not in CHECKS]
        return stopping[0].words if stopping else ""


CHECKS: Final[Mapping[str, Check]] = {
    **POLICY_CHECKS,
    "auto_compaction": checks.one_of("policy", "host"),
    "big_row_tokens": checks.count_from(1),
    "search_after_turns": checks.count_from(0),
    "keep_cache_positions": checks.count_from(0),
    "suggest_at": checks.ratios,
    "idle_reminder_seconds": checks.count_from(1),
    "idle_reminder": checks.one_of("off", "notice", "prompt"),
    "archive_days": checks.count_from(0),
    "store_dir": checks.text,
    "data_dir": checks.folder,
    "digest_model": checks.one_of("none", "fast"),
}
"""How each setting is checked alone."""


def load(variables: Mapping[str, str], project: Path | None = None) -> Loaded:
    """The settings that hold.

    Args:
        variables: The environment; the host's options stand in it.
        project: The project's folder; None for none.
    """
    settings, mistakes = Settings(), list[Mistake]()
    for where, given in _sources(variables, project):
        if isinstance(given, Mistake):
            mistakes.append(given)
            continue
        for key, value in given.items():
            is_project = where == FILE_NAME
            try:
                settings = replace(settings, **{key: _checked(key, value, from_project=is_project)})
            except SettingsError as error:
                mistakes.append(Mistake(key, f"{where}: {error}"))
    return _with_sound_ratios(settings, mistakes)


def _sources(
    variables: Mapping[str, str], project: Path | None
) -> Iterator[tuple[str, Mapping[str, Json] | Mistake]]:
    yield "plugin options", dict(_options(variables))
    path = project / FILE_NAME if project else None
    if path is not None and path.is_file():
        yield FILE_NAME, _file(path)


def _checked(key: str, value: Json, *, from_project: bool) -> Any:  # noqa: ANN401 (each check gives its field's type)
    if key not in CHECKS:
        msg = f"{checks.shown(key)} is not a setting: known are {', '.join(CHECKS)}"
        raise SettingsError(msg)
    if from_project and key in NOT_FROM_A_PROJECT:
        msg = f"{key} cannot be set by a project's file: set it in the host's plugin settings"
        raise SettingsError(msg)
    return CHECKS[key](key, value)


def _with_sound_ratios(settings: Settings, mistakes: list[Mistake]) -> Loaded:
    try:
        _ = settings.policy
    except SettingsError as error:
        mistakes.append(Mistake("offload_target_token_ratio", str(error)))
        default = Settings()
        settings = replace(
            settings,
            offload_trigger_token_ratio=default.offload_trigger_token_ratio,
            offload_target_token_ratio=default.offload_target_token_ratio,
        )
    return Loaded(settings, tuple(mistakes))


# --- where settings come from ---------------------------------------------------------------------


def _file(path: Path) -> Mapping[str, Json] | Mistake:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            return Mistake("", f"{path} cannot be read: it is over {MAX_FILE_BYTES} bytes")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Mistake("", f"{path} cannot be read: {error}")


def _options(variables: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    """The host's options; one that is empty, or was never filled in, is not set."""
    for field in fields(Settings):
        text = variables.get(f"{OPTION_PREFIX}{field.name.upper()}", "").strip()
        if text and not text.startswith("${"):
            yield field.name, _value(text, field.default)


def _value(text: str, default: object) -> Json:
    """An option as a value of the default's type; a text where it is none, for the check to name."""
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(default, str):
        return text
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value
