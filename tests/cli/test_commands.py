"""The commands of a person, as real processes: what they print, change and refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.conftest import LISTING, Machine
from tests.support.transcripts import SESSION

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

SUMMARIZE = {"op": "summarize", "tool_use_id": "toolu_1", "text": "One handler a module, in src."}


def edits(machine: Machine, *requests: dict[str, Any]) -> str:
    """A file with these edits."""
    path = machine.project / "edits.json"
    path.write_text(json.dumps({"edits": list(requests)}), encoding="utf-8")
    return str(path)


# --- usage and status -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [(), ("lsit",), ("list", "--cuont", "3"), ("show",), ("list", "--count", "x"), ("hook",)],
)
def test_a_command_line_that_is_not_understood_ends_with_2_and_says_how_to_call(
    bare: Machine, arguments: tuple[str, ...]
) -> None:
    ran = bare.run(*arguments)

    assert ran.code == 2
    assert ran.out == ""
    assert "usage: context-editor" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list",), "no session was started in"),
        (("list", "no-such-session"), "there is no session 'no-such-session'"),
        (("list", "../../etc"), "there is no session"),
        (("report",), "no session was started in"),
        (("apply",), "no session was started in"),
    ],
)
def test_a_session_that_is_not_there_is_refused_with_1_and_the_way_out(
    bare: Machine, arguments: tuple[str, ...], words: str
) -> None:
    ran = bare.run(*arguments)

    assert (ran.code, ran.out) == (1, "")
    assert words in ran.err
    assert "context-editor sessions --all" in ran.err


def test_the_version_is_named(bare: Machine) -> None:
    assert bare.run("--version").out.startswith("context-editor 0.")


def test_hooks_and_the_bridge_are_reached_by_name_and_without_what_they_do_not_need(
    bare: Machine,
) -> None:
    given = json.dumps({"session_id": "s", "tool_name": "Write", "tool_input": {}}).encode()

    assert bare.run("hook", "pre-tool-use", given=given).code == 0
    assert bare.run("bridge", "no-such-event", given=b"{}").code == 2


# --- looking --------------------------------------------------------------------------------------


def test_sessions_lists_those_of_this_directory_newest_first(machine: Machine) -> None:
    ran = machine.run("sessions")

    assert ran.code == 0
    assert SESSION in ran.out
    assert "Where are the handlers?" in ran.out


def test_sessions_as_json_names_each_with_its_transcript(machine: Machine) -> None:
    (facts,) = machine.run("sessions", "--all", "--json").json

    assert facts["session"] == SESSION
    assert facts["transcript"] == str(machine.transcripts / f"{SESSION}.jsonl")
    assert (facts["applies"], facts["queued"]) == (0, 0)


def test_sessions_of_a_directory_without_any_says_so(bare: Machine) -> None:
    ran = bare.run("sessions")

    assert ran.code == 0
    assert "--all" in ran.out
    assert bare.run("sessions", "--json").json == []


@pytest.mark.parametrize("name", ["by id", "by path", "newest"])
def test_list_shows_the_same_rows_whatever_names_the_session(machine: Machine, name: str) -> None:
    path = machine.transcripts / f"{SESSION}.jsonl"
    named = {"by id": [SESSION], "by path": [str(path)], "newest": []}[name]

    ran = machine.run("list", *named)

    assert ran.code == 0
    assert ran.out.startswith("Context: ")
    assert "#1 " in ran.out
    assert "Where are the handlers?" in ran.out


def test_list_takes_a_window_a_text_and_no_rows_at_all(machine: Machine) -> None:
    assert [
        row["index"]
        for row in machine.run("list", "--from", "2", "--to", "3", "--json").json["rows"]
    ] == [2, 3]
    assert len(machine.run("list", "--grep", "In routes.py", "--json").json["rows"]) == 1
    assert machine.run("list", "--count", "0", "--json").json["rows"] == []
    refused = machine.run("list", "--count", "501")
    assert (refused.code, refused.out) == (1, "")


def test_list_as_json_holds_the_header_and_every_fact_of_a_row(machine: Machine) -> None:
    listed = machine.run("list", "--json").json

    assert listed["session"] == SESSION
    assert set(listed["header"]) >= {"Context", "Rows", "Stage", "Queued", "Effect", "Cache"}
    row = next(row for row in listed["rows"] if row["source"].startswith("Grep"))
    assert (row["kind"], row["pending"], row["replacement"], row["queued"]) == (
        "tool",
        False,
        None,
        None,
    )
    assert row["tokens"] > 1000
    assert row["line"].startswith(f"#{row['index']} {row['ref']} ")


def test_show_prints_a_row_whole_by_number_or_ref(machine: Machine) -> None:
    row = next(
        r for r in machine.run("list", "--json").json["rows"] if r["source"].startswith("Grep")
    )

    assert machine.run("show", str(row["index"])).out.endswith(f"\n\n{LISTING}\n")
    shown = machine.run("show", row["ref"], "--json").json
    assert shown["text"] == LISTING
    refused = machine.run("show", "999")
    assert (refused.code, refused.out) == (1, "")


def test_looking_leaves_the_transcript_as_it_is(machine: Machine) -> None:
    before = (machine.transcripts / f"{SESSION}.jsonl").read_bytes()

    for command in (["sessions"], ["list"], ["show", "1"], ["report"]):
        machine.run(*command)

    assert (machine.transcripts / f"{SESSION}.jsonl").read_bytes() == before


# --- editing --------------------------------------------------------------------------------------


def test_edit_queues_the_edits_of_a_file_and_says_how_to_apply_them(machine: Machine) -> None:
    ran = machine.run("edit", edits(machine, SUMMARIZE))

    assert ran.code == 0
    assert ran.out.startswith("q1 summarize")
    assert "`context-editor apply` makes the edited copy" in ran.out
    assert (
        machine.run("list", "--count", "0", "--json")
        .json["header"]["Queued"]
        .startswith("1 edit(s)")
    )


def test_edit_reads_from_standard_input_as_well(machine: Machine) -> None:
    given = json.dumps({"edits": [SUMMARIZE]}).encode()

    assert machine.run("edit", "-", given=given).out.startswith("q1 summarize")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ('{"edits": [{"op": "fold"}]}', "edits[0].op"),
        ('{"edits": [], "extra": 1}', "extra"),
        ("[]", "refused"),
        ('{"edits": [{"op": "summarize", "tool_use_id": "toolu_9", "text": "x"}]}', "toolu_9"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_and_nothing_is_queued(
    machine: Machine, content: str, words: str
) -> None:
    path = machine.project / "edits.json"
    path.write_text(content, encoding="utf-8")

    ran = machine.run("edit", str(path))

    assert (ran.code, ran.out) == (1, "")
    assert words in ran.err
    assert machine.run("list", "--count", "0", "--json").json["header"]["Queued"] == "0"


def test_a_file_that_is_not_there_is_refused(machine: Machine) -> None:
    ran = machine.run("edit", "no-such-file.json")

    assert ran.code == 1
    assert "no-such-file.json" in ran.err


def test_apply_without_anything_queued_is_refused_and_writes_nothing(machine: Machine) -> None:
    machine.run("list")
    before = set(machine.files())

    ran = machine.run("apply")

    assert ran.code == 1
    assert "nothing is queued" in ran.err
    assert set(machine.files()) == before


def test_apply_writes_a_new_session_and_names_the_command_that_opens_it(machine: Machine) -> None:
    original = machine.transcripts / f"{SESSION}.jsonl"
    before = original.read_bytes()
    machine.run("edit", edits(machine, SUMMARIZE))

    ran = machine.run("apply")

    (copy,) = [path for path in machine.transcripts.glob("*.jsonl") if path != original]
    assert ran.code == 0
    assert f"claude --resume {copy.stem}" in ran.out
    assert "applied 1 edit(s)" in ran.out
    assert original.read_bytes() == before
    assert copy.stat().st_mode & 0o077 == 0


def test_an_edited_copy_holds_the_replacement_and_its_original_can_be_restored(
    machine: Machine,
) -> None:
    machine.run("edit", edits(machine, SUMMARIZE))
    copy = machine.run("apply", "--json").json["session"]
    row = next(r for r in machine.run("list", copy, "--json").json["rows"] if r["replacement"])
    shown = machine.run("show", row["ref"], "--session", copy).out
    assert "Later, your context_edit summarize call replaced" in shown

    queued = machine.run("restore", row["replacement"], "--session", copy)
    again = machine.run("apply", copy, "--json").json["session"]

    assert queued.code == 0
    restored = machine.run("show", "--session", again, str(row["index"]), "--json").json
    assert restored["text"] == LISTING


def test_the_state_is_found_where_the_hosts_plugin_keeps_it(machine: Machine) -> None:
    plugin = machine.home / ".claude" / "plugins" / "data" / "context-editor-inline"
    machine.run("edit", edits(machine, SUMMARIZE), CLAUDE_PLUGIN_DATA=str(plugin))

    ran = machine.run("apply")

    assert ran.code == 0
    assert not machine.data.exists()


# --- reporting ------------------------------------------------------------------------------------


@pytest.fixture
def edited(machine: Machine) -> str:
    """The id of an edited copy, two edits applied."""
    second = {"op": "summarize", "tool_use_id": "toolu_3", "text": "A list of routes, in src."}
    machine.run("edit", edits(machine, SUMMARIZE, second))
    copy: str = machine.run("apply", "--json").json["session"]
    return copy


def test_report_names_every_apply_with_its_tokens_and_originals(
    machine: Machine, edited: str
) -> None:
    facts = machine.run("report", edited, "--json").json

    (apply,) = facts["applies"]
    assert apply["tokens_after"] < apply["tokens_before"]
    assert [edit["op"] for edit in apply["edits"]] == ["summarize", "summarize"]
    assert all(edit["standing"] for edit in apply["edits"])
    text = machine.run("report", edited).out
    assert all(edit["original"] in text for edit in apply["edits"])


def test_report_of_a_session_without_an_apply_says_so(machine: Machine) -> None:
    assert "Nothing was applied" in machine.run("report").out


def test_a_broken_line_in_the_log_of_applies_hides_no_other(machine: Machine, edited: str) -> None:
    log = machine.data / "sessions" / edited / "applies.jsonl"
    log.write_bytes(b'{"torn": \n' + log.read_bytes() + b"[]\n")

    assert len(machine.run("report", edited, "--json").json["applies"]) == 1


def test_the_report_page_stands_by_itself_with_every_text_escaped(
    machine: Machine, edited: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"

    ran = machine.run("report", edited, "--html", str(path))

    page = path.read_text(encoding="utf-8")
    assert ran.out == f"report written: {path}\n"
    assert "cat &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('href="file:///') == 2
    assert "prefers-color-scheme: dark" in page
    assert '<html lang="en">' in page
    assert page.count("<caption>") == page.count("<table>") == 2
    assert path.stat().st_mode & 0o077 == 0


def test_the_report_page_of_a_session_without_an_apply_says_so(
    machine: Machine, tmp_path: Path
) -> None:
    machine.run("report", "--html", str(tmp_path / "report.html"))

    assert "Nothing was applied" in (tmp_path / "report.html").read_text(encoding="utf-8")


# --- doctor and demo ------------------------------------------------------------------------------


def test_doctor_finds_no_problem_on_a_sound_machine(bare: Machine) -> None:
    ran = bare.run("doctor")

    assert ran.code == 0, ran.out
    assert ran.out.endswith("no problems\n")
    checks = {finding["check"] for finding in bare.run("doctor", "--json").json["findings"]}
    assert checks >= {"version", "python", "packages", "data folder", "lock", "host", "mods"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("big_row_tokens = ", "cannot be read"),
        ("big_row = 3", "is not a setting"),
        ("big_row_tokens = true", "big_row_tokens is True"),
        ("offload_trigger_token_ratio = 2", "offload_trigger_token_ratio is 2"),
        ('idle_reminder = "loud"', "idle_reminder is 'loud'"),
        ("prefer_compact_over_drop = 1", "prefer_compact_over_drop is 1"),
        ("suggest_at = 0.5", "suggest_at is 0.5"),
        ('digest_model = "fast"', "cannot be set by a project's file"),
        ('data_dir = "/tmp"', "cannot be set by a project's file"),
    ],
)
def test_doctor_names_a_wrong_setting_of_the_projects_file(
    bare: Machine, settings: str, words: str
) -> None:
    (bare.project / ".context-editor.toml").write_text(settings, encoding="utf-8")

    ran = bare.run("doctor")

    assert ran.code == 1
    assert words in ran.out
    assert ran.out.endswith("1 problem(s)\n")


def test_doctor_accepts_a_right_projects_file(bare: Machine) -> None:
    settings = 'big_row_tokens = 900\nsuggest_at = [0.5, 0.9]\nidle_reminder = "off"\n'
    (bare.project / ".context-editor.toml").write_text(settings, encoding="utf-8")

    assert bare.run("doctor").code == 0


def test_doctor_names_a_state_that_cannot_be_read_and_leaves_it(bare: Machine) -> None:
    state = bare.data / "sessions" / "s-1" / "state.json"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"{")

    ran = bare.run("doctor")

    assert ran.code == 1
    assert str(state) in ran.out
    assert state.read_bytes() == b"{"


def test_doctor_says_in_the_host_whether_the_mod_of_that_process_is_there(bare: Machine) -> None:
    ran = bare.run("doctor", CLAUDE_PID="999999")

    assert ran.code == 1
    assert "mods are off in this host process" in ran.out


def test_doctor_names_a_data_folder_that_cannot_be_written(bare: Machine) -> None:
    (bare.project / "taken").write_text("", encoding="utf-8")

    ran = bare.run("doctor", CLAUDE_PLUGIN_DATA=str(bare.project / "taken" / "data"))

    assert ran.code == 1
    assert "cannot be written" in ran.out


def test_doctor_names_the_hosts_version_and_what_an_older_one_cannot(bare: Machine) -> None:
    program = bare.project / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2.1.270 (Claude Code)'\n", encoding="utf-8")
    program.chmod(0o755)

    ran = bare.run("doctor", PATH=f"{program.parent}:/usr/bin:/bin")

    assert ran.code == 0
    assert "Claude Code 2.1.270 applies edits only by `context-editor apply`" in ran.out


def test_demo_runs_the_main_job_end_to_end_and_leaves_nothing_behind(bare: Machine) -> None:
    ran = bare.run("demo")

    assert ran.code == 0, ran.err
    for words in ("context_list", "Candidates", "refusal", "queued", "Apply", "restored", "report"):
        assert words in ran.out
    assert "the row holds the same text again" in ran.out
    assert bare.files() == {}


def test_demo_keeps_its_files_in_a_new_folder_when_asked(bare: Machine) -> None:
    kept = bare.project / "kept"

    ran = bare.run("demo", "--keep", str(kept))

    assert ran.code == 0, ran.err
    assert (kept / "report.html").exists()
    refused = bare.run("demo", "--keep", str(kept))
    assert (refused.code, refused.out) == (1, "")
