"""`context_manual`: the long manual."""

from typing import TYPE_CHECKING, Final

from context_editor.server.inputs import Input
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
The long manual: edits, molts, the journal entry's template, after a molt, the idle reminder."""


class ManualInput(Input):
    """The arguments of `context_manual`: none."""


def run(engine: "Engine", asked: ManualInput) -> str:
    """The manual's text."""
    from context_editor.core.manual import MANUAL  # noqa: PLC0415 (only once a tool is called)

    del engine, asked
    return MANUAL


TOOL: Final = Tool(
    "context_manual", "Read the manual", DESCRIPTION, ManualInput, run, is_read_only=True
)
"""The tool as it is served."""
