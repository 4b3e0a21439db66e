"""Notes, their links and their reminders (group I)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.rows import Line, applied, asked, conversation, own, pending, person, text, tool
from tests.support.work import Session

from context_editor.core.anchors import Moves
from context_editor.core.names import Target
from context_editor.core.notes import NoteOp, NoteOutcome, apply_notes, note_lines, notes_words
from context_editor.core.stages.carry import after_apply
from context_editor.core.stages.state import WorkState
from context_editor.core.stages.turns import on_prompt
from context_editor.errors import RefusedError
from context_editor.store.codec import decoded, encoded


def lines_of_four() -> list[Line]:
    return [
        person("go"),
        tool("Read", "src/a.py", "import os\nimport sys", call_id="toolu_a"),
        text("what I found"),
        own("context_list"),
    ]


def note(
    session: Session, *ops: NoteOp, response: str = "", turn: int | None = None
) -> NoteOutcome:
    """Carry out a call of context_note, and keep what it did."""
    outcome = apply_notes(session.work, ops, session.moment(response, turn), session.ids)
    session.work = outcome.work
    return outcome


def adding(text: str, ref: "str | int | None" = None, remind_in_turns: int | None = None) -> NoteOp:
    target = None if ref is None else Target(index=ref)
    return NoteOp("add", target=target, text=text, remind_in_turns=remind_in_turns)


def shown(session: Session) -> tuple[str, ...]:
    return note_lines(session.work, session.moment().names)


def test_scenario_46_last_links_to_the_newest_result_and_not_to_our_own_calls() -> None:
    session = Session(conversation(*lines_of_four()))

    outcome = note(session, NoteOp("add", target=Target(ref="last"), text="drop after the fix"))

    assert outcome.texts[0].startswith("n1 noted, about #2 ")
    assert "Read src/a.py “import os import sys”" in outcome.texts[0]


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([person("go"), text("a"), text("b")], 3),
        ([person("go"), tool("Read", "a", "x"), text("b"), pending("Bash", "slow")], 2),
        ([person("go"), tool("Read", "a", "x"), asked("the red one"), text("b")], 3),
        ([person("go"), tool("Read", "a", "x"), tool("Read", "b", "x", answer="m")], 2),
    ],
    ids=[
        "own text without a result",
        "a call without a result",
        "an answer of the person",
        "this very answer",
    ],
)
def test_i2_last_is_the_newest_completed_result_before_the_call_else_own_text(
    lines: list[Line], number: int
) -> None:
    session = Session(conversation(*lines))

    note(session, adding("look again", "last"), response="m")

    assert f"n1 #{number} " in shown(session)[0]


def test_i2_without_any_result_or_text_there_is_no_last() -> None:
    with pytest.raises(RefusedError, match="there is no `last`"):
        note(Session(conversation(person("go"))), adding("x", "last"))


def test_i4_row_numbers_in_a_note_draw_a_warning() -> None:
    outcome = note(Session(conversation(*lines_of_four())), adding("see #12 and #14, not #12", 2))

    assert len(outcome.warnings) == 1
    assert "#12, #14" in outcome.warnings[0]


def test_i7_notes_are_set_removed_and_listed() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("one", 2), adding("two"))

    listed = note(
        session, NoteOp("set", "n1", text="first"), NoteOp("remove", "n2"), NoteOp("list")
    )

    assert listed.texts[:2] == ("n1 set", "n2 removed")
    assert listed.texts[2].startswith("n1 #2 ")
    assert listed.texts[2].endswith("Read src/a.py: first")
    assert note(session, NoteOp("remove", "n1"), NoteOp("list")).texts[1] == "no notes"


def test_i7_set_may_link_a_note_to_another_row_and_give_it_a_new_reminder() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("one", 2))

    note(session, NoteOp("set", "n1", Target(index=3), "one", 2))

    assert "#3" in shown(session)[0]
    assert shown(session)[0].endswith("(reminder to come)")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (NoteOp("set", "n9", text="x"), "there is no note 'n9': notes are n1"),
        (NoteOp("remove", "n9"), "there is no note 'n9'"),
        (NoteOp("add", text=" "), "text is blank"),
        (NoteOp("add", text="x" * 20_001), "text has 20001 characters, allowed are 20000"),
        (NoteOp("add", text="x", remind_in_turns=0), "remind_in_turns is 0"),
        (NoteOp("add", text="x", remind_in_turns=True), "remind_in_turns is True"),
        (NoteOp("add", text="x", target=Target(index=1, to=2)), "a note takes one row"),
        (NoteOp("drop", "n1"), "unknown op 'drop': allowed are add, set, remove, list"),
    ],
)
def test_i7_one_bad_op_refuses_the_whole_call(bad: NoteOp, reason: str) -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("one"))
    before = session.work

    with pytest.raises(RefusedError, match=rf"notes\[1\] \({bad.op}\): {reason}"):
        note(session, adding("two"), bad)
    assert session.work == before


def test_i7_a_call_without_ops_is_refused() -> None:
    with pytest.raises(RefusedError, match="notes is empty"):
        note(Session(conversation(person("go"))))


def test_i9_a_note_without_a_ref_is_about_no_row() -> None:
    session = Session(conversation(*lines_of_four()))

    assert note(session, adding("remember the deadline")).texts == ("n1 noted, about no row",)
    assert shown(session) == ("n1: remember the deadline",)


# --- links ---------------------------------------------------------------------------------------------


def follow(session: Session, *ranges: tuple[int, int], epoch: int = 1) -> Moves:
    done = applied(session.talk, *ranges, epoch=epoch)
    session.work = after_apply(session.work, done.conversation, done.moves).work
    session.talk = done.conversation
    return done.moves


def test_scenario_48_a_link_follows_its_row_through_renumbering_and_into_its_replacement() -> None:
    lines = [
        person("go"),
        *[text(f"t{n}") for n in range(4)],
        tool("Read", "a.py", "x"),
        text("end"),
    ]
    session = Session(conversation(*lines))
    note(session, adding("about the read", 6), adding("about the end", 7))

    follow(session, (2, 4))
    assert [line.split(":")[0].split()[1] for line in shown(session)] == ["#4", "#5"]

    follow(session, (3, 5), epoch=2)
    assert "#3" in shown(session)[0]
    assert session.talk.listed[2].replacement == "c20"


def test_i3_a_restore_brings_a_link_back_to_its_own_row() -> None:
    lines = [person("go"), text("a"), text("b"), text("c")]
    session = Session(conversation(*lines))
    note(session, adding("about b", 3))
    before = session.talk
    follow(session, (2, 4))
    collapse = session.talk.listed[1].anchor
    rows = tuple(row.anchor for row in before.listed[1:])

    session.work = after_apply(session.work, before, Moves(restored={collapse: rows})).work
    session.talk = before

    assert "#3" in shown(session)[0]


def test_i3_a_note_whose_row_is_gone_is_kept_and_called_unlinked() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("about the text", 3))

    session.talk = conversation(person("go"))

    assert shown(session) == ("n1 unlinked (was “what I found”): about the text",)


# --- reminders -----------------------------------------------------------------------------------------


def prompt(session: Session, turns: int, *, is_continuation: bool = False) -> tuple[str, ...]:
    done = on_prompt(session.work, session.moment(), turns, is_continuation=is_continuation)
    session.work = decoded(WorkState, encoded(done.work))
    return done.lines


def test_scenario_47_a_reminder_comes_once_at_the_prompt_after_two_further_turns() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("run the slow tests", 2, remind_in_turns=2), turn=1)

    seen = {turns: prompt(session, turns) for turns in (1, 2, 3, 4)}

    assert seen[1] == seen[2] == seen[4] == ()
    assert seen[3][0].startswith("reminder from your note n1: run the slow tests (about #2 ")


def test_i5_a_continuation_counts_as_the_next_prompt() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("x", remind_in_turns=1), turn=1)

    assert len(prompt(session, 2, is_continuation=True)) == 1


def test_i5_a_removed_note_is_never_shown() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("x", remind_in_turns=1), NoteOp("remove", "n1"), turn=1)

    assert prompt(session, 9) == ()


def test_i5_a_long_note_is_cut_in_its_reminder() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("x" * 5_000, remind_in_turns=1), turn=1)

    assert "[context-editor: 3800 chars cut]" in prompt(session, 2)[0]


def test_the_header_counts_notes_and_those_that_are_due() -> None:
    session = Session(conversation(*lines_of_four()))
    assert notes_words(session.work, 0) == ""
    note(session, adding("x", remind_in_turns=1), adding("y"), turn=1)

    assert notes_words(session.work, 1) == "2 (0 due)"
    assert notes_words(session.work, 2) == "2 (1 due)"


@settings(deadline=None)
@given(
    notes=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=8),
    prompts=st.lists(st.integers(0, 3), max_size=20),
)
def test_i5_over_any_turns_every_reminder_comes_exactly_once_and_never_early(
    notes: list[tuple[int, int]], prompts: list[int]
) -> None:
    session = Session(conversation(*lines_of_four()))
    due = dict[str, int]()
    for turn, after in notes:
        note(session, adding("x", remind_in_turns=after), turn=turn)
        due[session.ids.given[-1]] = turn + after
    told: dict[str, int] = {}
    turns = 0
    for step in [*prompts, 20]:
        turns += step
        for line in prompt(session, turns):
            name = line.removeprefix("reminder from your note ").split(":")[0]
            assert name not in told
            told[name] = turns

    assert told.keys() == due.keys()
    assert all(told[name] >= at for name, at in due.items())


def test_i1_a_note_is_no_row() -> None:
    session = Session(conversation(*lines_of_four()))
    note(session, adding("secret words", 2))

    assert all("secret words" not in row.text for row in session.talk.rows)
