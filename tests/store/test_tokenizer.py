import base64
import hashlib
import socket
from pathlib import Path

import pytest

from context_editor.store import tokenizer
from context_editor.store.tokenizer import TABLE_NAMES, O200kCounter, o200k_counter


@pytest.fixture
def table_bytes(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A table of the same form: every byte, and two words. Its digest is made the right one."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"he", b"llo", b"ll", b"hello"]
    lines = [base64.b64encode(token) + b" %d" % rank for rank, token in enumerate(tokens)]
    raw = b"\n".join(lines)
    monkeypatch.setattr(tokenizer, "TABLE_SHA256", hashlib.sha256(raw).hexdigest())
    return raw


@pytest.mark.parametrize("name", TABLE_NAMES)
def test_a_table_in_the_folder_gives_a_counter(
    tmp_path: Path, table_bytes: bytes, name: str
) -> None:
    (tmp_path / name).write_bytes(table_bytes)

    counter = o200k_counter(tmp_path)

    assert counter is not None
    assert counter("") == 0
    assert counter("x") == 1
    assert counter("xyz") == 3


def test_a_text_is_counted_once_and_then_remembered(tmp_path: Path, table_bytes: bytes) -> None:
    counter = _counter(tmp_path, table_bytes)

    assert [counter("he xyz") for _ in range(3)] == [counter("he xyz")] * 3
    assert counter.remembered == 1


def test_the_oldest_count_is_forgotten_when_too_many_are_kept(
    tmp_path: Path, table_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer, "REMEMBERED_TEXTS", 3)
    counter = _counter(tmp_path, table_bytes)

    counts = [counter("x" * number) for number in range(1, 8)]

    assert counter.remembered == 3
    assert counts == [counter("x" * number) for number in range(1, 8)]


def test_text_that_is_not_valid_unicode_is_counted_too(tmp_path: Path, table_bytes: bytes) -> None:
    assert _counter(tmp_path, table_bytes)("a\ud83db") > 0


def test_a_very_long_run_of_spaces_is_counted(tmp_path: Path, table_bytes: bytes) -> None:
    """tiktoken panics on it when it is counted at once."""
    assert _counter(tmp_path, table_bytes)(" " * 1_000_000) == 1_000_000


def test_the_name_of_a_special_token_counts_as_text(tmp_path: Path, table_bytes: bytes) -> None:
    assert _counter(tmp_path, table_bytes)("<|endoftext|>") > 1


def test_without_a_folder_or_a_table_there_is_no_counter(tmp_path: Path) -> None:
    assert o200k_counter(None) is None
    assert o200k_counter(tmp_path) is None
    assert o200k_counter(tmp_path / "missing") is None


def test_a_damaged_table_gives_no_counter_and_is_left_as_it_is(tmp_path: Path) -> None:
    table = tmp_path / TABLE_NAMES[0]
    table.write_bytes(b"IQ== 0\n")

    assert o200k_counter(tmp_path) is None
    assert table.read_bytes() == b"IQ== 0\n"


def test_a_damaged_table_is_named_where_the_counter_is_made_directly(tmp_path: Path) -> None:
    table = tmp_path / "table"
    table.write_bytes(b"IQ== 0\n")

    with pytest.raises(ValueError, match="is not the o200k_base table"):
        O200kCounter(table)


def test_no_network_is_used_whether_the_table_is_there_or_not(
    tmp_path: Path, table_bytes: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refused)

    assert o200k_counter(tmp_path) is None
    assert _counter(tmp_path, table_bytes)("hello") > 0


def _counter(folder: Path, raw: bytes) -> O200kCounter:
    (folder / TABLE_NAMES[0]).write_bytes(raw)
    counter = o200k_counter(folder)
    assert counter is not None
    return counter
