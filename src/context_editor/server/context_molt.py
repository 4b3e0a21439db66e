"""`context_molt`: the conversation is shed, and goes on from a handoff."""

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import Field, PlainValidator, WithJsonSchema

from context_editor.server.inputs import Input, refuse_value
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
A fresh start: when the turn ends this conversation is shed and goes on from your handoff `summary`. Not undone; a \
snapshot stays on disk. For lasting pressure, confusion, or when the person asks, not because a task is done. First \
write the journal entry (template: context_manual); `session_journal_path` names it. `keep_last`: newest rows \
that stay (default 20, 0 none), whole batches; `keep_tool_calls`: ids or refs of more calls."""


def _count(value: object) -> object:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not (is_count or value is None):
        refuse_value()
    return value


def _anything(value: object) -> object:
    return value


KeepLast: TypeAlias = Annotated[
    int | None,
    PlainValidator(_count),
    WithJsonSchema({"type": ["integer", "null"], "minimum": 0}),
]

JournalPath: TypeAlias = Annotated[
    Any, PlainValidator(_anything), WithJsonSchema({"type": "string"})
]
"""A path of any type: what is wrong with it is told by the journal's own checks, with their code."""


class MoltInput(Input):
    """The arguments of `context_molt`."""

    summary: str
    session_journal_path: JournalPath
    keep_last: KeepLast = None
    keep_tool_calls: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list[str])


def run(engine: "Engine", asked: MoltInput) -> str:
    """Queue the molt."""
    from context_editor.core.molt import MoltRequest  # noqa: PLC0415 (only once a tool is called)

    return engine.molt(
        MoltRequest(
            asked.summary,
            asked.session_journal_path,
            asked.keep_last,
            tuple(asked.keep_tool_calls),
        )
    )


TOOL: Final = Tool("context_molt", "Start afresh from a handoff", DESCRIPTION, MoltInput, run)
"""The tool as it is served."""
