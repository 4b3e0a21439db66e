"""What a molt writes before anything is shed: the handoff's file, and the whole conversation as one JSON file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from context_editor.core.rows import Piece, PieceForm
from context_editor.engine.view import View
from context_editor.store import codec
from context_editor.store.files import write_verified

NO_RESULT: Final = (
    "[context-editor: no result: the conversation was shed before one was in its file]"
)
"""The result with which a snapshot closes a call that had none."""


@dataclass(frozen=True)
class MoltFiles:
    """Where the files of one molt stand.

    Attributes:
        folder: `<session>/molts`.
        stem: Their common name, without an ending.
    """

    folder: Path
    stem: str

    @property
    def summary(self) -> Path:
        """The handoff."""
        return self.folder / f"{self.stem}.md"

    @property
    def snapshot(self) -> Path:
        """The whole conversation."""
        return self.folder / f"{self.stem}.json"


def write_snapshot(path: Path, view: View, facts: Mapping[str, Any]) -> None:
    """Write the conversation as it stands, whole, and read it back.

    Args:
        path: The file.
        view: The session.
        facts: What is said of it besides: why it was written, when, the journal.

    Raises:
        ArchiveError: It could not be written and read back.
    """
    pieces = view.reading.conversation.pieces
    document = {
        "session": view.state.session_id,
        "transcript": str(view.reading.transcript),
        "epoch": view.state.epoch,
        **facts,
        "tokens": view.sizes.total_tokens,
    }
    lines = ",\n".join(_json(codec.encoded(piece)) for piece in (*pieces, *_closing(pieces)))
    # A line for each piece: whoever looks for a word finds the piece that holds it.
    text = f'{_json(document).removesuffix("}")}, "pieces": [\n{lines}\n]}}\n'
    write_verified(path, text.encode("utf-8", "surrogatepass"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _closing(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """A result for every call that has none."""
    answered = {piece.call_id for piece in pieces}
    for piece in pieces:
        if piece.call is not None and piece.call.id not in answered:
            yield Piece(
                f"closing-{piece.call.id}",
                PieceForm.RESULT,
                "user",
                NO_RESULT,
                call_id=piece.call.id,
                is_error=True,
                turn=piece.turn,
            )
