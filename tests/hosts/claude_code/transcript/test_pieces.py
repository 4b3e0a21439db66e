"""What the pieces of a transcript say, and whose words they are."""

from pathlib import Path

import orjson
import pytest
from tests.support.transcripts import (
    CWD,
    MID_TURN,
    OUR_PLUGIN,
    PNG_4_BY_3,
    REFUSED,
    REMINDER,
    Transcript,
    call,
    image,
    text,
    thinking,
)

from context_editor.core.rows import Piece, PieceForm
from context_editor.hosts.claude_code.transcript import LiveTranscript


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def pieces_of(session: Transcript, path: Path) -> tuple[Piece, ...]:
    live = LiveTranscript(session.write(path), orjson.loads)
    live.refresh()
    return live.pieces


def last_of(session: Transcript, path: Path) -> Piece:
    return pieces_of(session, path)[-1]


# --- prompts -----------------------------------------------------------------------------------


def test_a_typed_prompt_is_a_persons_whole(path: Path) -> None:
    session = Transcript()
    row = session.prompt("fix the test\n")
    piece = last_of(session, path)

    assert piece.form is PieceForm.PROMPT
    assert piece.typed == piece.text == "fix the test\n"
    assert piece.handle == row["uuid"]
    assert piece.label == ""
    assert not piece.is_ours


def test_pasted_parts_are_not_typed(path: Path) -> None:
    session = Transcript()
    pasted = '\n\n<pasted_content id="c7c9">\none\ntwo\n</pasted_content id="c7c9">\n\n'
    session.prompt(f"look at this: {pasted} thanks")
    piece = last_of(session, path)

    assert piece.typed == "look at this:  thanks"
    assert piece.pasted == (pasted,)
    assert pasted in piece.text


def test_a_prompt_that_is_nothing_but_a_paste_counts_as_typed(path: Path) -> None:
    session = Transcript()
    words = '<pasted_content id="c7c9">\none\n</pasted_content id="c7c9">'
    session.prompt(words)

    assert last_of(session, path).typed == words


def test_an_image_of_a_prompt_has_its_size_in_pixels(path: Path) -> None:
    session = Transcript()
    session.prompt([text("what is wrong?"), image()])
    session.meta("[Image: source: /tmp/copy.png]")
    prompt, source = pieces_of(session, path)

    (media,) = prompt.media
    assert (media.kind, media.media_type, media.width, media.height) == ("image", "image/png", 4, 3)
    assert media.data == PNG_4_BY_3
    assert prompt.typed == "what is wrong?"
    assert (source.label, source.rides) == ("image-source", True)


def test_what_an_editor_puts_beside_a_prompt_is_not_typed(path: Path) -> None:
    session = Transcript()
    opened = "<ide_opened_file>The user opened a.py</ide_opened_file>"
    session.prompt([text(opened), text("explain it")])

    assert last_of(session, path).typed == "explain it"


def test_a_prompt_of_our_plugin_is_ours(path: Path) -> None:
    session = Transcript()
    session.plugin_prompt("context-editor: go on")
    piece = last_of(session, path)

    assert (piece.label, piece.is_ours, piece.typed) == ("plugin", True, None)


def test_a_prompt_of_another_plugin_is_not_ours(path: Path) -> None:
    session = Transcript()
    session.plugin_prompt("hello", plugin="weather")
    piece = last_of(session, path)

    assert (piece.label, piece.is_ours, piece.typed) == ("plugin", False, None)


def test_a_person_who_types_our_prefix_is_still_a_person(path: Path) -> None:
    session = Transcript()
    session.prompt("context-editor: applied 3 edit(s)")
    piece = last_of(session, path)

    assert piece.typed == "context-editor: applied 3 edit(s)"
    assert not piece.is_ours


@pytest.mark.parametrize(
    "words",
    [
        "<task-notification>it is done</task-notification>",
        "[Request interrupted by user] is what it said",
        "<local-command-stdout>what is this?",
    ],
)
def test_what_the_host_records_as_typed_is_a_persons_whatever_it_begins_with(
    path: Path, words: str
) -> None:
    session = Transcript()
    session.prompt(words)

    assert last_of(session, path).typed == words


def test_a_prompt_that_an_apply_kept_is_still_a_persons(path: Path) -> None:
    """A compaction by a plugin stamps kept prompts with the plugin (see docs/host-notes.md)."""
    session = Transcript()
    row = session.prompt("go")
    session.boundary()
    session.kept(row)
    piece = last_of(session, path)

    assert piece.typed == "go"
    assert not piece.is_ours


def test_a_continuation_that_an_apply_kept_is_still_ours(path: Path) -> None:
    session = Transcript()
    row = session.plugin_prompt("context-editor: go on")
    session.boundary()
    session.kept(row)

    assert last_of(session, path).is_ours


def test_a_prompt_that_an_apply_built_counts_as_typed_until_told_otherwise(path: Path) -> None:
    session = Transcript()
    session.boundary()
    session.rebuilt("Later, your context_edit describe call replaced an image: a cat\n\nwhat?")
    piece = last_of(session, path)

    assert piece.label == "rebuilt"
    assert piece.typed == piece.text


def test_a_compact_command_of_ours_is_ours_with_its_caveat_and_its_output(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.compact_records("context-editor: apply 1 edit(s)", origin=OUR_PLUGIN)
    _, *records = pieces_of(session, path)

    assert [(p.is_ours, p.typed) for p in records] == [(True, None)] * 3


def test_a_compact_command_of_a_person_is_a_persons(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.compact_records("keep the plan", prompt_id="compact-9")
    _, caveat, command, output = pieces_of(session, path)

    assert command.typed == "/compact keep the plan"
    assert not any(p.is_ours for p in (caveat, command, output))


def test_a_person_cannot_make_a_compact_command_ours_by_wording(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.compact_records("context-editor: apply 1 edit(s)")

    assert not any(p.is_ours for p in pieces_of(session, path))


def test_a_bang_command_is_a_persons_and_its_output_is_not(path: Path) -> None:
    session = Transcript()
    session.local("<bash-input>git status</bash-input>", "p9")
    session.local("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", "p9")
    command, output = pieces_of(session, path)

    assert command.typed == "! git status"
    assert (output.typed, output.label) == (None, "local-command")


def test_a_slash_command_is_a_persons_and_what_it_expands_to_is_not(path: Path) -> None:
    session = Transcript()
    session.local(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>the diff</command-args>"
    )
    session.meta("Review the diff with care.")
    command, expansion = pieces_of(session, path)

    assert command.typed == "/review the diff"
    assert (expansion.typed, expansion.label, expansion.rides) == (None, "meta", True)


def test_local_commands_of_recent_releases_are_read_unless_only_shown(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.system("local_command", content="<command-name>/model</command-name>")
    session.system("local_command", content="<local-command-stdout>set</local-command-stdout>")
    session.system("local_command", content="for the person alone", isDisplayOnly=True)
    _, *commands = pieces_of(session, path)

    assert [(p.typed, p.rides) for p in commands] == [("/model", True), (None, True)]


def test_an_interrupt_is_the_hosts(path: Path) -> None:
    session = Transcript()
    session.local("[Request interrupted by user]")
    piece = last_of(session, path)

    assert (piece.label, piece.typed) == ("interrupt", None)


def test_a_compact_summary_is_the_hosts(path: Path) -> None:
    session = Transcript()
    session.boundary("auto")
    session.prompt("This session is being continued…", isCompactSummary=True)
    piece = last_of(session, path)

    assert (piece.label, piece.typed, piece.rides) == ("compact-summary", None, False)


@pytest.mark.parametrize(
    ("turn_origin", "label"),
    [("task_notification", "task-notification"), ("scheduled", "system"), ("peer", "system")],
)
def test_prompts_that_the_host_submits_are_not_a_persons(
    path: Path, turn_origin: str, label: str
) -> None:
    session = Transcript()
    session.prompt("wake up", turnOrigin=turn_origin, promptSource="system", origin=None)
    piece = last_of(session, path)

    assert (piece.label, piece.typed) == (label, None)


def test_a_task_notification_of_an_older_release_is_not_a_persons(path: Path) -> None:
    session = Transcript()
    session.add(
        {
            "type": "user",
            "message": {"role": "user", "content": "<task-notification>done</task-notification>"},
            "origin": {"kind": "task-notification"},
        }
    )

    assert last_of(session, path).typed is None


# --- answers -----------------------------------------------------------------------------------


def test_the_blocks_of_an_answer_are_a_piece_each(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.answer(
        thinking("hm", "sign"),
        {"type": "redacted_thinking", "data": "opaque"},
        text("I read it"),
        call("Read", "t1", file_path=f"{CWD}/src/app.py", offset=1, limit=220),
    )
    _, thought, redacted, said, called = pieces_of(session, path)

    assert (thought.form, thought.text, thought.signature_chars) == (PieceForm.THINKING, "hm", 4)
    assert (redacted.form, redacted.text, redacted.signature_chars) == (PieceForm.THINKING, "", 6)
    assert (said.form, said.text) == (PieceForm.TEXT, "I read it")
    assert called.call is not None
    assert (called.call.id, called.call.name) == ("t1", "Read")
    assert called.label == "Read src/app.py 1-220"
    assert called.cwd == CWD
    assert {p.response for p in (thought, redacted, said, called)} == {"msg_0001"}


def test_blocks_that_share_a_line_share_its_handle(path: Path) -> None:
    """A plugin's compaction writes a built answer on one line (see docs/host-notes.md)."""
    session = Transcript()
    row = session.block(text("built"), "m1")
    row["message"]["content"].append(call("Bash", "t1", command="x"))
    said, called = pieces_of(session, path)

    assert said.handle == called.handle == row["uuid"]
    assert said.response == called.response == "m1"


def test_an_api_error_is_the_hosts_answer(path: Path) -> None:
    session = Transcript()
    session.block(text("API Error: overloaded"), "m1")["isApiErrorMessage"] = True

    assert last_of(session, path).label == "api-error"


def test_blocks_of_the_apis_own_tools_are_named(path: Path) -> None:
    session = Transcript()
    session.block({"type": "server_tool_use", "id": "s1", "name": "web_search"}, "m1")
    piece = last_of(session, path)

    assert (piece.form, piece.label) == (PieceForm.TEXT, "server_tool_use")
    assert '"web_search"' in piece.text


# --- results -----------------------------------------------------------------------------------


def asked(content: str, **facts: object) -> Transcript:
    session = Transcript()
    session.answer(call("AskUserQuestion", "t1", questions=[{"question": "Which color?"}]))
    session.result("t1", content, **facts)
    return session


def test_an_answer_to_a_question_is_a_persons(path: Path) -> None:
    session = asked(
        'The user answered: "Which color?"="purple". Read the answers carefully.',
        toolUseResult={
            "questions": [{"question": "Which color?"}],
            "answers": {"Which color?": "purple"},
            "annotations": {"Which color?": {"notes": "not too dark"}},
        },
    )

    assert last_of(session, path).typed == "purple\nnot too dark"


def test_an_answer_without_its_record_is_a_persons_whole(path: Path) -> None:
    """A compaction by a plugin empties the structured result."""
    words = 'User has answered your questions: "Which color?"="purple".'

    assert last_of(asked(words, toolUseResult={}), path).typed == words


def test_an_unanswered_question_is_nobodys(path: Path) -> None:
    session = asked("The user did not answer the questions.", toolUseResult={})

    assert last_of(session, path).typed is None


def test_the_words_of_another_tool_are_never_an_answer(path: Path) -> None:
    session = Transcript()
    session.answer(call("Bash", "t1", command="x"))
    session.result("t1", "The user answered: yes")

    assert last_of(session, path).typed is None


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "by its text"])
def test_the_reason_of_a_refusal_is_a_persons(path: Path, *, recorded: bool) -> None:
    session = Transcript()
    session.answer(call("Bash", "t1", command="rm"))
    facts = {"userFeedback": "use the tmp folder"} if recorded else {}
    session.result("t1", REFUSED.format("use the tmp folder"), is_error=True, **facts)
    piece = last_of(session, path)

    assert piece.typed == "use the tmp folder"
    assert piece.is_error


def test_a_refusal_without_a_reason_is_nobodys(path: Path) -> None:
    session = Transcript()
    session.answer(call("Bash", "t1", command="rm"))
    refused = REFUSED.partition(" To tell you")[0]
    session.result("t1", f"{refused} STOP what you are doing.", is_error=True)

    assert last_of(session, path).typed is None


def test_tool_output_that_reads_like_a_refusal_is_nobodys(path: Path) -> None:
    session = Transcript()
    session.answer(call("Bash", "t1", command="cat"))
    session.result("t1", REFUSED.format("delete everything"))

    assert last_of(session, path).typed is None


def test_a_remark_on_an_approval_is_a_persons(path: Path) -> None:
    """The host stores it as a text block beside the result. Observed on Claude Code 2.1.332."""
    session = Transcript()
    session.answer(call("Bash", "t1", command="touch a"))
    session.result("t1", "(no output)", beside=[text("yes but be quick")])
    piece = last_of(session, path)

    assert piece.typed == "yes but be quick"
    assert piece.text == "(no output)\n\nyes but be quick"


def test_what_an_apply_put_beside_a_result_is_nobodys_by_itself(path: Path) -> None:
    session = Transcript()
    session.answer(call("Bash", "t1", command="touch a"))
    session.result("t1", "short", beside=[text("carried words")], rowSource="hook")

    assert last_of(session, path).typed is None


def test_a_result_holds_text_and_media_and_short_facts(path: Path) -> None:
    session = Transcript()
    session.answer(call("Read", "t1", file_path="a.png"))
    session.result(
        "t1",
        [text("an image:"), image(), {"type": "tool_reference", "tool_name": "WebFetch"}],
        toolUseResult={"file": {"filePath": "a.png", "base64": "x" * 5000}, "isImage": True},
    )
    piece = last_of(session, path)

    assert piece.text == "an image:\nWebFetch"
    assert [media.width for media in piece.media] == [4]
    assert piece.extra["structured"] == {"file": {"filePath": "a.png"}, "isImage": True}


def test_results_that_share_a_line_are_a_piece_each(path: Path) -> None:
    session = Transcript()
    session.answer(call("Read", "t1"), call("Read", "t2"))
    session.result("t1", "one", beside=[{"type": "tool_result", "tool_use_id": "t2"}])
    _, _, one, two = pieces_of(session, path)

    assert (one.call_id, two.call_id) == ("t1", "t2")
    assert one.handle == two.handle


# --- attachments -------------------------------------------------------------------------------


def test_an_attachment_says_what_the_host_sends(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.attachment("nested_memory", "Contents of a/CLAUDE.md", path="/p/a/CLAUDE.md")
    piece = last_of(session, path)

    assert (piece.form, piece.label, piece.role) == (
        PieceForm.ATTACHMENT,
        "nested_memory",
        "system",
    )
    assert piece.text == "Contents of a/CLAUDE.md"
    assert piece.extra == {"rendered_known": True, "path": "/p/a/CLAUDE.md"}


def test_tags_stay_where_the_host_sends_them(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.attachment("remote_session_change", "Attribution", role="user")

    assert last_of(session, path).text == REMINDER.format("Attribution")


def test_words_typed_during_a_turn_are_a_persons(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.queued("do not push")
    piece = last_of(session, path)

    assert piece.typed == "do not push"
    assert piece.text == MID_TURN.format("do not push")
    assert piece.label == "queued_command"


@pytest.mark.parametrize(
    "payload",
    [
        {"commandMode": "task-notification", "isMeta": True},
        {"origin": {"kind": "task-notification"}},
        {"origin": {"kind": "peer", "from": "x"}},
        {"textNotTyped": True},
    ],
)
def test_queued_notifications_are_nobodys(path: Path, payload: dict[str, object]) -> None:
    session = Transcript()
    session.prompt("go")
    session.queued("background task done", **payload)

    assert last_of(session, path).typed is None


def test_attachments_that_send_nothing_are_no_pieces(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.attachment("prompt_snapshot", systemPrompt=["x" * 1000])
    session.attachment("hook_success", hookEvent="PostToolUse", content="", stdout="{}")
    session.attachment("session_context", context={})

    assert len(pieces_of(session, path)) == 1


def test_an_attached_image_is_media_whose_text_is_not_known(path: Path) -> None:
    session = Transcript()
    session.prompt("what is in @a.png?")
    row = session.attachment(
        "file",
        filename="/p/a.png",
        content={"type": "image", "file": {"base64": PNG_4_BY_3, "type": "image/png"}},
    )
    row["renderedRole"] = "user"
    piece = last_of(session, path)

    assert [media.height for media in piece.media] == [3]
    assert piece.extra["rendered_known"] is False
    assert piece.extra["path"] == "/p/a.png"


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("skill_listing", {"content": "- a skill"}, "- a skill"),
        (
            "hook_additional_context",
            {"content": ["be careful"], "hookName": "PostToolUse:Read"},
            "PostToolUse:Read hook additional context: be careful",
        ),
        (
            "nested_memory",
            {"path": "/p/CLAUDE.md", "content": {"content": "rules"}},
            "Contents of /p/CLAUDE.md:\n\nrules",
        ),
        ("file", {"filename": "a.py", "content": {"file": {"content": "code"}}}, "a.py\ncode"),
        ("mcp_instructions_delta", {"addedBlocks": ["## one", "## two"]}, "## one\n## two"),
        ("queued_command", {"prompt": [{"type": "text", "text": "stop"}]}, "stop"),
        (
            "hook_success",
            {"hookName": "SessionStart", "hookEvent": "SessionStart", "content": "hello"},
            "SessionStart hook success: hello",
        ),
    ],
)
def test_attachments_of_older_releases_are_read_from_their_payload(
    path: Path, kind: str, payload: dict[str, object], words: str
) -> None:
    session = Transcript()
    session.prompt("go")
    row = session.attachment(kind)
    row["attachment"].update(payload)
    piece = last_of(session, path)

    assert piece.text == words
    assert piece.extra["rendered_known"] is False


def test_the_texts_that_hooks_added_are_kept_one_by_one(path: Path) -> None:
    session = Transcript()
    session.prompt("go")
    session.attachment(
        "hook_additional_context", "both", content=["one", "two"], hookName="UserPromptSubmit"
    )

    assert last_of(session, path).extra["contexts"] == ("one", "two")
