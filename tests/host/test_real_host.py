"""The harness drives the real host: these fail first where a new release behaves otherwise."""

from __future__ import annotations

import shutil

import pytest
from tests.host.host import Host, Typed, after_turns, once_file
from tests.host.scripted_model import Body, Step, fail, say, think, use
from tests.host.wire import assert_legal, assert_same_conversation, blocks, common_prefix_bytes

pytestmark = [pytest.mark.host, pytest.mark.timeout(120)]

RUNS_UNTIL_TOLD = (
    """touch started; for i in $(seq 400); do """
    """grep -q 'enqueue.*do not push' ~/.claude/projects/*/*.jsonl && break; sleep .05; done; sleep .5"""
)
"""A tool that ends a little after the host has noted the words typed meanwhile."""


def test_a_scripted_turn_with_a_tool_call_runs_headless(host: Host) -> None:
    run = host.run("go", [say("I look.", use("Bash", {"command": "echo found"}, "t1")), say("ok")])

    assert run.code == 0, run.stderr
    assert run.answers() == ["ok"]
    assert [b.text for b in blocks(run.bodies[1]) if b.call_id == "t1"][-1] == "found"
    assert_legal(run.bodies[1])
    assert {"user", "assistant"} <= {row["type"] for row in run.rows()}


def test_a_second_request_repeats_the_first_and_is_read_from_the_cache(host: Host) -> None:
    run = host.run("go", [say("I look.", use("Bash", {"command": "echo 1"})), say("ok")])
    first, second = run.exchanges

    assert common_prefix_bytes(first.body, second.body) > 10_000
    assert (
        second.usage["cache_read_input_tokens"] > 10 * second.usage["cache_creation_input_tokens"]
    )


def test_a_step_may_be_made_from_the_request_that_it_answers(host: Host) -> None:
    def counted(body: Body) -> Step:
        return say(f"{len(body['messages'])} messages")

    assert host.run("go", [counted]).answers() == ["2 messages"]


def test_thinking_and_usage_stand_in_the_transcript_as_scripted(host: Host) -> None:
    step = Step((think("hm", "c2ln"), {"type": "text", "text": "ok"}), usage={"input_tokens": 77})
    answers = [row for row in host.run("go", [step]).rows() if row["type"] == "assistant"]

    assert answers[0]["message"]["content"] == [think("hm", "c2ln")]
    assert answers[0]["message"]["usage"]["input_tokens"] == 77


def test_an_api_error_is_retried_by_the_host(host: Host) -> None:
    run = host.run("go", [fail(529), say("ok")])

    assert run.answers() == ["ok"]
    assert [exchange.status for exchange in run.exchanges] == [529, 200]


def test_words_typed_while_a_tool_runs_reach_the_model_behind_its_result(host: Host) -> None:
    def told(body: Body) -> Step:
        return say("heard" if "do not push" in str(body["messages"][-1]) else "missed")

    tell = use("Bash", {"command": RUNS_UNTIL_TOLD}, "t1")
    typed = [Typed("go"), Typed("do not push", once_file("started"))]
    run = host.run(typed, [say("I work.", tell), told])

    assert run.answers()[-1] == "heard"
    assert "queued_command" in {row.get("attachment", {}).get("type") for row in run.rows()}


def test_prompts_of_a_stream_are_turns_one_after_the_other(host: Host) -> None:
    run = host.run([Typed("one"), Typed("two", after_turns(1))], [say("first"), say("second")])

    assert run.answers() == ["first", "second"]


def test_a_resumed_session_is_sent_what_the_live_one_was(host: Host) -> None:
    live = host.run("go", [say("I look.", use("Bash", {"command": "echo 1"}, "t1")), say("ok")])
    resumed = host.run("and?", [say("more")], resume=live.session_id)
    forked = host.run("and?", [say("more")], resume=live.session_id, fork=True)

    assert_same_conversation(live.bodies[-1], resumed.bodies[0])
    assert_same_conversation(live.bodies[-1], forked.bodies[0])
    assert resumed.session_id == live.session_id != forked.session_id


def test_a_killed_host_leaves_its_transcript(host: Host) -> None:
    written = "until grep -q 'I work' ~/.claude/projects/*/*.jsonl; do sleep .05; done"
    slow = say("I work.", use("Bash", {"command": f"{written}; touch started; sleep 30"}, "t1"))
    run = host.run("go", [slow], kill_when=once_file("started"))

    assert run.code < 0
    assert any(row["type"] == "assistant" for row in run.rows())


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_person_at_a_terminal_sees_the_answer(host: Host) -> None:
    with host.terminal([say("hello to you")]) as terminal:
        terminal.submit("say hello please")

        assert "hello to you" in terminal.wait_for("hello to you")
    assert len(terminal.model.exchanges) == 1
