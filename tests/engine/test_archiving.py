"""What cannot be archived is not applied: the conversation and the queue stay (rules C18 and J14)."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.support.fake_host import FakeHost, engine_of

from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from context_editor.engine.session import Engine

LONG = "word " * 1_000
FILE_MOST_BYTES = 50_000


@contextmanager
def files_of_at_most(size: int) -> Generator[None]:
    """A process that may write no larger file, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def queued(folder: Path, reads: int = 12) -> tuple[FakeHost, Engine]:
    """A session of several reads, each with an edit that waits."""
    host = FakeHost()
    host.prompt("hello")
    for n in range(reads):
        host.answer("", [("Read", f"f{n}.py", f"{n} {LONG}")])
    host.answer("done")
    engine = engine_of(host, folder)
    edits = [EditRequest("summarize", Target(index=2 + n), f"file {n}") for n in range(reads)]
    engine.edit(EditCall(tuple(edits)))
    return host, engine


def test_records_that_find_no_room_leave_everything_as_it_was(tmp_path: Path) -> None:
    host, engine = queued(tmp_path)

    with files_of_at_most(FILE_MOST_BYTES):
        answer = engine.plan_apply(host.host_rows())

    (run,) = (engine.folder.path / "offloaded").iterdir()
    assert answer.skip.startswith(
        f"context-editor: nothing was applied: {run} could not be written"
    )
    assert answer.skip.endswith("; the queue stays")
    assert run.read_bytes() == b""
    state = engine.folder.read()
    assert (len(state.queue), state.intent, state.replacements) == (12, None, {})


def test_the_same_apply_goes_through_once_there_is_room(tmp_path: Path) -> None:
    host, engine = queued(tmp_path)
    with files_of_at_most(FILE_MOST_BYTES):
        assert engine.plan_apply(host.host_rows()).skip

    answer = engine.plan_apply(host.host_rows())
    host.carry_out(answer)
    engine.confirm()

    made = engine.folder.read().replacements
    texts = [engine.archive.pieces_of(one.record)[1].text for one in made.values()]
    assert texts == [f"{n} {LONG}" for n in range(12)]


@pytest.mark.parametrize("left", ["", "half of it"])
def test_an_original_that_a_crash_left_half_is_whole_once_it_is_applied(
    tmp_path: Path, left: str
) -> None:
    host, engine = queued(tmp_path, 1)
    with engine.archive.together() as archive:
        path = archive.put_original(f"0 {LONG}")
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - the archive names it by a text
        file.write(left)

    assert not engine.plan_apply(host.host_rows()).skip

    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        assert file.read() == f"0 {LONG}"
