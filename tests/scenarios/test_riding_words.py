"""Rule C27 for every kind that the host hangs behind a row, read as it stores them."""

from pathlib import Path

import orjson
import pytest
from tests.support.fake_host import FakeHost, apply, engine_of
from tests.support.transcripts import Transcript, call, text

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.transcript import LiveTranscript

BULK = "words of a long output, and more of them\n" * 120
WORDS = "Words that the host put here, and that must stay."

KINDS = (
    "agent_listing_delta",
    "deferred_tools_delta",
    "diagnostics",
    "edited_text_file",
    "environment",
    "file",
    "hook_additional_context",
    "invoked_skills",
    "mcp_instructions_delta",
    "nested_memory",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "queued_command",
    "skill_listing",
    "task_reminder",
    "a_kind_that_nobody_has_seen_yet",
)


def with_rider(path: Path, kind: str, words: str | None = WORDS) -> FakeHost:
    """A session in which this kind hangs behind a result, as a host in memory has it."""
    session = Transcript()
    session.prompt("go")
    session.answer(text("I look."), call("Bash", "toolu_1", command="make"))
    session.result("toolu_1", BULK)
    if kind == "queued_command":
        session.queued(WORDS)
    else:
        session.attachment(kind, words, addedLines=[WORDS])
    session.answer(text("Fine."))
    live = LiveTranscript(session.write(path), orjson.loads)
    live.refresh()
    return FakeHost(list(live.pieces))


def summarize(target: str = "toolu_1") -> EditCall:
    return EditCall((EditRequest("summarize", Target(tool_use_id=target), "fact: it builds"),))


@pytest.mark.parametrize("kind", KINDS)
def test_c27_what_hangs_behind_a_result_stays_when_the_result_is_summarized(
    tmp_path: Path, kind: str
) -> None:
    host = with_rider(tmp_path / "session.jsonl", kind)
    engine = engine_of(host, tmp_path)
    engine.edit(summarize())

    report = apply(engine, host)

    whole = "\n".join(piece.text for piece in host.pieces)
    assert report.startswith("context-editor: applied 1 edit(s)")
    assert whole.count(WORDS) == 1
    assert BULK not in whole


@pytest.mark.parametrize("kind", KINDS)
def test_c27_what_hangs_behind_collapsed_rows_stays(tmp_path: Path, kind: str) -> None:
    host = with_rider(tmp_path / "session.jsonl", kind)
    engine = engine_of(host, tmp_path)
    target = Target(index=2, to=3)
    engine.edit(EditCall((EditRequest("collapse", target, "fact: it builds"),)))

    apply(engine, host)

    whole = "\n".join(piece.text for piece in host.pieces)
    assert whole.count(WORDS) == 1
    assert BULK not in whole


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "queued_command"])
def test_c27_what_cannot_be_sent_again_refuses_the_edit_and_is_named(
    tmp_path: Path, kind: str
) -> None:
    """Older releases store the payload alone."""
    host = with_rider(tmp_path / "session.jsonl", kind, None)

    with pytest.raises(RefusedError, match=rf"\({kind}\) that cannot be sent again as it was"):
        engine_of(host, tmp_path).edit(summarize())
