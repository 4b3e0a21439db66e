"""What is worked out once of a sequence that grows at its end."""

from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.growing import NEWEST, Growing, Sifted, same_front

LETTERS = [["a"], ["b"], ["c"]]
"""Items that are told apart by being other objects."""


@given(st.integers(0, 3 * NEWEST), st.integers(0, 3 * NEWEST), st.integers(0, 3 * NEWEST))
def test_the_same_front_is_found_wherever_it_ends(length: int, shorter: int, changed: int) -> None:
    one: list[object] = [object() for _ in range(length)]
    other = [object() if at == changed else item for at, item in enumerate(one)][:shorter]

    assert same_front(one, other) == min(length, shorter, changed)
    assert same_front(other, one) == min(length, shorter, changed)


sequences = st.lists(st.lists(st.sampled_from(LETTERS), max_size=6), max_size=6)


def test_the_same_front_ends_at_the_first_other_object() -> None:
    one, two, twin = ["x"], ["y"], ["x"]

    assert same_front([one, two], [one, two]) == 2
    assert same_front([one, two], [twin, two]) == 0
    assert same_front([one], [one, two]) == 1
    assert same_front([], [one]) == 0


@given(sequences)
def test_the_facts_are_those_of_every_item_whatever_was_asked_before(
    asked: list[list[list[str]]],
) -> None:
    facts: Growing[list[str], int] = Growing(id)

    for items in asked:
        assert list(facts.of(items)) == list(map(id, items))


def test_an_item_that_stays_is_looked_at_once() -> None:
    seen: list[list[str]] = []
    facts: Growing[list[str], None] = Growing(seen.append)

    facts.of(LETTERS[:2])
    facts.of(tuple(LETTERS))
    facts.of(tuple(LETTERS))

    assert seen == LETTERS


def test_facts_that_were_handed_out_stay_as_they_were() -> None:
    facts: Growing[list[str], str] = Growing(lambda item: item[0])
    first = facts.of(LETTERS)
    facts.of(LETTERS[:1])

    assert list(first) == ["a", "b", "c"]


@given(sequences)
def test_only_items_with_a_fact_are_kept_each_with_its_place(asked: list[list[list[str]]]) -> None:
    facts: Sifted[list[str], int] = Sifted(lambda item: None if item == ["b"] else id(item))

    for items in asked:
        wanted = [(at, id(item)) for at, item in enumerate(items) if item != ["b"]]
        assert list(facts.placed(items)) == wanted
        assert list(facts.of(items)) == [fact for _, fact in wanted]
