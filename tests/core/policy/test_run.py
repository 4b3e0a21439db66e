"""The retention policy's passes (rules L1 to L9, L16 to L19)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.policy_rows import Talk, prose

from context_editor.core import specifics
from context_editor.core.candidates.find import Review, candidates
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import Op
from context_editor.core.policy.candidates import PolicyGround, policy_rows
from context_editor.core.policy.digesting import ForeignDigest
from context_editor.core.policy.gate import Fill, Moment, PolicyMemory, Situation
from context_editor.core.policy.report import outcome_words
from context_editor.core.policy.run import Outcome, Request, run, tool_calls
from context_editor.core.policy.settings import PolicySettings, policy_settings
from context_editor.core.rows import RowKind

THREE = PolicySettings(keep_last_k_tool_results=3)


def results(talk: Talk, count: int, chars: int = 4_000) -> list[str]:
    return [talk.bash(f"step {n}", prose(chars, f"step{n}")) for n in range(count)]


def ground_of(talk: Talk, kept_as: Mapping[str, str] | None = None) -> PolicyGround:
    ground = talk.ground()
    return PolicyGround(ground, candidates(Review(ground)), kept_as or {})


def asked(
    ground: PolicyGround,
    tokens: int = 150_000,
    *,
    moment: Moment = "asked",
    window: int = 200_000,
    given_settings: PolicySettings | None = None,
    foreign: ForeignDigest | None = None,
) -> Outcome:
    request = Request(
        ground,
        given_settings or PolicySettings(),
        Fill(tokens, window),
        Situation(moment, turn=20, tool_calls=50),
        foreign,
    )
    return run(request)


# --- when ---------------------------------------------------------------------------------------


def test_scenario_62_below_the_trigger_a_look_does_nothing_and_at_it_a_pass_runs() -> None:
    talk = Talk()
    talk.person("begin")
    results(talk, 60, 8_000)
    ground = ground_of(talk)

    assert asked(ground, 139_999, moment="check").not_now
    outcome = asked(ground, 140_000, moment="check")
    assert not outcome.not_now
    assert outcome.after.tokens <= 80_000 or len(outcome.edits) == 48


def test_scenario_62_asked_or_at_the_hosts_moment_the_trigger_is_waived() -> None:
    talk = Talk()
    results(talk, 60, 8_000)

    assert asked(ground_of(talk), 100_000, moment="asked").is_reached
    assert asked(ground_of(talk), 100_000, moment="host").is_reached


def test_l1_unknown_window_turns_the_policy_off_and_says_so() -> None:
    talk = Talk()
    outcome = asked(ground_of(talk), 1, window=0)

    assert "window is unknown" in outcome.not_now
    assert "nothing done" in outcome_words(outcome, talk.ground().names)


def look(ratio: float, tool_calls: int, memory: PolicyMemory, turn: int = 20) -> str:
    talk = Talk()
    fill = Fill(round(ratio * 200_000), 200_000)
    situation = Situation("check", turn, tool_calls)
    request = Request(ground_of(talk), PolicySettings(), fill, situation, None, memory)
    return run(request).not_now


def test_l16_short_session_gets_no_pass_of_its_own_unless_it_is_urgent() -> None:
    assert "short session" in look(0.75, 9, PolicyMemory())
    assert not look(0.75, 10, PolicyMemory())
    assert not look(0.9, 3, PolicyMemory())


def test_l19_next_look_leads_to_a_pass_only_three_turns_later() -> None:
    memory = PolicyMemory().after_pass(18)

    assert "fewer than 3 turns ago" in look(0.75, 50, memory, turn=20)
    assert not look(0.75, 50, memory, turn=21)


def test_l18_skip_is_recorded_and_costs_nothing() -> None:
    memory = PolicyMemory().after_skip()

    assert memory.skipped == 1
    assert not look(0.75, 50, memory)


# --- what, and in which order -------------------------------------------------------------------


def test_scenario_63_oldest_8_of_20_go_in_batches_of_3_3_and_2() -> None:
    talk = Talk()
    anchors = results(talk, 20)

    outcome = asked(ground_of(talk))

    assert [len(batch.rows) for batch in outcome.batches] == [3, 3, 2]
    assert [edit.anchors[0] for edit in outcome.edits] == anchors[:8]
    assert not outcome.is_reached


def test_scenario_63_k_of_0_leaves_the_last_3_intact() -> None:
    talk = Talk()
    anchors = results(talk, 20)

    outcome = asked(ground_of(talk), given_settings=PolicySettings(keep_last_k_tool_results=0))

    assert [edit.anchors[0] for edit in outcome.edits] == anchors[:17]


def test_scenario_65_row_kept_as_rubrics_is_untouched_at_any_ratio() -> None:
    talk = Talk()
    anchors = results(talk, 20)

    outcome = asked(ground_of(talk, {anchors[0]: "rubrics"}), 199_999, moment="host")

    assert anchors[0] not in {edit.anchors[0] for edit in outcome.edits}
    assert {edit.anchors[0] for edit in outcome.edits} == set(anchors[1:17])


def test_l10_rules_newest_tasks_and_newest_plan_stay() -> None:
    talk = Talk()
    skill = talk.tool("Skill", {"skill": "x"}, prose(4_000, "skill"))
    old_tasks = talk.tool("TodoWrite", {"todos": []}, prose(4_000, "old"))
    tasks = talk.tool("TodoWrite", {"todos": []}, prose(4_000, "new"))
    plan = talk.tool("ExitPlanMode", {"plan": "p"}, prose(4_000, "plan"))
    results(talk, 3)

    outcome = asked(ground_of(talk), 199_999, moment="host")

    taken = {edit.anchors[0] for edit in outcome.edits}
    assert taken == {old_tasks}
    assert not {skill, tasks, plan} & taken


def test_l2_rows_out_of_date_go_first_then_large_ones_to_be_had_again_then_the_rest() -> None:
    talk = Talk()
    rest = talk.bash("make", prose(4_000))
    lines = [prose(90, f"line{n}").replace("\n", " ") for n in range(100)]
    again = talk.read("kept.py", lines)
    stale = talk.read("a.py", [*lines, "last"])
    talk.edit("a.py")
    results(talk, 3)
    ground = talk.ground(reproducible=frozenset({again, stale}))
    policy = PolicyGround(ground, candidates(Review(ground)))

    rows = policy_rows(policy, 3)

    assert [row.row.anchor for row in rows] == [stale, again, rest]
    assert "edited afterwards" in rows[0].text


def test_l3_rows_that_no_pointer_makes_smaller_are_left_alone() -> None:
    talk = Talk()
    talk.bash("ls", "a few words")
    results(talk, 3)

    assert policy_rows(ground_of(talk), 3) == ()


def test_l17_at_the_hosts_moment_k_is_lowered_step_by_step_and_the_report_says_so() -> None:
    talk = Talk()
    results(talk, 20, 40_000)

    outcome = asked(ground_of(talk), 150_000, moment="host", window=200_000)

    assert outcome.kept_results == 12
    lowered = asked(ground_of(talk), 199_000, moment="host")
    assert 3 < lowered.kept_results < 12
    assert lowered.is_reached
    assert "lowered from 12 for this pass" in outcome_words(lowered, talk.ground().names)


def test_l17_asked_pass_never_lowers_k() -> None:
    talk = Talk()
    results(talk, 20, 40_000)

    outcome = asked(ground_of(talk), 199_000)

    assert outcome.kept_results == 12
    assert "target not reached" in outcome_words(outcome, talk.ground().names)


def test_l17_answer_that_is_being_written_stays_whole() -> None:
    talk = Talk()
    old = results(talk, 4)
    for n in range(6):
        talk.tool("Bash", {"command": f"n{n}"}, prose(4_000, f"n{n}"), response="running")
    request = Request(
        ground_of(talk),
        PolicySettings(),
        Fill(199_999, 200_000),
        Situation("host"),
        running_response="running",
    )

    assert {edit.anchors[0] for edit in run(request).edits} == set(old)


# --- what stands afterwards ---------------------------------------------------------------------


def test_l4_digest_stands_in_the_first_row_and_the_others_name_it() -> None:
    talk = Talk()
    anchors = results(talk, 6)

    outcome = asked(ground_of(talk), given_settings=THREE)

    first, *others = outcome.edits
    assert first.text == outcome.batches[0].digest
    assert [edit.text for edit in others] == ["", ""]
    assert {edit.digest_at for edit in outcome.edits} == {anchors[0]}
    assert {edit.batch for edit in outcome.edits} == {anchors[0]}
    assert {(e.op, e.author, e.reason) for e in outcome.edits} == {
        (Op.SUMMARIZE, "policy", "token_budget_exceeded")
    }


def test_scenario_64_digest_that_lacks_an_error_code_is_retried_and_then_completed() -> None:
    talk = Talk()
    text = "TypeError E1042 in v2.3.1, 87.4 % on MMLU, #981\n"
    talk.bash("make", text + prose(4_000))
    results(talk, 3)
    seen: list[str] = []

    def careless(_: object, request: str) -> str:
        seen.append(request)
        return "TypeError in v2.3.1, 87.4 % on MMLU, #981"

    outcome = asked(ground_of(talk), foreign=careless, given_settings=THREE)

    assert len(seen) == 2
    assert "E1042" in seen[1]
    digest = outcome.batches[0].digest
    assert digest == f"{careless(0, '')}\nSpecifics: E1042"
    assert not specifics.missing(text, digest or "")


def test_l9_better_second_try_of_a_model_is_taken() -> None:
    talk = Talk()
    talk.bash("make", "E1042\n" + prose(4_000))
    results(talk, 3)

    def slow(_: object, request: str) -> str:
        return "failed with E1042" if request else "failed"

    outcome = asked(ground_of(talk), foreign=slow, given_settings=THREE)

    assert outcome.batches[0].digest == "failed with E1042"


@pytest.mark.parametrize(
    "said", ["\n".join("abcdefghijklmnop"), "", None, "as E9999 says in v7.7.7"], ids=str
)
def test_l5_too_long_blank_or_invented_digest_of_a_model_gives_way_to_the_rules_own(
    said: str | None,
) -> None:
    talk = Talk()
    results(talk, 6)

    outcome = asked(ground_of(talk), foreign=lambda *_: said, given_settings=THREE)

    digest = outcome.batches[0].digest
    assert digest is not None
    assert digest.startswith("- Bash step 0")
    assert len(digest.splitlines()) <= 11


def mostly_codes() -> str:
    return "\n".join(f"E{1000 + n} failed" for n in range(400))


def test_l9_mostly_specifics_stay_when_asked_and_are_dropped_at_the_hosts_moment() -> None:
    talk = Talk()
    anchor = talk.bash("make", mostly_codes())
    results(talk, 3)

    stays = asked(ground_of(talk), given_settings=THREE)
    goes = asked(ground_of(talk), 199_999, moment="host")

    assert [left.rows[0].anchor for left in stays.left] == [anchor]
    assert not stays.edits
    assert goes.batches[0].kind == "drop"
    assert goes.batches[0].digest is None
    assert goes.batches[0].digest_tokens == 0


def test_scenario_68_without_digests_each_row_gets_a_pointer_and_no_model_is_called() -> None:
    talk = Talk()
    results(talk, 6)

    def forbidden(*_: object) -> str:
        raise AssertionError

    outcome = asked(
        ground_of(talk),
        foreign=forbidden,
        given_settings=PolicySettings(keep_last_k_tool_results=3, prefer_compact_over_drop=False),
    )

    assert {batch.kind for batch in outcome.batches} == {"drop"}
    assert all("open the original if needed" in edit.text for edit in outcome.edits)


def test_l8_batch_whose_digest_is_no_smaller_is_left_and_the_next_is_tried() -> None:
    talk = Talk()
    rows = results(talk, 3, 400)
    more = results(talk, 3, 9_000)
    results(talk, 3)

    outcome = asked(
        ground_of(talk),
        foreign=lambda *_: "x" * 1_200,
        given_settings=PolicySettings(keep_last_k_tool_results=3),
    )

    assert [row.anchor for row in outcome.left[0].rows] == rows
    assert [row.anchor for row in outcome.batches[0].rows] == more


def test_l7_index_lists_every_source_behind_the_last_digest() -> None:
    talk = Talk()
    url, issue = "https://example.org/a?b=1", "owner/repo#12"
    talk.tool("WebFetch", {"url": url}, f"see {issue}\n" + prose(4_000))
    results(talk, 3)
    last = talk.bash("more", "at https://example.org/c\n" + prose(4_000))
    results(talk, 3)

    outcome = asked(ground_of(talk), given_settings=THREE)

    assert outcome.index is not None
    assert outcome.index.sources == (url, issue, "https://example.org/c")
    assert outcome.index.text.startswith("context-editor:")
    digest_rows = [batch.rows[0].anchor for batch in outcome.batches]
    assert outcome.index.behind == digest_rows[-1]
    assert last in {row.anchor for batch in outcome.batches for row in batch.rows}


def test_l7_without_an_index_none_is_written() -> None:
    talk = Talk()
    talk.tool("WebFetch", {"url": "https://example.org"}, prose(4_000))
    results(talk, 3)
    no_index = PolicySettings(keep_last_k_tool_results=3, keep_all_citations_index=False)

    assert asked(ground_of(talk), given_settings=no_index).index is None


def test_l21_malformed_items_are_counted_and_never_digested() -> None:
    talk = Talk()
    good = '{"title": "T", "url": "https://example.org/1", "text": "good"}'
    bad = '{"title": "", "url": "https://bad.example", "text": "B4242"}'
    filler = ", ".join(['{"title": "F", "url": "https://example.org/f", "text": "x"}'] * 60)
    talk.tool("mcp__web__lookup", {"q": "x"}, f"[{good}, {bad}, {filler}]")
    results(talk, 3)

    outcome = asked(ground_of(talk), given_settings=THREE)

    digest = outcome.batches[0].digest
    assert digest is not None
    assert "1 malformed item(s)" in digest
    assert "B4242" not in digest


def test_l8_report_shows_every_kind_of_batch_what_was_left_and_the_index() -> None:
    talk = Talk()
    talk.bash("codes", mostly_codes())
    for n in range(70):
        talk.bash(f"step {n}", f"https://example.org/{n}\n{prose(2_000, f'step{n}')}")
    talk.read("a.py", [f"line {n}" for n in range(200)])
    talk.edit("a.py")
    results(talk, 3)
    names = talk.ground().names

    digested = outcome_words(asked(ground_of(talk), given_settings=THREE), names)
    dropping = replace(THREE, prefer_compact_over_drop=False)
    dropped = outcome_words(asked(ground_of(talk), given_settings=dropping), names)

    assert "out of date or standing elsewhere" in digested
    assert "more batch(es)" in digested
    assert "left #1 " in digested
    assert "Citation index: " in digested
    assert "archived without a digest" in dropped


def test_l6_row_that_can_be_read_again_says_so_when_it_goes_without_a_digest() -> None:
    talk = Talk()
    read = talk.read("a.py", prose(4_000).split("\n"))
    results(talk, 3)
    ground = talk.ground(reproducible=frozenset({read}))
    policy = PolicyGround(ground, candidates(Review(ground)))

    outcome = asked(policy, given_settings=replace(THREE, prefer_compact_over_drop=False))

    assert outcome.edits[0].text.endswith("; read again if needed.")


def test_l16_own_calls_are_no_tool_calls() -> None:
    talk = Talk()
    results(talk, 2)
    talk.tool("mcp__plugin_context-editor_editor__context_list", {}, "rows")

    assert tool_calls(ground_of(talk)) == 2


def test_l8_report_names_what_goes_what_it_saves_and_why() -> None:
    talk = Talk()
    results(talk, 20)
    outcome = asked(ground_of(talk))

    words = outcome_words(outcome, talk.ground().names)

    assert "target not reached" in words
    assert "The last 12 tool results stay whole." in words
    assert "#1 " in words
    assert "oldest first, digested" in words


# --- promises -----------------------------------------------------------------------------------

STEPS: Mapping[str, Callable[[Talk, str], str]] = {
    "person": lambda talk, text: talk.person(text),
    "ask": lambda talk, text: talk.tool("AskUserQuestion", {}, text, typed="yes"),
    "say": lambda talk, text: talk.say(text),
    "host": lambda talk, text: talk.attach("nested_memory", text),
    "open": lambda talk, _: talk.tool("Bash", {"command": "sleep"}, None),
    "read": lambda talk, text: talk.read("a.py", text.split("\n")),
    "edit": lambda talk, _: talk.edit("a.py"),
    "skill": lambda talk, text: talk.tool("Skill", {}, text),
    "todo": lambda talk, text: talk.tool("TodoWrite", {}, text),
    "bash": lambda talk, text: talk.bash("make", text),
}

Step: TypeAlias = tuple[str, int, Literal["", "pin", "keep"]]


def made(steps: Sequence[Step]) -> tuple[Talk, dict[str, str], dict[str, str]]:
    """A conversation, its pins, and what its keep marks say."""
    talk = Talk()
    talk.person("the task")
    pins: dict[str, str] = {}
    kept: dict[str, str] = {}
    for number, (step, chars, mark) in enumerate(steps):
        anchor = STEPS[step](talk, prose(chars, f"w{number}"))
        if mark == "pin":
            pins[anchor] = "pinned"
        elif mark == "keep":
            kept[anchor] = "rubrics"
    return talk, pins, kept


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*STEPS, "bash", "bash", "read"]),
            st.sampled_from([20, 900, 4_000, 12_000]),
            st.sampled_from(["", "", "", "pin", "keep"]),
        ),
        max_size=45,
    ),
    st.builds(
        PolicySettings,
        keep_last_k_tool_results=st.integers(0, 15),
        prefer_compact_over_drop=st.booleans(),
    ),
    st.integers(0, 199_999),
    st.sampled_from(["asked", "host"]),
)
def test_l10_whatever_happens_preserved_rows_stay_and_batches_hold_three(
    steps: list[Step], given_settings: PolicySettings, tokens: int, moment: Moment
) -> None:
    talk, pins, kept = made(steps)
    ground = talk.ground(pins)
    policy = PolicyGround(ground, candidates(Review(ground)), kept)

    outcome = asked(policy, tokens, moment=moment, given_settings=given_settings)

    taken = [edit.anchors[0] for edit in outcome.edits]
    rows = ground.conversation.by_anchor
    finished = [row.anchor for row in ground.conversation.rows if row.call and row.result]
    assert len(taken) == len(set(taken))
    assert not set(taken) & {*policy.preserved(), *pins, *kept}
    assert outcome.kept_results == given_settings.kept_results or moment == "host"
    assert outcome.kept_results >= 3
    assert not set(taken) & set(finished[-outcome.kept_results :])
    assert all(rows[anchor].kind is RowKind.TOOL and rows[anchor].result for anchor in taken)
    assert_threes(outcome)
    assert_sums(outcome, ground)


def assert_threes(outcome: Outcome) -> None:
    for kinds in ({"pointer"}, {"digest", "drop"}):
        sizes = [len(batch.rows) for batch in outcome.batches if batch.kind in kinds]
        assert all(size == 3 for size in sizes[:-1])
        assert all(1 <= size <= 3 for size in sizes[-1:])


def assert_sums(outcome: Outcome, ground: Ground) -> None:
    """Every row is counted once, and the index row is paid for."""
    index = outcome.index.text if outcome.index else ""
    saved = sum(edit.saved_tokens for edit in outcome.edits) - ground.sizer.text(index)
    assert all(batch.saved_tokens > 0 for batch in outcome.batches)
    assert abs(outcome.saved_tokens - saved) <= index.count("\n") + 1


@pytest.mark.parametrize("tokens", [0, 1, 80_000])
def test_l8_context_at_the_target_is_left_as_it_is(tokens: int) -> None:
    talk = Talk()
    results(talk, 20)

    outcome = asked(ground_of(talk), tokens)

    assert outcome.is_reached
    assert not outcome.edits


def test_l1_target_of_the_request_takes_the_place_of_the_settings() -> None:
    talk = Talk()
    results(talk, 30, 8_000)
    request = Request(
        ground_of(talk),
        policy_settings({}),
        Fill(100_000, 200_000),
        Situation("asked"),
    )

    lower = run(replace(request, target=0.45))

    assert lower.is_reached
    assert 80_000 < lower.after.tokens <= 90_000
