"""`context_edit`: rows of the conversation replaced by short text, queued until the turn ends."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from context_editor.server.inputs import Input, RowName, refuse, refuse_value
from context_editor.server.tool import Tool

if TYPE_CHECKING:
    from context_editor.core.edits.requests import EditCall, EditRequest
    from context_editor.core.names import Target
    from context_editor.core.slot import StateChange
    from context_editor.engine.session import Engine

DESCRIPTION: Final = """\
Replaces rows of this conversation by short text of yours. The originals go to an archive. Edits \
are queued: the conversation changes when this turn ends. One bad edit refuses the whole call.

`collapse`: rows `index`..`to` become one row with `summary`. `summarize`: the result of one \
tool call becomes `text`; the call stays. `describe`: images, documents and pasted text in the \
person's prompt become `text`; their typed words stay. `rewrite`: your own text becomes `text`. \
`state`: items of the state slot (`do` add, set, mark `as` harmful or outdated, unmark, remove; \
`kind` goal, plan, done, next, fact, question). \
`policy`: what the retention policy would do down to `target`: oldest tool results first, digested. \
`restore`: the original of replacement `id` (c4) comes back. `cancel`: withdraws the queued edit \
`id` (q2). Name a row by exactly one of `index`, `ref` (both take a number or a ref) or \
`tool_use_id`.

A collapse summary is the record of that piece of work. Keep: the goal; decisions, each with its \
reason, the person's words behind it and why the others were rejected; verified facts with their \
source (path and line, version, URL); what was changed; open questions.

`apply`: `turn_end` (default) applies the whole queue when this turn ends; `later` only queues. \
`{"apply": "turn_end"}` without edits applies what is queued.
`resume`: how it goes on afterwards: a text is the prompt you then get, `true` (default) a \
standard one, `false` waits for the person.
`keep_cache`: true refuses edits that begin more than 20 positions from the end, so that the \
prompt cache survives.
`epoch`: the epoch your row numbers come from; outdated numbers are refused."""


def _resume(value: object) -> object:
    is_text = isinstance(value, str) and bool(value.strip())
    if not (is_text or isinstance(value, bool)):
        refuse_value()
    return value


Resume: TypeAlias = Annotated[
    str | bool, PlainValidator(_resume), WithJsonSchema({"type": ["string", "boolean"]})
]


class Targeted(Input):
    """An edit that names rows."""

    index: RowName = 1
    ref: RowName = 1
    tool_use_id: Annotated[str, Field(min_length=1)] = "-"

    @model_validator(mode="after")
    def _names_rows_once(self) -> Self:
        names = ("index", "ref", "tool_use_id")
        sent = [name for name in names if name in self.model_fields_set]
        if len(sent) != 1:
            given = " and ".join(sent) or "none"
            refuse(f"{given} given", f"exactly one of {', '.join(names)}")
        if sent == ["tool_use_id"] and "to" in self.model_fields_set:
            refuse("to and tool_use_id given", "to with index or ref, for a range")
        return self


class Collapse(Targeted):
    """Rows that become one row with a summary."""

    op: Literal["collapse"]
    to: RowName = 1
    summary: str


class Rewording(Targeted):
    """One row whose result, media and pasted text, or own words become a text."""

    op: Literal["summarize", "describe", "rewrite"]
    text: str


class ById(Input):
    """A replacement that gives way to its original, or a queued edit that is withdrawn."""

    op: Literal["restore", "cancel"]
    id: Annotated[str, Field(min_length=1)]


class Change(Input):
    """One change of the state slot's items."""

    do: Literal["add", "set", "mark", "unmark", "remove"]
    kind: Literal["goal", "plan", "done", "next", "fact", "question"] = "goal"
    id: Annotated[str, Field(min_length=1)] = "-"
    text: str = ""
    flag: Annotated[Literal["harmful", "outdated"], Field(alias="as")] = "harmful"


class State(Input):
    """Changes of the state slot."""

    op: Literal["state"]
    changes: Annotated[list[Change], Field(min_length=1)]


class Policy(Input):
    """What the retention policy would do, down to a share of the window."""

    op: Literal["policy"]
    target: Annotated[float, Field(gt=0, lt=1)] = 0.4


Element: TypeAlias = Annotated[
    Collapse | Rewording | State | Policy | ById, Field(discriminator="op")
]
"""One element of `edits`; a further op is a further class here and a line in `_request`."""


class EditInput(Input):
    """The arguments of `context_edit`."""

    edits: list[Element] = Field(default_factory=list[Element])
    apply: Literal["turn_end", "later"] = "turn_end"
    keep_cache: bool = False
    resume: Resume = True
    epoch: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        if not self.edits and self.given("apply") != "turn_end":
            beside = '"apply": "later"' if self.given("apply") else "no apply"
            allowed = 'at least one edit, or "apply": "turn_end" to apply the queue'
            refuse(f"edits is empty, with {beside}", allowed)
        return self


def run(engine: "Engine", asked: EditInput) -> str:
    """Queue the edits."""
    return engine.edit(call_of(asked))


def call_of(asked: EditInput) -> "EditCall":
    """The call as the engine takes it."""
    from context_editor.core.edits.requests import EditCall  # noqa: PLC0415 (only once a tool is called)

    return EditCall(
        edits=tuple(map(_request, asked.edits)),
        when=asked.apply,
        has_when="apply" in asked.model_fields_set,
        keep_cache=asked.keep_cache,
        resume=asked.given("resume"),
        epoch=asked.given("epoch"),
    )


def _request(element: Element) -> "EditRequest":
    from context_editor.core.edits.requests import EditRequest  # noqa: PLC0415 (only once a tool is called)

    match element:
        case Collapse():
            return EditRequest(element.op, _target(element), element.summary)
        case Rewording():
            return EditRequest(element.op, _target(element), element.text)
        case State():
            return EditRequest(element.op, changes=tuple(map(_change, element.changes)))
        case Policy():
            return EditRequest(element.op, ratio=element.given("target"))
        case ById():
            return EditRequest(element.op, id=element.id)


def _change(change: Change) -> "StateChange":
    from context_editor.core.slot import StateChange  # noqa: PLC0415 (only once a tool is called)

    return StateChange(
        change.do,
        change.given("kind") or "",
        change.given("id") or "",
        change.text,
        change.given("flag") or "",
    )


def _target(element: Targeted) -> "Target":
    from context_editor.core.names import Target  # noqa: PLC0415 (only once a tool is called)

    ref = element.given("ref")
    is_number = isinstance(ref, int)
    return Target(
        index=ref if is_number else element.given("index"),
        ref=None if is_number else ref,
        tool_use_id=element.given("tool_use_id"),
        to=element.given("to") if isinstance(element, Collapse) else None,
    )


TOOL: Final = Tool("context_edit", "Edit the conversation", DESCRIPTION, EditInput, run)
"""The tool as it is served."""
