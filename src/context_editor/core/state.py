"""What only this product knows of a session: the queue, the replacements, names of rows, the open apply.

The conversation itself is never stored here: it is the host's transcript since the last boundary.
"""

from dataclasses import dataclass, field
from typing import Final

from context_editor.core.edits.model import Edit, Replacement
from context_editor.core.molt import Molt, QueuedMolt
from context_editor.core.policy.gate import PolicyMemory
from context_editor.core.sizes.calibration import Calibration
from context_editor.core.stages.state import WorkState
from context_editor.core.suggestion_state import SuggestionState

SCHEMA: Final = 1
"""The version of the document that this release writes."""


PROMPT_LABEL: Final = "prompt"
"""The label of the one part of a prompt that was built anew: its words stand whole, a part of them typed."""


INDEX_LABEL: Final = "citation_index"
HANDOFF_LABEL: Final = "handoff"
STANDING_LABELS: Final = frozenset({INDEX_LABEL, HANDOFF_LABEL})
"""Labels of rows of this product that stay in the conversation: no apply takes them out (rules L7 and K-M16)."""


@dataclass(frozen=True)
class CarriedPart:
    """Words that rode behind a row and stand as plain text since that row was rebuilt (rule C27).

    Attributes:
        label: The attachment's type, such as `nested_memory` or `queued_command`.
        text: The words, as the model reads them.
        typed: A person's own words in it; None where no person speaks.
    """

    label: str
    text: str
    typed: str | None = None


@dataclass(frozen=True)
class TurnChoices:
    """What the calls of this turn asked for, besides the edits themselves (rules C8 and C10).

    Attributes:
        resume: The continuation: a text, True for the default text, False to wait for the person.
        has_turn_end_apply: Whether a call asked that the queue is applied at this turn's end.
        keep_cache: Whether a call asked to apply only where the cached prefix survives.
        marker: Whether a valid optimize marker ended the turn.
        turn: The turn that these choices belong to; they are void in any other.
        asked_s: When the newest of these calls was made, in seconds since the epoch, UTC.
    """

    resume: str | bool = True
    has_turn_end_apply: bool = False
    keep_cache: bool = False
    marker: bool = False
    turn: int = 0
    asked_s: float = 0.0


@dataclass(frozen=True)
class Planted:
    """One row that an apply emitted, in order, as the confirmation must find it in the transcript.

    Attributes:
        kept: The host's id of the row that was kept; empty for a built one.
        print: The print of its content, to check that what stands is what was planned.
        replacement: The replacement that it holds; empty for every other row.
        anchor: The anchor of the row that it belongs to, where a call's id gives it; empty else.
        service: Whether the row is the product's own words.
        carried: Parts of its text that rode behind replaced rows.
        handles: Ids that the row and what hangs behind it had before, in order; empty for a carrier.
        refs: The refs of the listed rows that begin in it, in order.
    """

    kept: str
    print: str
    replacement: str = ""
    anchor: str = ""
    service: bool = False
    carried: tuple[CarriedPart, ...] = ()
    handles: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intent:
    """An apply that was handed to the host and not confirmed yet.

    Attributes:
        started_s: When, in seconds since the epoch, UTC.
        trigger: What started it: `manual`, `auto`, `molt`, `repair`.
        transcript: The absolute path of the host's file.
        offset: The size of that file at the hand-over, in bytes; the new rows come after it.
        planted: The file that lists the emitted rows and the old numbering, relative to the session's folder.
        edits: The edits that it applies.
        replacements: What will stand afterwards.
        absorbed: Refs of rows that go, and the replacements that they lead to afterwards.
        skipped: Ids of edits that were left out and why.
        dropped: Queue ids that leave the queue with this apply.
        before_tokens: The conversation's size before, in tokens.
        after_tokens: The planned size afterwards, in tokens.
        first_changed: The number of the first row that changed.
        prefix_blocks: Blocks in front of the first change.
        thinking_dropped: Thinking blocks left out behind it.
        duration_ms: How long planning took.
        rebuilt: Whether every assistant row was rebuilt (the fallback that needs no patch).
        report: The applied report, to be attached to the next prompt once confirmed.
        snapshot: For the state that follows it: changes of other groups as JSON text, applied at confirmation.
    """

    started_s: float
    trigger: str
    transcript: str
    offset: int
    planted: str
    edits: tuple[Edit, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    absorbed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    before_tokens: int = 0
    after_tokens: int = 0
    first_changed: int = 0
    prefix_blocks: int = 0
    thinking_dropped: int = 0
    duration_ms: float = 0.0
    rebuilt: bool = False
    report: str = ""
    snapshot: str = ""


@dataclass
class SessionState:
    """One session's document, changed only inside the store's lock.

    Attributes:
        schema: The version of this document.
        session_id: The host's id of the session.
        epoch: Applies so far.
        counters: The last number given out by letter: `q`, `c`, `n`, `m`, `batch`.
        refs: Refs that differ from what their row's print gives, by anchor.
        absorbed: Refs of rows that are gone, and the replacements that took them in.
        numbered_epoch: The epoch of our newest output that showed row numbers; None before the first.
        queue: Accepted edits that wait, in order of acceptance.
        choices: What this turn's calls asked for.
        replacements: Everything that was replaced, by id.
        service: Anchors of rows that this product wrote and that carry no id of ours.
        carried: What stands as plain text in a row since its carrier was rebuilt, by that row's anchor.
        calibration: What the session's usage says about sizes.
        intent: An apply that waits for its confirmation.
        report: The applied report that the next prompt is to carry; empty when there is none.
        continuation: The prompt that this product submitted to go on after its last apply; empty before.
        is_ordered: Whether a person ordered the queue to be applied at once, and it was not yet.
        rebuilds: Whether the next apply builds every answer and result anew: the last one could not be made safe to
            resume in place.
        saved_tokens: Tokens saved by all applies, per request.
        rereads: Rereads of compressed content that were counted, as tool call ids.
        forked_from: The session that this state was copied from; empty for an original.
        work: Stages, marks, notes and the state slot.
        suggestions: What was suggested, and what is due.
        queued_index: The citation index that goes with a queued pass: the anchor that it stands behind, and its
            text; empty when there is none.
        policy: What is remembered of passes of the retention policy.
        window: The model's context window as the host told it last, in tokens; 0 when it never did.
        auto_compact: The size at which the host compacts by itself, as it told it last; 0 when it never did.
        molt: A molt that waits for the end of a turn; None for none.
        rebuilt_turn: The turn of the last call that applied without new edits; -1 before the first.
        molts: Every molt so far, and every conversation that somebody else shed, oldest first.
    """

    session_id: str
    schema: int = SCHEMA
    epoch: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    absorbed: dict[str, str] = field(default_factory=dict)
    numbered_epoch: int | None = None
    queue: list[Edit] = field(default_factory=list)
    choices: TurnChoices = field(default_factory=TurnChoices)
    replacements: dict[str, Replacement] = field(default_factory=dict)
    service: list[str] = field(default_factory=list)
    carried: dict[str, tuple[CarriedPart, ...]] = field(default_factory=dict)
    calibration: Calibration = field(default_factory=Calibration)
    intent: Intent | None = None
    report: str = ""
    continuation: str = ""
    is_ordered: bool = False
    rebuilds: bool = False
    saved_tokens: int = 0
    rereads: list[str] = field(default_factory=list)
    forked_from: str = ""
    work: WorkState = field(default_factory=WorkState)
    suggestions: SuggestionState = field(default_factory=SuggestionState)
    queued_index: tuple[str, ...] = ()
    policy: PolicyMemory = field(default_factory=PolicyMemory)
    window: int = 0
    auto_compact: int = 0
    molt: QueuedMolt | None = None
    rebuilt_turn: int = -1
    molts: list[Molt] = field(default_factory=list)

    def next_id(self, letter: str) -> str:
        """A fresh id of this kind, such as `q4`; ids are never given out twice."""
        self.counters[letter] = self.counters.get(letter, 0) + 1
        return f"{letter}{self.counters[letter]}"

    def tell(self, words: str) -> None:
        """Have the next prompt carry a line, behind what it is to carry already; the same line once."""
        lines = [line for line in self.report.splitlines() if line]
        self.report = "\n".join((*lines, *(() if words in lines else (words,))))
