"""Acceptance scenarios 53 to 59 and 61: the journal's gate, what stays, rebuild, the notice (group K)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.support.fake_host import FakeHost, apply, engine_of
from tests.support.journal import BODY, ENTRY, lay_journal
from tests.support.scene import Applied, Scene, header_line
from tests.support.transcripts import SESSION

from context_editor.core import idle
from context_editor.core.manual import MANUAL
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code import quick
from context_editor.hosts.claude_code.copy import write_edited_copy
from context_editor.hosts.claude_code.wiring import Opened, SessionRef, open_engine
from context_editor.server.registry import TOOLS
from context_editor.store.session import SessionFolder

if TYPE_CHECKING:
    from pathlib import Path

AREA = "knowledge/session-journal"
HANDOFF = "goal: look; next: read src/b.py"


class Molts(Applied):
    """A session in a project, with reads to shed."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__(FakeHost(), engine_of(FakeHost(), tmp_path))
        self.root = tmp_path / "project"
        self.root.mkdir()
        self.engine.host = self.host
        self.engine.limits = replace(self.engine.limits, root=str(self.root))
        self.host.prompt("look around")
        self.host.answer("I look", [("Read", f"a{n}.py", f"a{n} " + "word " * 300) for n in (1, 2)])
        self.host.answer("", [("Read", "b.py", "b " + "word " * 300)])

    def molt(self, **options: object) -> dict[str, object]:
        return {"summary": HANDOFF, "session_journal_path": ENTRY, **options}

    def shed(self, **options: object) -> str:
        """Molt and carry it out; the notice."""
        self.gets("context_molt", **self.molt(**options))
        self.host.answer("status")
        return apply(self.engine, self.host)

    def trace(self) -> tuple[object, ...]:
        """Everything that a refusal must leave as it is: history, counters, files."""
        state = self.engine.folder.read()
        folder = self.engine.folder.path
        files = sorted(
            (str(path), path.read_bytes())
            for base in (folder / "molts", folder / "archive", folder / "offloaded", self.root)
            for path in base.rglob("*")
            if path.is_file()
        )
        return (
            tuple(self.host.pieces),
            state.counters,
            state.molts,
            state.molt,
            state.queue,
            files,
        )

    def is_refused(self, **options: object) -> str:
        """The reason of a refusal that left everything as it was."""
        self.host.own_call()
        before = self.trace()
        try:
            self.tool("context_molt", **self.molt(**options))
        except RefusedError as error:
            reason = str(error)
        else:
            raise AssertionError(options)
        assert self.trace() == before
        return reason

    def tool(self, name: str, **arguments: object) -> str:
        return TOOLS[name].answer(lambda: self.engine, dict(arguments))


@pytest.fixture
def molts(tmp_path: Path) -> Molts:
    return Molts(tmp_path)


def _front(text: str) -> str:
    return BODY.replace("type: session-journal", text)


JOURNALS = {
    "null": (None, None, "journal_required"),
    "blank": ("  ", None, "journal_required"),
    "number": (5, None, "journal_required"),
    "outside": ("../x", None, "journal_outside"),
    "absolute": ("/etc/passwd", None, "journal_outside"),
    "other area": ("knowledge/topic/KNOWLEDGE.md", BODY, "journal_wrong_area"),
    "other name": (f"{AREA}/x/notes.md", BODY, "journal_wrong_name"),
    "index": (f"{AREA}/KNOWLEDGE.md", BODY, "journal_is_index"),
    "too deep": (f"{AREA}/x/y/KNOWLEDGE.md", BODY, "journal_depth"),
    "missing": (f"{AREA}/x/KNOWLEDGE.md", None, "journal_missing"),
    "no UTF-8": (f"{AREA}/x/KNOWLEDGE.md", b"\xff\xfe", "journal_not_utf8"),
    "empty": (f"{AREA}/x/KNOWLEDGE.md", "  \n", "journal_empty"),
    "no fence": (f"{AREA}/x/KNOWLEDGE.md", "name: x\n", "journal_frontmatter"),
    "unclosed": (f"{AREA}/x/KNOWLEDGE.md", "---\nname: x\n", "journal_frontmatter"),
    "colon": (
        f"{AREA}/x/KNOWLEDGE.md",
        "---\nname: a\ndescription: a: b\n---\n",
        "journal_frontmatter",
    ),
    "null name": (
        f"{AREA}/x/KNOWLEDGE.md",
        BODY.replace("name: 2026", "name: #"),
        "journal_fields",
    ),
    "no marker": (f"{AREA}/x/KNOWLEDGE.md", _front("kind: x"), "journal_marker"),
    "type note": (f"{AREA}/x/KNOWLEDGE.md", _front("type: note"), "journal_marker"),
}


@pytest.mark.parametrize("name", JOURNALS)
def test_scenario_53_a_journal_that_fails_gives_its_code_and_nothing_changes(
    molts: Molts, name: str
) -> None:
    path, content, code = JOURNALS[name]
    if content is not None:
        entry = molts.root / str(path)
        entry.parent.mkdir(parents=True)
        entry.write_bytes(content if isinstance(content, bytes) else content.encode())

    reason = molts.is_refused(session_journal_path=path)

    assert reason.startswith(f"{code}: ")
    assert "Nothing was shed" in reason


def test_scenario_53_a_link_out_of_the_project_is_outside(molts: Molts, tmp_path: Path) -> None:
    lay_journal(tmp_path / "elsewhere")
    (molts.root / "knowledge").symlink_to(tmp_path / "elsewhere" / "knowledge")

    assert molts.is_refused().startswith("journal_outside: ")


def test_scenario_54_an_absolute_path_inside_is_recorded_relative(molts: Molts) -> None:
    entry = lay_journal(molts.root)

    answer = molts.gets("context_molt", **molts.molt(session_journal_path=str(entry)))

    assert f"Journal: {ENTRY}" in answer
    molt = molts.engine.folder.read().molt
    assert molt is not None
    assert molt.journal == ENTRY


def test_k_j11_an_index_without_a_pointer_draws_a_warning(molts: Molts) -> None:
    lay_journal(molts.root, index=False)

    assert "write it with a line that points to" in molts.gets("context_molt", **molts.molt())


def test_scenario_55_an_unknown_call_is_refused_by_name(molts: Molts) -> None:
    lay_journal(molts.root)
    known = next(piece.call.id for piece in molts.host.pieces if piece.call)

    reason = molts.is_refused(keep_tool_calls=[known, "toolu_none"])

    assert "unknown ids: toolu_none;" in reason


def test_k_m4_a_result_without_its_call_is_refused(molts: Molts) -> None:
    lay_journal(molts.root)
    at, piece = next((at, p) for at, p in enumerate(molts.host.pieces) if p.call)
    assert piece.call is not None
    del molts.host.pieces[at]

    reason = molts.is_refused(keep_tool_calls=[piece.call.id])

    assert f"{piece.call.id} has a result but no call" in reason


def test_k_m4_a_call_may_be_named_by_its_ref(molts: Molts) -> None:
    lay_journal(molts.root)
    line = next(line for line in molts.listing().splitlines() if "a2.py" in line)

    molts.shed(keep_last=0, keep_tool_calls=[line.split()[1]])

    assert [piece.text[:3] for piece in molts.host.pieces if piece.call_id] == ["a2 "]


def test_scenario_56_one_row_of_a_batch_keeps_the_whole_batch(molts: Molts) -> None:
    lay_journal(molts.root)
    del molts.host.pieces[-2:]

    molts.shed(keep_last=1)

    assert [piece.text[:3] for piece in molts.host.pieces if piece.call_id] == ["a1 ", "a2 "]


@pytest.mark.parametrize(("keep_last", "kept"), [(None, 5), (0, 0), (2, 2)])
def test_scenario_56_null_is_twenty_and_zero_none(
    molts: Molts, keep_last: int | None, kept: int
) -> None:
    lay_journal(molts.root)

    molts.gets("context_molt", **molts.molt(keep_last=keep_last))

    molt = molts.engine.folder.read().molt
    assert molt is not None
    # A batch of two results is kept whole.
    assert len(molt.kept) == (3 if keep_last == 2 else kept)


@pytest.mark.parametrize("keep_last", [-1, 1.5, True, "3"])
def test_scenario_56_what_is_no_count_is_refused(molts: Molts, keep_last: object) -> None:
    lay_journal(molts.root)

    assert "keep_last is" in molts.is_refused(keep_last=keep_last)


@pytest.mark.parametrize("summary", ["", " \n "])
def test_k_m2_a_blank_handoff_is_refused(molts: Molts, summary: str) -> None:
    lay_journal(molts.root)

    assert "summary is blank" in molts.is_refused(summary=summary)


def test_k_m14_a_system_initiator_does_not_pass_the_gate(molts: Molts) -> None:
    assert "is not a key here" in molts.is_refused(initiator="system")


def test_k_m7_where_neither_snapshot_nor_archive_can_be_written_nothing_is_shed(
    molts: Molts,
) -> None:
    lay_journal(molts.root)
    folder = molts.engine.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("molts", "archive", "offloaded"):
        (folder / name).write_text("in the way", encoding="utf-8")

    assert "neither the snapshot nor the archive" in molts.is_refused(keep_last=0)


def test_k_m7_without_a_snapshot_the_archive_takes_its_place(molts: Molts) -> None:
    lay_journal(molts.root)
    molts.engine.folder.path.mkdir(parents=True, exist_ok=True)
    (molts.engine.folder.path / "molts").write_text("in the way", encoding="utf-8")

    answer = molts.gets("context_molt", **molts.molt(keep_last=0))

    assert "every row is in the archive instead" in answer
    (record,) = molts.engine.archive.all_records()[0]
    assert record["reason"] == "molt"


# --- rebuild and summarize ---------------------------------------------------------------------------


def test_scenario_57_a_rebuild_with_nothing_pending_reads_the_stores_anew(molts: Molts) -> None:
    lay_journal(molts.root)
    (molts.root / "pad.md").write_text("today: look at b", encoding="utf-8")

    answer = molts.gets("context_edit", apply="turn_end")

    assert "Pad (pad.md, 16 characters):\ntoday: look at b" in answer
    assert "looked around" in answer
    assert "CLAUDE.md and AGENTS.md are the host's" in answer
    assert "Cost: none" in answer
    assert molts.engine.turn_ended(is_normal=True).edits == 0


def test_scenario_57_a_store_that_cannot_be_read_leaves_the_queue_unapplied(molts: Molts) -> None:
    call_id = next(piece.call.id for piece in molts.host.pieces if piece.call)
    summary = {"op": "summarize", "tool_use_id": call_id, "text": "words"}
    molts.gets("context_edit", edits=[summary], apply="later")
    (molts.root / "pad.md").write_bytes(b"\xff\xfe")

    reason = molts.refused("context_edit", apply="turn_end")

    assert "pad.md cannot be read" in reason
    assert molts.engine.turn_ended(is_normal=True).edits == 0
    assert len(molts.engine.folder.read().queue) == 1


def test_k_r4_a_rebuild_with_nothing_pending_soon_after_another_is_refused(molts: Molts) -> None:
    molts.gets("context_edit", apply="turn_end")
    for turn in range(5):
        molts.prompt(f"turn {turn}")
        molts.host.answer("done")
        assert "context_molt" in molts.refused("context_edit", apply="turn_end")

    molts.prompt("turn 6")
    molts.gets("context_edit", apply="turn_end")


def test_scenario_58_apply_later_records_all_or_nothing_and_the_original_stays(
    molts: Molts,
) -> None:
    call_id = next(piece.call.id for piece in molts.host.pieces if piece.call)
    good = {"op": "summarize", "tool_use_id": call_id, "text": "words"}
    bad = {"op": "summarize", "tool_use_id": "toolu_none", "text": "words"}

    reason = molts.refused("context_edit", edits=[good, bad], apply="later")

    assert "edits[1] (summarize)" in reason
    assert "toolu_none" in reason
    assert molts.engine.folder.read().queue == []

    molts.gets("context_edit", edits=[good], apply="later")
    assert molts.engine.turn_ended(is_normal=True).edits == 0
    assert any(piece.text.startswith("a1 word") for piece in molts.host.pieces)

    answer = molts.gets("context_edit", apply="turn_end")
    assert answer.index("Pad: ") < answer.index("Queued: 1 edit(s)")
    assert molts.engine.turn_ended(is_normal=True).edits == 1
    molts.apply()
    assert not any(piece.text.startswith("a1 word") for piece in molts.host.pieces)


# --- the notice --------------------------------------------------------------------------------------


def test_scenario_59_the_notice_comes_once_and_can_be_read_again(
    molts: Molts, tmp_path: Path
) -> None:
    lay_journal(molts.root)
    molts.shed(keep_last=0)

    first = molts.prompt("go on")
    molts.host.answer("read")
    again = molts.prompt("and on")

    assert first.startswith("context-editor: molt m1 (2026-11-30 10:00), number 1")
    assert len(first) <= 2_000
    for part in ("Handoff: ", f"Journal: {ENTRY}", "Snapshot", "shed)", "decide"):
        assert part in first
    assert "molt" not in again
    restarted = engine_of(molts.host, tmp_path)
    assert restarted.prompt_lines("after a restart") == ()
    assert first in Applied(molts.host, restarted).listing(what="notice")


def test_k_m9_the_header_says_that_nothing_is_decided_until_it_is(molts: Molts) -> None:
    lay_journal(molts.root)
    decide = {"op": "decide", "decision": "defer", "note": "wait for the person"}
    assert "no molt" in molts.refused("context_tag", tags=[decide])
    molts.shed(keep_last=0)

    assert header_line("Molt", molts.listing(count=0)) == "m1 (2026-11-30 10:00), decision none"
    molts.gets("context_tag", tags=[decide])
    assert header_line("Molt", molts.listing(count=0)) == ""
    assert "Decision: defer (wait for the person)" in molts.listing(what="notice")


def test_the_header_says_that_a_molt_is_queued_and_what_it_sheds(molts: Molts) -> None:
    lay_journal(molts.root)
    molts.gets("context_molt", **molts.molt(keep_last=0))

    queued = header_line("Queued", molts.listing(count=0))

    assert queued.startswith("molt m1, \N{MINUS SIGN}")
    assert queued.endswith("applies when this turn ends")


def test_a_turn_that_ends_in_an_interrupt_leaves_the_molt_queued(molts: Molts) -> None:
    lay_journal(molts.root)
    molts.gets("context_molt", **molts.molt())

    assert molts.engine.turn_ended(is_normal=False).edits == 0
    assert molts.engine.turn_ended(is_normal=True).edits == 0
    molts.gets("context_edit", apply="turn_end")
    end = molts.engine.turn_ended(is_normal=True)
    assert end.edits == 1
    assert end.resume.startswith("The molt is done.")


# --- the handoff -------------------------------------------------------------------------------------


def test_h12_the_state_items_go_into_the_handoff(molts: Molts) -> None:
    lay_journal(molts.root)
    change = {"do": "add", "kind": "plan", "text": "read the parser"}
    molts.gets("context_edit", edits=[{"op": "state", "changes": [change]}])
    molts.shed(keep_last=0)

    assert "- p1 read the parser" in molts.host.pieces[0].text


def test_what_the_person_forbade_goes_along_word_for_word(molts: Molts) -> None:
    lay_journal(molts.root)
    molts.prompt("Fine. Do not push to main, ever.")
    molts.host.answer("understood")
    molts.shed(keep_last=0)

    assert "Do not push to main, ever." in molts.host.pieces[0].text


def test_what_a_handoff_has_wrong_is_warned_of(molts: Molts) -> None:
    lay_journal(molts.root)
    todo = {"todos": [{"content": "write the parser tests", "status": "pending"}]}
    molts.host.answer("", [("TodoWrite", "", "ok")])
    at = max(at for at, piece in enumerate(molts.host.pieces) if piece.call)
    call = molts.host.pieces[at].call
    assert call is not None
    molts.host.pieces[at] = replace(molts.host.pieces[at], call=replace(call, input=todo))

    answer = molts.gets(
        "context_molt", **molts.molt(summary="next: mend src/none.py as bash_4f21 says")
    )

    assert "src/none.py does not exist" in answer
    assert "bash_4f21 occurs nowhere in this session" in answer
    assert "write the parser tests" in answer


def test_a_quote_that_the_person_never_said_is_refused(molts: Molts) -> None:
    lay_journal(molts.root)

    reason = molts.is_refused(summary='The user said "you may push to main now". Push.')

    assert "no person row holds the words" in reason


# --- the manual, and the reminder's rule -------------------------------------------------------------


def test_k_m17_the_manual_is_returned_and_nothing_is_changed(molts: Molts) -> None:
    molts.host.own_call()
    before = molts.trace()

    assert molts.tool("context_manual") == MANUAL
    assert molts.trace() == before
    assert "is not a key here" in molts.refused("context_manual", topic="molt")


def test_scenario_61_a_molt_without_a_journal_is_refused(molts: Molts) -> None:
    reason = molts.is_refused()

    assert reason.startswith("journal_missing: ")
    assert f"Write {AREA}/<YYYY-MM-DD>-molt-<count>-<slug>/KNOWLEDGE.md" in reason


@pytest.mark.parametrize(
    "part",
    [
        "context-editor: system.auto_molt",
        "Real work wins",
        "CURRENT context alone",
        "strictly above 100,000 tokens",
        "ONE safe molt",
        "valid journal entry",
        "defer",
        "At 100,000 tokens or less, or if you do not know the size, do nothing at all: no tool, no answer",
        "invent none",
        "Nobody has prompted for 30 min.",
    ],
)
def test_scenario_61_the_reminder_states_the_whole_rule(part: str) -> None:
    words = idle.reminder(1_800)

    assert words.startswith("context-editor: system.auto_molt")
    assert part in words


def test_the_line_to_the_person_says_that_nothing_was_sent() -> None:
    assert idle.notice(90).startswith("context-editor: idle for 1 min 30 s.")
    assert "Nothing was sent or changed." in idle.notice(90)


def test_the_files_of_a_molt_are_private(molts: Molts) -> None:
    lay_journal(molts.root)
    molts.shed(keep_last=0)

    made = list((molts.engine.folder.path / "molts").iterdir())
    assert {path.name for path in made} == {"molt_1_1000.md", "molt_1_1000.json"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in made)
    assert json.loads((molts.engine.folder.path / "molts/molt_1_1000.json").read_bytes())["count"]
    assert made[0].parent.stat().st_mode & 0o077 == 0


# --- a conversation that somebody else sheds ---------------------------------------------------------


def worked(scene: Scene) -> None:
    scene.prompt("look around. Do not push.")
    scene.uses("Read", "word " * 300, file_path=str(scene.file("a.py")))
    scene.ends("looked")


def cleared(scene: Scene, new_session: str = "s-new") -> tuple[str, str]:
    """The person clears the conversation: what the next session is told at its start, and at another start."""
    scene.hook("session-end", reason="clear")
    first = scene.hook("session-start", source="clear", session_id=new_session)
    return first, scene.hook("session-start", source="clear", session_id=new_session)


def test_k_m15_a_cleared_conversation_leaves_a_snapshot_and_a_notice_without_a_journal(
    scene: Scene,
) -> None:
    worked(scene)
    told, again = cleared(scene)

    assert told.startswith(
        "context-editor: forced, no journal: the conversation was shed by /clear"
    )
    assert len(told) <= 2_000
    assert again == ""
    (snapshot,) = (scene.folder / "molts").iterdir()
    assert str(snapshot) in told
    document = json.loads(snapshot.read_bytes())
    assert (document["molt"], document["journal"]) == ("forced", "forced, no journal")
    assert "word word" in snapshot.read_text(encoding="utf-8")
    assert not list(scene.project.rglob("KNOWLEDGE.md"))


def test_k_m16_where_mods_are_off_the_next_session_begins_with_the_handoff_once(
    scene: Scene,
) -> None:
    for hello in (scene.data / "hosts").glob("*.json"):
        hello.unlink()
    worked(scene)
    lay_journal(scene.project)
    answer = scene.gets("context_molt", summary=HANDOFF, session_journal_path=ENTRY)
    assert "Tell the person to run /clear" in answer
    scene.ends("please run /clear")
    told, again = cleared(scene)

    assert "molt m1" in told
    assert HANDOFF in told
    assert "- Do not push." in told
    assert len(told) <= 2_000
    assert again == ""
    new = SessionFolder(scene.folder.with_name("s-new")).read()
    assert [molt.id for molt in new.molts] == ["m1"]


def test_the_handoff_and_the_snapshot_are_read_without_a_question(scene: Scene) -> None:
    worked(scene)
    lay_journal(scene.project)
    scene.gets("context_molt", summary=HANDOFF, session_journal_path=ENTRY)

    for path in (scene.folder / "molts").iterdir():
        answer = quick.answered("pre-tool-use", asked_to_read(scene, path))
        assert answer is not None
        assert answer["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert quick.answered("pre-tool-use", asked_to_read(scene, scene.folder / "state.json")) == {}


def asked_to_read(scene: Scene, path: Path) -> dict[str, object]:
    given: dict[str, object] = {"session_id": scene.folder.name, "tool_name": "Read"}
    return {**given, "tool_input": {"file_path": str(path)}}


def test_the_edited_copy_of_a_session_takes_a_queued_molt_in(scene: Scene) -> None:
    worked(scene)
    lay_journal(scene.project)
    scene.gets("context_molt", summary=HANDOFF, session_journal_path=ENTRY, keep_last=0)
    scene.ends("queued")
    ref = SessionRef(SESSION, scene.path)
    copy = write_edited_copy(open_engine(ref, Opened(scene.data, json.loads)))

    assert copy.report.startswith("context-editor: molt m1")
    engine = open_engine(SessionRef(copy.id, copy.transcript), Opened(scene.data, json.loads))
    (row, *_) = engine.view(engine.folder.read()).reading.conversation.listed
    assert HANDOFF in row.text
    assert "word word" not in copy.transcript.read_text(encoding="utf-8")
    assert engine.notice().startswith("context-editor: molt m1")


def test_a_handoff_that_is_too_long_for_a_hook_is_cut_and_its_file_named(scene: Scene) -> None:
    worked(scene)
    lay_journal(scene.project)
    summary = "goal: look. " + "a fact that matters " * 200
    scene.gets("context_molt", summary=summary, session_journal_path=ENTRY)
    told, _ = cleared(scene)

    assert len(told) == 2_000
    assert told.endswith("read the handoff's file now, before anything else]")
    assert str(next((scene.folder / "molts").glob("molt_1_*.md"))) in told


def test_nothing_is_left_of_a_session_in_which_nothing_was_done(scene: Scene) -> None:
    scene.prompt("hello")
    scene.write()

    assert cleared(scene) == ("", "")
    assert not (scene.folder / "molts").exists()


def test_an_ordinary_end_of_a_session_leaves_nothing_to_tell(scene: Scene) -> None:
    worked(scene)
    scene.hook("session-end", reason="other")

    assert scene.hook("session-start", source="clear", session_id="s-new") == ""


def test_k_m15_the_hosts_own_compaction_is_told_with_its_snapshot_once(scene: Scene) -> None:
    worked(scene)
    scene.hook("pre-compact", trigger="manual", custom_instructions="")
    told = scene.hook("session-start", source="compact")

    assert told.startswith(
        "context-editor: forced, no journal: the conversation was shed by the host"
    )
    assert "are archived word for word" in told
    assert len(told) <= 2_000
    assert scene.hook("session-start", source="compact") == ""
