"""Which lines are live, and in which order the model reads them."""

import random
from pathlib import Path

import orjson
import pytest
from tests.support.transcripts import Transcript, call, text, thinking

from context_editor.core.rows import Piece, PieceForm
from context_editor.hosts.claude_code.transcript import LiveTranscript


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def pieces_of(session: Transcript, path: Path) -> tuple[Piece, ...]:
    live = LiveTranscript(session.write(path), orjson.loads)
    live.refresh()
    return live.pieces


def words(session: Transcript, path: Path) -> list[str]:
    """What each piece says: a call by its id, a result as `=id`."""
    return [
        piece.call.id if piece.call else f"={piece.call_id}" if piece.call_id else piece.text
        for piece in pieces_of(session, path)
    ]


def test_a_straight_session_is_read_in_its_order(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(thinking("hm"), text("looking"), call("Read", "t1", file_path="a"))
    session.result("t1")
    session.answer(text("done"))

    assert words(session, path) == ["go", "hm", "looking", "t1", "=t1", "done"]


def test_parallel_results_beside_the_walk_are_live(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    first, _ = session.answer(call("Read", "t1"), call("Read", "t2"))
    session.result("t2")
    session.result("t1", parent=first["uuid"])
    session.answer(text("done"))

    assert words(session, path) == ["go", "t1", "t2", "=t2", "=t1", "done"]


def test_all_rows_of_a_response_stand_in_front_of_its_results(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.block(call("Read", "t1"), "m1")
    session.result("t1")
    session.attachment("hook_additional_context", "about t1")
    session.block(call("Read", "t2"), "m1")
    session.result("t2")

    assert words(session, path) == ["go", "t1", "t2", "=t1", "about t1", "=t2"]


def test_a_result_stored_in_front_of_its_call_is_read_behind_it(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.result("t1")
    session.answer(call("Read", "t1"))
    session.answer(text("done"))

    assert words(session, path) == ["go", "t1", "=t1", "done"]


def test_interleaved_responses_are_put_in_order(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.block(text("m1 text"), "m1")
    session.block(call("Read", "t2"), "m2")
    session.block(call("Read", "t1"), "m1")
    session.result("t2")
    session.result("t1")

    assert words(session, path) == ["go", "m1 text", "t1", "=t1", "t2", "=t2"]


def test_what_a_person_rewound_away_is_not_live(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    kept = session.answer(text("answer"))[0]
    session.prompt("wrong way")
    session.answer(text("lost"))
    session.leaf = kept["uuid"]
    session.prompt("right way")
    session.answer(text("found"))

    assert words(session, path) == ["go", "answer", "right way", "found"]


def test_an_older_root_is_not_live(path: Path) -> None:
    session = Transcript()
    session.prompt("first try")
    session.answer(text("lost"))
    session.leaf = None
    session.prompt("second try")
    session.answer(text("found"))

    assert words(session, path) == ["second try", "found"]


def test_a_missing_parent_does_not_cut_the_chain(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(text("one"))
    session.leaf = "gone"
    session.prompt("more")
    session.answer(text("two"))

    assert words(session, path) == ["go", "one", "more", "two"]


def test_parents_lead_through_progress_lines(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.add({"type": "progress", "data": {"type": "hook_progress"}})
    session.answer(text("one"))

    assert words(session, path) == ["go", "one"]


def test_a_parent_circle_ends(path: Path) -> None:
    session = Transcript()
    first = session.prompt("go")
    answer = session.answer(text("one"))[0]
    first["parentUuid"] = answer["uuid"]

    assert words(session, path) == ["go", "one"]


def test_subagent_rows_are_not_live(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(call("Agent", "t1", description="look"))
    leaf = session.leaf
    session.prompt("subagent prompt")["isSidechain"] = True
    session.answer(text("subagent answer"))[0]["isSidechain"] = True
    session.leaf = leaf
    session.result("t1", "the report")
    session.answer(text("subagent late"))[0]["agentId"] = "a1"

    assert words(session, path) == ["go", "t1", "=t1"]


def test_attachments_behind_the_newest_row_are_live(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(call("Bash", "t1"))
    session.result("t1")
    session.queued("do not push")

    assert words(session, path)[-1].startswith("The user sent a new message")


def test_a_late_attachment_of_an_earlier_row_does_not_end_the_chain(path: Path) -> None:
    session = Transcript()
    first = session.prompt("go")
    session.answer(text("one"))
    session.attachment("hook_success", parent=first["uuid"], hookName="x")

    assert words(session, path) == ["go", "one"]


def test_only_what_follows_the_last_boundary_is_live(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(text("one"))
    session.boundary("auto")
    session.meta("summary", isCompactSummary=True)
    session.prompt("more")

    assert words(session, path) == ["summary", "more"]


def test_a_microcompact_boundary_changes_nothing(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.system("microcompact_boundary", microcompactMetadata={"trigger": "auto"})
    session.answer(text("one"))

    assert words(session, path) == ["go", "one"]


def test_rows_that_a_boundary_lists_as_preserved_follow_the_summary(path: Path) -> None:
    session = Transcript()
    session.prompt("old")
    session.answer(text("old answer"))
    kept = [session.prompt("recent"), *session.answer(text("recent answer"))]
    boundary = session.boundary("auto")
    summary = session.meta("summary", isCompactSummary=True)
    boundary["compactMetadata"]["preservedMessages"] = {
        "anchorUuid": summary["uuid"],
        "uuids": [row["uuid"] for row in kept],
    }
    session.prompt("more")

    assert words(session, path) == ["summary", "recent", "recent answer", "more"]


def test_a_preserved_stretch_is_walked_from_its_tail(path: Path) -> None:
    session = Transcript()
    session.prompt("old")
    head, tail = session.prompt("recent"), session.answer(text("recent answer"))[0]
    boundary = session.boundary("auto")
    summary = session.meta("summary", isCompactSummary=True)
    boundary["compactMetadata"]["preservedSegment"] = {
        "headUuid": head["uuid"],
        "tailUuid": tail["uuid"],
        "anchorUuid": summary["uuid"],
    }
    session.prompt("more")

    assert words(session, path) == ["summary", "recent", "recent answer", "more"]


def after_an_apply() -> Transcript:
    """A session behind an apply: kept rows have new uuids, kept results name their old parents."""
    session = Transcript()
    before = [
        session.prompt("go"),
        *session.answer(text("looking"), call("Read", "t1"), call("Bash", "t2")),
        session.result("t1", "one"),
        session.result("t2", "two"),
        *session.answer(text("done")),
    ]
    session.boundary()
    for row in before:
        session.kept(row)
    return session


def test_rows_kept_by_an_apply_are_whole(path: Path) -> None:
    """A kept result's parent is a line from before the boundary (see docs/host-notes.md)."""
    expected = ["go", "looking", "t1", "t2", "=t1", "=t2", "done"]

    assert words(after_an_apply(), path) == expected


def test_a_session_with_two_applies_shows_each_row_once(path: Path) -> None:
    session = after_an_apply()
    boundary = len(session.rows) - 7
    again = [row for row in session.rows[boundary:] if isinstance(row, dict)]
    session.boundary()
    for row in again:
        session.kept(row)

    assert words(session, path) == ["go", "looking", "t1", "t2", "=t1", "=t2", "done"]


def test_every_call_is_answered_behind_its_response_however_lines_are_mixed(path: Path) -> None:
    """The order that the API demands holds for any order of the lines of a response."""
    for seed in range(30):
        session = Transcript()
        session.prompt("go")
        session.answer(call("A", "t1"), call("B", "t2"), call("C", "t3"))
        for call_id in ("t1", "t2", "t3"):
            session.result(call_id)
        session.answer(text("done"))
        middle = session.rows[1:-1]
        random.Random(seed).shuffle(middle)  # noqa: S311
        session.rows[1:-1] = middle
        forms = [piece.form for piece in pieces_of(session, path)]

        assert forms[1:4] == [PieceForm.CALL] * 3
        assert forms[4:7] == [PieceForm.RESULT] * 3


# --- a person goes back ---------------------------------------------------------------------------


def worked(session: Transcript, n: int) -> str:
    """One turn with a call; the id of the line that its prompt follows."""
    before = session.leaf
    session.prompt(f"go {n}")
    session.answer(call("Read", f"t{n}"))
    session.result(f"t{n}")
    session.answer(text(f"done {n}"))
    return before or ""


def written_again(session: Transcript) -> None:
    """An apply that keeps every row since the last boundary."""
    rows = [row for row in session.rows if isinstance(row, dict)]
    starts = [at for at, row in enumerate(rows) if row.get("subtype") == "compact_boundary"]
    session.boundary()
    for row in rows[starts[-1] + 1 if starts else 0 :]:
        session.kept(row)


def test_a_prompt_that_goes_back_to_before_an_apply_stands_behind_what_stood_there_then(
    path: Path,
) -> None:
    session = Transcript()
    worked(session, 1)
    back = worked(session, 2)
    written_again(session)
    worked(session, 3)
    written_again(session)
    session.leaf = back
    worked(session, 4)

    assert words(session, path) == [
        *("go 1", "t1", "=t1", "done 1"),
        *("go 4", "t4", "=t4", "done 4"),
    ]


def test_a_person_may_go_back_to_before_an_apply_twice(path: Path) -> None:
    session = Transcript()
    worked(session, 1)
    back = worked(session, 2)
    written_again(session)
    session.leaf = back
    again = session.leaf
    worked(session, 3)
    session.leaf = again
    worked(session, 4)

    assert words(session, path) == [
        *("go 1", "t1", "=t1", "done 1"),
        *("go 4", "t4", "=t4", "done 4"),
    ]


def test_what_goes_on_behind_a_rewind_is_read_in_parts_as_at_once(path: Path) -> None:
    session = Transcript()
    worked(session, 1)
    back = worked(session, 2)
    written_again(session)
    live = LiveTranscript(session.write(path), orjson.loads, settled=1)
    live.refresh()
    session.leaf = back
    for n in range(3, 9):
        worked(session, n)
        session.write(path)
        live.refresh()

    assert live.pieces == pieces_of(session, path)
    assert [piece.text for piece in live.pieces if piece.form is PieceForm.PROMPT] == [
        "go 1",
        *(f"go {n}" for n in range(3, 9)),
    ]
