"""What the close report of a block lists (B4 and G7)."""

from dataclasses import replace

from tests.support.rows import conversation, ground, person, picture, text, tool
from tests.support.work import Session, closing, opening

from context_editor.core.candidates.model import Candidate, Cause
from context_editor.core.close_report import ReportFacts
from context_editor.core.names import Target
from context_editor.core.notes import NoteOp, apply_notes
from context_editor.core.tags import TagContext, apply_tags

READY = "Read a.py; edited afterwards (#6), so this copy is out of date; read again if needed."


def test_b4_everything_is_listed_and_zero_is_written_as_0() -> None:
    session = Session(conversation(text("one"), text("two"), text("three")))

    report = session.tag(opening("X", 1), closing()).texts[1]

    assert report.splitlines() == [
        'closed "X" #1..#3: 3 rows, 4 tokens',
        "Person rows: 0",
        "Media: 0 images, 0 documents, 0 tokens",
        "Review: 0 candidates",
        "Reproducible (~) pairs: 0",
        "Notes: 0",
        "Disposable replacements queued: 0",
        "Effect: 0 edit(s), 0 saved, 0 reread(s) of compressed content",
        "Suggestion: none due",
    ]


def test_scenario_11_notes_media_pairs_and_a_stale_read_are_in_the_report() -> None:
    talk = conversation(
        text("before the block"),
        person("look", media=(picture(1_600),)),
        tool("Read", "a.py", "x" * 4_000),
        tool("Grep", "needle", "y" * 400),
        tool("Glob", "**", "z" * 400),
        tool("Edit", "a.py", "done"),
    )
    rows = talk.listed
    session = Session(talk)
    for number in (3, 5, 1):
        op = NoteOp("add", target=Target(index=number), text=f"note on {number}")
        session.work = apply_notes(session.work, [op], session.moment(), session.ids).work
    facts = ReportFacts(
        candidates=(
            Candidate(rows[2].anchor, (Cause.STALE, Cause.BIG), 1_000, READY),
            Candidate(rows[0].anchor, (Cause.BIG,), 5_000),
        ),
        effect="2 edit(s), 9.1k saved, 0 reread(s) of compressed content",
        suggestion="one batch, 9.0k saved",
    )
    around = replace(ground(talk), reproducible=frozenset(row.anchor for row in rows[2:5]))
    context = TagContext(around, session.ids, facts=facts)

    report = apply_tags(session.work, [opening("X", 2), closing()], context).texts[1]

    lines = report.splitlines()
    assert "Person rows: 1 (#2); edit around them: #3..#6" in lines
    assert "Media: 1 image, 0 documents, 1.6k tokens" in lines
    assert "Review: 1 candidate, 1.0k (stale 1)" in lines
    assert any(
        line.startswith("  #3 ") and "(also big)" in line and READY in line for line in lines
    )
    assert "Reproducible (~) pairs: 3" in lines
    assert "Notes: 2" in lines
    assert [line.split()[:2] for line in lines if "note on" in line] == [["n1", "#3"], ["n2", "#5"]]
    assert "Effect: 2 edit(s), 9.1k saved, 0 reread(s) of compressed content" in lines
    assert "Suggestion: one batch, 9.0k saved" in lines


def test_sizes_are_approximate_until_they_are_calibrated() -> None:
    session = Session(conversation(text("one"), text("two")))
    session.facts = ReportFacts(is_approx=True)

    report = session.tag(opening("X", 1), closing()).texts[1]

    assert report.startswith('closed "X" #1..#2: 2 rows, approx. 2 tokens')


def test_media_without_a_known_size_are_sized_by_their_row() -> None:
    talk = conversation(person("x" * 400, media=(picture(0),)), text("seen"))
    session = Session(talk)

    report = session.tag(opening("X", 1), closing()).texts[1]

    assert "Media: 1 image, 0 documents, 100 tokens" in report
