"""The tools that are served, in the order in which they are listed."""

from collections.abc import Mapping
from typing import Any, Final

from context_editor.server import (
    context_edit,
    context_list,
    context_manual,
    context_molt,
    context_note,
    context_tag,
)
from context_editor.server.tool import Tool

TOOLS: Final[Mapping[str, Tool[Any]]] = {
    tool.name: tool
    for tool in (
        context_list.TOOL,
        context_tag.TOOL,
        context_edit.TOOL,
        context_note.TOOL,
        context_molt.TOOL,
        context_manual.TOOL,
    )
}
"""The tools by name; a further one is a module beside these and an entry here."""
