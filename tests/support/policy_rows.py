"""A small builder of conversations for the tests of candidates, suggestions and the policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from context_editor.core.assemble import OwnFacts, assemble
from context_editor.core.candidates.calls import PathName
from context_editor.core.candidates.facts import DiskFacts, FileFact
from context_editor.core.conversation import Conversation
from context_editor.core.edits.ground import Ground
from context_editor.core.names import Names
from context_editor.core.rows import Call, Json, Media, Piece, PieceForm, Row

CWD = "/project"
CHARS_PER_TOKEN = 4


@dataclass(frozen=True)
class CharSizer:
    """Sizes that a reader of a test can follow: four characters are a token."""

    def text(self, text: str) -> int:
        return len(text) // CHARS_PER_TOKEN

    def piece(self, piece: Piece) -> int:
        return self.text(piece.text) + sum(m.tokens for m in piece.media)

    def each(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return list(map(self.piece, pieces))

    def at_least(self, pieces: Sequence[Piece], tokens: int) -> Sequence[bool]:
        return [self.piece(piece) >= tokens for piece in pieces]

    def row(self, row: Row) -> int:
        return sum(map(self.piece, row.pieces))


def numbered(lines: Sequence[str], first: int = 1) -> str:
    """Lines as a read brings them."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, start=first))


def prose(chars: int, word: str = "plain") -> str:
    """A text of about so many characters without a single specific."""
    return (f"{word} words on a line of their own\n" * (chars // len(word) + 1))[:chars]


@dataclass
class Talk:
    """A conversation in the making; every method answers the anchor of the row that it adds."""

    cwd: str = CWD
    pieces: list[Piece] = field(default_factory=list)
    turn: int = 0
    clock_s: float = 1_000.0

    def _add(self, piece: Piece) -> None:
        self.clock_s += 1
        self.pieces.append(replace(piece, turn=self.turn, position_s=self.clock_s))

    def _handle(self) -> str:
        return f"h{len(self.pieces)}"

    def person(self, text: str) -> str:
        self.turn += 1
        handle = self._handle()
        self._add(Piece(handle, PieceForm.PROMPT, "user", text, typed=text))
        return f"u:{handle}"

    def say(self, text: str) -> str:
        handle = self._handle()
        self._add(Piece(handle, PieceForm.TEXT, "assistant", text, response=f"m{handle}"))
        return f"u:{handle}"

    def attach(self, label: str, text: str, *, is_known: bool = True) -> str:
        handle = self._handle()
        extra: Mapping[str, Json] = {"rendered_known": is_known}
        self._add(Piece(handle, PieceForm.ATTACHMENT, "user", text, label=label, extra=extra))
        return f"u:{handle}"

    def tool(  # noqa: PLR0913 - every kind of call comes through here
        self,
        name: str,
        arguments: Mapping[str, Json],
        result: str | None,
        *,
        is_error: bool = False,
        media: tuple[Media, ...] = (),
        typed: str | None = None,
        response: str | None = None,
    ) -> str:
        handle, call_id = self._handle(), f"toolu_{len(self.pieces)}"
        first = next((v for v in arguments.values() if isinstance(v, str)), "")
        self._add(
            Piece(
                handle,
                PieceForm.CALL,
                "assistant",
                call=Call(call_id, name, arguments),
                response=response or f"m{handle}",
                label=f"{name} {first.removeprefix(f'{self.cwd}/')}"[:80],
                cwd=self.cwd,
            )
        )
        if result is not None:
            answer = Piece(
                f"{handle}r",
                PieceForm.RESULT,
                "user",
                result,
                call_id=call_id,
                is_error=is_error,
                media=media,
                typed=typed,
            )
            self._add(answer)
        return f"t:{call_id}"

    def read(self, path: str, lines: Sequence[str], first: int = 1, **more: Json) -> str:
        return self.tool("Read", {"file_path": path, **more}, numbered(lines, first))

    def edit(self, path: str, *, is_error: bool = False) -> str:
        arguments = {"file_path": path, "old_string": "a", "new_string": "b"}
        return self.tool("Edit", arguments, "edited", is_error=is_error)

    def bash(self, command: str, result: str, *, is_error: bool = False) -> str:
        return self.tool("Bash", {"command": command}, result, is_error=is_error)

    def conversation(self, turns: int | None = None, own: OwnFacts | None = None) -> Conversation:
        """The conversation so far; the last turn still runs unless `turns` says otherwise."""
        completed = max(0, self.turn - 1) if turns is None else turns
        return assemble(self.pieces, own or OwnFacts(), 0, completed)

    def ground(
        self,
        protected: Mapping[str, str] | None = None,
        *,
        reproducible: frozenset[str] = frozenset(),
        turns: int | None = None,
        own: OwnFacts | None = None,
    ) -> Ground:
        """What admission, the review and the policy decide on."""
        return Ground(
            Names(self.conversation(turns, own)),
            CharSizer(),
            protected=protected or {},
            original_path=lambda _: "/data/archive/originals/0123456789abcdef01234567.txt",
            reproducible=reproducible,
        )


def disk(
    files: Mapping[str, FileFact], contents: Mapping[str, str] | None = None, cwd: str = CWD
) -> DiskFacts:
    """Disk facts by the path as it is named."""
    named = {PathName(cwd, path): fact for path, fact in files.items()}
    return DiskFacts(named, contents or {})
