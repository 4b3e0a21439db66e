"""Texts that a way in between could break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.host.plugin import TOOLS, edit, result_text, run_edited, seq, summarize
from tests.host.scripted_model import call, say
from tests.host.wire import result_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(120)]

PROMPT = f"{'x' * 63}\U0001f600 count, please"
"""A prompt whose 64th UTF-16 unit is half of a character: a glimpse of it ends there."""


def test_a_prompt_that_a_glimpse_cuts_within_a_character_hinders_no_apply(
    machine: Callable[..., Host],
) -> None:
    script = [
        call(seq(1, 900, "toolu_1")),
        call(edit(summarize("toolu_1"))),
        say("one edit queued"),
        say("went on"),
    ]

    whole = run_edited(machine(), PROMPT, script, edited=(result_of("toolu_1"),), tools=TOOLS)

    assert len(whole.applies) == 1
    assert result_text(whole.bodies[-1], "toolu_1").startswith("Later, your context_edit")
