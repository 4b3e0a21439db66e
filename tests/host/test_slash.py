"""Slash commands in the real host: answered to the person, without a request, and applied at once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.host.host import Typed, after_requests
from tests.host.plugin import (
    Edited,
    after_applies,
    editing,
    listing,
    log_of,
    number_of,
    numbers,
    result_text,
    run_edited,
    seq,
    session_folder,
    summarize,
)
from tests.host.scripted_model import call, say
from tests.host.wire import (
    assert_conserved,
    assert_same_conversation,
    pair_of,
    result_of,
    text_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(180)]

EDITED = (result_of("toolu_1"), pair_of("toolu_2", "toolu_3"), text_with("And one more."))

SCRIPT = (
    say("One.", seq(1, 900, "toolu_1")),
    say("Two.", seq(1000, 1900, "toolu_2")),
    say("And one more.", seq(2000, 2900, "toolu_3")),
    call(listing()),
    editing(
        lambda body: [
            summarize("toolu_1"),
            {
                "op": "collapse",
                "index": number_of("seq 1000", body),
                "to": number_of("seq 2000", body),
                "summary": "goal: probe; fact: two dead ends",
            },
        ],
        resume=False,
    ),
    say("queued"),
)


@pytest.fixture(scope="module")
def edited(machine: Callable[..., Host]) -> tuple[Host, Edited]:
    """A session with one apply of two edits."""
    host = machine()
    host.run("warm up", [say("warm")])
    return host, run_edited(host, "go", SCRIPT, edited=EDITED)


def shown(host: Host, session: str, command: str) -> str:
    """What the person is shown; the model must not have been asked."""
    run = host.run(f"/context-editor:{command}", [], resume=session)
    assert run.code == 0, run.stderr
    assert run.bodies == []
    (answer,) = run.answers()
    assert answer.startswith("context-editor: ")
    return answer.removeprefix("context-editor: ")


def test_status_shows_the_header_without_a_request(edited: tuple[Host, Edited]) -> None:
    host, session = edited

    lines = shown(host, session.run.session_id, "status").splitlines()

    assert lines[0].startswith("Context: ")
    assert lines[1].endswith("(epoch 1)")
    assert lines[4].startswith("Effect: 2 edit(s)")


def test_list_shows_the_rows_that_hold_a_text(edited: tuple[Host, Edited]) -> None:
    host, session = edited

    answer = shown(host, session.run.session_id, "list two dead ends")

    (row,) = [line for line in answer.splitlines() if line.startswith("#")]
    assert "[c2]" in row


def test_manual_tells_the_commands_first(edited: tuple[Host, Edited]) -> None:
    host, session = edited

    assert shown(host, session.run.session_id, "manual").startswith("# Commands for you")


def test_report_writes_a_page_and_names_it(edited: tuple[Host, Edited]) -> None:
    host, session = edited

    page = session_folder(host, session.run.session_id) / "report.html"

    assert shown(host, session.run.session_id, "report") == f"report written: {page}"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_doctor_finds_the_mod_live(edited: tuple[Host, Edited]) -> None:
    host, session = edited

    assert "live in this host process" in shown(host, session.run.session_id, "doctor")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("restore", "name what is to come back"),
        ("restore c9", "there is no replacement 'c9'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    edited: tuple[Host, Edited], command: str, reason: str
) -> None:
    host, session = edited

    run = host.run(f"/context-editor:{command}", [], resume=session.run.session_id)

    assert reason in run.answers()[0]
    assert run.bodies == []
    assert len(log_of(host, session.run.session_id)) == 1


def test_undo_brings_every_original_back_at_once_and_undo_again_takes_them_out(
    machine: Callable[..., Host],
) -> None:
    host = machine()
    host.run("warm up", [say("warm")])
    typed = [
        Typed("go"),
        Typed("/context-editor:undo", after_applies(1)),
        Typed("what do you see?", after_applies(2)),
        Typed("/context-editor:undo", after_requests(7)),
        Typed("and now?", after_applies(3)),
    ]
    run = host.run(typed, [*SCRIPT, say("all of it"), say("the short texts")])

    before, undone, again = run.bodies[4], run.bodies[6], run.bodies[7]
    assert [len(line["edits"]) for line in log_of(host, run.session_id)] == [2, 2, 2]
    assert result_text(undone, "toolu_1") == numbers(1, 900)
    assert_conserved(before, undone, result_of("toolu_1"))
    assert result_text(again, "toolu_1").startswith("Later, your context_edit summarize call")
    sent = str(again["messages"])
    assert "two dead ends" in sent
    assert "1555" not in sent
    assert "<command-name>/context-editor:undo" not in sent.partition("what do you see?")[0]
    resumed = host.run("go on", [say("fine")], resume=run.session_id)
    assert_same_conversation(again, resumed.bodies[0])


def test_restore_in_a_run_of_its_own_is_applied_when_the_session_is_resumed(
    machine: Callable[..., Host],
) -> None:
    host = machine()
    host.run("warm up", [say("warm")])
    session = host.run("go", [*SCRIPT]).session_id

    assert "restore of c1" in shown(host, session, "restore c1")
    resumed = host.run("go on", [say("fine")], resume=session)

    assert result_text(resumed.bodies[0], "toolu_1") == numbers(1, 900)
    assert "two dead ends" in str(resumed.bodies[0]["messages"])


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_person_at_a_terminal_reads_the_status(machine: Callable[..., Host]) -> None:
    with machine().terminal([say("hello to you")]) as terminal:
        terminal.submit("/context-editor:status")

        assert "Queued: 0" in terminal.wait_for("Cache: nothing queued")
    assert terminal.model.exchanges == []


def test_optimize_asks_the_model_to_fold_what_is_finished(
    machine: Callable[..., Host],
) -> None:
    host = machine()

    run = host.run("/context-editor:optimize", [say("nothing is finished")])

    assert run.answers() == ["nothing is finished"]
    assert "Fold what is finished" in str(run.bodies[0]["messages"])


def test_no_command_of_ours_stands_in_the_listing_that_the_model_reads(
    machine: Callable[..., Host],
) -> None:
    host = machine()

    run = host.run("go", [say("ok")])

    sent = str(run.bodies[0]["messages"])
    assert "context-editor:context-editor" in sent
    assert "context-editor:status" not in sent
    assert "context-editor:optimize" not in sent
