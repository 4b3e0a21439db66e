"""Dataclasses to JSON values and back, strictly: what does not fit the type is refused, never guessed.

Standard library only: the prompt and stop hooks read the state without any third-party import.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

Decoded = TypeVar("Decoded")


PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What JSON holds as it is."""

_kind: Final[Callable[[object], Any]] = type
"""The class of a value, as a key."""


class CodecError(ValueError):
    """A value that does not fit its type; the text names the place."""


def encoded(value: object) -> Any:
    """The JSON value of a dataclass, an enum or a container of them; fields at their default are left out."""
    kind = _kind(value)
    return value if kind in PLAIN else _encoder(kind)(value)


@cache
def _encoder(kind: type) -> Callable[[Any], Any]:
    """How a value of a type that JSON does not hold as it is becomes one that it does."""
    if dataclasses.is_dataclass(kind):
        return _fields_encoder(kind)
    if issubclass(kind, Enum):
        return attrgetter("value")
    if issubclass(kind, Mapping):
        return _encoded_mapping
    return _encoded_list if issubclass(kind, (list, tuple)) else _as_it_is


def _encoded_mapping(value: Mapping[Any, Any]) -> Any:
    return {
        str(key): item if (kind := _kind(item)) in PLAIN else _encoder(kind)(item)
        for key, item in value.items()
    }


def _encoded_list(value: Sequence[Any]) -> Any:
    return [item if (kind := _kind(item)) in PLAIN else _encoder(kind)(item) for item in value]


def _as_it_is(value: Any) -> Any:
    return value


def _fields_encoder(kind: Any) -> Callable[[Any], Any]:
    """The encoder of one dataclass: its fields, what each is by default, and how they are fetched, found once."""
    fields = [(f.name, *_default_of(f)) for f in dataclasses.fields(kind)]
    # With two more, for of one name alone `attrgetter` gives no tuple.
    fetch = attrgetter(*(name for name, _, _ in fields), "__class__", "__class__")

    def encode(value: Any) -> Any:
        made: dict[str, Any] = {}
        for (name, default, default_kind), item in zip(fields, fetch(value), strict=False):
            if item is default:
                continue
            kind = _kind(item)
            if (default_kind is None or kind is default_kind) and item == default:
                continue
            made[name] = item if kind in PLAIN else _encoder(kind)(item)
        return made

    return encode


def _default_of(field: "dataclasses.Field[Any]") -> tuple[Any, type | None]:
    """A field's default, and the type that a value must have to be it; None where being equal is enough."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory(), None
    return field.default, type(field.default)


def decoded(kind: type[Decoded], value: object, where: str = "document") -> Decoded:
    """The value as `kind`.

    Raises:
        CodecError: A key is unknown or missing, or a value has another type; the place is named.
    """
    return typing.cast("Decoded", _decode(kind, value, where))


def _decode(kind: Any, value: Any, where: str) -> Any:  # noqa: PLR0911 (one branch a kind of type)
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(typing.cast("type", kind), value, where)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), value, where)
    if origin is Literal:
        return _checked(value in get_args(kind), value, where, f"one of {get_args(kind)}")
    if origin in (list, tuple, dict) or (origin is not None and issubclass(origin, Mapping)):
        return _decode_container(origin, get_args(kind), value, where)
    if kind is Any or kind is object:
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _decode_enum(kind, value, where)
    return _decode_scalar(kind, value, where)


def _checked(is_good: bool, value: Any, where: str, allowed: str) -> Any:  # noqa: FBT001 (an assertion)
    if not is_good:
        msg = f"{where}: {value!r:.80} is not {allowed}"
        raise CodecError(msg)
    return value


def _decode_scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if kind is None or kind is type(None):
        return _checked(value is None, value, where, "null")
    return _checked(type(value) is kind, value, where, kind.__name__)


def _decode_enum(kind: type[Enum], value: Any, where: str) -> Enum:
    try:
        return kind(value)
    except ValueError as error:
        allowed = ", ".join(str(member.value) for member in kind)
        msg = f"{where}: {value!r:.80} is not one of {allowed}"
        raise CodecError(msg) from error


def _decode_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if any(get_origin(kind) is Sequence for kind in kinds):
        return value  # `core.rows.Json`: any JSON value, as it came
    reasons = []
    for kind in sorted(kinds, key=lambda k: k is float):
        try:
            return _decode(kind, value, where)
        except CodecError as error:
            reasons.append(str(error))
    msg = f"{where}: {'; '.join(reasons)}"
    raise CodecError(msg)


def _decode_container(origin: Any, arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    if origin is list or origin is tuple:
        _checked(isinstance(value, list), value, where, "a list")
        return origin(_decode(arguments[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    _checked(isinstance(value, dict), value, where, "an object")
    return {key: _decode(arguments[1], item, f"{where}.{key}") for key, item in value.items()}


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _decode_dataclass(kind: type, value: Any, where: str) -> Any:
    _checked(isinstance(value, dict), value, where, "an object")
    hints = _hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(fields))
    _checked(not unknown, unknown, where, f"a key of {kind.__name__}")
    missing = sorted(
        name
        for name, f in fields.items()
        if name not in value
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    )
    _checked(not missing, value, where, f"complete: {', '.join(missing)} missing")
    return kind(
        **{name: _decode(hints[name], item, f"{where}.{name}") for name, item in value.items()}
    )
