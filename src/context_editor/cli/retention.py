"""`held`, `notice`, `dropped` and `policy`: what the retention policy keeps, dropped, and would do."""

import argparse
from dataclasses import asdict, replace

from context_editor.cli.changing import applied_copy
from context_editor.cli.choosing import chosen
from context_editor.cli.output import say, say_json
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.errors import RefusedError


def held(asked: argparse.Namespace) -> int:
    """Say what a session's conversation still holds."""
    session = chosen(asked.session, asked.data)
    engine = session.engine()
    if asked.json:
        say_json({"session": session.ref.id, **asdict(engine.held())})
    else:
        say(engine.held_words())
    return 0


def notice(asked: argparse.Namespace) -> int:
    """Print the notice of a session's last molt, and what was decided."""
    session = chosen(asked.session, asked.data)
    words = session.engine().notice()
    if asked.json:
        say_json({"session": session.ref.id, "notice": words})
    else:
        say(words)
    return 0


def dropped(asked: argparse.Namespace) -> int:
    """List what was archived, or print the originals of one record."""
    session = chosen(asked.session, asked.data)
    engine = session.engine()
    if asked.json and not asked.id:
        batches, unreadable = engine.dropped(asked.grep)
        records = [asdict(batch) for batch in batches]
        say_json({"session": session.ref.id, "records": records, "unreadable": unreadable})
        return 0
    words = engine.dropped_words(asked.id or "", asked.grep, limit=0)
    if asked.json:
        say_json({"session": session.ref.id, "id": asked.id, "text": words})
    else:
        say(words)
    return 0


def policy(asked: argparse.Namespace) -> int:
    """Say what a pass would do; with `--apply` make the edited copy."""
    if asked.target is not None and not 0 < asked.target < 1:
        msg = f"--target is {asked.target:g}; allowed: a number above 0 and below 1"
        raise RefusedError(msg)
    session = chosen(asked.session, asked.data)
    engine = session.engine()
    if asked.window:
        engine.limits = replace(engine.limits, window=asked.window, auto_compact=0)
    if not asked.apply:
        words = engine.policy_words(asked.target)
        if asked.json:
            say_json({"session": session.ref.id, "report": words})
        else:
            say(f"{words}\nNothing was changed; --apply makes the edited copy.")
        return 0
    queued = engine.edit(EditCall((EditRequest("policy", ratio=asked.target),)))
    return applied_copy(session, queued, is_json=asked.json)
