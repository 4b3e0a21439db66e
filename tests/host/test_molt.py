"""A fresh start in the real host: work, journal, molt, edit, molt again, resume and fork; killed; cleared."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import Host, Typed, after_turns
from tests.host.plugin import (
    TOOLS,
    answered,
    edit,
    has_boundary,
    listing,
    log_of,
    numbers,
    seq,
    session_folder,
    shown,
    summarize,
    with_files,
)
from tests.host.scripted_model import Body, Step, call, say, think, use
from tests.host.wire import (
    Block,
    assert_legal,
    assert_same_conversation,
    blocks,
    is_service_text,
    messages_of,
)
from tests.support.journal import BODY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.host.host import Live, Run

pytestmark = [pytest.mark.host, pytest.mark.timeout(180)]

AREA = "knowledge/session-journal"
ENTRY = f"{AREA}/2026-11-30-molt-1-look/KNOWLEDGE.md"
SECOND = f"{AREA}/2026-11-30-molt-2-look/KNOWLEDGE.md"
HANDOFF = "goal: look at numbers; verified: seq counts; next: say that it is done"
FORBIDDEN = "Do not push to main."
OUTPUTS = 10
KEPT = ("toolu_sub", "toolu_journal", "toolu_small")

TABLES = {
    "environment": "You have been invoked in the following environment",
    "model": "You are powered by the model",
    "tools": "The following deferred tools are now available",
    "agents": "Available agent types for the Agent tool",
    "skills": "The following skills are available for use",
    "servers": "# MCP Server Instructions",
}
"""What the host tells of itself, and how each begins."""

HOSTS_WORDS = (
    *TABLES.values(),
    "<system-reminder>",
    "Today's date",
    "# Environment",
    "The following tools just became available",
)
"""How texts begin that the host puts into a request by itself."""


def molt(journal: str = ENTRY, **options: Any) -> Step:  # noqa: ANN401 - JSON of any shape
    asked = {"summary": HANDOFF, "session_journal_path": journal, **options}
    return call(use(f"{TOOLS}context_molt", asked))


def journal_written(call_id: str, path: str) -> dict[str, Any]:
    """A call that writes a journal entry and the index's pointer to it."""
    name = path.removeprefix(f"{AREA}/")
    lines = BODY.replace("\n", "\\n").replace("'", "")
    command = (
        f"mkdir -p $(dirname {path}) && printf -- '{lines}' > {path} && "
        f"echo '- {name}' >> {AREA}/KNOWLEDGE.md && echo written"
    )
    return use("Bash", {"command": command}, call_id)


def work(project: str) -> list[Step]:
    """Ten large outputs, then a read in a folder with instructions, the journal, and a small output."""
    steps = [
        say(f"look {k}", seq(100_000 * k, 100_000 * k + 4_000, f"toolu_big{k}"))
        for k in range(1, OUTPUTS + 1)
    ]
    read = use("Read", {"file_path": f"{project}/sub/x.txt"}, "toolu_sub")
    return [
        *steps,
        call(think("a thought"), read),
        call(journal_written("toolu_journal", ENTRY)),
        say("a small one", seq(1, 5, "toolu_small")),
    ]


@dataclass(frozen=True)
class Molted:
    """A session that molted twice.

    Attributes:
        host: The machine.
        run: The run.
        starts: The places of the first request after each molt.
    """

    host: Host
    run: Run
    starts: tuple[int, int]

    def body(self, number: int, later: int = 0) -> Body:
        """A request after a molt, from its first on."""
        return self.run.bodies[self.starts[number - 1] + later]

    def before(self, number: int) -> Body:
        """The last request before a molt."""
        return self.run.bodies[self.starts[number - 1] - 1]


def size(body: Body) -> int:
    return len(json.dumps(messages_of(body), ensure_ascii=False))


def is_handoff(block: Block) -> bool:
    return block.text.startswith("context-editor: the conversation was shed here by your molt")


def starts_in(bodies: Sequence[Body]) -> tuple[int, ...]:
    """Where a handoff is the first time in a request."""
    seen: set[str] = set()
    found: list[int] = []
    for at, body in enumerate(bodies):
        heads = [block.text for block in blocks(body) if is_handoff(block)]
        if heads and heads[0] not in seen:
            found.append(at)
        seen.update(heads)
    return tuple(found)


def machine_with_instructions(machine: Callable[..., Host]) -> Host:
    return with_files(
        machine(),
        {
            "CLAUDE.md": "Root rule: be kind.",
            "sub/CLAUDE.md": "Nested rule: be brief in sub.",
            "sub/x.txt": "x of sub\n" * 200,
        },
    )


@pytest.fixture(scope="module")
def molted(machine: Callable[..., Host]) -> Molted:
    host = machine_with_instructions(machine)
    script = [
        *work(str(host.project)),
        molt(keep_last=4),
        say("status: a molt is queued"),
        say("I go on", use(f"{TOOLS}context_list", {"what": "notice"}, "toolu_notice")),
        call(listing(count=30)),
        call(edit(summarize("toolu_sub", "x.txt says x of sub in each line."), resume=False)),
        say("status: one edit is queued"),
        call(journal_written("toolu_journal2", SECOND)),
        molt(SECOND, keep_last=0, keep_tool_calls=["toolu_small"]),
        say("status: another molt is queued"),
        say("I go on again", seq(1, 3, "toolu_again")),
        say("done"),
    ]
    typed = [Typed(f"Look at numbers. {FORBIDDEN}"), Typed("And on.", after_turns(4))]
    run = host.run(typed, script, timeout_s=120, end_when=after_turns(7))
    starts = starts_in(run.bodies)
    assert run.code == 0, run.stderr
    assert len(starts) == 2, [shown(body) for body in run.bodies[-6:]]
    return Molted(host, run, (starts[0], starts[1]))


def test_every_request_is_legal(molted: Molted) -> None:
    for body in molted.run.bodies:
        assert_legal(body)


def test_k_m16_the_first_request_holds_the_handoff_what_stays_and_the_hosts_words_alone(
    molted: Molted,
) -> None:
    after = blocks(molted.body(1))
    handoffs = [block for block in after if is_handoff(block)]
    calls = [block for block in after if block.kind == "tool_use"]
    results = [block.text for block in after if block.kind == "tool_result"]
    texts = [b.text for b in after if b.kind == "text" and not (is_hosts(b) or is_handoff(b))]
    own = [block for block in after if is_service_text(block) and not is_handoff(block)]

    assert len(handoffs) == 1
    assert HANDOFF in handoffs[0].text
    assert f"- {FORBIDDEN}" in handoffs[0].text
    assert tuple(block.call_id for block in calls) == KEPT
    assert results[0].startswith("1\tx of sub\n2\tx of sub")
    assert results[1] == "written"
    # The host joins its own words to the last result.
    assert results[2].partition("\n\n<system-reminder>")[0] == numbers(1, 5)
    assert texts == ["a small one", *(block.text for block in own)]
    assert {block.kind for block in after} == {"text", "tool_use", "tool_result"}


def is_hosts(block: Block) -> bool:
    """Whether the host says it by itself."""
    return block.text.startswith(HOSTS_WORDS)


@pytest.mark.parametrize("table", TABLES)
def test_the_hosts_tables_stand_once_from_the_first_tool_result_after_a_molt_on(
    molted: Molted, table: str
) -> None:
    for number in (1, 2):
        for later, least in ((0, 0), (1, 1)):
            sent = json.dumps(messages_of(molted.body(number, later)), ensure_ascii=False)
            assert least <= sent.count(TABLES[table]) <= 1, shown(molted.body(number, later))


def test_instructions_of_the_project_and_of_a_folder_that_was_entered_stay(molted: Molted) -> None:
    for number in (1, 2):
        sent = str(molted.body(number)["messages"])
        assert sent.count("Root rule: be kind.") == 1
        assert sent.count("Nested rule: be brief in sub.") == 1


def test_the_request_shrinks_to_a_fifth_at_most(molted: Molted) -> None:
    before, after = size(molted.before(1)), size(molted.body(1))

    assert before // 4 >= 60_000
    assert after <= 0.2 * before, (before, after)


def test_k_m9_the_notice_comes_once_and_is_read_again(molted: Molted) -> None:
    text = "molt m1 ("
    notices = [b for b in blocks(molted.body(1)) if text in b.text and not is_handoff(b)]

    assert len(notices) == 1
    assert "number 1 of this session" in notices[0].text
    again = [b for b in blocks(molted.body(1, 1)) if b.call_id == "toolu_notice"][-1]
    assert "number 1 of this session" in again.text
    assert "Decision: none" in again.text
    assert "Molt: m1 (" in answered(molted.body(1, 2))
    assert sum("m1 (" in b.text for b in blocks(molted.body(2)) if not is_handoff(b)) == 0


def test_an_edit_after_a_molt_is_applied(molted: Molted) -> None:
    results = [b for b in blocks(molted.before(2)) if b.call_id == "toolu_sub" and not b.name]

    assert results[0].text.startswith("Later, your context_edit summarize call replaced")
    lines = log_of(molted.host, molted.run.session_id)
    assert [line["trigger"] for line in lines] == ["molt", "manual", "molt"]
    assert all(line["resumable"] and not line["mismatch"] for line in lines), lines


def test_a_second_molt_in_the_same_process_begins_from_its_own_handoff(molted: Molted) -> None:
    after = blocks(molted.body(2))
    handoffs = [block for block in after if is_handoff(block)]

    assert len(handoffs) == 1
    assert "your molt m2" in handoffs[0].text
    assert f"- {FORBIDDEN}" in handoffs[0].text
    assert [b.call_id for b in after if b.kind == "tool_use"] == ["toolu_small"]


def test_k_m7_the_snapshots_hold_what_was_shed(molted: Molted) -> None:
    folder = session_folder(molted.host, molted.run.session_id) / "molts"
    first, second = sorted(folder.glob("molt_*.json"))

    document = json.loads(first.read_bytes())
    results = {p["call_id"]: p["text"] for p in document["pieces"] if "call_id" in p}
    assert results["toolu_big3"] == numbers(300_000, 304_000)
    assert json.loads(second.read_bytes())["journal"] == SECOND
    assert len(list(folder.glob("molt_*.md"))) == 2


@pytest.mark.parametrize("is_fork", [False, True], ids=["resume", "fork"])
def test_c25_resumed_and_forked_it_is_sent_what_the_live_session_was(
    molted: Molted,
    is_fork: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    resumed = molted.host.run(
        "next please", [say("resumed")], resume=molted.run.session_id, fork=is_fork
    )

    assert_legal(resumed.bodies[0])
    assert_same_conversation(molted.run.bodies[-1], resumed.bodies[0])
    assert "number 2 of this session" not in str(messages_of(resumed.bodies[0])[-1])


# --- killed ------------------------------------------------------------------------------------------


def short_work() -> list[Step]:
    return [
        say("look", seq(1_000, 3_000, "toolu_big1"), journal_written("toolu_journal", ENTRY)),
        molt(keep_last=0),
        say("status: a molt is queued"),
    ]


def has_intent(live: Live) -> bool:
    """Whether an apply was handed over to the host."""
    states = (live.project.parent / "home" / ".claude").glob("plugins/data/*/sessions/*/state.json")
    return any(b'"intent": {' in path.read_bytes() for path in states)


@pytest.mark.parametrize("moment", [has_intent, has_boundary])
def test_c25_killed_at_a_step_the_old_conversation_stands_or_the_new_one(
    machine: Callable[..., Host], moment: Callable[[Live], bool]
) -> None:
    host = machine()
    run = host.run("go", [*short_work(), Step(delay_s=5)], kill_when=moment)
    assert run.code < 0
    resumed = host.run("and?", [say("here")], resume=run.session_id)
    body = resumed.bodies[0]
    texts = [block.text for block in blocks(body)]
    is_new = any(map(is_handoff, blocks(body)))

    assert_legal(body)
    assert is_new != (numbers(1_000, 3_000) in texts), shown(body)
    if moment is has_boundary:
        assert is_new
    later = host.run("and then?", [say("still here")], resume=run.session_id)
    assert_same_conversation(resumed.bodies[-1], later.bodies[0])


# --- without mods, and forced ------------------------------------------------------------------------


def cleared(host: Host, script: list[Step], command: str = "/clear") -> Run:
    typed = [
        Typed(f"go. {FORBIDDEN}"),
        Typed(command, after_turns(1)),
        Typed("what now?", after_turns(2)),
    ]
    return host.run(typed, script, end_when=after_turns(3))


def test_k_m16_where_mods_are_off_clear_carries_the_molt_out(
    program: Path, plugin: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "plugin" / "context-editor"
    shutil.copytree(plugin, bare, symlinks=True)
    hooks = bare / "hooks" / "hooks.json"
    told = json.loads(hooks.read_bytes())
    hooks.write_text(
        json.dumps({k: v for k, v in told.items() if k != "modules"}), encoding="utf-8"
    )
    run = cleared(Host(program, tmp_path / "m", plugins=[bare]), [*short_work(), say("read")])
    sent = json.dumps(messages_of(run.bodies[-1]))

    assert "Tell the person to run /clear" in answered(run.bodies[-2])
    assert "molt m1" in sent
    assert HANDOFF in sent
    assert sent.count(FORBIDDEN) == 1
    assert "2999" not in sent


@pytest.mark.parametrize(
    ("command", "more"),
    [("/clear", []), ("/compact", [say("the host's summary")])],
    ids=["clear", "compact"],
)
def test_k_m15_what_the_host_sheds_is_told_once_with_its_snapshot(
    machine: Callable[..., Host], command: str, more: list[Step]
) -> None:
    host = machine()
    script = [say("look", seq(1_000, 3_000, "toolu_big1")), say("done"), *more, say("read")]
    run = cleared(host, script, command)
    (snapshot,) = (host.home / ".claude" / "plugins" / "data").glob("*/sessions/*/molts/forced_*")

    sent = [b for b in blocks(run.bodies[-1]) if "forced, no journal" in b.text]
    assert len(sent) == 1
    assert str(snapshot) in sent[0].text
    assert "2999" in snapshot.read_text(encoding="utf-8")


# --- at a terminal -----------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_at_a_terminal_a_molt_goes_on_by_itself_and_idleness_is_told_once(
    machine: Callable[..., Host],
) -> None:
    host = with_files(
        machine(), {".context-editor.toml": "idle_reminder_seconds = 2\n", ENTRY: BODY}
    )
    look = say("look", seq(1_000, 3_000, "toolu_big1"))
    script = [look, molt(keep_last=0), say("status: a molt is queued"), say("I go on.")]
    with host.terminal(script) as terminal:
        terminal.wait_until(
            lambda: "Successfully connected" in terminal.debug.read_text(encoding="utf-8"),
            "the plugin's server is connected",
        )
        terminal.submit("go")
        terminal.wait_for("I go on.")
        screen = terminal.wait_for("context-editor: idle for 2 s.")
        bodies = [exchange.body for exchange in terminal.model.exchanges]

    sent = json.dumps(messages_of(bodies[-1]), ensure_ascii=False)
    assert any(map(is_handoff, blocks(bodies[-1]))), shown(bodies[-1])
    assert HANDOFF in sent
    assert screen.count("context-editor: idle for 2 s.") == 1
    assert "idle" not in sent
