"""Small conversations in one line a row, for tests of the pure core.

    talk = conversation(person("fix it"), tool("Read", "a.py", "text of the file"), text("fixed"))

Rows go through the same assembly as a host's. A person's row starts a turn; every row of the agent is an
answer of its own unless `answer` says otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from context_editor.core.anchors import Moves
from context_editor.core.assemble import OWN_TOOL_PREFIX, OwnFacts, assemble
from context_editor.core.conversation import Conversation
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX, Edit
from context_editor.core.names import Names
from context_editor.core.rows import Call, Media, Piece, PieceForm, Row

CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class Line:
    """One row to be: its pieces without ids of the host's, and whether it starts a turn."""

    pieces: tuple[Piece, ...]
    starts_turn: bool = False


def person(words: str, *, media: tuple[Media, ...] = ()) -> Line:
    """What a person typed; it starts a turn."""
    return Line(
        (Piece("", PieceForm.PROMPT, "user", words, typed=words, media=media),), starts_turn=True
    )


def text(words: str, answer: str = "") -> Line:
    """The agent's own text."""
    return Line((Piece("", PieceForm.TEXT, "assistant", words, response=answer or None),))


def tool(
    name: str, argument: str = "", output: str = "", *, call_id: str = "", answer: str = ""
) -> Line:
    """A tool call with its result; `call_id` is given where a test names the call."""
    label = f"{name} {argument}".strip()
    call = Call(call_id, name, {"argument": argument})
    return Line(
        (
            Piece("", PieceForm.CALL, "assistant", call=call, label=label, response=answer or None),
            Piece("", PieceForm.RESULT, "user", output, call_id=call_id),
        )
    )


def pending(name: str, argument: str = "", *, answer: str = "") -> Line:
    """A tool call whose result has not come."""
    return Line(tool(name, argument, answer=answer).pieces[:1])


def own(name: str = "context_tag", output: str = "done", *, answer: str = "") -> Line:
    """A call of one of this product's tools: listings hide it."""
    return tool(f"{OWN_TOOL_PREFIX}{name}", "", output, answer=answer)


def asked(words: str) -> Line:
    """A question to the person with the answer: a tool row that holds a person's words."""
    call, result = tool("AskUserQuestion", "", words).pieces
    return Line((call, replace(result, typed=words)))


def host(label: str, words: str) -> Line:
    """What the host hung behind the row in front."""
    return Line((Piece("", PieceForm.ATTACHMENT, "user", words, label=label),))


def picture(tokens: int = 1_600) -> Media:
    """An image of this size."""
    return Media("image", "image/png", "aGk=", tokens=tokens)


def conversation(*lines: Line, running: str = "", turns: int | None = None) -> Conversation:
    """The conversation of these rows.

    Args:
        lines: The rows, in order.
        running: The answer that is being written now: its rows are pending.
        turns: Completed turns; None for all but the running one.
    """
    pieces: list[Piece] = []
    turn = 0
    for number, line in enumerate(lines, start=1):
        turn += line.starts_turn
        pieces += _placed(line, number, turn)
    completed = max(0, turn - 1) if turns is None else turns
    return assemble(pieces, OwnFacts(pending_response=running or None), turns=completed)


def _placed(line: Line, number: int, turn: int) -> list[Piece]:
    placed: list[Piece] = []
    for part, piece in enumerate(line.pieces):
        call = piece.call
        call_id = (call.id if call else piece.call_id) or f"toolu_{number}"
        placed.append(
            replace(
                piece,
                handle=f"h{number}" if part == 0 else f"h{number}r",
                response=(piece.response or f"m{number}") if piece.role == "assistant" else None,
                call=replace(call, id=call_id) if call else None,
                call_id=call_id if piece.form is PieceForm.RESULT else None,
                turn=turn,
            )
        )
    return placed


class LetterIds:
    """Gives ids as a session does: one counter a letter, never the same twice."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self._last: dict[str, int] = {}

    def __call__(self, letter: str) -> str:
        self._last[letter] = self._last.get(letter, 0) + 1
        self.given.append(f"{letter}{self._last[letter]}")
        return self.given[-1]


class CharSizer:
    """Sizes by length alone: four characters a token, and an image by its own figure."""

    def text(self, text: str) -> int:
        return -(-len(text) // CHARS_PER_TOKEN)

    def row(self, row: Row) -> int:
        return sum(map(self.piece, row.pieces))

    def piece(self, piece: Piece) -> int:
        return self.text(piece.text) + sum(media.tokens for media in piece.media)

    def each(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return list(map(self.piece, pieces))

    def at_least(self, pieces: Sequence[Piece], tokens: int) -> Sequence[bool]:
        return [self.piece(piece) >= tokens for piece in pieces]


def ground(
    talk: Conversation, queue: Sequence[Edit] = (), protected: Mapping[str, str] | None = None
) -> Ground:
    """What edits are judged against, with sizes by length."""
    return Ground(Names(talk), CharSizer(), tuple(queue), protected=protected or {})


@dataclass(frozen=True)
class Applied:
    """A conversation after an apply, and where its rows went."""

    conversation: Conversation
    moves: Moves = field(default_factory=Moves)


def applied(talk: Conversation, *ranges: tuple[int, int], epoch: int = 1) -> Applied:
    """What an apply makes of a conversation: each range one replacement, new ids from the host, own calls gone.

    Args:
        talk: The conversation before.
        ranges: First and last number of each range, in order; they do not overlap.
        epoch: Makes ids of the host's and of replacements different from those of other applies.
    """
    taken = {
        talk.listed[at - 1].anchor: n for n, (a, b) in enumerate(ranges) for at in range(a, b + 1)
    }
    pieces: list[Piece] = []
    moved: dict[str, str] = {}
    absorbed: dict[str, str] = {}
    done: set[int] = set()
    for row in talk.rows:
        if row.is_hidden:
            continue
        n = taken.get(row.anchor)
        if n is None:
            fresh = [replace(p, handle=f"e{epoch}{p.handle}") for p in row.pieces]
            moved[row.anchor] = row.anchor if row.call else f"u:{fresh[0].handle}"
            pieces += fresh
            continue
        call_id = f"{COLLAPSE_ID_PREFIX}c{epoch}{n}"
        absorbed[row.anchor] = f"t:{call_id}"
        if n not in done:
            done.add(n)
            pieces += _replacement(call_id, f"summary {epoch} {n}", row.turn)
    return Applied(assemble(pieces, OwnFacts(), turns=talk.turns), Moves(moved, absorbed))


def _replacement(call_id: str, words: str, turn: int) -> list[Piece]:
    call = Call(call_id, f"{OWN_TOOL_PREFIX}context_edit", {"collapsed": ["rows"]})
    return [
        Piece(f"{call_id}a", PieceForm.CALL, "assistant", call=call, response=call_id, turn=turn),
        Piece(f"{call_id}b", PieceForm.RESULT, "user", words, call_id=call_id, turn=turn),
    ]
