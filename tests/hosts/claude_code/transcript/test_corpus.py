"""Real sessions that people published, where they are at hand: each reads without error."""

from pathlib import Path

import orjson
import pytest

from context_editor.core.assemble import OwnFacts, assemble
from context_editor.core.rows import PieceForm
from context_editor.hosts.claude_code.transcript import LiveTranscript

CORPUS = Path(__file__).parents[5] / "shared" / "corpus"
SESSIONS = sorted(CORPUS.glob("*.jsonl"))


@pytest.mark.skipif(not SESSIONS, reason=f"no real sessions at {CORPUS}")
@pytest.mark.parametrize("path", SESSIONS or [Path("none")], ids=lambda path: path.stem)
def test_a_real_session_reads_in_legal_order(path: Path) -> None:
    live = LiveTranscript(path, orjson.loads)
    live.refresh()
    conversation = assemble(live.pieces, OwnFacts(), live.unreadable)

    open_calls: dict[str, str | None] = {}
    for piece in live.pieces:
        if piece.call is not None:
            open_calls[piece.call.id] = piece.response
        elif piece.call_id is not None:
            assert open_calls.pop(piece.call_id, None) is not None
        elif piece.form in {PieceForm.TEXT, PieceForm.THINKING}:
            assert set(open_calls.values()) <= {piece.response} or path.stem.startswith("07")
    assert conversation.rows
    assert live.unreadable == 0
    assert live.turns_started > 0
    assert not [row for row in conversation.rows if row.source == "orphan"]
    assert all(live.entry(piece.handle) for piece in live.pieces)
