"""The way back where rows cannot be made safe to resume in place: the next apply builds them all anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.fake_host import FakeHost, apply, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import PieceForm
from context_editor.engine.ports import Settled

if TYPE_CHECKING:
    from pathlib import Path

LONG = "word " * 400


@dataclass
class UnpatchableHost(FakeHost):
    """A host whose file cannot be patched in place."""

    def settle(self, offset: int) -> Settled:
        found = super().settle(offset)
        return Settled(found.is_found, is_resumable=False, how="not patched: a test")


def summarized(call_id: str) -> EditCall:
    return EditCall(
        (EditRequest("summarize", Target(tool_use_id=call_id), "goal: read; fact: nothing"),)
    )


def test_an_apply_that_cannot_be_patched_makes_the_next_one_build_every_answer_anew(
    tmp_path: Path,
) -> None:
    host = UnpatchableHost()
    host.prompt("go")
    first, second = host.answer("", [("Read", "a.py", LONG), ("Read", "b.py", LONG)], thinking=True)
    host.answer("done", thinking=True)
    engine = engine_of(host, tmp_path)
    engine.edit(summarized(second))
    apply(engine, host)
    assert any(piece.form is PieceForm.THINKING for piece in host.pieces)

    engine.edit(summarized(first))
    before = {piece.response for piece in host.pieces if piece.response}
    apply(engine, host)

    assert not any(piece.form is PieceForm.THINKING for piece in host.pieces)
    assert before.isdisjoint(piece.response for piece in host.pieces)
    assert "not patched" in engine.folder.applies.read_text(encoding="utf-8")
