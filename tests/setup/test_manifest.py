"""The manifest: one text in two places, every setting in it, and a server that starts."""

from __future__ import annotations

import json
import os
import struct
import tomllib
from typing import Any

from tests.setup.product import ROOT

MANIFEST: dict[str, Any] = json.loads((ROOT / "plugin.json").read_text(encoding="utf-8"))
SERVER: dict[str, Any] = MANIFEST["mcpServers"]["editor"]

SETTINGS = {
    "auto_compaction": "policy",
    "keep_last_k_tool_results": 12,
    "offload_trigger_token_ratio": 0.7,
    "offload_target_token_ratio": 0.4,
    "prefer_compact_over_drop": True,
    "keep_all_citations_index": True,
    "keep_all_rubrics": True,
    "never_compact": [
        "clarify_result",
        "reflective_loop_state",
        "graph_plan",
        "citation_index",
        "rubrics",
    ],
    "big_row_tokens": 2000,
    "search_after_turns": 3,
    "keep_cache_positions": 20,
    "suggest_at": ["0.5", "0.65", "0.8"],
    "idle_reminder_seconds": 1800,
    "idle_reminder": "notice",
    "archive_days": 0,
    "store_dir": ".",
    "data_dir": None,
    "offload_archive_path": "offloaded/<ts>.jsonl",
    "digest_model": "none",
}


def test_both_copies_of_the_manifest_are_the_same() -> None:
    """Hosts read one or the other; a link would fail the marketplace's own check."""
    copy = ROOT / ".claude-plugin" / "plugin.json"

    assert not copy.is_symlink()
    assert copy.read_bytes() == (ROOT / "plugin.json").read_bytes()


def test_the_version_is_the_distributions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (MANIFEST["name"], MANIFEST["version"]) == (project["name"], project["version"])


def test_every_setting_stands_in_the_manifest_with_its_default() -> None:
    options = MANIFEST["userConfig"]

    assert {key: option.get("default") for key, option in options.items()} == SETTINGS


def test_no_setting_has_to_be_answered_before_the_plugin_works() -> None:
    assert not any(option.get("required") for option in MANIFEST["userConfig"].values())


def test_the_server_is_told_every_setting_under_the_name_that_hooks_know() -> None:
    """Observed on Claude Code 2.1.332, 2026-11-30: an MCP server's environment has no options."""
    expected = {
        f"CLAUDE_PLUGIN_OPTION_{key.upper()}": f"${{user_config.{key}}}" for key in SETTINGS
    }

    assert SERVER["env"] == expected


def test_the_servers_tools_stand_in_the_first_request() -> None:
    assert SERVER["alwaysLoad"] is True


def test_the_servers_command_is_a_script_of_the_plugin() -> None:
    command = SERVER["command"].replace("${CLAUDE_PLUGIN_ROOT}", str(ROOT))

    assert os.access(command, os.X_OK)
    assert SERVER["args"] == ["serve"]


def test_the_marketplace_offers_this_folder() -> None:
    path = ROOT / ".claude-plugin" / "marketplace.json"
    marketplace = json.loads(path.read_text(encoding="utf-8"))

    (plugin,) = marketplace["plugins"]
    assert (plugin["name"], plugin["source"]) == ("context-editor", "./")


def test_the_icon_is_square_and_of_a_size_that_the_marketplace_takes() -> None:
    icon = (ROOT / ".claude-plugin" / "icon.png").read_bytes()

    width, height = struct.unpack(">II", icon[16:24])
    assert width == height
    assert 512 <= width <= 2048
