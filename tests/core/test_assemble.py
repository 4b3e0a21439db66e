"""Pieces to rows: kinds, owners, pending and hidden rows."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from context_editor.core.assemble import (
    OWN_TOOL_PREFIX,
    Assembler,
    OwnFacts,
    assemble,
    text_print,
)
from context_editor.core.conversation import Conversation
from context_editor.core.edits.wording import summarized
from context_editor.core.index import Index
from context_editor.core.rows import Call, Media, Piece, PieceForm, Row, RowKind
from context_editor.core.state import CarriedPart


def prompt(handle: str, words: str = "go", **facts: object) -> Piece:
    return made(Piece(handle, PieceForm.PROMPT, "user", words, typed=words), facts)


def said(handle: str, words: str = "done", **facts: object) -> Piece:
    return made(Piece(handle, PieceForm.TEXT, "assistant", words, response="m1"), facts)


def thought(handle: str) -> Piece:
    return Piece(handle, PieceForm.THINKING, "assistant", "hm", response="m1")


def call(handle: str, call_id: str, name: str = "Read", **facts: object) -> Piece:
    piece = Piece(
        handle,
        PieceForm.CALL,
        "assistant",
        response="m1",
        call=Call(call_id, name, {}),
        label=f"{name} a.py",
    )
    return made(piece, facts)


def result(handle: str, call_id: str, words: str = "text", **facts: object) -> Piece:
    return made(Piece(handle, PieceForm.RESULT, "user", words, call_id=call_id), facts)


def attachment(handle: str, label: str = "nested_memory", **facts: object) -> Piece:
    return made(Piece(handle, PieceForm.ATTACHMENT, "system", "words", label=label), facts)


def made(piece: Piece, facts: dict[str, object]) -> Piece:
    return replace(piece, **facts)  # type: ignore[arg-type]


def rows(*pieces: Piece, own: OwnFacts | None = None) -> tuple[Row, ...]:
    return assemble(pieces, own or OwnFacts()).rows


def kinds(*pieces: Piece, own: OwnFacts | None = None) -> list[str]:
    return [row.kind.value for row in rows(*pieces, own=own)]


def test_an_empty_conversation_has_no_rows() -> None:
    assert assemble([], OwnFacts()) == Conversation((), ())


def test_unreadable_lines_and_turns_are_passed_on() -> None:
    conversation = assemble([], OwnFacts(), unreadable=2, turns=7)

    assert (conversation.unreadable, conversation.turns) == (2, 7)


def test_a_call_and_its_result_are_one_row() -> None:
    (row,) = rows(call("h1", "t1"), result("h2", "t1", "the file"))

    assert (row.anchor, row.kind, row.source) == ("t:t1", RowKind.TOOL, "Read a.py")
    assert (row.positions, row.text) == ((0, 1), "the file")


def test_parallel_calls_are_rows_in_the_order_of_their_calls() -> None:
    found = rows(
        call("h1", "t1"), call("h2", "t2"), result("h3", "t2", "two"), result("h4", "t1", "one")
    )

    assert [(row.anchor, row.text, row.positions) for row in found] == [
        ("t:t1", "one", (0, 3)),
        ("t:t2", "two", (1, 2)),
    ]


def test_thinking_belongs_to_no_row() -> None:
    conversation = assemble([thought("h1"), said("h2")], OwnFacts())

    assert [row.positions for row in conversation.rows] == [(1,)]
    assert len(conversation.pieces) == 2


def test_a_call_without_a_result_is_pending() -> None:
    (row,) = rows(call("h1", "t1"))

    assert row.is_pending


def test_every_row_of_the_answer_being_written_is_pending() -> None:
    found = rows(
        prompt("h0"),
        said("h1"),
        call("h2", "t1"),
        result("h3", "t1"),
        own=OwnFacts(pending_response="m1"),
    )

    assert [row.is_pending for row in found] == [False, True, True]


def test_a_result_without_a_call_is_an_orphan_of_the_host() -> None:
    (row,) = rows(result("h1", "t9", "lost"))

    assert (row.anchor, row.kind, row.source, row.text) == (
        "u:h1",
        RowKind.HOST,
        "orphan",
        "lost",
    )
    assert row.pieces[0].label == "orphan"


def test_the_first_of_two_results_wins() -> None:
    found = rows(call("h1", "t1"), result("h2", "t1", "one"), result("h3", "t1", "two"))

    assert [(row.anchor, row.text) for row in found] == [("t:t1", "one"), ("u:h3", "two")]


def test_a_tool_use_id_that_is_used_twice_names_the_first_row() -> None:
    found = rows(call("h1", "t1"), result("h2", "t1"), call("h3", "t1"), result("h4", "t1"))

    assert [row.anchor for row in found] == ["t:t1", "u:h3"]
    assert [row.positions for row in found] == [(0, 1), (2, 3)]


def test_pieces_of_one_handle_have_anchors_of_their_own() -> None:
    found = rows(said("h1", "one"), said("h1", "two"), said("h1", "three"))

    assert [row.anchor for row in found] == ["u:h1", "u:h1.1", "u:h1.2"]


def test_attachments_are_host_rows_of_the_row_in_front() -> None:
    found = rows(
        attachment("h0"),
        prompt("h1"),
        attachment("h2"),
        attachment("h3", "skill_listing"),
        call("h4", "t1"),
        call("h5", "t2"),
        result("h6", "t1"),
        attachment("h7"),
        result("h8", "t2"),
        thought("h9"),
        attachment("h10"),
    )

    owners = {row.pieces[0].handle: row.owner for row in found}
    assert owners == {
        "h0": None,
        "h1": None,
        "h2": "u:h1",
        "h3": "u:h1",
        "h4": None,
        "h5": None,
        "h7": "t:t1",
        "h10": "t:t2",
    }
    assert [row.source for row in found if row.owner == "u:h1"] == [
        "nested_memory",
        "skill_listing",
    ]


def test_words_typed_during_a_turn_are_a_persons_row() -> None:
    found = rows(call("h1", "t1"), result("h2", "t1"), attachment("h3", typed="do not push"))

    assert [row.kind for row in found] == [RowKind.TOOL, RowKind.PERSON]
    assert found[1].owner == "t:t1"


def test_a_tool_row_with_a_persons_words_is_a_persons() -> None:
    (row,) = rows(call("h1", "t1"), result("h2", "t1", typed="use the other folder"))

    assert (row.kind, row.source) == (RowKind.PERSON, "Read a.py")


def test_prompts_that_nobody_typed_are_the_hosts() -> None:
    piece = prompt("h1", typed=None, label="task-notification")

    assert [(row.kind.value, row.source) for row in rows(piece)] == [("host", "task-notification")]


def test_an_answer_that_the_host_wrote_is_the_hosts() -> None:
    assert kinds(said("h1", label="api-error"), said("h2")) == ["host", "text"]


def test_what_the_host_records_as_ours_is_hidden_service() -> None:
    """Rule A11."""
    found = rows(prompt("h1", typed=None, label="plugin", is_ours=True))

    assert [(row.kind.value, row.source, row.is_hidden) for row in found] == [
        ("service", "service", True)
    ]


def test_our_own_calls_are_hidden_with_their_results() -> None:
    conversation = assemble(
        [call("h1", "t1", f"{OWN_TOOL_PREFIX}context_list"), result("h2", "t1"), said("h3")],
        OwnFacts(),
    )

    assert [(row.kind.value, row.is_hidden) for row in conversation.rows] == [
        ("service", True),
        ("text", False),
    ]
    assert conversation.numbers == {"u:h3": 1}


def test_the_row_of_a_collapse_is_listed_with_its_id() -> None:
    """Rule A11: its call is the one exception."""
    (row,) = rows(
        call("h1", "toolu_ctxed_c8", f"{OWN_TOOL_PREFIX}context_edit"),
        result("h2", "toolu_ctxed_c8", "Later, your context_edit collapse call …"),
    )

    assert (row.kind, row.is_hidden, row.replacement) == (RowKind.SERVICE, False, "c8")


def test_a_replaced_row_keeps_its_kind_and_gains_the_id() -> None:
    own = OwnFacts(replacements={"t:t1": "c1", "u:h3": "c2"})
    words = summarized("agent", "Read a.py", "c1", "/o", (), "nothing new")
    answer = replace(result("h2", "t1"), text=words)
    tool, text = rows(call("h1", "t1"), answer, said("h3"), own=own)

    assert (tool.kind, tool.replacement) == (RowKind.TOOL, "c1")
    assert (text.kind, text.replacement) == (RowKind.TEXT, "c2")


def test_a_row_whose_original_stands_again_after_a_rewind_is_not_taken_for_replaced() -> None:
    own = OwnFacts(replacements={"t:t1": "c1"})
    (tool,) = rows(call("h1", "t1"), result("h2", "t1"), own=own)

    assert (tool.kind, tool.replacement) == (RowKind.TOOL, None)


def test_rows_that_we_recorded_are_service_whatever_they_look_like() -> None:
    own = OwnFacts(service=frozenset({"u:h1", "u:h2", "t:t1"}))
    found = rows(prompt("h1", "typed?"), said("h2"), call("h3", "t1"), result("h4", "t1"), own=own)

    assert [row.kind.value for row in found] == ["service"] * 3
    assert found[0].pieces[0].typed is None


def test_wording_alone_makes_nothing_ours() -> None:
    """Rule J1: a person and a tool may say what we say."""
    found = kinds(
        prompt("h1", "context-editor: applied 3 edit(s)"),
        call("h2", "t1"),
        result("h3", "t1", "[context-editor: suggestion] do it"),
        attachment("h4", "hook_additional_context", text="[context-editor: suggestion]"),
    )

    assert found == ["person", "tool", "host"]


def test_hook_context_is_ours_when_every_text_of_it_was_recorded() -> None:
    own = OwnFacts(service=frozenset({text_print("context-editor: applied 1 edit(s)")}))
    ours = attachment("h1", extra={"contexts": ("context-editor:  applied 1 edit(s)\n",)})
    shared = attachment("h2", extra={"contexts": ("context-editor: applied 1 edit(s)", "other")})

    assert kinds(ours, shared, own=own) == ["service", "host"]
    assert rows(ours, own=own)[0].pieces[0].is_ours


def test_a_described_prompt_has_the_persons_own_words_alone() -> None:
    piece = prompt("h1", "Later, your context_edit describe call …: a cat\n\nwhat is it?")
    own = OwnFacts(typed={"u:h1": "what is it?"}, replacements={"u:h1": "c1"})
    (row,) = rows(piece, own=own)

    assert row.pieces[0].typed == "what is it?"
    assert (row.kind, row.replacement) == (RowKind.PERSON, "c1")


PARTS = (
    CarriedPart("nested_memory", "rules of the folder"),
    CarriedPart("queued_command", "The user sent: stop", "stop"),
)


def test_words_carried_beside_a_result_are_attachments_again() -> None:
    words = "short\n\nrules of the folder\n\nThe user sent: stop"
    own = OwnFacts(carried={"u:h2": PARTS})
    conversation = assemble([call("h1", "t1"), result("h2", "t1", words, typed="x")], own)

    assert [(row.kind.value, row.source, row.text) for row in conversation.rows] == [
        ("tool", "Read a.py", "short"),
        ("host", "nested_memory", "rules of the folder"),
        ("person", "person", "The user sent: stop"),
    ]
    assert [row.owner for row in conversation.rows] == [None, "t:t1", "t:t1"]
    assert {piece.handle for piece in conversation.pieces[1:]} == {"h2"}
    assert all(piece.rides for piece in conversation.pieces[2:])


def test_a_row_of_carried_words_alone_stands_by_itself() -> None:
    words = "rules of the folder\n\nThe user sent: stop"
    own = OwnFacts(carried={"u:h1": PARTS})
    found = rows(prompt("h1", words), own=own)

    assert [(row.kind.value, row.text) for row in found] == [
        ("host", "rules of the folder"),
        ("person", "The user sent: stop"),
    ]
    assert not any(row.pieces[0].rides for row in found)


def test_carried_words_that_do_not_stand_there_change_nothing() -> None:
    own = OwnFacts(carried={"u:h1": PARTS})

    assert [row.text for row in rows(prompt("h1", "other words"), own=own)] == ["other words"]


def test_rows_of_an_unchanged_part_are_the_same_objects() -> None:
    pieces = [prompt("h1"), call("h2", "t1"), result("h3", "t1"), said("h4")]
    assembler = Assembler()
    first = assembler.conversation(pieces, OwnFacts())
    more = [*pieces, prompt("h5", "more")]
    second = assembler.conversation(more, OwnFacts())

    assert second == assemble(more, OwnFacts())
    assert all(new is old for new, old in zip(second.rows, first.rows, strict=False))


def test_an_assembler_sees_new_facts_results_and_answers() -> None:
    pieces = [prompt("h1"), call("h2", "t1"), said("h4"), result("h3", "t1")]
    assembler = Assembler()
    for count in (2, 3, 4):
        for own in (
            OwnFacts(),
            OwnFacts(pending_response="m1"),
            OwnFacts(),
            OwnFacts(replacements={"t:t1": "c1"}),
            OwnFacts(service=frozenset({"u:h1"})),
        ):
            given = pieces[:count]
            assert assembler.conversation(given, own) == assemble(given, own)


@st.composite
def talks(draw: st.DrawFn) -> list[Piece]:
    """Pieces in any order: calls answered late, early, twice or never, and several in one answer."""
    made: list[Piece] = []
    for n in range(draw(st.integers(0, 12))):
        handle, call_id, answer = f"h{n}", f"t{n % 3}", f"m{n // 3}"
        form: PieceForm = draw(st.sampled_from(list(PieceForm)))
        match form:
            case PieceForm.CALL:
                piece = call(handle, call_id, response=answer)
            case PieceForm.RESULT:
                piece = result(handle, call_id)
            case PieceForm.ATTACHMENT:
                known = draw(st.booleans())
                piece = attachment(handle, extra={"rendered_known": known})
            case PieceForm.PROMPT:
                media = (Media("image", "image/png", ""),) if draw(st.booleans()) else ()
                piece = prompt(handle, media=media)
            case PieceForm.THINKING:
                piece = replace(thought(handle), response=answer)
            case _:
                piece = said(handle, response=answer)
        made.append(piece)
    return made


facts_known = st.sampled_from(
    [
        OwnFacts(),
        OwnFacts(pending_response="m0"),
        OwnFacts(pending_response="m1"),
        OwnFacts(service=frozenset({"u:h1", "t:t1"})),
    ]
)
looks = st.lists(st.tuples(st.integers(0, 12), st.booleans(), facts_known), max_size=6)


@given(talks(), talks(), looks)
@settings(max_examples=300, deadline=None)
def test_an_assembler_answers_as_if_it_had_seen_nothing_before(
    one: list[Piece], other: list[Piece], asked: list[tuple[int, bool, OwnFacts]]
) -> None:
    assembler = Assembler()
    for count, is_other, own in asked:
        pieces = (other if is_other else one)[:count]
        found = assembler.conversation(pieces, own)

        assert found == assemble(pieces, own)
        anew = Index.of(found.pieces, found.rows)
        assert found.index == anew
        assert found.index.twins == anew.twins
        assert [row.is_hidden for row in found.hidden] == [True] * len(found.hidden)
        assert len(found.hidden) + len(found.listed) == len(found.rows)
        assert list(found.by_anchor) == [row.anchor for row in found.rows]
