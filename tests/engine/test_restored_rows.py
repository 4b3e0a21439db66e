"""Originals that come back, through whatever took them in since."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.fake_host import FakeHost, apply, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target

if TYPE_CHECKING:
    from pathlib import Path

    from context_editor.engine.session import Engine

LONG = "word " * 400
SUMMARY = "goal: look; fact: found src/a.py:12"


def session(folder: Path) -> tuple[FakeHost, Engine]:
    """#1 prompt, #2 text, #3 and #4 reads of one answer, #5 text, #6 prompt, #7 text."""
    host = FakeHost()
    host.prompt("hello")
    host.answer(f"A {LONG}", [("Read", "a.py", f"AA {LONG}"), ("Read", "b.py", f"BB {LONG}")])
    host.answer(f"B {LONG}")
    host.prompt("again")
    host.answer("done")
    return host, engine_of(host, folder)


def applied(
    engine: Engine, host: FakeHost, op: str, index: int = 0, to: int | None = None, of: str = ""
) -> str:
    target = Target(index=index, to=to) if index else Target()
    epoch = engine.folder.read().epoch
    engine.edit(EditCall((EditRequest(op, target, SUMMARY, of),), epoch=epoch))
    return apply(engine, host)


def texts(engine: Engine) -> list[str]:
    return [row.text for row in engine.view(engine.folder.read()).reading.conversation.listed]


@pytest.mark.parametrize(("at", "first", "last"), [(5, 3, 5), (2, 2, 4), (5, 5, 5), (3, 2, 5)])
def test_a_replacement_that_a_collapse_took_in_comes_back_and_then_its_original(
    tmp_path: Path, at: int, first: int, last: int
) -> None:
    host, engine = session(tmp_path)
    before = texts(engine)
    long_enough = f"{SUMMARY} {'and more ' * 60}"
    op = "summarize" if at == 3 else "rewrite"
    engine.edit(EditCall((EditRequest(op, Target(index=at), long_enough),)))
    apply(engine, host)
    applied(engine, host, "collapse", first, last)

    applied(engine, host, "restore", of="c2")
    row = engine.view(engine.folder.read()).reading.conversation.listed[at - 1]
    assert row.replacement == "c1"

    assert "restore of c1" in applied(engine, host, "restore", of="c1")
    assert texts(engine) == before


def test_l13_ids_go_on_where_the_state_that_counted_them_is_lost(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    applied(engine, host, "collapse", 3, 5)
    first, _ = engine.dropped()
    engine.folder.state_path.unlink()
    engine = engine_of(host, tmp_path)

    report = applied(engine, host, "collapse", 2)

    assert "c2 collapse" in report
    ids = [piece.call.id for piece in host.pieces if piece.call]
    assert ids == ["toolu_ctxed_c2", "toolu_ctxed_c1"]
    both, unreadable = engine.dropped()
    assert [batch.id for batch in both] == ["offload_0001", "offload_0002"]
    assert (len(first), unreadable) == (1, 0)


def test_a_record_behind_one_that_a_crash_cut_off_is_read_like_all_others(tmp_path: Path) -> None:
    host, engine = session(tmp_path)
    applied(engine, host, "summarize", 3)
    (path,) = (engine.folder.path / "offloaded").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"ts": "2026-11-30T10:00')

    applied(engine, host, "summarize", 4)

    found, unreadable = engine.dropped()
    assert (len(found), unreadable) == (2, 1)
    assert "restore of c2" in applied(engine, host, "restore", of="c2")
    assert texts(engine)[3] == f"BB {LONG}"
