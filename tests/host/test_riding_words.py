"""What the host hangs behind rows stays when those rows are edited: one apply, every kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.host import Host, Typed, after_turns, once_file
from tests.host.plugin import (
    Edited,
    answered,
    editing,
    listing,
    number_of,
    picture,
    run_edited,
    seq,
    shown,
    summarize,
    with_files,
)
from tests.host.scripted_model import Answer, Body, call, say, use
from tests.host.wire import blocks, is_media, result_of, text_with

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

RUNS_UNTIL_TOLD = (
    "touch started; seq 1 900; for n in $(seq 600); do"
    """ [ "$(grep -h '"enqueue"' ~/.claude/projects/*/*.jsonl | wc -l)" -gt 1 ] && break; sleep 0.1; done; sleep .5"""
)
"""A tool that ends a little after the host has noted a second prompt: the one typed meanwhile."""

TYPED = "do not push before I say so"
OTHER = "the other plugin saw this call"
FOLDER = "Use tabs in this folder, never spaces."
FILE = "\n".join(f"note {n} of the attached file" for n in range(300))
SKILL = """---
name: tidy
description: Tidies a drawer.
---
Fold the socks first, then the shirts.
"""
QUESTION = "What do you see here?"
PROMPT: list[dict[str, Any]] = [{"type": "text", "text": QUESTION}, picture()]


def lay_other(folder: Path) -> Path:
    """Another plugin, whose hook adds a text behind every Bash result."""
    added = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": OTHER}}
    command = {"type": "command", "command": f"echo '{json.dumps(added)}'"}
    hooks = {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [command]}]}}
    for name, content in (
        (".claude-plugin/plugin.json", {"name": "other", "version": "1.0.0", "description": "o"}),
        ("hooks/hooks.json", hooks),
    ):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def across_typed_words(body: Body) -> list[dict[str, Any]]:
    """An edit of a range that holds the words typed during the turn."""
    typed = number_of(TYPED[:20], body)
    return [{"op": "collapse", "index": typed - 3, "to": typed + 1, "summary": "fact: nothing"}]


@pytest.fixture(scope="module")
def riding_machine(machine: Callable[..., Host], tmp_path_factory: pytest.TempPathFactory) -> Host:
    files = {
        "sub/CLAUDE.md": FOLDER,
        "sub/list.txt": "\n".join(f"entry {n}" for n in range(400)),
        ".claude/skills/tidy/SKILL.md": SKILL,
    }
    return with_files(machine(lay_other(tmp_path_factory.mktemp("other"))), files)


@pytest.fixture(scope="module")
def ridden(riding_machine: Host) -> Edited:
    path = str(riding_machine.project / "sub" / "list.txt")
    script: list[Answer] = [
        say("I tidy.", use("Skill", {"skill": "tidy"}, "toolu_skill")),
        say("I read.", use("Read", {"file_path": path}, "toolu_read")),
        say("I count.", seq(1, 900, "toolu_hooked")),
        say("I wait.", use("Bash", {"command": RUNS_UNTIL_TOLD}, "toolu_told")),
        call(listing(count=100)),
        editing(
            lambda body: [
                {
                    "op": "describe",
                    "index": number_of(" person ", body, 0),
                    "text": "A tiny picture, and notes.",
                },
                summarize("toolu_read", "A list of entries, nothing else."),
                summarize("toolu_hooked"),
                summarize("toolu_told"),
            ]
        ),
        say("status: four edits queued"),
        call(listing(count=100)),
        editing(across_typed_words),
        say("done"),
    ]
    chosen = [
        is_media,
        result_of("toolu_read", "toolu_hooked", "toolu_told"),
        text_with(SENT_AGAIN, "[Image: source: ", QUESTION),
    ]
    return run_edited(
        riding_machine,
        [Typed(PROMPT), Typed(TYPED, once_file("started"))],
        script,
        edited=chosen,
        tools=["Bash", "Read", "Skill"],
        end_when=after_turns(2),
    )


SENT_AGAIN = "Attribution for git commits"
"""How the host's note begins that it sends anew, at the end, where the first prompt is built anew."""

WORDS = {
    "queued_command": TYPED,
    "hook_additional_context": OTHER,
    "nested_memory": FOLDER,
    "skill_listing": "Tidies a drawer.",
    "agent_listing_delta": "general-purpose",
    "deferred_tools_delta": "CronCreate",
    "mcp_instructions_delta": "Later, your context_edit",
    "environment": "# Environment",
    "model": "You are powered by the model",
}


@pytest.mark.parametrize("kind", WORDS)
def test_c27_what_the_host_hung_behind_an_edited_row_is_still_sent(
    ridden: Edited, kind: str
) -> None:
    """Where they stand, and that nothing else is lost, is held for the whole run where it is made."""
    made = {row["attachment"]["type"] for row in ridden.run.rows() if row["type"] == "attachment"}
    apply = ridden.only_apply

    assert kind in made
    assert WORDS[kind] in str(apply.before["messages"])
    assert WORDS[kind] in str(apply.after["messages"]), shown(apply.after)


def test_c27_a_skills_own_text_is_still_sent(ridden: Edited) -> None:
    assert "Fold the socks first" in str(ridden.only_apply.after)


def test_c27_what_the_host_sends_again_by_itself_is_still_sent(ridden: Edited) -> None:
    assert SENT_AGAIN in str(ridden.only_apply.after["messages"])


@pytest.mark.parametrize("request_number", [5, 8], ids=["before the apply", "after it"])
def test_c27_words_typed_during_a_turn_are_listed_as_a_persons(
    ridden: Edited, request_number: int
) -> None:
    lines = answered(ridden.bodies[request_number]).splitlines()

    (line,) = [line for line in lines if TYPED[:20] in line]
    assert " person " in line


def test_c11_words_typed_during_a_turn_are_never_replaced(ridden: Edited) -> None:
    refusal = answered(ridden.bodies[9])

    assert "a person's words, which are never replaced: send instead" in refusal
    assert "Nothing of this call was queued" in refusal


def test_c4_the_picture_is_gone_from_the_request_and_the_typed_words_follow_the_description(
    ridden: Edited,
) -> None:
    (text,) = [b.text for b in blocks(ridden.only_apply.after) if QUESTION in b.text]

    assert text.startswith(
        "Later, your context_edit describe call replaced an image of this prompt"
    )
    assert text.strip().endswith(f"A tiny picture, and notes.\n\n{QUESTION}")
    assert not any(map(is_media, blocks(ridden.only_apply.after)))


# --- a prompt that names a file, and was given in plan mode --------------------------------------

ABOUT_FILE = "What does @notes.txt say?"


@pytest.fixture(scope="module")
def planned(machine: Callable[..., Host]) -> Edited:
    """Described once the plan mode is left: the host lets nothing be changed in it."""
    host = with_files(machine(), {"notes.txt": FILE})
    plan_mode = ["--permission-mode", "plan"]
    first = run_edited(host, ABOUT_FILE, [say("300 notes.")], edited=(), args=plan_mode)
    script: list[Answer] = [
        call(listing(count=100)),
        editing(
            lambda body: [
                {"op": "describe", "index": number_of(" person ", body, 0), "text": "300 notes."}
            ]
        ),
        say("status: one edit"),
        say("done"),
    ]
    chosen = [text_with("note 17 of the", ABOUT_FILE, SENT_AGAIN, "Called the Read tool")]
    return run_edited(host, "Go on.", script, edited=chosen, after=first)


def test_c4_a_file_that_a_prompt_named_goes_with_the_description_and_can_be_read_again(
    planned: Edited,
) -> None:
    (text,) = [b.text for b in blocks(planned.only_apply.after) if ABOUT_FILE in b.text]

    assert "note 17 of the attached file" in str(planned.only_apply.before["messages"])
    assert "note 17 of the attached file" not in str(planned.only_apply.after["messages"])
    assert "the attached file" in text
    assert "notes.txt (read it again if needed)" in text
    assert text.strip().endswith(f": 300 notes.\n\n{ABOUT_FILE}")


def test_c27_the_rules_of_plan_mode_are_still_sent(planned: Edited) -> None:
    made = [row["attachment"] for row in planned.run.rows() if row["type"] == "attachment"]

    assert "plan_mode" in {attachment["type"] for attachment in made}
    assert "Plan mode is active" in str(planned.only_apply.before["messages"])
    assert "Plan mode is active" in str(planned.only_apply.after["messages"])
