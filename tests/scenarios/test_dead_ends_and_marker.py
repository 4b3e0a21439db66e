"""Acceptance scenarios of groups D and E, through the tools and the hooks."""

import pytest
from tests.support.scene import MARKER, Applied, Scene, header_line, number_of, rows_in

from context_editor.core.rows import PieceForm

BULK = "words of a long output, and more of them\n" * 60
NOTE = "dead end: the cache is not the cause; look at the clock"


def probe(scene: Scene) -> tuple[int, int]:
    """Seven rows of a dead end in a stage; the first and the last of them."""
    scene.prompt("why is it slow?")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "probe"}])
    for n in range(7):
        scene.uses("Bash", f"{n} {BULK}", command=f"probe {n}")
    listing = scene.listing()
    return number_of("probe 0", listing), number_of("probe 6", listing)


def disposable(first: int, last: int) -> dict[str, object]:
    return {"op": "add", "kind": "disposable", "index": first, "to": last, "note": NOTE}


def test_scenario_25_a_dead_end_is_queued_as_one_collapse_once_its_stage_closes(
    scene: Scene,
) -> None:
    first, last = probe(scene)

    scene.gets("context_tag", tags=[disposable(first, last)])

    assert scene.queued == 0
    marked = [row for row in rows_in(scene.listing()) if f"[disposable: {NOTE}]" in row]
    assert len(marked) == 7
    report = scene.gets("context_tag", tags=[{"op": "close"}])
    assert "Disposable replacements queued: 1" in report
    assert f"q1 collapse #{first}..#{last} (disposable)" in report
    assert scene.queued == 1


def test_scenario_26_a_single_own_text_holds_the_note_after_the_apply_and_no_other_row_changes(
    applied: Applied,
) -> None:
    applied.host.prompt("go")
    applied.host.answer(f"A long plan that led nowhere. {BULK}", [("Bash", "a", BULK)])
    applied.host.answer("Another way.")
    index = number_of("A long plan", applied.listing())
    mark = {"op": "add", "kind": "disposable", "index": index, "note": NOTE}
    applied.gets("context_tag", tags=[{"op": "open", "stage": "plan", "index": 2}, mark])
    applied.gets("context_tag", tags=[{"op": "close"}])
    before = [p.text for p in applied.host.pieces if "context_edit" not in p.label]

    applied.apply()

    texts = [p.text for p in applied.host.pieces if p.form is PieceForm.TEXT]
    (changed,) = [t for t in texts if t.startswith("Later, your context_tag disposable mark")]
    assert changed.endswith(f": {NOTE}")
    others = [p.text for p in applied.host.pieces if p.text != changed]
    assert others == [t for t in before if "long plan" not in t and t != "q1 queued"]


def test_scenario_27_a_range_over_a_person_row_becomes_two_replacements_with_a_warning(
    scene: Scene,
) -> None:
    scene.prompt("go")
    scene.gets("context_tag", tags=[{"op": "open", "stage": "probe"}])
    for n in range(3):
        scene.uses("Bash", f"{n} {BULK}", command=f"probe {n}")
    scene.prompt("and the clock?")
    for n in range(3, 6):
        scene.uses("Bash", f"{n} {BULK}", command=f"probe {n}")
    listing = scene.listing()
    person = number_of("and the clock?", listing)

    answer = scene.gets(
        "context_tag",
        tags=[disposable(number_of("probe 0", listing), number_of("probe 5", listing))],
    )

    assert f"Warning: #{person} " in answer
    assert "a person's words are never replaced" in answer
    report = scene.gets("context_tag", tags=[{"op": "close"}])
    assert "Disposable replacements queued: 2" in report
    listing = scene.listing()
    assert [row.split()[0] for row in rows_in(listing) if "[q1]" in row] == ["#2", "#3", "#4"]
    assert [row.split()[0] for row in rows_in(listing) if "[q2]" in row] == ["#6", "#7", "#8"]
    assert "[q" not in rows_in(listing)[person - 1]


def test_scenario_28_of_a_mark_and_the_agents_own_collapse_only_the_agents_is_applied(
    scene: Scene,
) -> None:
    first, last = probe(scene)
    scene.gets("context_tag", tags=[disposable(first, last)])
    scene.gets("context_tag", tags=[{"op": "close"}])
    own = {"op": "collapse", "index": first, "to": last, "summary": "fact: seven probes, no cause"}

    answer = scene.gets("context_edit", edits=[own])

    assert "q1 (a disposable mark on the same rows) gave way" in answer
    assert scene.queued == 1
    assert all("[q2]" in row for row in rows_in(scene.listing())[first - 1 : last])


ENDINGS = [
    pytest.param(f"All of it is done.\n\n{MARKER}", True, id="alone on the last line"),
    pytest.param(f"Done.\n\n{MARKER}\n \n\t\n", True, id="blank lines behind it"),
    pytest.param(f"Done.\n  {MARKER}\t\r\n", True, id="blanks around it"),
    pytest.param(MARKER, True, id="the whole answer"),
    pytest.param(f"Done. {MARKER}", False, id="shares its line"),
    pytest.param(f"Done.\n{MARKER}\nBye.", False, id="not the last line"),
    pytest.param(f"Done.\n> {MARKER}", False, id="quoted"),
    pytest.param(f"Done.\n`{MARKER}`", False, id="in backticks"),
    pytest.param(f"Done.\n- {MARKER}", False, id="in a list"),
    pytest.param(f"Done.\n**{MARKER}**", False, id="bold"),
    pytest.param(f"Done.\n```\n{MARKER}", False, id="in an open fence"),
    pytest.param(f"Done.\n```\n{MARKER}\n```", False, id="in front of a closing fence"),
    pytest.param("Done.\n[Context-Editor: Optimize]", False, id="other letters"),
    pytest.param("Done.", False, id="no marker"),
    pytest.param("", False, id="no words"),
]


@pytest.mark.parametrize(("answer", "is_valid"), ENDINGS)
def test_scenario_29_a_marker_counts_only_where_it_stands_alone_at_the_end(
    scene: Scene, answer: str, *, is_valid: bool
) -> None:
    probe(scene)

    scene.ends(answer)

    stage = header_line("Stage", scene.listing(count=0))
    assert stage.startswith("waiting: probe" if is_valid else "▶ probe")


def test_scenario_29_a_subagents_marker_does_not_count(scene: Scene) -> None:
    probe(scene)

    scene.ends(f"Done.\n{MARKER}", agent_id="agent-1")

    assert header_line("Stage", scene.listing(count=0)).startswith("▶ probe")


def test_scenario_29_a_turn_that_was_broken_off_leaves_no_block(scene: Scene) -> None:
    probe(scene)
    scene.says(f"Done.\n{MARKER}")
    scene.write()

    scene.hook("stop", last_assistant_message=None)

    assert header_line("Stage", scene.listing(count=0)).startswith("▶ probe")


def test_scenario_30_a_marker_closes_the_open_stage_and_changes_nothing_else(scene: Scene) -> None:
    first, last = probe(scene)
    scene.gets("context_tag", tags=[disposable(first, last)])
    rows = len(rows_in(scene.listing()))

    told = scene.ends(f"The probe is done.\n\n{MARKER}")

    assert "waiting to be compressed" in told
    answer = scene.listing()
    assert header_line("Stage", answer) == f"waiting: probe #{first}..#{last}"
    assert header_line("Queued", answer) == "0"
    assert len(rows_in(answer)) == rows + 1
    assert not (scene.folder / "queue").exists()


def test_scenario_31_a_stage_that_a_call_closed_in_the_turn_is_the_block_that_waits(
    scene: Scene,
) -> None:
    first, last = probe(scene)
    scene.gets("context_tag", tags=[{"op": "close"}])

    scene.ends(f"Done.\n{MARKER}")

    listing = scene.listing()
    assert header_line("Stage", listing) == f"waiting: probe #{first}..#{last}"
    assert sum("[block ▶" in row for row in rows_in(listing)) == 1
    assert "[block ▶ probe]" in rows_in(listing)[first - 1]


def test_scenario_32_the_next_prompt_names_the_waiting_block_once(scene: Scene) -> None:
    first, last = probe(scene)
    scene.ends(f"Done.\n{MARKER}")

    told = scene.prompt("go on")
    scene.ends("I go on.")
    later = scene.prompt("and now?")

    assert f'waiting block "probe" #{first}..#{last}' in told
    assert later == ""
    assert header_line("Stage", scene.listing(count=0)).startswith("waiting: probe")


def test_scenario_33_an_accepted_edit_ends_the_waiting_and_queues_the_dead_ends(
    scene: Scene,
) -> None:
    first, last = probe(scene)
    scene.gets("context_tag", tags=[disposable(first, last - 2)])
    scene.ends(f"Done.\n{MARKER}")
    scene.prompt("go on")
    edit = {"op": "summarize", "index": last, "text": "The last probe found nothing."}

    answer = scene.gets("context_edit", edits=[edit])

    assert '"probe" is no longer waiting' in answer
    assert f"collapse #{first}..#{last - 2} (disposable)" in answer
    listing = scene.listing(count=0)
    assert header_line("Stage", listing) == "none"
    assert header_line("Queued", listing).startswith("2 edit(s)")
