"""What the engine is told of the settings and of the host's window."""

from dataclasses import dataclass, field

from context_editor.core.candidates.find import ReviewSettings
from context_editor.core.policy.settings import PolicySettings
from context_editor.core.suggestions import SuggestionSettings
from context_editor.settings import IdleReminder, Loaded


@dataclass(frozen=True)
class Limits:
    """Settings that the engine needs.

    Attributes:
        window: The model's context window, in tokens; 0 when unknown.
        keep_cache_positions: Content blocks from the end within which the cached prefix survives (C10).
        review: What makes a row a review candidate.
        suggestions: When a suggestion is made.
        policy: The retention policy's parameters.
        auto_compact: The size at which the host compacts by itself, in tokens; 0 when unknown.
        is_policy_on: Whether the policy answers the host's own compaction.
        policy_fault: Why the policy does not start at all; empty where it does.
        has_digest_model: Whether the host's small model writes the digests of a pass that was asked for.
        store_dir: Where the pad and the journal stand, relative to the project.
        idle_reminder: What the idle reminder does: `off`, `notice` or `prompt`.
        idle_reminder_seconds: How long nobody may prompt before it is due.
        root: The project root, absolute; empty where the host does not say it.
    """

    window: int = 0
    keep_cache_positions: int = 20
    review: ReviewSettings = field(default_factory=ReviewSettings)
    suggestions: SuggestionSettings = field(default_factory=SuggestionSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    auto_compact: int = 0
    is_policy_on: bool = True
    policy_fault: str = ""
    has_digest_model: bool = False
    store_dir: str = "."
    idle_reminder: IdleReminder = "notice"
    idle_reminder_seconds: int = 1_800
    root: str = ""

    @property
    def max_tokens(self) -> int:
        """The size that ratios are of: where the host would compact, else the window; 0 when unknown."""
        return self.auto_compact or self.window


def limits_of(loaded: Loaded, window: int = 0, auto_compact: int = 0) -> Limits:
    """The limits that these settings and this host set.

    Args:
        loaded: The settings.
        window: The model's context window, in tokens; 0 when unknown.
        auto_compact: The size at which the host compacts by itself, in tokens; 0 when unknown.
    """
    settings, fault = loaded.settings, loaded.policy_fault
    # Marks are shares of the window, the trigger is one of the size at which the host compacts.
    scale = auto_compact / window if auto_compact and window else 1.0
    trigger = settings.offload_trigger_token_ratio * scale
    return Limits(
        window,
        settings.keep_cache_positions,
        ReviewSettings(settings.big_row_tokens, settings.search_after_turns),
        SuggestionSettings(settings.suggest_at, trigger),
        settings.policy,
        auto_compact,
        is_policy_on=settings.auto_compaction == "policy" and not fault,
        policy_fault=fault,
        has_digest_model=settings.digest_model == "fast",
        store_dir=settings.store_dir,
        idle_reminder=settings.idle_reminder,
        idle_reminder_seconds=settings.idle_reminder_seconds,
    )
