"""Promises about stages, marks and ids that hold over any sequence of calls and applies."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.rows import Line, applied, conversation, ground, own, person, text, tool
from tests.support.work import Session, adding, closing, opening, removing

from context_editor.core.conversation import Conversation
from context_editor.core.slot import StateChange, apply_state_changes
from context_editor.core.stages.carry import after_apply, settled
from context_editor.core.stages.marks import TagOp
from context_editor.core.stages.state import WorkState
from context_editor.core.stages.turns import on_turn_end
from context_editor.errors import RefusedError
from context_editor.store.codec import decoded, encoded

WORDS = st.sampled_from(["same", "twin", "other"])
LINES = st.one_of(
    WORDS.map(text),
    WORDS.map(person),
    WORDS.map(lambda word: tool("Read", "a.py", word)),
    st.just(own()),
)
TALKS = st.lists(LINES, min_size=3, max_size=14)
NUMBERS = st.integers(1, 14)


def marking(kind: str, number: int) -> TagOp:
    return adding(kind, number, note="dead end" if kind == "disposable" else "")


KINDS = st.sampled_from(["pin", "review", "disposable"])
TAG_OPS = st.one_of(
    st.builds(opening, st.sampled_from("ABC"), st.one_of(st.none(), NUMBERS)),
    st.builds(closing),
    st.builds(marking, KINDS, NUMBERS),
    st.builds(removing, KINDS, NUMBERS),
)


@dataclass(frozen=True)
class Tag:
    """A call of context_tag."""

    ops: list[TagOp]


@dataclass(frozen=True)
class Marker:
    """A turn's end with a valid marker."""


@dataclass(frozen=True)
class Apply:
    """An apply that collapses some rows; none where the first is not there."""

    first: int
    more: int


@dataclass(frozen=True)
class Grow:
    """Rows that come behind the others."""

    lines: list[Line]


Step: TypeAlias = Tag | Marker | Apply | Grow
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.builds(Tag, st.lists(TAG_OPS, min_size=1, max_size=3)),
        st.builds(Marker),
        st.builds(Apply, NUMBERS, st.integers(0, 4)),
        st.builds(Grow, st.lists(LINES, min_size=1, max_size=3)),
    ),
    max_size=12,
)


class Run:
    """A session that takes any step, and refuses what breaks a rule."""

    def __init__(self, lines: list[Line]) -> None:
        self.session = Session(conversation(*lines))
        self.epoch = 0

    def take(self, step: Step) -> None:
        match step:
            case Tag():
                self._tag(step.ops)
            case Marker():
                moment = self.session.moment()
                done = on_turn_end(self.session.work, moment, marker_is_valid=True)
                self.session.work = done.work
            case Apply():
                self._apply(step.first, step.first + step.more)
            case Grow():
                self._grow(step.lines)

    def _tag(self, ops: list[TagOp]) -> None:
        before = self.session.work
        try:
            self.session.tag(*ops)
        except RefusedError:
            assert self.session.work == before

    def _apply(self, first: int, last: int) -> None:
        session, self.epoch = self.session, self.epoch + 1
        count = len(session.talk.listed)
        ranges = [(first, min(last, count))] if first <= count else []
        done = applied(session.talk, *ranges, epoch=self.epoch)
        work = settled(session.work, session.talk).work
        session.work = after_apply(work, done.conversation, done.moves).work
        session.talk, session.queue = done.conversation, []

    def _grow(self, lines: list[Line]) -> None:
        talk = self.session.talk
        more = conversation(*lines)
        self.epoch += 1
        shift = len(talk.pieces)
        rows = tuple(
            replace(
                row,
                anchor=f"g{self.epoch}{row.anchor}",
                positions=tuple(p + shift for p in row.positions),
            )
            for row in more.rows
        )
        self.session.talk = Conversation(
            (*talk.pieces, *more.pieces), (*talk.rows, *rows), turns=talk.turns
        )
        self.session.work = settled(self.session.work, self.session.talk).work


@settings(deadline=None)
@given(lines=TALKS, steps=STEPS)
def test_over_any_steps_at_most_one_stage_is_open_and_one_block_bracketed(
    lines: list[Line], steps: list[Step]
) -> None:
    run = Run(lines)
    for step in steps:
        run.take(step)
        session = run.session
        assert len(session.flagged("[stage ▶")) <= int(session.work.stage is not None)
        assert len(session.flagged("[block ▶")) <= 1
        assert len(session.flagged("[block end]")) == len(session.flagged("[block ▶"))
        assert not (session.work.stage and session.work.waiting)
        assert session.work.waiting is None or session.work.waiting_block is not None
        assert decoded(WorkState, encoded(session.work)) == session.work


@settings(deadline=None)
@given(
    count=st.integers(4, 12),
    words=st.lists(WORDS, min_size=12, max_size=12),
    data=st.data(),
)
def test_pins_stay_on_the_same_content_through_any_applies(
    count: int, words: list[str], data: st.DataObject
) -> None:
    talk = conversation(person("go"), *map(text, words[:count]))
    session = Session(talk)
    pinned = data.draw(st.sets(st.integers(2, count + 1), min_size=1, max_size=4))
    for number in pinned:
        session.tag(adding("pin", number))
    origin = {row.anchor: number for number, row in enumerate(talk.listed, start=1)}
    for epoch in range(1, data.draw(st.integers(1, 4)) + 1):
        free = [
            n
            for n, row in enumerate(session.talk.listed, 1)
            if origin.get(row.anchor, 0) not in pinned
        ]
        at = data.draw(st.sampled_from(free))
        done = applied(session.talk, (at, at), epoch=epoch)
        origin = {new: origin[old] for old, new in done.moves.moved.items() if old in origin}
        session.work = after_apply(session.work, done.conversation, done.moves).work
        session.talk = done.conversation

        rows = session.talk.listed
        assert {origin[rows[n - 1].anchor] for n in session.flagged("[pin]")} == pinned


def added_item(kind: str) -> StateChange:
    return StateChange("add", kind, text="x")


def removed_plan(number: int) -> StateChange:
    return StateChange("remove", id=f"p{number}")


CHANGES = st.lists(
    st.one_of(
        st.builds(added_item, st.sampled_from(["goal", "plan", "next"])),
        st.builds(removed_plan, st.integers(1, 5)),
    ),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(calls=st.lists(CHANGES, max_size=8))
def test_item_ids_are_never_given_twice(calls: list[list[StateChange]]) -> None:
    session = Session(conversation(person("go"), text("a")))
    seen: set[str] = set()
    for changes in calls:
        before = {item.id for item in session.work.items}
        try:
            session.work = apply_state_changes(
                session.work, changes, ground(session.talk), session.ids
            ).work
        except RefusedError:
            continue
        new = {item.id for item in session.work.items} - before
        assert seen.isdisjoint(new)
        seen |= new
