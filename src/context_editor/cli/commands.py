"""The commands of a person: their arguments, and which module runs each."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from context_editor.cli.output import complain
from context_editor.errors import ContextEditorError
from context_editor.version import VERSION

DESCRIPTION: Final = """\
Lets an agent edit its own conversation; these commands look at sessions and edit them from outside.
A session's own transcript is never rewritten here: `apply` writes an edited copy to resume."""

EPILOG: Final = "exit status: 0 done, 1 refused (nothing was changed), 2 not understood"


def run(arguments: Sequence[str]) -> int:
    """Parse and run one command.

    Returns:
        0 done, 1 refused. A command line that is not understood ends the process with 2.
    """
    asked = _parser().parse_args(list(arguments))
    module, _, function = asked.handler.partition(":")
    handler = getattr(import_module(f"context_editor.cli.{module}"), function)
    try:
        status: int = handler(asked)
        sys.stdout.flush()
    except ContextEditorError as error:
        complain(str(error))
        return 1
    except BrokenPipeError:
        # The reader has seen enough; what python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        complain(f"{error.filename or 'a file'}: {error.strerror or error}")
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "context-editor",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"context-editor {VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_reading(commands)
    _add_retention(commands)
    _add_changing(commands)
    _add_showing(commands)
    return parser


def _add(commands: Any, name: str, handler: str, about: str) -> argparse.ArgumentParser:  # noqa: ANN401 (argparse keeps its type to itself)
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(handler=handler)
    return parser


def _add_session(parser: argparse.ArgumentParser, *, is_option: bool = False) -> None:
    about = "a session id or a transcript's path; default: the newest session of this directory"
    if is_option:
        parser.add_argument("--session", metavar="SESSION", help=about)
    else:
        parser.add_argument("session", nargs="?", metavar="SESSION", help=about)
    parser.add_argument("--data", metavar="DIR", help="the data folder; default: found by itself")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_reading(commands: Any) -> None:  # noqa: ANN401 (see `_add`)
    parser = _add(commands, "sessions", "reading:sessions", "List sessions, newest first.")
    parser.add_argument("--all", action="store_true", help="of every directory, not of this one")
    _add_json(parser)
    parser = _add(commands, "list", "reading:rows", "List a session's rows as the agent sees them.")
    _add_session(parser)
    parser.add_argument("--count", type=int, metavar="N", help="newest rows, 0 to 500; default: 40")
    parser.add_argument("--from", dest="start", metavar="ROW", help="first row of a window")
    parser.add_argument("--to", dest="end", metavar="ROW", help="last row of a window")
    parser.add_argument("--grep", default="", metavar="TEXT", help="rows that hold this text")
    parser.add_argument("--review", action="store_true", help="rows worth folding")
    parser.add_argument("--rules", action="store_true", help="the curation rules")
    _add_json(parser)
    parser = _add(commands, "show", "reading:show", "Show one row whole.")
    parser.add_argument("row", metavar="ROW", help="its number or its ref, such as r7k2 or c7")
    _add_session(parser, is_option=True)
    _add_json(parser)


def _add_retention(commands: Any) -> None:  # noqa: ANN401 (see `_add`)
    parser = _add(commands, "held", "retention:held", "Say what a session still holds.")
    _add_session(parser)
    _add_json(parser)
    parser = _add(commands, "notice", "retention:notice", "Print the notice of the last molt.")
    _add_session(parser)
    _add_json(parser)
    parser = _add(commands, "dropped", "retention:dropped", "List what was archived.")
    parser.add_argument("id", nargs="?", metavar="ID", help="print the originals of this record")
    parser.add_argument("--grep", default="", metavar="TEXT", help="records that hold this text")
    _add_session(parser, is_option=True)
    _add_json(parser)
    parser = _add(
        commands, "policy", "retention:policy", "Show what the retention policy would do."
    )
    parser.add_argument(
        "--target", type=float, metavar="R", help="down to this share of the window"
    )
    parser.add_argument("--apply", action="store_true", help="write the edited copy, to be resumed")
    parser.add_argument("--window", type=int, metavar="TOKENS", help="the window, where unknown")
    _add_session(parser, is_option=True)
    _add_json(parser)


def _add_changing(commands: Any) -> None:  # noqa: ANN401 (see `_add`)
    parser = _add(commands, "edit", "changing:edit", "Queue the edits of a file.")
    parser.add_argument("file", metavar="FILE", help="JSON as for context_edit; - for stdin")
    _add_session(parser, is_option=True)
    parser = _add(commands, "restore", "changing:restore", "Queue bringing an original back.")
    parser.add_argument("id", metavar="ID", help="the replacement's id, such as c7")
    _add_session(parser, is_option=True)
    parser = _add(
        commands, "apply", "changing:apply", "Write an edited copy of a session, to be resumed."
    )
    _add_session(parser)
    _add_json(parser)


def _add_showing(commands: Any) -> None:  # noqa: ANN401 (see `_add`)
    parser = _add(commands, "report", "report:report", "Report what was edited and what it saved.")
    _add_session(parser)
    parser.add_argument("--html", metavar="FILE", help="write one page that stands by itself")
    _add_json(parser)
    parser = _add(commands, "doctor", "doctor:doctor", "Check this installation.")
    _add_json(parser)
    parser = _add(commands, "demo", "demo:demo", "Run the main job on a bundled session.")
    parser.add_argument("--keep", metavar="DIR", help="leave the demo's files in this new folder")
