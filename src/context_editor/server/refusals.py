"""A refused input in words: a line for each mistake, saying what was given and what is allowed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from context_editor.server.inputs import RULE
from context_editor.server.schema import Schema

MAX_LINES: Final = 5
"""Mistakes that are spelled out; who makes more of them reads the schema again anyway."""

MAX_GIVEN_CHARS: Final = 60
"""How much of a wrong value is shown: enough to know it again."""

_UNION_WORDS: Final[Mapping[tuple[str, ...], str]] = {
    ("integer", "string"): "a row number or a ref such as r7k2",
    ("string", "boolean"): "a text, true or false",
}
"""What the two unions stand for: a row's name, and how a conversation goes on."""

_BOUND_WORDS: Final[Mapping[str, str]] = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "exclusiveMaximum": "below",
}
"""How the limits of a number are said."""

_TYPE_WORDS: Final[Mapping[str, str]] = {
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def words_of(tool: str, error: ValidationError, schema: Schema) -> str:
    """What a model is told when its input does not fit the schema.

    Args:
        tool: The tool's name.
        error: What does not fit.
        schema: The schema that the tool publishes.
    """
    mistakes = error.errors(include_url=False)
    lines = [f"- {_line(mistake, schema)}" for mistake in mistakes[:MAX_LINES]]
    more = len(mistakes) - len(lines)
    if more:
        lines.append(f"- and {more} more")
    return "\n".join((f"{tool}: this input is refused; nothing was read or changed.", *lines))


def _line(mistake: ErrorDetails, schema: Schema) -> str:
    loc = list(mistake["loc"])
    kind = mistake["type"]
    if kind == "extra_forbidden":
        part, path = _part(schema, loc[:-1])
        name = _joined(path, str(loc[-1]))
        given = given_words(mistake["input"])
        return f"{name} is not a key here (given: {given}); allowed keys: {_keys(part)}"
    part, path = _part(schema, loc)
    if kind == RULE:
        return f"{path}: {mistake['msg']}" if path else mistake["msg"]
    if kind in {"union_tag_not_found", "union_tag_invalid"}:
        return _tag_line(mistake, part, path)
    if kind == "missing":
        return f"{path} is missing; allowed: {allowed_words(part)}"
    return f"{path} is {given_words(mistake['input'])}; allowed: {allowed_words(part)}"


def _tag_line(mistake: ErrorDetails, part: Schema, path: str) -> str:
    """A union whose branch the given tag does not name."""
    value: Mapping[str, object] = mistake["input"]
    given = f"is {given_words(value['op'])}" if "op" in value else "is missing"
    return f"{_joined(path, 'op')} {given}; allowed: {', '.join(_tags(part))}"


def _part(schema: Schema, loc: Sequence[int | str]) -> tuple[Schema, str]:
    """The part of the schema for a place in the input, and that place as it is written."""
    part, path = schema, ""
    for step in loc:
        if isinstance(step, int):
            part, path = part.get("items", {}), f"{path}[{step}]"
        elif step in part.get("properties", {}):
            part, path = part["properties"][step], _joined(path, step)
        elif "oneOf" in part:
            part = _branch(part, step)
    return part, path


def _branch(part: Schema, tag: str) -> Schema:
    branches: list[Schema] = part["oneOf"]
    return next(branch for branch in branches if tag in _tags_of(branch))


def _tags(part: Schema) -> list[str]:
    return [tag for branch in part.get("oneOf", ()) for tag in _tags_of(branch)]


def _tags_of(branch: Schema) -> list[str]:
    op = branch["properties"]["op"]
    return [op["const"]] if "const" in op else op["enum"]


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _keys(part: Schema) -> str:
    return ", ".join(part.get("properties", ())) or "none"


def given_words(value: object) -> str:
    """A value as it was sent, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_GIVEN_CHARS else f"{text[: MAX_GIVEN_CHARS - 1]}…"


def allowed_words(part: Schema) -> str:
    """What a schema lets pass, in words."""
    if "enum" in part:
        return ", ".join(map(str, part["enum"]))
    if "const" in part:
        return str(part["const"])
    kinds = part.get("type", "object")
    if isinstance(kinds, str):
        return _TYPE_WORDS[kinds] + _bounds(part)
    names = " or ".join(_TYPE_WORDS[kind] for kind in kinds)
    return _UNION_WORDS.get(tuple(kinds), names) + _bounds(part)


def _bounds(part: Mapping[str, Any]) -> str:
    known = (f" {word} {part[key]}" for key, word in _BOUND_WORDS.items() if key in part)
    return "".join(known) or (" that is not empty" if part.get("minLength") else "")
