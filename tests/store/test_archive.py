"""The archive holds what was put in, byte for byte, or says that it does not (rules J14 and L11)."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from context_editor.core.rows import Media
from context_editor.errors import ArchiveError
from context_editor.store.archive import Archive
from context_editor.store.batch import Batch
from context_editor.store.forcing import MANY_FILES, force, opened_filesystem

if TYPE_CHECKING:
    from pathlib import Path


def record(number: int, words: str = "ü \ud800 words") -> dict[str, object]:
    return {"batch_id": f"offload_{number:04d}", "items": [{"pieces": []}], "said": words}


def test_the_same_content_is_stored_once_for_its_owner_alone(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "s1")

    first, second = archive.put_original("words ü"), archive.put_original("words ü")

    (path,) = (tmp_path / "s1/archive/originals").iterdir()
    assert first == second == str(path) == archive.original_path("words ü")
    assert path.read_text("utf-8") == "words ü"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("is_together", [True, False])
@pytest.mark.parametrize("left", [b"", b"wor", b"words and more", b"WORDS"])
def test_what_a_crash_left_under_an_address_is_replaced(
    tmp_path: Path, left: bytes, *, is_together: bool
) -> None:
    archive = Archive(tmp_path)
    path = tmp_path / archive.original_path("words").removeprefix(f"{tmp_path}/")
    path.parent.mkdir(parents=True)
    path.write_bytes(left)

    if is_together:
        with archive.together() as together:
            assert together.put_original("words") == str(path)
    else:
        assert archive.put_original("words") == str(path)

    assert path.read_bytes() == b"words"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_media_stand_as_the_file_that_they_were(tmp_path: Path) -> None:
    path = Archive(tmp_path).put_media(Media("image", "image/png", "aGVsbG8="))

    assert path is not None
    assert path.endswith(".png")
    with open(path, "rb") as file:  # noqa: PTH123 - the path is a text on purpose
        assert file.read() == b"hello"


@pytest.mark.parametrize("torn", [b"", b'{"batch_id": "offload_0001"}\n', b'{"batch_id": "off'])
def test_records_put_in_together_stand_where_they_stand_one_by_one(
    tmp_path: Path, torn: bytes
) -> None:
    archives = [Archive(tmp_path / "a"), Archive(tmp_path / "b")]
    for archive in archives:
        (archive.session / "offloaded").mkdir(parents=True)
        (archive.session / "offloaded/run.jsonl").write_bytes(torn)

    alone = [archives[0].put_record("run", record(n)) for n in range(5)]
    with archives[1].together() as together:
        addresses = [together.put_record("run", record(n)) for n in range(5)]

    first, second = (archive.session / "offloaded/run.jsonl" for archive in archives)
    assert second.read_bytes() == first.read_bytes()
    assert [a.rpartition("@")[2] for a in addresses] == [a.rpartition("@")[2] for a in alone]
    assert [archives[1].record(a) for a in addresses] == [record(n) for n in range(5)]


def test_many_lines_are_written_before_the_end(tmp_path: Path) -> None:
    batch, path = Batch.begun(tmp_path, 200), tmp_path / "run.jsonl"

    offsets = [batch.append(path, b"x" * n) for n in range(40)]
    written = path.stat().st_size
    batch.finish()
    batch.close()

    content = path.read_bytes()
    assert 500 < written <= len(content)
    assert [content[at:].split(b"\n")[0] for at in offsets] == [b"x" * n for n in range(40)]


def test_a_file_that_somebody_else_wrote_to_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    batch = Batch.begun(tmp_path)
    batch.append(path, b"one")
    path.write_bytes(b"{}\n")

    with pytest.raises(ArchiveError, match=r"run\.jsonl could not be written: it was changed"):
        batch.finish()

    batch.close()
    assert path.read_bytes() == b"{}\n"


def test_once_a_line_is_lost_the_whole_batch_is(tmp_path: Path) -> None:
    batch = Batch.begun(tmp_path, 100)
    path = tmp_path / "run.jsonl"
    batch.append(path, b"one")
    path.write_bytes(b"other")

    for _ in range(2):
        with pytest.raises(ArchiveError, match="changed meanwhile"):
            batch.append(path, b"x" * 200)
    with pytest.raises(ArchiveError, match="changed meanwhile"):
        batch.finish()

    batch.close()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("in the way", "utf-8")
    (tmp_path / "offloaded").write_text("in the way", "utf-8")
    archive = Archive(tmp_path)

    with pytest.raises(ArchiveError, match=r"\.txt could not be written: Not a directory"):
        archive.put_original("words")
    with archive.together() as together, pytest.raises(ArchiveError, match="could not be written"):
        together.put_record("run", record(1))


@pytest.mark.parametrize("count", [1, MANY_FILES])
@pytest.mark.parametrize("is_known", [True, False])
def test_files_are_forced_one_by_one_or_at_once(
    tmp_path: Path, count: int, *, is_known: bool
) -> None:
    paths = [tmp_path / str(n) for n in range(count)]
    batch = Batch.begun(tmp_path)
    for path in paths:
        path.write_text("words", "utf-8")

    force(map(str, paths), batch.filesystem if is_known else None)

    batch.close()


def test_a_file_that_is_gone_cannot_be_forced(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="gone could not be forced to disk: No such file"):
        force([str(tmp_path / "gone")])


@pytest.mark.skipif(sys.platform != "linux", reason="only there a filesystem is forced at once")
def test_the_filesystem_of_a_folder_that_is_not_there_is_not_known(tmp_path: Path) -> None:
    assert opened_filesystem(tmp_path / "gone") is None


def test_every_record_is_one_line_of_json(tmp_path: Path) -> None:
    with Archive(tmp_path).together() as together:
        together.put_record("run", record(1, "two\nlines"))

    (line,) = (tmp_path / "offloaded/run.jsonl").read_bytes().splitlines()
    assert json.loads(line.decode("utf-8", "surrogatepass")) == record(1, "two\nlines")


def test_j14_an_original_that_cannot_be_written_fails_alone_and_says_why(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    (tmp_path / archive.original_path("second")).mkdir(parents=True)

    with archive.together() as together:
        first = together.put_original("first")
        with pytest.raises(ArchiveError, match="could not be written: Is a directory"):
            together.put_original("second")

    assert (tmp_path / first).read_text(encoding="utf-8") == "first"
