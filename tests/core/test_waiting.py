"""Blocks that the optimize marker left waiting (group E); the marker's own grammar is tested with it."""

import pytest
from tests.support.rows import CharSizer, Line, conversation, person, text, tool
from tests.support.work import Session, adding, closing, opening

from context_editor.core.conversation import Conversation
from context_editor.core.stages.carry import settled
from context_editor.core.stages.header import stage_words
from context_editor.core.stages.state import WorkState
from context_editor.core.stages.turns import TurnEnd, on_prompt, on_turn_end
from context_editor.store.codec import decoded, encoded

MARKED = "done\n\n[context-editor: optimize]"


def turn_lines(turn: int) -> list[Line]:
    """One turn: a person's row, two of work, and an answer that ends it."""
    work = [tool("Read", f"{turn}.py", f"text {turn}"), text(f"thought {turn}")]
    return [person(f"task {turn}"), *work, text(f"{turn} {MARKED}", answer=f"end{turn}")]


def turns(count: int) -> Conversation:
    return conversation(*[line for turn in range(1, count + 1) for line in turn_lines(turn)])


def end_turn(session: Session, turn: int, *, valid: bool = True) -> TurnEnd:
    """End this turn, with a valid marker or without."""
    done = on_turn_end(session.work, session.moment(f"end{turn}", turn), marker_is_valid=valid)
    session.work = done.work
    return done


def prompt(session: Session, *, is_continuation: bool = False) -> tuple[str, ...]:
    done = on_prompt(session.work, session.moment(), 1, is_continuation=is_continuation)
    session.work = decoded(WorkState, encoded(done.work))
    return done.lines


def header(session: Session) -> str:
    return stage_words(session.work, session.moment().names, CharSizer())


def test_an_ordinary_end_of_a_turn_changes_nothing() -> None:
    session = Session(turns(1))
    session.tag(opening("X", 2))
    before = session.work

    assert end_turn(session, 1, valid=False).work == before


def test_scenario_30_a_marker_closes_the_open_stage_which_then_waits() -> None:
    session = Session(turns(1))
    session.tag(opening("X", 2), adding("disposable", 2, note="dead end"))

    done = end_turn(session, 1)

    assert session.work.stage is None
    assert header(session) == "waiting: X #2..#3"
    assert done.words == 'waiting to be compressed: "X" #2..#3'
    assert session.queue == []
    assert len(session.work.marks) == 1


def test_e3_a_block_closed_by_the_marker_ends_before_the_answer_that_carries_it() -> None:
    session = Session(turns(1))
    session.tag(opening("X", 2))

    end_turn(session, 1)

    assert session.flagged("[block end]") == [3]


def test_e3_without_an_open_stage_the_stretch_since_the_last_block_waits() -> None:
    session = Session(turns(2))
    session.tag(opening("A", 2), closing(), response="end1", turn=1)

    end_turn(session, 2)

    assert header(session) == "waiting: since A #4..#7"


def test_e3_the_first_stretch_of_all_is_named_start() -> None:
    session = Session(turns(1))

    end_turn(session, 1)

    assert header(session) == "waiting: start #1..#3"


def test_scenario_31_a_block_closed_by_tool_in_the_same_turn_is_the_one_that_waits() -> None:
    session = Session(turns(1))
    session.tag(opening("A", 2), closing(), response="end1", turn=1)

    end_turn(session, 1)

    assert header(session) == "waiting: A #2..#3"
    assert len(session.work.blocks) == 1


def test_e3_a_marker_with_nothing_since_the_last_block_is_ignored() -> None:
    talk = conversation(person("go"), text("all"), text(MARKED, answer="end1"))
    session = Session(talk)
    session.tag(opening("A", 1), closing(), response="end1", turn=0)

    done = end_turn(session, 1)

    assert (done.waiting, session.work.waiting) == (None, None)


def test_e3_a_marker_whose_stage_has_no_row_yet_is_ignored() -> None:
    session = Session(turns(1))
    session.tag(opening("X"), response="end1")

    assert end_turn(session, 1).waiting is None
    assert session.work.stage is not None


@pytest.mark.parametrize("talk", [conversation(), conversation(text(MARKED, answer="end1"))])
def test_e3_a_marker_with_no_row_before_it_is_ignored(talk: Conversation) -> None:
    session = Session(talk)

    assert end_turn(session, 1).work == WorkState()


def test_scenario_32_the_next_prompt_names_the_waiting_block_once() -> None:
    session = Session(turns(1))
    session.tag(opening("X", 2))
    end_turn(session, 1)

    first, second = prompt(session), prompt(session)

    assert first[0].startswith('context-editor: waiting block "X" #2..#3.')
    assert second == ()
    assert header(session) == "waiting: X #2..#3"


def test_e5_a_continuation_of_ours_leaves_the_line_for_the_next_prompt() -> None:
    session = Session(turns(1))
    end_turn(session, 1)

    assert prompt(session, is_continuation=True) == ()
    assert len(prompt(session)) == 1


def test_e6_opening_a_stage_reports_the_waiting_block_and_ends_the_waiting() -> None:
    session = Session(turns(2))
    session.tag(opening("X", 2))
    end_turn(session, 1)

    outcome = session.tag(opening("Y", 6))

    assert 'no longer waiting: "X" #2..#3' in outcome.texts[0]
    assert session.work.waiting is None
    assert prompt(session) == ()


def test_e6_a_second_marker_merges_both_stretches_into_one_waiting_block() -> None:
    session = Session(turns(3))
    session.tag(opening("X", 2))
    end_turn(session, 1)
    prompt(session)

    end_turn(session, 2)

    assert header(session) == "waiting: X #2..#7"
    assert len(session.work.blocks) == 1
    assert "#2..#7" in prompt(session)[0]


def test_e6_a_refused_close_does_not_end_the_waiting() -> None:
    session = Session(turns(1))
    end_turn(session, 1)

    with pytest.raises(Exception, match="no stage is open"):
        session.tag(closing())

    assert session.work.waiting is not None


def test_the_waiting_ends_with_its_block() -> None:
    session = Session(turns(1))
    end_turn(session, 1)

    carried = settled(session.work, conversation())

    assert carried.work.waiting is None
    assert carried.lost == {"block": 1}
