"""The state slot and its items (group H)."""

import pytest
from tests.support.rows import applied, conversation, ground, person, text, tool
from tests.support.work import Session, adding, removing

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit, Op
from context_editor.core.slot import (
    StateChange,
    StateOutcome,
    apply_state_changes,
    is_slot_missing,
    slot_place,
    slot_text,
    state_cancelled,
)
from context_editor.core.stages.carry import after_apply, settled
from context_editor.core.stages.flags import protected
from context_editor.errors import RefusedError


def talk_of_five() -> Conversation:
    return conversation(
        person("go"),
        text("the plan"),
        tool("Read", "a.py", "text"),
        text("another text"),
        text("end"),
    )


def plan(words: str) -> StateChange:
    return StateChange("add", kind="plan", text=words)


def change(session: Session, *changes: StateChange) -> StateOutcome:
    """Carry out a state op, and keep what it did."""
    outcome = apply_state_changes(
        session.work, changes, ground(session.talk, session.queue), session.ids
    )
    session.work = outcome.work
    session.queue = [*(e for e in session.queue if e.id != outcome.edit.id), outcome.edit]
    return outcome


def apply_queue(session: Session) -> None:
    """What an apply of the queued state edit leaves behind."""
    done = applied(session.talk)
    slot = session.work.slot
    moves = (
        done.moves
        if slot is None
        else type(done.moves)(done.moves.moved, slot=done.moves.moved[slot.id])
    )
    session.work = after_apply(session.work, done.conversation, moves).work
    session.talk, session.queue = done.conversation, []


def test_h1_the_slot_is_one_own_text_row() -> None:
    session = Session(talk_of_five())

    session.tag(adding("state", 2))
    assert session.flags(2) == ["[state]"]

    with pytest.raises(RefusedError, match="is not your own text"):
        session.tag(adding("state", 3))
    with pytest.raises(RefusedError, match="is not your own text"):
        session.tag(adding("state", 1))
    with pytest.raises(RefusedError, match="the state slot is one row, 2 were named"):
        session.tag(adding("state", 4, 5))


def test_scenario_43_a_new_state_tag_moves_the_slot() -> None:
    session = Session(talk_of_five())

    session.tag(adding("state", 2))
    session.tag(adding("state", 4))

    assert session.flagged("[state]") == [4]


def test_h2_with_items_the_slot_moves_with_them_and_the_old_row_leaves() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("read the config"))
    apply_queue(session)

    outcome = session.tag(adding("state", 4))

    assert [edit.op for edit in outcome.queued] == [Op.STATE]
    assert "read the config" in outcome.queued[0].text
    place = slot_place(session.work, session.queue, ground(session.talk))
    assert place.row == session.talk.listed[3]
    assert place.leaving == (session.talk.listed[1],)
    apply_queue(session)
    assert session.work.leaving == ()


def test_h2_a_move_that_was_withdrawn_leaves_the_slot_where_it_was() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("read the config"))
    apply_queue(session)
    session.tag(adding("state", 4))

    session.work = state_cancelled(session.work)

    assert session.flagged("[state]") == [2]
    assert session.work.leaving == ()


def test_h4_ids_are_the_kinds_letter_and_a_number_that_is_never_given_again() -> None:
    session = Session(talk_of_five())
    change(session, plan("one"), plan("two"), StateChange("add", "goal", text="ship it"))

    change(session, StateChange("remove", id="p2"), plan("three"))

    assert [item.id for item in session.work.items] == ["p1", "g1", "p3"]


def test_h4_set_changes_the_words_of_an_item() -> None:
    session = Session(talk_of_five())
    change(session, plan("one"))

    outcome = change(session, StateChange("set", id="p1", text="other"))

    assert outcome.texts == ("p1 set",)
    assert "- p1 other" in outcome.edit.text


def test_h5_the_slot_is_rebuilt_from_the_items_as_clean_text() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))

    outcome = change(session, StateChange("add", "fact", text="port is 8080"), plan("one\ntwo"))

    assert outcome.edit.anchors == (session.talk.listed[1].anchor,)
    assert outcome.edit.text == "State\nPlan:\n- p1 one\n  two\nFacts:\n- f1 port is 8080"


def test_h5_several_state_ops_of_one_queue_are_one_edit() -> None:
    session = Session(talk_of_five())

    first = change(session, plan("one"))
    second = change(session, plan("two"))

    assert first.edit.id == second.edit.id
    assert len(session.queue) == 1
    assert "- p2 two" in session.queue[0].text


def test_h5_the_tag_follows_the_rebuilt_row() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("one"))

    apply_queue(session)

    assert session.flagged("[state]") == [2]
    assert session.work.shown == session.work.items


def test_h6_the_slot_is_locked_while_it_has_items() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    slot = session.talk.listed[1].anchor
    assert protected(session.work, session.talk) == {slot: "the state slot"}
    assert protected(session.work, session.talk, for_rewrite=True) == {}

    change(session, plan("one"))
    assert protected(session.work, session.talk, for_rewrite=True) == {slot: "the state slot"}
    with pytest.raises(RefusedError, match=r"the state slot has items \(p1\)"):
        session.tag(removing("state", 2))

    change(session, StateChange("remove", id="p1"))
    assert session.queue[0].text == "State\nno items"
    assert protected(session.work, session.talk, for_rewrite=True) == {}
    session.tag(removing("state", 2))
    assert session.flagged("[state]") == []


def test_h6_removing_the_state_tag_from_another_row_names_the_slot() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))

    with pytest.raises(RefusedError, match=r"is not the state slot: it is #2"):
        session.tag(removing("state", 4))


def test_h7_marked_items_are_shown_as_what_they_are_and_unmark_restores_them() -> None:
    session = Session(talk_of_five())
    change(session, plan("drop the table"), plan("old way"), plan("new way"))

    marks = (
        StateChange("mark", id="p1", flag="harmful", text="it held data"),
        StateChange("mark", id="p2", flag="outdated"),
    )
    assert change(session, *marks).edit.text == (
        "State\nPlan:\n- p1 ~~drop the table~~ (not to be acted on: it held data)\n- p3 new way\n"
        "No longer true:\n- p2 old way"
    )

    text_after = change(
        session, StateChange("unmark", id="p1"), StateChange("unmark", id="p2")
    ).edit.text
    assert text_after == "State\nPlan:\n- p1 drop the table\n- p2 old way\n- p3 new way"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (StateChange("set", id="p9", text="x"), "there is no item 'p9': items are p1"),
        (StateChange("remove", id="p9"), "there is no item 'p9'"),
        (StateChange("add", "wish", text="x"), "unknown kind 'wish': allowed are goal, plan, done"),
        (StateChange("add", "plan", text=" "), "text is missing or blank"),
        (StateChange("set", id="p1", text=""), "text is missing or blank"),
        (StateChange("mark", id="p1"), "`as` is '': allowed are harmful, outdated"),
        (StateChange("unmark", id="p1"), "p1 has no mark"),
        (StateChange("drop", id="p1"), "unknown do 'drop': allowed are add, set, mark"),
    ],
)
def test_scenario_45_one_bad_change_refuses_the_whole_op(bad: StateChange, reason: str) -> None:
    session = Session(talk_of_five())
    change(session, plan("one"))
    before = session.work

    with pytest.raises(RefusedError, match=rf"changes\[1\] \({bad.do}\): {reason}"):
        change(session, plan("two"), bad)
    assert session.work == before


def test_h11_a_state_longer_than_one_row_may_be_is_refused() -> None:
    session = Session(talk_of_five())
    change(session, plan("x" * 15_000))

    with pytest.raises(RefusedError, match="allowed are 20000"):
        change(session, plan("y" * 6_000))
    with pytest.raises(RefusedError, match="changes is empty"):
        change(session)


def test_h9_without_a_slot_the_new_row_goes_to_the_place_of_the_collapse_else_to_the_end() -> None:
    session = Session(talk_of_five())
    outcome = change(session, plan("one"))
    assert outcome.edit.anchors == ()
    assert slot_place(session.work, session.queue, ground(session.talk)).at is None

    rows = session.talk.listed
    session.queue.append(Edit("q7", Op.COLLAPSE, (rows[1].anchor, rows[2].anchor), "s"))
    place = slot_place(session.work, session.queue, ground(session.talk))

    assert (place.row, place.at) == (None, rows[1])


def test_scenario_44_items_and_slot_stand_rebuilt_after_one_apply() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("one"), plan("two"))
    apply_queue(session)

    outcome = change(session, StateChange("remove", id="p1"))
    session.queue.append(Edit("q7", Op.COLLAPSE, (session.talk.listed[2].anchor,), "s"))
    apply_queue(session)

    assert outcome.edit.text == "State\nPlan:\n- p2 two"
    assert session.flagged("[state]") == [2]


def test_h12_items_outlive_their_row_and_ask_to_be_shown_again() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("one"))
    apply_queue(session)
    session.talk = conversation(person("a summary of all before"))

    carried = settled(session.work, session.talk)

    assert carried.lost == {"state slot": 1}
    assert is_slot_missing(carried.work, session.moment().places)
    assert slot_text(carried.work.items) == "State\nPlan:\n- p1 one"


def test_a_withdrawn_state_edit_takes_its_changes_back() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))
    change(session, plan("one"))
    apply_queue(session)
    change(session, plan("two"), StateChange("remove", id="p1"))

    session.work = state_cancelled(session.work)

    assert [item.id for item in session.work.items] == ["p1"]


def test_tagging_the_slot_again_changes_nothing() -> None:
    session = Session(talk_of_five())
    session.tag(adding("state", 2))

    assert "is the state slot already" in session.tag(adding("state", 2)).texts[0]
