"""Archive records and the two questions (rules L11 to L15)."""

import json
from typing import Any

import pytest
from tests.support.policy_rows import Talk, prose

from context_editor.core.assemble import OwnFacts
from context_editor.core.edits.model import Op, Replacement
from context_editor.core.edits.wording import summarized
from context_editor.core.policy.gate import Fill
from context_editor.core.policy.preserved import preserved
from context_editor.core.policy.questions import (
    dropped,
    dropped_detail,
    dropped_words,
    held,
    held_words,
)
from context_editor.core.policy.record import (
    Exchange,
    RecordHead,
    archive_file,
    archive_record,
    batch_id,
    next_batch_number,
    record_item,
    record_sources,
    record_time,
    run_name,
)
from context_editor.core.policy.settings import PolicySettings

HEAD = RecordHead("2026-04-22T03:10:00+08:00", "s1", "offload_0007", "token_budget_exceeded")


def stored(digest: str | None = "the digest") -> dict[str, Any]:
    talk = Talk()
    talk.tool("WebFetch", {"url": "https://example.org/a"}, "see owner/repo#3")
    talk.bash("make", "done")
    rows = talk.conversation().rows
    record = archive_record(
        HEAD, [record_item(row) for row in rows], Exchange(digest, 900, 40), record_sources(rows)
    )
    loaded: dict[str, Any] = json.loads(json.dumps(record))
    return loaded


def test_scenario_66_record_has_every_field_and_survives_json() -> None:
    record = stored()

    assert record["ts"] == HEAD.ts
    assert record["session_id"] == "s1"
    assert record["batch_id"] == "offload_0007"
    assert record["reason"] == "token_budget_exceeded"
    assert record["digest_replacing_inline"] == "the digest"
    assert (record["original_token_count"], record["digest_token_count"]) == (900, 40)
    assert record["schema"] == 1
    assert record["source"] == ["https://example.org/a", "owner/repo#3"]
    assert record["tool_use_ids"] == ["toolu_0", "toolu_2"]
    item = record["items"][1]
    assert (item["kind"], item["tool_name"], item["result"]) == ("tool", "Bash", "done")
    assert item["args"] == {"command": "make"}
    assert item["pieces"] == []


def test_l11_record_without_a_digest_says_null_and_zero() -> None:
    record = stored(None)

    assert record["digest_replacing_inline"] is None
    assert record["digest_token_count"] == 0


def test_l11_row_that_is_no_call_has_no_tool() -> None:
    talk = Talk()
    talk.say("a plan")

    item = record_item(talk.conversation().rows[0], [{"handle": "h0"}])

    assert (item["kind"], item["tool_name"], item["args"]) == ("text", None, {})
    assert item["pieces"] == [{"handle": "h0"}]


def test_l21_malformed_items_are_listed_and_the_channel_is_named() -> None:
    talk = Talk()
    talk.tool("mcp__arxiv__find", {}, '[{"title": "T", "url": ""}, {"title": "T", "url": "u"}]')

    item = record_item(talk.conversation().rows[0])

    assert item["malformed"] == 1
    assert item["channel"] == "arxiv"


@pytest.mark.parametrize(
    "text", ["[", "[1, 2]", "{}", '{"results": 3}', "null", "[{}]", "[" * 9_000]
)
def test_l21_odd_results_never_crash(text: str) -> None:
    talk = Talk()
    talk.tool("mcp__x__y", {}, text)

    assert "malformed" not in record_item(talk.conversation().rows[0])


def test_scenario_66_batch_ids_rise_from_what_the_files_hold() -> None:
    assert next_batch_number([]) == 1
    assert next_batch_number(["offload_0007", "offload_0003", "odd", "offload_12000"]) == 12_001
    assert batch_id(7) == "offload_0007"


def test_l12_times_hold_their_offset_and_file_names_no_colon() -> None:
    ts = record_time(1_776_798_600.7, 480)

    assert ts == "2026-04-22T03:10:00+08:00"
    assert run_name(ts) == "20260422T031000+0800"
    assert archive_file("offloaded/<ts>.jsonl", ts) == "offloaded/20260422T031000+0800.jsonl"


# --- what is still held -------------------------------------------------------------------------


def test_scenario_67_what_is_held_equals_the_listing() -> None:
    talk = Talk()
    talk.person("the task")
    first = talk.bash("make", summarized("policy", "Bash make", "c1", "/o", (), prose(400)))
    talk.bash("test", prose(800))
    own = OwnFacts(replacements={first: "c1"})
    ground = talk.ground(own=own)
    replacement = Replacement(
        "c1", Op.SUMMARIZE, "policy", (first,), "Bash make", "/o", "r@0", targets=("file:/a",)
    )
    keep = preserved(ground.conversation, {}, {})

    answer = held(
        ground.names, ground.sizer, {"c1": replacement}, keep, (Fill(50, 100), PolicySettings())
    )

    rows = ground.conversation.listed
    names = {ground.names.words(row): ground.sizer.row(row) for row in rows}
    assert [row.source for row in answer.inline] == ["Bash test"]
    assert [row.source for row in answer.replaced] == ["Bash make"]
    assert [row.note for row in answer.preserved] == ["first prompt"]
    for shown in (*answer.inline, *answer.replaced, *answer.preserved):
        assert names[shown.name] == shown.tokens
    words = held_words(answer)
    assert "acts from 70 % down to 40 %" in words
    assert "Tool results inline: 1, 200" in words
    assert "c1 summarize by policy of /a, record r@0" in words


# --- what was dropped ---------------------------------------------------------------------------


def test_scenario_67_what_was_dropped_totals_the_records_and_a_detail_prints_originals() -> None:
    records = [stored(), stored(None)]
    batches = dropped(records)

    words = dropped_words(batches)

    assert sum(len(batch.items) for batch in batches) == 4
    assert words.startswith("Archived: 4 item(s) in 2 record(s), 1.8k tokens saved")
    assert "WebFetch https://example.org/a" in words
    detail = dropped_detail(records[0])
    assert "see owner/repo#3" in detail
    assert "the digest" in detail
    assert "only a pointer" in dropped_detail(records[1])


def test_scenario_69_unreadable_lines_are_counted_and_hide_no_other() -> None:
    assert "Unreadable: 1 line(s)" in dropped_words(dropped([stored()]), unreadable=1)


def test_l11_record_with_odd_fields_is_still_shown() -> None:
    odd: list[dict[str, Any]] = [{}, {"items": "x", "batch_id": 3}, {"items": [1, {"args": []}]}]

    assert [batch.id for batch in dropped(odd)] == ["?", "?", "?"]
    assert dropped_detail(odd[2])
