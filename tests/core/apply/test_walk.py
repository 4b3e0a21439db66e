"""The front of a conversation that stays whole is taken at once: the same rows come out as one by one."""

from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.apply.emissions import Build
from context_editor.core.apply.model import Changes, Surroundings
from context_editor.core.apply.stored import stored_rows
from context_editor.core.apply.walk import emitted, walked
from context_editor.core.conversation import Conversation
from context_editor.core.prints import stored_prints
from context_editor.core.rows import Call, Piece, PieceForm
from context_editor.errors import RefusedError

FORMS = st.sampled_from(["prompt", "text", "thinking", "call", "result", "attachment"])


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Pieces of every form in any order: answers that go on, rows of several pieces, riders in front."""
    pieces: list[Piece] = []
    for at in range(draw(st.integers(1, 24))):
        form = PieceForm(draw(FORMS))
        is_user = form in {PieceForm.PROMPT, PieceForm.RESULT, PieceForm.ATTACHMENT}
        is_again = bool(pieces) and draw(st.booleans())
        pieces.append(
            Piece(
                pieces[-1].handle if is_again else f"u{at}",
                form,
                "user" if is_user else "assistant",
                draw(st.sampled_from(["", "words", " more \u2003 words\n"])),
                None if is_user else f"m{draw(st.integers(0, 3))}",
                Call(f"toolu{at}", "Read", {}) if form is PieceForm.CALL else None,
                f"toolu{draw(st.integers(0, at))}" if form is PieceForm.RESULT else None,
            )
        )
    return Conversation(tuple(pieces), ())


@st.composite
def changes(draw: st.DrawFn, count: int) -> Changes:
    """A few changes anywhere."""
    places = st.integers(0, count - 1)
    row = Build("user", "new", replacement="c1")
    return Changes(
        draw(st.dictionaries(places, st.just(row), max_size=2)),
        draw(st.dictionaries(places, st.just((row,)), max_size=1)),
        draw(st.dictionaries(places, st.just((row,)), max_size=1)),
        draw(st.sets(places, max_size=3)),
    )


def outcome(work: object) -> object:
    try:
        return work() if callable(work) else work
    except (RefusedError, IndexError) as error:
        return type(error)


@given(st.data())
def test_the_front_that_stays_comes_out_as_it_does_row_by_row(data: st.DataObject) -> None:
    conversation = data.draw(conversations())
    made = data.draw(changes(len(conversation.pieces)))
    around = Surroundings(conversation, "edit")

    assert outcome(lambda: emitted(around, made)) == outcome(lambda: walked(around, made, 0))


@given(conversations())
def test_stored_rows_hold_every_piece_once_in_its_place(conversation: Conversation) -> None:
    rows = tuple(stored_rows(conversation.pieces))
    members = [member for row in rows for member in row.members]

    assert members == list(enumerate(conversation.pieces))
    assert all(piece.rides for row in rows for _, piece in row.riders)
    assert [row.start for row in rows] == [row.members[0][0] for row in rows]


@given(st.text())
def test_a_print_counts_every_character_that_is_no_white_space(words: str) -> None:
    piece = Piece("u1", PieceForm.PROMPT, "user", words)

    (row_print,) = stored_prints(Conversation((piece,), ())).values()

    assert row_print == f"user|||{len(''.join(words.split()))}"
