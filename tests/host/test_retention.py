"""The retention policy in the real host: it answers the host's own compaction, in the middle of a turn too."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import Host, Run, Typed, after_turns
from tests.host.plugin import edit, log_of, session_folder, with_files
from tests.host.scripted_model import Body, Step, call, say, use
from tests.host.wire import assert_legal, assert_same_conversation, blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

pytestmark = [pytest.mark.host, pytest.mark.timeout(400)]

RESULTS = 120
WINDOW = 100_000
AT_100K = ("--autocompact", str(WINDOW))
"""The host's own threshold is then 67,000 tokens, as its usage breakdown says."""

REPLACED = "Later, the retention policy replaced"


def file_text(number: int) -> str:
    """A file of 5,000 to 7,000 tokens with one planted fact at its end."""
    lines = (
        f"{(number * 7_919 + item * 104_729) % 10**6:06d} value of item {item} in file {number} is here"
        for item in range(450 + number * 37 % 150)
    )
    return "\n".join((*lines, f"FACT E{1000 + number} is fixed in v{number}.2.3"))


def is_summary_request(body: Body) -> bool:
    """Whether the host asks the model for a summary of the conversation."""
    return "create a detailed summary" in json.dumps(body["messages"][-1])


@dataclass
class Script:
    """Answers in order; a request for a summary takes none of them.

    Attributes:
        steps: The answers.
        summaries: The requests for a summary.
    """

    steps: Iterator[Step]
    summaries: list[Body] = field(default_factory=list[Body])

    def answer(self, body: Body) -> Step:
        if is_summary_request(body):
            self.summaries.append(body)
            return say("<summary>the host's own summary</summary>")
        return next(self.steps, say("over"))


def input_tokens(run: Run) -> list[int]:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return [sum(exchange.usage[name] for name in names) for exchange in run.exchanges]


def first_results(run: Run) -> dict[str, str]:
    """Each result as it was sent first: its original."""
    found: dict[str, str] = {}
    for body in run.bodies:
        for block in blocks(body):
            if block.kind == "tool_result":
                found.setdefault(block.call_id, block.text)
    return found


def originals(host: Host, session_id: str) -> dict[str, str]:
    """The archived texts, by path."""
    folder = session_folder(host, session_id) / "archive" / "originals"
    return {str(path): path.read_text(encoding="utf-8") for path in folder.iterdir()}


def records_of(host: Host, session_id: str) -> list[dict[str, Any]]:
    folder = session_folder(host, session_id) / "offloaded"
    lines = [
        line
        for path in sorted(folder.iterdir())
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines]


# --- 120 results in one turn ----------------------------------------------------------------------


@dataclass(frozen=True)
class Long:
    """One turn of 120 tool results, and the script that drove it."""

    host: Host
    run: Run
    script: Script


@pytest.fixture(scope="module")
def long(machine: Callable[..., Host]) -> Long:
    host = with_files(machine(), {f"f{n}.txt": file_text(n) for n in range(RESULTS)})
    steps = [
        say(f"reading {n}", use("Bash", {"command": f"cat f{n}.txt"}, f"toolu_b{n}"))
        for n in range(RESULTS)
    ]
    script = Script(iter((*steps, say("read all"))))
    run = host.run("go", [script.answer] * (RESULTS + 20), args=AT_100K, timeout_s=360)
    return Long(host, run, script)


def test_l17_the_policy_takes_over_at_least_five_times_in_one_turn_without_a_summary(
    long: Long,
) -> None:
    applies = log_of(long.host, long.run.session_id)

    assert long.run.answers() == ["read all"]
    assert len(applies) >= 5
    assert {apply["trigger"] for apply in applies} == {"auto"}
    assert all(apply["resumable"] and not apply["mismatch"] for apply in applies), applies
    assert long.script.summaries == []


def test_l17_every_request_is_legal_and_under_the_window(long: Long) -> None:
    assert len(long.run.bodies) == RESULTS + 1
    for body in long.run.bodies:
        assert_legal(body)
    assert max(input_tokens(long.run)) < WINDOW


def test_l17_each_result_reaches_the_model_whole_before_it_goes(long: Long) -> None:
    sent = first_results(long.run)

    assert all(sent[f"toolu_b{n}"].rstrip("\n") == file_text(n) for n in range(RESULTS))


def test_l6_every_original_stands_in_the_archive_byte_for_byte(long: Long) -> None:
    archived = set(originals(long.host, long.run.session_id).values())
    sent = first_results(long.run)
    now = {b.call_id: b.text for b in blocks(long.run.bodies[-1]) if b.kind == "tool_result"}

    gone = [f"toolu_b{n}" for n in range(RESULTS) if now.get(f"toolu_b{n}") != sent[f"toolu_b{n}"]]
    assert len(gone) > RESULTS - 15
    assert [name for name in gone if sent[name] not in archived] == []


def test_l9_facts_of_early_results_are_still_sent(long: Long) -> None:
    text = "\n".join(block.text for block in blocks(long.run.bodies[-1]))

    for number in range(RESULTS):
        fact = rf"\bE{1000 + number}\b.*\bv{number}\.2\.3\b"
        assert re.search(fact, text, re.DOTALL), number


def test_l6_every_pointer_in_the_last_request_leads_to_its_original(long: Long) -> None:
    archived = originals(long.host, long.run.session_id)
    sent = first_results(long.run)
    pointing = [b for b in blocks(long.run.bodies[-1]) if b.text.startswith(REPLACED)]

    assert pointing
    for block in pointing:
        (path,) = re.findall(r"\(original: ([^,)]+)", block.text)[:1]
        if block.call_id in sent and block.call_id.startswith("toolu_b"):
            assert archived[path] == sent[block.call_id]
        else:
            inner = re.findall(r"\(original: ([^,)]+)", archived[path])
            assert inner
            assert set(inner) <= archived.keys()


def test_l17_a_resume_is_sent_exactly_what_live_would_have_sent(long: Long) -> None:
    resumed = long.host.run("and?", [say("resumed")], resume=long.run.session_id)

    assert_same_conversation(long.run.bodies[-1], resumed.bodies[0])


def test_l6_a_digest_that_was_folded_and_its_original_come_back(long: Long) -> None:
    """In a fork, so that the session stays as it is for the other tests."""
    state = json.loads(
        (session_folder(long.host, long.run.session_id) / "state.json").read_text(encoding="utf-8")
    )
    standing = [made for made in state["replacements"].values() if not made.get("absorbed_by")]
    (fold,) = [made["id"] for made in standing if made["op"] == "collapse"]
    (first,) = [
        made["id"]
        for made in state["replacements"].values()
        if made.get("absorbed_by") == fold and made["source"] == "Bash cat f0.txt"
    ]
    script = [
        call(edit({"op": "restore", "id": fold})),
        say("queued the fold"),
        call(edit({"op": "restore", "id": first})),
        say("queued the original"),
        say("the end"),
    ]
    run = long.host.run(
        [Typed("bring it back")],
        script,
        resume=long.run.session_id,
        fork=True,
        end_when=after_turns(3),
        timeout_s=120,
    )

    results = {b.call_id: b.text for b in blocks(run.bodies[-1]) if b.kind == "tool_result"}
    assert results["toolu_b0"] == first_results(long.run)["toolu_b0"]
    assert results["toolu_b1"].startswith(REPLACED)


# --- where the policy does not suffice, stands down, or is not asked --------------------------------


def wordy(count: int) -> list[Step]:
    """Answers whose own words fill the context: the policy takes none of them."""
    return [
        say(
            f"my own words {n}: " + " ".join(f"thought{n}x{word}" for word in range(2200)),
            use("Bash", {"command": f"head -150 f{n}.txt"}, f"toolu_w{n}"),
        )
        for n in range(count)
    ]


def hosts_own(
    machine: Callable[..., Host], steps: Sequence[Step], settings: dict[str, Any] | None = None
) -> tuple[Host, Run, Script]:
    """One turn that the host compacts by itself."""
    host = with_files(machine(), {f"f{n}.txt": file_text(n) for n in range(12)})
    if settings is not None:
        configured(host, settings)
    script = Script(iter((*steps, say("the end"))))
    run = host.run("go", [script.answer] * (len(steps) + 12), args=AT_100K, timeout_s=120)
    return host, run, script


def configured(host: Host, options: dict[str, Any]) -> None:
    """Set the plugin's options on a machine, as the host keeps them."""
    path = host.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    settings = {"pluginConfigs": {"context-editor@inline": {"options": options}}}
    path.write_text(json.dumps(settings), encoding="utf-8")


def assert_all_archived(record: dict[str, Any], summary: Body, whole: dict[str, str]) -> None:
    """Fail unless a record holds every original that the host's summary takes the place of."""
    dropped = {b.call_id for b in blocks(summary) if b.kind == "tool_result"}
    kept = {item["tool_use_id"]: item["result"] for item in record["items"] if item["tool_use_id"]}
    assert record["reason"] == "forced"
    assert dropped
    assert {name: kept.get(name) for name in dropped} == {name: whole[name] for name in dropped}


def index_in(body: Body) -> str:
    """What the conversation is told of its archive after the host's own compaction."""
    found = [b.text for b in blocks(body) if "the host shortened this conversation" in b.text]
    assert len(found) == 1, [str(block) for block in blocks(body)]
    return found[0]


def test_l17_where_the_policy_does_not_suffice_the_host_compacts_what_is_left(
    machine: Callable[..., Host],
) -> None:
    host, run, script = hosts_own(machine, wordy(8))

    summary = script.summaries[0]
    replaced = [b for b in blocks(summary) if b.text.startswith(REPLACED)]
    after = run.bodies[run.bodies.index(summary) + 1]
    forced = [r for r in records_of(host, run.session_id) if r["reason"] == "forced"]
    assert run.answers() == ["the end"]
    assert replaced, "the host was handed a conversation that the policy had not reduced"
    assert_all_archived(forced[0], summary, first_results(run))
    (path,) = re.findall(r"archived word for word: (/\S+)", index_in(after))
    archived = originals(host, run.session_id)[path]
    assert all(f"thought{n}x7" in archived for n in range(4))
    for body in run.bodies:
        assert_legal(body)


def test_70_with_the_hosts_own_way_the_policy_stands_down_and_all_is_archived(
    machine: Callable[..., Host],
) -> None:
    reading = [
        say(f"reading {n}", use("Bash", {"command": f"cat f{n}.txt"}, f"toolu_b{n}"))
        for n in range(10)
    ]
    host, run, script = hosts_own(machine, reading, {"auto_compaction": "host"})

    assert len(script.summaries) == 1
    assert not any(b.text.startswith(REPLACED) for b in blocks(script.summaries[0]))
    (record,) = records_of(host, run.session_id)
    assert_all_archived(record, script.summaries[0], first_results(run))
    after = run.bodies[run.bodies.index(script.summaries[0]) + 1]
    assert record["batch_id"] in index_in(after)


def test_a_persons_own_compact_is_archived_and_left_to_the_host(
    machine: Callable[..., Host],
) -> None:
    host = with_files(machine(), {"f0.txt": file_text(0)})
    steps = [say("reading", use("Bash", {"command": "cat f0.txt"}, "toolu_b0")), say("read")]
    script = Script(iter((*steps, say("after it"))))
    typed = [
        Typed("go"),
        Typed("/compact keep the numbers", after_turns(1)),
        Typed("and now?", after_turns(2)),
    ]
    run = host.run(typed, [script.answer] * 8, end_when=after_turns(3))

    assert len(script.summaries) == 1
    (record,) = records_of(host, run.session_id)
    assert_all_archived(record, script.summaries[0], first_results(run))
    assert record["batch_id"] in index_in(run.bodies[-1])
    assert run.answers()[-1] == "after it"


def test_lp_a_wrong_setting_is_named_and_the_policy_does_not_start(
    machine: Callable[..., Host],
) -> None:
    wrong = {"offload_trigger_token_ratio": 0.3, "offload_target_token_ratio": 0.5}
    host = with_files(machine(), {"f0.txt": file_text(0)})
    configured(host, wrong)
    script = [call(edit({"op": "policy"})), say("the end")]
    run = host.run("go", script)

    (result,) = [b.text for b in blocks(run.bodies[-1]) if b.kind == "tool_result"]
    assert "the retention policy does not start" in result
    assert "offload_target_token_ratio" in result
    told = (session_folder(host, run.session_id) / "settings_told").read_text(encoding="utf-8")
    assert "offload_target_token_ratio is 0.5" in told


def test_the_data_folder_of_a_setting_holds_the_session_and_its_queue(
    machine: Callable[..., Host],
) -> None:
    host = with_files(machine(), {"f0.txt": file_text(0)})
    data = host.root / "elsewhere"
    configured(host, {"data_dir": str(data)})
    summary = {"op": "summarize", "tool_use_id": "toolu_b0", "text": "numbers, nothing else"}
    script = [
        say("reading", use("Bash", {"command": "cat f0.txt"}, "toolu_b0")),
        call(edit(summary, resume="go on")),
        say("queued"),
        say("the end"),
    ]
    run = host.run([Typed("go")], script, end_when=after_turns(2))

    assert_is_session(data / "sessions" / run.session_id)
    assert "Later, your context_edit summarize" in json.dumps(run.bodies[-1])
    assert not list((host.home / ".claude" / "plugins" / "data").glob("*/sessions/*"))


def assert_is_session(folder: Path) -> None:
    assert (folder / "state.json").is_file()
    assert list((folder / "archive" / "originals").iterdir())


def test_l5_the_hosts_small_model_writes_the_digests_of_an_asked_pass(
    machine: Callable[..., Host],
) -> None:
    """The scripted model answers every request without tools by one word, so that each try lacks specifics."""
    host = with_files(machine(), {f"f{n}.txt": file_text(n) for n in range(16)})
    configured(host, {"digest_model": "fast"})
    reads = [
        use("Bash", {"command": f"head -60 f{n}.txt; tail -1 f{n}.txt"}, f"toolu_b{n}")
        for n in range(16)
    ]
    script = [
        say("reading", *reads),
        call(edit({"op": "policy", "target": 0.01}, resume="go on")),
        say("queued"),
        say("the end"),
    ]
    run = host.run([Typed("go")], script, end_when=after_turns(2), timeout_s=120)

    results = {b.call_id: b.text for b in blocks(run.bodies[-1]) if b.kind == "tool_result"}
    digest = results["toolu_b0"].partition("open with Read): ")[2]
    assert digest.startswith("side\nSpecifics: ")
    assert all(f"E{1000 + n}" in digest and f"v{n}.2.3" in digest for n in range(3))
    assert results["toolu_b1"].startswith(REPLACED)
    (record, *_) = records_of(host, run.session_id)
    assert record["digest_replacing_inline"] == digest
