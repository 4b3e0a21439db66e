"""Acceptance scenarios 12 to 23, 50 and 52, through the tools: what is refused, and what an edit keeps."""

from pathlib import Path

import pytest
from tests.support.fake_host import IMAGE
from tests.support.scene import Applied, Scene, header_line, number_of, rows_in
from tests.support.transcripts import call

from context_editor.core.rows import PieceForm

BULK = "words of a long output, and more of them\n" * 120
SUMMARY = "fact: it builds"


def collapse(first: int | str, last: int | str, summary: str = SUMMARY) -> dict[str, object]:
    return {"op": "collapse", "index": first, "to": last, "summary": summary}


def summarize(call_id: str, text: str = SUMMARY) -> dict[str, object]:
    return {"op": "summarize", "tool_use_id": call_id, "text": text}


def test_scenario_12_a_range_over_a_person_row_is_refused_with_the_ranges_around_it(
    scene: Scene,
) -> None:
    scene.prompt("go")
    for number in range(9, 14):
        scene.uses("Bash", BULK, command=f"before {number}")
    scene.says("So far so good.")
    scene.prompt("and now the other half")
    for number in range(3):
        scene.uses("Bash", BULK, command=f"after {number}")
    listing = scene.listing()
    first, last = number_of("before 10", listing), number_of("after 1", listing)
    person = number_of("and now the other half", listing)

    reason = scene.refused("context_edit", edits=[collapse(first, last)])

    assert f"#{person} " in reason
    assert f"send instead #{first}..#{person - 1} and #{person + 1}..#{last}" in reason
    assert scene.queued == 0


def test_scenario_13_an_answer_to_a_question_of_the_agent_is_a_persons(scene: Scene) -> None:
    scene.prompt("go")
    scene.uses("Bash", BULK, command="before")
    scene.transcript.answer(call("AskUserQuestion", "ask", questions=[{"question": "Which?"}]))
    scene.transcript.result(
        "ask",
        'User has answered your questions: "Which?"="blue".',
        toolUseResult={"questions": [{"question": "Which?"}], "answers": {"Which?": "blue"}},
    )
    scene.uses("Bash", BULK, command="after")
    listing = scene.listing()
    first, last = number_of("Bash before", listing), number_of("Bash after", listing)

    reason = scene.refused("context_edit", edits=[collapse(first, last)])

    assert f"send instead #{first} and #{last}" in reason
    assert "a person's words" in scene.refused("context_edit", edits=[summarize("ask")])
    assert scene.queued == 0


def test_scenario_14_a_call_without_a_result_is_refused_as_pending(scene: Scene) -> None:
    scene.prompt("go")
    scene.uses("Bash", BULK, command="done")
    scene.transcript.answer(call("Bash", "running", command="running"))
    scene.write()
    listing = scene.listing()
    first, last = number_of("Bash done", listing), number_of("Bash running", listing)

    reason = scene.refused("context_edit", edits=[collapse(first, last)])

    assert f"#{last} " in reason
    assert "still pending" in reason
    assert "still pending" in scene.refused("context_edit", edits=[summarize("running")])


@pytest.mark.parametrize("op", ["summarize", "collapse"])
def test_scenario_15_one_of_two_parallel_calls_can_be_edited_alone(
    applied: Applied, op: str
) -> None:
    """What the host makes of it is held legal when the apply is carried out."""
    applied.host.prompt("go")
    first, second = applied.host.answer("Two.", [("Bash", "a", BULK), ("Bash", "b", BULK)])
    number = number_of("Bash a", applied.listing())
    edit = summarize(first) if op == "summarize" else collapse(number, number)

    applied.gets("context_edit", edits=[edit])

    assert applied.apply().startswith("context-editor: applied 1 edit(s)")
    assert [p.text for p in applied.host.pieces if p.call_id == second] == [BULK]


def test_scenario_17_a_described_prompt_keeps_its_typed_words_to_the_byte(applied: Applied) -> None:
    words = "  what is\twrong?\n\n(see the picture) "
    applied.host.prompt(words, media=(IMAGE,))
    applied.host.answer("I look.")

    applied.gets("context_edit", edits=[{"op": "describe", "index": 1, "text": "A red box."}])
    applied.apply()

    (prompt,) = [p for p in applied.host.pieces if p.form is PieceForm.PROMPT and p.role == "user"]
    assert prompt.text.endswith(f": A red box.\n\n{words}")
    path = prompt.text.split("(media: ")[1].split(")")[0]
    assert Path(path).read_bytes() == b"hello world"


@pytest.mark.parametrize(("calls", "is_kept"), [(3, True), (11, False)])
def test_scenario_19_keep_cache_takes_12_positions_and_refuses_35(
    applied: Applied, calls: int, *, is_kept: bool
) -> None:
    """A word, a call and its result make three positions; the edited pair makes two."""
    applied.host.prompt("go")
    (edited,) = applied.host.answer("", [("Bash", "first", BULK)])
    for number in range(calls):
        applied.host.answer(f"word {number}", [("Bash", f"later {number}", BULK)])
    edits = [summarize(edited)]
    if is_kept:
        applied.host.answer("one more word")
        applied.gets("context_edit", edits=edits, keep_cache=True)
        assert "earliest change is 12 positions" in header_line("Cache", applied.listing())
        return

    reason = applied.refused("context_edit", edits=edits, keep_cache=True)

    assert "35 > 20" in reason
    assert "resend without keep_cache" in reason
    assert header_line("Queued", applied.listing()) == "0"


def test_scenario_20_of_three_edits_with_an_invalid_one_none_is_queued(scene: Scene) -> None:
    scene.prompt("go")
    first, second = (scene.uses("Bash", BULK, command=f"make {n}") for n in range(2))
    edits = [summarize(first), summarize("toolu_nowhere"), summarize(second)]

    reason = scene.refused("context_edit", edits=edits)

    assert reason.startswith("edits[1] (summarize):")
    assert "toolu_nowhere" in reason
    assert scene.queued == 0


def test_scenario_23_after_an_interrupt_the_queue_waits_and_the_header_says_so(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    (made,) = applied.host.answer("", [("Bash", "make", BULK)])
    applied.gets("context_edit", edits=[summarize(made)])

    end = applied.engine.turn_ended(is_normal=False)

    assert end.edits == 0
    assert header_line("Queued", applied.listing()).startswith("1 edit(s), ")


def test_scenario_50_every_edit_of_a_chain_leads_to_the_first_original(applied: Applied) -> None:
    applied.host.prompt("go")
    (made,) = applied.host.answer("", [("Bash", "make", BULK)])
    for text in ("a long first summary of it " * 30, SUMMARY):
        applied.gets("context_edit", edits=[summarize(made, text)])
        applied.apply()

        (result,) = [p.text for p in applied.host.pieces if p.call_id == made]
        path = result.split("(original: ")[1].split(",")[0]
        assert Path(path).read_text(encoding="utf-8") == BULK


def test_scenario_52_a_replacement_in_the_old_form_is_listed_as_one(scene: Scene) -> None:
    scene.prompt("go")
    old = "[context-editor] you read the log here, then replaced it: it was fine."
    scene.uses("Bash", old, command="cat log.txt")

    (row,) = [row for row in rows_in(scene.listing()) if "cat log.txt" in row]

    assert "[c" in row, row


def test_c15_rows_that_are_queued_already_are_refused_with_the_edit_to_cancel(scene: Scene) -> None:
    scene.prompt("go")
    made = scene.uses("Bash", BULK, command="make")
    scene.gets("context_edit", edits=[summarize(made)])

    reason = scene.refused("context_edit", edits=[summarize(made)])

    assert 'already in q1 (summarize): cancel it first with {"op": "cancel", "id": "q1"}' in reason
    assert scene.queued == 1
    scene.gets("context_edit", edits=[{"op": "cancel", "id": "q1"}])
    assert scene.queued == 0


def test_c17_an_edit_that_saves_nothing_is_refused_with_both_sizes(scene: Scene) -> None:
    scene.prompt("go")
    made = scene.uses("Bash", "a short output", command="make")

    reason = scene.refused("context_edit", edits=[summarize(made)])

    assert "no gain" in reason
    assert "tokens before" in reason
    assert "20 % and 50 tokens" in reason


def test_c5_a_rewrite_of_a_result_is_refused_with_the_op_to_use(scene: Scene) -> None:
    scene.prompt("go")
    made = scene.uses("Bash", BULK, command="make")
    edit = {"op": "rewrite", "tool_use_id": made, "text": SUMMARY}

    assert "use summarize" in scene.refused("context_edit", edits=[edit])


def test_c1_an_unknown_op_is_refused_with_those_that_are_there(scene: Scene) -> None:
    scene.prompt("go")
    made = scene.uses("Bash", BULK, command="make")

    reason = scene.refused("context_edit", edits=[{**summarize(made), "op": "shorten"}])

    for op in ("collapse", "summarize", "describe", "rewrite", "state"):
        assert op in reason


def test_c21_nothing_to_apply_is_no_apply(applied: Applied) -> None:
    applied.host.prompt("go")
    applied.gets("context_edit", apply="turn_end")

    assert applied.engine.turn_ended(is_normal=True).edits == 0


@pytest.mark.parametrize(
    "kind",
    [
        "prompt_snapshot",
        "prompt_render_point",
        "deferred_tools_record",
        "deferred_tools_delta",
        "tool_offer_record",
    ],
)
def test_what_the_host_keeps_for_itself_behind_a_row_does_not_stand_in_an_edits_way(
    scene: Scene, kind: str
) -> None:
    """Seen where the server connects after the first request: the host notes its tools there."""
    scene.prompt("go")
    made = scene.uses("Bash", BULK, command="make")
    scene.transcript.attachment(kind, entries=[{"name": "t", "description": "words"}])

    assert scene.gets("context_edit", edits=[summarize(made)]).startswith("q1 summarize")


def test_c27_words_that_cannot_be_sent_again_are_named_where_an_edit_would_take_them(
    scene: Scene,
) -> None:
    scene.prompt("go")
    made = scene.uses("Bash", BULK, command="make")
    scene.transcript.attachment("edited_text_file", filename="a.py", snippet="words")

    reason = scene.refused("context_edit", edits=[summarize(made)])

    assert "(edited_text_file) that cannot be sent again" in reason
    assert "leave this row out" in reason
