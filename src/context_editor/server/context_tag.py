"""`context_tag`: stages of work, and marks on rows."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from context_editor.server.inputs import Input, RowName, refuse
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.core.names import Target
    from context_editor.core.stages.marks import TagOp
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
Marks stages of work and rows. `open` begins the stage `stage` here, or at row `index`; an open one is closed \
first. `close` ends it and reports the block: range, size, candidates with ready-made texts, notes; its row \
numbers are current. `open` with `index` plus `close` in one call makes a block of earlier rows. `add`/`remove` a \
`kind` on `index`..`to` (`ref`, `tool_use_id`): `pin` no edit may take it; `state` your own text row is the state \
slot; `disposable` a dead end, `note` replaces it when the stage ends; `review` look again, for `ttl_turns`; `keep` \
the policy spares it, `as` what. `decide` records `decision` about the work after a molt. One bad element refuses \
the whole call."""

Kind: TypeAlias = Literal["pin", "state", "disposable", "review", "keep"]


class Named(Input):
    """An element that may name rows."""

    index: RowName = 1
    ref: RowName = 1
    tool_use_id: Annotated[str, Field(min_length=1)] = "-"

    @property
    def names(self) -> list[str]:
        """The ways in which it names a row."""
        return [name for name in ("index", "ref", "tool_use_id") if name in self.model_fields_set]


class Open(Named):
    """A stage that begins."""

    op: Literal["open"]
    stage: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _names_rows_once(self) -> Self:
        if len(self.names) > 1:
            refuse(f"{' and '.join(self.names)} given", "at most one of index, ref, tool_use_id")
        return self


class Close(Input):
    """The stage that ends."""

    op: Literal["close"]


class Marked(Named):
    """A mark on rows, added or removed."""

    op: Literal["add", "remove"]
    kind: Kind
    to: RowName = 1
    note: str = ""
    ttl_turns: Annotated[int, Field(ge=1)] = 1
    kept_as: Annotated[str, Field(alias="as")] = ""

    @model_validator(mode="after")
    def _names_rows_once(self) -> Self:
        if len(self.names) != 1:
            given = " and ".join(self.names) or "none"
            refuse(f"{given} given", "exactly one of index, ref, tool_use_id")
        if self.names == ["tool_use_id"] and "to" in self.model_fields_set:
            refuse("to and tool_use_id given", "to with index or ref, for a range")
        return self


class Decide(Input):
    """What is decided about the work after a molt."""

    op: Literal["decide"]
    decision: Literal["continue", "defer", "obsolete"]
    note: str = ""


Element: TypeAlias = Annotated[Open | Close | Marked | Decide, Field(discriminator="op")]


class TagInput(Input):
    """The arguments of `context_tag`."""

    tags: Annotated[list[Element], Field(min_length=1)]
    epoch: Annotated[int, Field(ge=0)] = 0


def run(engine: "Engine", asked: TagInput) -> str:
    """Carry the tags out."""
    return engine.tag([_op(element) for element in asked.tags], asked.given("epoch"))


def _op(element: Element) -> "TagOp":
    from context_editor.core.stages.marks import TagOp  # noqa: PLC0415 (only once a tool is called)

    match element:
        case Open():
            return TagOp("open", stage=element.stage, target=target_of(element))
        case Close():
            return TagOp("close")
        case Marked():
            return TagOp(
                element.op,
                element.kind,
                target_of(element, element.given("to")),
                note=element.note,
                ttl_turns=element.given("ttl_turns"),
                kept_as=element.kept_as,
            )
        case Decide():
            return TagOp("decide", decision=element.decision, note=element.note)


def target_of(element: Named, to: int | str | None = None) -> "Target | None":
    """The rows that an element names; None where it names none."""
    from context_editor.core.names import Target  # noqa: PLC0415 (only once a tool is called)

    if not element.names:
        return None
    ref = element.given("ref")
    is_number = isinstance(ref, int)
    return Target(
        index=ref if is_number else element.given("index"),
        ref=None if is_number else ref,
        tool_use_id=element.given("tool_use_id"),
        to=to,
    )


TOOL: Final = Tool("context_tag", "Mark stages and rows", DESCRIPTION, TagInput, run)
"""The tool as it is served."""
