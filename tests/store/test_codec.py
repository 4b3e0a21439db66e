"""Encoding: every class has a plan of its own, and the outcome is the one of its fields taken one by one."""

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from context_editor.core.edits.model import Edit, Op, Replacement
from context_editor.core.rows import Call, Media, Piece, PieceForm
from context_editor.core.state import CarriedPart, Intent, Planted, SessionState, TurnChoices
from context_editor.store import codec


def encoded(value: object) -> object:
    """The JSON value of anything, read off its fields each time."""
    if dataclasses.is_dataclass(value):
        found = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        defaults = {f.name: default_of(f) for f in dataclasses.fields(value)}
        return {k: encoded(v) for k, v in found.items() if not is_default(v, *defaults[k])}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): encoded(item) for key, item in value.items()}
    return [encoded(item) for item in value] if isinstance(value, (list, tuple)) else value


def default_of(field: "dataclasses.Field[Any]") -> tuple[object, bool]:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory(), True
    return field.default, False


def is_default(value: object, default: object, is_made: bool) -> bool:  # noqa: FBT001 - a test's table
    return bool(value == default and (is_made or type(value) is type(default)))


WORDS = st.sampled_from(["", "a", "ü \ud800"])
NUMBERS = st.sampled_from([0, 1, -1])
FLAGS = st.booleans()
JSON = st.recursive(
    st.none() | FLAGS | NUMBERS | st.sampled_from([0.0, 1.0]) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
PIECES = st.builds(
    Piece,
    WORDS,
    st.sampled_from(PieceForm),
    st.just("user"),
    WORDS,
    st.none() | WORDS,
    st.none() | st.builds(Call, WORDS, WORDS, st.dictionaries(WORDS, JSON, max_size=2)),
    st.none() | WORDS,
    FLAGS,
    st.lists(st.builds(Media, st.just("image"), WORDS, WORDS, width=NUMBERS), max_size=2).map(
        tuple
    ),
    turn=NUMBERS,
    position_s=st.sampled_from([0.0, 1.5, 0, 1]),
    extra=st.dictionaries(WORDS, JSON, max_size=2),
)
PARTS = st.lists(st.builds(CarriedPart, WORDS, WORDS, st.none() | WORDS), max_size=2).map(tuple)
NAMES = st.lists(WORDS, max_size=2).map(tuple)
PLANTED = st.builds(Planted, WORDS, WORDS, WORDS, WORDS, FLAGS, PARTS, NAMES, NAMES)
EDITS = st.builds(Edit, WORDS, st.sampled_from(Op), NAMES, WORDS, saved_tokens=NUMBERS)
MADE = st.builds(
    Replacement, WORDS, st.sampled_from(Op), st.just("agent"), NAMES, WORDS, WORDS, WORDS
)
STATES = st.builds(
    SessionState,
    WORDS,
    refs=st.dictionaries(WORDS, WORDS, max_size=2),
    numbered_epoch=st.none() | NUMBERS,
    queue=st.lists(EDITS, max_size=2),
    choices=st.builds(TurnChoices, WORDS | FLAGS, FLAGS),
    replacements=st.dictionaries(WORDS, MADE, max_size=2),
    carried=st.dictionaries(WORDS, PARTS, max_size=2),
    intent=st.none()
    | st.builds(Intent, st.just(0.0), WORDS, WORDS, NUMBERS, WORDS, skipped=st.just({"q1": "x"})),
)


@given(PIECES | PLANTED | STATES | JSON)
def test_a_value_is_encoded_as_its_fields_are_one_by_one(value: object) -> None:
    assert codec.encoded(value) == encoded(value)


@given(PIECES | PLANTED)
def test_what_was_encoded_is_decoded_to_the_same(value: Piece | Planted) -> None:
    assert codec.decoded(type(value), codec.encoded(value)) == value
