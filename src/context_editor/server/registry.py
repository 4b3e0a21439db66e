"""The tools that are served, in the order in which they are listed."""

from collections.abc import Mapping
from typing import Any, Final

from context_editor.server import context_edit, context_list
from context_editor.server.tool import Tool

TOOLS: Final[Mapping[str, Tool[Any]]] = {
    tool.name: tool for tool in (context_list.TOOL, context_edit.TOOL)
}
"""The tools by name; a further one is a module beside these and an entry here."""
