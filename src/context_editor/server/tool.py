"""What a tool is to this server: published facts, an input model, and one call on the engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ValidationError

from context_editor.errors import RefusedError
from context_editor.server.inputs import Input
from context_editor.server.refusals import words_of
from context_editor.server.schema import Schema, published

if TYPE_CHECKING:
    # The list of tools is answered before anything of the engine is imported.
    from context_editor.engine.session import Engine

InputT = TypeVar("InputT", bound=Input)


@dataclass(frozen=True)
class Tool(Generic[InputT]):
    """One tool.

    Attributes:
        name: Its name.
        title: Its name for people.
        description: What the model reads; part of the product's text, with a budget in tokens.
        model: Its input.
        run: Answers a checked input with a text for the model.
        is_read_only: Whether a call leaves the conversation and its queue as they are.
    """

    name: str
    title: str
    description: str
    model: type[InputT]
    run: Callable[["Engine", InputT], str]
    is_read_only: bool = False

    @cached_property
    def schema(self) -> Schema:
        """The schema that is published."""
        return published(self.model)

    def answer(self, engine: Callable[[], "Engine"], arguments: Mapping[str, Any]) -> str:
        """Check the arguments, then answer.

        Args:
            engine: Opens the session; called only once the arguments have proved right.
            arguments: What the model sent.

        Raises:
            RefusedError: The arguments do not fit, or the engine refuses the request.
        """
        try:
            asked = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise RefusedError(words_of(self.name, error, self.schema)) from error
        return self.run(engine(), asked)
