"""A call: which session it means, what it answers, and what happens when something breaks."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest
from tests.support.transcripts import SESSION, text

from context_editor.hosts.claude_code import environment, presence
from context_editor.server.calls import Desk
from context_editor.server.registry import TOOLS
from context_editor.server.sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import Office, Session


def rows_in(answer: str) -> list[str]:
    return [line for line in answer.splitlines() if line.startswith("#")]


def test_a1_a_listing_has_a_header_and_numbered_rows(office: Office) -> None:
    answer = office.ask("context_list")

    assert not answer.is_refusal
    assert answer.text.startswith("Context: ")
    numbers = [int(line.split()[0].removeprefix("#")) for line in rows_in(answer.text)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a2_count_0_is_the_header_alone(office: Office) -> None:
    assert rows_in(office.ask("context_list", count=0).text) == []


def test_rows_are_named_by_window_by_text_and_by_ref(office: Office) -> None:
    assert len(rows_in(office.ask("context_list", **{"from": 2, "to": 3}).text)) == 2
    assert len(rows_in(office.ask("context_list", grep="routes.py").text)) >= 1
    ref = rows_in(office.ask("context_list").text)[1].split()[1]
    assert (
        "def handler_0"
        in office.ask("context_list", row=ref).text + office.ask("context_list", row=3).text
    )


def test_an_edit_is_queued_with_its_id_and_what_happens_next(office: Office) -> None:
    edit = {"op": "summarize", "tool_use_id": "toolu_1", "text": "One handler a module, in src."}

    answer = office.ask("context_edit", edits=[edit])

    assert not answer.is_refusal
    assert answer.text.startswith("q1 summarize")
    assert (office.session.folder / "queue").exists()
    assert "Queued: 1 edit(s)" in office.ask("context_list", count=0).text


def test_c18_one_bad_edit_refuses_the_call_and_queues_nothing(office: Office) -> None:
    good = {"op": "summarize", "tool_use_id": "toolu_1", "text": "One handler a module, in src."}
    bad = {"op": "summarize", "tool_use_id": "toolu_9", "text": "x"}

    answer = office.ask("context_edit", edits=[good, bad])

    assert answer.is_refusal
    assert "edits[1]" in answer.text
    assert "toolu_9" in answer.text
    assert "Queued: 0" in office.ask("context_list", count=0).text


def test_a15_a_call_from_a_subagent_is_refused_in_one_line_and_touches_nothing(
    session: Session,
) -> None:
    desk = Desk(Sessions(session.data))

    answer = desk.answer("context_list", {"_host": session.host(agent_id="agent-1")})

    assert answer.is_refusal
    assert "subagent" in answer.text
    assert "\n" not in answer.text
    assert not session.data.exists()


def test_without_the_hook_the_session_of_the_environment_is_answered_for_and_named(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = session.root / "my_project.v2"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(session.root / "config"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in str(project))
    folder = session.root / "config" / "projects" / name
    folder.mkdir(parents=True)
    session.transcript.write(folder / f"{SESSION}.jsonl")

    answer = Desk(Sessions(session.data)).answer("context_list", {"count": 1})

    assert not answer.is_refusal
    assert answer.text.endswith(f"Session: {SESSION} (named by CLAUDE_CODE_SESSION_ID)")
    assert rows_in(answer.text)


def test_without_the_hook_a_session_of_another_folder_is_found_by_its_id(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(session.root / "config"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    folder = session.root / "config" / "projects" / "-somewhere-else"
    folder.mkdir(parents=True)
    session.transcript.write(folder / f"{SESSION}.jsonl")

    assert rows_in(Desk(Sessions(session.data)).answer("context_list", {}).text)


def test_a_call_that_nothing_names_a_session_for_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)

    answer = Desk(Sessions(session.data)).answer("context_list", {})

    assert answer.is_refusal
    assert "CLAUDE_CODE_SESSION_ID" in answer.text


def test_the_hooks_word_stands_over_the_environments(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")

    assert "Session:" not in office.ask("context_list", count=0).text
    assert not (office.session.data / "sessions" / "another").exists()


def test_an_unknown_tool_is_refused_with_those_that_are_there(office: Office) -> None:
    answer = office.ask("context_lst")

    assert answer.is_refusal
    assert "context_list, context_tag" in answer.text


def test_an_unexpected_fault_is_told_in_one_line_and_logged_with_its_traceback(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise KeyError("the cause")

    monkeypatch.setitem(
        TOOLS, "context_list", dataclasses.replace(TOOLS["context_list"], run=broken)
    )

    answer = office.ask("context_list")

    log = office.session.data / "log" / "server.log"
    assert answer.is_refusal
    assert "\n" not in answer.text
    assert str(log) in answer.text
    assert "the cause" not in answer.text
    assert "KeyError: 'the cause'" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_where_no_log_can_be_written_the_answer_says_so(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise KeyError("the cause")

    monkeypatch.setitem(
        TOOLS, "context_list", dataclasses.replace(TOOLS["context_list"], run=broken)
    )
    office.session.data.write_text("a file where the folder should be", encoding="utf-8")

    assert "none could be written" in office.ask("context_list").text


def test_where_the_mod_never_said_hello_the_header_and_the_answer_say_that_edits_wait(
    office: Office,
) -> None:
    edit = {"op": "summarize", "tool_use_id": "toolu_1", "text": "One handler a module, in src."}

    assert "Apply: at resume: mods are off" in office.ask("context_list", count=0).text
    assert "Apply: at resume: mods are off" in office.ask("context_edit", edits=[edit]).text


def test_once_the_mod_said_hello_edits_apply_at_the_turns_end_in_a_known_window(
    office: Office,
) -> None:
    presence.say_hello(office.session.data, environment.host_pid(), {"window": 200_000})
    edit = {"op": "summarize", "tool_use_id": "toolu_1", "text": "One handler a module, in src."}

    answer = office.ask("context_edit", edits=[edit])

    assert "when this turn ends" in answer.text
    header = office.ask("context_list", count=0).text
    assert "of 200k tokens" in header
    assert "Apply:" not in header


def test_a_warm_call_reads_only_what_was_appended(office: Office) -> None:
    before = rows_in(office.ask("context_list").text)
    office.session.transcript.answer(text("One more thing."))
    office.session.written()

    assert len(rows_in(office.ask("context_list").text)) > len(before)


def test_rows_that_another_process_patched_in_place_are_read_anew(office: Office) -> None:
    office.ask("context_list")
    state = office.session.folder / "state.json"
    document = json.loads(state.read_bytes())
    state.write_text(json.dumps({**document, "epoch": 1}), encoding="utf-8")
    raw = office.session.path.read_bytes()
    assert b"In routes.py." in raw
    with office.session.path.open("r+b") as file:
        file.write(raw.replace(b"In routes.py.", b"In router.py."))

    answer = office.ask("context_list").text

    assert "In router.py." in answer
    assert "In routes.py." not in answer


@pytest.mark.parametrize("said", [["a"], "x", {}, {"session_id": 3, "transcript_path": "/x"}])
def test_a_reserved_argument_that_is_not_the_hooks_counts_as_none(
    session: Session, said: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)

    assert Desk(Sessions(session.data)).answer("context_list", {"_host": said}).is_refusal


def test_a_session_id_that_cannot_be_a_folder_is_refused(session: Session, tmp_path: Path) -> None:
    host = {"session_id": "../up", "transcript_path": str(session.path)}

    answer = Desk(Sessions(session.data)).answer("context_list", {"_host": host})

    assert answer.is_refusal
    assert not (tmp_path / "up").exists()
