"""Stages, blocks and marks through applies and restarts (rules B10 and B12)."""

from tests.support.rows import Line, applied, conversation, own, person, text, tool
from tests.support.work import Session, adding, closing, opening

from context_editor.core.anchors import Moves
from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import Edit, Op
from context_editor.core.stages.carry import after_apply, settled
from context_editor.core.stages.moves import moves_of
from context_editor.core.stages.state import WorkState
from context_editor.store.codec import decoded, encoded

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


def test_b10_an_open_stage_stays_on_its_content_through_an_apply() -> None:
    session = Session(work_of(6))
    session.tag(opening("X", 20))

    done = applied(session.talk, (6, 12))
    session.work, session.talk = (
        after_apply(session.work, done.conversation, done.moves).work,
        done.conversation,
    )

    assert session.flagged("[stage ▶ X]") == [14]
    assert session.talk.listed[13].text == work_of(6).listed[19].text


def test_b10_a_stage_on_one_of_our_own_calls_moves_to_the_next_row_when_that_leaves() -> None:
    lines = [person("go"), text("old"), own(answer="m"), text("new"), text("newer")]
    session = Session(conversation(*lines[:3], running="m"))
    session.tag(opening("X"), response="m")
    session.talk = conversation(*lines)

    work = settled(session.work, session.talk).work
    done = applied(session.talk)
    session.work, session.talk = (
        after_apply(work, done.conversation, done.moves).work,
        done.conversation,
    )

    assert session.flagged("[stage ▶ X]") == [3]
    assert session.talk.listed[2].text == "new"


def test_b10_a_row_that_leaves_without_a_replacement_hands_its_bounds_on() -> None:
    session = Session(work_of())
    session.tag(opening("A", 6), closing())
    rows = session.talk.listed
    leaving = frozenset({rows[5].anchor, rows[15].anchor})

    work = settled(session.work, session.talk, leaving).work

    assert (work.blocks[0].first.id, work.blocks[0].last.id) == (rows[6].anchor, rows[14].anchor)


def test_b10_a_block_with_no_row_left_is_dropped_and_counted() -> None:
    session = Session(work_of())
    session.tag(opening("A", 14), closing())

    carried = settled(session.work, work_of(2))

    assert carried.work.blocks == ()
    assert carried.words == "dropped, their rows are gone: 1 block"


def test_b10_a_restore_gives_a_block_its_rows_back() -> None:
    session = Session(work_of())
    session.tag(opening("A", 6), closing())
    original = session.talk
    done = applied(original, (5, 8), (9, 16))
    work = after_apply(session.work, done.conversation, done.moves).work
    anchors = [row.anchor for row in original.listed]
    first, second = (row.anchor for row in done.conversation.listed[4:6])
    moves = Moves(
        moved={new: old for old, new in done.moves.moved.items()},
        restored={first: anchors[4:8], second: anchors[8:16]},
    )

    work = after_apply(work, original, moves).work

    assert (work.blocks[0].first.id, work.blocks[0].last.id) == (anchors[5], anchors[15])


def test_b12_stage_blocks_and_marks_survive_a_restart_by_content() -> None:
    session = Session(work_of())
    session.tag(opening("A", 2), closing())
    session.tag(adding("pin", 4), opening("B", 16))
    stored = decoded(WorkState, encoded(session.work))
    copied = applied(session.talk, epoch=7).conversation

    carried = settled(stored, copied)

    session.work, session.talk = carried.work, copied
    assert carried.lost == {}
    assert session.flagged("[pin]") == [4]
    assert session.flagged("[stage ▶ B]") == [16]
    assert session.flagged("[block ▶ A]") == [2]


def test_b12_anchors_that_are_not_found_are_dropped_and_counted() -> None:
    session = Session(work_of())
    session.tag(adding("pin", 16), adding("pin", 2), adding("review", 15))

    carried = settled(session.work, work_of(2))

    assert carried.lost == {"pin": 1, "review": 1}
    assert len(carried.work.marks) == 1


def test_moves_are_worked_out_from_the_edits_and_from_what_stands() -> None:
    collapse = Edit("q1", Op.COLLAPSE, ("u:a", "t:b"))
    state = Edit("q2", Op.STATE, ("u:s",))
    restore = Edit("q3", Op.RESTORE, ("t:c",), target="c1")
    lost = Edit("q4", Op.REWRITE, ("u:x",))
    standing = {"c7": ("t:c7",), "c8": ("u:new",), "c9": ("u:r1", "t:r2")}

    moves = moves_of(
        [(collapse, "c7"), (state, "c8"), (restore, "c9"), (lost, "c10")], standing, {"u:k": "u:l"}
    )

    assert moves == Moves(
        moved={"u:k": "u:l", "u:s": "u:new"},
        absorbed={"u:a": "t:c7", "t:b": "t:c7"},
        restored={"t:c": ("u:r1", "t:r2")},
        slot="u:new",
    )


def test_b10_a_mark_stays_on_its_own_row_when_a_row_of_the_same_words_in_front_goes() -> None:
    session = Session(conversation(person("go"), text("same"), text("same"), text("same")))
    session.tag(adding("pin", 3))

    done = applied(session.talk, (2, 2))
    session.work = after_apply(session.work, done.conversation, done.moves).work
    session.talk = done.conversation

    assert session.flagged("[pin]") == [3]
