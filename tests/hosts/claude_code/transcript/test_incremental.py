"""Reading piece by piece gives what reading at once gives, wherever the pieces end."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.transcripts import OUR_PLUGIN, Transcript, call, text, thinking

from context_editor.core.assemble import Assembler, OwnFacts, assemble
from context_editor.core.rows import PieceForm
from context_editor.hosts.claude_code.transcript import LiveTranscript

OWN_TOOL = "mcp__plugin_context-editor_editor__context_edit"


def _turn(session: Transcript, n: int) -> None:
    session.prompt(f"prompt {n}")
    session.answer(thinking("hm"), text(f"answer {n}"))


def _parallel(session: Transcript, n: int) -> None:
    first, second = session.answer(call("Read", f"p{n}a"), call("Read", f"p{n}b"))
    session.result(f"p{n}b", parent=second["uuid"])
    session.attachment("hook_additional_context", f"context {n}")
    session.result(f"p{n}a", parent=first["uuid"])


def _streamed(session: Transcript, n: int) -> None:
    session.block(call("Read", f"s{n}a"), f"stream{n}")
    session.result(f"s{n}a")
    session.block(call(OWN_TOOL, f"s{n}b"), f"stream{n}")
    session.result(f"s{n}b")


def _early_result(session: Transcript, n: int) -> None:
    session.result(f"e{n}")
    session.answer(call("Read", f"e{n}"))


def _unanswered(session: Transcript, n: int) -> None:
    session.answer(call("Bash", f"u{n}"))
    session.local("[Request interrupted by user]", f"interrupt{n}")


def _orphan(session: Transcript, n: int) -> None:
    session.result(f"nobody{n}")


def _doubled(session: Transcript, _n: int) -> None:
    session.answer(call("Read", "same"))
    session.result("same")


def _queued(session: Transcript, n: int) -> None:
    session.queued(f"words {n}")


def _rewound(session: Transcript, n: int) -> None:
    prompts = [row for row in session.rows if isinstance(row, dict) and row["type"] == "user"]
    session.leaf = prompts[n % len(prompts)]["parentUuid"] if prompts else None
    _turn(session, n)


def _lost_parent(session: Transcript, n: int) -> None:
    session.leaf = f"gone {n}"
    session.answer(text(f"lost {n}"))


def _continuation(session: Transcript, n: int) -> None:
    session.plugin_prompt(f"context-editor: go on {n}")
    session.answer(call(OWN_TOOL, f"c{n}"))
    session.result(f"c{n}")


def _apply(session: Transcript, n: int) -> None:
    rows = [row for row in session.rows if isinstance(row, dict)]
    starts = [at for at, row in enumerate(rows) if row.get("subtype") == "compact_boundary"]
    session.boundary()
    for row in rows[starts[-1] + 1 if starts else 0 :]:
        if row["type"] != "system":
            session.kept(row)
    session.compact_records("context-editor: apply 1 edit(s)", f"apply{n}", OUR_PLUGIN)


def _repeated(session: Transcript, n: int) -> None:
    rows = [row for row in session.rows if isinstance(row, dict) and row["type"] == "user"]
    if rows:
        session.rows.append(dict(rows[n % len(rows)]))


def _described(session: Transcript, n: int) -> None:
    session.boundary()
    session.rebuilt(f"described {n}")
    session.rebuilt(f"carried {n}")
    session.answer(text(f"seen {n}"))


def _noise(session: Transcript, n: int) -> None:
    session.raw('{"type":"queue-operation","operation":"enqueue"}').raw(f"{{torn {n}")
    session.system("turn_duration")


HAPPENINGS: list[Callable[[Transcript, int], None]] = [
    _turn,
    _parallel,
    _streamed,
    _early_result,
    _unanswered,
    _orphan,
    _doubled,
    _queued,
    _rewound,
    _lost_parent,
    _continuation,
    _apply,
    _repeated,
    _described,
    _noise,
]


@st.composite
def sessions(draw: st.DrawFn) -> bytes:
    session = Transcript()
    for n, happening in enumerate(draw(st.lists(st.sampled_from(HAPPENINGS), max_size=14))):
        happening(session, n)
    return session.bytes()


@given(sessions(), st.lists(st.integers(0, 30_000), max_size=6), st.sampled_from([1, 3, 64]))
@settings(max_examples=100, deadline=None)
def test_reading_in_parts_equals_reading_at_once(
    content: bytes, cuts: list[int], settled: int
) -> None:
    _check(content, sorted({min(cut, len(content)) for cut in cuts} | {len(content)}), settled)


def _check(content: bytes, cuts: list[int], settled: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(b"")
        parts = LiveTranscript(path, orjson.loads, settled)
        assembler = Assembler()
        for cut in cuts:
            path.write_bytes(content[:cut])
            parts.refresh()
            own = OwnFacts(pending_response=parts.last_response)
            in_parts = assembler.conversation(parts.pieces, own, parts.unreadable)
            assert in_parts == assemble(parts.pieces, own, parts.unreadable)
        whole = LiveTranscript(path, orjson.loads)
        whole.refresh()
        _assert_same(parts, whole)
        parts.reread()
        _assert_same(parts, whole)


def _assert_same(one: LiveTranscript, other: LiveTranscript) -> None:
    assert one.pieces == other.pieces
    assert one.unreadable == other.unreadable
    assert one.turns_started == other.turns_started
    assert one.usage == other.usage
    assert [entry.uuid for entry in one.chain] == [entry.uuid for entry in other.chain]


@given(sessions())
@settings(max_examples=100, deadline=None)
def test_results_follow_their_calls_with_nothing_said_between(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(content)
        live = LiveTranscript(path, orjson.loads)
        live.refresh()
    answered = {piece.call_id for piece in live.pieces if piece.call_id}
    open_calls: dict[str, str | None] = {}

    for piece in live.pieces:
        if piece.call is not None and piece.call.id in answered and piece.call.id != "same":
            open_calls[piece.call.id] = piece.response
        elif piece.form is PieceForm.RESULT:
            open_calls.pop(piece.call_id or "", None)
        elif piece.form is not PieceForm.ATTACHMENT:
            assert set(open_calls.values()) <= {piece.response}
