"""Parsed JSON by shape: whatever is not of the shape asked for reads as empty.

A transcript is written by many releases and tools; a field of another type than expected is treated
as one that is missing.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Raw: TypeAlias = dict[str, Any]
"""A JSON object."""


def record_of(value: object) -> Raw:
    """The value as an object."""
    return cast("Raw", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """The value as a list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def records_of(value: object) -> list[Raw]:
    """The objects of a list, such as the blocks of a message's content."""
    return [cast("Raw", item) for item in list_of(value) if isinstance(item, dict)]


def word_of(record: Mapping[str, Any], name: str) -> str:
    """A field as text."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def words_of(value: object) -> list[str]:
    """The texts of a list."""
    return [item for item in list_of(value) if isinstance(item, str)]
