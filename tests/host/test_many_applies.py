"""Six applies in one process; then resumed, forked, edited again and resumed again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import Host, Typed, after_turns
from tests.host.plugin import (
    COLLAPSED,
    Edited,
    edit,
    editing,
    listing,
    log_of,
    number_of,
    run_edited,
    seq,
    shown,
    summarize,
    with_files,
)
from tests.host.scripted_model import Answer, call, say, think, use
from tests.host.wire import Chosen, assert_same_conversation, blocks, pair_of, result_of
from tests.support.transcripts import PNG_4_BY_3

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

APPLIES = 6
BIG = "\n".join(f"line {n} of the big file with words" for n in range(400))
PROMPT: list[dict[str, Any]] = [
    {"type": "text", "text": "What is in this picture?"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_4_BY_3}},
]


def round_of(number: int, path: str) -> list[Answer]:
    """One turn: thinking, two parallel calls, one more, an edit call and a status line."""
    read = use("Read", {"file_path": path, "limit": 300 + number}, f"toolu_read{number}")
    text = {"type": "text", "text": f"reading {number}"}
    return [
        call(think(f"thought {number}"), text, read, seq(number, 800, f"toolu_b{number}")),
        say("more", seq(1000 + number, 1900, f"toolu_c{number}")),
        call(
            think(f"planning {number}"),
            edit(summarize(f"toolu_read{number}"), summarize(f"toolu_c{number}")),
        ),
        say(f"status: queued two edits {number}"),
    ]


def edited_in(rounds: Sequence[int]) -> list[Chosen]:
    return [result_of(f"toolu_read{n}", f"toolu_c{n}") for n in rounds]


@pytest.fixture(scope="module")
def big_machine(machine: Callable[..., Host]) -> Host:
    return with_files(machine(), {"big.txt": BIG})


@pytest.fixture(scope="module")
def live(big_machine: Host) -> Edited:
    path = str(big_machine.project / "big.txt")
    script = [step for number in range(APPLIES) for step in round_of(number, path)]
    return run_edited(
        big_machine,
        [Typed(PROMPT)],
        [*script, say("the end")],
        edited=edited_in(range(APPLIES)),
        end_when=after_turns(APPLIES + 1),
    )


@pytest.fixture(scope="module", autouse=True)
def forked(big_machine: Host, live: Edited) -> Edited:
    """Made first: it is to hold what live held, without what later tests add."""
    return run_edited(big_machine, "and?", [say("forked")], edited=(), after=live, fork=True)


@pytest.fixture(scope="module")
def second_life(big_machine: Host, live: Edited) -> Edited:
    """Resumed and edited once more: a collapse this time."""
    script: list[Answer] = [
        *(say("again", seq(7000, 7900, "toolu_d")), say("and", seq(8000, 8900, "toolu_e"))),
        call(listing(count=20)),
        editing(
            lambda body: [
                {
                    "op": "collapse",
                    "index": number_of("seq 7000", body),
                    "to": number_of("seq 8000", body),
                    "summary": "goal: probe; fact: two dead ends",
                }
            ]
        ),
        *(say("status: queued"), say("the second end")),
    ]
    chosen = [pair_of("toolu_d", "toolu_e"), lambda block: block.text == "and"]
    return run_edited(big_machine, "go on", script, edited=chosen, after=live)


def test_c9_each_of_six_turns_is_one_apply_and_the_next_epoch(
    big_machine: Host, live: Edited
) -> None:
    lines = log_of(big_machine, live.run.session_id)

    assert [apply.epoch for apply in live.applies] == list(range(1, APPLIES + 1)), shown(live.last)
    assert [line["epoch"] for line in lines][:APPLIES] == list(range(1, APPLIES + 1))
    assert all(line["resumable"] and not line["mismatch"] for line in lines), lines


def test_trap_2_no_row_is_doubled_or_lost_over_six_applies(live: Edited) -> None:
    results = Counter(b.call_id for b in blocks(live.last) if b.kind == "tool_result")

    expected = [f"toolu_{kind}{n}" for n in range(APPLIES) for kind in ("read", "b", "c")]
    assert results == Counter(expected)
    assert sum(block.kind == "image" for block in blocks(live.last)) == 1


def test_c24_the_simulated_cache_keeps_what_stands_in_front_of_every_edit(live: Edited) -> None:
    for apply in live.applies:
        after = next(e for e in live.run.exchanges if e.body is apply.after)
        first = min(
            at
            for at, b in enumerate(blocks(apply.before))
            if b.text != blocks(apply.after)[at].text
        )
        kept = sum(len(b.text) for b in blocks(apply.before)[:first])
        assert after.usage["cache_read_input_tokens"] * 4 >= kept


def test_c25_a_fork_is_sent_exactly_the_blocks_that_live_would_have_sent(
    live: Edited, forked: Edited
) -> None:
    assert forked.run.session_id != live.run.session_id
    assert_same_conversation(live.last, forked.run.bodies[0])


def test_c25_a_resume_is_sent_exactly_the_blocks_that_live_would_have_sent(
    live: Edited, second_life: Edited
) -> None:
    assert_same_conversation(live.last, second_life.run.bodies[0])


def test_c25_a_resumed_session_is_edited_again_and_resumed_again_as_live(
    big_machine: Host, second_life: Edited
) -> None:
    third = run_edited(big_machine, "and?", [say("third")], edited=(), after=second_life)

    assert [apply.epoch for apply in second_life.applies] == list(range(1, APPLIES + 2))
    assert any(b.call_id.startswith(COLLAPSED) for b in blocks(second_life.last))
    assert_same_conversation(second_life.last, third.run.bodies[0])
