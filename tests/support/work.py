"""Calls of context_tag and friends in one line, for tests of the pure core."""

from tests.support.rows import LetterIds, ground

from context_editor.core.close_report import ReportFacts
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit
from context_editor.core.names import Names, Target
from context_editor.core.stages.flags import listing_flags
from context_editor.core.stages.marks import TagOp
from context_editor.core.stages.moment import Moment
from context_editor.core.stages.state import WorkState
from context_editor.core.tags import TagContext, TagOutcome, apply_tags

NEVER_COMPACT = ("citation_index", "rubrics")
NO_FACTS = ReportFacts()


def at(index: "int | str", to: "int | str | None" = None) -> Target:
    """The rows with these numbers or refs."""
    return Target(index=index, to=to)


def opening(stage: str, index: "int | str | None" = None) -> TagOp:
    """An open of a stage."""
    return TagOp("open", stage=stage, target=None if index is None else at(index))


def closing() -> TagOp:
    """A close."""
    return TagOp("close")


def adding(
    kind: str,
    index: "int | str",
    to: "int | str | None" = None,
    *,
    note: str = "",
    ttl_turns: int | None = None,
    kept_as: str = "",
) -> TagOp:
    """An add of a mark."""
    return TagOp("add", kind, at(index, to), note=note, ttl_turns=ttl_turns, kept_as=kept_as)


def removing(kind: str, index: "int | str", to: "int | str | None" = None) -> TagOp:
    """A removal of a mark."""
    return TagOp("remove", kind, at(index, to))


class Session:
    """One session's work on a conversation that a test may change between calls."""

    def __init__(self, talk: Conversation, work: WorkState | None = None) -> None:
        self.talk = talk
        self.work = work or WorkState()
        self.queue = list[Edit]()
        self.ids = LetterIds()
        self.facts = NO_FACTS
        self.molt = ""

    def moment(self, response: str = "", turn: int | None = None) -> Moment:
        """The conversation as a call of this answer finds it."""
        running = self.talk.rows[-1].turn if self.talk.rows else 0
        return Moment(Names(self.talk), running if turn is None else turn, response)

    def tag(self, *ops: TagOp, response: str = "", turn: int | None = None) -> TagOutcome:
        """Carry out a call of context_tag, and keep what it did."""
        moment = self.moment(response, turn)
        context = TagContext(
            ground(self.talk, self.queue),
            self.ids,
            moment.turn,
            response,
            never_compact=NEVER_COMPACT,
            facts=self.facts,
            molt=self.molt,
        )
        outcome = apply_tags(self.work, ops, context)
        self.work = outcome.work
        replaced = {edit.id for edit in outcome.queued}
        gone = replaced | set(outcome.withdrawn)
        self.queue = [*(e for e in self.queue if e.id not in gone), *outcome.queued]
        return outcome

    def flags(self, number: int) -> list[str]:
        """The flags of a row."""
        row = self.talk.listed[number - 1]
        return list(listing_flags(self.work, self.talk, self.queue).get(row.anchor, ()))

    def flagged(self, flag: str) -> list[int]:
        """The numbers of the rows that show a flag, or one that begins so."""
        numbers = range(1, len(self.talk.listed) + 1)
        return [n for n in numbers if any(f.startswith(flag) for f in self.flags(n))]
