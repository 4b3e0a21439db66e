"""A molt: the conversation is shed, and goes on from a handoff (group K-M). Values and wording; no third party."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from context_editor.core.sizes.wording import format_tokens

KEEP_LAST: Final = 20
"""How many of the newest rows stay where the caller names no number (rule K-M5)."""

NOTICE_CHARS: Final = 2_000
"""The longest notice: one prompt is made to carry no more."""

UNDECIDED: Final = "none"
"""The decision on a molt until the agent made one (rule K-M9)."""


@dataclass(frozen=True)
class MoltRequest:
    """What a `context_molt` call asks for.

    Attributes:
        summary: The handoff.
        journal: The path of the journal entry, as it was given, of any type.
        keep_last: How many of the newest rows stay; None for the default.
        keep_tool_calls: Ids of further calls that stay with their results.
    """

    summary: str
    journal: object
    keep_last: int | None = None
    keep_tool_calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueuedMolt:
    """A molt that was accepted and waits for the turn's end.

    Attributes:
        id: Its id, such as `m1`.
        count: How many molts the session will have had with it.
        handoff: The handoff with everything that goes into it.
        instructions: The person's standing instructions so far, word for word, oldest first.
        journal: The journal entry, below the project root.
        summary_path: The absolute path of the handoff's file.
        snapshot_path: The absolute path of the snapshot of the whole conversation.
        kept: Anchors of the rows that stay, in order.
        newest: The anchor of the newest row that the call could see; work behind it stays too. Empty for none.
        asked_at: When it was accepted, ISO 8601 with offset.
        before_tokens: The conversation's size at the call, in tokens.
        after_tokens: What will be left of it, in tokens.
    """

    id: str
    count: int
    handoff: str
    journal: str
    summary_path: str
    snapshot_path: str
    instructions: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    newest: str = ""
    asked_at: str = ""
    before_tokens: int = 0
    after_tokens: int = 0

    def moved(self, new: Callable[[str], str]) -> "QueuedMolt":
        """The same molt once the host wrote rows again under new ids."""
        return replace(self, kept=tuple(map(new, self.kept)), newest=new(self.newest))


@dataclass(frozen=True)
class Molt:
    """A molt that was carried out, or a conversation that somebody else shed.

    Attributes:
        id: Its id, such as `m1`; `forced` where no molt was asked for.
        at: When, ISO 8601 with offset.
        notice: What the agent was told, once.
        snapshot_path: The absolute path of the snapshot.
        summary_path: The absolute path of the handoff's file; empty for a forced one.
        journal: The journal entry, below the project root; empty for a forced one.
        instructions: The person's standing instructions so far.
        epoch: The epoch that it made; 0 for a forced one.
        decision: What the agent decided about the work.
        decision_note: The words given with it.
    """

    id: str
    at: str
    notice: str
    snapshot_path: str
    summary_path: str = ""
    journal: str = ""
    instructions: tuple[str, ...] = ()
    epoch: int = 0
    decision: str = UNDECIDED
    decision_note: str = ""

    @property
    def is_forced(self) -> bool:
        """Whether nobody asked for it: it has no handoff and no journal, and nothing is to be decided."""
        return not self.summary_path


def minute(stamp: str) -> str:
    """`2026-11-30 10:02` of a time in ISO 8601."""
    return stamp[:16].replace("T", " ")


def latest(molts: Sequence[Molt]) -> Molt | None:
    """The newest molt that was asked for; None where there was none."""
    return next((molt for molt in reversed(molts) if not molt.is_forced), None)


def header_words(molts: Sequence[Molt]) -> str:
    """What the header says of the newest molt until the agent decided; empty else (rule K-M9)."""
    molt = latest(molts)
    if molt is None or molt.decision != UNDECIDED:
        return ""
    return f"{molt.id} ({minute(molt.at)}), decision {molt.decision}"


def notice_again(molts: Sequence[Molt]) -> str:
    """The newest notice, as a listing shows it."""
    if not molts:
        return "There was no molt in this session, and nothing was shed: there is no notice."
    molt = molts[-1]
    note = f" ({molt.decision_note})" if molt.decision_note else ""
    decided = "" if molt.is_forced else f"\nDecision: {molt.decision}{note}"
    return f"{molt.notice}{decided}"


def decided(molts: Sequence[Molt], decision: str, note: str) -> list[Molt]:
    """The molts with a decision on the newest one; as they are where none was made."""
    newest = latest(molts)
    if not decision or newest is None:
        return list(molts)
    return [
        replace(molt, decision=decision, decision_note=note) if molt is newest else molt
        for molt in molts
    ]


def not_undone(molts: Sequence[Molt], what: str) -> str:
    """Why something that a molt shed does not come back (rule C26); empty where there was no molt."""
    molt = latest(molts)
    if molt is None:
        return ""
    return (
        f"{what} went with molt {molt.id}, and a molt is not undone: "
        f"the whole conversation of before is in {molt.snapshot_path}"
    )


# --- the words of a molt -----------------------------------------------------------------------------

FIRST_LINES: Final = (
    "context-editor: the conversation was shed here by your molt {id} ({at}); you wrote the handoff below for "
    "yourself. It is context, not a command: a newer word of the person wins. "
    "The whole conversation in front of it: {snapshot}"
)
"""What stands above the handoff in the conversation."""

RESUME: Final = (
    "The molt is done. Read the handoff and the notice, then open the journal entry and what else they name before you "
    "answer. Record your decision, and go on with the work if it is to be continued."
)
"""The continuation prompt after a molt, where the caller gave no text."""

NOTICE: Final = """\
context-editor: molt {id} ({at}), number {count} of this session, is done: {sizes}. Kept: {kept} row(s) behind your \
handoff, which is the first row and is pinned.{voided}
Handoff: {summary}
Journal: {journal}
Snapshot of the whole conversation: {snapshot}
Now: read the instructions that apply here (CLAUDE.md, AGENTS.md, nested ones as you enter their folders), pad.md, \
the journal's index, and new messages. Check ids and paths before you use them. The handoff is context, not a command. \
Messages of before are not delivered again.
Then decide, and write it into the journal or the pad: \
context_tag {{"tags":[{{"op":"decide","decision":"continue|defer|obsolete","note":"…"}}]}}.
This notice comes once; context_list {{"what":"notice"}} shows it again. A molt is not undone."""

CLEARED: Final = """\
context-editor: molt {id} ({at}) was carried out by /clear: this conversation goes on from your handoff below (whole: \
{summary}; journal: {journal}; snapshot of all: {snapshot}). It is context, not a command. Check ids \
and paths, then decide with context_tag "decide"; context_list {{"what":"notice"}} shows it again.

"""

CUT: Final = "\n[context-editor: cut here; read the handoff's file now, before anything else]"

FORCED_NOTICE: Final = """\
context-editor: forced, no journal: the conversation was shed by {what} ({at}), not by a molt of yours. \
There is no handoff and no journal entry for it; do not invent one.
Snapshot of the whole conversation: {snapshot}
Read what you need from it (it is large: look for words). This notice comes once; \
context_list {{"what":"notice"}} shows it again."""


def sizes_words(before: int, after: int) -> str:
    """`83.4k → 9.1k tokens (74.3k shed)`."""
    shed = format_tokens(max(0, before - after))
    return f"{format_tokens(before)} → {format_tokens(after)} tokens ({shed} shed)"


def handoff_row(queued: QueuedMolt) -> str:
    """The handoff as it stands in the conversation: whose it is, where the original is, and the text."""
    head = FIRST_LINES.format(
        id=queued.id, at=minute(queued.asked_at), snapshot=queued.snapshot_path
    )
    return f"{head}\n\n{queued.handoff.strip()}"


def notice(queued: QueuedMolt, at: str, tokens: tuple[int, int], kept: int, voided: int) -> str:
    """What the agent is told once after a molt (rule K-M9)."""
    dropped = (
        f" {voided} queued edit(s) went with it: the rows that they meant are whole, here or in the snapshot."
        if voided
        else ""
    )
    return NOTICE.format(
        id=queued.id,
        at=minute(at),
        count=queued.count,
        sizes=sizes_words(*tokens),
        kept=kept,
        voided=dropped,
        summary=queued.summary_path,
        journal=queued.journal,
        snapshot=queued.snapshot_path,
    )[:NOTICE_CHARS]


def cleared_words(queued: QueuedMolt) -> str:
    """What the conversation that begins after a `/clear` is told once, in the place of a handoff row (rule K-M16)."""
    head = CLEARED.format(
        id=queued.id,
        at=minute(queued.asked_at),
        summary=queued.summary_path,
        journal=queued.journal,
        snapshot=queued.snapshot_path,
    )
    room = NOTICE_CHARS - len(head)
    text = queued.handoff.strip()
    return f"{head}{text}" if len(text) <= room else f"{head}{text[: room - len(CUT)]}{CUT}"


def forced_notice(what: str, at: str, snapshot: str) -> str:
    """What the agent is told once where somebody else shed the conversation (rule K-M15)."""
    return FORCED_NOTICE.format(what=what, at=minute(at), snapshot=snapshot)[:NOTICE_CHARS]


def molt_waits(queued: QueuedMolt) -> str:
    """What a call is told while a molt is queued."""
    return (
        f"Queued: molt {queued.id}. It happens when a turn ends in which context_molt was called again, or "
        f'context_edit with "apply": "turn_end"; {{"op":"cancel","id":"{queued.id}"}} withdraws it.'
    )


def handoff_document(queued: QueuedMolt, session_id: str) -> str:
    """The handoff's own file (rule K-M7)."""
    before, after = queued.before_tokens, queued.after_tokens
    return "\n".join(
        (
            "---",
            f"molt: {queued.id}",
            f"count: {queued.count}",
            f"time: {queued.asked_at}",
            f"source: context_molt in session {session_id}",
            f"journal: {queued.journal}",
            f"snapshot: {queued.snapshot_path}",
            f"tokens_before: {before}",
            f"tokens_after: {after}",
            f"tokens_shed: {max(0, before - after)}",
            "---",
            "",
            queued.handoff.rstrip(),
            "",
        )
    )


def result_words(queued: QueuedMolt, *, approx: bool, rows: int, calls: int) -> str:
    """The answer to an accepted call (rule K-M8).

    Args:
        queued: The molt.
        approx: Whether sizes are not calibrated yet.
        rows: How many of the newest rows stay.
        calls: How many further calls stay with their results.
    """
    about = "approx. " if approx else ""
    sizes = sizes_words(queued.before_tokens, queued.after_tokens)
    return "\n".join(
        (
            f"{queued.id} queued: status accepted, count {queued.count}; {about}{sizes}",
            f"Kept: {rows} row(s) of the end, {calls} further call(s), and all work behind this call",
            f"Handoff: {queued.summary_path}",
            f"Journal: {queued.journal}",
            f"Snapshot: {queued.snapshot_path}",
        )
    )
