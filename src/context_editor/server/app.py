"""The tools behind the SDK's server: what is published, and how an answer becomes a result."""

import json
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from context_editor.server.calls import Desk
from context_editor.server.door import door_open
from context_editor.server.instructions import INSTRUCTIONS
from context_editor.server.registry import TOOLS
from context_editor.server.tool import Tool
from context_editor.version import VERSION

SERVER_NAME: Final = "editor"
"""The server's key in the manifest, and so a part of every tool's full name."""

TOOLS_FILE: Final = Path(__file__).with_name("tools.json")
"""What is published, for the launcher that answers while the environment is being installed."""


def published_tools() -> list[types.Tool]:
    """The tools as `tools/list` answers them; the list never changes while a server runs."""
    return [_published(tool) for tool in TOOLS.values()]


def _published(tool: Tool[Any]) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.is_read_only,
        destructive_hint=False,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=hints,
    )


def published() -> dict[str, Any]:
    """Server, instructions and tools as they go over the wire."""
    return {
        "serverInfo": {"name": SERVER_NAME, "version": VERSION},
        "instructions": INSTRUCTIONS,
        "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in published_tools()],
    }


def write_tools(path: Path = TOOLS_FILE) -> None:
    """Write what is published to the launcher's file."""
    text = json.dumps(published(), ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")


def server_for(desk: Desk) -> Server[Any]:
    """The SDK's server over a desk."""

    async def listed(
        _context: ServerRequestContext[Any], _asked: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=published_tools())

    async def called(
        _context: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        # In the event loop on purpose: calls of one session go one after the other anyway.
        answer = desk.answer(asked.name, asked.arguments or {})
        content = types.TextContent(type="text", text=answer.text)
        return types.CallToolResult(content=[content], is_error=answer.is_refusal)

    return Server(
        SERVER_NAME,
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


async def serve(desk: Desk) -> None:
    """Serve one connection over standard input and output until the client leaves."""
    server = server_for(desk)
    async with door_open(desk.sessions), stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
