"""What is published: names, texts within their budget, and the launcher's file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.support.transcripts import SESSION

from context_editor.server.app import TOOLS_FILE, published, server_for, write_tools
from context_editor.server.calls import Desk
from context_editor.server.instructions import INSTRUCTIONS
from context_editor.server.registry import TOOLS
from context_editor.server.sessions import Sessions
from context_editor.setup.environment import ROOT
from context_editor.setup.install import TABLE_FOLDER
from context_editor.store.tokenizer import o200k_counter
from context_editor.version import VERSION

if TYPE_CHECKING:
    from tests.server.conftest import Session

TEXT_BUDGET_TOKENS = 1_500
SCHEMA_BUDGET_TOKENS = 1_500
WORDS_CHARS_PER_TOKEN = 4.04
SCHEMA_CHARS_PER_TOKEN = 3.3
"""Characters that an o200k token has at least in these texts: counted, 4.05 and 3.9."""


def tokens(words: str, chars_per_token: float) -> float:
    """o200k tokens where the table is on disk, else more than there can be of such text."""
    folders = [Path(sys.prefix) / TABLE_FOLDER, Path(os.environ.get("TIKTOKEN_CACHE_DIR") or "-")]
    counter = next(filter(None, map(o200k_counter, folders)), None)
    return counter(words) if counter else len(words) / chars_per_token


def test_the_launchers_file_is_what_the_server_publishes() -> None:
    assert json.loads(TOOLS_FILE.read_text(encoding="utf-8")) == published()


def test_the_launchers_file_is_written_whole(tmp_path: Path) -> None:
    write_tools(tmp_path / "tools.json")

    assert (tmp_path / "tools.json").read_bytes() == TOOLS_FILE.read_bytes()


def test_descriptions_and_instructions_stay_within_their_budget() -> None:
    words = [INSTRUCTIONS, *(tool.description for tool in TOOLS.values())]

    assert sum(tokens(text, WORDS_CHARS_PER_TOKEN) for text in words) < TEXT_BUDGET_TOKENS


def test_schemas_stay_within_their_budget() -> None:
    schemas = [json.dumps(tool.schema, separators=(",", ":")) for tool in TOOLS.values()]

    assert sum(tokens(text, SCHEMA_CHARS_PER_TOKEN) for text in schemas) < SCHEMA_BUDGET_TOKENS


def test_the_instructions_say_whose_a_replacement_is_and_where_the_original_stands() -> None:
    trust = (
        "Text that begins `Later, your context_edit` is your own replacement of what you read; "
        "the original stands at its path; open it before doubting it."
    )

    assert trust in INSTRUCTIONS


@pytest.mark.parametrize(
    "line",
    [
        "Context",
        "Rows",
        "Stage",
        "Queued",
        "Effect",
        "Cache",
        "Apply",
        "Review",
        "Notes",
        "Molt",
        "Unreadable",
        "Suggestion",
    ],
)
def test_the_listings_description_explains_every_header_line(line: str) -> None:
    assert f"`{line}`" in TOOLS["context_list"].description


def keys_of(schema: dict[str, Any]) -> set[str]:
    """Every key that a schema knows, at any depth."""
    parts = [*schema.get("properties", {}).values(), *schema.get("oneOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    return set(schema.get("properties", ())).union(*map(keys_of, parts))


LISTS_AND_OP = {"op", "edits", "tags", "notes", "changes"}
"""Keys that only hold the others."""

SAID_ONCE = {"epoch", "index", "ref", "tool_use_id", "id"}
"""Keys that mean the same everywhere: `context_edit` says what."""


@pytest.mark.parametrize("tool", list(TOOLS))
def test_a_description_explains_every_key_of_its_schema(tool: str) -> None:
    keys = keys_of(TOOLS[tool].schema) - LISTS_AND_OP
    due = keys if tool == "context_edit" else keys - SAID_ONCE

    unexplained = {key for key in due if f"`{key}`" not in TOOLS[tool].description}

    assert not unexplained


@pytest.mark.parametrize(
    "part", ["goal", "decisions", "person's words", "source", "open questions"]
)
def test_c20_the_description_of_collapse_names_the_parts_of_a_stage_record(part: str) -> None:
    assert part in TOOLS["context_edit"].description


def test_only_looking_is_announced_as_such() -> None:
    read_only = {t["name"] for t in published()["tools"] if t["annotations"]["readOnlyHint"]}

    assert read_only & {"context_list", "context_tag", "context_edit", "context_note"} == {
        "context_list"
    }


def test_the_version_is_the_manifests_and_the_distributions() -> None:
    manifest = json.loads((ROOT / "plugin.json").read_text(encoding="utf-8"))
    distribution = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert manifest["version"] == VERSION
    assert f'\nversion = "{VERSION}"\n' in distribution


# --- over the SDK's own client --------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_is_told_the_tools_and_gets_plain_text(session: Session, mode: str) -> None:
    async def talk() -> tuple[list[dict[str, Any]], Any, Any]:
        async with Client(server_for(Desk(Sessions(session.data))), mode=mode) as client:
            listed = await client.list_tools()
            good = await client.call_tool("context_list", {"count": 0, "_host": session.host()})
            bad = await client.call_tool("context_list", {"cuont": 0, "_host": session.host()})
            tools = [t.model_dump(by_alias=True, exclude_none=True) for t in listed.tools]
            return tools, good, bad

    tools, good, bad = anyio.run(talk)

    assert tools == published()["tools"]
    assert not good.is_error
    assert good.content[0].text.startswith("Context: ")
    assert good.structured_content is None
    assert bad.is_error
    assert "cuont" in bad.content[0].text


@pytest.mark.process
def test_over_a_real_pipe_the_server_publishes_what_the_file_holds_and_answers(
    session: Session,
) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-I", str(ROOT / "src/context_editor/setup/enter.py"), "context_editor.server"],
        env={**os.environ, "CLAUDE_PLUGIN_DATA": str(session.data)},
    )

    async def talk() -> tuple[dict[str, Any], Any]:
        async with Client(stdio_client(server), mode="legacy") as client:
            listed = await client.list_tools()
            answer = await client.call_tool("context_list", {"_host": session.host()})
            assert client.server_info is not None
            said = client.server_info.model_dump(by_alias=True, exclude_none=True)
            tools = [t.model_dump(by_alias=True, exclude_none=True) for t in listed.tools]
            whole = {"serverInfo": said, "instructions": client.instructions, "tools": tools}
            return whole, answer

    whole, answer = anyio.run(talk)

    assert whole == json.loads(TOOLS_FILE.read_text(encoding="utf-8"))
    assert "Where are the handlers?" in answer.content[0].text
    assert (session.data / "sessions" / SESSION / "state.json").exists()


@pytest.mark.process
def test_a_list_of_tools_needs_nothing_of_the_engine() -> None:
    code = (
        "import sys, context_editor.server.app as app; app.published(); "
        "parts = ('context_editor.engine', 'context_editor.core'); "
        "print([name for name in sys.modules if name.startswith(parts)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )

    assert done.stdout.strip() == "[]"
