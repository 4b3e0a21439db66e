"""Settings: the host's options, the project's file over them, and what is wrong with either."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from context_editor.engine.limits import limits_of
from context_editor.settings import CHECKS, FILE_NAME, Loaded, Settings, load

MANIFEST: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[1] / "plugin.json").read_text(encoding="utf-8")
)


def from_file(tmp_path: Path, text: str, **options: str) -> Loaded:
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    return load(variables(**options), tmp_path)


def variables(**options: str) -> dict[str, str]:
    return {f"CLAUDE_PLUGIN_OPTION_{key.upper()}": value for key, value in options.items()}


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    assert load({}, tmp_path) == Loaded()


def test_every_setting_of_the_manifest_is_one_with_the_same_default() -> None:
    declared = {key: option.get("default") for key, option in MANIFEST["userConfig"].items()}
    defaults = asdict(Settings())

    assert declared.keys() == defaults.keys() == CHECKS.keys()
    assert tuple(map(float, declared.pop("suggest_at"))) == defaults.pop("suggest_at")
    assert tuple(declared.pop("never_compact")) == defaults.pop("never_compact")
    assert declared.pop("data_dir") is None
    assert defaults.pop("data_dir") == ""
    assert declared == defaults


def test_options_arrive_as_the_host_writes_them() -> None:
    """Observed on Claude Code 2.1.332, 2026-11-30: lists joined by commas, unset ones empty or missing."""
    loaded = load(
        variables(
            keep_last_k_tool_results="7",
            prefer_compact_over_drop="false",
            suggest_at="0.4,0.9",
            never_compact="rubrics,mine",
            auto_compaction="host",
            data_dir="",
            archive_days="${user_config.archive_days}",
        )
    )

    assert loaded.mistakes == ()
    settings = loaded.settings
    assert settings.keep_last_k_tool_results == 7
    assert settings.prefer_compact_over_drop is False
    assert settings.suggest_at == (0.4, 0.9)
    assert settings.never_compact[-1] == "mine"
    assert (settings.auto_compaction, settings.data_dir, settings.archive_days) == ("host", "", 0)


def test_the_project_wins(tmp_path: Path) -> None:
    text = "big_row_tokens = 900\nsuggest_at = [0.9, 0.5]\n"

    settings = from_file(tmp_path, text, big_row_tokens="700", keep_cache_positions="30").settings

    assert settings.big_row_tokens == 900
    assert settings.suggest_at == (0.5, 0.9)
    assert settings.keep_cache_positions == 30


@pytest.mark.parametrize(
    "line",
    [
        'data_dir = "/tmp/x"',
        'store_dir = "x"',
        'offload_archive_path = "x/<ts>.jsonl"',
        'digest_model = "fast"',
        'auto_compaction = "host"',
    ],
)
def test_what_a_projects_file_may_not_set_is_named_and_keeps_its_default(
    tmp_path: Path, line: str
) -> None:
    loaded = from_file(tmp_path, line)

    assert loaded.settings == Settings()
    (mistake,) = loaded.mistakes
    assert "cannot be set by a project's file" in mistake.words
    assert mistake.key == line.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    ("line", "words", "stops_policy"),
    [
        ("big_row = 3", "'big_row' is not a setting", True),
        (
            "big_row_tokens = true",
            "big_row_tokens is True: allowed is a whole number from 1",
            False,
        ),
        ("offload_trigger_token_ratio = 2", "allowed is a number above 0 and at most 1", True),
        ("offload_trigger_token_ratio = 0.4", "must be below offload_trigger_token_ratio", True),
        ("keep_last_k_tool_results = -1", "allowed is a whole number from 0 on", True),
        ('idle_reminder = "loud"', "allowed is off or notice or prompt", False),
        ("suggest_at = 0.5", "allowed is a list of numbers", False),
        ("suggest_at = [0.5, 2]", "allowed is a list of numbers", False),
        ("never_compact = [1]", "allowed is a list of names", True),
        ("big_row_tokens = ", "cannot be read", True),
        ("big_row_tokens = 2026-01-01", "big_row_tokens is", False),
        ("[policy]\nx = 1", "'policy' is not a setting", True),
    ],
)
def test_a_wrong_key_or_value_is_named_and_takes_its_default(
    tmp_path: Path, line: str, words: str, *, stops_policy: bool
) -> None:
    loaded = from_file(tmp_path, line)

    assert loaded.settings == Settings()
    (mistake,) = loaded.mistakes
    assert words in mistake.words
    assert bool(loaded.policy_fault) is stops_policy
    assert limits_of(loaded).is_policy_on is not stops_policy


@pytest.mark.parametrize(
    "path",
    [
        "/abs/<ts>.jsonl",
        "../<ts>.jsonl",
        "a/../<ts>.jsonl",
        "a/<ts>.txt",
        "a/b.jsonl",
        "a//<ts>.jsonl",
    ],
)
def test_records_stay_below_the_sessions_folder(path: str) -> None:
    loaded = load(variables(offload_archive_path=path))

    assert loaded.settings.offload_archive_path == Settings().offload_archive_path
    assert loaded.mistakes


def test_a_very_large_file_is_not_read(tmp_path: Path) -> None:
    loaded = from_file(tmp_path, "# x\n" * 20_000)

    assert "over 65536 bytes" in loaded.mistakes[0].words


def test_a_value_from_a_cloned_repository_is_shown_quoted_and_short(tmp_path: Path) -> None:
    loaded = from_file(tmp_path, f'"\\u001b[31mred" = 1\nidle_reminder = "{"x" * 500}"\n')

    first, second = loaded.mistakes
    assert "\x1b" not in first.words
    assert len(second.words) < 200


def test_limits_hold_what_the_settings_say() -> None:
    loaded = load(variables(auto_compaction="host", big_row_tokens="10", suggest_at="0.3"))

    limits = limits_of(loaded, 200_000, 160_000)

    assert not limits.is_policy_on
    assert limits.review.big_row_tokens == 10
    assert limits.suggestions.marks == (0.3,)
    assert limits.max_tokens == 160_000
    assert limits.suggestions.policy_trigger == pytest.approx(0.7 * 0.8)


def test_every_setting_has_a_check_of_its_own_name() -> None:
    assert {field.name for field in fields(Settings)} == set(CHECKS)
