"""What a command prints: text for a person, or one JSON value for a program."""

import json
import sys
from collections.abc import Sequence


def say(text: str) -> None:
    """Print text and end the line."""
    sys.stdout.write(f"{text}\n")


def say_json(value: object) -> None:
    """Print one JSON value, indented."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def complain(text: str) -> None:
    """Say on standard error what was refused, and why."""
    sys.stderr.write(f"context-editor: {text}\n")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, each as wide as its widest cell; the last column is not padded."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join(lines)
