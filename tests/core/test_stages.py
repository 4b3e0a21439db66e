"""Opening, closing and listing stages (group B, and A4 and A5)."""

import pytest
from tests.support.rows import (
    CharSizer,
    Line,
    applied,
    conversation,
    own,
    pending,
    person,
    text,
    tool,
)
from tests.support.work import Session, adding, closing, opening

from context_editor.core.conversation import Conversation
from context_editor.core.names import Target
from context_editor.core.stages.blocks import block_of
from context_editor.core.stages.carry import after_apply, settled
from context_editor.core.stages.header import stage_words
from context_editor.core.stages.state import WorkState
from context_editor.errors import RefusedError

BULK = "words of an output " * 100


def work_of(turns: int = 4) -> Conversation:
    """A person's row, then three rows of work, in every turn."""
    lines = list[Line]()
    for turn in range(1, turns + 1):
        lines += [
            person(f"task {turn}"),
            tool("Bash", f"step {turn}", f"{BULK}{turn}"),
            tool("Read", f"src/{turn}.py", f"{BULK} file {turn}"),
            text(f"finding {turn}: {BULK}"),
        ]
    return conversation(*lines)


# --- open ----------------------------------------------------------------------------------------------


def test_scenario_6_a_stage_opens_at_the_answer_that_made_the_call_and_is_marked_there_only() -> (
    None
):
    lines = [text(f"row {n}") for n in range(1, 14)]
    session = Session(
        conversation(*lines, text("now I read", answer="m"), own(answer="m"), running="m")
    )

    outcome = session.tag(opening("read config"), response="m")

    assert session.flagged("[stage ▶ read config]") == [14]
    assert "#14" in outcome.texts[0]


def test_b1_an_answer_of_nothing_but_the_call_opens_the_stage_at_the_next_row() -> None:
    session = Session(conversation(person("go"), own(answer="m"), running="m"))

    outcome = session.tag(opening("X"), response="m")

    assert "#2, the next row" in outcome.texts[0]
    names = session.moment().names
    assert stage_words(session.work, names, CharSizer()) == "▶ X, from the next row on"
    assert session.flagged("[stage") == []
    session.talk = conversation(person("go"), own(answer="m"), tool("Read", "a.py", "text"))
    assert session.flagged("[stage ▶ X]") == [2]


def test_b1_a_call_that_is_not_to_be_seen_yet_opens_behind_the_newest_row() -> None:
    session = Session(conversation(person("go"), text("plan")))

    session.tag(opening("X"), response="not written yet")

    assert session.flagged("[stage") == []
    session.talk = conversation(person("go"), text("plan"), own(), text("more"), text("last"))
    session.work = settled(session.work, session.talk).work
    assert session.flagged("[stage ▶ X]") == [3]


def test_b2_a_stage_opened_at_an_index_starts_there() -> None:
    session = Session(work_of())

    outcome = session.tag(opening("X", 9))

    assert session.flagged("[stage ▶ X]") == [9]
    assert 'opened "X" at #9' in outcome.texts[0]


def test_b2_an_index_on_a_result_starts_at_its_call_and_says_so() -> None:
    talk = conversation(person("go"), tool("Read", "a.py", "text", call_id="toolu_x"), text("seen"))
    session = Session(talk)
    op = opening("X")

    outcome = session.tag(type(op)("open", stage="X", target=Target(tool_use_id="toolu_x")))

    assert "#2" in outcome.texts[0]
    assert "a tool call together with its result" in outcome.texts[0]


def test_b2_an_index_inside_a_closed_block_opens_with_a_warning_that_names_the_overlap() -> None:
    session = Session(work_of())
    session.tag(opening("probe", 2), closing())

    outcome = session.tag(opening("X", 5))

    assert any('"probe" #2..#16' in warning for warning in outcome.warnings)


def test_b2_an_index_beyond_the_newest_row_is_refused_with_the_rows_there_are() -> None:
    session = Session(work_of())

    with pytest.raises(RefusedError, match=r"tags\[0\] \(open\): .*#99.*#1\.\.#16"):
        session.tag(opening("X", 99))


@pytest.mark.parametrize("name", ["", "  ", "\n"])
def test_b9_a_blank_name_is_refused(name: str) -> None:
    with pytest.raises(RefusedError, match="`stage` is missing or blank"):
        Session(work_of()).tag(opening(name))


def test_b9_the_same_name_may_be_used_again() -> None:
    session = Session(work_of())

    session.tag(opening("X", 2), closing())
    session.tag(opening("X", 6), closing())

    assert [block.name for block in session.work.blocks] == ["X", "X"]


# --- close ---------------------------------------------------------------------------------------------


def test_b3_a_block_ends_with_the_newest_complete_row_before_the_answer_that_closes() -> None:
    lines = [person("go"), text("a"), tool("Read", "a.py", "text"), pending("Agent", "slow")]
    talk = conversation(*lines, text("done", answer="m"), own(answer="m"), running="m")
    session = Session(talk)
    session.tag(opening("X", 2))

    outcome = session.tag(closing(), response="m")

    assert 'closed "X" #2..#3: 2 rows' in outcome.texts[0]


def test_b3_the_answer_that_opened_a_stage_cannot_close_it() -> None:
    talk = conversation(person("go"), text("a", answer="m"), own(answer="m"), running="m")
    session = Session(talk)
    session.tag(opening("X"), response="m")

    with pytest.raises(RefusedError, match="no block is empty"):
        session.tag(closing(), response="m")
    assert session.work.stage is not None


def test_scenario_10_closing_with_nothing_open_is_refused_and_changes_nothing() -> None:
    session = Session(work_of())

    with pytest.raises(RefusedError, match="no stage is open"):
        session.tag(closing())
    assert session.work == WorkState()


def test_scenario_7_opening_while_a_stage_is_open_closes_it_first() -> None:
    session = Session(work_of())
    session.tag(opening("A", 2))

    outcome = session.tag(opening("B"))

    assert len(outcome.texts) == 1
    report = outcome.texts[0]
    assert report.index('closed "A" #2..#16') < report.index('opened "B"')
    assert session.work.stage is not None
    assert session.work.stage.name == "B"
    assert [block.name for block in session.work.blocks] == ["A"]


def test_b6_a_stage_that_begins_inside_the_open_one_ends_that_in_front_of_it() -> None:
    session = Session(work_of())
    session.tag(opening("A", 2))

    outcome = session.tag(opening("B", 9))

    assert 'closed "A" #2..#8' in outcome.texts[0]
    assert outcome.warnings == ()


def test_b6_a_stage_without_a_row_leaves_no_block_behind() -> None:
    talk = conversation(person("go"), own(answer="m"), running="m")
    session = Session(talk)

    outcome = session.tag(opening("A"), opening("B"), response="m")

    assert session.work.blocks == ()
    assert any('"A" held no row yet' in warning for warning in outcome.warnings)


def test_scenario_8_open_at_an_index_and_close_in_one_call_make_a_block_that_was_never_open() -> (
    None
):
    talk = conversation(
        *[text(f"row {n}") for n in range(1, 21)], text("now", answer="m"), running="m"
    )
    session = Session(talk)

    outcome = session.tag(opening("probe", 5), closing(), response="m")

    assert 'closed "probe" #5..#20: 16 rows' in outcome.texts[1]
    assert session.work.stage is None
    assert len(session.work.blocks) == 1


def test_b7_a_retroactive_block_closes_the_open_stage_too() -> None:
    session = Session(work_of())
    session.tag(opening("A", 13))

    session.tag(opening("probe", 5), closing())

    assert [block.name for block in session.work.blocks] == ["A", "probe"]


def test_b8_one_bad_op_refuses_the_whole_call_and_names_its_position() -> None:
    session = Session(work_of())
    before = session.work

    with pytest.raises(RefusedError, match=r"tags\[2\] \(add\): .*Nothing of this call was done"):
        session.tag(opening("X", 2), closing(), adding("pin", 99))
    assert session.work == before


def test_b8_an_unknown_op_is_refused_with_the_ones_there_are() -> None:
    session = Session(work_of())
    op = opening("X")

    with pytest.raises(RefusedError, match=r"unknown op 'begin': allowed are open, close, add"):
        session.tag(type(op)("begin"))
    with pytest.raises(RefusedError, match="tags is empty"):
        session.tag()


def test_b11_a_stage_may_hold_person_rows_and_the_report_gives_the_ranges_around_them() -> None:
    session = Session(work_of())

    outcome = session.tag(opening("X", 2), closing())

    assert (
        "Person rows: 3 (#5, #9, #13); edit around them: #2..#4, #6..#8, #10..#12, #14..#16"
        in (outcome.texts[1])
    )


# --- listing -------------------------------------------------------------------------------------------


def test_a4_there_is_no_stage_mark_when_no_stage_is_open() -> None:
    session = Session(work_of())
    session.tag(opening("X", 2), closing())

    assert session.flagged("[stage") == []


def test_a5_only_the_latest_block_is_bracketed() -> None:
    session = Session(work_of())
    session.tag(opening("A", 2))
    session.tag(opening("B", 6))
    session.tag(closing())

    assert session.flagged("[block ▶") == [6]
    assert session.flagged("[block end]") == [16]


def test_a5_a_block_of_one_row_has_both_marks_on_it() -> None:
    session = Session(conversation(person("go"), text("one")))

    session.tag(opening("A", 2), closing())

    assert session.flags(2) == ["[block ▶ A]", "[block end]"]


def test_a5_a_block_that_was_collapsed_has_both_marks_on_the_replacement() -> None:
    session = Session(work_of())
    session.tag(opening("A", 6), closing())

    done = applied(session.talk, (6, 8), (9, 9), (10, 16))
    session.work, session.talk = (
        after_apply(session.work, done.conversation, done.moves).work,
        done.conversation,
    )
    assert session.flagged("[block ▶ A]") == [6]
    assert session.flagged("[block end]") == [8]

    again = applied(session.talk, (6, 8), epoch=2)
    work = after_apply(session.work, again.conversation, again.moves).work
    session.work, session.talk = work, again.conversation
    assert session.flags(6) == ["[block ▶ A]", "[block end]"]


def test_a5_marks_stay_right_when_an_apply_elsewhere_renumbers_rows() -> None:
    session = Session(work_of())
    session.tag(opening("A", 10), closing())

    done = applied(session.talk, (2, 8))
    session.work, session.talk = (
        after_apply(session.work, done.conversation, done.moves).work,
        done.conversation,
    )

    assert session.flagged("[block ▶ A]") == [4]
    assert session.flagged("[block end]") == [10]


def test_block_of_gives_the_latest_block_of_a_row() -> None:
    session = Session(work_of())
    session.tag(opening("A", 2), closing())
    session.tag(opening("B", 9), closing())
    rows = session.talk.listed

    assert getattr(block_of(session.work, session.talk, rows[9]), "name", None) == "B"
    assert getattr(block_of(session.work, session.talk, rows[4]), "name", None) == "A"
    assert block_of(session.work, session.talk, rows[0]) is None


def test_the_header_says_which_stage_is_open_and_how_large_it_is() -> None:
    session = Session(work_of())
    names = session.moment().names

    assert stage_words(session.work, names, CharSizer()) == "none"
    session.tag(opening("X", 16))
    assert stage_words(session.work, names, CharSizer()) == "▶ X, since #16 (478)"
