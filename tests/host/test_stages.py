"""A job in three stages through the real host: read, a probe that leads nowhere, and a fix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.host.host import Typed, after_requests
from tests.host.plugin import (
    COLLAPSED,
    TOOLS,
    Edited,
    after_applies,
    answered,
    assert_unchanged,
    edit,
    listing,
    log_of,
    number_of,
    numbers,
    result_text,
    run_edited,
    seq,
    summarize,
)
from tests.host.scripted_model import Body, Step, call, say, use
from tests.host.wire import assert_same_conversation, blocks, pair_of, text_with

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(240)]

MARKER = "[context-editor: optimize]"
NOTE = "dead end: the cache is not the cause; look at the clock"
REMEMBER = "check the clock once the fix is in"
CONTINUE = "Go on with the tests."
SUMMARY = "goal: fix the clock; changed: src/clock.py:12; open: tests"


def tag(*tags: Mapping[str, Any]) -> dict[str, Any]:
    """A call of `context_tag`."""
    return use(f"{TOOLS}context_tag", {"tags": list(tags)})


def note(*notes: Mapping[str, Any]) -> dict[str, Any]:
    """A call of `context_note`."""
    return use(f"{TOOLS}context_note", {"notes": list(notes)})


def opening(stage: str) -> dict[str, Any]:
    return {"op": "open", "stage": stage}


def marking_the_dead_end(body: Body) -> Step:
    """The probe's two outputs as a dead end, the first output pinned, and a note on it."""
    dead = {
        "op": "add",
        "kind": "disposable",
        "index": number_of("seq 2000", body),
        "to": number_of("seq 3000", body),
        "note": NOTE,
    }
    pin = {"op": "add", "kind": "pin", "tool_use_id": "toolu_1"}
    remember = {"op": "add", "tool_use_id": "toolu_1", "text": REMEMBER, "remind_in_turns": 2}
    return call(tag(dead, pin), note(remember))


def collapsing_the_fix(body: Body) -> Step:
    """The block that waited, by the numbers that the prompt named."""
    first, last = waiting_lines(body)[-1]
    collapse = {"op": "collapse", "index": first, "to": last, "summary": SUMMARY}
    return call(edit(collapse, resume=CONTINUE))


def waiting_lines(body: Body) -> list[tuple[int, int]]:
    """The ranges of waiting blocks that prompts named."""
    named = r'context-editor: waiting block "fix the clock" #(\d+)\.\.#(\d+)\.'
    texts = "\n".join(block.text for block in blocks(body) if block.kind == "text")
    return [(int(first), int(last)) for first, last in re.findall(named, texts)]


SCRIPT = (
    call({"type": "text", "text": "I read first."}, tag(opening("read the config"))),
    call(seq(1, 900, "toolu_1")),
    call(seq(1000, 1900, "toolu_2")),
    call({"type": "text", "text": "Now I probe."}, tag(opening("probe the cache"))),
    call(seq(2000, 2900, "toolu_3")),
    call(seq(3000, 3900, "toolu_4")),
    call(listing()),
    marking_the_dead_end,
    call(tag({"op": "close"})),
    say("The probe led nowhere."),
    # the person: fix it
    call({"type": "text", "text": "Now I fix it."}, tag(opening("fix the clock"))),
    call(seq(4000, 4900, "toolu_5")),
    call(seq(5000, 5900, "toolu_6")),
    say(f"The fix is in.\n\n{MARKER}"),
    # the person: the tests
    collapsing_the_fix,
    say("The fix is folded."),
    say("The tests are written."),
    # the person: thanks
    say("Good."),
    # the person: bye
    say("Bye."),
)
PROMPTS = (
    Typed("find out why it is slow"),
    Typed("fix it", after_applies(1)),
    Typed("now the tests", after_requests(14)),
    Typed("thanks", after_requests(17)),
    Typed("bye", after_requests(18)),
)
EDITED = (
    pair_of("toolu_3", "toolu_4", "toolu_5", "toolu_6"),
    text_with("Now I fix it."),
)


@pytest.fixture(scope="module")
def warm(machine: Callable[..., Host]) -> Host:
    """A machine on which the plugin has run once, so that its server answers in the first request."""
    host = machine()
    host.run("warm up", [say("warm")])
    return host


@pytest.fixture(scope="module")
def job(warm: Host) -> Edited:
    """The whole job in one session."""
    return run_edited(warm, list(PROMPTS), list(SCRIPT), edited=EDITED)


def test_the_job_runs_to_its_end_with_two_applies(job: Edited, warm: Host) -> None:
    assert job.run.code == 0, job.run.stderr
    assert len(job.bodies) == len(SCRIPT)
    assert [len(line["edits"]) for line in log_of(warm, job.run.session_id)] == [1, 1]


def test_b6_opening_the_next_stage_reports_the_one_before(job: Edited) -> None:
    report = answered(job.bodies[4])

    assert 'closed "read the config" #' in report
    assert 'opened "probe the cache" at #' in report


def test_b4_the_close_report_counts_the_rows_and_names_the_queued_dead_end(job: Edited) -> None:
    report = answered(job.bodies[9])

    assert 'closed "probe the cache"' in report
    assert "Notes: 0" in report
    assert "Disposable replacements queued: 1" in report


def test_scenario_25_the_dead_end_becomes_one_collapse_with_the_note_as_its_text(
    job: Edited,
) -> None:
    made = [b for b in blocks(job.bodies[10]) if b.call_id.startswith(COLLAPSED)]

    (result,) = [b.text for b in made if b.kind == "tool_result"]
    assert result.startswith("Later, your context_tag disposable mark replaced these 2 rows")
    assert result.endswith(f": {NOTE}")


def test_c8_a_queue_of_dead_ends_alone_waits_for_the_person(job: Edited) -> None:
    assert job.run.answers()[0] == "The probe led nowhere."
    assert "fix it" in str(job.bodies[10]["messages"][-3:])
    assert "Go on with the work" not in str(job.bodies[10]["messages"])


def test_scenario_30_a_marker_changes_nothing_and_nothing_goes_on_by_itself(job: Edited) -> None:
    assert_unchanged(job.bodies[13], job.bodies[14])
    assert MARKER in str(job.bodies[14]["messages"])


def test_scenario_32_the_prompt_after_a_marker_names_the_block_and_no_later_one_does(
    job: Edited,
) -> None:
    (named,) = waiting_lines(job.bodies[14])

    assert named[0] < named[1]
    assert all(len(waiting_lines(body)) <= 1 for body in job.bodies)


def test_e6_folding_the_block_applies_it_and_the_work_goes_on(job: Edited) -> None:
    after = job.bodies[16]

    assert CONTINUE in str(after["messages"][-2:])
    (made,) = [
        b.text for b in blocks(after) if b.call_id == f"{COLLAPSED}c2" and b.kind == "tool_result"
    ]
    assert made.endswith(f": {SUMMARY}")
    assert "4555" not in str(after["messages"])


def test_scenario_47_the_reminder_comes_at_exactly_one_prompt(job: Edited) -> None:
    line = f"reminder from your note n1: {REMEMBER}"

    assert str(job.last["messages"]).count(line) == 1
    assert line not in str(job.bodies[14]["messages"])


def test_the_pinned_output_is_still_there_byte_for_byte(job: Edited) -> None:
    assert result_text(job.last, "toolu_1") == numbers(1, 900)


@pytest.mark.parametrize("fork", [False, True])
def test_resume_and_fork_are_sent_what_the_live_session_was_and_keep_every_mark(
    job: Edited, warm: Host, *, fork: bool
) -> None:
    script = [call(listing(count=100)), say("listed")]

    resumed = warm.run("what is there?", script, resume=job.run.session_id, fork=fork)

    assert_same_conversation(job.last, resumed.bodies[0])
    shown = answered(resumed.bodies[1])
    rows = [line for line in shown.splitlines() if line.startswith("#")]
    (pinned,) = [row for row in rows if "[pin]" in row]
    assert "Bash seq 1 900" in pinned
    (folded,) = [row for row in rows if "[block ▶ fix the clock]" in row]
    assert "[c2]" in folded
    assert "[block end]" in folded
    assert "Notes: 1 (0 due)" in shown
    assert "Stage: none" in shown
    assert "(epoch 2)" in shown
    assert [row for row in rows if "context_" in row.split(" · ")[0] and "[c" not in row] == []


# --- the state slot -------------------------------------------------------------------------------


def state(do: str, **facts: str) -> dict[str, Any]:
    """A state edit of one change."""
    return {"op": "state", "changes": [{"do": do, **facts}]}


def slots(body: Body) -> list[str]:
    """The state slots as the model reads them."""
    return [b.text for b in blocks(body) if b.kind == "text" and b.text.startswith("State\n")]


def test_h5_the_state_slot_is_made_updated_in_place_locked_and_shown_clean(warm: Host) -> None:
    def slot(body: Body) -> Step:
        index = number_of("The state of the work", body)
        return call(tag({"op": "add", "kind": "state", "index": index}))

    def rewriting(body: Body) -> Step:
        words = {"op": "rewrite", "index": number_of("[state]", body), "text": "all is done"}
        return call(edit(words))

    plan, step = {"kind": "plan", "text": "read the clock"}, {"kind": "next", "text": "fix it"}
    script = [
        say("The state of the work: nothing is known yet.", seq(1, 900, "toolu_1")),
        call(seq(1000, 1900, "toolu_2")),
        call(listing()),
        slot,
        call(edit(state("add", **plan), state("add", **step), summarize("toolu_1"), resume="one")),
        say("queued"),
        call(listing()),
        rewriting,
        call(edit(state("remove", id="p1"), summarize("toolu_2"), resume="two")),
        say("queued"),
        say("done"),
    ]
    edited = (
        pair_of("toolu_1", "toolu_2"),
        text_with("The state of the work", "read the clock"),
    )

    whole = run_edited(warm, "go", script, edited=edited)

    first, last = whole.bodies[6], whole.bodies[10]
    assert "is the state slot" in answered(whole.bodies[4])
    assert slots(first) == ["State\nPlan:\n- p1 read the clock\nNext:\n- n1 fix it"]
    assert "the state slot" in answered(whole.bodies[8])
    assert slots(last) == ["State\nNext:\n- n1 fix it"]
    resumed = warm.run("and?", [say("fine")], resume=whole.run.session_id)
    assert_same_conversation(last, resumed.bodies[0])


# --- the marker -----------------------------------------------------------------------------------


def test_scenario_29_a_marker_that_ends_the_summary_of_a_compact_turn_does_not_count(
    warm: Host,
) -> None:
    typed = [Typed("go"), Typed("/compact", after_requests(3)), Typed("bye", after_requests(4))]
    script = [
        call(tag(opening("look"))),
        say("I look.", seq(1, 900, "toolu_1")),
        say("seen"),
        say(f"<summary>The work so far.\n\n{MARKER}</summary>"),
        call(listing(count=0)),
        say("bye"),
    ]

    run = warm.run(typed, script)

    header = answered(run.bodies[-1])
    assert "▶ look" in header
    assert "waiting:" not in header


# --- what is put into the conversation ------------------------------------------------------------


def test_nothing_is_put_into_the_conversation_where_there_is_nothing_to_say(warm: Host) -> None:
    typed = [Typed("go"), Typed("and on", after_requests(2)), Typed("bye", after_requests(3))]
    script = [say("I look.", seq(1, 9, "toolu_1")), say("ok"), say("still ok"), say("bye")]

    run = warm.run(typed, script)

    added = {row["attachment"]["type"] for row in run.rows() if row["type"] == "attachment"}
    assert "hook_additional_context" not in added
    said = [block.text for block in blocks(run.bodies[-1]) if block.role == "user"]
    assert "context-editor: " not in "\n".join(said)


def test_scenario_36_a_suggestion_comes_behind_the_call_that_crosses_a_mark_and_once(
    warm: Host,
) -> None:
    half = {"cache_read_input_tokens": 520_000}
    script = [
        call(seq(10_000, 14_500, "toolu_1")),
        call(seq(20_000, 24_500, "toolu_2")),
        Step((seq(30_000, 34_500, "toolu_3"),), usage=half),
        Step((seq(1, 9, "toolu_4"),), usage=half),
        Step((seq(11, 19, "toolu_5"),), usage=half),
        say("done"),
    ]

    run = warm.run("go", script)

    counts = [str(body["messages"]).count("[context-editor: suggestion]") for body in run.bodies]
    # The host may write the answer's usage only after its tool ended: then the next call tells.
    assert counts in ([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1])
    assert log_of(warm, run.session_id) == []
