"""The conversation as plain values: stored pieces, and the numbered rows that people and models name.

A host stores a conversation as *pieces* (one block of an answer, one tool result, one attachment); the
product lists it as *rows* (a tool call together with its result is one row, so no range can split a
pair). Pieces are what an apply keeps, replaces or leaves out; rows are what edits name.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "system"]
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

PRINT_HEX_CHARS: Final = 16
"""Hexadecimal characters of a content print: 64 bits, far beyond collision in one session."""


class RowKind(StrEnum):
    """Who a row belongs to."""

    PERSON = "person"
    TEXT = "text"
    TOOL = "tool"
    HOST = "host"
    SERVICE = "service"


class PieceForm(StrEnum):
    """What one stored piece of a conversation is."""

    PROMPT = "prompt"
    """A user message that is not a tool result: typed words, pasted media, a host's or our own text."""
    TEXT = "text"
    """A text block of the agent's answer."""
    THINKING = "thinking"
    """A thinking block of the agent's answer, readable or not."""
    CALL = "call"
    """A tool call."""
    RESULT = "result"
    """The result of a tool call."""
    ATTACHMENT = "attachment"
    """What the host hangs behind another piece: it stays with that piece when it is kept, else it is gone."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a document that stands in a piece.

    Attributes:
        kind: `image` or `document`.
        media_type: The MIME type, such as `image/png`; empty when unknown.
        data: The content in base64, as the host holds it; empty when the host keeps it elsewhere.
        name: A document's title or file name; empty when it has none.
        width: Pixels; 0 when unknown.
        height: Pixels; 0 when unknown.
        tokens: The size by the family-neutral formula where it is known, else 0.
    """

    kind: Literal["image", "document"]
    media_type: str
    data: str
    name: str = ""
    width: int = 0
    height: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its id, the tool's name and the input as the model gave it."""

    id: str
    name: str
    input: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Piece:
    """One stored row of the host: the smallest thing that it can keep, replace or leave out.

    Attributes:
        handle: The host's id of this piece; new after every apply.
        form: What it is.
        role: Who speaks.
        text: What the model reads of it: prompt or answer text, the text of a result, the words of an
            attachment; empty for a call.
        response: The id of the answer that an assistant piece belongs to; None for every other role.
        call: The call, for a CALL.
        call_id: The id of the call that a RESULT answers; None for every other form.
        is_error: Whether a RESULT reports a failure.
        media: Images and documents, in order.
        label: An attachment's type (`nested_memory`); for a PROMPT that nobody typed where it came from
            (`meta`, `plugin`, `task-notification`, `local-command`, `compact-summary`); empty for typed ones.
        typed: A person's own words in it: a typed prompt, a prompt typed while a turn ran (an ATTACHMENT
            `queued_command` of the person), an answer to AskUserQuestion or the reason of a refusal (a RESULT),
            a `!` command. None where no person speaks. A piece with words is protected like nothing else.
        pasted: Parts of `text` that the host marks as pasted or attached, never typed.
        signature_chars: Characters of a thinking block's signature.
        model: The model that wrote an assistant piece; empty for every other role.
        turn: The number of the turn that the piece belongs to, from 1; 0 before the first prompt. `/compact`
            records belong to the turn before them and start none.
        is_ours: Whether the host itself records that this product wrote it (a prompt that our plugin
            submitted, our hook's context, our `/compact` command and its records). Never judged by wording.
        position_s: When it was written, in seconds since the epoch, UTC; 0 when unknown.
        cwd: The folder that the session worked in, for a CALL; empty when unknown.
        extra: Host facts that a decision needs and that have no field of their own (`file_path` of a read,
            `structured` tool results, `agent_id`). Never shown to a model.
    """

    handle: str
    form: PieceForm
    role: Role
    text: str = ""
    response: str | None = None
    call: Call | None = None
    call_id: str | None = None
    is_error: bool = False
    media: tuple[Media, ...] = ()
    label: str = ""
    typed: str | None = None
    pasted: tuple[str, ...] = ()
    signature_chars: int = 0
    model: str = ""
    turn: int = 0
    is_ours: bool = False
    position_s: float = 0.0
    cwd: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def rides(self) -> bool:
        """Whether it stands or falls with the piece before it."""
        return self.form is PieceForm.ATTACHMENT


@dataclass(frozen=True, slots=True)
class Row:
    """One listed unit of the conversation.

    Attributes:
        anchor: The key that finds it again: `t:` and a tool call's id, else `u:` and the host's row id.
        kind: Who it belongs to.
        source: What it is in a few words: `Read src/app.py 1-220`, `person`, `text`, an attachment's type.
        pieces: The pieces that it is made of, in the order that the model reads them. A tool row has its
            CALL first and then its RESULT, if that came.
        positions: Their positions in `Conversation.pieces`, in the same order.
        owner: The anchor of the row that an attachment hangs behind; None for every other row.
        is_pending: Whether it may not be touched yet: a call without a result, or the answer being written.
        is_hidden: Whether listings leave it out (our own calls and old service rows, rule A11).
        replacement: The id (`c7`) of the replacement that stands here; None for an original.
        turn: The turn it belongs to.
    """

    anchor: str
    kind: RowKind
    source: str
    pieces: tuple[Piece, ...]
    positions: tuple[int, ...]
    owner: str | None = None
    is_pending: bool = False
    is_hidden: bool = False
    replacement: str | None = None
    turn: int = 0
    _text: str | None = field(default=None, init=False, repr=False, compare=False)
    _print: str | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def call(self) -> Call | None:
        """The tool call, for a tool row; None for every other kind."""
        return self.pieces[0].call

    @property
    def result(self) -> Piece | None:
        """The piece that holds the tool's result; None while it is missing and for every other kind."""
        return next((p for p in self.pieces if p.form is PieceForm.RESULT), None)

    @property
    def text(self) -> str:
        """What the row holds: a tool's result, else the words of its pieces, joined by blank lines."""
        if self._text is None:
            object.__setattr__(self, "_text", self._joined())
        return self._text or ""

    def _joined(self) -> str:
        if self.pieces[0].form is PieceForm.CALL:
            result = self.result
            return result.text if result else ""
        return "\n\n".join(p.text for p in self.pieces if p.text)

    @property
    def media(self) -> tuple[Media, ...]:
        """The images and documents of all its pieces, in order."""
        return tuple(m for p in self.pieces for m in p.media)

    @property
    def print(self) -> str:
        """A print of kind and content that is the same wherever and whenever the same content stands."""
        if self._print is None:
            object.__setattr__(self, "_print", self._printed())
        return self._print or ""

    def _printed(self) -> str:
        call = self.call
        words = call.id if call else " ".join(self.text.split())
        seen = f"{self.kind}\x00{words}\x00{len(self.media)}"
        return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).hexdigest()[:PRINT_HEX_CHARS]
