"""The sizes of a conversation that grows."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.policy_rows import Talk

from context_editor.core.assemble import Assembler, OwnFacts, assemble
from context_editor.core.conversation import Conversation
from context_editor.core.measure import Estimates, Measured, PlacedSample, measured
from context_editor.core.rows import Piece, PieceForm
from context_editor.core.sizes.calibration import Calibration, Sample
from context_editor.core.sizes.estimate import Ruler
from context_editor.core.sizes.families import family_of

MODEL = "claude-sonnet-4-5"
RULER = Ruler(family_of(MODEL))


def talk() -> Talk:
    """Turns of thinking, a call and an answer, each response with its own id."""
    made = Talk()
    for n in range(5):
        made.person(f"do {n}")
        thinking = Piece(f"k{n}", PieceForm.THINKING, "assistant", "hm" * n, response=f"m{n}")
        made.pieces.append(thinking)
        made.tool("Bash", {"command": "ls"}, "out\n" * 40 * n, response=f"m{n}")
    return made


SAMPLES = [PlacedSample(Sample(MODEL, 3, 30_000 + 900 * n, 0, 60, f"m{n}"), "") for n in range(5)]


def sized(pieces: Conversation, known: int, estimates: Estimates) -> Measured:
    return measured(pieces, SAMPLES[:known], Calibration(), estimates)


looks = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=6)


@given(looks)
def test_sizes_are_the_same_whatever_was_measured_before(asked: list[tuple[int, int]]) -> None:
    pieces, assembler, estimates = talk().pieces, Assembler(), Estimates(RULER)
    for count, known in asked:
        grown = assembler.conversation(pieces[:count], OwnFacts())
        found = sized(grown, known, estimates)
        anew = sized(assemble(pieces[:count], OwnFacts()), known, Estimates(RULER))

        assert found.shares == anew.shares
        assert found.calibration == anew.calibration
        assert [found.row(row) for row in grown.rows] == [anew.row(row) for row in grown.rows]
        assert found.each(grown.pieces) == list(map(found.piece, grown.pieces))
        assert found.behind(2, grown) == sum(map(found.piece, grown.pieces[2:]))


@given(st.integers(0, 200), st.integers(0, 5))
def test_what_is_large_is_told_by_the_size_of_each_piece(tokens: int, known: int) -> None:
    conversation = talk().conversation()
    found = sized(conversation, known, Estimates(RULER))
    sizes = map(found.piece, conversation.pieces)

    is_large = found.at_least(conversation.pieces, tokens)

    assert list(is_large) == [size >= tokens for size in sizes]


def test_pieces_that_are_gone_are_forgotten() -> None:
    estimates = Estimates(RULER)
    for n in range(20):
        made = Talk()
        for _ in range(100):
            made.say(f"word {n}")
        sized(made.conversation(), 0, estimates)

    assert estimates.remembered < 1_500
