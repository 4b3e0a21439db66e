"""What the next prompt carries, however much there is to say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.fake_host import FakeHost, apply, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.notes import NoteOp

if TYPE_CHECKING:
    from pathlib import Path

CAP = 2_000


def test_a13_a_long_report_is_cut_with_a_notice_and_takes_no_reminder_with_it(
    tmp_path: Path,
) -> None:
    host = FakeHost()
    host.prompt("read them all")
    calls = [("Read", f"src/module_{n}.py", f"{n} {'word ' * 400}") for n in range(60)]
    ids = host.answer("", calls)
    engine = engine_of(host, tmp_path)
    engine.note((NoteOp("add", text="look at the tests again", remind_in_turns=1),))
    requests = [EditRequest("summarize", Target(tool_use_id=one), "nothing new") for one in ids]
    engine.edit(EditCall(tuple(requests)))
    report = apply(engine, host)
    host.prompt("go on")
    host.answer("done")

    words = "\n".join(engine.prompt_lines("next"))

    assert len(report) > CAP >= len(words)
    assert words.endswith("look at the tests again")
    shown, notice = words.split(" [context-editor: ")
    assert report.startswith(shown)
    assert int(re.findall(r"\d+", notice)[0]) == len(report) - len(shown)
