"""Published sessions as steps: what came in between two responses, and what `usage` said.

A small reader for measuring only: it takes what a growth figure needs and forgives what it does not
know.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from context_editor.core.rows import Media
from context_editor.core.sizes import Ruler, Sample, TextKind, image_dimensions

SENT_ATTACHMENTS: Final = frozenset({"nested_memory", "queued_command", "edited_text_file", "file"})
"""Attachment rows whose content is sent as it is stored, and that stand between two responses."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One response of a session's main chain.

    Attributes:
        sample: Its usage, the largest figures over its rows.
        previous: The response that it follows; None where the chain begins.
        reply: The rows of that previous response.
        new: The user and attachment rows between the two.
    """

    sample: Sample
    previous: Sample | None
    reply: tuple[Record, ...]
    new: tuple[Record, ...]

    @property
    def growth_tokens(self) -> int | None:
        """Growth of the context; None where a chain begins, the model changes or it shrank."""
        if self.previous is None or self.previous.model != self.sample.model:
            return None
        growth = self.sample.context_tokens - self.previous.context_tokens
        return growth if growth > 0 else None


@dataclass
class _Session:
    """The rows of one transcript, indexed."""

    by_uuid: dict[str, Record] = field(default_factory=dict)
    results: dict[str, Record] = field(default_factory=dict)
    responses: dict[str, list[Record]] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)

    def add(self, row: Record) -> None:
        """Index one row of the main chain."""
        if "uuid" in row:
            self.by_uuid[row["uuid"]] = row
        if row.get("type") == "user":
            for block in _blocks(row):
                if block.get("type") == "tool_result":
                    self.results.setdefault(block["tool_use_id"], row)
        if row.get("type") == "assistant" and row["message"].get("model") != "<synthetic>":
            self.responses.setdefault(row["message"]["id"], []).append(row)
            self.owner[row["uuid"]] = row["message"]["id"]


def host_version(path: Path) -> tuple[int, ...]:
    """The host's version as the file's name gives it; (0,) where it gives none."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)\.jsonl$", path.name)
    return tuple(map(int, found.groups())) if found else (0,)


def steps_of(path: Path) -> list[Step]:
    """The responses of a transcript's main chain, in file order."""
    session = _Session()
    for row in _rows(path):
        if not row.get("isSidechain"):
            session.add(row)
    return [_step(session, message_id) for message_id in session.responses]


def reply_tokens(rows: tuple[Record, ...], ruler: Ruler) -> int:
    """The estimated size of a response: text, calls and thinking."""
    return sum(_reply_block(block, ruler) for row in rows for block in _blocks(row))


def new_tokens(rows: tuple[Record, ...], ruler: Ruler) -> int:
    """The estimated size of what followed a response: results, prompts, attachments, media."""
    return sum(_row_tokens(row, ruler) for row in rows)


def _rows(path: Path) -> Iterator[Record]:
    for line in path.read_text("utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _blocks(row: Record) -> list[Record]:
    content = row.get("message", {}).get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _step(session: _Session, message_id: str) -> Step:
    rows = session.responses[message_id]
    between: list[Record] = []
    at = session.by_uuid.get(rows[0].get("parentUuid") or "")
    while at is not None and at["uuid"] not in session.owner:
        between.append(at)
        at = session.by_uuid.get(at.get("parentUuid") or "")
    before = session.responses[session.owner[at["uuid"]]] if at is not None else []
    # Results of parallel calls hang beside the chain in older hosts: take them by their call's id.
    parallel = (
        session.results[block["id"]]
        for row in before
        for block in _blocks(row)
        if block.get("type") == "tool_use" and block["id"] in session.results
    )
    new = {row["uuid"]: row for row in (*reversed(between), *parallel)}
    previous = _sample(before) if before else None
    return Step(_sample(rows), previous, tuple(before), tuple(new.values()))


def _sample(rows: list[Record]) -> Sample:
    samples = [_row_sample(row) for row in rows]
    merged = samples[0]
    for sample in samples[1:]:
        merged = merged.merged(sample)
    return merged


def _row_sample(row: Record) -> Sample:
    usage = row["message"].get("usage") or {}
    return Sample(
        model=row["message"].get("model") or "",
        input_tokens=usage.get("input_tokens") or 0,
        cache_read=usage.get("cache_read_input_tokens") or 0,
        cache_creation=usage.get("cache_creation_input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        message_id=row["message"]["id"],
    )


def _reply_block(block: Record, ruler: Ruler) -> int:
    match block.get("type"):
        case "text":
            return ruler.text(block["text"], TextKind.PROSE)
        case "tool_use":
            return ruler.call(block["input"])
        case "thinking":
            return ruler.thinking(block["thinking"], len(block.get("signature") or ""))
        case _:
            return 0


def _row_tokens(row: Record, ruler: Ruler) -> int:
    if row.get("type") == "attachment":
        return _attachment(row["attachment"], ruler)
    if row.get("type") != "user":
        return 0
    return sum(_new_block(block, ruler) for block in _blocks(row))


def _attachment(attachment: Record, ruler: Ruler) -> int:
    content = attachment.get("content") or attachment.get("prompt") or ""
    if isinstance(content, dict):
        content = content.get("content") or ""
    is_sent = attachment.get("type") in SENT_ATTACHMENTS and isinstance(content, str)
    return ruler.framed(content) if is_sent and content else 0


def _new_block(block: Record, ruler: Ruler) -> int:
    match block.get("type"):
        case "text":
            return ruler.framed(block["text"])
        case "tool_result":
            return _result(block.get("content") or "", ruler)
        case "image" | "document":
            return _media(block, ruler)
        case _:
            return 0


def _result(content: str | list[Record], ruler: Ruler) -> int:
    if isinstance(content, str):
        return ruler.framed(content)
    texts = "\n".join(part["text"] for part in content if part.get("type") == "text")
    return ruler.framed(texts) + sum(
        _media(part, ruler) for part in content if part.get("type") in {"image", "document"}
    )


def _media(block: Record, ruler: Ruler) -> int:
    data = block.get("source", {}).get("data") or ""
    if block["type"] == "document":
        return ruler.media(Media(kind="document", media_type="", data=""))
    width, height = image_dimensions(data)
    return ruler.image(width, height)
