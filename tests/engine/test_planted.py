"""The list of emitted rows is read back as it was meant, and as earlier versions wrote it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.support.fake_host import FakeHost, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.state import CarriedPart, Planted
from context_editor.engine.planted import planted_in
from context_editor.errors import TranscriptError
from context_editor.store import codec

if TYPE_CHECKING:
    from pathlib import Path

LONG = "word " * 400


def test_every_emitted_row_stands_in_the_list_with_its_ids_and_refs(tmp_path: Path) -> None:
    host = FakeHost()
    host.prompt("hello")
    host.attach("nested_memory", "remember this")
    host.answer("look", [("Read", "a.py", LONG)])
    host.prompt("thanks")
    host.answer("done")
    engine = engine_of(host, tmp_path)
    engine.edit(EditCall((EditRequest("summarize", Target(index=4), "it holds nothing"),)))

    assert not engine.plan_apply(host.host_rows()).skip
    rows = planted_in(engine.folder.path / "applies/0.json")

    refs = engine.view(engine.folder.read()).names.refs
    prompt, call, result = host.pieces[0], host.pieces[3], rows[3]
    assert rows[0].kept == prompt.handle
    assert rows[0].handles == (prompt.handle, host.pieces[1].handle)
    assert rows[0].refs == (refs[f"u:{prompt.handle}"], refs[f"u:{host.pieces[1].handle}"])
    assert call.call is not None
    assert (rows[2].kept, rows[2].handles) == (call.handle, (call.handle,))
    assert rows[2].refs == (refs[f"t:{call.call.id}"],)
    assert (result.kept, result.replacement, result.anchor) == ("", "c1", f"t:{call.call.id}")


def test_a_list_of_an_earlier_version_is_read_as_well(tmp_path: Path) -> None:
    planted = (
        Planted("u1", "user|||5", handles=("u1", "u2"), refs=("raaaa",)),
        Planted("", "user||t1|9", "c1", "t:t1", carried=(CarriedPart("prompt", "words", "words"),)),
    )
    path = tmp_path / "0.json"
    path.write_text(json.dumps({"planted": codec.encoded(planted), "numbering": []}), "utf-8")

    assert planted_in(path) == planted


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param('{"planted": [', id="torn"),
        pytest.param("{}", id="without-rows"),
        pytest.param('{"planted": [["u1"]]}', id="too-few-parts"),
        pytest.param('{"planted": [["u1", "p", "r"]]}', id="refs-are-no-list"),
        pytest.param('{"planted": [["u1", 5, []]]}', id="print-is-no-text"),
        pytest.param('{"planted": [7]}', id="no-row"),
    ],
)
def test_a_list_that_cannot_be_understood_counts_as_lost(tmp_path: Path, text: str) -> None:
    path = tmp_path / "0.json"
    path.write_text(text, "utf-8")

    with pytest.raises(TranscriptError, match=r"0\.json cannot be read"):
        planted_in(path)
