"""Reading a transcript: every oddity that files were seen to have, and reading only what is new."""

import json
from pathlib import Path

import orjson
import pytest
from tests.support.transcripts import SESSION, Transcript, line_of, text

from context_editor.hosts.claude_code.transcript import Loads, TranscriptReader


def reader_of(path: Path, content: bytes, loads: Loads = orjson.loads) -> TranscriptReader:
    path.write_bytes(content)
    reader = TranscriptReader(path, loads)
    reader.refresh()
    return reader


def uuids(reader: TranscriptReader) -> list[str]:
    return [entry.uuid for entry in reader.entries]


def two_prompts() -> tuple[Transcript, list[bytes]]:
    session = Transcript()
    session.prompt("one")
    session.prompt("two")
    return session, session.lines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_a_missing_file_reads_as_empty(path: Path) -> None:
    reader = TranscriptReader(path, orjson.loads)

    assert not reader.refresh()
    assert uuids(reader) == []


def test_an_entry_names_where_its_json_stands(path: Path) -> None:
    session, lines = two_prompts()
    reader = reader_of(path, session.bytes())

    assert [reader.raw_bytes(entry) for entry in reader.entries] == lines


def test_only_new_lines_are_read_at_a_refresh(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first + b"\n")
    before = reader.entries[0]
    with path.open("ab") as file:
        file.write(second + b"\n")

    assert reader.refresh()
    assert reader.entries[0] is before
    assert len(reader.entries) == 2
    assert not reader.refresh()


def test_a_half_written_last_line_is_taken_when_it_is_whole(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first + b"\n" + second[:40])
    assert len(reader.entries) == 1
    assert reader.unreadable == 0

    with path.open("ab") as file:
        file.write(second[40:] + b"\n")
    reader.refresh()

    assert len(reader.entries) == 2
    assert reader.unreadable == 0


def test_a_whole_last_line_without_its_newline_is_taken_once(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first)
    assert len(reader.entries) == 1

    with path.open("ab") as file:
        file.write(b"\n" + second)
    reader.refresh()

    assert len(reader.entries) == 2
    assert reader.unreadable == 0


def test_a_file_that_was_cut_is_read_anew(path: Path) -> None:
    session, (first, _) = two_prompts()
    reader = reader_of(path, session.bytes())
    path.write_bytes(first + b"\n")

    assert reader.refresh()
    assert len(reader.entries) == 1


def test_a_file_that_was_replaced_by_a_longer_one_is_read_anew(path: Path, tmp_path: Path) -> None:
    reader = reader_of(path, two_prompts()[0].bytes())
    other = Transcript(session="other")
    for n in range(5):
        other.prompt(f"other {n}")
    other.write(tmp_path / "new").replace(path)

    assert reader.refresh()
    assert len(reader.entries) == 5
    assert list(reader.sessions) == ["other"]


def test_a_file_rewritten_in_place_is_noticed_by_its_last_bytes(path: Path) -> None:
    reader = reader_of(path, two_prompts()[0].bytes())
    other = Transcript(session="other")
    for n in range(5):
        other.prompt(f"other {n}")
    with path.open("r+b") as file:
        file.write(other.bytes())

    assert reader.refresh()
    assert len(reader.entries) == 5


def test_a_file_that_is_gone_reads_as_empty_again(path: Path) -> None:
    reader = reader_of(path, two_prompts()[0].bytes())
    path.unlink()

    assert reader.refresh()
    assert uuids(reader) == []
    assert not reader.refresh()


def test_rows_patched_in_place_are_seen_after_a_reread(path: Path) -> None:
    session = Transcript()
    session.answer(text("hello"), response="msg_old1")
    reader = reader_of(path, session.bytes())
    path.write_bytes(session.bytes().replace(b"msg_old1", b"msg_new1"))

    assert reader.reread()
    assert reader.entries[0].message_id == "msg_new1"


def test_a_malformed_line_is_counted_and_skipped(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first + b'\n{"parentUuid": oops\n' + second + b"\n")

    assert len(reader.entries) == 2
    assert reader.unreadable == 1


@pytest.mark.parametrize("line", [b"[1, 2]", b"17", b'"text"', b"null"])
def test_json_that_is_no_record_is_counted(path: Path, line: bytes) -> None:
    assert reader_of(path, line + b"\n").unreadable == 1


def test_two_records_on_one_line_are_both_taken(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first + second + b"\n")

    assert len(reader.entries) == 2
    assert reader.unreadable == 0
    assert reader.raw_bytes(reader.entries[1]) == second


def test_a_record_behind_a_torn_one_is_taken(path: Path) -> None:
    session = Transcript()
    session.answer(text('naïve {"type": "text"} words'))
    session.prompt("two")
    torn, whole = session.lines()
    reader = reader_of(path, torn[:-60] + whole + b"\n")

    assert [entry.content for entry in reader.entries] == ["two"]
    assert reader.unreadable == 1
    assert reader.raw_bytes(reader.entries[0]) == whole


def test_blocks_of_a_torn_record_are_no_records(path: Path) -> None:
    session = Transcript()
    session.answer(text("words"))
    reader = reader_of(path, session.lines()[0][:-60] + b"\n")

    assert uuids(reader) == []
    assert reader.unreadable == 1


@pytest.mark.parametrize("loads", [orjson.loads, json.loads], ids=["orjson", "stdlib"])
def test_lone_surrogates_read_as_replacement_characters(path: Path, loads: Loads) -> None:
    row = line_of(Transcript().prompt("WORDS"))
    escapes = rb"a \ud800 b \udc00\ud83d\ude00 \\ud800 c"
    reader = reader_of(path, row.replace(b"WORDS", escapes) + b"\n", loads)

    assert reader.entries[0].content == "a \ufffd b \ufffd\U0001f600 \\ud800 c"
    assert reader.unreadable == 0


def test_bytes_that_are_not_utf8_read_as_replacement_characters(path: Path) -> None:
    row = line_of(Transcript().prompt("WORDS"))
    reader = reader_of(path, row.replace(b"WORDS", b"a \xff b") + b"\n")

    assert reader.entries[0].content == "a \ufffd b"


def test_comments_blank_lines_and_padding_are_no_rows(path: Path) -> None:
    _, (first, second) = two_prompts()
    content = b"# exported\n// by a tool\n\n" + first + b"\n" + b"\0" * 64 + b"\n  \n" + second
    reader = reader_of(path, content)

    assert len(reader.entries) == 2
    assert reader.unreadable == 0


def test_padding_in_front_of_a_record_is_passed_over(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, first + b"\n" + b"\0" * 64 + second + b"\n")

    assert reader.raw_bytes(reader.entries[1]) == second
    assert reader.unreadable == 0


def test_a_byte_order_mark_and_carriage_returns_are_passed_over(path: Path) -> None:
    _, (first, second) = two_prompts()
    reader = reader_of(path, b"\xef\xbb\xbf" + first + b"\r\n" + second + b"\r\n")

    assert [reader.raw_bytes(entry) for entry in reader.entries] == [first, second]
    assert reader.unreadable == 0


def test_a_line_of_two_megabytes_is_read(path: Path) -> None:
    session = Transcript()
    session.prompt("x" * 2_000_000)
    session.prompt("two")

    assert len(reader_of(path, session.bytes()).entries) == 2


def test_a_line_with_a_known_uuid_takes_the_earlier_ones_place(path: Path) -> None:
    session = Transcript()
    first = session.prompt("one")
    session.prompt("two")
    session.raw(line_of({**first, "message": {"role": "user", "content": "again"}}))
    reader = reader_of(path, session.bytes())

    assert [entry.content for entry in reader.entries] == ["again", "two"]
    assert [entry.index for entry in reader.entries] == [0, 1]


def test_sessions_and_forks_are_told_in_the_order_of_their_appearance(path: Path) -> None:
    session = Transcript()
    session.prompt("one", forkedFrom={"sessionId": "older", "messageUuid": "m"})
    session.session = "second"
    session.prompt("two")
    reader = reader_of(path, session.bytes())

    assert list(reader.sessions) == [SESSION, "second"]
    assert list(reader.forked_from) == ["older"]


def test_bookkeeping_lines_are_not_parsed(path: Path) -> None:
    parsed: list[bytes] = []

    def loads(line: bytes) -> object:
        parsed.append(line)
        return orjson.loads(line)

    session = Transcript()
    session.raw('{"type":"api-request-blob","hash":"h","message":{"role":"user"}}')
    session.raw('{"type":"cost-state","totalCostUSD":1}')
    session.raw('{"type":"queue-operation","operation":"enqueue"}')
    session.prompt("one")
    reader = reader_of(path, session.bytes(), loads)

    assert len(reader.entries) == 1
    assert [line for line in parsed if b"queue-operation" in line or b"api-request" in line] == []


def test_rows_patched_behind_a_boundary_are_read_anew_and_nothing_is_counted_twice(
    path: Path,
) -> None:
    session = Transcript()
    session.prompt("one")
    session.raw("{torn")
    session.boundary()
    session.raw("{torn, too")
    session.prompt("two")
    content = session.bytes()
    reader = reader_of(path, content)
    path.write_bytes(content.replace(b'"two"', b'"TWO"'))

    assert reader.reread()

    assert reader.entries[-1].content == "TWO"
    assert [entry.type for entry in reader.entries] == ["user", "system", "user"]
    assert reader.unreadable == 2
    assert not reader.refresh()


def test_content_in_front_of_a_boundary_is_let_go_and_can_be_read_again(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.boundary()
    session.prompt("two")
    reader = reader_of(path, session.bytes())
    first = reader.entries[0]

    assert first.content is None
    assert [entry.content for entry in reader.loaded([first])] == ["one"]
    assert [entry.type for entry in reader.entries[reader.boundaries[-1] :]] == ["system", "user"]


def test_a_subagents_boundary_lets_nothing_go(path: Path) -> None:
    session = Transcript()
    session.prompt("one")
    session.boundary()["isSidechain"] = True
    reader = reader_of(path, session.bytes())

    assert reader.boundary is None
    assert reader.entries[0].content == "one"
