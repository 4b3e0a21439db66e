"""What stands on disk: looked at anew each time, whatever was found before."""

import os
from pathlib import Path

import pytest
from tests.support.policy_rows import Talk

from context_editor.core.candidates.calls import PathName
from context_editor.core.candidates.facts import FileFact
from context_editor.store.disk import COMPARED_BYTES, DiskMemory, gathered

NAMES = (
    "a.py",
    "link.py",
    "sub/b.py",
    "./sub/../a.py",
    "gone/c.py",
    "gone/d.py",
    "sub",
    "odd\0.py",
)


def looked(root: Path, memory: DiskMemory | None = None) -> dict[str, FileFact]:
    files = gathered(Talk().conversation(), root, memory).files
    return {name: files[PathName(str(root), name)] for name in NAMES}


def _made(root: Path) -> None:
    (root / "a.py").write_text("a", encoding="utf-8")


def _linked(root: Path) -> None:
    (root / "link.py").symlink_to("a.py")


def _linked_elsewhere(root: Path) -> None:
    (root / "other.py").write_text("other", encoding="utf-8")
    (root / "link.py").unlink()
    (root / "link.py").symlink_to("other.py")


def _foldered(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "b.py").write_text("b", encoding="utf-8")


def _touched(root: Path) -> None:
    os.utime(root / "a.py", (1_000, 1_000))


def _replaced(root: Path) -> None:
    (root / "new").write_text("newer", encoding="utf-8")
    (root / "new").replace(root / "a.py")


def _moved(root: Path) -> None:
    (root / "sub").rename(root / "gone")


def _removed(root: Path) -> None:
    (root / "a.py").unlink()


CHANGES = (
    _made,
    _linked,
    _foldered,
    _touched,
    _linked_elsewhere,
    _replaced,
    _moved,
    _removed,
)


def test_what_is_remembered_never_hides_a_change(tmp_path: Path) -> None:
    memory = DiskMemory()
    for change in CHANGES:
        change(tmp_path)

        assert looked(tmp_path, memory) == looked(tmp_path)
        assert looked(tmp_path, memory) == looked(tmp_path)


def test_another_project_is_another_place(tmp_path: Path) -> None:
    _foldered(tmp_path)
    memory = DiskMemory()
    name = PathName(str(tmp_path), "sub/b.py")
    talk = Talk().conversation()

    inside = gathered(talk, tmp_path, memory).files[name]
    outside = gathered(talk, tmp_path / "elsewhere", memory).files[name]

    assert (inside.is_lasting, outside.is_lasting) == (True, False)


def test_every_path_that_is_named_can_be_gone_through(tmp_path: Path) -> None:
    talk = Talk(cwd=str(tmp_path))
    talk.read("a.py", ["x"])
    talk.read("b.py", ["x"])
    talk.read("a.py", ["x"])
    files = gathered(talk.conversation(), tmp_path).files

    assert [name.path for name in files] == ["a.py", "b.py"]
    assert len(files) == 2


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a" * (COMPARED_BYTES + 1), None], ids=["binary", "large", "gone"]
)
def test_what_is_no_text_of_fair_size_has_no_content(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.py"
    if content is not None:
        path.write_bytes(content)
    contents = gathered(Talk().conversation(), tmp_path).contents

    assert contents.get(str(path)) is None
    assert len(contents) == 0


def test_a_text_is_read_once_a_look(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one", encoding="utf-8")
    contents = gathered(Talk().conversation(), tmp_path).contents

    assert contents[str(path)] == "one"
    path.write_text("two", encoding="utf-8")
    assert dict(contents) == {str(path): "one"}
