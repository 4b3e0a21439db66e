"""Suggestions: rare, one batch, about finished work (rules F4 to F6 and L20)."""

import json
from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.policy_rows import CharSizer, Talk, prose

from context_editor.core.candidates.find import Review, candidates
from context_editor.core.sizes.gain import Gain
from context_editor.core.suggestion_state import SuggestionState
from context_editor.core.suggestions import (
    FinishedBlock,
    Proposal,
    SuggestionSettings,
    answered,
    block_proposal,
    next_mark,
    observed,
    policy_proposal,
    rearm_mark,
    review_proposal,
    standing_suggestion,
    suggested_at_prompt,
    suggested_at_tool,
    turn_result_tokens,
)

MARKS = SuggestionSettings()
GOOD = Proposal("Fold it.", Gain(30_000, 40_000))


def told(ratios: list[float], turns: list[int] | None = None) -> list[int]:
    """The places at which a suggestion was made behind a tool call, usage by usage."""
    state, found = SuggestionState(), []
    for at, ratio in enumerate(ratios):
        state = observed(state, ratio, MARKS)
        state, words = suggested_at_tool(state, GOOD, turns[at] if turns else 10 * at)
        if words:
            found.append(at)
    return found


def test_scenario_36_crossing_a_mark_twice_without_falling_10_points_makes_one_suggestion() -> None:
    assert told([0.6, 0.66, 0.58, 0.66]) == [0, 1]


def test_f4_mark_is_armed_again_once_usage_fell_10_points_below_it() -> None:
    assert told([0.66, 0.55, 0.66]) == [0, 2]


@pytest.mark.parametrize(("ratio", "expected"), [(0.4999, []), (0.5, [0])])
def test_f4_mark_itself_counts_as_crossed(ratio: float, expected: list[int]) -> None:
    assert told([ratio]) == expected


def test_f4_jump_over_several_marks_makes_one_suggestion() -> None:
    assert told([0.2, 0.85, 0.86]) == [1]


def test_f4_two_suggestions_are_three_turns_apart() -> None:
    assert told([0.5, 0.66, 0.7, 0.8], [1, 2, 3, 4]) == [0, 3]


def test_f4_suggestion_that_the_cooldown_held_back_comes_with_a_later_prompt() -> None:
    state = observed(SuggestionState(last_turn=4), 0.5, MARKS)
    state, early = suggested_at_tool(state, GOOD, 5)
    state, late = suggested_at_prompt(state, GOOD, 7, 0)
    state, again = suggested_at_prompt(state, GOOD, 20, 0)

    assert not early
    assert late
    assert not again


@pytest.mark.parametrize(
    ("gain", "is_shown"),
    [
        (Gain(4_999, 0), False),
        (Gain(5_000, 0), True),
        (Gain(10_000, 27_000), False),
        (Gain(10_000, 26_000), True),
    ],
)
def test_f4_small_or_dear_gain_is_no_suggestion(gain: Gain, *, is_shown: bool) -> None:
    state = observed(SuggestionState(), 0.5, MARKS)

    assert bool(suggested_at_tool(state, Proposal("x", gain), 1)[1]) is is_shown
    assert bool(standing_suggestion(state, Proposal("x", gain))) is is_shown


@pytest.mark.parametrize(("tokens", "is_shown"), [(19_999, False), (20_000, True)])
def test_f4_heavy_reading_in_the_last_turn_makes_one_at_the_next_prompt(
    tokens: int, *, is_shown: bool
) -> None:
    _, words = suggested_at_prompt(SuggestionState(), GOOD, 5, tokens)

    assert bool(words) is is_shown


def test_f4_results_of_one_turn_are_summed() -> None:
    talk = Talk()
    talk.person("one")
    talk.bash("a", prose(400))
    talk.person("two")
    talk.bash("b", prose(800))

    assert turn_result_tokens(talk.conversation(), 2, CharSizer()) == 200


def test_f4_suggestion_stands_in_the_header_while_due_and_until_it_is_answered() -> None:
    state = observed(SuggestionState(), 0.5, MARKS)
    state, _ = suggested_at_tool(state, GOOD, 1)

    assert standing_suggestion(state, GOOD)
    assert not standing_suggestion(answered(state), GOOD)
    assert not standing_suggestion(observed(state, 0.3, MARKS), GOOD)


def test_f6_suggestion_says_what_to_do_gain_cost_and_conclusion_and_queues_nothing() -> None:
    _, words = suggested_at_tool(observed(SuggestionState(), 0.5, MARKS), GOOD, 1)

    assert words.startswith("[context-editor: suggestion] Fold it.")
    assert "30.0k tokens" in words
    assert "40.0k of cache" in words
    assert GOOD.gain.conclusion in words
    assert "Nothing is queued." in words


def test_l20_crossing_the_policys_trigger_names_the_policy_once() -> None:
    state = observed(SuggestionState(), 0.66, MARKS)
    state, first = suggested_at_tool(state, GOOD, 1)
    state = observed(state, 0.7, MARKS)
    state, second = suggested_at_tool(state, GOOD, 10)
    state = observed(state, 0.75, MARKS)
    state, third = suggested_at_tool(state, GOOD, 20)

    assert '{"op": "policy"}' not in first
    assert '{"op": "policy"}' in second
    assert not third


def test_f4_next_mark_tells_a_hook_when_to_look_again() -> None:
    assert next_mark(SuggestionState(), MARKS) == 0.5
    assert next_mark(observed(SuggestionState(), 0.66, MARKS), MARKS) == 0.7
    assert next_mark(observed(SuggestionState(), 0.9, MARKS), MARKS) is None


def test_f4_a_hook_is_told_how_far_usage_must_fall_for_a_mark_to_count_anew() -> None:
    assert rearm_mark(SuggestionState(), MARKS) is None
    assert rearm_mark(observed(SuggestionState(), 0.66, MARKS), MARKS) == pytest.approx(0.55)
    assert rearm_mark(observed(SuggestionState(), 0.9, MARKS), MARKS) == pytest.approx(0.7)


def test_f4_state_is_plain_json() -> None:
    state = observed(SuggestionState(), 0.9, MARKS)

    stored = json.loads(json.dumps(asdict(state)))

    stored["crossed"] = tuple(stored["crossed"])
    assert SuggestionState(**stored) == state


@given(st.lists(st.floats(-0.1, 1.2), max_size=40))
def test_f4_no_mark_is_told_twice_unless_it_was_armed_in_between(ratios: list[float]) -> None:
    found = told(ratios)

    marks = (*MARKS.marks, MARKS.policy_trigger)
    for before, at in pairwise(found):
        stretch = [ratio for ratio in ratios[before : at + 1] if ratio > 0]
        assert any(
            ratios[at] >= mark and (ratios[before] < mark or min(stretch) <= mark - 0.1 + 1e-6)
            for mark in marks
        )


# --- what is proposed ---------------------------------------------------------------------------


def test_f4_finished_stage_is_proposed_as_one_collapse() -> None:
    talk = Talk()
    talk.person("begin")
    talk.say("reading")
    talk.bash("make", prose(40_000))
    talk.person("and now")
    names = talk.ground().names
    block = FinishedBlock("read config", talk.conversation().rows)

    proposal = block_proposal(block, names, CharSizer())

    assert proposal is not None
    assert "'read config' is finished (#2..#3)" in proposal.what
    assert "around the person's rows" in proposal.what
    assert proposal.gain.saved_tokens == 8_500
    assert proposal.gain.rewritten_tokens > 0


def test_f4_stage_of_persons_rows_alone_is_no_proposal() -> None:
    talk = Talk()
    talk.person("begin")

    assert (
        block_proposal(
            FinishedBlock("x", talk.conversation().rows), talk.ground().names, CharSizer()
        )
        is None
    )


def test_f4_batch_of_candidates_leaves_out_what_would_rewrite_too_much() -> None:
    talk = Talk()
    talk.bash("early", prose(8_000, "early"))
    talk.say(prose(900_000))
    later = [talk.bash(f"late {n}", prose(16_000, f"late{n}")) for n in range(3)]
    ground = talk.ground()
    found = candidates(Review(ground))

    proposal = review_proposal(found, ground.names, ground.sizer)

    assert len(found) == 4
    assert proposal is not None
    assert "#1 " not in proposal.what
    assert all(ground.names.words(ground.conversation.by_anchor[a]) in proposal.what for a in later)
    assert proposal.gain.saved_tokens == 10_200


def test_f4_candidates_without_worth_are_no_proposal() -> None:
    talk = Talk()
    talk.bash("early", prose(8_000))
    ground = talk.ground()

    assert review_proposal(candidates(Review(ground)), ground.names, ground.sizer) is None


def test_l20_policy_is_a_proposal_of_its_own() -> None:
    proposal = policy_proposal(60_000, 80_000, 0.4)

    assert '{"op": "policy"}' in proposal.what
    assert "40 %" in proposal.what
    assert proposal.is_worthwhile
