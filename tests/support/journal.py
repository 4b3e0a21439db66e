"""A project with a journal: what a molt needs to find."""

from pathlib import Path

ENTRY = "knowledge/session-journal/2026-11-30-molt-1-look/KNOWLEDGE.md"
BODY = """---
name: 2026-11-30 molt 1, looking around
description: >-
  What was read; what is open.
type: session-journal
---
## Done
Everything was read.
"""


def lay_journal(root: Path, path: str = ENTRY, body: str = BODY, *, index: bool = True) -> Path:
    """Write an entry, and a line of the index that points to it."""
    entry = root / path
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(body, encoding="utf-8")
    if index:
        parent = root / "knowledge" / "session-journal" / "KNOWLEDGE.md"
        known = parent.read_text(encoding="utf-8") if parent.exists() else ""
        line = f"- {entry.parent.name}/KNOWLEDGE.md: looked around\n"
        parent.write_text(f"{known}{line}", encoding="utf-8")
    return entry
