"""Rereads of compressed content (rules F1, F2 and J7)."""

from dataclasses import replace

import pytest
from tests.support.policy_rows import Talk, disk

from context_editor.core.assemble import Assembler, OwnFacts, assemble
from context_editor.core.candidates.facts import DiskFacts, FileFact
from context_editor.core.candidates.targets import targets_of
from context_editor.core.edits.model import Op, Replacement
from context_editor.core.telemetry import Effect, ReadMemory, rereads

LINES = ["one", "two"]
ORIGINAL = "/data/archive/originals/abc.part1.txt"


def summarised(talk: Talk, anchor: str) -> dict[str, Replacement]:
    """The state after the read at `anchor` was summarised at the end of the turn that runs."""
    row = talk.conversation().by_anchor[anchor]
    made = Replacement(
        "c1",
        Op.SUMMARIZE,
        "agent",
        (anchor,),
        row.source,
        ORIGINAL,
        "r@0",
        turn=talk.turn,
        targets=targets_of([row], DiskFacts()),
    )
    return {"c1": made}


def begun() -> tuple[Talk, dict[str, Replacement]]:
    talk = Talk()
    talk.person("read it")
    return talk, summarised(talk, talk.read("a.md", LINES))


def test_scenario_34_file_that_is_read_again_unchanged_counts_once() -> None:
    talk, made = begun()
    talk.person("go on")
    again = talk.read("/project/./a.md", LINES)

    found = rereads(talk.conversation(), made, DiskFacts())

    assert [f"t:{call}" for call in found] == [again]
    assert rereads(talk.conversation(), made, DiskFacts(), found) == found


def test_scenario_34_file_that_was_edited_in_between_does_not_count() -> None:
    talk, made = begun()
    talk.person("go on")
    talk.edit("a.md")
    talk.read("a.md", LINES)

    assert rereads(talk.conversation(), made, DiskFacts()) == ()


def test_f1_failed_edit_is_no_change() -> None:
    talk, made = begun()
    talk.person("go on")
    talk.edit("a.md", is_error=True)
    talk.read("a.md", LINES)

    assert len(rereads(talk.conversation(), made, DiskFacts())) == 1


def test_f1_file_that_changed_on_disk_in_between_does_not_count() -> None:
    talk, made = begun()
    talk.person("go on")
    changed_s = talk.clock_s
    talk.read("a.md", LINES)
    facts = disk({"a.md": FileFact("/project/a.md", modified_s=changed_s)})

    assert rereads(talk.conversation(), made, facts) == ()


def test_f1_read_in_the_turn_of_the_apply_does_not_count() -> None:
    talk, made = begun()
    talk.read("a.md", LINES)

    assert rereads(talk.conversation(), made, DiskFacts()) == ()


def test_f1_reading_the_archive_counts_any_part_of_it() -> None:
    talk, made = begun()
    talk.person("go on")
    talk.read(ORIGINAL.replace("part1", "part2"), LINES)
    talk.read("/data/archive/originals/other.txt", LINES)

    assert len(rereads(talk.conversation(), made, DiskFacts())) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("WebFetch", {"url": "https://example.org/a", "prompt": "p"}),
        ("Grep", {"pattern": "x", "path": "src"}),
        ("Glob", {"pattern": "**/*.py"}),
    ],
)
def test_f1_searches_and_pages_count_too(tool: str, arguments: dict[str, str]) -> None:
    talk = Talk()
    talk.person("look")
    made = summarised(talk, talk.tool(tool, arguments, "found"))
    talk.person("go on")
    talk.tool(tool, arguments, "found")
    talk.tool(tool, {**arguments, "pattern": "other", "url": "https://example.org/b"}, "found")

    assert len(rereads(talk.conversation(), made, DiskFacts())) == 1


def test_f1_what_a_restore_brought_back_is_not_compressed_any_more() -> None:
    talk, made = begun()
    made["c1"] = replace(made["c1"], absorbed_by="c2")
    made["c2"] = replace(made["c1"], id="c2", op=Op.RESTORE, absorbed_by="", targets=())
    talk.person("go on")
    talk.read("a.md", LINES)

    assert rereads(talk.conversation(), made, DiskFacts()) == ()


def test_f1_what_a_collapse_took_in_still_counts() -> None:
    talk, made = begun()
    made["c1"] = replace(made["c1"], absorbed_by="c2", anchors=())
    made["c2"] = replace(made["c1"], id="c2", op=Op.COLLAPSE, absorbed_by="", targets=())
    talk.person("go on")
    talk.read("a.md", LINES)

    assert len(rereads(talk.conversation(), made, DiskFacts())) == 1


def test_j7_replacement_of_the_old_form_counts_without_a_record() -> None:
    talk = Talk()
    talk.person("read it")
    old = "[context-editor] you read Read a.md, then replaced it: short"
    talk.tool("Read", {"file_path": "a.md"}, old)
    talk.person("go on")
    talk.read("a.md", LINES)

    assert len(rereads(talk.conversation(own=OwnFacts()), {}, DiskFacts())) == 1


def test_f1_effect_line_is_the_contracts() -> None:
    assert (
        Effect(5, 61_000, 1, 5).words()
        == "5 edit(s), 61.0k saved, 1 reread(s) of compressed content"
    )


@pytest.mark.parametrize(
    ("count", "replacements", "is_warned"), [(2, 2, False), (3, 15, True), (3, 16, False)]
)
def test_f2_many_rereads_draw_a_warning(count: int, replacements: int, *, is_warned: bool) -> None:
    effect = Effect(9, 1_000, count, replacements)

    assert effect.is_over_compressed is is_warned
    assert ("keep more" in effect.words()) is is_warned


def test_what_is_remembered_of_rows_never_changes_the_count() -> None:
    talk, made = begun()
    memory, assembler = ReadMemory(), Assembler()
    talk.person("go on")
    talk.edit("b.md")
    talk.read("a.md", LINES)
    talk.edit("a.md")
    talk.read("a.md", LINES)
    for count in (2, 5, 9, len(talk.pieces), 3, 7):
        pieces = talk.pieces[:count]
        grown = assembler.conversation(pieces, OwnFacts())

        found = rereads(grown, made, DiskFacts(), (), memory)

        assert found == rereads(assemble(pieces, OwnFacts()), made, DiskFacts())
