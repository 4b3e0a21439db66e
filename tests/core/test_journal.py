from collections.abc import Mapping

import pytest

from context_editor.core.journal import (
    AREA,
    FRONTMATTER_CHARS_MOST,
    FileKind,
    JournalCode,
    JournalEntry,
    JournalFacts,
    JournalRefusal,
    area_below,
    is_entry_place,
    judged,
    recovery_hint,
)

PATH = f"{AREA}/2026-11-30-molt-1-x/KNOWLEDGE.md"
FIELDS: Mapping[str, object] = {"name": "x", "description": "y", "type": "session-journal"}
TEXT = b"---\nfields\n---\nBody\n"
INDEX = "- [x](2026-11-30-molt-1-x/KNOWLEDGE.md)"


def facts(
    value: object = PATH,
    relative: str | None = PATH,
    content: bytes = TEXT,
    index: str | None = INDEX,
) -> JournalFacts:
    return JournalFacts(value, relative, "file", content, index)


def code_of(given: JournalFacts, fields: object = FIELDS) -> JournalCode | None:
    verdict = judged(given, lambda _: fields)
    return verdict.code if isinstance(verdict, JournalRefusal) else None


def test_kj_a_sound_entry_passes_without_a_warning() -> None:
    assert judged(facts(), lambda _: FIELDS) == JournalEntry(PATH)


@pytest.mark.parametrize("value", [None, "", "  \n", 5, True, [PATH]])
def test_kj1_the_path_must_be_text_that_is_not_blank(value: object) -> None:
    assert code_of(facts(value)) is JournalCode.REQUIRED


def test_kj2_a_place_outside_the_project_is_refused() -> None:
    assert code_of(facts("../x", None)) is JournalCode.OUTSIDE


@pytest.mark.parametrize(
    ("relative", "code"),
    [
        pytest.param("knowledge/topic/KNOWLEDGE.md", "journal_wrong_area", id="kj3-other-area"),
        pytest.param("knowledge/session-journal", "journal_wrong_area", id="kj3-the-area-itself"),
        pytest.param(
            "a/knowledge/session-journal/x/KNOWLEDGE.md",
            "journal_wrong_area",
            id="kj3-inside-another",
        ),
        pytest.param(
            "knowledge/session-journals/x/KNOWLEDGE.md", "journal_wrong_area", id="kj3-longer-name"
        ),
        pytest.param(f"{AREA}/x/notes.md", "journal_wrong_name", id="kj4"),
        pytest.param(f"{AREA}/x/knowledge.md", "journal_wrong_name", id="kj4-case"),
        pytest.param(f"{AREA}/a/b/notes.md", "journal_wrong_name", id="kj4-before-depth"),
        pytest.param(f"{AREA}/KNOWLEDGE.md", "journal_is_index", id="kj5-index"),
        pytest.param(f"{AREA}/a/b/KNOWLEDGE.md", "journal_depth", id="kj5-depth"),
    ],
)
def test_kj3_kj4_kj5_an_entry_stands_in_a_folder_of_its_own(relative: str, code: str) -> None:
    assert code_of(facts(relative=relative)) == code
    assert not is_entry_place(relative)


KINDS: tuple[FileKind, ...] = ("missing", "other", "unreadable")


@pytest.mark.parametrize("kind", KINDS)
def test_kj6_the_entry_must_be_a_regular_file(kind: FileKind) -> None:
    given = JournalFacts(PATH, PATH, kind, TEXT, INDEX)

    assert code_of(given) is JournalCode.MISSING


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"\xff\xfe", "journal_not_utf8", id="kj7-not-utf8"),
        pytest.param(b"", "journal_empty", id="kj7-no-bytes"),
        pytest.param(b" \n\t", "journal_empty", id="kj7-blank"),
        pytest.param(b"\xef\xbb\xbf \n", "journal_empty", id="kj7-only-a-bom"),
        pytest.param(b"name: x\n", "journal_frontmatter", id="kj8-no-fence"),
        pytest.param(b"\n---\nname: x\n---\n", "journal_frontmatter", id="kj8-not-the-first-line"),
        pytest.param(b"---\nname: x\n", "journal_frontmatter", id="kj8-not-closed"),
        pytest.param(b"----\nname: x\n---\n", "journal_frontmatter", id="kj8-longer-fence"),
    ],
)
def test_kj7_kj8_the_text_must_be_readable_with_fields_in_front(content: bytes, code: str) -> None:
    assert code_of(facts(content=content)) == code


@pytest.mark.parametrize("fields", [None, [], "text", 3])
def test_kj8_the_fields_must_be_a_mapping(fields: object) -> None:
    assert code_of(facts(), fields) is JournalCode.FRONTMATTER


def test_kj8_a_parser_error_advises_quoting() -> None:
    def load(_: str) -> object:
        msg = "a colon too many"
        raise ValueError(msg)

    verdict = judged(facts(), load)

    assert isinstance(verdict, JournalRefusal)
    assert verdict.code is JournalCode.FRONTMATTER
    assert "a colon too many" in verdict.reason
    assert "quote" in verdict.reason
    assert "`>-`" in verdict.reason


def test_kj8_frontmatter_too_long_to_parse_is_not_parsed() -> None:
    long = b"---\n" + b"a" * (FRONTMATTER_CHARS_MOST + 1) + b"\n---\n"

    assert code_of(facts(content=long)) is JournalCode.FRONTMATTER


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf" + TEXT, TEXT.replace(b"\n", b"\r\n"), TEXT[:-5]]
)
def test_kj8_a_bom_windows_line_ends_and_a_missing_body_are_accepted(content: bytes) -> None:
    assert code_of(facts(content=content)) is None


@pytest.mark.parametrize("value", [None, "", "  ", 3, True, ["x"]])
@pytest.mark.parametrize("name", ["name", "description"])
def test_kj9_name_and_description_must_be_text(name: str, value: object) -> None:
    assert code_of(facts(), {**FIELDS, name: value}) is JournalCode.FIELDS
    assert (
        code_of(facts(), {key: v for key, v in FIELDS.items() if key != name}) == "journal_fields"
    )


@pytest.mark.parametrize(
    ("marks", "is_marked"),
    [
        ({"type": "session-journal"}, True),
        ({"type": " Session-Journal "}, True),
        ({"session_journal": True}, True),
        ({"session_journal": "Yes"}, True),
        ({"session_journal": 1}, True),
        ({"type": "note", "session_journal": "true"}, True),
        ({}, False),
        ({"type": "note"}, False),
        ({"type": None, "session_journal": False}, False),
        ({"session_journal": "no"}, False),
    ],
)
def test_kj10_an_entry_says_that_it_is_one(marks: dict[str, object], *, is_marked: bool) -> None:
    fields = {"name": "x", "description": "y", **marks}

    assert code_of(facts(), fields) == (None if is_marked else JournalCode.MARKER)


def test_kj_the_first_failure_in_the_stated_order_is_told() -> None:
    assert code_of(JournalFacts(None)) is JournalCode.REQUIRED
    assert code_of(JournalFacts("x")) is JournalCode.OUTSIDE
    assert code_of(JournalFacts("x", "x/notes.md")) is JournalCode.WRONG_AREA
    assert code_of(JournalFacts(PATH, PATH), {}) is JournalCode.MISSING
    assert code_of(facts(), {"type": "note"}) is JournalCode.FIELDS


def test_kj_every_refusal_carries_the_one_recovery_hint() -> None:
    refusals = [judged(given, lambda _: {}) for given in (facts(None), facts(content=b""), facts())]

    assert all(isinstance(r, JournalRefusal) and r.hint == recovery_hint() for r in refusals)
    assert str(refusals[0]).startswith("journal_required: ")
    assert "Nothing was shed" in str(refusals[0])


@pytest.mark.parametrize(
    ("index", "is_warned"),
    [
        pytest.param(INDEX, False, id="relative-to-the-index"),
        pytest.param(f"see {PATH}", False, id="relative-to-the-project"),
        pytest.param(None, True, id="no-index"),
        pytest.param("# Journal\n", True, id="no-pointer"),
        pytest.param(f"- old-{INDEX[7:]}", True, id="another-entry-that-ends-alike"),
    ],
)
def test_kj11_an_index_without_a_pointer_draws_a_warning(
    index: str | None, *, is_warned: bool
) -> None:
    verdict = judged(facts(index=index), lambda _: FIELDS)

    assert isinstance(verdict, JournalEntry)
    assert bool(verdict.warnings) is is_warned


def test_kj_an_entry_of_an_earlier_molt_draws_a_warning() -> None:
    verdict = judged(facts(), lambda _: FIELDS, used_paths=[PATH])

    assert isinstance(verdict, JournalEntry)
    assert "earlier molt" in verdict.warnings[0]


def test_kj12_the_folders_name_is_not_checked() -> None:
    path = f"{AREA}/anything/KNOWLEDGE.md"

    assert code_of(facts(path, path)) is None


def test_kj3_the_area_lies_below_the_store_folder() -> None:
    area = area_below("notes")
    path = f"{area}/x/KNOWLEDGE.md"

    assert area_below(".") == AREA
    assert isinstance(
        judged(JournalFacts(path, path, "file", TEXT, None, area), lambda _: FIELDS), JournalEntry
    )
