"""The edited copy of a session: what it keeps to the byte, changes, and never touches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from tests.cli.conftest import LISTING
from tests.support.transcripts import SESSION, Transcript, call, image, text, thinking

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.errors import RefusedError, TranscriptError
from context_editor.hosts.claude_code.copy import Copy, write_edited_copy
from context_editor.hosts.claude_code.copy_lines import Writer
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, open_engine

if TYPE_CHECKING:
    from pathlib import Path

    from context_editor.core.apply.emissions import Build
    from context_editor.engine.session import Engine

NEW = "c0c0c0c0-0000-4000-8000-000000000001"
RECORD = "Goal: find the handlers. Facts: one a module, in src. Open: nothing."


@dataclass
class Case:
    """A session on disk and its engine.

    Attributes:
        root: The folder of the test.
        transcript: What the session's file holds.
    """

    root: Path
    transcript: Transcript

    @property
    def path(self) -> Path:
        return self.root / f"{SESSION}.jsonl"

    def engine(self, session: str = SESSION) -> Engine:
        ref = SessionRef(session, self.root / f"{session}.jsonl")
        return open_engine(ref, Opened(self.root / "data", orjson.loads))

    def queue(self, *requests: EditRequest) -> None:
        self.engine().edit(EditCall(requests))

    def copy(self) -> Copy:
        return write_edited_copy(self.engine(), lambda: NEW)

    def rows(self) -> list[dict[str, Any]]:
        """The copy's lines, parsed."""
        lines = (self.root / f"{NEW}.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]


def summarize(call_id: str) -> EditRequest:
    return EditRequest("summarize", Target(tool_use_id=call_id), "One handler a module, in src.")


def collapse(case: Case, first: str, last: str) -> EditRequest:
    """A collapse of the rows from one call to another."""
    engine = case.engine()
    names = engine.view(engine.folder.read()).names
    found = names.conversation.by_anchor
    refs = [names.ref(found[f"t:{call_id}"]) for call_id in (first, last)]
    return EditRequest("collapse", Target(index=refs[0], to=refs[1]), RECORD)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """Thinking, parallel calls, a prompt in the middle of a turn, progress and notes of the host."""
    made = Transcript()
    made.prompt("Where are the handlers?")
    made.attachment("environment", "# Environment\nPlatform: linux")
    made.answer(
        thinking("I should look.", "c2ln" * 40),
        text("I look."),
        call("Grep", "toolu_1", pattern="def handler", path="src"),
        call("Read", "toolu_2", file_path="/home/dev/project/src/a.py"),
    )
    made.result("toolu_1", LISTING)
    made.result("toolu_2", LISTING.replace("handler", "route"))
    made.add({"type": "progress", "data": {"type": "hook_progress"}})
    made.queued("And hurry.")
    made.answer(text("One a module."), call("Bash", "toolu_3", command="cat b.py"))
    made.result("toolu_3", LISTING.replace("handler", "extra"))
    made.system("stop_hook_summary", hookCount=1)
    made.answer(text("Done."))
    made.rows.insert(3, '{"type":"file-history-snapshot","snapshot":{}}')
    found = Case(tmp_path, made)
    made.write(found.path)
    return found


def test_every_line_follows_the_one_before_and_names_the_new_session(case: Case) -> None:
    case.queue(summarize("toolu_1"))

    case.copy()

    rows = case.rows()
    uuids = [row["uuid"] for row in rows]
    assert [row["parentUuid"] for row in rows] == [None, *uuids[:-1]]
    assert len(set(uuids)) == len(uuids)
    assert {row["sessionId"] for row in rows} == {NEW}


def test_a_kept_line_is_the_originals_but_for_session_parent_and_usage(case: Case) -> None:
    case.queue(summarize("toolu_3"))

    case.copy()

    originals = {row["uuid"]: row for row in case.transcript.rows if isinstance(row, dict)}
    kept = [row for row in case.rows() if row["uuid"] in originals]
    assert len(kept) > 8
    for row in kept:
        assert _compared(row) == _compared(originals[row["uuid"]])


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    """A line without what a copy changes."""
    message = {key: value for key, value in row.get("message", {}).items() if key != "usage"}
    rest = {key: value for key, value in row.items() if key not in {"parentUuid", "sessionId"}}
    return {**rest, "message": message}


def test_a_kept_answer_costs_nothing_again(case: Case) -> None:
    case.queue(summarize("toolu_3"))

    case.copy()

    usages = [row["message"]["usage"] for row in case.rows() if row["type"] == "assistant"]
    assert usages
    assert all(set(usage.values()) == {0} for usage in usages)


def test_the_session_itself_keeps_its_bytes_its_queue_and_its_state(case: Case) -> None:
    case.queue(summarize("toolu_1"))
    before = case.path.read_bytes()
    state = case.engine().folder.read()

    case.copy()

    assert case.path.read_bytes() == before
    assert case.engine().folder.read() == state


def test_the_copys_state_has_the_apply_taken_in(case: Case) -> None:
    case.queue(summarize("toolu_1"))

    made = case.copy()

    state = case.engine(NEW).folder.read()
    assert (state.session_id, state.epoch, state.queue, state.intent) == (NEW, 1, [], None)
    assert state.forked_from == SESSION
    assert made.report.startswith("context-editor: applied 1 edit(s)")
    assert made.transcript == case.root / f"{NEW}.jsonl"


def test_a_summarized_result_holds_the_words_and_its_call_stays(case: Case) -> None:
    case.queue(summarize("toolu_1"))

    case.copy()

    blocks = [b for row in case.rows() for b in _blocks(row)]
    result = next(b for b in blocks if b.get("tool_use_id") == "toolu_1")
    assert result["content"].startswith("Later, your context_edit summarize call replaced")
    assert any(b.get("id") == "toolu_1" for b in blocks)
    assert LISTING not in case.root.joinpath(f"{NEW}.jsonl").read_text(encoding="utf-8")


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = row.get("message", {}).get("content", [])
    return [] if isinstance(content, str) else content


def test_a_collapse_is_a_call_of_ours_with_its_result_in_the_hosts_shape(case: Case) -> None:
    case.queue(collapse(case, "toolu_1", "toolu_2"))

    case.copy()

    at = next(n for n, row in enumerate(case.rows()) if "toolu_ctxed_c1" in json.dumps(row))
    asked, answered = case.rows()[at : at + 2]
    assert asked["message"]["model"] == "<synthetic>"
    assert asked["message"]["content"][0]["name"].endswith("__context_edit")
    assert answered["message"]["content"][0]["tool_use_id"] == "toolu_ctxed_c1"
    assert (answered["rowSource"], answered["origin"]["name"]) == ("hook", "context-editor")
    assert {row["cwd"] for row in (asked, answered)} == {"/home/dev/project"}


def test_c27_what_a_person_said_in_the_middle_of_a_turn_is_still_said(case: Case) -> None:
    case.queue(summarize("toolu_2"))

    case.copy()

    assert "And hurry." in case.root.joinpath(f"{NEW}.jsonl").read_text(encoding="utf-8")


def test_what_a_hook_said_in_front_of_the_first_prompt_stays_in_front(tmp_path: Path) -> None:
    made = Transcript()
    made.attachment("hook_additional_context", "Be kind.", content=["Be kind."])
    made.prompt("Where are the handlers?")
    made.tool("Grep", "toolu_1", LISTING, pattern="def handler")
    case = Case(tmp_path, made)
    made.write(case.path)
    case.queue(summarize("toolu_1"))

    case.copy()

    assert case.rows()[0]["attachment"]["type"] == "hook_additional_context"


def test_a_copy_of_a_copy_restores_what_the_first_one_replaced(case: Case) -> None:
    case.queue(summarize("toolu_1"))
    case.copy()
    again = case.engine(NEW)
    again.edit(EditCall((EditRequest("restore", id="c1"),)))

    made = write_edited_copy(again, lambda: "second")

    conversation = case.engine("second").view(case.engine("second").folder.read()).reading
    row = conversation.conversation.by_anchor["t:toolu_1"]
    assert row.text == LISTING
    assert made.id == "second"


def test_only_what_follows_the_last_boundary_is_copied(case: Case) -> None:
    case.transcript.boundary()
    case.transcript.prompt("A summary of all before.", isCompactSummary=True)
    case.transcript.tool("Bash", "toolu_9", LISTING, command="ls")
    case.transcript.write(case.path)
    case.queue(summarize("toolu_9"))

    case.copy()

    rows = case.rows()
    assert rows[0]["message"]["content"] == "A summary of all before."
    assert not any(row.get("subtype") == "compact_boundary" for row in rows)


def test_images_of_a_kept_prompt_are_kept(case: Case) -> None:
    case.transcript.prompt([image(), text("What is this?")])
    case.transcript.tool("Bash", "toolu_9", LISTING, command="ls")
    case.transcript.write(case.path)
    case.queue(summarize("toolu_9"))

    case.copy()

    assert any(b["type"] == "image" for row in case.rows() for b in _blocks(row))


def test_nothing_queued_is_refused(case: Case) -> None:
    with pytest.raises(RefusedError, match="nothing is queued"):
        case.copy()

    assert not (case.root / f"{NEW}.jsonl").exists()


def test_where_the_apply_is_refused_no_copy_is_left_behind(case: Case) -> None:
    case.queue(summarize("toolu_1"))
    lines = [line for line in case.path.read_bytes().splitlines() if b"toolu_1" not in line]
    case.path.write_bytes(b"\n".join(lines) + b"\n")

    with pytest.raises(RefusedError):
        case.copy()

    assert not (case.root / f"{NEW}.jsonl").exists()
    assert not (case.root / "data" / "sessions" / NEW).exists()
    assert len(case.engine().folder.read().queue) == 1


def test_a_copy_that_does_not_read_as_planned_is_taken_back(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.queue(summarize("toolu_1"))

    def forgotten(_writer: Writer, _row: Build) -> None:
        """Write nothing where a built row is due."""

    monkeypatch.setattr(Writer, "build", forgotten)

    with pytest.raises(TranscriptError, match="does not read as it was planned"):
        case.copy()

    assert not (case.root / f"{NEW}.jsonl").exists()
    assert not (case.root / "data" / "sessions" / NEW).exists()
