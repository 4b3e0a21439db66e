"""The helpers over request bodies say what they promise, on bodies built by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.host.wire import (
    assert_conserved,
    assert_legal,
    assert_prefix_kept,
    assert_same_conversation,
    blocks,
    common_prefix_bytes,
    is_media,
    pair_of,
    result_of,
    text_with,
)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Read", path: str = "a") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"path": path}}


def result(call_id: str, words: str = "out") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def agent(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def body(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"system": [text("be good")], "tools": [{"name": "Read"}], "messages": list(messages)}


def session() -> dict[str, Any]:
    """A prompt with an image, a thought, two parallel reads, words typed meanwhile, an answer."""
    image = {"type": "image", "source": {"type": "base64", "data": "aGk="}}
    thought = {"type": "thinking", "thinking": "read both", "signature": "s"}
    return body(
        user(text("<system-reminder>\nskills: a, b\n</system-reminder>"), image, text("look")),
        agent(thought, text("reading"), call("t1", path="a"), call("t2", path="b")),
        user(result("t1", "long a"), result("t2", "long b"), text("the person: do not push")),
        agent(text("both are read")),
        user(text("go on")),
    )


def replaced(was: dict[str, Any], message: int, content: list[dict[str, Any]]) -> dict[str, Any]:
    after = copy.deepcopy(was)
    after["messages"][message]["content"] = content
    return after


def test_a_block_is_listed_with_its_role_its_call_and_its_words() -> None:
    listed = blocks(session())

    assert [block.kind for block in listed[:4]] == ["text", "image", "text", "thinking"]
    assert [(b.role, b.call_id, b.text) for b in listed if b.kind == "tool_result"] == [
        ("user", "t1", "long a"),
        ("user", "t2", "long b"),
    ]


def test_a_message_that_is_a_bare_string_is_one_text_block() -> None:
    assert [b.text for b in blocks(body({"role": "user", "content": "hi"}))] == ["hi"]


def test_cache_marks_do_not_shorten_the_common_prefix() -> None:
    marked = copy.deepcopy(session())
    marked["messages"][1]["content"][1]["cache_control"] = {"type": "ephemeral"}

    assert common_prefix_bytes(session(), marked) == common_prefix_bytes(session(), session())


def test_a_text_is_the_same_as_a_bare_string_and_as_a_block() -> None:
    bare, listed = (body({"role": "user", "content": c}) for c in ("hi", [text("hi")]))

    assert common_prefix_bytes(bare, listed) == common_prefix_bytes(bare, bare)


def test_the_common_prefix_ends_at_the_first_difference() -> None:
    early = replaced(session(), 1, [text("other")])
    late = replaced(session(), 3, [text("other")])

    assert common_prefix_bytes(session(), early) < common_prefix_bytes(session(), late)


def test_a_session_of_whole_pairs_is_legal() -> None:
    assert_legal(session())


@pytest.mark.parametrize(
    ("message", "content", "word"),
    [
        pytest.param(2, [result("t1"), text("x")], "called", id="call-without-result"),
        pytest.param(2, [result("t1"), result("t2"), result("t9")], "answers", id="orphan"),
        pytest.param(2, [result("t1"), result("t1"), result("t2")], "twice", id="two-results"),
        pytest.param(
            2, [result("t1"), text("x"), result("t2")], "before a tool", id="text-between"
        ),
        pytest.param(3, [result("t1")], "twice", id="result-in-an-answer"),
        pytest.param(4, [call("t1")], "twice", id="id-twice"),
        pytest.param(4, [text(" ")], "empty text", id="blank-text"),
        pytest.param(4, [], "is empty", id="empty-message"),
    ],
)
def test_what_the_api_would_refuse_is_not_legal(
    message: int, content: list[dict[str, Any]], word: str
) -> None:
    with pytest.raises(AssertionError, match=word):
        assert_legal(replaced(session(), message, content))


def test_two_answers_in_a_row_are_legal_as_the_api_joins_them() -> None:
    assert_legal(body(user(text("hi")), agent(text("a")), agent(call("t1")), user(result("t1"))))


def test_an_answer_that_parts_a_call_from_its_result_is_not_legal() -> None:
    with pytest.raises(AssertionError, match="parts the calls"):
        assert_legal(body(user(text("hi")), agent(call("t1")), agent(text("b"))))


def test_a_call_that_ends_the_request_is_not_legal() -> None:
    with pytest.raises(AssertionError, match="no result"):
        assert_legal(body(user(text("hi")), agent(call("t1"))))


def test_a_system_message_may_stand_between_a_call_and_its_result_message() -> None:
    system = {"role": "system", "content": [text("note")]}

    assert_legal(body(user(text("hi")), agent(call("t1")), user(result("t1")), system))


def test_the_prefix_is_kept_when_only_what_follows_the_changed_block_differs() -> None:
    after = replaced(session(), 2, [result("t1", "long a"), result("t2", "short"), text("new")])

    assert assert_prefix_kept(session(), after, result_of("t2")) == 8


def test_a_change_in_front_of_the_changed_block_breaks_the_prefix() -> None:
    after = replaced(session(), 2, [result("t1", "other"), result("t2", "short")])

    with pytest.raises(AssertionError):
        assert_prefix_kept(session(), after, result_of("t2"))


def test_a_changed_tool_list_breaks_the_prefix() -> None:
    after: dict[str, Any] = session() | {"tools": []}

    with pytest.raises(AssertionError, match="other tools"):
        assert_prefix_kept(session(), after, result_of("t1"))


def test_an_edited_result_may_differ_and_all_else_is_conserved() -> None:
    kept = [result("t1", "short"), result("t2", "long b"), text("the person: do not push")]

    assert_conserved(session(), replaced(session(), 2, kept), result_of("t1"))


def test_words_typed_during_a_turn_that_are_gone_are_a_loss() -> None:
    after = replaced(session(), 2, [result("t1", "short"), result("t2", "long b")])

    with pytest.raises(AssertionError, match="do not push"):
        assert_conserved(session(), after, result_of("t1"))


def test_an_image_that_is_gone_is_a_loss_unless_it_was_edited() -> None:
    reminder = text("<system-reminder>\nskills: a, b\n</system-reminder>")
    after = replaced(session(), 0, [reminder, text("a picture\n\nlook")])

    with pytest.raises(AssertionError, match="image"):
        assert_conserved(session(), after, result_of("t1"))
    assert_conserved(session(), after, is_media)


def test_a_reminder_may_lose_its_wrapper_but_not_a_word() -> None:
    def carried(words: str) -> dict[str, Any]:
        return replaced(session(), 0, [text("skills: a, b"), text(words)])

    assert_conserved(session(), carried("look"), is_media)
    with pytest.raises(AssertionError, match="look"):
        assert_conserved(session(), carried("loo k"), is_media)


def test_texts_that_changed_places_are_a_loss() -> None:
    after = copy.deepcopy(session())
    after["messages"][3], after["messages"][4] = agent(text("go on")), user(text("both are read"))

    with pytest.raises(AssertionError, match="no longer in its place"):
        assert_conserved(session(), after, result_of("t1"))


def test_a_kept_call_whose_input_changed_is_a_loss() -> None:
    thought = session()["messages"][1]["content"][0]
    calls = [thought, text("reading"), call("t1", path="other"), call("t2", path="b")]

    with pytest.raises(AssertionError, match="tool_use Read t1"):
        assert_conserved(session(), replaced(session(), 1, calls), result_of("t1"))


def test_thinking_may_go_behind_the_first_edit_and_not_in_front() -> None:
    after = replaced(session(), 1, session()["messages"][1]["content"][1:])

    assert_conserved(session(), after, text_with("skills"))
    with pytest.raises(AssertionError, match="thinking"):
        assert_conserved(session(), after, result_of("t1"))


def test_our_own_calls_and_old_service_rows_may_go() -> None:
    own = "mcp__plugin_context-editor_editor__context_edit"
    before = body(
        user(text("hi")),
        agent(call("t1"), call("t2", name=own)),
        user(result("t1", "long"), result("t2", "queued q1")),
        agent(text("done")),
        user(text("context-editor: applied 1 edit(s)"), text("next")),
    )
    after = body(
        user(text("hi")),
        agent(call("t1")),
        user(result("t1", "short")),
        agent(text("done")),
        user(text("next")),
    )

    assert_conserved(before, after, result_of("t1"))


def test_a_persons_text_that_only_mentions_the_prefix_may_not_go() -> None:
    before = body(user(text("hi"), text("why does it say context-editor: applied?")))

    with pytest.raises(AssertionError, match="why does it"):
        assert_conserved(before, body(user(text("ho"))), text_with("hi"))


def test_an_edit_that_touches_nothing_is_a_fault_of_the_test() -> None:
    with pytest.raises(AssertionError, match="was edited"):
        assert_conserved(session(), session(), pair_of("t404"))


def test_a_resumed_session_that_goes_on_is_the_same_conversation() -> None:
    resumed = copy.deepcopy(session())
    resumed["messages"] += [agent(text("gone on")), user(text("and now?"))]

    assert_same_conversation(session(), resumed)


def test_a_resumed_session_with_an_original_back_is_not_the_same() -> None:
    edited = replaced(session(), 2, [result("t1", "short"), result("t2", "long b")])

    with pytest.raises(AssertionError, match="short"):
        assert_same_conversation(edited, session())
