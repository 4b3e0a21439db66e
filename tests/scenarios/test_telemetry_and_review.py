"""Acceptance scenarios of groups F and G, through the tools and the hooks."""

import os
import re

import pytest
from tests.support.scene import Applied, Scene, header_line, number_of, rows_in
from tests.support.transcripts import text

BULK = "words of a long output, and more of them\n" * 60
LARGE = "words of a long output, and more of them\n" * 2_000


def numbered(first: int, last: int, word: str = "line") -> str:
    """A read's result."""
    return "".join(
        f"{n}\t{word} {n} of the file, with a few words more\n" for n in range(first, last + 1)
    )


def flagged(listing: str, cause: str) -> list[str]:
    """What the rows are that show this review flag."""
    flag = f"[review: {cause}]"
    return [row.split(" · ")[0].split(" ", 2)[2] for row in rows_in(listing) if flag in row]


# --- F ----------------------------------------------------------------------------------------------


def reread(applied: Applied, *between: tuple[str, str, str]) -> str:
    """The Effect line once a summarised read was done again, with these calls in between."""
    applied.host.prompt("go")
    (read,) = applied.host.answer("I read.", [("Read", "a.py", numbered(1, 200))])
    applied.gets("context_edit", edits=[{"op": "summarize", "tool_use_id": read, "text": "config"}])
    applied.apply()
    applied.host.prompt("again")
    for one in between:
        applied.host.answer("", [one])
    applied.host.answer("I read again.", [("Read", "a.py", numbered(1, 200))])
    return header_line("Effect", applied.listing(count=0))


def test_scenario_34_a_read_of_what_was_compressed_counts_once(applied: Applied) -> None:
    assert "1 reread(s)" in reread(applied)
    assert "1 reread(s)" in header_line("Effect", applied.listing(count=0))


def test_scenario_34_a_read_of_a_file_that_was_edited_in_between_does_not_count(
    applied: Applied,
) -> None:
    assert "0 reread(s)" in reread(applied, ("Edit", "a.py", "done"))


@pytest.mark.parametrize(("samples", "is_approximate"), [(2, True), (3, False), (5, False)])
def test_scenario_35_sizes_are_approximate_until_three_samples_of_usage(
    scene: Scene, samples: int, *, is_approximate: bool
) -> None:
    scene.prompt("go")
    for n in range(samples - 1):  # the listing is asked for by one more
        usage = {"cache_read_input_tokens": 1000 * n, "cache_creation_input_tokens": 1000}
        scene.transcript.answer(text(f"step {n} {BULK}"), usage=usage)
        scene.transcript.prompt(f"and {n}?")
    scene.write()

    words = header_line("Context", scene.listing(count=0))

    assert words.startswith("approx. ") is is_approximate, words


def test_scenario_36_one_suggestion_for_a_mark_that_is_crossed_twice_without_falling_ten_points(
    scene: Scene,
) -> None:
    scene.listing(count=0)

    suggested = [fill(scene, tokens) for tokens in (102_000, 131_000, 126_000, 132_000)]

    assert ["[context-editor: suggestion]" in told for told in suggested] == [
        True,
        True,
        False,
        False,
    ]
    assert scene.queued == 0


def test_scenario_36_a_mark_is_armed_again_ten_points_below(scene: Scene) -> None:
    scene.listing(count=0)

    told = [fill(scene, tokens) for tokens in (131_000, 105_000, 132_000)]
    assert ["[context-editor: suggestion]" in words for words in told] == [True, False, True]


def fill(scene: Scene, tokens: int) -> str:
    """Turns after which the context has this size; what the hook of their last call put in."""
    for _ in range(3):
        scene.prompt("next")
        scene.says("ok")
    scene.prompt("next")
    call_id = scene.uses("Bash", LARGE, command=f"make {tokens}")
    usage = {"cache_read_input_tokens": tokens - 200}
    scene.says("It is built.", usage=usage)
    return use_hook(scene, call_id)


def use_hook(scene: Scene, call_id: str) -> str:
    scene.write()
    return scene.hook(
        "post-tool-use",
        tool_name="Bash",
        tool_use_id=call_id,
        tool_input={"command": "make"},
        tool_response="x",
    )


# --- G ----------------------------------------------------------------------------------------------


def test_scenario_37_a_search_is_flagged_once_three_turns_have_passed_after_its_own(
    scene: Scene,
) -> None:
    for n in range(1, 5):
        scene.prompt(f"turn {n}")
        if n == 4:
            scene.uses("Grep", "src/a.py:1: def handler", pattern="def")
        scene.ends("done")
    seen: dict[int, list[str]] = {}
    for n in range(5, 9):
        scene.prompt(f"turn {n}")
        seen[n - 1] = flagged(scene.listing(), "search")
        scene.ends("done")

    assert seen[6] == []
    assert len(seen[7]) == 1


def test_scenario_38_a_read_is_stale_after_an_edit_by_another_spelling_and_not_after_a_failed_one(
    scene: Scene,
) -> None:
    path, other = scene.file("src/a.py"), scene.file("src/b.py")
    scene.prompt("go")
    scene.uses("Read", numbered(1, 90), file_path=str(path))
    scene.uses("Read", numbered(1, 90, "other"), file_path=str(other))
    scene.uses("Edit", "done", file_path=f"{scene.project}/src/../src/./a.py", old_string="x")
    scene.fails("Edit", "String to replace not found in file.", file_path=str(other))

    assert flagged(scene.listing(), "stale") == ["~Read src/a.py"]


def test_scenario_39_a_covering_read_of_changed_content_supersedes_and_a_part_of_it_does_not(
    scene: Scene,
) -> None:
    path = scene.file("a.py")
    scene.prompt("go")
    scene.uses("Read", numbered(1, 100), file_path=str(path), offset=1, limit=100)
    scene.uses("Read", numbered(1, 200, "new"), file_path=str(path), offset=1, limit=200)
    scene.uses("Read", numbered(50, 80, "newer"), file_path=str(path), offset=50, limit=31)

    assert flagged(scene.listing(), "superseded") == ["~Read a.py 1-100"]


def test_scenario_40_of_two_equal_outputs_the_earlier_is_a_duplicate_and_empty_ones_are_none(
    scene: Scene,
) -> None:
    scene.prompt("go")
    for _ in range(2):
        scene.uses("Bash", BULK, command="make")
        scene.uses("Bash", "", command="true")

    listing = scene.listing()

    assert flagged(listing, "duplicate") == ["Bash make"]
    assert "[review: duplicate]" in rows_in(listing)[1]


def test_scenario_41_the_agents_mark_is_gone_after_as_many_turns_as_it_was_given(
    scene: Scene,
) -> None:
    scene.prompt("go")
    marked = scene.uses("Bash", BULK, command="make")
    mark = {"op": "add", "kind": "review", "tool_use_id": marked, "ttl_turns": 4}
    scene.gets("context_tag", tags=[mark])
    scene.ends("done")
    seen = []
    for n in range(1, 6):
        scene.transcript.compact_records(f"keep step {n}", f"compact-{n}")
        scene.prompt(f"turn {n}")
        seen.append(flagged(scene.listing(), "agent"))
        scene.ends("done")

    assert [len(found) for found in seen] == [1, 1, 1, 0, 0]


def test_scenario_42_a_ready_made_text_is_accepted_as_it_is(scene: Scene) -> None:
    path = scene.file("a.py")
    scene.prompt("go")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "reads"}])
    scene.uses("Read", numbered(1, 100), file_path=str(path))
    scene.uses("Edit", "done", file_path=str(path), old_string="x", new_string="y")
    scene.uses("Bash", BULK, command="make")
    scene.uses("Bash", BULK, command="make")
    report = scene.gets("context_tag", tags=[{"op": "close"}])
    ready = re.findall(r"  #(\d+) .*ready-made: (.*)", report)

    edits = [{"op": "summarize", "index": int(n), "text": words} for n, words in ready]
    answer = scene.gets("context_edit", edits=edits)

    assert len(edits) == 2
    assert answer.count(" summarize ") == 2
    assert "Warning" not in answer
    number_of("[q1]", scene.listing())


def test_scenario_37_to_42_a_file_of_the_project_is_known_by_its_real_path(scene: Scene) -> None:
    path = scene.file("real.py")
    (scene.project / "link.py").symlink_to(path)
    scene.prompt("go")
    scene.uses("Read", numbered(1, 90), file_path=str(scene.project / "link.py"))
    scene.uses("Write", "done", file_path=os.path.relpath(path, scene.project), content="x")

    assert len(flagged(scene.listing(), "stale")) == 1
