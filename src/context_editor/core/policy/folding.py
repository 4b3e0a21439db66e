"""Old digests folded into one: the policy's last step before the host compacts by itself (rule L17).

In a very long session the digests themselves fill the context. Those that the policy wrote, between two
prompts of a person, then become one collapse: each original still stands at its own path, which the
archived text of the fold names. The agent's own words are never part of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from context_editor.core import digest
from context_editor.core.candidates.find import untouchable_rows
from context_editor.core.edits import wording
from context_editor.core.edits.admit import PLACEHOLDER_ID
from context_editor.core.edits.ground import Ground
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX, Edit, Op, Replacement
from context_editor.core.policy.batches import REASON, PlannedBatch
from context_editor.core.policy.candidates import PolicyGround
from context_editor.core.policy.preserved import newest_results
from context_editor.core.policy.settings import LEAST_KEPT_RESULTS
from context_editor.core.rows import Row, RowKind

LEAST_ROWS: Final = 6
"""Rows below which a fold would hardly be smaller than what it takes in."""

BARE: Final = (
    "their digests do not fit in fewer words; open the original, which names each row's own."
)
"""What stands in a fold whose specifics would be as long as the digests."""

_HEAD: Final = re.compile(
    r"\ALater, [^\n]*? replaced [^\n]*?open with Read\)(?: \(media: [^)\n]*\))?: "
)
"""The fixed words in front of a digest: they hold paths, which are no specifics of what was read."""


def folds(ground: PolicyGround, running_response: str | None) -> Iterator[PlannedBatch]:
    """What can be folded, the oldest stretch first; each one saves something."""
    for rows in _stretches(ground, running_response):
        batch = _fold(rows, ground.ground)
        if len(rows) >= LEAST_ROWS and batch.saved_tokens > 0:
            yield batch


def _stretches(ground: PolicyGround, running_response: str | None) -> list[list[Row]]:
    """The policy's own replacements between two rows of a person, as far as they may be touched."""
    conversation, replacements = ground.conversation, ground.ground.replacements
    kept = newest_results(conversation, LEAST_KEPT_RESULTS)
    preserved = ground.preserved()
    barred = untouchable_rows(ground.ground)
    stretches: list[list[Row]] = [[]]
    for row in conversation.rows:
        if row.kind is RowKind.PERSON:
            stretches.append([])
        elif (
            _is_policys(row, replacements)
            and row.anchor not in kept
            and row.anchor not in preserved
            and (row.anchor not in barred or _is_free_fold(row, ground.ground))
            and row.pieces[0].response != running_response
        ):
            stretches[-1].append(row)
    return stretches


def _is_policys(row: Row, replacements: Mapping[str, Replacement]) -> bool:
    made = replacements.get(row.replacement or "")
    return row.call is not None and made is not None and made.author == "policy"


def _is_free_fold(row: Row, ground: Ground) -> bool:
    """Whether a row is an earlier fold that nothing protects: it is this product's own, so else never taken."""
    is_fold = row.call is not None and row.call.id.startswith(COLLAPSE_ID_PREFIX)
    is_queued = any(row.anchor in edit.anchors for edit in ground.queue)
    return is_fold and not row.is_pending and not is_queued and row.anchor not in ground.protected


def _fold(rows: Sequence[Row], ground: Ground) -> PlannedBatch:
    items = [item for row in rows if (item := _evidence(row)) is not None]
    made = digest.by_rule(items)
    text = made.text if made.fits and made.text.strip() else BARE
    held = wording.contents_list([row.source for row in rows])
    words = wording.collapsed(
        "policy", len(rows), held, PLACEHOLDER_ID, ground.original_path(""), (), text
    )
    before = sum(map(ground.sizer.row, rows))
    after = ground.sizer.text(words) + ground.sizer.text(" ".join(held))
    anchors = tuple(row.anchor for row in rows)
    edit = Edit(
        "", Op.COLLAPSE, anchors, text, "policy", saved_tokens=before - after, reason=REASON
    )
    return PlannedBatch("fold", tuple(rows), (edit,), text, before, after, before - after)


def _evidence(row: Row) -> digest.Evidence | None:
    """A digest without the fixed words in front of it; None where it stands elsewhere or is a bare pointer."""
    head = _HEAD.match(row.text)
    text = row.text[head.end() :] if head else ""
    return digest.Evidence(row.source, text) if text.strip() else None
