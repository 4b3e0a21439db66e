"""`context_note`: notes that live outside the conversation."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from context_editor.server.context_tag import Named, target_of
from context_editor.server.inputs import Input, refuse
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.core.notes import NoteOp
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
Notes outside the conversation: they cost no tokens once this call is folded. `add` a `text`, linked to a row by \
`ref` (`last`: the newest result) or to none, with `remind_in_turns` to be shown once more later; `set`, `remove` by \
`id`; `list`. A note follows its row and shows in the close report of its stage and in the header's count. Describe \
content, not row numbers."""


class Add(Named):
    """A new note."""

    op: Literal["add"]
    text: Annotated[str, Field(min_length=1)]
    remind_in_turns: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _names_rows_once(self) -> Self:
        if len(self.names) > 1:
            refuse(f"{' and '.join(self.names)} given", "one of index, ref, tool_use_id, or none")
        return self


class Set(Input):
    """A note's new text."""

    op: Literal["set"]
    id: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    remind_in_turns: Annotated[int, Field(ge=1)] = 1


class Remove(Input):
    """A note that goes."""

    op: Literal["remove"]
    id: Annotated[str, Field(min_length=1)]


class List(Input):
    """All notes."""

    op: Literal["list"]


Element: TypeAlias = Annotated[Add | Set | Remove | List, Field(discriminator="op")]


class NoteInput(Input):
    """The arguments of `context_note`."""

    notes: Annotated[list[Element], Field(min_length=1)]
    epoch: Annotated[int, Field(ge=0)] = 0


def run(engine: "Engine", asked: NoteInput) -> str:
    """Carry the notes out."""
    return engine.note([_op(element) for element in asked.notes], asked.given("epoch"))


def _op(element: Element) -> "NoteOp":
    from context_editor.core.notes import NoteOp  # noqa: PLC0415 (only once a tool is called)

    match element:
        case Add():
            return NoteOp(
                "add",
                target=target_of(element),
                text=element.text,
                remind_in_turns=element.given("remind_in_turns"),
            )
        case Set():
            return NoteOp(
                "set",
                element.id,
                text=element.text,
                remind_in_turns=element.given("remind_in_turns"),
            )
        case Remove():
            return NoteOp("remove", element.id)
        case List():
            return NoteOp("list")


TOOL: Final = Tool("context_note", "Keep notes", DESCRIPTION, NoteInput, run)
"""The tool as it is served."""
