"""One headless run: rows are listed and edited in three calls, and the work goes on by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.host.plugin import (
    COLLAPSED,
    TOOLS,
    Apply,
    Edited,
    edit,
    editing,
    listing,
    log_of,
    number_of,
    numbers,
    original_in,
    result_text,
    run_edited,
    seq,
    summarize,
    with_files,
)
from tests.host.scripted_model import call, say, think, use
from tests.host.wire import blocks, pair_of, result_of, text_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

BIG = "\n".join(f"line {n} of the big file with words" for n in range(400))
PLAN = "The plan is to look at every number. " * 40
CONTINUE = "Go on with step three."


@pytest.fixture(scope="module")
def machine_with_file(machine: Callable[..., Host]) -> Host:
    return with_files(machine(), {"big.txt": BIG})


@pytest.fixture(scope="module")
def edited(machine_with_file: Host) -> Edited:
    """Three calls with seven edits in one turn, then the continuation."""
    host = machine_with_file
    read = use("Read", {"file_path": str(host.project / "big.txt")}, "toolu_read")
    script = [
        call(
            think("first thought"),
            {"type": "text", "text": "I read."},
            read,
            seq(1, 900, "toolu_1"),
        ),
        say("Two more.", seq(1000, 1900, "toolu_2"), seq(2000, 2900, "toolu_3")),
        call(think("second thought"), {"type": "text", "text": PLAN}, seq(3000, 3900, "toolu_4")),
        say("A dead end.", seq(4000, 4900, "toolu_5")),
        say("Another.", seq(5000, 5900, "toolu_6")),
        call(listing(count=100)),
        call(edit(summarize("toolu_read"), summarize("toolu_2"), summarize("toolu_3"))),
        call(edit(summarize("toolu_1"), summarize("toolu_4"))),
        call(think("third thought"), listing(count=100)),
        editing(
            lambda body: [
                {
                    "op": "rewrite",
                    "index": number_of("The plan is", body),
                    "text": "Look at numbers.",
                },
                {
                    "op": "collapse",
                    "index": number_of("seq 4000", body),
                    "to": number_of("seq 5000", body),
                    "summary": "goal: probe; fact: two dead ends",
                },
            ],
            resume=CONTINUE,
        ),
        say("status: seven edits are queued"),
        say("done"),
    ]
    return run_edited(host, "go", script, edited=EDITED)


EDITED = (
    result_of("toolu_read", "toolu_1", "toolu_2", "toolu_3", "toolu_4"),
    pair_of("toolu_5", "toolu_6"),
    text_with("The plan is to look", "Another."),
)


@pytest.fixture(scope="module")
def applied(edited: Edited) -> Apply:
    return edited.only_apply


def test_scenario_18_three_calls_with_seven_edits_are_one_apply_that_reports_seven(
    edited: Edited, applied: Apply, machine_with_file: Host
) -> None:
    (line,) = log_of(machine_with_file, edited.run.session_id)

    assert applied.edits == 7 == len(line["edits"])
    assert line["resumable"]
    assert line["mismatch"] == ""


def test_scenario_18_the_conversation_goes_on_once_by_itself_with_the_text_given(
    edited: Edited,
) -> None:
    assert edited.run.code == 0, edited.run.stderr
    assert len(edited.bodies) == 12
    assert edited.run.answers()[-1] == "done"
    prompts = [block.text for block in blocks(edited.last) if CONTINUE in block.text]
    assert len(prompts) == 1


def test_c3_every_summarized_result_holds_its_replacement_and_nothing_of_the_original(
    applied: Apply,
) -> None:
    sent = str(applied.after["messages"])
    for call_id in ("toolu_read", "toolu_1", "toolu_2", "toolu_3", "toolu_4"):
        text = result_text(applied.after, call_id)
        assert text.startswith(
            "Later, your context_edit summarize call replaced the full output of"
        )
        assert text.endswith(": It printed numbers, nothing else.")
    for word in (
        "line 57 of the big",
        "777",
        "1555",
        "2555",
        "3555",
        "4555",
        "5555",
        "at every number",
    ):
        assert word in str(applied.before["messages"])
        assert word not in sent


def test_c2_the_collapsed_rows_are_one_call_of_ours_that_lists_what_they_held(
    applied: Apply,
) -> None:
    (made,) = [b for b in blocks(applied.after) if b.call_id.startswith(COLLAPSED) and b.name]

    assert made.name == f"{TOOLS}context_edit"
    assert '"collapsed": ["Bash seq 4000 4900", "text", "Bash seq 5000 5900"]' in made.text
    text = result_text(applied.after, made.call_id)
    assert (
        "replaced these 3 rows you had read (Bash seq 4000 4900, text, Bash seq 5000 5900)" in text
    )


def test_a11_no_call_of_ours_is_left_but_the_one_that_stands_for_collapsed_rows(
    applied: Apply,
) -> None:
    own = [b for b in blocks(applied.after) if b.name.startswith(TOOLS)]

    assert [b.call_id.startswith(COLLAPSED) for b in own] == [True]
    assert sum(b.name.startswith(TOOLS) for b in blocks(applied.before)) == 5


def test_scenario_24_no_thinking_is_left_behind_the_first_edited_row_and_the_report_counts_it(
    applied: Apply,
) -> None:
    thoughts = [b.text for b in blocks(applied.after) if b.kind == "thinking"]

    assert thoughts == ["first thought"]
    assert "2 thinking block(s) behind the first change went" in applied.report


def test_scenario_50_every_original_opens_and_equals_what_was_read(applied: Apply) -> None:
    expected = {
        "toolu_1": numbers(1, 900),
        "toolu_2": numbers(1000, 1900),
        "toolu_read": result_text(applied.before, "toolu_read"),
    }
    for call_id, original in expected.items():
        path = original_in(result_text(applied.after, call_id))
        assert path.read_text(encoding="utf-8") == original
        assert path.stat().st_mode & 0o777 == 0o600


def test_j9_the_report_names_every_replacement_and_the_row_where_it_stands(applied: Apply) -> None:
    named = re.findall(r"c\d \w+ #\d+(?:\.\.#\d+)? → #\d+", applied.report)

    assert len(named) == 7, applied.report


def test_the_model_never_sees_the_session_that_the_hook_names_to_our_tools(edited: Edited) -> None:
    assert all("_host" not in str(body["messages"]) for body in edited.bodies)


def test_c27_a_folder_of_the_plugin_is_private(edited: Edited, machine_with_file: Host) -> None:
    folder = Path(machine_with_file.home / ".claude" / "plugins" / "data")
    made = [
        path for path in folder.glob(f"*/sessions/{edited.run.session_id}/**/*") if path.is_file()
    ]

    assert made
    assert all(path.stat().st_mode & 0o077 == 0 for path in made), made
