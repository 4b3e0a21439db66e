"""The sources of digested rows, listed so that citations still resolve (rule L7)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from context_editor.core import specifics
from context_editor.core.rows import Row
from context_editor.core.specifics import SpecificKind

HEAD: Final = "context-editor: citation index: sources of rows that the retention policy replaced"

_MAY_HOLD: Final = re.compile(r"://|/[^\s/#]+#\d")
"""Stands in every text that names a source."""


@dataclass(frozen=True, slots=True)
class Cited:
    """The sources of one row.

    Attributes:
        row: The row.
        ref: Its ref.
        sources: Its addresses and `owner/repo#n`, each once, in order of their first occurrence.
    """

    row: Row
    ref: str
    sources: tuple[str, ...]

    @property
    def line(self) -> str:
        """The row's line of the index."""
        return f"{self.ref} {self.row.source}: {' '.join(self.sources)}"


def sources_of(row: Row) -> tuple[str, ...]:
    """The addresses and `owner/repo#n` of a row's call and result, each once."""
    asked = row.call.input.get("url") if row.call else None
    text = f"{asked}\n{row.text}" if isinstance(asked, str) else row.text
    if not (("://" in text or "#" in text) and _MAY_HOLD.search(text)):
        return ()  # as nearly every result of a command: to look for all specifics in it is dear
    found = (value for value in specifics.extracted(text) if _is_source(value.kind, value.text))
    return tuple(dict.fromkeys(value.text for value in found))


def _is_source(kind: SpecificKind, text: str) -> bool:
    return kind is SpecificKind.URL or (kind is SpecificKind.ISSUE and "/" in text)


def index_text(cited: Iterable[Cited]) -> str:
    """The text of a pass's index row; empty where no row had a source."""
    lines = [one.line for one in cited if one.sources]
    return "\n".join((HEAD, *lines)) if lines else ""


def all_sources(cited: Sequence[Cited]) -> tuple[str, ...]:
    """Every source of several rows, each once, in order."""
    return tuple(dict.fromkeys(source for one in cited for source in one.sources))
