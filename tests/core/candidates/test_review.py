"""Review candidates (group G)."""

from collections import UserDict
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.policy_rows import CharSizer, Talk, disk, numbered, prose

from context_editor.core.assemble import Assembler, OwnFacts, assemble
from context_editor.core.candidates.facts import DiskFacts, FileFact
from context_editor.core.candidates.find import (
    Review,
    ReviewMemory,
    ReviewSettings,
    candidates,
)
from context_editor.core.candidates.model import (
    Candidate,
    Cause,
    by_cause,
    ranked,
    review_words,
)
from context_editor.core.candidates.report import close_lines
from context_editor.core.edits.admit import admit
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Edit, Op
from context_editor.core.edits.requests import EditRequest
from context_editor.core.edits.wording import summarized
from context_editor.core.names import Names, Target
from context_editor.core.rows import Media, RowKind

LINES = [f"def function_{n}(): return {n}" for n in range(1, 201)]
CHANGED = [*LINES[:49], "def changed(): return 0", *LINES[50:]]


def reviewed(talk: Talk, facts: DiskFacts | None = None, **more: object) -> dict[str, Candidate]:
    review = Review(talk.ground(), facts or DiskFacts(), **more)  # type: ignore[arg-type] # test sugar
    return {candidate.anchor: candidate for candidate in candidates(review)}


def causes(talk: Talk, facts: DiskFacts | None = None, **more: object) -> dict[str, Cause]:
    return {anchor: one.shown for anchor, one in reviewed(talk, facts, **more).items()}


# --- big ----------------------------------------------------------------------------------------


def test_g1_output_of_the_set_size_is_big_and_one_below_it_is_not() -> None:
    talk = Talk()
    large = talk.bash("make", prose(8_000, "large"))
    talk.bash("ls", prose(7_900, "small"))

    assert causes(talk) == {large: Cause.BIG}


def test_g1_size_is_a_setting() -> None:
    talk = Talk()
    large = talk.bash("make", prose(2_000))

    assert causes(talk, settings=ReviewSettings(big_row_tokens=400)) == {large: Cause.BIG}


def test_g1_picture_in_a_result_counts() -> None:
    talk = Talk()
    shot = talk.tool("Shot", {}, "", media=(Media("image", "image/png", "", tokens=2_500),))

    assert causes(talk) == {shot: Cause.BIG}


# --- search -------------------------------------------------------------------------------------


def test_scenario_37_search_is_flagged_after_turn_7_and_not_after_turn_6() -> None:
    talk = Talk(turn=3)
    talk.person("find it")
    found = talk.tool("Grep", {"pattern": "x"}, "src/a.py:1: x")

    def flagged(turns: int) -> set[str]:
        return {c.anchor for c in candidates(Review(talk.ground(turns=turns)))}

    assert flagged(6) == set()
    assert flagged(7) == {found}


@pytest.mark.parametrize("tool", ["Grep", "Glob", "WebSearch", "mcp__docs__code_search"])
def test_g2_every_search_tool_ages(tool: str) -> None:
    talk = Talk()
    found = talk.tool(tool, {"pattern": "x"}, "found")

    assert {c.anchor for c in candidates(Review(talk.ground(turns=3)))} == {found}


def test_g2_other_tools_do_not_age() -> None:
    talk = Talk()
    talk.bash("rg x", "src/a.py:1: x")

    assert not candidates(Review(talk.ground(turns=30)))


# --- stale --------------------------------------------------------------------------------------


def test_scenario_38_edit_by_another_spelling_of_the_path_makes_a_read_stale() -> None:
    talk = Talk()
    read = talk.read("/project/src/a.py", LINES)
    talk.edit("src/../src/./a.py")

    assert causes(talk) == {read: Cause.STALE}


def test_scenario_38_failed_edit_leaves_a_read_as_it_is() -> None:
    talk = Talk()
    talk.read("src/a.py", LINES)
    talk.edit("src/a.py", is_error=True)

    assert causes(talk, settings=ReviewSettings(big_row_tokens=9_999)) == {}


def test_g11_link_to_the_same_file_is_the_same_file() -> None:
    talk = Talk()
    read = talk.read("link.py", LINES)
    talk.edit("src/a.py")
    real = FileFact("/project/src/a.py")

    assert causes(talk, disk({"link.py": real, "src/a.py": real})) == {read: Cause.STALE}


@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("Edit", "file_path"),
        ("MultiEdit", "file_path"),
        ("Write", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ],
)
def test_g3_every_tool_that_changes_files_counts(tool: str, argument: str) -> None:
    talk = Talk()
    read = talk.read("a.py", LINES)
    talk.tool(tool, {argument: "a.py"}, "done")

    assert causes(talk)[read] is Cause.STALE


def test_g3_read_after_the_edit_is_not_stale() -> None:
    talk = Talk()
    talk.edit("a.py")
    talk.read("a.py", LINES[:40])

    assert causes(talk) == {}


def test_g3_edit_outside_the_range_that_was_read_still_counts() -> None:
    talk = Talk()
    read = talk.read("a.py", LINES[100:150], 101, offset=101, limit=50)
    talk.edit("a.py")

    assert causes(talk) == {read: Cause.STALE}


def test_g3_file_that_was_changed_on_disk_is_found_by_its_content() -> None:
    talk = Talk()
    read = talk.read("a.py", LINES[:100], limit=100)
    fact = FileFact("/project/a.py", modified_s=9_999.0)

    facts = disk({"a.py": fact}, {"/project/a.py": "\n".join(CHANGED)})

    assert causes(talk, facts) == {read: Cause.STALE}
    assert "changed on disk" in reviewed(talk, facts)[read].ready_made


def test_g3_file_that_was_touched_on_disk_is_not_stale() -> None:
    talk = Talk()
    talk.read("a.py", LINES[:100])
    fact = FileFact("/project/a.py", modified_s=9_999.0)
    same = disk({"a.py": fact}, {"/project/a.py": "\n".join(LINES[:100]) + "\n"})
    longer = disk({"a.py": fact}, {"/project/a.py": "\n".join(LINES)})

    assert causes(talk, same) == {}
    assert set(causes(talk, longer).values()) == {Cause.STALE}


class Opened(UserDict[str, str]):
    """No files, and a note of those that were to be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []

    def __getitem__(self, path: str) -> str:
        self.paths.append(path)
        raise KeyError(path)


def test_g3_content_is_wanted_only_of_files_changed_after_a_read_by_something_else() -> None:
    talk = Talk()
    talk.read("new.py", LINES[:10])
    talk.read("old.py", LINES[:10])
    talk.read("own.py", LINES[:10])
    talk.edit("own.py")
    facts = disk(
        {
            "new.py": FileFact("/project/new.py", modified_s=9_999.0),
            "old.py": FileFact("/project/old.py", modified_s=1.0),
            "own.py": FileFact("/project/own.py", modified_s=9_999.0),
        }
    )

    opened = Opened()
    causes(talk, DiskFacts(facts.files, opened))

    assert opened.paths == ["/project/new.py"]


# --- superseded ---------------------------------------------------------------------------------


def test_scenario_39_read_that_a_later_read_of_the_changed_file_covers_is_superseded() -> None:
    talk = Talk()
    first = talk.read("a.py", LINES[:100], limit=100)
    talk.read("a.py", CHANGED, limit=200)
    talk.read("a.py", ["other"] * 31, 50, offset=50, limit=31)

    assert causes(talk, settings=ReviewSettings(big_row_tokens=9_999)) == {first: Cause.SUPERSEDED}


def test_g4_unchanged_file_supersedes_nothing() -> None:
    talk = Talk()
    talk.read("a.py", LINES[:100], limit=100)
    talk.read("a.py", LINES, limit=200)

    assert causes(talk, settings=ReviewSettings(big_row_tokens=9_999)) == {}


def test_g4_read_of_the_whole_shorter_file_covers_a_longer_earlier_read() -> None:
    talk = Talk()
    first = talk.read("a.py", LINES[:100])
    talk.read("a.py", CHANGED[:60])

    assert causes(talk)[first] is Cause.SUPERSEDED


def test_g4_file_that_the_agent_changed_shows_as_stale_and_reports_both() -> None:
    talk = Talk()
    first = talk.read("a.py", LINES[:100])
    talk.edit("a.py")
    talk.read("a.py", CHANGED[:100])

    assert reviewed(talk)[first].causes == (Cause.STALE, Cause.SUPERSEDED)


# --- duplicate ----------------------------------------------------------------------------------


def test_scenario_40_only_the_earlier_of_two_equal_outputs_is_a_duplicate() -> None:
    talk = Talk()
    first = talk.bash("make", prose(1_000))
    talk.bash("make", prose(1_000))

    assert causes(talk) == {first: Cause.DUPLICATE}


def test_scenario_40_empty_outputs_are_never_duplicates() -> None:
    talk = Talk()
    talk.bash("true", "")
    talk.bash("true", "")

    assert causes(talk) == {}


def test_g5_errors_are_never_duplicates() -> None:
    talk = Talk()
    talk.bash("make", prose(1_000), is_error=True)
    talk.bash("make", prose(1_000), is_error=True)

    assert causes(talk) == {}


def test_g5_equal_output_of_different_calls_needs_2000_characters() -> None:
    talk = Talk()
    talk.bash("cat a", prose(1_900))
    talk.bash("cat b", prose(1_900))
    first = talk.bash("cat c", prose(2_100, "other"))
    talk.bash("cat d", prose(2_100, "other"))

    assert causes(talk) == {first: Cause.DUPLICATE}


def test_g5_line_numbers_and_trailing_blanks_do_not_count() -> None:
    talk = Talk()
    first = talk.read("a.py", [f"{line}  " for line in LINES[:100]])
    talk.bash("cat a.py", "\n".join(LINES[:100]))

    assert causes(talk) == {first: Cause.DUPLICATE}


def test_g5_numbered_tables_are_not_taken_for_line_numbers() -> None:
    talk = Talk()
    words = [prose(60, word) for word in ("red", "green", "blue")] * 20
    talk.bash("one", "\n".join(f"{7 * n}\t{word}" for n, word in enumerate(words)))
    talk.bash("two", "\n".join(f"{9 * n}\t{word}" for n, word in enumerate(words)))

    assert causes(talk) == {}


def test_g5_same_range_of_a_file_is_a_duplicate_at_any_length_that_saves_enough() -> None:
    talk = Talk()
    first = talk.read("a.py", LINES[:22])
    talk.read("/project/a.py", LINES[:22], limit=22)

    assert causes(talk) == {first: Cause.DUPLICATE}


def test_g5_all_but_the_newest_of_three_copies_are_flagged() -> None:
    talk = Talk()
    copies = [talk.bash("make", prose(1_000)) for _ in range(3)]

    assert set(causes(talk)) == set(copies[:2])


def test_g5_copy_that_is_about_to_go_is_not_the_one_that_stays() -> None:
    talk = Talk()
    copies = [talk.bash("make", prose(1_000)) for _ in range(3)]
    ground = talk.ground()
    queued = Edit("q1", Op.SUMMARIZE, (copies[2],), "gone")
    review = Review(type(ground)(ground.names, ground.sizer, (queued,)))

    found = candidates(review)

    assert [c.anchor for c in found] == copies[:1]
    assert f"#{2}" in found[0].ready_made


def test_g5_file_that_the_host_says_is_unchanged_supersedes_nothing() -> None:
    talk = Talk()
    talk.read("a.py", LINES[:100])
    talk.tool("Read", {"file_path": "a.py"}, "File unchanged since last read.")

    assert causes(talk) == {}


# --- agent, and who is never a candidate --------------------------------------------------------


def test_g6_mark_of_the_agent_is_given_and_shown() -> None:
    talk = Talk()
    row = talk.say("a thought")

    assert causes(talk, agent_marks=frozenset({row})) == {row: Cause.AGENT}
    assert reviewed(talk, agent_marks=frozenset({row}))[row].flag == "[review: agent]"


def test_g_person_pinned_state_pending_and_own_rows_are_never_candidates() -> None:
    talk = Talk()
    marked = {
        talk.person(prose(9_000)),
        talk.tool("AskUserQuestion", {}, prose(9_000), typed="yes, the second"),
        talk.bash("make", prose(9_000, "pinned")),
        talk.say("the state"),
        talk.tool("mcp__plugin_context-editor_editor__context_list", {}, prose(9_000, "own")),
        talk.tool("Bash", {"command": "sleep"}, None),
    }
    rows = talk.conversation().rows
    protected = {rows[2].anchor: "pinned", rows[3].anchor: "the state slot"}

    found = candidates(Review(talk.ground(protected), agent_marks=frozenset(marked)))

    assert found == ()


def test_g_row_whose_attachment_cannot_be_sent_again_is_no_candidate() -> None:
    talk = Talk()
    talk.bash("make", prose(9_000))
    talk.attach("file", "?", is_known=False)

    assert causes(talk) == {}


def test_g_replaced_row_is_no_candidate() -> None:
    talk = Talk()
    row = talk.bash("make", summarized("agent", "Bash make", "c1", "/o", (), prose(9_000)))

    assert candidates(Review(talk.ground(own=OwnFacts(replacements={row: "c1"})))) == ()


# --- ready-made texts, totals and reports -------------------------------------------------------


def _stale(talk: Talk) -> None:
    talk.read("src/a.py", LINES[:120])
    talk.edit("src/a.py")


def _superseded(talk: Talk) -> None:
    talk.read("src/a.py", LINES[:120])
    talk.read("src/a.py", CHANGED[:120])


def _duplicate(talk: Talk) -> None:
    command = "echo \"the user said 'yes, go on with it'\" | tee /tmp/x"
    talk.bash(command, prose(1_200))
    talk.bash(command, prose(1_200))


@pytest.mark.parametrize("make", [_stale, _superseded, _duplicate])
def test_scenario_42_ready_made_text_is_accepted_unchanged(make: Callable[[Talk], None]) -> None:
    talk = Talk()
    make(talk)
    ground = talk.ground()
    [candidate] = candidates(Review(ground))

    name = Target(ref=ground.names.refs[candidate.anchor])
    admitted = admit(EditRequest("summarize", name, candidate.ready_made), ground, None)

    assert admitted.text == candidate.ready_made
    assert admitted.saved_tokens == candidate.saved_tokens > 0


def test_g8_ready_made_text_says_what_where_and_why() -> None:
    talk = Talk()
    _stale(talk)
    ref = talk.ground().names.ref(talk.conversation().rows[1])

    [candidate] = candidates(Review(talk.ground()))

    assert candidate.ready_made == (
        f"Read src/a.py lines 1-120; edited afterwards (#2) at ref {ref}, "
        f"so this copy is out of date; read again if needed."
    )


def test_g8_read_too_small_for_its_pointer_is_no_candidate() -> None:
    talk = Talk()
    talk.read("a.py", LINES[:3])
    talk.edit("a.py")

    assert causes(talk) == {}


def test_g_row_with_several_causes_counts_once_in_the_totals() -> None:
    talk = Talk()
    talk.read("a.py", LINES)
    talk.bash("cat a.py", "\n".join(LINES))
    talk.edit("a.py")
    found = candidates(Review(talk.ground(), settings=ReviewSettings(big_row_tokens=100)))

    assert found[0].causes == (Cause.STALE, Cause.DUPLICATE, Cause.BIG)
    assert sum(len(group) for group in by_cause(found).values()) == len(found) == 2
    assert review_words(found).startswith("2 candidates, ")


def test_g_reports_rank_by_size_and_name_stale_before_others_of_the_same_size() -> None:
    small = Candidate("a", (Cause.STALE,), 10)
    large = Candidate("b", (Cause.BIG,), 90)
    search = Candidate("c", (Cause.SEARCH,), 10)

    assert ranked([search, small, large]) == [large, small, search]


def test_g7_close_report_groups_by_cause_and_writes_zero() -> None:
    talk = Talk()
    names = talk.ground().names

    assert close_lines((), names, 0) == ("Review: 0 candidates", "Reproducible (~) pairs: 0")


def test_g7_close_report_names_rows_sizes_other_causes_and_texts() -> None:
    talk = Talk()
    _stale(talk)
    talk.bash("make", prose(9_000))
    ground = talk.ground()

    lines = close_lines(candidates(Review(ground)), ground.names, 1)

    assert lines[0].startswith("Review: 2 candidates, ")
    assert "big (1, 2.3k):" in lines
    assert any("ready-made: Read src/a.py lines 1-120" in line for line in lines)
    assert lines[-1] == "Reproducible (~) pairs: 1"


STEPS: Sequence[Callable[[Talk], object]] = (
    lambda talk: talk.read("a.py", LINES[:60]),
    lambda talk: talk.read("b.py", LINES[:60]),
    lambda talk: talk.edit("a.py"),
    lambda talk: talk.edit("a.py", is_error=True),
    lambda talk: talk.bash("make", ""),
    lambda talk: talk.bash("make", prose(900)),
    lambda talk: talk.bash("make", prose(9_000)),
    lambda talk: talk.person("go on"),
    lambda talk: talk.say("so it is"),
    lambda talk: talk.tool("AskUserQuestion", {}, prose(9_000), typed="yes"),
    lambda talk: talk.tool("Bash", {"command": "make"}, None),
    lambda talk: talk.attach("hook_additional_context", prose(9_000)),
)


@given(st.lists(st.sampled_from(STEPS), max_size=30))
def test_g_whatever_happens_persons_stay_out_and_every_row_counts_once(
    steps: list[Callable[[Talk], object]],
) -> None:
    talk = Talk()
    for step in steps:
        step(talk)
    ground = talk.ground()
    rows = ground.conversation.rows

    found = candidates(Review(ground, agent_marks=frozenset(row.anchor for row in rows[::3])))

    anchors = [candidate.anchor for candidate in found]
    kinds = {ground.conversation.by_anchor[anchor].kind for anchor in anchors}
    assert len(anchors) == len(set(anchors))
    assert kinds <= {RowKind.TOOL, RowKind.TEXT, RowKind.HOST}
    for candidate in found:
        if candidate.ready_made:
            name = Target(ref=ground.names.refs[candidate.anchor])
            request = EditRequest("summarize", name, candidate.ready_made)
            assert admit(request, ground, None).saved_tokens == candidate.saved_tokens


def test_g_numbers_of_a_read_come_from_its_lines() -> None:
    talk = Talk()
    talk.tool(
        "Read",
        {"file_path": "a.py"},
        f"{numbered(LINES[:100], 5)}\n\n<system-reminder>x</system-reminder>",
    )
    talk.edit("a.py")

    assert "lines 5-104" in candidates(Review(talk.ground()))[0].ready_made


STOOD = disk(
    {"a.py": FileFact("/project/a.py", modified_s=1_012.0)},
    {"/project/a.py": "\n".join(CHANGED)},
)


@given(
    st.lists(st.sampled_from(STEPS), max_size=20),
    st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=6),
)
def test_g10_what_is_remembered_never_changes_what_is_found(
    steps: list[Callable[[Talk], object]], looks: list[tuple[int, bool]]
) -> None:
    talk, assembler, memory = Talk(), Assembler(), ReviewMemory()
    for step in steps:
        step(talk)
    for count, is_replaced in looks:
        own = OwnFacts(replacements={"t:toolu_0": "c1"} if is_replaced else {})
        pieces = talk.pieces[:count]
        grown = Ground(Names(assembler.conversation(pieces, own)), CharSizer())
        anew = Ground(Names(assemble(pieces, own)), CharSizer())

        found = candidates(Review(grown, STOOD, memory=memory))

        assert found == candidates(Review(anew, STOOD))
