"""`demo`: the main job from end to end on a bundled session, in a folder of its own."""

import argparse
import tempfile
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from context_editor.cli.choosing import Chosen
from context_editor.cli.demo_session import WINDOW_TOKENS
from context_editor.cli.demo_story import demo_session
from context_editor.cli.output import say
from context_editor.cli.report import report_facts, report_text
from context_editor.cli.report_page import page
from context_editor.core.edits.requests import EditCall, EditRequest
from context_editor.core.names import Target
from context_editor.core.rows import Row, RowKind
from context_editor.core.sizes.wording import format_tokens
from context_editor.engine.listing import ListRequest
from context_editor.engine.session import Engine
from context_editor.engine.view import View
from context_editor.errors import RefusedError
from context_editor.hosts.claude_code.copy import write_edited_copy
from context_editor.hosts.claude_code.wiring import SessionRef
from context_editor.store.files import make_folder, replace_file

SESSION: Final = "de300000-0000-4000-8000-000000000000"
"""The demo's session id."""

LINE_CHARS: Final = 100
"""The longest line of a listing that the demo shows."""

SEARCH_RECORD: Final = """\
Goal: find why the tracking page shows stale states for rerouted parcels.
Facts: tracker/state.py:18 takes the age of a state from our own clock, so that a reroute within a \
minute is kept back; route, carrier, depot, eta and customs compare with the carrier's clock.
Decision: none yet. Changed: nothing. Open: the fix."""

REPAIR_RECORD: Final = """\
Goal: fix it with a test; the person said not to touch the carrier module.
Decision: take the age from the event, not from a clock: events may come out of order.
Changed: tracker/state.py, tests/test_state.py, commit 3f2c1aa. Facts: 120 tests pass.
Open: nothing."""

EVENTS_SUMMARY: Final = (
    "34 kinds of events, each with parcel_id, occurred_at (UTC) and the field; they may arrive out "
    "of order; answer 2xx within 3 to 9 s. Pushed events need the business plan."
)


@dataclass
class _Stage:
    """What the demo works on, step by step.

    Attributes:
        chosen: The session of the moment: the bundled one, then its edited copies.
        step: The number of the step.
    """

    chosen: Chosen
    step: int = 0

    def engine(self) -> Engine:
        engine = self.chosen.engine()
        engine.limits = replace(engine.limits, window=WINDOW_TOKENS)
        return engine

    def view(self) -> View:
        engine = self.engine()
        return engine.view(engine.folder.read())

    def title(self, words: str) -> None:
        self.step += 1
        say(f"\n{self.step}. {words}\n")

    def apply(self) -> str:
        """Apply the queue to a copy and go on with that."""
        copy = write_edited_copy(self.engine())
        self.chosen = replace(self.chosen, ref=SessionRef(copy.id, copy.transcript))
        return copy.report


def demo(asked: argparse.Namespace) -> int:
    """Run the main job on the bundled session.

    Raises:
        RefusedError: The folder to keep the files in is there already.
    """
    with _folder(asked.keep) as name:
        stage = _Stage(_bundled(Path(name)))
        say("context-editor at work on a bundled session: nothing of yours is read or changed.")
        _show_session(stage)
        _show_candidates(stage)
        _show_refusal(stage)
        _show_edits(stage)
        _show_apply(stage)
        _show_restore(stage)
        _show_report(stage, Path(name) if asked.keep else None)
    return 0


def _folder(keep: str | None) -> AbstractContextManager[str]:
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="context-editor-demo-")
    if Path(keep).exists():
        msg = f"{keep} is there already: name a new folder"
        raise RefusedError(msg)
    return nullcontext(str(make_folder(Path(keep)).resolve()))


def _bundled(folder: Path) -> Chosen:
    transcript = make_folder(folder / "transcripts") / f"{SESSION}.jsonl"
    demo_session(SESSION).write(transcript)
    return Chosen(SessionRef(SESSION, transcript), folder / "data")


def _show_session(stage: _Stage) -> None:
    stage.title("context_list: what the agent sees of its own conversation")
    lines = stage.engine().list(ListRequest(count=500)).splitlines()
    header, rows = _split(lines)
    _say_lines(header)
    say(f"\n  … the oldest 8 and the newest 4 of {len(rows)} rows:")
    _say_lines([*rows[:8], "…", *rows[-4:]])


def _show_candidates(stage: _Stage) -> None:
    stage.title("Candidates: what could be folded")
    _, rows = _split(stage.engine().list(ListRequest(count=500, review=True)).splitlines())
    _say_lines(rows[:10])
    if len(rows) > 10:  # noqa: PLR2004 (as many as were shown)
        say(f"  … and {len(rows) - 10} more")


def _show_refusal(stage: _Stage) -> None:
    stage.title("A refusal: what the person said is never folded")
    first, last = stage.view().reading.conversation.listed[2], _persons(stage.view())[1]
    target = Target(index=_ref(stage, first), to=_ref(stage, last))
    try:
        stage.engine().edit(EditCall((EditRequest("collapse", target, "Goal: …"),)))
    except RefusedError as refusal:
        _say_whole([str(refusal)])


def _show_edits(stage: _Stage) -> None:
    stage.title("context_edit: three edits, queued in one call")
    requests = (
        EditRequest("collapse", _work(stage, 0), SEARCH_RECORD),
        EditRequest("collapse", _work(stage, 1), REPAIR_RECORD),
        EditRequest("summarize", _call(stage, "WebFetch"), EVENTS_SUMMARY),
    )
    for request in requests:
        _say_lines([f"{request.op} {request.target.words}: {request.text.splitlines()[0]}"])
    say("")
    _say_whole(stage.engine().edit(EditCall(requests)).splitlines())


def _show_apply(stage: _Stage) -> None:
    stage.title("Apply: in the host at the end of the turn, here on a copy")
    before = stage.view().sizes.total_tokens
    report = stage.apply()
    _say_whole(report.split("; "))
    after = stage.view().sizes.total_tokens
    share = round(100 * (before - after) / before)
    tokens = f"{format_tokens(before)} → {format_tokens(after)} tokens"
    say(f"\n  Every later request: {tokens}, {share} % less. The first rows now:")
    _say_lines(_split(stage.engine().list(ListRequest(count=500)).splitlines())[1][:6])


def _show_restore(stage: _Stage) -> None:
    stage.title("The original: archived first, and back whenever it is needed")
    replaced = _row_of(stage.view(), "WebFetch")
    replacement = stage.engine().folder.read().replacements[replaced.replacement or ""]
    original = Path(replacement.original).read_text(encoding="utf-8")
    size = f"{len(original)} characters"
    say(f"  {replacement.id} stands for {replacement.source}; its original ({size}):")
    say(f"  {replacement.original}")
    stage.engine().edit(EditCall((EditRequest("restore", id=replacement.id),)))
    stage.apply()
    is_same = _row_of(stage.view(), "WebFetch").text == original
    say(f"  restored: {'the row holds the same text again' if is_same else 'NOT the same text'}")


def _show_report(stage: _Stage, folder: Path | None) -> None:
    stage.title("The report")
    facts = report_facts(stage.chosen)
    say(textwrap.indent(report_text(facts), "  "))
    if folder is None:
        say("\nDone; the demo's files are gone: `context-editor demo --keep DIR` leaves them.")
        return
    path = folder / "report.html"
    replace_file(path, page(facts).encode())
    say(f"\nDone; all files are in {folder}, the report as a page is {path}")


def _split(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The header's lines and the rows'."""
    rows = [line for line in lines if line.startswith("#")]
    return [line for line in lines if not line.startswith("#")], rows


def _say_lines(lines: Sequence[str]) -> None:
    for line in lines:
        say(f"  {line if len(line) <= LINE_CHARS else f'{line[: LINE_CHARS - 1]}…'}")


def _say_whole(lines: Sequence[str]) -> None:
    """Lines that are read to their end, wrapped."""
    for line in lines:
        say(textwrap.fill(line, LINE_CHARS, initial_indent="  ", subsequent_indent="    "))


def _persons(view: View) -> list[Row]:
    return [row for row in view.reading.conversation.listed if row.kind is RowKind.PERSON]


def _ref(stage: _Stage, row: Row) -> str:
    return stage.view().names.ref(row)


def _work(stage: _Stage, number: int) -> Target:
    """The rows of the agent between one prompt and the next."""
    view = stage.view()
    listed = view.reading.conversation.listed
    first, behind = (view.names.number(row) for row in _persons(view)[number : number + 2])
    own = [row for row in listed[first : behind - 1] if row.kind is not RowKind.HOST]
    return Target(index=_ref(stage, own[0]), to=_ref(stage, own[-1]))


def _row_of(view: View, tool: str) -> Row:
    return next(r for r in view.reading.conversation.listed if r.call and r.call.name == tool)


def _call(stage: _Stage, tool: str) -> Target:
    call = _row_of(stage.view(), tool).call
    return Target(tool_use_id=call.id if call else None)
