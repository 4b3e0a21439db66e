"""`report`: what was edited in a session, what it saved, and where the originals are."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from context_editor.cli.choosing import Chosen, chosen
from context_editor.cli.output import say, say_json, table
from context_editor.cli.report_page import page
from context_editor.core.sizes.wording import format_delta, format_tokens
from context_editor.store.files import replace_file
from context_editor.store.session import SessionFolder

Facts: TypeAlias = dict[str, Any]
"""JSON values."""

NOTHING: Final = "Nothing was applied in this session yet."


def report(asked: argparse.Namespace) -> int:
    """Report on a session: as text, as JSON, or as one page that stands by itself."""
    session = chosen(asked.session, asked.data)
    facts = report_facts(session)
    if asked.html:
        path = Path(asked.html)
        replace_file(path, page(facts).encode("utf-8", "replace"))
        facts["html"] = str(path.resolve())
    if asked.json:
        say_json(facts)
    elif asked.html:
        say(f"report written: {facts['html']}")
    else:
        say(report_text(facts))
    return 0


def report_facts(session: Chosen) -> Facts:
    """Everything that a report says.

    Raises:
        StateUnreadableError: The session's state cannot be understood.
    """
    engine = session.engine()
    state = engine.folder.read()
    view = engine.view(state)
    applies = [_apply_facts(line, state.replacements) for line in _applies(engine.folder)]
    return {
        "session": session.ref.id,
        "transcript": str(session.ref.transcript),
        "data": str(session.data),
        "written": engine.clock.stamp(),
        "context_tokens": view.sizes.total_tokens,
        "is_calibrated": view.sizes.is_known,
        "rows": len(view.reading.conversation.listed),
        "epoch": state.epoch,
        "edits": sum(len(apply["edits"]) for apply in applies),
        "saved_tokens": state.saved_tokens,
        "rereads": len(state.rereads),
        "applies": applies,
        "queued": [
            {"id": edit.id, "op": str(edit.op), "saved_tokens": edit.saved_tokens}
            for edit in state.queue
        ],
    }


def _applies(folder: SessionFolder) -> list[Facts]:
    """The log of applies, oldest first; a broken line hides no other."""
    try:
        lines = folder.applies.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found: list[Facts] = []
    for line in lines:
        try:
            apply: Any = json.loads(line)
            found.append({**apply, "edits": list(apply["edits"])})
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _apply_facts(apply: Facts, standing: Mapping[str, Any]) -> Facts:
    edits = [{**edit, "standing": _is_standing(edit["id"], standing)} for edit in apply["edits"]]
    return {**apply, "edits": edits}


def _is_standing(replacement_id: str, replacements: Mapping[str, Any]) -> bool:
    """Whether a replacement still stands: neither restored nor taken in by another."""
    replacement = replacements.get(replacement_id)
    return replacement is not None and bool(replacement.anchors) and not replacement.absorbed_by


def report_text(facts: Facts) -> str:
    """The report for a terminal."""
    approx = "" if facts["is_calibrated"] else "approx. "
    head = (
        f"Session {facts['session']}: {approx}{format_tokens(facts['context_tokens'])} tokens in "
        f"{facts['rows']} rows, epoch {facts['epoch']}"
    )
    if not facts["applies"]:
        return f"{head}\n{NOTHING}"
    saved = (
        f"{facts['edits']} edit(s) in {len(facts['applies'])} apply(s); each request is now spared "
        f"{format_tokens(facts['saved_tokens'])} tokens; {facts['rereads']} reread(s)"
    )
    parts = [head, saved, *(_apply_text(apply) for apply in facts["applies"])]
    return "\n\n".join(parts)


def _apply_text(apply: Facts) -> str:
    before, after = apply["tokens_before"], apply["tokens_after"]
    head = (
        f"Epoch {apply['epoch']}, {apply['ts']}: {format_tokens(before)} → {format_tokens(after)} "
        f"tokens ({format_delta(after - before)})"
    )
    cells = [
        (
            f"  {edit['id']}",
            f"{edit['op']}{'' if edit['standing'] else ' (gone)'}",
            f"{format_tokens(edit['tokens_before'])} → {format_tokens(edit['tokens_after'])}",
            edit["source"],
        )
        for edit in apply["edits"]
    ]
    if not cells:
        return head
    lines = table(cells).splitlines()
    paths = (f"      {edit['original']}" for edit in apply["edits"])
    return "\n".join((head, *(line for pair in zip(lines, paths, strict=True) for line in pair)))
