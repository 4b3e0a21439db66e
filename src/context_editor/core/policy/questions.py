"""What is still held, and what was dropped: answered without a model (rules L14 and L15)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from context_editor.core.edits.ground import Sizer
from context_editor.core.edits.model import Replacement
from context_editor.core.names import Names
from context_editor.core.policy.gate import Fill
from context_editor.core.policy.preserved import is_result
from context_editor.core.policy.settings import PolicySettings
from context_editor.core.rows import Json, Row
from context_editor.core.sizes.wording import format_tokens

Record: TypeAlias = Mapping[str, Json]
"""One archive record, as it was read."""

SHOWN_ROWS: Final = 40
"""Rows of each list that an answer shows; a line says how many more there are."""

ARGUMENT_CHARS: Final = 80
"""The longest argument that an answer shows of a dropped call."""

_MAIN_ARGUMENTS: Final = ("file_path", "path", "url", "query", "pattern", "command", "description")


@dataclass(frozen=True)
class HeldRow:
    """One row that the conversation still holds.

    Attributes:
        name: Its number and ref.
        source: What it is.
        tokens: Its size.
        note: For a digest its replacement id, batch and sources; for a preserved row why it stays.
    """

    name: str
    source: str
    tokens: int
    note: str = ""


@dataclass(frozen=True)
class Held:
    """What the conversation still holds (rule L14).

    Attributes:
        fill: How full the context is.
        settings: The thresholds.
        inline: Tool results that stand whole.
        replaced: Rows that hold a replacement.
        preserved: Rows that the policy never takes.
    """

    fill: Fill
    settings: PolicySettings
    inline: tuple[HeldRow, ...]
    replaced: tuple[HeldRow, ...]
    preserved: tuple[HeldRow, ...]


def held(
    names: Names,
    sizer: Sizer,
    replacements: Mapping[str, Replacement],
    preserved: Mapping[str, str],
    limits: tuple[Fill, PolicySettings],
) -> Held:
    """What the conversation still holds; the rows are those of the listing, so both always agree.

    Args:
        names: The rows and their names.
        sizer: Sizes.
        replacements: Every replacement so far, by id.
        preserved: Why each preserved row stays, by anchor.
        limits: How full the context is, and the thresholds.
    """
    rows = names.conversation.listed

    def shown(row: Row, note: str = "") -> HeldRow:
        return HeldRow(names.words(row), row.source, sizer.row(row), note)

    return Held(
        *limits,
        tuple(shown(row) for row in rows if is_result(row) and row.replacement is None),
        tuple(
            shown(row, _replaced_note(row.replacement, replacements))
            for row in rows
            if row.replacement is not None
        ),
        tuple(shown(row, preserved[row.anchor]) for row in rows if row.anchor in preserved),
    )


def _replaced_note(name: str, replacements: Mapping[str, Replacement]) -> str:
    replacement = replacements.get(name)
    if replacement is None:
        return name
    sources = [t.partition(":")[2] for t in replacement.targets]
    held_of = f" of {', '.join(sources)}" if sources else ""
    return f"{name} {replacement.op} by {replacement.author}{held_of}, record {replacement.record}"


def held_words(answer: Held, *, approx: bool = False) -> str:
    """The answer to "what do you still have?"."""
    fill, settings = answer.fill, answer.settings
    share = f" ({round(100 * fill.ratio)} %)" if fill.max_tokens else ""
    used = format_tokens(fill.tokens, approx=approx)
    target = settings.target_percent
    kept = f"the last {settings.kept_results} tool results stay whole"
    lines = [
        f"Context: {used} of {format_tokens(fill.max_tokens)} tokens{share}",
        f"Policy: acts from {settings.trigger_percent} % down to {target} %; {kept}",
        *_list("Tool results inline", answer.inline),
        *_list("Replaced", answer.replaced),
        *_list("Preserved", answer.preserved),
    ]
    return "\n".join(lines)


def _list(title: str, rows: Sequence[HeldRow]) -> Iterator[str]:
    yield f"{title}: {len(rows)}, {format_tokens(sum(row.tokens for row in rows))}"
    for row in rows[-SHOWN_ROWS:]:
        note = f" ({row.note})" if row.note else ""
        yield f"  {row.name} {row.source} · {format_tokens(row.tokens)}{note}"
    if len(rows) > SHOWN_ROWS:
        yield f"  … and {len(rows) - SHOWN_ROWS} older"


# --- what was dropped -----------------------------------------------------------------------------


@dataclass(frozen=True)
class DroppedItem:
    """One row of an archive record.

    Attributes:
        tool: The tool; the row's kind where it was no tool.
        argument: Its main argument.
        malformed: How many of its items were malformed.
    """

    tool: str
    argument: str
    malformed: int = 0


@dataclass(frozen=True)
class DroppedBatch:
    """One archive record, as far as it can be understood.

    Attributes:
        id: Its batch id.
        ts: When it was written.
        reason: Why.
        items: What it holds.
        saved_tokens: The size before less the size of what stands there now; never negative.
    """

    id: str
    ts: str
    reason: str
    items: tuple[DroppedItem, ...]
    saved_tokens: int


def dropped(records: Iterable[Mapping[str, Json]]) -> tuple[DroppedBatch, ...]:
    """The archive's records as plain values, in order; an odd field reads as empty."""
    return tuple(map(_dropped_batch, records))


def holds(record: Record, text: str) -> bool:
    """Whether a text stands in a record: in an original, in a call's arguments or in what stands there now."""
    parts = [_text(record.get("digest_replacing_inline"))]
    for item in _items(record):
        args = item.get("args")
        given = args.values() if isinstance(args, Mapping) else ()
        parts += [_text(item.get("result")), *map(_text, given)]
    return any(text in part for part in parts)


def _dropped_batch(record: Mapping[str, Json]) -> DroppedBatch:
    before, after = _int(record.get("original_token_count")), _int(record.get("digest_token_count"))
    return DroppedBatch(
        _text(record.get("batch_id")) or "?",
        _text(record.get("ts")),
        _text(record.get("reason")),
        tuple(map(_dropped_item, _items(record))),
        max(0, before - after),
    )


def _items(record: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    items = record.get("items")
    if isinstance(items, str) or not isinstance(items, Sequence):
        return []
    return [item for item in items if isinstance(item, Mapping)]


def _dropped_item(item: Mapping[str, Json]) -> DroppedItem:
    args = item.get("args")
    given: Mapping[str, Json] = args if isinstance(args, Mapping) else {}
    named = [_text(given.get(name)) for name in _MAIN_ARGUMENTS]
    others = [value for value in given.values() if isinstance(value, str)]
    argument = " ".join(next(filter(None, (*named, *others)), "").split())
    tool = _text(item.get("tool_name")) or _text(item.get("kind"))
    return DroppedItem(tool, argument[:ARGUMENT_CHARS], _int(item.get("malformed")))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _int(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def dropped_words(batches: Sequence[DroppedBatch], unreadable: int = 0) -> str:
    """The answer to "what got dropped?".

    Args:
        batches: The records.
        unreadable: Lines of the archive that could not be read; they hide no other line.
    """
    items = sum(len(batch.items) for batch in batches)
    saved = format_tokens(sum(batch.saved_tokens for batch in batches))
    lines = [f"Archived: {items} item(s) in {len(batches)} record(s), {saved} tokens saved"]
    lines += [_batch_line(batch) for batch in batches]
    if unreadable:
        lines.append(f"Unreadable: {unreadable} line(s) of the archive")
    return "\n".join(lines)


def _batch_line(batch: DroppedBatch) -> str:
    saved = format_tokens(batch.saved_tokens)
    items = "; ".join(map(_item_words, batch.items)) or "no items"
    return f"{batch.id} {batch.ts} {batch.reason}, {saved} saved: {items}"


def _item_words(item: DroppedItem) -> str:
    malformed = f" ({item.malformed} malformed)" if item.malformed else ""
    return f"{item.tool} {item.argument}".rstrip() + malformed


def dropped_detail(record: Mapping[str, Json]) -> str:
    """One record whole: every original as it stood, behind a line that says what it is."""
    batch = _dropped_batch(record)
    parts = [_batch_line(batch)]
    for shown, item in zip(batch.items, _items(record), strict=True):
        parts.append(f"=== {_item_words(shown)} ===\n{_text(item.get('result'))}")
    digest = _text(record.get("digest_replacing_inline"))
    parts.append(
        f"=== stands there now ===\n{digest}"
        if digest
        else "=== only a pointer stands there now ==="
    )
    return "\n\n".join(parts)
