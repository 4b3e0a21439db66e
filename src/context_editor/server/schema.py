"""The JSON Schema that a tool publishes: pydantic's, without what no reader needs."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

Schema: TypeAlias = dict[str, Any]

_NOISE = frozenset({"title", "default", "discriminator", "$defs", "description"})
"""Keywords that repeat what a name, the tool's description or the rest of the schema says."""


def published(model: type[BaseModel]) -> Schema:
    """The schema of a tool's input: nothing referred to, no titles, no defaults."""
    whole = model.model_json_schema(by_alias=True)
    return _slimmed(whole, whole.get("$defs", {}))


def _slimmed(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    if "$ref" in schema:
        return _slimmed(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    # A constant says its type itself.
    noise = _NOISE | {"type"} if "const" in schema else _NOISE
    kept = {key: value for key, value in schema.items() if key not in noise}
    parts = kept.get("properties", {})
    if parts:
        # What an object is comes first, whatever class its field was inherited from.
        names = sorted(parts, key=lambda name: name != "op")
        kept["properties"] = {name: _slimmed(parts[name], definitions) for name in names}
    if "items" in kept:
        kept["items"] = _slimmed(kept["items"], definitions)
    if "oneOf" in kept:
        kept["oneOf"] = [_slimmed(branch, definitions) for branch in kept["oneOf"]]
    return kept
