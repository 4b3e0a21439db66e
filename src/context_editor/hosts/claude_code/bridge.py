"""The bridge that the mod calls: one event with one JSON object in, one JSON object out."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from context_editor.core import idle
from context_editor.core.apply.emissions import Build
from context_editor.core.policy.asked_digests import DigestAnswer
from context_editor.engine.ports import ApplyAnswer, HostRow
from context_editor.engine.session import Engine
from context_editor.hosts.claude_code import presence, slash
from context_editor.hosts.claude_code.environment import data_folder, host_pid
from context_editor.hosts.claude_code.transcript import well_formed
from context_editor.hosts.claude_code.waiting import person_waits
from context_editor.hosts.claude_code.wiring import (
    Opened,
    SessionRef,
    limits_here,
    open_engine,
)
from context_editor.store.files import replace_file

Answer: TypeAlias = dict[str, Any]
Event: TypeAlias = Callable[[Engine, Mapping[str, Any]], Answer]

APPLY_COMMAND: Final = "context-editor: apply {count} edit(s)"
"""The arguments of the `/compact` that carries an apply out (contract)."""

CONFIRM_TRIES: Final = 100
CONFIRM_PAUSE_S: Final = 0.1
"""How often, and how far apart in seconds, the new rows are looked for: the host writes them a little after it says
that the compaction is done, 0.3 s later wherever it was seen."""

UNCONFIRMED: Final[Answer] = {"notice": ""}
"""What is told where the host wrote nothing in all that time: a later event of the session settles it."""

INLINE_BYTES: Final = 4_000_000
"""The largest answer that goes by the standard output, in bytes: the host keeps 4,194,304 of what a child prints
(docs/host-notes.md, 7)."""

REPAIR_COMMAND: Final = "context-editor: repair the resumed conversation"
"""The arguments of the `/compact` that carries a repair out (contract)."""


def main(event: str, outside: slash.Outside) -> int:
    """Answer one event on standard output.

    Args:
        event: Its name.
        outside: Runs a command of the command line, for slash commands.

    Returns:
        0 with an answer; 2 for an unknown event, named on standard error.
    """
    events: dict[str, Event] = {**EVENTS, "command": partial(_command, outside)}
    handler = events.get(event)
    if handler is None:
        allowed = ", ".join(events)
        sys.stderr.write(f"unknown bridge event {event!r}: allowed are {allowed}\n")
        return 2
    given = given_in(sys.stdin.buffer.read())
    engine = _engine(given)
    sys.stdout.buffer.write(_handed(engine, handler(engine, given)))
    return 0


def answer_of(event: str, engine: Engine, given: Mapping[str, Any]) -> bytes:
    """The answer to an event that needs the session and nothing else; empty while it must be asked again.

    Args:
        event: One of `quick.AT_THE_DOOR`.
        engine: The session.
        given: What the mod said.
    """
    if event == "confirm":
        answer = _confirmed(engine)
        return _handed(engine, answer) if answer else b""
    handler = partial(_command, _never) if event == "command" else EVENTS[event]
    return _handed(engine, handler(engine, given))


def needs_command_line(event: str, given: Mapping[str, Any]) -> bool:
    """Whether a process that holds the command line must answer."""
    return event == "command" and given["name"] in slash.BY_THE_COMMAND_LINE


def _never(arguments: Sequence[str]) -> str:
    raise AssertionError(arguments)


def given_in(raw: bytes) -> Mapping[str, Any]:
    """The object that the mod sent.

    Its glimpses of rows are cut at UTF-16 units: a character beyond the first 65,536 may come as its half.
    """
    try:
        given: Mapping[str, Any] = orjson.loads(raw)
    except ValueError:
        given = orjson.loads(well_formed(raw))
    return given


def _handed(engine: Engine, answer: Answer) -> bytes:
    """The answer, or the file where it stands when the host would cut it off.

    The file is plain ASCII, so that it can be read in parts that cut no character.
    """
    raw = _written(answer)
    if len(raw) <= INLINE_BYTES:
        return raw
    content = json.dumps(answer).encode("ascii")
    replace_file(_answer_file(engine), content)
    return orjson.dumps({"file": str(_answer_file(engine)), "bytes": len(content)})


def _answer_file(engine: Engine) -> Path:
    return engine.folder.path / "answer.json"


def _written(answer: Answer) -> bytes:
    """The answer as the mod reads it; half a character, which a text of the model may hold, goes escaped."""
    try:
        return orjson.dumps(answer)
    except TypeError:
        return json.dumps(answer).encode()


def _engine(given: Mapping[str, Any]) -> Engine:
    session = given["session"]
    data = data_folder()
    ref = SessionRef(str(session["id"]), Path(str(session["transcript"])))
    return open_engine(ref, Opened(data, orjson.loads, limits_here(data)))


def _hello(engine: Engine, given: Mapping[str, Any]) -> Answer:
    """The mod is there; an apply that a crash left open is settled before anything else."""
    context = given.get("usage", {}).get("context", {})
    breakdown = context.get("breakdown") or {}
    is_auto = breakdown.get("isAutoCompactEnabled", True)
    threshold = breakdown.get("autoCompactThreshold") or 0
    facts = {"window": context.get("window", 0), "auto_compact": threshold if is_auto else 0}
    presence.say_hello(data_folder(), host_pid(), facts)
    if not (engine.folder.path / "next_mark").exists() and facts["window"]:
        first = min(engine.limits.suggestions.marks, default=0)
        engine.folder.set_next_mark(round(first * facts["window"]))
    reminder = {"mode": engine.limits.idle_reminder, "seconds": engine.limits.idle_reminder_seconds}
    if not engine.folder.state_path.exists():
        return {"idle": reminder}
    notice = engine.confirm(is_final=True)
    held = [_host_row(row) for row in given.get("rows", ())]
    command = REPAIR_COMMAND if held and engine.needs_repair(held) else _ordered(engine)
    return {"notice": notice, "repair": command, "idle": reminder}


def _ordered(engine: Engine) -> str:
    """The apply that a person ordered in a run that ended with the order; empty where there is none."""
    state = engine.folder.read()
    return APPLY_COMMAND.format(count=len(state.queue)) if state.is_ordered and state.queue else ""


def _turn_end(engine: Engine, given: Mapping[str, Any]) -> Answer:
    answer = str(given.get("answer", ""))
    is_waiting = person_waits(Path(str(given["session"]["transcript"])))
    end = engine.turn_ended(
        is_normal=bool(given.get("isNormal")),
        answer=answer,
        person_waits=is_waiting,
        ended_s=float(given.get("endedMs") or 0) / 1_000,
    )
    command = APPLY_COMMAND.format(count=end.edits) if end.edits else ""
    wants = bool(command) and engine.wants_digests
    return {"command": command, "resume": end.resume, "notice": end.notice, "digests": wants}


def _compact(engine: Engine, given: Mapping[str, Any]) -> Answer:
    rows = [_host_row(row) for row in given["rows"]]
    if given.get("trigger") == "auto":
        return _wire(engine.answer_compaction(rows))
    if str(given.get("instructions", "")).startswith(REPAIR_COMMAND):
        return _wire(engine.plan_repair(rows))
    return _wire(engine.plan_apply(rows))


def _precompute(engine: Engine, given: Mapping[str, Any]) -> Answer:
    """The host would prepare a summary ahead: needless where the policy answers in its place (rule L17)."""
    del given
    return {"skip": engine.limits.is_policy_on}


def _digests(engine: Engine, given: Mapping[str, Any]) -> Answer:
    """What the host's small model is to be asked, once its answers so far are taken in (rules L5 and L9)."""
    answers = [
        DigestAnswer(str(one["batch"]), int(one["attempt"]), str(one["text"]))
        for one in given.get("answers", ())
    ]
    return {"requests": [vars(request) for request in engine.digests(answers)]}


def _archive(engine: Engine, given: Mapping[str, Any]) -> Answer:
    """The person compacts by hand: that is theirs; what it drops is archived first."""
    del given
    engine.archive_before()
    return {}


def _command(outside: slash.Outside, engine: Engine, given: Mapping[str, Any]) -> Answer:
    """A person's slash command: what they are shown, and the apply that follows at once, if one does."""
    engine.apply_mode = presence.apply_mode(data_folder(), host_pid())
    words, transcript = str(given["args"]).strip(), str(given["session"]["transcript"])
    reply = slash.answer(str(given["name"]), slash.Asked(engine, words, transcript, outside))
    count = len(engine.folder.read().queue) if reply.applies else 0
    command = APPLY_COMMAND.format(count=count) if count else ""
    wants = bool(command) and engine.wants_digests
    return {"text": reply.text, "command": command, "digests": wants}


def _idle(engine: Engine, given: Mapping[str, Any]) -> Answer:
    """The words of an idle reminder that is due; nothing of the session is looked at (rule K-I2)."""
    del given
    seconds = engine.limits.idle_reminder_seconds
    return {"reminder": idle.reminder(seconds), "notice": idle.notice(seconds)}


def _confirm(engine: Engine, given: Mapping[str, Any]) -> Answer:
    del given
    for _ in range(CONFIRM_TRIES):
        answer = _confirmed(engine)
        if answer:
            return answer
        time.sleep(CONFIRM_PAUSE_S)
    return UNCONFIRMED


def _confirmed(engine: Engine) -> Answer:
    """What is told of an apply that the host wrote; empty while it may still write."""
    _answer_file(engine).unlink(missing_ok=True)
    notice = engine.confirm()
    return {} if engine.folder.read().intent else {"notice": notice}


def _host_row(row: Mapping[str, Any]) -> HostRow:
    return HostRow(
        str(row["handle"]),
        str(row["role"]),
        int(row["length"]),
        str(row["head"]),
        calls=tuple(row["calls"]),
        results=tuple(row["results"]),
    )


def _wire(answer: ApplyAnswer) -> Answer:
    if answer.skip:
        return {"skip": answer.skip}
    return {
        "rows": [_built(row) if isinstance(row, Build) else row for row in answer.rows],
        "edits": answer.edits,
        "hosts": answer.is_hosts,
    }


def _built(row: Build) -> Answer:
    return {
        "role": row.role,
        "text": row.text,
        "calls": [{"id": c.id, "name": c.name, "input": c.input} for c in row.calls],
        "results": [{"id": r.call_id, "text": r.text, "error": r.is_error} for r in row.results],
    }


EVENTS: Final[Mapping[str, Event]] = {
    "hello": _hello,
    "turn-end": _turn_end,
    "compact": _compact,
    "precompute": _precompute,
    "digests": _digests,
    "archive": _archive,
    "confirm": _confirm,
    "idle": _idle,
}
"""What the mod may ask, by the event's name."""
