"""A host in memory: it keeps a conversation as pieces and carries applies out as the real one does.

What hangs behind a row that is kept stays, what hangs behind a built or left-out row is gone, every row gets a
new id, and a built row has no thinking and no media: as observed on the real host.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from context_editor.core.apply.emissions import Build
from context_editor.core.assemble import OwnFacts, assemble
from context_editor.core.rows import Call, Media, Piece, PieceForm
from context_editor.engine.ports import ApplyAnswer, Clock, HostRow, Reading, Settled
from context_editor.engine.session import Engine, Limits
from context_editor.store.session import SessionFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OWN_TOOL = "mcp__plugin_context-editor_editor__context_edit"
IMAGE = Media("image", "image/png", "aGVsbG8gd29ybGQ=", width=800, height=600)


@dataclass
class FakeHost:
    """One session in memory."""

    pieces: list[Piece] = field(default_factory=list)
    pending: str | None = None
    turn: int = 0
    copied_from: str = ""
    _ids: count[int] = field(default_factory=count)
    _applied: int = 0

    @property
    def own_tool(self) -> str:
        return OWN_TOOL

    def read(self, own: OwnFacts) -> Reading:
        facts = replace(own, pending_response=self.pending)
        response = next((p.response for p in reversed(self.pieces) if p.response), None) or ""
        return Reading(
            assemble(self.pieces, facts, 0, self.turn),
            size=self._applied,
            running_response=response,
        )

    def origin(self, candidates: Sequence[str]) -> str:
        return self.copied_from if self.copied_from in candidates else ""

    def settle(self, offset: int) -> Settled:
        return Settled(is_found=self._applied > offset, is_resumable=True, how="in memory")

    # --- what happens in a session ---------------------------------------------------------------------

    def fresh(self, kind: str) -> str:
        return f"{kind}{next(self._ids)}"

    def prompt(self, text: str, *, media: Sequence[Media] = ()) -> None:
        self.turn += 1
        self._add(PieceForm.PROMPT, "user", text, typed=text, media=tuple(media))

    def attach(self, label: str, text: str, typed: str | None = None) -> None:
        self._add(PieceForm.ATTACHMENT, "user", text, label=label, typed=typed)

    def answer(
        self, text: str = "", calls: Sequence[tuple[str, str, str]] = (), *, thinking: bool = False
    ) -> tuple[str, ...]:
        """One answer: its text, and calls as (tool, argument, result); the ids of the calls."""
        response = self.fresh("msg")
        if thinking:
            self._add(PieceForm.THINKING, "assistant", "hm", response=response, signature_chars=40)
        if text:
            self._add(PieceForm.TEXT, "assistant", text, response=response)
        ids = tuple(self.fresh("toolu") for _ in calls)
        for call_id, (tool, argument, _) in zip(ids, calls, strict=True):
            call = Call(call_id, tool, {"file_path": argument})
            label = _label(tool, argument)
            self._add(PieceForm.CALL, "assistant", response=response, call=call, label=label)
        for call_id, (_, _, result) in zip(ids, calls, strict=True):
            self._add(PieceForm.RESULT, "user", result, call_id=call_id)
        return ids

    def own_call(self) -> None:
        """A call of one of our tools, with its result."""
        self.answer("", [(OWN_TOOL, "", "q1 queued")])

    def _add(self, form: PieceForm, role: str, text: str = "", **fields: object) -> None:
        piece = Piece(self.fresh("u"), form, role, text, turn=self.turn)  # type: ignore[arg-type]
        self.pieces.append(replace(piece, **fields))  # type: ignore[arg-type]

    # --- applying --------------------------------------------------------------------------------------

    def stored(self) -> list[list[Piece]]:
        """The pieces by stored row, each with what hangs behind it."""
        rows: list[list[Piece]] = []
        for piece in self.pieces:
            if rows and (piece.rides or piece.handle == rows[-1][0].handle):
                rows[-1].append(piece)
            else:
                rows.append([piece])
        return rows

    def host_rows(self) -> list[HostRow]:
        return [_host_row([p for p in row if p.handle == row[0].handle]) for row in self.stored()]

    def carry_out(self, answer: ApplyAnswer) -> None:
        """Replace the conversation as the answer says."""
        assert not answer.skip, answer.skip
        stored = self.stored()
        new: list[Piece] = []
        for row in answer.rows:
            if isinstance(row, Build):
                new += self._built(row)
            else:
                new += [piece for kept in stored[row[0] : row[1]] for piece in self._again(kept)]
        assert_joinable(new)
        self.pieces = new
        self._applied += 1

    def carry_out_rows(self, rows: Sequence[Sequence[Piece]]) -> None:
        """Write a conversation of these stored rows, as a compaction of the host's own does."""
        self.pieces = [piece for row in rows for piece in self._again(row)]
        self._applied += 1

    def _again(self, row: Sequence[Piece]) -> list[Piece]:
        handles = {piece.handle: self.fresh("u") for piece in row}
        return [replace(piece, handle=handles[piece.handle]) for piece in row]

    def _built(self, row: Build) -> list[Piece]:
        handle = self.fresh("u")
        if row.role == "assistant":
            response = self.fresh("msg")
            words = (
                [Piece(handle, PieceForm.TEXT, "assistant", row.text, response)] if row.text else []
            )
            calls = [
                Piece(
                    handle,
                    PieceForm.CALL,
                    "assistant",
                    response=response,
                    call=call,
                    label=_label(call.name, str(call.input.get("file_path", ""))),
                )
                for call in row.calls
            ]
            return [replace(piece, turn=self.turn) for piece in (*words, *calls)]
        results = [
            Piece(handle, PieceForm.RESULT, "user", r.text, call_id=r.call_id, is_error=r.is_error)
            for r in row.results
        ]
        if results and row.text:
            # The host joins words to the result that they stand beside.
            results[-1] = replace(results[-1], text=f"{results[-1].text}\n\n{row.text}")
        if results:
            return [replace(piece, turn=self.turn) for piece in results]
        return [Piece(handle, PieceForm.PROMPT, "user", row.text, label="rebuilt", turn=self.turn)]


def _label(tool: str, argument: str) -> str:
    return f"{tool.rpartition('__')[2]} {argument}".strip()


def assert_joinable(pieces: Sequence[Piece]) -> None:
    """Fail where the real host would lose results: it joins the rows of one answer at the first of them,
    and expects the results of an answer before the next one."""
    seen: set[str] = set()
    current: str | None = None
    open_calls: set[str] = set()
    for piece in pieces:
        if piece.response is not None and piece.response != current:
            assert piece.response not in seen, f"the rows of {piece.response} are parted"
            assert not open_calls, f"{open_calls} wait for results where another answer begins"
            seen.add(piece.response)
        if piece.call:
            open_calls.add(piece.call.id)
        if piece.call_id:
            open_calls.discard(piece.call_id)
        if piece.form is PieceForm.PROMPT:
            assert not open_calls
        current = (
            piece.response if piece.response is not None else (current if open_calls else None)
        )


def _host_row(row: Sequence[Piece]) -> HostRow:
    words = "".join(p.text for p in row if p.form in {PieceForm.TEXT, PieceForm.PROMPT})
    calls = tuple(p.call.id for p in row if p.call)
    results = tuple(p.call_id for p in row if p.form is PieceForm.RESULT and p.call_id)
    return HostRow(row[0].handle, row[0].role, len(words), words[:64], words[-64:], calls, results)


def fixed_clock() -> Clock:
    return Clock(lambda: 1_000.0, lambda: "2026-11-30T10:00:00+00:00", lambda: 0.0, lambda _: None)


def engine_of(host: FakeHost, folder: Path) -> Engine:
    """An engine over a host in memory; its files stand in `folder`."""
    return Engine(
        SessionFolder(folder / "s1", lock_wait_s=0.2), host, fixed_clock(), Limits(200_000)
    )


def apply(engine: Engine, host: FakeHost) -> str:
    """Apply the queue as the mod does, and give the report."""
    host.carry_out(engine.plan_apply(host.host_rows()))
    return engine.confirm()
