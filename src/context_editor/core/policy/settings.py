"""The parameters of the retention policy, checked by name (rule L-P)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from context_editor.core import setting_checks
from context_editor.core.rows import Json
from context_editor.core.setting_checks import Check
from context_editor.errors import SettingsError

LEAST_KEPT_RESULTS: Final = 3
"""Tool results at the end that stay whatever the setting says (rule L10)."""

ALWAYS_KEPT: Final = (
    "clarify_result",
    "reflective_loop_state",
    "graph_plan",
    "citation_index",
    "rubrics",
)
"""What is never compacted; a setting adds to it and takes nothing away."""


@dataclass(frozen=True)
class PolicySettings:
    """The parameters and their defaults.

    Attributes:
        keep_last_k_tool_results: How many of the newest tool results stay whole; at least
            `LEAST_KEPT_RESULTS` do.
        keep_all_citations_index: Whether each pass leaves an index of the sources that it digested.
        keep_all_rubrics: Whether rows kept as rubrics stay; `never_compact` keeps them anyway.
        offload_trigger_token_ratio: The share of the window from which on the policy acts; above 0,
            at most 1.
        offload_target_token_ratio: The share that it brings the context down to; above 0, below the
            trigger.
        offload_archive_path: Where its records go, below the session's folder; `<ts>` stands for
            the time.
        prefer_compact_over_drop: Whether a digest stands in the place of what goes; else only a
            pointer.
        never_compact: What is never compacted, the fixed names first.
    """

    keep_last_k_tool_results: int = 12
    keep_all_citations_index: bool = True
    keep_all_rubrics: bool = True
    offload_trigger_token_ratio: float = 0.7
    offload_target_token_ratio: float = 0.4
    offload_archive_path: str = "offloaded/<ts>.jsonl"
    prefer_compact_over_drop: bool = True
    never_compact: tuple[str, ...] = ALWAYS_KEPT

    @property
    def kept_results(self) -> int:
        """How many of the newest tool results really stay."""
        return max(self.keep_last_k_tool_results, LEAST_KEPT_RESULTS)

    @property
    def trigger_percent(self) -> int:
        """The trigger as a whole percentage, for people."""
        return round(100 * self.offload_trigger_token_ratio)

    @property
    def target_percent(self) -> int:
        """The target as a whole percentage, for people."""
        return round(100 * self.offload_target_token_ratio)


def policy_settings(values: Mapping[str, Json]) -> PolicySettings:
    """The settings with these values, every other one at its default.

    Raises:
        SettingsError: A key is unknown or a value is not allowed; the key, the value and what is
            allowed are named. The policy does not start then.
    """
    unknown = [key for key in values if key not in CHECKS]
    if unknown:
        known = ", ".join(field.name for field in fields(PolicySettings))
        msg = f"unknown policy setting {unknown[0]!r}: known are {known}"
        raise SettingsError(msg)
    checked = {key: CHECKS[key](key, value) for key, value in values.items()}
    settings = PolicySettings(**checked)  # type: ignore[arg-type] # each check gives its field's type
    trigger, target = settings.offload_trigger_token_ratio, settings.offload_target_token_ratio
    if target >= trigger:
        msg = (
            f"offload_target_token_ratio is {target:g}, but must be below "
            f"offload_trigger_token_ratio ({trigger:g})"
        )
        raise SettingsError(msg)
    return settings


def _never(key: str, value: Json) -> tuple[str, ...]:
    """The fixed names, and those that are added to them."""
    return tuple(dict.fromkeys((*ALWAYS_KEPT, *setting_checks.names(key, value))))


CHECKS: Final[Mapping[str, Check]] = {
    "keep_last_k_tool_results": setting_checks.count_from(0),
    "keep_all_citations_index": setting_checks.switch,
    "keep_all_rubrics": setting_checks.switch,
    "offload_trigger_token_ratio": setting_checks.ratio,
    "offload_target_token_ratio": setting_checks.ratio,
    "offload_archive_path": setting_checks.run_file,
    "prefer_compact_over_drop": setting_checks.switch,
    "never_compact": _never,
}
"""How each parameter is checked alone."""
