"""What is remembered between suggestions (rule F4). Plain values, made to be stored."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SuggestionState:
    """What is remembered between looks; plain values, made to be stored.

    Attributes:
        crossed: Marks that were crossed and are not armed again, as text (`0.65`, or `policy`).
        due: The newest of them while its suggestion may still be shown; empty when none is.
        is_told: Whether the suggestion that is due was put before the agent once.
        last_turn: The turn of the last suggestion; -1 before the first.
    """

    crossed: tuple[str, ...] = ()
    due: str = ""
    is_told: bool = False
    last_turn: int = -1
