"""A molt through the whole engine: what stays, what is on disk, and that no crash loses anything."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.engine.test_whole_cycle import MEMORY, assert_legal, build, turns
from tests.support.fake_host import FakeHost, apply, engine_of
from tests.support.journal import ENTRY, lay_journal

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.molt import MoltRequest
from context_editor.core.names import Target
from context_editor.core.rows import PieceForm, RowKind
from context_editor.engine import molting
from context_editor.engine.listing import ListRequest
from context_editor.errors import RefusedError
from context_editor.store import session as store_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from context_editor.engine.session import Engine

pytestmark = pytest.mark.timeout(600)

HANDOFF = "goal: look; next: read src/b.py"
KILLED = 9


def session(folder: Path, host: FakeHost) -> Engine:
    """An engine with a project that has a journal entry."""
    if not (folder / "project").exists():
        lay_journal(folder / "project")
    engine = engine_of(host, folder)
    engine.limits = replace(engine.limits, root=str(folder / "project"))
    return engine


def worked(turn_count: int = 3) -> FakeHost:
    """A session that read a few files."""
    host = FakeHost()
    for turn in range(turn_count):
        host.prompt(f"prompt {turn}")
        if not turn:
            host.attach("environment", "you run on linux")
            host.attach("nested_memory", "Contents of /p/sub/CLAUDE.md:\n\nbe brief")
        host.attach("skill_listing", f"skills of {turn}")
        host.attach("invoked_skills", f"skill in use {turn}")
        reads = [("Read", f"f{turn}-{n}.py", f"{turn}.{n} " + "word " * 400) for n in range(2)]
        host.answer(f"I read {turn}", reads, thinking=True)
        host.answer(f"done {turn}")
    return host


def asked(engine: Engine, host: FakeHost, keep_last: int | None = 0, *calls: str) -> str:
    """A molt that is accepted, as a call of the model in its turn."""
    answer = engine.molt(MoltRequest(HANDOFF, ENTRY, keep_last, calls))
    host.own_call()
    host.answer("status: a molt is queued")
    return answer


def texts(host: FakeHost) -> list[str]:
    return [piece.text for piece in host.pieces if piece.text]


def test_k_m16_what_stands_after_a_molt_is_the_handoff_with_what_the_host_does_not_say_again(
    tmp_path: Path,
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    asked(engine, host)
    apply(engine, host)

    (only,) = host.pieces
    assert HANDOFF in only.text
    assert only.text.endswith("Contents of /p/sub/CLAUDE.md:\n\nbe brief\n\nskill in use 2")
    assert "skill in use 1" not in only.text
    for said_again in ("you run on linux", "skills of 2", "word word"):
        assert said_again not in only.text
    rows = engine.view(engine.folder.read()).reading.conversation.listed
    assert [row.kind for row in rows] == [RowKind.SERVICE, RowKind.HOST, RowKind.HOST]


def test_c12_the_handoff_is_pinned_and_no_edit_takes_it(tmp_path: Path) -> None:
    host = worked()
    engine = session(tmp_path, host)
    asked(engine, host, 4)
    apply(engine, host)
    listing = engine.list(ListRequest())

    assert listing.count("[pin]") == 1
    with pytest.raises(RefusedError, match="pin"):
        engine.edit(EditCall((EditRequest("collapse", Target(index=1, to=3), "goal: x"),), epoch=1))


def test_k_m5_the_newest_rows_stay_by_handle_and_in_order_with_their_whole_batches(
    tmp_path: Path,
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    asked(engine, host, 3)
    apply(engine, host)

    kept = texts(host)[1:]
    assert kept[-1] == "done 2"
    assert [text[:3] for text in kept if "word" in text] == ["2.0", "2.1"]
    assert all(piece.form is not PieceForm.THINKING for piece in host.pieces)


def test_k_m6_a_kept_call_stands_in_its_old_order_in_front_of_the_newest_rows(
    tmp_path: Path,
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    call_id = next(piece.call.id for piece in host.pieces if piece.call)
    asked(engine, host, 1, call_id)
    apply(engine, host)

    assert [p.call.id for p in host.pieces if p.call] == [call_id]
    assert texts(host)[1].startswith("0.0 word")
    assert texts(host)[2:] == ["done 2"]


def test_work_behind_the_call_stays_whole_and_a_status_line_alone_goes(tmp_path: Path) -> None:
    host = worked()
    engine = session(tmp_path, host)
    engine.molt(MoltRequest(HANDOFF, ENTRY, 0))
    host.own_call()
    host.answer("one more look", [("Read", "late.py", "late words")])
    host.answer("status: a molt is queued")
    apply(engine, host)

    assert texts(host)[1:] == ["one more look", "late words", "status: a molt is queued"]


def test_k_m7_the_snapshot_holds_the_whole_conversation_and_every_call_is_closed(
    tmp_path: Path,
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    before = [piece.text for piece in host.pieces]
    host.answer("", [("Read", "open.py", "never came")])
    host.pieces.pop()
    asked(engine, host)
    molt = engine.folder.read().molt
    assert molt is not None
    apply(engine, host)

    document = json.loads(Path(molt.snapshot_path).read_bytes())
    held = document["pieces"]
    assert [piece.get("text", "") for piece in held][: len(before)] == before
    calls = {piece["call"]["id"] for piece in held if "call" in piece}
    results = {piece["call_id"] for piece in held if "call_id" in piece}
    assert calls == results
    handoff = Path(molt.summary_path).read_text(encoding="utf-8")
    assert Path(molt.summary_path).name == "molt_1_1000.md"
    for part in ("count: 1", f"journal: {ENTRY}", "tokens_before: ", "tokens_shed: ", HANDOFF):
        assert part in handoff
    (record,) = engine.archive.all_records()[0]
    assert record["reason"] == "molt"
    assert "0.0 word" in json.dumps(record)
    assert "status: a molt is queued" in json.dumps(record)


def test_a_second_molt_goes_on_from_the_first_and_its_handoff_takes_the_place_of_the_old_one(
    tmp_path: Path,
) -> None:
    host = worked()
    host.prompt("Do not push to main.")
    host.answer("I will not push")
    engine = session(tmp_path, host)
    asked(engine, host)
    apply(engine, host)
    assert "Do not push to main." in host.pieces[0].text
    host.prompt("go on")
    host.attach("invoked_skills", "skill in use later")
    host.answer("read more", [("Read", "b.py", "words of b")])
    answer = engine.molt(MoltRequest("second handoff", ENTRY, 1))
    assert "was the journal of an earlier molt" in answer
    host.own_call()
    host.answer("status")
    apply(engine, host)

    front = host.pieces[0].text
    assert "second handoff" in front
    assert HANDOFF not in front
    assert front.count("Do not push to main.") == 1
    assert front.count("/p/sub/CLAUDE.md") == 1
    assert front.endswith("be brief\n\nskill in use later")
    assert texts(host)[1:] == ["words of b"]
    state = engine.folder.read()
    assert [molt.id for molt in state.molts] == ["m1", "m2"]
    assert (state.epoch, state.molt) == (2, None)


def test_edits_go_on_after_a_molt_and_what_it_shed_does_not_come_back(tmp_path: Path) -> None:
    host = worked()
    engine = session(tmp_path, host)
    call_id = next(piece.call.id for piece in host.pieces if piece.call)
    summary = EditRequest("summarize", Target(tool_use_id=call_id), "numbers and words")
    engine.edit(EditCall((summary,)))
    host.own_call()
    apply(engine, host)
    asked(engine, host, 2)
    apply(engine, host)

    with pytest.raises(RefusedError, match=r"c1 went with molt m1.*not undone.*molt_1_1000\.json"):
        engine.edit(EditCall((EditRequest("restore", id="c1"),)))
    with pytest.raises(RefusedError, match=r"not undone.*molt_1_1000\.json"):
        engine.bring_back()
    newest = [piece.call.id for piece in host.pieces if piece.call][-1]
    summary = EditRequest("summarize", Target(tool_use_id=newest), "numbers and words")
    engine.edit(EditCall((summary,)))
    host.own_call()
    assert apply(engine, host).startswith("context-editor: applied 1 edit(s)")


def test_edits_beside_a_queued_molt_are_refused_until_it_is_withdrawn(tmp_path: Path) -> None:
    host = worked()
    engine = session(tmp_path, host)
    call_id = next(piece.call.id for piece in host.pieces if piece.call)
    asked(engine, host)
    summary = EditRequest("summarize", Target(tool_use_id=call_id), "numbers and words")
    with pytest.raises(RefusedError, match='"op":"cancel","id":"m1"'):
        engine.edit(EditCall((summary,)))
    answer = engine.edit(EditCall((EditRequest("cancel", id="m1"), summary)))

    assert answer.startswith("m1 molt cancelled")
    state = engine.folder.read()
    assert state.molt is None
    assert [edit.id for edit in state.queue] == ["q1"]


def test_the_queue_of_before_goes_with_the_molt_and_is_told(tmp_path: Path) -> None:
    host = worked()
    engine = session(tmp_path, host)
    call_id = [piece.call.id for piece in host.pieces if piece.call][-1]
    summary = EditRequest("summarize", Target(tool_use_id=call_id), "numbers and words")
    engine.edit(EditCall((summary,)))
    answer = asked(engine, host, 3)
    report = apply(engine, host)

    assert "1 queued edit(s) go with the molt" in answer
    assert "1 queued edit(s) went with it" in report
    assert engine.folder.read().queue == []
    assert any(text.startswith("2.1 word") for text in texts(host))


# --- killed at every step ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A call at which a process is gone: before it, or once it was made."""

    owner: object
    name: str
    is_behind: bool = False


def dies(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch, at: Point | None) -> None:
    """Run something in a process of its own that is gone at one point, or at its end, without any clean-up."""
    child = os.fork()
    if not child:
        try:
            if at:
                real: Callable[..., object] = getattr(at.owner, at.name)
                is_behind = at.is_behind

                def gone(*args: object, **kwargs: object) -> object:
                    if is_behind:
                        real(*args, **kwargs)
                    os._exit(KILLED)

                monkeypatch.setattr(at.owner, at.name, gone)
            run()
        finally:
            os._exit(0 if at else KILLED)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == KILLED


STEPS = {
    "before archive": Point(molting.Molting, "_keep_shed"),
    "after archive": Point(molting.Molting, "_keep_shed", is_behind=True),
    "before intent": Point(molting.Molting, "_intent", is_behind=True),
    "before state": Point(store_session, "replace_file"),
    "after intent, while the host compacts": None,
}


@pytest.mark.parametrize("step", STEPS)
def test_killed_before_the_host_took_it_the_old_conversation_stands_and_the_molt_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    asked(engine, host)
    before = list(host.pieces)
    dies(lambda: engine.plan_apply(host.host_rows()), monkeypatch, STEPS[step])

    later = session(tmp_path, host)
    later.confirm(is_final=True)
    state = later.folder.read()
    assert host.pieces == before
    assert state.molts == []
    assert state.molt is not None
    apply(later, host)
    assert [molt.id for molt in later.folder.read().molts] == ["m1"]
    assert HANDOFF in host.pieces[0].text


@pytest.mark.parametrize("is_asked", [False, True], ids=["at the boundary", "while it confirms"])
def test_killed_once_the_host_took_it_the_new_conversation_stands_and_is_told_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_asked: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    host = worked()
    engine = session(tmp_path, host)
    asked(engine, host)
    host.carry_out(engine.plan_apply(host.host_rows()))
    if is_asked:
        dies(engine.confirm, monkeypatch, Point(store_session, "replace_file"))

    later = session(tmp_path, host)
    lines = "\n".join(later.prompt_lines("go on"))
    assert "molt m1" in lines
    state = later.folder.read()
    assert [molt.id for molt in state.molts] == ["m1"]
    assert (state.molt, state.intent, state.epoch) == (None, None, 1)
    assert later.prompt_lines("again") == ()


# --- any conversation --------------------------------------------------------------------------------


@settings(
    max_examples=150,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(turns, st.lists(st.tuples(st.integers(0, 25), st.integers(0, 60)), min_size=1, max_size=3))
def test_any_molts_leave_a_legal_conversation_of_the_handoff_and_the_rows_that_stay(
    shape: list[tuple[bool, list[tuple[bool, bool, int, str, bool]]]],
    molts: list[tuple[int, int]],
) -> None:
    host = build(shape)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        engine = session(Path(folder), host)
        for number, (keep_last, pick) in enumerate(molts, start=1):
            assert_molted(engine, host, number, keep_last, pick)
            host.prompt(f"after molt {number}")
            host.answer("more", [("Read", f"m{number}.py", f"words of molt {number}")])


def assert_molted(engine: Engine, host: FakeHost, number: int, keep_last: int, pick: int) -> None:
    """Molt, and hold what stands then."""
    view = engine.view(engine.folder.read())
    rows = view.reading.conversation.listed
    own = [row.call.id for row in rows if row.call]
    calls = (own[pick % len(own)],) if own else ()
    engine.molt(MoltRequest(f"handoff {number}", ENTRY, keep_last, calls))
    kept = engine.folder.read().molt
    assert kept is not None
    staying = [text for row in view.rows(kept.kept) for p in row.pieces if (text := p.text)]
    memory = [p.text for p in host.pieces if p.label == "nested_memory"]
    host.own_call()
    host.answer("status")

    assert apply(engine, host).startswith(f"context-editor: molt m{number}")
    assert_legal(host.pieces)
    assert f"handoff {number}" in host.pieces[0].text
    assert f"handoff {number - 1}" not in host.pieces[0].text
    after = "\n".join(texts(host))
    assert all(text in after for text in staying)
    assert all(text in after for text in memory)
    assert all(p.form is not PieceForm.THINKING for p in host.pieces)
    line = engine.folder.applies.read_text(encoding="utf-8").splitlines()[-1]
    assert '"mismatch": ""' in line
