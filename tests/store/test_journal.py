import os
from pathlib import Path

import pytest

from context_editor.core.journal import AREA, JournalEntry, JournalRefusal, judged
from context_editor.core.manual import JOURNAL_TEMPLATE
from context_editor.store.journal import facts_of, loaded

ENTRY = f"{AREA}/2026-11-30-molt-1-x/KNOWLEDGE.md"
GOOD = "---\nname: x\ndescription: y\ntype: session-journal\n---\nBody\n"


def write(root: Path, relative: str, text: str | bytes = GOOD) -> Path:
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def code_of(root: Path, value: object) -> str:
    verdict = judged(facts_of(root, value), loaded)
    return verdict.code if isinstance(verdict, JournalRefusal) else "passed"


def test_kj2_an_absolute_path_inside_is_recorded_relative(tmp_path: Path) -> None:
    path = write(tmp_path, ENTRY)
    write(tmp_path, f"{AREA}/KNOWLEDGE.md", "- 2026-11-30-molt-1-x/KNOWLEDGE.md\n")

    assert judged(facts_of(tmp_path, str(path)), loaded) == JournalEntry(ENTRY)
    assert judged(
        facts_of(tmp_path, f"./{AREA}/../session-journal/{ENTRY[len(AREA) + 1 :]}"), loaded
    ) == JournalEntry(ENTRY)


@pytest.mark.parametrize("value", ["../x", "/etc/passwd", "a\0b", f"../../{ENTRY}"])
def test_kj2_a_path_that_leads_out_is_refused(tmp_path: Path, value: str) -> None:
    assert code_of(tmp_path, value) == "journal_outside"


def test_kj2_a_link_that_leads_out_is_refused_and_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/KNOWLEDGE.md")
    root = tmp_path / "root"
    link = root / ENTRY
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)

    assert code_of(root, ENTRY) == "journal_outside"
    assert facts_of(root, ENTRY).content == b""


def test_kj2_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    link = tmp_path / ENTRY
    link.parent.mkdir(parents=True)
    link.symlink_to(link)

    assert code_of(tmp_path, ENTRY) in ("journal_outside", "journal_missing")


def test_kj2_a_root_that_is_a_link_and_an_area_that_is_one_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "real/docs/session-journal/x/KNOWLEDGE.md")
    (tmp_path / "real/knowledge").symlink_to("docs")
    (tmp_path / "root").symlink_to("real")

    assert code_of(tmp_path / "root", f"{AREA}/x/KNOWLEDGE.md") == "passed"


def test_kj6_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / AREA / "folder/KNOWLEDGE.md").mkdir(parents=True)
    (tmp_path / AREA / "pipe").mkdir()
    os.mkfifo(tmp_path / AREA / "pipe/KNOWLEDGE.md")

    for name in ("nothing", "folder", "pipe"):
        assert code_of(tmp_path, f"{AREA}/{name}/KNOWLEDGE.md") == "journal_missing"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(b"\xff\xfe", "journal_not_utf8", id="kj7-bytes"),
        pytest.param("---\ndescription: a: b\n---\n", "journal_frontmatter", id="kj8-colon"),
        pytest.param("---\n- a\n---\n", "journal_frontmatter", id="kj8-list"),
        pytest.param("---\n---\n", "journal_frontmatter", id="kj8-no-fields"),
        pytest.param("---\nname: 2026-13-45\n---\n", "journal_frontmatter", id="kj8-bad-date"),
        pytest.param("---\nname: !!bool x\n---\n", "journal_frontmatter", id="kj8-bad-tag"),
        pytest.param(
            "---\nname: !!python/object:os.system x\n---\n",
            "journal_frontmatter",
            id="kj8-unsafe-tag",
        ),
        pytest.param("---\n" + "[" * 5_000 + "\n---\n", "journal_frontmatter", id="kj8-too-deep"),
        pytest.param("---\nname: null\ndescription: y\n---\n", "journal_fields", id="kj9-null"),
        pytest.param(
            "---\nname: 2026-11-30\ndescription: y\n---\n", "journal_fields", id="kj9-date"
        ),
        pytest.param("---\nname: x\ndescription: ''\n---\n", "journal_fields", id="kj9-blank"),
        pytest.param(
            "---\nname: x\ndescription: y\ntype: note\n---\n", "journal_marker", id="kj10"
        ),
        pytest.param(
            "---\nname: x\ndescription: 'a: b'\nsession_journal: yes\n---\n", "passed", id="quoted"
        ),
        pytest.param(
            "---\nname: x\ndescription: >-\n  a: b\n  c\ntype: session-journal\n---\n",
            "passed",
            id="folded",
        ),
        pytest.param("\ufeff" + GOOD, "passed", id="bom"),
        pytest.param(JOURNAL_TEMPLATE, "passed", id="template"),
    ],
)
def test_scenario_53_each_fault_of_a_file_has_its_code(
    tmp_path: Path, text: str | bytes, code: str
) -> None:
    write(tmp_path, ENTRY, text)

    assert code_of(tmp_path, ENTRY) == code


def test_kj_a_yaml_error_is_told_in_one_line() -> None:
    with pytest.raises(ValueError, match="mapping values are not allowed") as caught:
        loaded("description: a: b")

    assert "\n" not in str(caught.value)
