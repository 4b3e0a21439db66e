"""A person at a terminal: an interrupted turn, a prompt that waits, and an apply as one line."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.host.plugin import (
    Apply,
    answered,
    applies_in,
    edit,
    listing,
    numbers,
    result_text,
    seq,
    shown,
    summarize,
)
from tests.host.scripted_model import Answer, Step, call, say
from tests.host.wire import assert_conserved, assert_legal, assert_prefix_kept, blocks, result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host
    from tests.host.scripted_model import Body

pytestmark = [
    pytest.mark.host,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

MEANWHILE = "and do not push yet"
APPLYING = "/compact context-editor: apply 1 edit(s)"


@dataclass(frozen=True)
class Seen:
    """What a run at a terminal left.

    Attributes:
        screen: What the person saw, from the first line to the last.
        bodies: The requests.
    """

    screen: str
    bodies: list[Body]

    @property
    def apply(self) -> Apply:
        (found,) = applies_in(self.bodies)
        return found


@pytest.fixture(scope="module")
def seen(machine: Callable[..., Host]) -> Seen:
    """The turn that queued an edit is interrupted; the next one applies while a prompt waits."""
    host = machine()
    script: list[Answer] = [
        say("I count.", seq(1, 900, "toolu_1")),
        call(edit(summarize("toolu_1"))),
        Step(({"type": "text", "text": "never shown"},), delay_s=20),
        call(listing(count=0)),
        call(edit(apply="turn_end")),
        Step(({"type": "text", "text": "status: one edit"},), delay_s=2.5),
        say("I will not push."),
        say("It is fine."),
    ]
    with host.terminal(script) as terminal:
        terminal.wait_until(
            lambda: "Successfully connected" in terminal.debug.read_text(encoding="utf-8"),
            "the plugin's server is connected",
        )
        terminal.submit("go")
        terminal.wait_until(lambda: len(terminal.model.exchanges) == 3, "the turn is at its end")
        terminal.press("Escape").wait_for("Interrupted")
        terminal.submit("what is queued?")
        terminal.wait_until(lambda: len(terminal.model.exchanges) == 6, "the turn is at its end")
        terminal.submit(MEANWHILE)
        terminal.wait_for("I will not push.")
        terminal.wait_for("Compacted")
        terminal.submit("how is it?")
        screen = terminal.wait_for("It is fine.")
        bodies = terminal.model.bodies
    return Seen(screen, bodies)


def test_scenario_23_after_an_interrupt_nothing_is_applied_and_the_header_names_the_queue(
    seen: Seen,
) -> None:
    header = answered(seen.bodies[4])

    assert "Queued: 1 edit(s), " in header
    assert "(epoch 0)" in header
    assert result_text(seen.bodies[4], "toolu_1") == numbers(1, 900)


def test_the_person_sees_an_apply_as_one_command_and_its_outcome(seen: Seen) -> None:
    """The host draws the conversation anew below itself, so that what is above stands twice."""
    shown_now = seen.screen[seen.screen.rindex("I will not push.") :]

    assert shown_now.count(APPLYING) == 1, seen.screen
    assert "Later, your context_edit" not in seen.screen


def test_a_prompt_typed_before_the_turn_ends_is_answered_and_stays_through_the_apply(
    seen: Seen,
) -> None:
    assert len(seen.bodies) == 8, shown(seen.bodies[-1])
    assert MEANWHILE in str(seen.bodies[6]["messages"])
    assert MEANWHILE in str(seen.apply.after["messages"])
    assert_legal(seen.apply.after)
    assert_conserved(seen.apply.before, seen.apply.after, result_of("toolu_1"))
    assert_prefix_kept(seen.apply.before, seen.apply.after, result_of("toolu_1"))


def test_c8_where_a_prompt_of_the_person_waits_no_continuation_is_sent(seen: Seen) -> None:
    assert "The context-editor plugin sent a message" not in str(seen.bodies[-1]["messages"])


def test_the_next_prompt_carries_the_report_and_finds_the_edit_applied(seen: Seen) -> None:
    assert seen.apply.after is seen.bodies[7], [len(blocks(body)) for body in seen.bodies]
    assert result_text(seen.bodies[7], "toolu_1").startswith("Later, your context_edit summarize")
