"""Acceptance scenarios of groups A and B, through the tools."""

import re

from tests.support.scene import Applied, Scene, header_line, number_of, ref_of, rows_in
from tests.support.transcripts import image, text

BULK = "words of a long output, and more of them\n" * 120
SUMMARY = "goal: probe; fact: nothing found in the two outputs"


def closing_lines(answer: str) -> str:
    return next(line for line in answer.splitlines() if line.startswith("closed "))


def test_scenario_1_count_0_gives_the_header_lines_and_no_row(scene: Scene) -> None:
    scene.prompt("go")
    for n in range(11):
        scene.says(f"step {n}")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "steps", "index": 5}])

    answer = scene.listing(count=0)

    lines = answer.splitlines()
    assert rows_in(answer) == []
    assert [line.split(":")[0] for line in lines[:6]] == [
        "Context",
        "Rows",
        "Stage",
        "Queued",
        "Effect",
        "Cache",
    ]
    assert header_line("Stage", answer).startswith("▶ steps, since #5")


def test_scenario_2_read_grep_and_glob_can_be_had_again_and_bash_cannot(scene: Scene) -> None:
    scene.file("a.py")
    scene.prompt("go")
    scene.uses("Read", "1\tx", file_path=str(scene.project / "a.py"))
    scene.uses("Grep", "a.py:1:x", pattern="x")
    scene.uses("Glob", "a.py", pattern="*.py")
    scene.uses("Bash", "a.py", command="ls")

    names = [line.split()[2] for line in rows_in(scene.listing())]

    assert names == ["person", "~Read", "~Grep", "~Glob", "Bash"]


def test_scenario_3_a_number_of_before_an_apply_is_refused_with_where_that_content_is_now(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    applied.host.answer("I look.", [("Bash", "a", f"first {BULK}"), ("Bash", "b", f"other {BULK}")])
    applied.host.answer("Now the next.", [("Bash", "c", f"second {BULK}")])
    before = applied.listing()
    wanted, ref = number_of("Bash c", before), ref_of("Bash c", before)
    span = {"index": number_of("Bash a", before), "to": number_of("Bash b", before)}
    applied.gets("context_edit", edits=[{"op": "collapse", **span, "summary": SUMMARY}])
    applied.apply()
    edit = {"op": "summarize", "text": "Nothing of interest in the second output."}

    reason = applied.refused("context_edit", edits=[{**edit, "index": wanted}], epoch=0)

    now = number_of("Bash c", applied.listing())
    assert now != wanted
    assert f"#{now} {ref}" in reason
    answer = applied.gets("context_edit", edits=[{**edit, "ref": ref}])
    assert f"#{now} {ref}" in answer


def test_scenario_4_after_an_apply_our_calls_are_no_rows_and_tag_and_note_still_stand(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    (first,) = applied.host.answer("I look.", [("Bash", "a", f"first {BULK}")])
    applied.host.answer("Now the next.", [("Bash", "b", f"second {BULK}")])
    applied.gets("context_tag", tags=[{"op": "add", "kind": "pin", "ref": "last"}])
    applied.gets("context_note", notes=[{"op": "add", "ref": "last", "text": "drop once verified"}])
    applied.gets(
        "context_edit", edits=[{"op": "summarize", "tool_use_id": first, "text": "numbers"}]
    )
    applied.apply()

    answer = applied.listing()

    assert [row for row in rows_in(answer) if "context_" in row.split("·")[0]] == []
    (row,) = [row for row in rows_in(answer) if "Bash b" in row]
    assert "[pin]" in row
    assert header_line("Notes", answer) == "1 (0 due)"
    notes = applied.gets("context_note", notes=[{"op": "list"}])
    assert f"{' '.join(row.split()[:2])} Bash b: drop once verified" in notes


def test_scenario_5_the_rules_are_five_named_sections_without_rows(scene: Scene) -> None:
    scene.prompt("go")

    answer = scene.listing(rules=True)

    sections = [line for line in answer.splitlines() if line.startswith("## ")]
    assert sections == [
        "## Failures",
        "## Corrections",
        "## Citations",
        "## State items",
        "## Host rows",
    ]
    assert "person" not in "".join(line for line in answer.splitlines() if line.startswith("#1 "))


def test_scenario_6_the_answer_that_opens_a_stage_carries_its_mark_and_no_other_row_does(
    scene: Scene,
) -> None:
    scene.prompt("go")
    for n in range(12):
        scene.says(f"step {n}")
    opened = scene.gets(
        "context_tag", text("Now the config."), tags=[{"op": "open", "stage": "read config"}]
    )
    scene.says("more")

    marked = [row for row in rows_in(scene.listing()) if "[stage ▶ read config]" in row]

    assert len(marked) == 1
    assert marked[0].startswith("#14 ")
    assert "#14 " in opened


def test_scenario_7_opening_a_second_stage_reports_the_first_and_leaves_one_open(
    scene: Scene,
) -> None:
    scene.prompt("go")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "A"}])
    scene.uses("Bash", BULK, command="make")
    answer = scene.gets("context_tag", text("Next."), tags=[{"op": "open", "stage": "B"}])

    assert answer.index('closed "A"') < answer.index('opened "B"')
    listing = scene.listing()
    assert sum("[stage ▶" in row for row in rows_in(listing)) == 1
    assert header_line("Stage", listing).startswith("▶ B")


def test_scenario_8_rows_that_were_never_in_a_stage_become_a_block_in_one_call(
    scene: Scene,
) -> None:
    scene.prompt("go")
    for n in range(19):
        scene.says(f"step {n}")

    answer = scene.gets(
        "context_tag", tags=[{"op": "open", "stage": "probe", "index": 5}, {"op": "close"}]
    )

    assert closing_lines(answer).startswith('closed "probe" #5..#20: 16 rows')
    for name in ("Person rows", "Media", "Review", "Reproducible (~) pairs", "Notes", "Effect"):
        assert header_line(name, answer), f"{name} in:\n{answer}"
    listing = scene.listing()
    assert "[block ▶ probe]" in rows_in(listing)[4]
    assert "[block end]" in rows_in(listing)[19]
    assert header_line("Stage", listing) == "none"


def test_scenario_9_the_numbers_of_a_close_report_can_be_edited_in_the_same_turn(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    applied.host.answer("I look.", [("Bash", "a", f"first {BULK}")])
    applied.gets("context_edit", edits=[{"op": "summarize", "index": 3, "text": "numbers"}])
    applied.apply()
    begun, _ = applied.host.answer("Then.", [("Bash", "b", BULK), ("Bash", "c", f"third {BULK}")])
    opening = {"op": "open", "stage": "b", "tool_use_id": begun}
    report = applied.gets("context_tag", tags=[opening, {"op": "close"}])
    first, last = re.findall(r'closed "b" #(\d+)\.\.#(\d+):', report)[0]

    edit = {"op": "collapse", "index": int(first), "to": int(last), "summary": SUMMARY}
    answer = applied.gets("context_edit", edits=[edit])

    assert answer.startswith("q2 collapse")


def test_scenario_10_closing_with_no_stage_open_is_an_error_and_changes_nothing(
    scene: Scene,
) -> None:
    scene.prompt("go")
    scene.says("step")
    before = scene.listing(count=0)

    reason = scene.refused("context_tag", tags=[{"op": "close"}])

    assert "no stage is open" in reason
    assert header_line("Stage", scene.listing(count=0)) == header_line("Stage", before) == "none"


def test_scenario_11_a_close_report_has_notes_media_pairs_and_a_text_for_the_stale_read(
    scene: Scene,
) -> None:
    paths = [str(scene.file(name, BULK)) for name in ("a.py", "b.py", "c.py")]
    content = "".join(f"{n}\t{line}\n" for n, line in enumerate(BULK.splitlines(), 1))
    scene.prompt("go")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "config"}])
    for path in paths:
        scene.uses("Read", content, file_path=path)
        note = {"op": "add", "ref": "last", "text": f"look at {path[-4:]} again"}
        if path != paths[2]:
            scene.gets("context_note", notes=[note])
    scene.uses("Screenshot", [image()])
    scene.uses("Edit", "done", file_path=paths[0], old_string="words", new_string="parts")

    report = scene.gets("context_tag", text("Done."), tags=[{"op": "close"}])

    assert header_line("Notes", report) == "2"
    assert "look at a.py again" in report
    assert "look at b.py again" in report
    assert header_line("Media", report).startswith("1 image, 0 documents, ")
    assert header_line("Reproducible (~) pairs", report) == "3"
    assert "stale (1, " in report
    (ready,) = [line for line in report.splitlines() if "ready-made:" in line and "a.py" in line]
    assert "edited afterwards (#" in ready
    made = ready.partition("ready-made: ")[2]
    index = int(ready.split()[0].removeprefix("#"))
    queued = scene.gets("context_edit", edits=[{"op": "summarize", "index": index, "text": made}])
    assert queued.startswith("q1 summarize")
