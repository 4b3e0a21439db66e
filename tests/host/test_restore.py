"""Undo: a summarize, a collapse with parallel calls, a describe; then the undo of an undo."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import Host, Typed, after_turns
from tests.host.plugin import (
    COLLAPSED,
    Apply,
    Edited,
    answered,
    edit,
    editing,
    listing,
    number_of,
    numbers,
    original_in,
    picture,
    result_text,
    run_edited,
    seq,
    shown,
    summarize,
)
from tests.host.scripted_model import Answer, call, say
from tests.host.wire import (
    assert_same_conversation,
    blocks,
    is_media,
    pair_of,
    result_of,
    text_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

QUESTION = "What do you see here?"
PROMPT: list[dict[str, Any]] = [{"type": "text", "text": QUESTION}, picture()]
FIRST_SUMMARY = "First summary: a run of numbers, one a line. " * 20
REPLACED = "Later, your context_edit"


def restore(*ids: str) -> list[dict[str, Any]]:
    return [{"op": "restore", "id": name} for name in ids]


@pytest.fixture(scope="module")
def scratch(machine: Callable[..., Host]) -> Host:
    return machine()


@pytest.fixture(scope="module")
def undone(scratch: Host) -> Edited:
    """Edited, restored, restored again, and one summary summarized once more; one apply each."""
    script: list[Answer] = [
        say("I count.", seq(1, 900, "toolu_1")),
        say("Two at once.", seq(2000, 2900, "toolu_2"), seq(3000, 3900, "toolu_3")),
        say("One more.", seq(5000, 5900, "toolu_4")),
        call(listing(count=100)),
        editing(
            lambda body: [
                {"op": "describe", "index": number_of(" person ", body, 0), "text": "A picture."},
                summarize("toolu_1"),
                {
                    "op": "collapse",
                    "index": number_of("Two at once", body),
                    "to": number_of("seq 3000", body),
                    "summary": "goal: count; fact: numbers",
                },
                summarize("toolu_4", FIRST_SUMMARY),
            ]
        ),
        say("status: four edits"),
        call(edit(*restore("c1", "c2", "c3"), summarize("toolu_4", "Numbers."))),
        say("status: three restored, one summarized again"),
        call(listing(count=100)),
        call(edit(*restore("c6", "c7"))),
        say("status: undone again"),
        say("done"),
    ]
    chosen = [
        is_media,
        text_with(QUESTION, "[Image: source: ", "Attribution for git", "Two at once."),
        result_of("toolu_1", "toolu_4"),
        pair_of("toolu_2", "toolu_3"),
        lambda block: block.call_id.startswith(COLLAPSED),
    ]
    return run_edited(scratch, [Typed(PROMPT)], script, edited=chosen, end_when=after_turns(4))


@pytest.fixture(scope="module")
def applies(undone: Edited) -> list[Apply]:
    found = undone.applies
    assert [apply.epoch for apply in found] == [1, 2, 3], f"{shown(undone.last)}\n{undone.told}"
    return found


def test_c26_a_restored_result_holds_the_original_bytes_again(applies: list[Apply]) -> None:
    edited, restored, _ = applies

    assert result_text(edited.after, "toolu_1").startswith(REPLACED)
    assert result_text(restored.after, "toolu_1") == numbers(1, 900)


def test_c26_a_restored_collapse_brings_its_rows_back_in_order_parallel_calls_included(
    applies: list[Apply],
) -> None:
    edited, restored, _ = applies
    wanted = [b for b in blocks(edited.before) if b.call_id in {"toolu_2", "toolu_3"}]
    found = [b for b in blocks(restored.after) if b.call_id in {"toolu_2", "toolu_3"}]

    assert not any(b.call_id in {"toolu_2", "toolu_3"} for b in blocks(edited.after))
    assert [b.what for b in found] == [b.what for b in wanted]
    assert "Two at once." in str(restored.after["messages"])
    assert COLLAPSED not in str(restored.after["messages"])


def test_c26_a_restored_prompt_has_its_words_and_the_path_of_the_picture(
    applies: list[Apply],
) -> None:
    """A row that is built anew cannot hold an image: the file stands in its place."""
    _, restored, _ = applies
    (text,) = [b.text for b in blocks(restored.after) if QUESTION in b.text]
    named = re.search(r"\[context-editor: media carried as files\] \(media: (/[^,)]+)\)", text)

    assert named is not None, text
    assert Path(named[1]).read_bytes() == base64.b64decode(PROMPT[1]["source"]["data"])
    assert "A picture." not in text


def test_scenario_17_a_described_prompt_keeps_its_words_and_its_picture_as_a_file(
    applies: list[Apply],
) -> None:
    edited = applies[0]
    (text,) = [b.text for b in blocks(edited.after) if QUESTION in b.text]
    named = re.search(r"\(media: (/[^,)]+)\)", text)

    assert text.strip().endswith(f": A picture.\n\n{QUESTION}")
    assert named is not None
    assert Path(named[1]).read_bytes() == base64.b64decode(PROMPT[1]["source"]["data"])


def test_c26_undoing_an_undo_is_the_edit_again(applies: list[Apply]) -> None:
    edited, _, again = applies
    text = result_text(again.after, "toolu_1")

    assert text == result_text(edited.after, "toolu_1")
    assert any(b.call_id.startswith(COLLAPSED) for b in blocks(again.after)), shown(again.after)
    assert not any(b.call_id in {"toolu_2", "toolu_3"} for b in blocks(again.after))


def test_c16_a_summary_that_is_summarized_again_still_leads_to_the_first_original(
    applies: list[Apply],
) -> None:
    first, second, _ = applies

    assert "First summary" in result_text(first.after, "toolu_4")
    text = result_text(second.after, "toolu_4")
    assert text.endswith(": Numbers.")
    assert original_in(text).read_text(encoding="utf-8") == numbers(5000, 5900)


def test_c26_what_no_longer_stands_cannot_be_restored_and_the_answer_says_what_took_it_in(
    scratch: Host, undone: Edited
) -> None:
    script = [call(edit(*restore("c4"))), call(edit(*restore("c99"))), say("done")]
    run = run_edited(scratch, "and?", script, edited=(), after=undone)
    gone, unknown = (answered(body) for body in run.run.bodies[1:3])

    assert_same_conversation(undone.last, run.run.bodies[0])
    assert "c4 stands no more: c8 took it in; restore c8 first" in gone
    assert "there is no replacement 'c99'" in unknown
