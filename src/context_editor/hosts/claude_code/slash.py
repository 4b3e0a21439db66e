"""Slash commands that are answered to the person in the session: no tokens, no turn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from context_editor.core.manual import MANUAL
from context_editor.engine.listing import ListRequest
from context_editor.engine.session import Engine
from context_editor.errors import ContextEditorError, RefusedError

Outside: TypeAlias = Callable[[Sequence[str]], str]
"""Runs a command of the command line and gives what it printed."""

LISTED_ROWS: Final = 20
"""Rows that `list` shows without a number: a screen of them."""

APPLYING: Final = "Applied at once; a run that ends with this command leaves it to the next resume."
"""What stands below what a command queued, where the mod applies it at once."""


@dataclass(frozen=True)
class Asked:
    """One command as it was typed.

    Attributes:
        engine: The session.
        words: What stood behind the command's name, without blanks around it.
        transcript: The session's transcript, as the command line takes it.
        outside: The command line.
    """

    engine: Engine
    words: str
    transcript: str
    outside: Outside


@dataclass(frozen=True)
class Reply:
    """What a command does.

    Attributes:
        text: What the person is shown.
        applies: Whether the queue is to be applied at once.
    """

    text: str
    applies: bool = False


Command: TypeAlias = Callable[[Asked], Reply]


def answer(name: str, asked: Asked) -> Reply:
    """The answer to a command; a refusal is one as well."""
    command = COMMANDS.get(name)
    if command is None:
        return Reply(f"There is no command {name!r}; there are {', '.join(COMMANDS)}.")
    try:
        return command(asked)
    except ContextEditorError as error:
        return Reply(f"Refused: {error}")


def _status(asked: Asked) -> Reply:
    return Reply(asked.engine.list(ListRequest(count=0), for_person=True))


def _list(asked: Asked) -> Reply:
    """The newest rows, so many of them, or those that hold a text."""
    is_count = asked.words.isdecimal()
    request = ListRequest(
        count=int(asked.words) if is_count else LISTED_ROWS,
        grep="" if is_count else asked.words,
    )
    return Reply(asked.engine.list(request, for_person=True))


def _undo(asked: Asked) -> Reply:
    return _brought_back(asked, "")


def _restore(asked: Asked) -> Reply:
    if not asked.words:
        msg = "name what is to come back, such as /context-editor:restore c4; :list shows the ids"
        raise RefusedError(msg)
    return _brought_back(asked, asked.words)


def _brought_back(asked: Asked, replacement_id: str) -> Reply:
    return _ordered(asked, asked.engine.bring_back(replacement_id))


def _ordered(asked: Asked, lines: str) -> Reply:
    """What was queued by a person's order is applied at once, where the mod can."""
    reason = asked.engine.apply_mode
    if reason:
        way = "`context-editor apply` makes the edited copy"
        return Reply(f"{lines}\nQueued, not applied ({reason}): {way}.")
    return Reply(f"{lines}\n{APPLYING}", applies=True)


def _held(asked: Asked) -> Reply:
    return Reply(asked.engine.held_words())


def _dropped(asked: Asked) -> Reply:
    """The archive's records, or the originals of one, up to a screen or two."""
    return Reply(asked.engine.dropped_words(asked.words))


def _notice(asked: Asked) -> Reply:
    return Reply(asked.engine.notice())


def _compress(asked: Asked) -> Reply:
    """Let the retention policy bring the context down now."""
    words, is_queued = asked.engine.compress(_share(asked.words) if asked.words else None)
    return _ordered(asked, words) if is_queued else Reply(words)


def _share(words: str) -> float:
    """A share of the window as a person types it: `0.3` or `30%`."""
    is_percent = words.endswith("%")
    try:
        share = float(words.removesuffix("%")) / (100 if is_percent else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        msg = f"{words!r} is no share of the window; allowed: a number above 0 and below 1, or such as 30%"
        raise RefusedError(msg)
    return share


def _report(asked: Asked) -> Reply:
    page = asked.engine.folder.path / "report.html"
    return Reply(asked.outside(["report", asked.transcript, "--html", str(page)]))


def _doctor(asked: Asked) -> Reply:
    return Reply(asked.outside(["doctor"]))


def _manual(asked: Asked) -> Reply:
    del asked
    return Reply(f"{PERSONS_PART}\n\n{MANUAL}")


COMMANDS: Final[Mapping[str, Command]] = {
    "status": _status,
    "list": _list,
    "held": _held,
    "dropped": _dropped,
    "restore": _restore,
    "compress": _compress,
    "undo": _undo,
    "report": _report,
    "doctor": _doctor,
    "notice": _notice,
    "manual": _manual,
}
"""What may be asked, by the name behind `/context-editor:`. A further one is a line here and a file in `commands/`."""

BY_THE_COMMAND_LINE: Final = frozenset({"report", "doctor"})
"""The commands that the command line answers; for all others the engine is enough."""

PERSONS_PART: Final = """\
# Commands for you
They are answered here, at once; the agent is sent nothing.
- /context-editor:status       what the agent's context holds, what is queued, what was saved
- /context-editor:list [N|TEXT]  the newest rows, or those that hold a text
- /context-editor:held         what of the conversation still stands whole, as a digest, or never goes
- /context-editor:dropped [ID]  what was archived, or the originals of one record
- /context-editor:compress [RATIO]  lets the retention policy bring the context down now, to 0.4 of the window
- /context-editor:restore ID   brings one original back (ids such as c4 stand in :list)
- /context-editor:undo         brings back all that the last apply replaced; again: takes it out again
- /context-editor:report       writes what was edited to a page, and names it
- /context-editor:doctor       checks this installation
- /context-editor:notice       the notice of the last molt again, and what was decided
- /context-editor:molt [WORDS]  asks the agent for a fresh start from a handoff (this one takes a turn)
- /context-editor:optimize     asks the agent to fold what is finished (this one takes a turn)
What follows is what the agent reads."""
