"""`held`, `dropped` and `policy` as real processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.support.transcripts import SESSION, Transcript, call

if TYPE_CHECKING:
    from tests.cli.conftest import Machine

WORDS = "plain words of a long output that hold no value at all\n" * 320


@pytest.fixture
def reading(bare: Machine) -> Machine:
    """A machine with a session of twenty results."""
    transcript = Transcript()
    transcript.prompt("Read it all.")
    for n in range(20):
        transcript.answer(call("Bash", f"toolu_{n}", command=f"cat f{n}"))
        transcript.result(f"toolu_{n}", f"{WORDS}the run of E{1042 + n} ended\n")
    bare.transcripts.mkdir(parents=True)
    transcript.write(bare.transcripts / f"{SESSION}.jsonl")
    return bare


def test_policy_shows_a_table_and_changes_nothing(reading: Machine) -> None:
    transcript = reading.transcripts / f"{SESSION}.jsonl"
    before = transcript.read_bytes()

    ran = reading.run("policy", "--window", "200000", "--target", "0.05")

    assert ran.code == 0, ran.err
    assert ran.out.startswith("Policy: ")
    assert "oldest first, digested" in ran.out
    assert ran.out.endswith("Nothing was changed; --apply makes the edited copy.\n")
    assert transcript.read_bytes() == before
    assert reading.run("list", "--json").json["header"]["Queued"] == "0"


def test_policy_without_a_known_window_says_that_it_is_off(reading: Machine) -> None:
    assert "the size of the context window is unknown" in reading.run("policy").out


@pytest.mark.parametrize("target", ["0", "1", "40"])
def test_policy_refuses_a_target_that_is_no_share(reading: Machine, target: str) -> None:
    ran = reading.run("policy", "--target", target)

    assert ran.code == 1
    assert "allowed: a number above 0 and below 1" in ran.err


def test_policy_with_wrong_settings_does_not_start_and_names_the_key(reading: Machine) -> None:
    (reading.project / ".context-editor.toml").write_text(
        "offload_target_token_ratio = 0.9\n", encoding="utf-8"
    )

    ran = reading.run("policy", "--window", "200000")

    assert ran.code == 1
    assert "the retention policy does not start" in ran.err
    assert "offload_target_token_ratio is 0.9" in ran.err


def test_policy_applies_to_a_copy_that_says_what_it_holds_and_dropped(reading: Machine) -> None:
    window = ("--window", "200000", "--target", "0.05")
    copy = reading.run("policy", *window, "--apply", "--json").json["session"]

    held = reading.run("held", copy, "--json").json
    dropped = reading.run("dropped", "--session", copy, "--json").json
    first = reading.run("dropped", "offload_0001", "--session", copy)

    gone = sum(len(record["items"]) for record in dropped["records"])
    assert gone >= 3
    assert (len(held["inline"]), len(held["replaced"])) == (20 - gone, gone)
    assert f"{WORDS}the run of E1042 ended\n" in first.out
    grep = reading.run("dropped", "--grep", "E1043", "--session", copy)
    assert "in 1 record(s)" in grep.out
    assert reading.run("held", copy).out.startswith("Context: ")


def test_dropped_names_what_there_is_where_an_id_is_unknown(reading: Machine) -> None:
    ran = reading.run("dropped", "c7")

    assert ran.code == 1
    assert "there is no record 'c7': nothing was archived yet" in ran.err
    assert reading.run("dropped").out.startswith("Archived: 0 item(s)")
    assert json.loads(reading.run("dropped", "--json").out)["records"] == []
