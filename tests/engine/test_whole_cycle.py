"""Promises that no sequence of edits may break, over random conversations, through the whole engine."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.fake_host import IMAGE, FakeHost, apply, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import Piece, PieceForm
from context_editor.errors import RefusedError

if TYPE_CHECKING:
    from context_editor.engine.session import Engine

pytestmark = pytest.mark.timeout(1_200)

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 (a forced write is free there)

EXAMPLES = 2_000 if os.environ.get("CI") else 150
"""How many conversations are tried: many where nobody waits."""

LONG = "word " * 400
SUMMARY = "goal: look; fact: found src/a.py:12"

turns = st.lists(
    st.tuples(
        st.booleans(),  # an image in the prompt
        st.lists(
            st.tuples(
                st.booleans(),  # thinking
                st.booleans(),  # text
                st.integers(0, 3),  # parallel calls
                st.sampled_from(["", "nested_memory", "queued_command", "hook_additional_context"]),
                st.booleans(),  # a call of ours behind it
            ),
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=4,
)
picks = st.lists(
    st.tuples(
        st.sampled_from(["collapse", "summarize", "rewrite", "describe", "restore"]),
        st.integers(0, 60),
        st.integers(0, 8),
    ),
    max_size=8,
)


def build(shape: list[tuple[bool, list[tuple[bool, bool, int, str, bool]]]]) -> FakeHost:
    host = FakeHost()
    for number, (has_image, answers) in enumerate(shape):
        host.prompt(f"prompt {number}", media=(IMAGE,) if has_image else ())
        host.attach("skill_listing", f"skills of {number}")
        for at, (thinking, text, calls, rider, own) in enumerate(answers):
            results = [
                ("Read", f"f{number}-{at}-{n}.py", f"{number}.{at}.{n} {LONG}")
                for n in range(calls)
            ]
            host.answer(
                f"text {number}.{at} {LONG}" if text or not calls else "",
                results,
                thinking=thinking,
            )
            if rider:
                typed = f"do not push {number}.{at}" if rider == "queued_command" else None
                host.attach(rider, f"{rider} {number}.{at}: {typed or 'words'}", typed)
            if own:
                host.own_call()
        host.answer(f"done {number}")
    return host


def queue(engine: Engine, wanted: list[tuple[str, int, int]]) -> int:
    """Queue what is admitted of the wanted edits; how many were."""
    admitted = 0
    for op, at, span in wanted:
        state = engine.folder.read()
        rows = len(engine.view(state).reading.conversation.listed)
        index = 1 + at % max(rows, 1)
        target = Target(index=index, to=min(index + span, rows) if op == "collapse" else None)
        known = sorted(state.replacements)
        request = EditRequest(op, target, SUMMARY, known[at % len(known)] if known else "c1")
        try:
            engine.edit(EditCall((request,), epoch=state.epoch))
        except RefusedError:
            continue
        admitted += 1
    return admitted


def person_words(engine: Engine) -> list[str]:
    conversation = engine.view(engine.folder.read()).reading.conversation
    return [p.typed for p in conversation.pieces if p.typed]


def assert_legal(pieces: list[Piece]) -> None:
    open_calls: list[str] = []
    for piece in pieces:
        if piece.call:
            assert piece.call.id not in open_calls
            open_calls.append(piece.call.id)
        elif piece.form is PieceForm.RESULT:
            assert piece.call_id in open_calls
            open_calls.remove(piece.call_id)
        elif piece.form is PieceForm.PROMPT:
            assert not open_calls
    assert not open_calls
    ids = [p.call.id for p in pieces if p.call]
    assert len(ids) == len(set(ids))


def riding_words(pieces: list[Piece]) -> set[str]:
    return {p.text for p in pieces if p.rides}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(turns, st.lists(picks, min_size=1, max_size=3))
def test_scenario_22_any_edits_leave_legal_pairs_and_every_person_word(
    shape: list[tuple[bool, list[tuple[bool, bool, int, str, bool]]]],
    rounds: list[list[tuple[str, int, int]]],
) -> None:
    host = build(shape)
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        engine = engine_of(host, Path(folder))
        for wanted in rounds:
            before_words = person_words(engine)
            before_riders = riding_words(host.pieces)
            before = list(host.pieces)
            if not queue(engine, wanted):
                continue
            report = apply(engine, host)

            assert report.startswith("context-editor: applied"), report
            assert_legal(host.pieces)
            assert person_words(engine) == before_words
            everything = "\n".join(p.text for p in host.pieces)
            lost = {words for words in before_riders if words not in everything}
            assert not lost
            assert_thinking(before, host.pieces)
            assert_recoverable(engine)
            assert engine.folder.read().intent is None
            line = engine.folder.applies.read_text(encoding="utf-8").splitlines()[-1]
            assert '"mismatch": ""' in line


def assert_thinking(before: list[Piece], after: list[Piece]) -> None:
    """No thinking stands behind the first difference (rule C22)."""

    def what(piece: Piece) -> tuple[object, ...]:
        return (piece.form, piece.text, piece.call, piece.call_id, piece.label, len(piece.media))

    same = 0
    while same < min(len(before), len(after)) and what(before[same]) == what(after[same]):
        same += 1
    assert all(p.form is not PieceForm.THINKING for p in after[same:])


def assert_recoverable(engine: Engine) -> None:
    for replacement in engine.folder.read().replacements.values():
        assert Path(replacement.original).is_file()
        assert engine.archive.pieces_of(replacement.record)
