"""The host is killed right after an apply, or in the middle of one; the session is then resumed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.host.host import Host, Live, read_rows
from tests.host.plugin import (
    Edited,
    answered,
    edit,
    has_boundary,
    listing,
    log_of,
    numbers,
    result_text,
    run_edited,
    seq,
    session_folder,
    shown,
    summarize,
)
from tests.host.scripted_model import Answer, Step, call, say, think
from tests.host.wire import assert_same_conversation, blocks, result_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

CHOSEN = (result_of("toolu_1", "toolu_3"),)


def one_edit() -> list[Answer]:
    """Thinking, two parallel calls, one more, and an edit of one of the two and of the third."""
    text = {"type": "text", "text": "I count."}
    return [
        call(think("first"), text, seq(1, 900, "toolu_1"), seq(2000, 2900, "toolu_2")),
        say("more", seq(3000, 3900, "toolu_3")),
        call(think("second"), edit(summarize("toolu_1"), summarize("toolu_3"))),
        say("status: two edits queued"),
    ]


def killed_at(host: Host, moment: Callable[[Live], bool], *more: Answer) -> str:
    """Run until the moment, kill the host there, and name the session."""
    run = host.run("go", [*one_edit(), *more], kill_when=moment)
    assert run.code < 0
    return run.session_id


def thrice(host: Host, session_id: str) -> list[Edited]:
    """The session resumed three times, each for one turn."""
    return [
        run_edited(
            host, f"and {number}?", [say(f"answer {number}")], edited=CHOSEN, resume=session_id
        )
        for number in range(3)
    ]


def texts(edited: Edited, at: int = 0) -> str:
    return shown(edited.run.bodies[at])


def is_applied(edited: Edited) -> bool:
    body = edited.run.bodies[0]
    return all(result_text(body, name).startswith("Later, your") for name in ("toolu_1", "toolu_3"))


@pytest.fixture(scope="module")
def after_boundary(machine: Callable[..., Host]) -> tuple[Host, str, list[Edited]]:
    """Killed at the first sight of the boundary: nothing was confirmed, nothing patched."""
    host = machine()
    session_id = killed_at(host, has_boundary, Step(delay_s=5))
    return host, session_id, thrice(host, session_id)


def test_scenario_51_killed_between_apply_and_confirmation_the_first_request_is_right(
    after_boundary: tuple[Host, str, list[Edited]],
) -> None:
    host, session_id, (first, *_) = after_boundary

    assert is_applied(first), texts(first)
    results = [b.call_id for b in blocks(first.run.bodies[0]) if b.kind == "tool_result"]
    assert sorted(results) == ["toolu_1", "toolu_2", "toolu_3"]  # in the order in which they ended
    assert result_text(first.run.bodies[0], "toolu_2") == numbers(2000, 2900)
    (line,) = [line for line in log_of(host, session_id) if line["trigger"] != "repair"]
    assert line["resumable"]


def test_scenario_51_after_the_repair_a_second_resume_changes_nothing(
    after_boundary: tuple[Host, str, list[Edited]],
) -> None:
    host, session_id, (first, second, third) = after_boundary
    repairs = [line for line in log_of(host, session_id) if line["trigger"] == "repair"]

    assert len(repairs) <= 1
    assert_same_conversation(first.last, second.run.bodies[0])
    assert_same_conversation(second.last, third.run.bodies[0])


def test_j13_the_repair_says_how_many_rows_it_put_right(
    after_boundary: tuple[Host, str, list[Edited]],
) -> None:
    *_, (first, second, _) = after_boundary
    told = re.findall(r"repaired the resumed conversation: (\d+) row", str(first.run.bodies[0]))

    assert told, texts(first)
    assert int(told[0]) > 0
    assert str(second.last).count("repaired the resumed conversation: ") <= 1


def test_scenario_51_repairing_once_more_by_hand_changes_nothing(
    after_boundary: tuple[Host, str, list[Edited]],
) -> None:
    host, session_id, _ = after_boundary
    repairs = len(log_of(host, session_id))
    again = host.run(
        "/compact context-editor: repair the resumed conversation",
        [say("never asked")],
        resume=session_id,
    )

    assert again.bodies == again.side_bodies == []
    assert "the conversation is as its file holds it" in str(again.answers())
    assert len(log_of(host, session_id)) == repairs


@pytest.fixture(scope="module")
def after_apply(machine: Callable[..., Host]) -> tuple[Host, list[Edited]]:
    """Killed while the model answers the continuation, a moment after the apply."""
    host = machine()

    def is_confirmed(live: Live) -> bool:
        return len(live.model.exchanges) >= 5

    session_id = killed_at(host, is_confirmed, Step(delay_s=5))
    return host, thrice(host, session_id)


def test_c25_killed_right_after_an_apply_the_resume_is_sent_what_live_was(
    after_apply: tuple[Host, list[Edited]],
) -> None:
    _, (first, second, third) = after_apply

    assert is_applied(first), texts(first)
    assert_same_conversation(first.last, second.run.bodies[0])
    assert_same_conversation(second.last, third.run.bodies[0])


def test_c25_killed_while_edits_are_queued_they_wait_and_the_originals_stand(
    machine: Callable[..., Host],
) -> None:
    host = machine()

    def is_queued(live: Live) -> bool:
        return len(live.model.exchanges) >= 4

    session_id = killed_at_status(host, is_queued)
    script = [call(listing(count=0)), call(edit(apply="turn_end")), say("status"), say("done")]
    resumed = run_edited(host, "go on", script, edited=CHOSEN, resume=session_id)

    assert result_text(resumed.run.bodies[0], "toolu_1") == numbers(1, 900)
    assert "Queued: 2 edit(s)" in answered(resumed.run.bodies[1])
    assert resumed.applies[-1].edits == 2


def killed_at_status(host: Host, moment: Callable[[Live], bool]) -> str:
    """Killed before the turn that queued the edits ends."""
    script = [*one_edit()[:3], Step(delay_s=5)]
    run = host.run("go", script, kill_when=moment)
    assert run.code < 0
    for row in read_rows(run.transcript):
        assert row.get("subtype") != "compact_boundary"
    assert session_folder(host, run.session_id).is_dir()
    return run.session_id
