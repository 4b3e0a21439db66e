"""A long session in the real host: it is resumed, edited at both ends, and resumed again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from bench.sessions import session
from tests.host.plugin import Edited, edit, log_of, result_text, run_edited, summarize
from tests.host.scripted_model import call, say
from tests.host.wire import assert_same_conversation, result_of
from tests.support.transcripts import CWD, SESSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.host import Host

pytestmark = [pytest.mark.host, pytest.mark.timeout(280)]

MEGABYTES = 5


def test_c25_a_session_of_5_mb_is_edited_at_both_ends_and_resumes_as_it_was_left(
    machine: Callable[..., Host],
) -> None:
    host = machine()
    host.run("warm up", [say("warm")])
    (project,) = {path.parent for path in (host.home / ".claude/projects").glob("*/*.jsonl")}
    lines = session(MEGABYTES).bytes().decode().replace(CWD, str(host.project)).splitlines()
    (project / f"{SESSION}.jsonl").write_text("\n".join((*lines, "")), encoding="utf-8")
    results = [json.loads(line)["message"]["content"] for line in lines if '"tool_result"' in line]
    first, last = (results[at][0]["tool_use_id"] for at in (0, -1))
    script = [call(edit(summarize(first), summarize(last))), say("status"), say("I go on.")]

    run: Edited = run_edited(
        host, "go on", script, edited=(result_of(first), result_of(last)), resume=SESSION
    )

    (apply,) = log_of(host, SESSION)
    assert (apply["epoch"], apply["mismatch"], apply["skipped"]) == (1, "", {})
    for name in (first, last):
        assert result_text(run.run.bodies[-1], name).startswith("Later, your context_edit")
    again = host.run("and?", [say("fine")], resume=SESSION)
    assert_same_conversation(run.run.bodies[-1], again.bodies[0])
