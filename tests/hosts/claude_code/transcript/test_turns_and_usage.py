"""Turns as the glossary counts them, and what the model reported about sizes."""

from pathlib import Path

import orjson
import pytest
from tests.support.transcripts import OUR_PLUGIN, Transcript, call, text

from context_editor.hosts.claude_code.transcript import LiveTranscript, UsageSample

OWN_TOOL = "mcp__plugin_context-editor_editor__context_list"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def live_of(session: Transcript, path: Path) -> LiveTranscript:
    live = LiveTranscript(session.write(path), orjson.loads)
    live.refresh()
    return live


def turns(session: Transcript, path: Path) -> list[int]:
    return [piece.turn for piece in live_of(session, path).pieces]


def test_a_prompt_of_any_origin_starts_a_turn(path: Path) -> None:
    session = Transcript()
    session.attachment("date", "today")
    session.prompt("one")
    session.answer(call("Bash", "t1"))
    session.result("t1")
    session.queued("mid-turn words start none")
    session.prompt("wake up", turnOrigin="scheduled")
    session.plugin_prompt("hi", plugin="weather")

    assert turns(session, path) == [0, 1, 1, 1, 1, 2, 3]


def test_compact_never_starts_a_turn(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.answer(text("done"))
    session.compact_records("context-editor: apply 1 edit(s)", origin=OUR_PLUGIN)
    session.answer(text("not a turn"))

    assert set(turns(session, path)) == {1}


def test_a_continuation_starts_a_turn_once_it_calls_another_tool(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.plugin_prompt("context-editor: go on")
    session.answer(call(OWN_TOOL, "t1"))
    session.result("t1")
    before = live_of(session, path)
    assert [piece.turn for piece in before.pieces] == [1, 1, 1, 1]

    session.answer(call("Bash", "t2"))
    session.write(path)
    before.refresh()

    assert [piece.turn for piece in before.pieces] == [1, 2, 2, 2, 2]


def test_a_continuation_that_only_speaks_starts_none(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.plugin_prompt("context-editor: go on")
    session.answer(text("nothing to do"))
    session.prompt("two")

    assert turns(session, path) == [1, 1, 1, 2]


def test_a_command_starts_a_turn_when_an_answer_follows(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.local("<command-name>/cost</command-name>", "p-cost")
    session.local("<local-command-stdout>1 $</local-command-stdout>", "p-cost")
    session.local("<command-name>/review</command-name>", "p-review")
    session.answer(text("reviewed"))

    assert turns(session, path) == [1, 1, 1, 2, 2]


def test_turns_go_on_counting_behind_an_apply(path: Path) -> None:
    session = Transcript()
    rows = [session.prompt("one"), *session.answer(text("a")), session.prompt("two")]
    session.boundary()
    for row in rows[2:]:
        session.kept(row)
    session.prompt("three")
    live = live_of(session, path)

    assert [piece.turn for piece in live.pieces] == [2, 3]
    assert live.turns_started == 3


def test_a_built_prompt_takes_the_turn_that_is_free_for_it(path: Path) -> None:
    session = Transcript()
    rows = [session.prompt("one"), session.prompt("with an image"), session.prompt("three")]
    session.boundary()
    session.kept(rows[0])
    session.rebuilt("Later, your context_edit describe call replaced an image: a cat")
    session.rebuilt("words that were carried")
    session.kept(rows[2])
    live = live_of(session, path)

    assert [piece.turn for piece in live.pieces] == [1, 2, 2, 3]
    assert live.turns_started == 3


def test_f1_what_rode_at_a_built_prompt_belongs_to_its_turn_whatever_room_there_is(
    path: Path,
) -> None:
    session = Transcript()
    for words in ("one", "two", "three"):
        session.prompt(words)
    session.boundary()
    session.rebuilt("Later, your context_edit describe call replaced an image: a cat")
    session.rebuilt("words that were carried")
    session.answer(text("seen"))
    live = live_of(session, path)

    assert [piece.turn for piece in live.pieces] == [1, 1, 1]


def test_a_response_gives_one_sample_with_its_largest_figures(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    row = session.block(text("a"), "m1", {"output_tokens": 1})
    session.block(text("b"), "m1", {"output_tokens": 90})
    session.block(text("c"), "m1", {"output_tokens": 8})

    assert live_of(session, path).usage == (
        UsageSample("m1", "claude-opus-5-5", 3, 0, 100, 90, row["uuid"], 1),
    )


def test_samples_of_errors_subagents_and_zeroed_rows_are_left_out(path: Path) -> None:
    session = Transcript()
    kept = session.answer(text("real"), response="m1")[0]
    session.block(text("API Error"), "m2")["isApiErrorMessage"] = True
    session.block(text("sub"), "m3")["isSidechain"] = True
    built = session.block(text("built"), "m4")
    built["message"]["model"] = "<synthetic>"
    session.boundary()
    again = session.kept(kept)
    zeroed = dict.fromkeys(again["message"]["usage"], 0)
    again["message"] = {**again["message"], "id": "m5", "usage": zeroed}
    usage = live_of(session, path).usage

    assert [sample.message_id for sample in usage] == ["m1"]
    assert usage[0].context == 3 + 100 + 1000
