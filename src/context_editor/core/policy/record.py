"""The archive record of an applied edit, the same for every author (rules L11 to L13)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final, Literal, TypeAlias

from context_editor.core.policy.citations import sources_of
from context_editor.core.policy.digesting import malformed_items
from context_editor.core.policy.evidence import channel_of
from context_editor.core.rows import Json, Row

RECORD_SCHEMA: Final = 1
"""The version of a record; readers keep fields that they do not know."""

Reason: TypeAlias = Literal["agent_edit", "disposable", "token_budget_exceeded", "molt", "forced"]
"""Why content was replaced."""

_BATCH_ID: Final = re.compile(r"offload_(\d{4,})")


@dataclass(frozen=True)
class RecordHead:
    """What identifies a record.

    Attributes:
        ts: When, as ISO 8601 with offset.
        session_id: The host's id of the session.
        batch_id: Its id, such as `offload_0007`; rising in a session.
        reason: Why content was replaced.
    """

    ts: str
    session_id: str
    batch_id: str
    reason: str


@dataclass(frozen=True)
class Exchange:
    """What stands there afterwards, and the sizes.

    Attributes:
        digest: The text that stands inline; None where only a pointer does.
        original_tokens: The size before.
        digest_tokens: The size of the text; counted as 0 where there is none.
    """

    digest: str | None
    original_tokens: int
    digest_tokens: int = 0


def archive_record(
    head: RecordHead,
    items: Sequence[Mapping[str, Json]],
    exchange: Exchange,
    sources: Sequence[str] = (),
) -> dict[str, Json]:
    """The record of one edit or one batch.

    Args:
        head: What identifies it.
        items: Its rows, from `record_item`.
        exchange: What stands there afterwards.
        sources: Addresses that the rows named.
    """
    ids = [item["tool_use_id"] for item in items if item.get("tool_use_id")]
    return {
        "schema": RECORD_SCHEMA,
        "ts": head.ts,
        "session_id": head.session_id,
        "batch_id": head.batch_id,
        "reason": head.reason,
        "items": [dict(item) for item in items],
        "digest_replacing_inline": exchange.digest,
        "original_token_count": exchange.original_tokens,
        "digest_token_count": 0 if exchange.digest is None else exchange.digest_tokens,
        "tool_use_ids": ids,
        "source": list(sources),
    }


def record_item(row: Row, pieces: Sequence[Json] = ()) -> dict[str, Json]:
    """One row of a record.

    Args:
        row: The row as it stood.
        pieces: Its stored pieces as JSON values: what a restore reads; none where the caller adds
            them.
    """
    call = row.call
    malformed = malformed_items(row) if call else 0
    item: dict[str, Json] = {
        "kind": row.kind.value,
        "tool_name": call.name if call else None,
        "args": dict(call.input) if call else {},
        "result": row.text,
        "tool_use_id": call.id if call else None,
        "channel": channel_of(call.name) if call else None,
        "label": row.source,
        "anchor": row.anchor,
        "pieces": list(pieces),
    }
    return {**item, "malformed": malformed} if malformed else item


def record_sources(rows: Iterable[Row]) -> tuple[str, ...]:
    """Every address and `owner/repo#n` of several rows, each once, for a record's `source`."""
    return tuple(dict.fromkeys(source for row in rows for source in sources_of(row)))


def batch_id(number: int) -> str:
    """The id of the n-th batch of a session, from 1."""
    return f"offload_{number:04d}"


def next_batch_number(known: Iterable[str]) -> int:
    """The number behind the highest of these batch ids; what is no such id is passed over."""
    found = (_BATCH_ID.fullmatch(name) for name in known)
    return max((int(match[1]) for match in found if match), default=0) + 1


def record_time(seconds: float, offset_minutes: int) -> str:
    """A time as records hold it: ISO 8601 with offset, to the second.

    Args:
        seconds: Seconds since the epoch, UTC.
        offset_minutes: The local time's distance from UTC, in minutes.
    """
    zone = timezone(timedelta(minutes=offset_minutes))
    return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds")


def run_name(ts: str) -> str:
    """A record's time as a file name, without colons: `20260422T031000+0800` (rule L12)."""
    return datetime.fromisoformat(ts).strftime("%Y%m%dT%H%M%S%z")


def archive_file(pattern: str, ts: str) -> str:
    """The file of a run's records, by the setting `offload_archive_path`."""
    return pattern.replace("<ts>", run_name(ts))
