"""What the host's command hooks answer; whatever happens inside, the session goes on.

Standard library and `filelock` only: a hook's whole process must cost little more than a bare interpreter.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from context_editor.errors import ContextEditorError

Given: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Given], Answer]

CONTEXT_CHARS: Final = 2_000
"""The most that one prompt is made to carry, in characters: a hard cap, whatever there is to say."""

OWN_TOOLS: Final = "mcp__plugin_context-editor_editor__"
"""How the names of our tools begin in this host."""

LOG_BYTES: Final = 512_000
"""A log of faults larger than this starts anew."""


def run(event: str, stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Answer one hook event.

    Returns:
        0 always. The host reads 2 as a refusal, and a fault of ours is never a reason to refuse anything:
        it is told in one line and logged with its traceback.
    """
    try:
        answer = HANDLERS[event](json.loads(stdin.read()))
    except ContextEditorError as error:
        answer = {"systemMessage": f"context-editor: {error}"}
    except Exception:  # noqa: BLE001 (the one boundary: logged below, and told to the person)
        answer = {
            "systemMessage": f"context-editor failed in its {event} hook; "
            f"the conversation is unchanged ({_logged(event)})"
        }
    if answer:
        stdout.write(json.dumps(answer).encode())
    return 0


def _logged(event: str) -> str:
    """Write the fault to the log and say where that is."""
    from context_editor.hosts.claude_code.environment import data_folder

    path = data_folder() / "log" / "hooks.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = "a" if path.exists() and path.stat().st_size < LOG_BYTES else "w"
        with path.open(mode, encoding="utf-8") as log:
            log.write(f"{event}\n{traceback.format_exc()}\n")
    except OSError as error:
        return f"no log either: {error}"
    return f"see {path}"


def _session_folder(given: Given) -> Path:
    from context_editor.hosts.claude_code.environment import data_folder

    return data_folder() / "sessions" / str(given["session_id"])


def prompt_submitted(given: Given) -> Answer:
    """Attach what the next prompt is to carry; nothing when there is nothing to say."""
    from context_editor.hosts.claude_code.meter import is_heavy_turn

    folder = _session_folder(given)
    is_heavy = is_heavy_turn(folder)
    if not is_heavy and not (folder / "tell").exists():
        return {}
    lines = _engine(given).prompt_lines(str(given.get("prompt", "")))
    if not lines:
        return {}
    text = "\n".join(lines)[:CONTEXT_CHARS]
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}


def tool_used(given: Given) -> Answer:
    """Note one finished call of the main conversation: what, which file, how large."""
    if given.get("agent_id"):
        return {}
    from context_editor.hosts.claude_code.tool_log import note_tool

    folder = _session_folder(given)
    note_tool(folder, given)
    from context_editor.hosts.claude_code.meter import is_past_mark

    if not is_past_mark(folder, Path(str(given.get("transcript_path", "")))):
        return {}
    words = _engine(given, is_mid_turn=True).suggest_at_tool()
    if not words:
        return {}
    answer = {"hookEventName": "PostToolUse", "additionalContext": words[:CONTEXT_CHARS]}
    return {"hookSpecificOutput": answer}


def tool_asked(given: Given) -> Answer:
    """Let our own tools, and reads of this session's archive, pass without a prompt; name the session to them."""
    name = str(given.get("tool_name", ""))
    asked = given.get("tool_input") or {}
    if name.startswith(OWN_TOOLS):
        host = {
            key: given[key]
            for key in ("session_id", "transcript_path", "cwd", "agent_id", "tool_use_id")
            if given.get(key)
        }
        return _allowed({**asked, "_host": host})
    path = str(asked.get("file_path") or asked.get("path") or "")
    if (
        path
        and name in {"Read", "Grep"}
        and _is_in_archive(path, _session_folder(given) / "archive")
    ):
        return _allowed(None)
    return {}


def _allowed(updated: Answer | None) -> Answer:
    decision: Answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    if updated is not None:
        decision["updatedInput"] = updated
    return {"hookSpecificOutput": decision}


def _is_in_archive(path: str, archive: Path) -> bool:
    try:
        return Path(path).resolve().is_relative_to(archive.resolve()) and archive.is_dir()
    except (OSError, ValueError):
        return False


def turn_ended(given: Given) -> Answer:
    """Close a block where the answer ends with the optimize marker; the apply itself is the mod's."""
    from context_editor.core.marker import ends_with_marker

    answer = str(given.get("last_assistant_message") or "")
    if given.get("agent_id") or not ends_with_marker(answer):
        return {}
    words = _engine(given).answered_with(answer)
    return {"systemMessage": f"context-editor: {words}"} if words else {}


OWN_COMMAND: Final = "context-editor:"
"""How the arguments of our own `/compact` begin."""


def compacting(given: Given) -> Answer:
    """Stop a compaction of ours that the host is about to answer; archive what a compaction of its own drops.

    The mod answers our `/compact` before the host does. Where this hook hears of one, the mod did not
    (an organisation may keep it from hearing compactions): the conversation must stay as it is.
    """
    if not str(given.get("custom_instructions") or "").lstrip().startswith(OWN_COMMAND):
        if not _is_archived(given):
            _engine(given).archive_before()
        return {}
    from context_editor.hosts.claude_code.environment import data_folder, host_pid
    from context_editor.hosts.claude_code.presence import bar

    bar(data_folder(), host_pid(), BARRED)
    return {
        "decision": "block",
        "reason": f"context-editor: nothing was applied: {BARRED}; the queue stays",
    }


def _is_archived(given: Given) -> bool:
    """Whether the mod had everything archived: what is told afterwards is newer than the transcript."""
    try:
        told = (_session_folder(given) / "compacted").stat().st_mtime_ns
        return told >= Path(str(given["transcript_path"])).stat().st_mtime_ns
    except OSError:
        return False


BARRED: Final = "this host keeps mods from answering a compaction"
"""Why edits wait for a resume where our mod is there but not asked."""


def session_started(given: Given) -> Answer:
    """Settle an apply that a crash left open, and name what is wrong with the settings.

    After a compaction of the host's own: where what it dropped is archived.
    """
    folder = _session_folder(given)
    if given.get("source") == "compact":
        return _archived_index(folder / "compacted")
    notices = [_engine(given).confirm(is_final=True)] if (folder / "tell").exists() else []
    told = "\n".join(filter(None, (*notices, _mistakes_to_tell(folder / "settings_told"))))
    answer = _offered(given) if given.get("source") == "clear" else {}
    return {**answer, "systemMessage": told} if told else answer


def _offered(given: Given) -> Answer:
    """Go on from what the session before this one left, where the host cleared the conversation (rule K-M16)."""
    from context_editor.hosts.claude_code.environment import data_folder, host_pid
    from context_editor.hosts.claude_code.offers import take_offer

    offer = take_offer(data_folder(), host_pid())
    if offer is None:
        return {}
    molt, words = offer
    _engine(given).adopt_molt(molt)
    answer = {"hookEventName": "SessionStart", "additionalContext": words[:CONTEXT_CHARS]}
    return {"hookSpecificOutput": answer}


def _archived_index(path: Path) -> Answer:
    """Attach the index of what is archived, once."""
    try:
        words = path.read_text(encoding="utf-8")
        path.unlink()
    except FileNotFoundError:
        return {}
    answer = {"hookEventName": "SessionStart", "additionalContext": words[:CONTEXT_CHARS]}
    return {"hookSpecificOutput": answer}


def _mistakes_to_tell(told: Path) -> str:
    """What is wrong with the settings, once a session; empty where nothing is, or where it was told."""
    from context_editor.hosts.claude_code.environment import project_root, variables
    from context_editor.settings import load
    from context_editor.store.files import replace_file

    loaded = load(variables(), project_root())
    words = "\n".join(f"context-editor: {mistake.words}" for mistake in loaded.mistakes)
    if not words or (told.exists() and told.read_text(encoding="utf-8") == words):
        return ""
    replace_file(told, words.encode())
    return words


def session_ended(given: Given) -> Answer:
    """Confirm an apply that no later event of the session did; delete archives that the settings call old."""
    if (_session_folder(given) / "tell").exists():
        _engine(given).confirm()
    if given.get("reason") == "clear":
        _leave_offer(given)
    _purge(given)
    return {}


def _leave_offer(given: Given) -> None:
    """Keep the conversation that is cleared, and leave word of it for the next session (rule K-M15)."""
    from context_editor.hosts.claude_code.environment import data_folder, host_pid
    from context_editor.hosts.claude_code.offers import put_offer

    kept = _engine(given).cleared()
    if kept is not None:
        put_offer(data_folder(), host_pid(), *kept)


def _purge(given: Given) -> None:
    """Delete old archives, where the person asked for it: a project's file can only keep them longer."""
    from context_editor.hosts.claude_code.environment import data_folder, project_root, variables
    from context_editor.settings import load

    persons = load(variables()).settings.archive_days
    if not persons:
        return
    from context_editor.hosts.claude_code.projects import transcript_of
    from context_editor.hosts.claude_code.wiring import system_clock
    from context_editor.store.purge import purge

    engine = _engine(given)
    engine.take_over()
    project = project_root() or Path()
    days = max(persons, load(variables(), project).settings.archive_days)
    now_s = system_clock().now_s()
    purge(data_folder(), days, now_s, lambda i: transcript_of(i, project, variables()).exists())


def _engine(given: Given, *, is_mid_turn: bool = False) -> Any:
    from context_editor.hosts.claude_code.environment import data_folder
    from context_editor.hosts.claude_code.wiring import (
        Opened,
        SessionRef,
        limits_here,
        open_engine,
        standard_loads,
    )

    data = data_folder()
    ref = SessionRef(str(given["session_id"]), Path(str(given["transcript_path"])))
    how = Opened(data, standard_loads(), limits_here(data), is_mid_turn=is_mid_turn)
    return open_engine(ref, how)


HANDLERS: Final[Mapping[str, Handler]] = {
    "prompt-submit": prompt_submitted,
    "post-tool-use": tool_used,
    "pre-tool-use": tool_asked,
    "stop": turn_ended,
    "pre-compact": compacting,
    "session-start": session_started,
    "session-end": session_ended,
}
"""What each hook script answers, by the event's name on the command line."""


def main(event: str) -> int:
    """Run one hook over standard input and output."""
    return run(event, sys.stdin.buffer, sys.stdout.buffer)
