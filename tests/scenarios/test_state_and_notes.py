"""Acceptance scenarios of groups H and I, through the tools and the hooks."""

from tests.support.scene import Applied, Scene, number_of, ref_of, rows_in

BULK = "words of a long output, and more of them\n" * 60


def state(index: int) -> dict[str, object]:
    return {"op": "add", "kind": "state", "index": index}


def change(do: str, **facts: str) -> dict[str, object]:
    return {"op": "state", "changes": [{"do": do, **facts}]}


def slot_rows(listing: str) -> list[str]:
    return [row for row in rows_in(listing) if "[state]" in row]


# --- H ----------------------------------------------------------------------------------------------


def test_scenario_43_tagging_another_row_moves_the_state_slot(scene: Scene) -> None:
    scene.prompt("go")
    scene.says("The state of the work: nothing yet.")
    scene.says("The state of the work: one step.")
    scene.gets("context_tag", tags=[state(2)])

    scene.gets("context_tag", tags=[state(3)])

    assert [row.split()[0] for row in slot_rows(scene.listing())] == ["#3"]


def test_scenario_44_items_and_a_collapse_are_one_apply_and_the_slot_is_rebuilt(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    applied.host.answer("The state of the work.", [("Bash", "a", BULK), ("Bash", "b", BULK)])
    applied.gets("context_tag", tags=[state(2)])
    add = [
        {"do": "add", "kind": "plan", "text": "read the config"},
        {"do": "add", "kind": "plan", "text": "fix the clock"},
    ]
    applied.gets("context_edit", edits=[{"op": "state", "changes": add}])
    applied.apply()
    listing = applied.listing()
    first, last = number_of("Bash a", listing), number_of("Bash b", listing)
    collapse = {"op": "collapse", "index": first, "to": last, "summary": "fact: both are fine"}

    answer = applied.gets("context_edit", edits=[change("remove", id="p1"), collapse])
    report = applied.apply()

    assert "Queued: 2 edit(s)" in answer
    assert "applied 2 edit(s)" in report
    listing = applied.listing()
    (slot,) = slot_rows(listing)
    shown = applied.listing(row=slot.split()[1])
    assert "fix the clock" in shown
    assert "read the config" not in shown
    assert "Later, your" not in shown
    rewrite = {"op": "rewrite", "ref": slot.split()[1], "text": "all is done"}
    assert "the state slot" in applied.refused("context_edit", edits=[rewrite])


def test_scenario_45_an_unknown_item_refuses_the_whole_call(scene: Scene) -> None:
    scene.prompt("go")
    scene.says("The state of the work.")
    bulk = scene.uses("Bash", BULK, command="make")
    scene.gets("context_tag", tags=[state(2)])
    good = {"op": "summarize", "tool_use_id": bulk, "text": "It builds."}

    reason = scene.refused("context_edit", edits=[good, change("remove", id="p9")])

    assert "edits[1]" in reason
    assert "'p9'" in reason
    assert scene.queued == 0


# --- I ----------------------------------------------------------------------------------------------


def test_scenario_46_last_is_the_newest_result_that_is_not_ours(scene: Scene) -> None:
    scene.prompt("go")
    scene.uses("Read", "1\tconfig\n", file_path="/etc/app.conf")
    scene.listing()

    answer = scene.gets(
        "context_note", notes=[{"op": "add", "ref": "last", "text": "drop after the fix"}]
    )

    ref = ref_of("Read /etc/app.conf", scene.listing())
    assert answer.startswith("n1 noted, about #2 ")
    assert f"{ref} Read /etc/app.conf" in answer
    assert "“1 config”" in answer


def test_scenario_47_a_reminder_comes_once_at_the_prompt_after_two_further_turns(
    scene: Scene,
) -> None:
    scene.prompt("go")
    note = {"op": "add", "text": "drop it after the fix", "remind_in_turns": 2}
    scene.gets("context_note", notes=[note])
    scene.ends("noted")

    told = []
    for n in range(5):
        told.append(scene.prompt(f"turn {n}"))
        scene.ends("done")

    assert told == ["", "", "reminder from your note n1: drop it after the fix", "", ""]


def test_scenario_47_a_resume_neither_loses_nor_repeats_a_reminder(scene: Scene) -> None:
    scene.prompt("go")
    note = {"op": "add", "text": "drop it after the fix", "remind_in_turns": 1}
    scene.gets("context_note", notes=[note])
    scene.ends("noted")
    scene.prompt("one more")
    scene.ends("done")

    scene.hook("session-end", reason="other")
    scene.hook("session-start", source="resume")

    assert scene.prompt("go on") == "reminder from your note n1: drop it after the fix"
    scene.ends("done")
    scene.hook("session-start", source="resume")
    assert scene.prompt("and?") == ""


def test_scenario_48_a_note_follows_its_row_through_new_numbers_and_into_its_replacement(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    applied.host.answer("I look.", [("Bash", "a", BULK), ("Bash", "b", BULK)])
    (noted,) = applied.host.answer("Then.", [("Bash", "c", BULK)])
    applied.gets(
        "context_note", notes=[{"op": "add", "tool_use_id": noted, "text": "compare later"}]
    )
    listing = applied.listing()
    span = {"index": number_of("Bash a", listing), "to": number_of("Bash b", listing)}
    applied.gets("context_edit", edits=[{"op": "collapse", **span, "summary": "fact: fine"}])
    applied.apply()

    listing = applied.listing()
    row = next(row for row in rows_in(listing) if "Bash c" in row)
    assert f"n1 {' '.join(row.split()[:2])} Bash c: compare later" in notes_of(applied)
    index = number_of("Bash c", listing)
    edit = {"op": "collapse", "index": index - 1, "to": index, "summary": "fact: also fine"}
    applied.gets("context_edit", edits=[edit])
    applied.apply()

    (row,) = [row for row in rows_in(applied.listing()) if "[c2]" in row]
    assert f"n1 {' '.join(row.split()[:2])} " in notes_of(applied)
    assert "unlinked" not in notes_of(applied)


def notes_of(applied: Applied) -> str:
    return applied.gets("context_note", notes=[{"op": "list"}])
