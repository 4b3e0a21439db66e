"""The parameters of the retention policy, checked by name (rule L-P)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

from context_editor.core.rows import Json
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
    unknown = [key for key in values if key not in _CHECKS]
    if unknown:
        known = ", ".join(field.name for field in fields(PolicySettings))
        msg = f"unknown policy setting {unknown[0]!r}: known are {known}"
        raise SettingsError(msg)
    checked = {key: _CHECKS[key](key, value) for key, value in values.items()}
    settings = PolicySettings(**checked)  # type: ignore[arg-type] # each check gives its field's type
    trigger, target = settings.offload_trigger_token_ratio, settings.offload_target_token_ratio
    if target >= trigger:
        msg = (
            f"offload_target_token_ratio is {target:g}, but must be below "
            f"offload_trigger_token_ratio ({trigger:g})"
        )
        raise SettingsError(msg)
    return settings


def _wrong(key: str, value: Json, allowed: str) -> SettingsError:
    msg = f"{key} is {value!r}: allowed is {allowed}"
    return SettingsError(msg)


def _count(key: str, value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong(key, value, "a whole number from 0 on")
    return value


def _ratio(key: str, value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise _wrong(key, value, "a number above 0 and at most 1")
    return float(value)


def _switch(key: str, value: Json) -> bool:
    if not isinstance(value, bool):
        raise _wrong(key, value, "true or false")
    return value


def _path(key: str, value: Json) -> str:
    if not isinstance(value, str) or not value.strip() or "\x00" in value:
        raise _wrong(key, value, "a file name, with <ts> for the time")
    return value


def _names(key: str, value: Json) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _wrong(key, value, "a list of names, which are added to the fixed ones")
    named: list[str] = []
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise _wrong(key, value, "a list of names, none of them blank")
        named.append(name.strip())
    return tuple(dict.fromkeys((*ALWAYS_KEPT, *named)))


_CHECKS: Final[Mapping[str, Callable[[str, Json], object]]] = {
    "keep_last_k_tool_results": _count,
    "keep_all_citations_index": _switch,
    "keep_all_rubrics": _switch,
    "offload_trigger_token_ratio": _ratio,
    "offload_target_token_ratio": _ratio,
    "offload_archive_path": _path,
    "prefer_compact_over_drop": _switch,
    "never_compact": _names,
}
