"""The policy's parameters (rule L-P)."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.policy.settings import ALWAYS_KEPT, PolicySettings, policy_settings
from context_editor.core.rows import Json
from context_editor.errors import SettingsError


def test_lp_defaults_are_those_of_the_contract() -> None:
    assert policy_settings({}) == PolicySettings(
        keep_last_k_tool_results=12,
        keep_all_citations_index=True,
        keep_all_rubrics=True,
        offload_trigger_token_ratio=0.7,
        offload_target_token_ratio=0.4,
        offload_archive_path="offloaded/<ts>.jsonl",
        prefer_compact_over_drop=True,
        never_compact=ALWAYS_KEPT,
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("keep_last_k_tool_results", -1),
        ("keep_last_k_tool_results", True),
        ("keep_last_k_tool_results", "12"),
        ("keep_all_citations_index", 1),
        ("keep_all_rubrics", "yes"),
        ("offload_trigger_token_ratio", 0),
        ("offload_trigger_token_ratio", 1.1),
        ("offload_trigger_token_ratio", float("nan")),
        ("offload_target_token_ratio", None),
        ("offload_archive_path", " "),
        ("prefer_compact_over_drop", 0),
        ("never_compact", "rubrics"),
        ("never_compact", ["rubrics", ""]),
    ],
)
def test_lp_wrong_value_is_refused_with_its_key_and_value(key: str, value: Json) -> None:
    with pytest.raises(SettingsError, match=key) as refused:
        policy_settings({key: value})

    assert repr(value) in str(refused.value)


def test_lp_unknown_key_is_named_with_what_is_known() -> None:
    with pytest.raises(SettingsError, match=r"keep_last_k'.*keep_last_k_tool_results"):
        policy_settings({"keep_last_k": 3})


@pytest.mark.parametrize(("trigger", "target"), [(0.4, 0.4), (0.5, 0.6)])
def test_lp_target_must_be_below_the_trigger(trigger: float, target: float) -> None:
    values: dict[str, Json] = {
        "offload_trigger_token_ratio": trigger,
        "offload_target_token_ratio": target,
    }

    with pytest.raises(SettingsError, match="offload_target_token_ratio"):
        policy_settings(values)


@given(st.lists(st.sampled_from(["rubrics", "citation_index", "mine", " other "])))
def test_lp_never_compact_can_be_extended_and_not_reduced(names: list[str]) -> None:
    never = policy_settings({"never_compact": names}).never_compact

    assert never[: len(ALWAYS_KEPT)] == ALWAYS_KEPT
    assert set(never) == {*ALWAYS_KEPT, *(name.strip() for name in names)}
    assert len(set(never)) == len(never)


@pytest.mark.parametrize(("k", "kept"), [(0, 3), (2, 3), (3, 3), (12, 12)])
def test_l10_three_results_stay_whatever_k_says(k: int, kept: int) -> None:
    assert policy_settings({"keep_last_k_tool_results": k}).kept_results == kept


def test_lp_every_parameter_has_a_check() -> None:
    defaults = PolicySettings()

    values = {field.name: getattr(defaults, field.name) for field in fields(PolicySettings)}

    assert policy_settings(values) == defaults
