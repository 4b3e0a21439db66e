"""Inputs are strict: what does not fit is refused before anything is read, and told why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped] # it ships no types
import pytest

from context_editor.server.registry import TOOLS

if TYPE_CHECKING:
    from tests.server.conftest import Office

COLLAPSE = {"op": "collapse", "index": 2, "to": 4, "summary": "s"}
SUMMARIZE = {"op": "summarize", "tool_use_id": "toolu_1", "text": "t"}

WRONG = [
    pytest.param("context_list", {"cuont": 3}, ["cuont", "3", "count, from, to"], id="unknown key"),
    pytest.param("context_list", {"count": True}, ["count", "true", "0 to 500"], id="bool for int"),
    pytest.param(
        "context_list", {"count": "40"}, ["count", '"40"', "an integer"], id="text for int"
    ),
    pytest.param(
        "context_list", {"count": 4.0}, ["count", "4.0", "an integer"], id="float for int"
    ),
    pytest.param("context_list", {"count": None}, ["count", "null", "an integer"], id="null"),
    pytest.param(
        "context_list", {"count": 501}, ["count", "501", "0 to 500"], id="count too large"
    ),
    pytest.param("context_list", {"count": -1}, ["count", "-1", "0 to 500"], id="count negative"),
    pytest.param("context_list", {"from": True}, ["from", "true", "a ref"], id="bool for a row"),
    pytest.param("context_list", {"row": ""}, ["row", '""', "a ref"], id="blank row"),
    pytest.param("context_list", {"row": [1]}, ["row", "[1]", "a ref"], id="list for a row"),
    pytest.param(
        "context_list", {"start": 1}, ["start", "allowed keys"], id="a field by its own name"
    ),
    pytest.param("context_list", {"grep": 1}, ["grep", "a string"], id="int for text"),
    pytest.param(
        "context_list", {"review": "yes"}, ["review", "true or false"], id="text for bool"
    ),
    pytest.param("context_list", {"rules": 1}, ["rules", "true or false"], id="int for bool"),
    pytest.param("context_edit", {"edits": {}}, ["edits", "{}", "a list"], id="edits no list"),
    pytest.param(
        "context_edit", {"edits": ["x"]}, ["edits[0]", '"x"', "an object"], id="edit no object"
    ),
    pytest.param(
        "context_edit",
        {"edits": [{"op": "fold", "index": 2}]},
        ["edits[0].op", '"fold"', "collapse, summarize, describe, rewrite, state"],
        id="unknown op (C1)",
    ),
    pytest.param("context_edit", {"edits": [{"index": 2}]}, ["edits[0].op is missing"], id="no op"),
    pytest.param(
        "context_edit",
        {"edits": [SUMMARIZE, {"op": "collapse", "index": 2, "to": 4}]},
        ["edits[1].summary is missing"],
        id="no summary",
    ),
    pytest.param(
        "context_edit",
        {"edits": [{**SUMMARIZE, "to": 3}]},
        ["edits[0].to is not a key here", "op, index, ref, tool_use_id, text"],
        id="to where no range is",
    ),
    pytest.param(
        "context_edit",
        {"edits": [{**SUMMARIZE, "index": 2}]},
        ["edits[0]", "index and tool_use_id", "exactly one of index, ref, tool_use_id"],
        id="two targets",
    ),
    pytest.param(
        "context_edit",
        {"edits": [{"op": "rewrite", "text": "t"}]},
        ["edits[0]", "none given", "exactly one of index, ref, tool_use_id"],
        id="no target",
    ),
    pytest.param(
        "context_edit",
        {"edits": [{"op": "collapse", "tool_use_id": "toolu_1", "to": 4, "summary": "s"}]},
        ["edits[0]", "to and tool_use_id"],
        id="to with tool_use_id",
    ),
    pytest.param(
        "context_edit", {"edits": [{"op": "cancel"}]}, ["edits[0].id is missing"], id="no id"
    ),
    pytest.param(
        "context_edit", {}, ["edits is empty", '"apply": "turn_end"'], id="nothing at all"
    ),
    pytest.param("context_edit", {"edits": []}, ["edits is empty", "no apply"], id="no edits"),
    pytest.param(
        "context_edit", {"edits": [], "apply": "later"}, ['"apply": "later"'], id="later, no edits"
    ),
    pytest.param(
        "context_edit", {"apply": "now"}, ["apply", '"now"', "turn_end, later"], id="when"
    ),
    pytest.param(
        "context_edit",
        {"edits": [SUMMARIZE], "resume": 1},
        ["resume", "a text, true or false"],
        id="int for resume",
    ),
    pytest.param(
        "context_edit",
        {"edits": [SUMMARIZE], "resume": " "},
        ["resume", "a text, true or false"],
        id="blank resume",
    ),
    pytest.param(
        "context_edit",
        {"edits": [SUMMARIZE], "keep_cache": "true"},
        ["keep_cache", "true or false"],
        id="text for keep_cache",
    ),
    pytest.param(
        "context_edit",
        {"edits": [{"op": "policy", "target": 2}]},
        ["edits[0].target is 2", "a number above 0 below 1"],
        id="target",
    ),
    pytest.param(
        "context_molt",
        {"summary": "s", "session_journal_path": "p", "keep_last": True},
        ["keep_last is true", "an integer or null from 0"],
        id="bool for keep_last",
    ),
    pytest.param(
        "context_edit",
        {"edits": [SUMMARIZE], "epoch": -1},
        ["epoch", "an integer from 0"],
        id="epoch",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), WRONG)
def test_a_wrong_input_is_refused_with_the_key_what_was_given_and_what_is_allowed(
    office: Office, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    answer = office.ask(tool, **arguments)

    assert answer.is_refusal
    for word in words:
        assert word in answer.text


@pytest.mark.parametrize(("tool", "arguments", "words"), WRONG)
def test_a_wrong_input_is_refused_before_anything_is_written(
    office: Office, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    del words

    office.ask(tool, **arguments)

    assert not office.session.data.exists()


def test_a_wrong_input_is_refused_before_anything_is_read(office: Office) -> None:
    office.session.path.unlink()

    assert "cuont" in office.ask("context_list", cuont=1).text


def test_every_mistake_has_a_line_and_many_are_counted(office: Office) -> None:
    answer = office.ask("context_list", a=1, b=2, c=3, d=4, e=5, f=6, g=7)

    assert [line[:3] for line in answer.text.splitlines()[1:]] == [
        "- a",
        "- b",
        "- c",
        "- d",
        "- e",
        "- a",
    ]
    assert answer.text.endswith("- and 2 more")


def test_a_long_wrong_value_is_shown_shortened(office: Office) -> None:
    assert len(office.ask("context_list", count="x" * 5000).text) < 300


RIGHT = [
    pytest.param("context_list", {}, id="nothing"),
    pytest.param("context_list", {"count": 0}, id="count 0"),
    pytest.param("context_list", {"count": 500, "from": 1, "to": "r7k2"}, id="a window"),
    pytest.param(
        "context_list", {"row": 3, "grep": "", "review": False, "rules": True}, id="the rest"
    ),
    pytest.param("context_edit", {"edits": [COLLAPSE, SUMMARIZE]}, id="two edits"),
    pytest.param(
        "context_edit", {"edits": [{"op": "describe", "ref": "r7k2", "text": "t"}]}, id="ref"
    ),
    pytest.param(
        "context_edit", {"edits": [{"op": "rewrite", "ref": 2, "text": "t"}]}, id="ref a number"
    ),
    pytest.param("context_edit", {"edits": [], "apply": "turn_end"}, id="apply what is queued"),
    pytest.param("context_edit", {"apply": "turn_end", "resume": False, "epoch": 0}, id="no edits"),
    pytest.param(
        "context_edit",
        {
            "edits": [{"op": "restore", "id": "c1"}, {"op": "cancel", "id": "q1"}],
            "apply": "later",
            "keep_cache": True,
            "resume": "go on",
            "epoch": 3,
        },
        id="everything",
    ),
]


@pytest.mark.parametrize(("tool", "arguments"), RIGHT)
def test_what_the_contract_allows_fits_the_model_and_the_published_schema(
    tool: str, arguments: dict[str, Any]
) -> None:
    TOOLS[tool].model.model_validate(arguments)
    jsonschema.validate(arguments, TOOLS[tool].schema)


CROSS_FIELD = {
    *("two targets", "no target", "to with tool_use_id", "blank row", "float for int"),
    *("nothing at all", "no edits", "later, no edits", "blank resume"),
}
"""Cases that a schema does not refuse by itself: fields that depend on others, blanks, and 4.0."""


@pytest.mark.parametrize(
    ("tool", "arguments", "words"), [case for case in WRONG if case.id not in CROSS_FIELD]
)
def test_a_wrong_shape_is_wrong_by_the_published_schema_as_well(
    tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    del words

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(arguments, TOOLS[tool].schema)


def _objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Every part of a schema that describes an object."""
    parts = [*schema.get("properties", {}).values(), *schema.get("oneOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    inner = [found for part in parts for found in _objects(part)]
    return [schema, *inner] if schema.get("type") == "object" else inner


@pytest.mark.parametrize("tool", list(TOOLS))
def test_a_published_schema_is_closed_at_every_level_and_refers_to_nothing(tool: str) -> None:
    schema = TOOLS[tool].schema

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert len(_objects(schema)) == str(schema).count("'type': 'object'")
    assert all(found["additionalProperties"] is False for found in _objects(schema))
    assert "$ref" not in str(schema)
    assert "_host" not in str(schema)
