"""`context_list`: the conversation as numbered rows."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from context_editor.server.inputs import Input, RowName
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
Lists this conversation as numbered rows with their sizes. Changes nothing. Without arguments: \
the header and the 40 newest rows.

`count`: so many newest rows, 0 for the header alone. `from`, `to`: a window instead. `grep`: \
rows that hold this text. `review`: rows worth folding. `row`: one row's text. `rules`: how to \
edit well. `what`: `archive` what got dropped (`row`: one), `held` what you still have, \
`notice` after a molt. A row is named by its number, which changes with every apply, or by its ref (`r7k2`, \
`c7`), which never does.

Header: `Context` what the next request carries. `Rows` how many, and the epoch (applies so \
far). `Stage` the piece of work that is open. `Queued` accepted edits, their saving, when they \
apply. `Effect` what earlier edits saved, and what you read again of it. `Cache` how far from \
the end the earliest queued change is. Only when there is something to say: `Apply` why edits \
wait for a resume, `Review` candidates by cause, `Notes`, `Molt`, `Unreadable` broken lines, \
`Suggestion`.

Row: number, ref, `~` if the same call brings it again, what it is, size, media, `[cN]` \
replaced, `[pending]` not finished, `[qN]` queued, flags, how it begins."""


class ListInput(Input):
    """The arguments of `context_list`."""

    count: Annotated[int, Field(ge=0, le=500)] = 40
    start: Annotated[RowName, Field(alias="from")] = 1
    end: Annotated[RowName, Field(alias="to")] = 1
    grep: str = ""
    row: RowName = 1
    rules: bool = False
    review: bool = False
    what: Literal["rows", "archive", "held", "notice"] = "rows"


def run(engine: "Engine", asked: ListInput) -> str:
    """The listing."""
    from context_editor.engine.listing import ListRequest  # noqa: PLC0415 (only once a tool is called)

    return engine.list(
        ListRequest(
            count=asked.given("count"),
            start=asked.given("start"),
            end=asked.given("end"),
            grep=asked.grep,
            review=asked.review,
            row=asked.given("row"),
            what=asked.what,
            rules=asked.rules,
        )
    )


TOOL: Final = Tool(
    "context_list", "List the conversation", DESCRIPTION, ListInput, run, is_read_only=True
)
"""The tool as it is served."""
