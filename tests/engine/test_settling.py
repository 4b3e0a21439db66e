"""What becomes of an apply that was handed to the host, whatever happened in between."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.support.fake_host import FakeHost, engine_of, fixed_clock

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import Piece, PieceForm
from context_editor.engine.listing import ListRequest
from context_editor.engine.ports import Clock
from context_editor.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from context_editor.engine.session import Engine

LONG = "word " * 400
SUMMARY = "goal: look; fact: found src/a.py:12"
NOT_TAKEN = "the host did not take the edited conversation"


def session(folder: Path) -> tuple[FakeHost, Engine]:
    """#1 prompt, #2 text, #3 and #4 reads of one answer, #5 text, #6 prompt, #7 text, #8 read, #9 text."""
    host = FakeHost()
    host.prompt("hello")
    host.answer(f"A {LONG}", [("Read", "a.py", f"AA {LONG}"), ("Read", "b.py", f"BB {LONG}")])
    host.answer(f"B {LONG}")
    host.prompt("again")
    host.answer(f"C {LONG}", [("Read", "c.py", f"CC {LONG}")])
    host.answer("done")
    return host, engine_of(host, folder)


def edit(engine: Engine, op: str, index: int, to: int | None = None) -> str:
    epoch = engine.folder.read().epoch
    return engine.edit(
        EditCall((EditRequest(op, Target(index=index, to=to), SUMMARY),), epoch=epoch)
    )


def compacted_by_the_host(host: FakeHost, kept: int = 0) -> None:
    """The host's own compaction: a summary, and the last stored rows written again."""
    rows = host.stored()[len(host.stored()) - kept :]
    summary = Piece(
        "s1", PieceForm.PROMPT, "user", "What was done so far.", label="compact-summary"
    )
    host.carry_out_rows([[summary], *rows])


@pytest.mark.parametrize("kept", [0, 5, 6])
def test_a_compaction_of_the_host_is_never_taken_for_an_apply_that_it_came_before(
    tmp_path: Path, kept: int
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    edit(engine, "rewrite", 5)
    assert not engine.plan_apply(host.host_rows()).skip

    compacted_by_the_host(host, kept)

    assert NOT_TAKEN in engine.confirm()
    state = engine.folder.read()
    assert (state.epoch, state.intent, state.replacements) == (0, None, {})
    assert [queued.id for queued in state.queue] == ["q1", "q2"]
    rows = engine.view(state).reading.conversation.listed
    assert not [row for row in rows if row.replacement]


def test_a_queue_whose_rows_all_went_is_given_up_and_told(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    edit(engine, "collapse", 3, 5)
    compacted_by_the_host(host)
    host.prompt("go on")

    skipped = engine.plan_apply(host.host_rows()).skip

    assert "q1 left the queue" in skipped
    assert engine.folder.read().queue == []
    assert skipped in engine.prompt_lines("next")


def test_one_row_too_many_leads_no_name_to_another_row(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    edit(engine, "rewrite", 5)
    host.carry_out(engine.plan_apply(host.host_rows()))
    host.pieces.insert(0, Piece("x1", PieceForm.PROMPT, "user", "what nobody planned"))

    assert "applied 2 edit(s)" in engine.confirm()

    rows = engine.view(engine.folder.read()).reading.conversation.listed
    assert {row.replacement: row.text.split(":")[0][:30] for row in rows if row.replacement} == {
        "c1": "Later, your context_edit summa",
        "c2": "Later, your context_edit rewri",
    }


def test_an_apply_is_taken_in_where_the_list_of_its_rows_is_lost(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    edit(engine, "collapse", 3, 5)
    host.carry_out(engine.plan_apply(host.host_rows()))
    for path in (engine.folder.path / "applies").iterdir():
        path.unlink()

    assert "c1 collapse #3..#5 → #3" in engine.confirm()
    assert "Rows: 7 (epoch 1)" in engine.list(ListRequest())


def test_an_apply_stands_in_the_log_once_where_the_next_call_was_refused(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    edit(engine, "collapse", 3, 5)
    host.carry_out(engine.plan_apply(host.host_rows()))
    with pytest.raises(RefusedError):
        edit(engine, "collapse", 1, 3)

    engine.confirm()

    lines = engine.folder.applies.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1]


@pytest.mark.parametrize(("passed_s", "is_open"), [(-3_600.0, False), (-1.0, True), (5.0, True)])
def test_a_clock_that_was_put_back_leaves_no_apply_open_for_ever(
    tmp_path: Path, passed_s: float, *, is_open: bool
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "collapse", 3, 5)
    assert not engine.plan_apply(host.host_rows()).skip

    engine.clock = Clock(
        lambda: 1_000.0 + passed_s, fixed_clock().stamp, lambda: 0.0, lambda _: None
    )
    engine.confirm()

    assert (engine.folder.read().intent is not None) is is_open


@pytest.mark.parametrize("order", ["plan_apply", "answer_compaction"])
def test_l17_a_row_that_the_host_holds_and_has_not_written_yet_is_waited_for(
    tmp_path: Path, order: str
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    engine.limits = replace(engine.limits, window=1_000, auto_compact=1_000)
    held = host.host_rows()
    *host.pieces, newest = host.pieces
    waits: list[float] = []

    def written(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            host.pieces.append(newest)

    engine.clock = replace(engine.clock, sleep=written)

    answer = getattr(engine, order)(held)

    assert len(waits) == 3
    assert not answer.skip
    assert not engine.folder.read().report


def test_a_row_that_never_reaches_the_file_is_waited_for_a_second_and_nothing_is_applied(
    tmp_path: Path,
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    held = host.host_rows()
    del host.pieces[-1]
    waits: list[float] = []
    engine.clock = replace(engine.clock, sleep=waits.append)

    answer = engine.plan_apply(held)

    assert sum(waits) == pytest.approx(1.0)
    assert "its file does not show yet" in answer.skip
    assert engine.folder.read().queue


@pytest.mark.parametrize("rows_written", [1, 3, -1])
def test_c25_an_apply_that_the_host_has_written_a_part_of_is_not_settled_before_the_rest_stands(
    tmp_path: Path, rows_written: int
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 8)
    host.carry_out(engine.plan_apply(host.host_rows()))
    whole = host.pieces
    host.pieces = [piece for row in host.stored()[:rows_written] for piece in row]

    assert engine.confirm() == ""
    assert engine.folder.read().intent is not None

    host.pieces = whole
    assert "applied 1 edit(s)" in engine.confirm()
    assert engine.folder.read().epoch == 1


def test_c25_an_apply_whose_last_row_still_lacks_what_rides_behind_it_is_not_settled_yet(
    tmp_path: Path,
) -> None:
    host, engine = session(tmp_path)
    host.attach("hook_additional_context", "a hook said so")
    edit(engine, "summarize", 8)
    host.carry_out(engine.plan_apply(host.host_rows()))
    *host.pieces, rider = host.pieces

    assert engine.confirm() == ""

    host.pieces = [*host.pieces, rider]
    assert "applied 1 edit(s)" in engine.confirm()


@pytest.mark.parametrize("is_normal", [True, False])
def test_c7_the_late_word_of_an_earlier_turns_end_leaves_what_a_later_turn_asked_for(
    tmp_path: Path, *, is_normal: bool
) -> None:
    _, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    asked_s = engine.clock.now_s()
    engine.edit(EditCall((), when="turn_end", has_when=True))

    assert engine.turn_ended(is_normal=is_normal, ended_s=asked_s - 1).edits == 0
    assert engine.turn_ended(is_normal=True, ended_s=asked_s + 1).edits == 1


def test_c18_an_apply_that_the_host_dropped_is_handed_over_again_when_it_asks_again(
    tmp_path: Path,
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    assert not engine.plan_apply(host.host_rows()).skip

    again = engine.plan_apply(host.host_rows())

    host.carry_out(again)
    assert "applied 1 edit(s)" in engine.confirm()
    assert NOT_TAKEN not in engine.folder.read().report


def test_c18_an_apply_that_the_host_took_and_has_not_written_yet_stays_under_way(
    tmp_path: Path,
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    as_written = copy(host)
    host.carry_out(engine.plan_apply(host.host_rows()))
    engine.host = as_written

    assert "under way" in engine.plan_apply(host.host_rows()).skip

    engine.host = host
    assert "applied 1 edit(s)" in engine.confirm()


def test_c8_what_the_next_prompt_is_to_be_told_is_never_written_over(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    host.carry_out(engine.plan_apply(host.host_rows()))
    engine.confirm()
    engine.list(ListRequest())
    edit(engine, "rewrite", 5)
    compacted_by_the_host(host)

    assert "left the queue" in engine.plan_apply(host.host_rows()).skip

    told = "\n".join(engine.prompt_lines("go on"))
    assert "applied 1 edit(s)" in told
    assert "left the queue" in told


def test_c18_an_apply_that_was_dropped_is_told_where_the_host_compacts_by_itself(
    tmp_path: Path,
) -> None:
    host, engine = session(tmp_path)
    edit(engine, "summarize", 3)
    assert not engine.plan_apply(host.host_rows()).skip

    engine.answer_compaction(host.host_rows())

    state = engine.folder.read()
    assert NOT_TAKEN in state.report
    assert [queued.id for queued in state.queue] == ["q1"]
