"""What every tool's input has in common: strict models, and the names of rows."""

from typing import Annotated, Any, Final, NoReturn, TypeAlias

from pydantic import BaseModel, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

RULE: Final = "rule"
"""The type of an error whose own text says what is allowed; others are worded by the schema."""


class Input(BaseModel):
    """A tool's input, or a part of one: unknown keys and wrong types are refused.

    Nothing is converted. A field that may be left out has a default of its own type, so that null
    is as wrong as it is published; `given` tells a field that was sent from one that was not.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    def given(self, field: str) -> Any:  # noqa: ANN401 (a field holds what it is annotated with)
        """The value that was sent for a field; None where it was left out."""
        return getattr(self, field) if field in self.model_fields_set else None


def refuse(given: str, allowed: str) -> NoReturn:
    """Refuse fields that do not go together: what was given, and what is allowed."""
    # pydantic fills its text in as a template, so braces of a caller must not stand in it.
    words = f"{given}; allowed: {allowed}"
    raise PydanticCustomError(RULE, "{words}", {"words": words})


def refuse_value() -> NoReturn:
    """Refuse a value that is none of those that the schema allows; the schema words the error."""
    kind: Final = "unfit"
    raise PydanticCustomError(kind, kind)


def _row_name(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not (is_number or (isinstance(value, str) and value.strip())):
        refuse_value()
    return value


RowName: TypeAlias = Annotated[
    int | str, PlainValidator(_row_name), WithJsonSchema({"type": ["integer", "string"]})
]
"""A row by its number or by its ref, such as `r7k2` or `c7`."""
