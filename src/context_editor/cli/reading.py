"""`sessions`, `list` and `show`: looking, without changing anything that counts."""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from context_editor.cli.choosing import chosen, data_for
from context_editor.cli.output import say, say_json, table
from context_editor.core.plain import one_line
from context_editor.core.rows import Row
from context_editor.core.sizes.wording import format_tokens
from context_editor.engine.listing import MAX_COUNT, ListRequest
from context_editor.engine.session import Engine
from context_editor.engine.view import View
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.environment import variables
from context_editor.hosts.claude_code.projects import (
    all_transcripts,
    project_folder,
    transcripts_in,
)
from context_editor.store.session import SESSION_ID, session_folder

TITLE_CHARS: Final = 60
"""How much of a session's first prompt is shown: enough to know the session again."""

TITLE_LINES: Final = 200
"""Lines in which the first prompt is looked for; it stands within the first twenty."""

ROW_LINE: Final = re.compile(r"#(\d+) (r\w+|c\d+) ")
"""How a row's line begins."""


def sessions(asked: argparse.Namespace) -> int:
    """List sessions, newest first."""
    found = [_session_facts(path) for path in _transcripts(is_all=asked.all)]
    if asked.json:
        say_json(found)
        return 0
    if not found:
        say(f"no session was started in {Path.cwd()}; --all lists those of every directory")
        return 0
    head = ("SESSION", "CHANGED", "SIZE", "APPLIES", "QUEUED", "BEGINS")
    say(table([head, *(_session_cells(facts) for facts in found)]))
    return 0


def _transcripts(*, is_all: bool) -> list[Path]:
    if not is_all:
        return transcripts_in(project_folder(Path.cwd(), variables()))
    return sorted(all_transcripts(variables()), key=lambda path: path.stat().st_mtime, reverse=True)


def _session_facts(path: Path) -> dict[str, Any]:
    stat = path.stat()
    state = None
    if SESSION_ID.fullmatch(path.stem):
        state = session_folder(data_for(path.stem), path.stem).read()
    return {
        "session": path.stem,
        "transcript": str(path),
        "changed": datetime.fromtimestamp(stat.st_mtime, UTC)
        .astimezone()
        .isoformat("T", "seconds"),
        "bytes": stat.st_size,
        "applies": state.epoch if state else 0,
        "queued": len(state.queue) if state else 0,
        "begins": first_prompt(path),
    }


def _session_cells(facts: dict[str, Any]) -> Sequence[str]:
    changed = str(facts["changed"])[:16].replace("T", " ")
    size = f"{facts['bytes'] / 1_000_000:.1f} MB"
    counts = (str(facts["applies"]), str(facts["queued"]))
    return (facts["session"], changed, size, *counts, facts["begins"])


def first_prompt(path: Path) -> str:
    """How the first typed prompt of a transcript begins, on one line; empty when there is none."""
    text = next(_typed_prompts(path), "")
    line = one_line(text[: 4 * TITLE_CHARS])
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}…"


def _typed_prompts(path: Path) -> Iterator[str]:
    with path.open("rb") as lines:
        for line in islice(lines, TITLE_LINES):
            text = _prompt_text(line)
            # What the host writes by itself begins with a tag: a command's record, a reminder.
            if text and not text.startswith("<"):
                yield text


def _prompt_text(line: bytes) -> str:
    """The text of a prompt's line; empty for every other line."""
    try:
        row: Any = json.loads(line)
        if row["type"] != "user" or row.get("isMeta"):
            return ""
        content: Any = row["message"]["content"]
        if isinstance(content, str):
            return content
        return "\n".join(str(block["text"]) for block in content if block["type"] == "text")
    except (ValueError, KeyError, TypeError):
        return ""


def rows(asked: argparse.Namespace) -> int:
    """List a session's rows, the same words that the agent is given."""
    if asked.count is not None and not 0 <= asked.count <= MAX_COUNT:
        msg = f"--count is {asked.count}; allowed: 0 to {MAX_COUNT}"
        raise RefusedError(msg)
    session = chosen(asked.session, asked.data)
    engine = session.engine()
    text = engine.list(
        ListRequest(
            count=asked.count,
            start=_name(asked.start),
            end=_name(asked.end),
            grep=asked.grep,
            review=asked.review,
            rules=asked.rules,
        )
    )
    if not asked.json:
        say(text)
        return 0
    lines = text.splitlines()
    say_json(
        {
            "session": session.ref.id,
            "transcript": str(session.ref.transcript),
            "header": dict(line.split(": ", 1) for line in _header_lines(lines)),
            "rows": _json_rows(engine, lines),
        }
    )
    return 0


def _name(text: str | None) -> int | str | None:
    """A row's name as it was typed: a number is a number."""
    return int(text.removeprefix("#")) if text and text.removeprefix("#").isdecimal() else text


def _header_lines(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if re.match(r"[A-Z][a-z]+: ", line)]


def _json_rows(engine: Engine, lines: Sequence[str]) -> list[dict[str, Any]]:
    view = engine.view(engine.folder.read())
    found = (ROW_LINE.match(line) for line in lines)
    shown = zip(found, lines, strict=True)
    return [
        {**row_facts(view.names.row(match.group(2)), view), "line": line}
        for match, line in shown
        if match
    ]


def row_facts(row: Row, view: View) -> dict[str, Any]:
    """What is known of a row, as JSON values."""
    return {
        "index": view.names.number(row),
        "ref": view.names.ref(row),
        "kind": str(row.kind),
        "source": row.source,
        "tokens": view.sizes.row(row),
        "reproducible": row.anchor in view.reproducible,
        "pending": row.is_pending,
        "queued": view.queued.get(row.anchor),
        "replacement": row.replacement,
        "media": [{"kind": m.kind, "type": m.media_type, "name": m.name} for m in row.media],
    }


def show(asked: argparse.Namespace) -> int:
    """Show one row whole."""
    session = chosen(asked.session, asked.data)
    engine = session.engine()
    engine.list(ListRequest(row=_name(asked.row)))
    view = engine.view(engine.folder.read())
    row = view.names.row(_name(asked.row) or "")
    if asked.json:
        say_json({"session": session.ref.id, **row_facts(row, view), "text": row.text})
        return 0
    facts = f"{row.source} · {format_tokens(view.sizes.row(row))} tokens"
    say(f"{view.names.words(row)} {facts}\n\n{row.text}")
    return 0
