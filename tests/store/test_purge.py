"""Old archives go only where nothing can need them (rule L13)."""

import os
from pathlib import Path

import pytest

from context_editor.store.purge import DAY_S, purge

NOW_S = 100 * DAY_S


def session(data: Path, name: str, days: float, state: str = "{}") -> Path:
    """A session that changed last so many days ago."""
    folder = data / "sessions" / name
    for path, text in (("archive/originals/a.txt", "original"), ("offloaded/x.jsonl", "{}")):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "state.json").write_text(state, encoding="utf-8")
    changed_s = NOW_S - days * DAY_S
    os.utime(folder / "state.json", (changed_s, changed_s))
    return folder


def test_an_old_archive_without_a_transcript_goes_and_the_state_stays(tmp_path: Path) -> None:
    folder = session(tmp_path, "old", 40)

    assert purge(tmp_path, 30, NOW_S, lambda _: False) == ["old"]

    assert not (folder / "archive").exists()
    assert not list((folder / "offloaded").iterdir())
    assert (folder / "state.json").exists()
    assert purge(tmp_path, 30, NOW_S, lambda _: False) == []


@pytest.mark.parametrize(
    ("days", "age", "has_transcript"), [(0, 40, False), (30, 20, False), (30, 40, True)]
)
def test_nothing_goes_by_default_or_early_or_with_a_transcript(
    tmp_path: Path, days: int, age: float, *, has_transcript: bool
) -> None:
    folder = session(tmp_path, "kept", age)

    assert purge(tmp_path, days, NOW_S, lambda _: has_transcript) == []

    assert (folder / "archive" / "originals" / "a.txt").exists()


def test_what_a_fork_names_stays(tmp_path: Path) -> None:
    session(tmp_path, "origin", 40)
    session(tmp_path, "other", 40)
    session(
        tmp_path, "fork", 1, '{"forked_from": "origin", "original": "/x/sessions/origin/a.txt"}'
    )

    assert purge(tmp_path, 30, NOW_S, lambda _: False) == ["other"]
