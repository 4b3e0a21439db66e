"""The list of the rows that an apply emitted: written before the hand-over, read at the confirmation."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from context_editor.core.apply.emissions import Build, Keep
from context_editor.core.apply.model import Plan
from context_editor.core.conversation import Conversation
from context_editor.core.names import Names
from context_editor.core.prints import emitted_print, stored_prints
from context_editor.core.state import Planted
from context_editor.engine.settling import stored_groups
from context_editor.errors import TranscriptError
from context_editor.store import codec

KEPT_PARTS: Final = (3, 4)
"""How many parts a kept row has in the list: its id, its print, its refs, and all ids where more ride behind it."""


def planted_document(made: Plan, conversation: Conversation, names: Names) -> bytes:
    """The emitted rows as the confirmation must find them, in order, and the numbering before the apply.

    A kept row, as nearly all are, stands as a short list; a built one as an object.
    """
    prints = stored_prints(conversation)
    groups = {group[0]: group for group in stored_groups(conversation)}
    refs = _refs_by_handle(conversation, names.refs)
    rows = [
        _kept(emission, prints, groups, refs)
        if isinstance(emission, Keep)
        else codec.encoded(_built(emission, emitted_print(emission, prints), names))
        for emission in made.emissions
    ]
    numbering = [names.refs[row.anchor] for row in conversation.listed]
    document = {"planted": rows, "numbering": numbering}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def planted_in(path: Path) -> tuple[Planted, ...]:
    """The rows that an apply emitted, as its list says; also as earlier versions wrote it.

    Raises:
        TranscriptError: The list cannot be read.
    """
    try:
        rows: list[object] = json.loads(path.read_bytes())["planted"]
        return tuple(_planted(row, f"planted[{at}]") for at, row in enumerate(rows))
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"the list of emitted rows {path} cannot be read: {error}"
        raise TranscriptError(msg) from error


def _planted(row: object, where: str) -> Planted:
    if not isinstance(row, list):
        return codec.decoded(Planted, row, where)
    parts = cast("list[object]", row)
    if len(parts) not in KEPT_PARTS:
        msg = f"{where}: {len(parts)} parts are not one of {KEPT_PARTS}"
        raise codec.CodecError(msg)
    handle, row_print = (codec.decoded(str, part, where) for part in parts[:2])
    refs, *groups = (codec.decoded(tuple[str, ...], part, where) for part in parts[2:])
    return Planted(handle, row_print, handles=groups[0] if groups else (handle,), refs=refs)


def _kept(
    emission: Keep,
    prints: Mapping[str, str],
    groups: Mapping[str, tuple[str, ...]],
    refs: Mapping[str, list[str]],
) -> tuple[Any, ...]:
    handle = emission.handle
    group = groups.get(handle, (handle,))
    if len(group) == 1:
        return handle, prints[handle], refs.get(handle, ())
    return handle, prints[handle], [ref for one in group for ref in refs.get(one, ())], group


def _refs_by_handle(conversation: Conversation, refs: Mapping[str, str]) -> dict[str, list[str]]:
    """The refs of the rows that begin in each stored row, in order."""
    found: dict[str, list[str]] = {}
    for row in conversation.rows:
        ref = refs.get(row.anchor)
        if ref is not None:
            found.setdefault(row.pieces[0].handle, []).append(ref)
    return found


def _built(emission: Build, row_print: str, names: Names) -> Planted:
    anchored = names.conversation.by_anchor.get(emission.anchor)
    row = anchored if not emission.results else None
    handle = (row.pieces[0].handle,) if row else ()
    if anchored is None and emission.anchor.startswith("u:"):
        # A row that a collapse had taken in: what names it by its id of then finds it again.
        handle = (emission.anchor.removeprefix("u:"),)
    return Planted(
        "",
        row_print,
        emission.replacement,
        emission.anchor if emission.anchor.startswith("t:") else "",
        emission.service,
        emission.carried,
        handle,
        (names.refs[row.anchor],) if row and row.anchor in names.refs else (),
    )
