"""Pins, reviews, rows to keep, decisions, and the order of flags (A7, C12, G6, K-M9, L10)."""

import pytest
from tests.support.rows import applied, conversation, host, person, text, tool
from tests.support.work import Session, adding, closing, opening, removing

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit, Op
from context_editor.core.stages.carry import after_apply, settled
from context_editor.core.stages.flags import kept_rows, protected, review_marks
from context_editor.core.stages.marks import TagOp
from context_editor.core.stages.turns import pinned_by_product
from context_editor.errors import RefusedError

BULK = "words of an output " * 100


def talk_of_seven() -> Conversation:
    return conversation(
        person("go"),
        tool("Read", "a.py", BULK),
        text(f"plan {BULK}"),
        host("nested_memory", "rules of the folder"),
        tool("Bash", "pytest", BULK),
        person("and now"),
        text(f"result {BULK}"),
    )


def test_a7_flags_of_one_row_stand_in_a_fixed_order() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("review", 3), adding("keep", 3, kept_as="rubrics"))
    session.tag(opening("X", 3), adding("state", 3), adding("pin", 3))

    assert session.flags(3) == [
        "[pin]",
        "[keep: rubrics]",
        "[state]",
        "[stage ▶ X]",
        "[review: agent]",
    ]


def test_a7_a_disposable_row_shows_its_note_on_one_line() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("disposable", 2, 3, note="dead end:\n the path was wrong"))

    assert session.flags(2) == ["[disposable: dead end: the path was wrong]"]
    assert session.flags(3) == session.flags(2)


def test_c12_pinned_rows_are_protected_until_the_agent_removes_the_pin() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("pin", 2, 3))
    rows = session.talk.listed
    assert protected(session.work, session.talk) == {r.anchor: "pinned" for r in rows[1:3]}

    session.tag(removing("pin", 3))
    assert protected(session.work, session.talk) == {rows[1].anchor: "pinned"}


def test_c12_removing_a_pin_that_is_not_there_names_the_rows_that_have_one() -> None:
    session = Session(talk_of_seven())
    session.tag(adding("pin", 2))

    with pytest.raises(RefusedError, match=r"#3 \w+ has no pin mark: rows with it are #2"):
        session.tag(removing("pin", 3))


def test_c12_a_pin_of_the_product_may_be_removed_with_a_warning_and_stays_away() -> None:
    session = Session(talk_of_seven())
    row = session.talk.listed[0]
    session.work = pinned_by_product(session.work, row, "the handoff document", session.moment())
    assert session.flags(1) == ["[pin]"]

    outcome = session.tag(removing("pin", 1))

    assert any("the handoff document" in warning for warning in outcome.warnings)
    assert (
        pinned_by_product(session.work, row, "the handoff document", session.moment()).marks == ()
    )


def test_c12_a_pin_over_rows_of_a_queued_edit_is_refused_with_the_way_out() -> None:
    session = Session(talk_of_seven())
    session.queue = [Edit("q1", Op.SUMMARIZE, (session.talk.listed[1].anchor,), "short")]

    with pytest.raises(RefusedError, match=r'already in q1 .*"op": "cancel", "id": "q1"'):
        session.tag(adding("pin", 2))


def test_scenario_41_a_review_mark_with_a_life_of_four_is_gone_after_four_completed_turns() -> None:
    lines = [person("go"), tool("Read", "a.py", BULK)]
    session = Session(conversation(*lines))
    session.tag(adding("review", 2, ttl_turns=4))

    later = {turns: conversation(*lines, turns=turns) for turns in range(5)}

    assert [len(review_marks(session.work, later[turns])) for turns in range(5)] == [1, 1, 1, 1, 0]
    assert settled(session.work, later[4]).work.marks == ()
    assert settled(session.work, later[4]).lost == {}


@pytest.mark.parametrize("turns", [0, -1, True])
def test_g6_a_life_is_a_whole_number_from_one(turns: int) -> None:
    with pytest.raises(RefusedError, match=r"ttl_turns is .*: give a whole number"):
        Session(talk_of_seven()).tag(adding("review", 2, ttl_turns=turns))


def test_g6_marking_a_row_again_renews_its_life() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("review", 2, ttl_turns=1), adding("review", 2, ttl_turns=5))

    assert [mark.until_turns for mark in session.work.marks] == [6]


def test_g6_a_review_mark_is_done_when_its_row_is_replaced() -> None:
    session = Session(talk_of_seven())
    session.tag(adding("review", 2), adding("review", 5))

    done = applied(session.talk, (2, 3))
    carried = after_apply(session.work, done.conversation, done.moves)

    assert len(carried.work.marks) == 1
    assert carried.lost == {}


@pytest.mark.parametrize(
    ("number", "reason"), [(1, "never up for review"), (7, "pinned"), (3, "the state slot")]
)
def test_g6_person_pinned_and_state_rows_are_never_up_for_review(number: int, reason: str) -> None:
    session = Session(talk_of_seven())
    session.tag(adding("pin", 7), adding("state", 3))

    with pytest.raises(RefusedError, match=reason):
        session.tag(adding("review", number))


def test_l10_a_row_is_kept_as_one_of_the_protected_kinds_only() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("keep", 2, kept_as="rubrics"))
    assert kept_rows(session.work, session.talk) == {session.talk.listed[1].anchor: "rubrics"}

    with pytest.raises(RefusedError, match=r"`as` is 'gems': .*\(citation_index, rubrics\)"):
        session.tag(adding("keep", 3, kept_as="gems"))


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        (adding("pin", 2, ttl_turns=2), "ttl_turns goes with kind review"),
        (adding("pin", 2, kept_as="rubrics"), "`as` goes with kind keep"),
    ],
)
def test_words_that_belong_to_another_kind_are_refused(op: TagOp, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        Session(talk_of_seven()).tag(op)


def test_an_unknown_kind_or_a_missing_target_is_refused_with_what_is_allowed() -> None:
    session = Session(talk_of_seven())

    with pytest.raises(RefusedError, match="unknown kind 'star': allowed are pin, state"):
        session.tag(adding("star", 2))
    with pytest.raises(RefusedError, match="no row was named: give exactly one of index, ref"):
        session.tag(TagOp("add", "pin"))


def test_last_names_the_newest_result_in_tags_too() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("pin", "last"))

    assert session.flagged("[pin]") == [5]


def test_tags_survive_an_apply_and_follow_their_rows() -> None:
    session = Session(talk_of_seven())
    session.tag(adding("pin", 7), adding("keep", 5, kept_as="rubrics"), adding("review", 5))

    done = applied(session.talk, (2, 3))
    session.work, session.talk = (
        after_apply(session.work, done.conversation, done.moves).work,
        done.conversation,
    )

    assert session.flags(6) == ["[pin]"]
    assert session.flags(4) == ["[keep: rubrics]", "[review: agent]"]


def test_k_m9_a_decision_about_the_molt_is_handed_back() -> None:
    session = Session(talk_of_seven())
    session.molt = "m1"

    outcome = session.tag(TagOp("decide", decision="defer", note="tests first"))

    assert (outcome.decision, outcome.decision_note) == ("defer", "tests first")
    with pytest.raises(RefusedError, match="unknown decision 'maybe': allowed are continue, defer"):
        session.tag(TagOp("decide", decision="maybe"))
    session.molt = ""
    with pytest.raises(RefusedError, match="no molt in this session"):
        session.tag(TagOp("decide", decision="continue"))


def test_b8_ops_see_what_the_ops_before_them_did() -> None:
    session = Session(talk_of_seven())

    session.tag(adding("pin", 2), removing("pin", 2), adding("disposable", 2, note="dead end"))
    assert session.flags(2) == ["[disposable: dead end]"]

    with pytest.raises(RefusedError, match=r"tags\[1\] \(add\): .*is pinned"):
        session.tag(adding("pin", 5), adding("disposable", 5, note="dead end"))
    session.tag(opening("X", 5), closing())
