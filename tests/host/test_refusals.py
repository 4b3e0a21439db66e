"""Edits that are refused, as the model asks for them: nothing is queued, and each names the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.host.plugin import (
    TOOLS,
    Edited,
    answered,
    edit,
    editing,
    listing,
    number_of,
    result_text,
    run_edited,
    seq,
    summarize,
)
from tests.host.scripted_model import Answer, call, say, use
from tests.host.wire import result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

TEXT: Final = "It printed numbers, nothing else."

REFUSED: Final[dict[str, tuple[dict[str, Any], tuple[str, ...]]]] = {
    "c11_a_range_over_a_prompt": (
        {"edits": [{"op": "collapse", "index": 1, "to": 12, "summary": TEXT}]},
        ("#1 ", "a person's words, which are never replaced: send instead"),
    ),
    "c11_a_prompt_alone": (
        {"edits": [{"op": "rewrite", "index": 1, "text": TEXT}]},
        ("a person's words", "only describe"),
    ),
    "c14_a_call_of_the_same_answer": (
        {"edits": [summarize("toolu_beside")]},
        ("pending", "edit it in the next turn"),
    ),
    "c17_a_text_that_saves_nothing": (
        {"edits": [summarize("toolu_small")]},
        ("no gain", "tokens before", "20 % and 50 tokens"),
    ),
    "c18_an_unknown_key": (
        {"edits": [{**summarize("toolu_1"), "txt": "x"}]},
        ("txt", "allowed"),
    ),
    "c18_one_bad_edit_of_two": (
        {"edits": [summarize("toolu_1"), summarize("toolu_nowhere")]},
        ("edits[1]", "toolu_nowhere", "Nothing of this call was queued"),
    ),
    "c23_a_blank_text": (
        {"edits": [summarize("toolu_1", "  ")]},
        ("text is blank",),
    ),
    "c23_a_text_that_is_too_long": (
        {"edits": [summarize("toolu_1", "x" * 20_001)]},
        ("20001 characters", "20000"),
    ),
    "a8_an_epoch_that_has_not_come": (
        {"edits": [{"op": "summarize", "index": 3, "text": TEXT}], "epoch": 7},
        ("epoch",),
    ),
    "a9_two_names_for_one_row": (
        {"edits": [{**summarize("toolu_1"), "index": 3}]},
        ("exactly one of index, ref, tool_use_id",),
    ),
    "c26_a_replacement_that_is_not_there": (
        {"edits": [{"op": "restore", "id": "c9"}]},
        ("'c9'", "nothing was replaced yet"),
    ),
    "c15_a_queued_edit_that_is_not_there": (
        {"edits": [{"op": "cancel", "id": "q9"}]},
        ("'q9'", "nothing is queued"),
    ),
}


def own(name: str) -> str:
    """The id of the refused call with this name."""
    return f"toolu_own_{name}"


@pytest.fixture(scope="module")
def refused(machine: Callable[..., Host]) -> Edited:
    """Every bad call in one answer; then a good one, the same once more, and old numbers."""
    bad = [use(f"{TOOLS}context_edit", given, own(name)) for name, (given, _) in REFUSED.items()]
    stale: list[int] = []

    def first_edit(body: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a request, as `editing` gives it
        stale.append(number_of("seq 2000", body))
        return [{"op": "summarize", "index": stale[0], "text": TEXT}]

    script: list[Answer] = [
        say("I count.", seq(1, 900, "toolu_1"), use("Bash", {"command": "echo 1"}, "toolu_small")),
        say("And on.", seq(2000, 2900, "toolu_2")),
        call(seq(3000, 3900, "toolu_beside"), *bad),
        call(listing(count=100)),
        editing(first_edit),
        call(edit(summarize("toolu_2"))),
        say("status: one edit"),
        lambda _: call(edit({"op": "summarize", "index": stale[0], "text": TEXT}, epoch=0)),
        call(listing(count=0)),
        say("done"),
    ]
    return run_edited(machine(), "go", script, edited=[result_of("toolu_2")])


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_edit_is_refused_and_the_answer_names_the_way_out(refused: Edited, name: str) -> None:
    text = result_text(refused.bodies[3], own(name))

    for words in REFUSED[name][1]:
        assert words in text, text


def test_c18_none_of_the_bad_edits_was_queued(refused: Edited) -> None:
    assert "\nQueued: 0\n" in answered(refused.bodies[4])


def test_c15_rows_that_are_queued_already_are_refused_with_the_edit_to_cancel(
    refused: Edited,
) -> None:
    assert 'already in q1 (summarize): cancel it first with {"op": "cancel"' in answered(
        refused.bodies[6]
    )


def test_scenario_3_a_number_of_before_an_apply_is_refused_with_where_the_row_is_now(
    refused: Edited,
) -> None:
    text = answered(refused.bodies[8])

    assert "epoch 0" in text
    assert "#" in text
    assert "\nQueued: 0\n" in answered(refused.bodies[9])
