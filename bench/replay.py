"""Replaying a session: what its later answers quote, and whether a shortened beginning still says it."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from context_editor.core.assemble import OwnFacts
from context_editor.core.conversation import Conversation
from context_editor.core.rows import Piece, PieceForm, Row
from context_editor.core.sizes.estimate import Ruler
from context_editor.core.specifics import required
from context_editor.hosts.claude_code.session import ClaudeSession
from context_editor.hosts.claude_code.wiring import fast_loads

GRAM_WORDS: Final = 5
"""So many words in a row are a quote."""

NAME_CHARS: Final = 12
"""A path or an identifier from this length on is one by itself."""

_NAME: Final = re.compile(rf"[A-Za-z0-9_@./:-]{{{NAME_CHARS},}}")
_LINE_NUMBER: Final = re.compile(r"^\s*\d+(?:→|\t)", re.MULTILINE)
_RULER: Final = Ruler("newer")
OWN: Final = OwnFacts("mcp__plugin_context-editor_editor__")


@dataclass(frozen=True)
class View:
    """What a model is sent: texts and the size of all.

    Attributes:
        texts: Every text, input and result.
        tokens: Their size, in estimated tokens.
    """

    texts: Sequence[str]
    tokens: int

    @cached_property
    def quotable(self) -> frozenset[str]:
        """Everything in it that a later answer may quote."""
        return frozenset(item for text in self.texts for item in quotable(text))


def piece_text(piece: Piece) -> str:
    """What a piece says: its words, or a call's input."""
    if piece.call is not None:
        return json.dumps(piece.call.input, ensure_ascii=False, default=str)
    return piece.text


def view_of(pieces: Iterable[Piece], built: Sequence[str] = ()) -> View:
    """A view of kept pieces and of texts that were built; thinking is left out, every way drops it."""
    held = [piece for piece in pieces if piece.form is not PieceForm.THINKING]
    tokens = sum(map(_RULER.piece, held)) + sum(map(_RULER.text, built))
    return View((*map(piece_text, held), *built), tokens)


def conversation_of(path: Path) -> Conversation:
    """The conversation that a resume of this file would send."""
    return ClaudeSession(path, fast_loads()).read(OWN).conversation


def quotable(text: str) -> Iterator[str]:
    """The quotes that a text can be the source of: runs of words, and long names."""
    plain = _LINE_NUMBER.sub("", text)
    words = plain.split()
    for at in range(len(words) - GRAM_WORDS + 1):
        yield " ".join(words[at : at + GRAM_WORDS])
    yield from _NAME.findall(plain)


@dataclass(frozen=True)
class Cut:
    """A session cut in two: the beginning is shortened, the rest says what was still needed.

    Attributes:
        name: What the tables call it.
        path: The beginning, as a transcript of its own.
        conversation: The beginning.
        used: What later inputs and answers quote of the beginning's tool results.
    """

    name: str
    path: Path
    conversation: Conversation
    used: frozenset[str] = field(repr=False)

    @cached_property
    def whole(self) -> View:
        """The beginning as it was."""
        return view_of(self.conversation.pieces)

    def results(self) -> Iterator[Row]:
        """The tool results of the beginning."""
        return (row for row in self.conversation.rows if row.result is not None)

    def lost(self, view: View) -> float:
        """The share of what is used later that the shortened beginning says nowhere."""
        if not self.used:
            return 0.0
        return len(self.used - view.quotable) / len(self.used)

    def removed(self, view: View) -> float:
        """The share of tokens that is gone."""
        return 1 - view.tokens / max(1, self.whole.tokens)

    def specifics_kept(self, view: View) -> tuple[int, int]:
        """How many specifics of changed results the shortened beginning still says, and how many there were."""
        standing = set(view.texts)
        gone = [row.text for row in self.results() if row.text not in standing]
        wanted = {one.text for text in gone for one in required(text)}
        said = "\n".join(view.texts)
        return sum(value in said for value in wanted), len(wanted)


def cuts_of(path: Path, folder: Path, shares: Sequence[float]) -> list[Cut]:
    """A session cut at these shares of its rows; a cut without later quotes is left out."""
    whole = conversation_of(path)
    lines = path.read_bytes().splitlines(keepends=True)
    made: list[Cut] = []
    for share in shares:
        cut = _cut(whole, lines, share, folder / f"{path.stem}-{round(100 * share)}")
        if cut is not None and cut.used:
            made.append(cut)
    return made


def _cut(whole: Conversation, lines: Sequence[bytes], share: float, folder: Path) -> Cut | None:
    rows = [row for row in whole.rows if row.call is None and not row.pieces[0].rides]
    wanted = share * len(whole.pieces)
    row = next((row for row in rows if row.positions[0] >= wanted), None)
    if row is None:
        return None
    mark = f'"uuid":"{row.pieces[0].handle}"'.encode()
    at = next((n for n, line in enumerate(lines) if mark in line.replace(b": ", b":")), 0)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "5e551000-0000-4000-8000-000000000001.jsonl"
    path.write_bytes(b"".join(lines[:at]))
    beginning = conversation_of(path)
    sources = {
        item for one in beginning.rows if one.result is not None for item in quotable(one.text)
    }
    later = whole.pieces[row.positions[0] :]
    spoken = (p for p in later if p.role == "assistant" and p.form is not PieceForm.THINKING)
    used = {item for p in spoken for item in quotable(piece_text(p))}
    return Cut(folder.name, path, beginning, frozenset(used & sources))
