"""Finding rows again by id, by content, and by where they went."""

from tests.support.rows import applied, conversation, own, person, text, tool

from context_editor.core.anchors import Anchor, Moves, Places, followed
from context_editor.store.codec import decoded, encoded


def test_a_row_is_found_by_its_id_whatever_became_of_its_words() -> None:
    talk = conversation(person("go"), tool("Read", "a.py", "long", call_id="toolu_a"))
    anchor = Places(talk).anchor(talk.listed[1])

    other = conversation(
        person("other"), text("first"), tool("Read", "a.py", "short", call_id="toolu_a")
    )

    assert Places(other).row(anchor) == other.listed[2]


def test_a_row_with_a_new_id_is_found_by_content_and_occurrence() -> None:
    talk = conversation(person("go"), text("same"), text("other"), text("same"))
    anchors = [Places(talk).anchor(row) for row in talk.listed]

    copied = applied(talk).conversation

    assert [Places(copied).row(anchor) for anchor in anchors] == list(copied.listed)


def test_a_row_whose_content_stands_less_often_now_is_not_mistaken_for_another() -> None:
    talk = conversation(text("same"), text("same"))
    anchor = Places(talk).anchor(talk.listed[1])
    copied = applied(conversation(text("same"))).conversation

    assert Places(copied).row(anchor) is None


def test_a_beginning_moves_forward_and_an_end_moves_back_over_hidden_rows() -> None:
    talk = conversation(person("go"), own(), text("a"), own(), person("more"))
    places = Places(talk)
    hidden = [places.anchor(row) for row in talk.rows if row.is_hidden]

    assert places.start(hidden[0]) == talk.listed[1]
    assert places.end(hidden[1]) == talk.listed[1]
    assert places.start(places.anchor(talk.listed[2]), is_behind=True) is None


def test_a_beginning_whose_row_is_gone_is_the_next_row_of_its_turn_or_later() -> None:
    talk = conversation(person("one"), text("a"), person("two"), text("b"))
    gone = Anchor("u:gone", turn=2)

    assert Places(talk).start(gone) == talk.listed[2]
    assert Places(talk).end(gone) == talk.listed[3]
    assert Places(talk).start(Anchor("u:gone", turn=3)) is None
    assert Places(talk).end(Anchor("u:gone", turn=0)) is None


def test_rows_that_run_backwards_have_nothing_between_them() -> None:
    talk = conversation(text("a"), text("b"))

    assert Places(talk).between(talk.listed[1], talk.listed[0]) == ()


def test_an_anchor_leads_into_its_replacement_and_back() -> None:
    talk = conversation(person("go"), text("a"), text("b"), text("c"))
    anchor = Places(talk).anchor(talk.listed[2])
    done = applied(talk, (2, 4))
    inside = followed(anchor, done.moves, Places(done.conversation))
    assert inside is not None
    assert Places(done.conversation).row(inside) == done.conversation.listed[1]

    back = Moves(restored={inside.id: [row.anchor for row in talk.listed[1:]]})

    assert followed(inside, back, Places(talk)) == anchor


def test_an_anchor_whose_original_did_not_come_back_leads_to_the_first_or_last_row_that_did() -> (
    None
):
    talk = conversation(text("a"), text("b"))
    ids = [row.anchor for row in talk.listed]
    inside, moves = Anchor("t:c", was="unknown"), Moves(restored={"t:c": ids, "t:d": ["u:gone"]})
    places = Places(talk)

    first, last = followed(inside, moves, places), followed(inside, moves, places, is_end=True)

    assert (first and first.id, last and last.id) == (ids[0], ids[1])
    assert followed(Anchor("t:d"), moves, places) is None
    assert followed(Anchor("t:e"), moves, places) is None


def test_anchors_are_stored_as_they_are() -> None:
    anchor = Anchor("u:h1", "abc", 2, 3)

    assert decoded(Anchor, encoded(anchor)) == anchor
