"""What the host's command hooks answer; whatever happens inside, the session goes on.

Standard library and `filelock` only. What needs no look at the session is answered by `quick` alone.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from context_editor.errors import ContextEditorError
from context_editor.hosts.claude_code import quick

Given: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Given], Answer]
Look: TypeAlias = Callable[[Any, Given], Answer]

CONTEXT_CHARS: Final = 2_000
"""The most that one prompt is made to carry, in characters: a hard cap, whatever there is to say."""

LOG_BYTES: Final = 512_000
"""A log of faults larger than this starts anew."""


def run(event: str, stdin: BinaryIO, stdout: BinaryIO, *, needs_look: bool = False) -> int:
    """Answer one hook event.

    Args:
        event: Its name on the command line.
        stdin: What the host says.
        stdout: Where the answer goes.
        needs_look: Whether `quick` was asked already and could not answer.

    Returns:
        0 always. The host reads 2 as a refusal, and a fault of ours is never a reason to refuse anything:
        it is told in one line and logged with its traceback.
    """
    try:
        given: Given = json.loads(stdin.read())
        answer = None if needs_look else quick.answered(event, given)
        if answer is None:
            answer = HANDLERS[event](given)
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
    return Path(quick.session_path(given))


def prompt_submitted(engine: Any, given: Given) -> Answer:
    """Attach what the next prompt is to carry; nothing when there is nothing to say."""
    lines = engine.prompt_lines(str(given.get("prompt", "")))
    return _with_context("UserPromptSubmit", "\n".join(lines))


def tool_used(engine: Any, given: Given) -> Answer:
    """Suggest something where the context has just crossed a mark."""
    del given
    return _with_context("PostToolUse", engine.suggest_at_tool())


def _with_context(event: str, words: str) -> Answer:
    if not words:
        return {}
    answer = {"hookEventName": event, "additionalContext": words[:CONTEXT_CHARS]}
    return {"hookSpecificOutput": answer}


def turn_ended(engine: Any, given: Given) -> Answer:
    """Close a block where the answer ends with the optimize marker; the apply itself is the mod's."""
    from context_editor.core.marker import ends_with_marker

    answer = str(given.get("last_assistant_message") or "")
    words = engine.answered_with(answer) if ends_with_marker(answer) else ""
    return {"systemMessage": f"context-editor: {words}"} if words else {}


LOOKS: Final[Mapping[str, Look]] = {
    "prompt-submit": prompt_submitted,
    "post-tool-use": tool_used,
    "stop": turn_ended,
}
"""What is answered by a look at the session, which the running server has read already."""

MID_TURN: Final = frozenset({"post-tool-use"})
"""The events at which an answer is being written."""


def _looked(event: str, given: Given) -> Answer:
    return LOOKS[event](_engine(given, is_mid_turn=event in MID_TURN), given)


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
    return _with_context("SessionStart", words)


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
    import gc

    from context_editor.hosts.claude_code.environment import data_folder
    from context_editor.hosts.claude_code.wiring import (
        Opened,
        SessionRef,
        limits_here,
        open_engine,
        standard_loads,
    )

    # A process that reads one session and ends: looking for cycles would take a third of its time.
    gc.disable()
    data = data_folder()
    ref = SessionRef(str(given["session_id"]), Path(str(given["transcript_path"])))
    how = Opened(data, standard_loads(), limits_here(data), is_mid_turn=is_mid_turn)
    return open_engine(ref, how)


HANDLERS: Final[Mapping[str, Handler]] = {
    **{event: partial(_looked, event) for event in LOOKS},
    "pre-compact": compacting,
    "session-start": session_started,
    "session-end": session_ended,
}
"""What needs a look at the session, by the event's name on the command line; `quick` answers all else."""


def main(event: str) -> int:
    """Run one hook over standard input and output."""
    return run(event, sys.stdin.buffer, sys.stdout.buffer)
