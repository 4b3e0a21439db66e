"""Taking in a confirmed apply: epoch, anchors, refs, replacements, and the log of applies."""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, cast

from context_editor.core.conversation import Conversation
from context_editor.core.edits.model import COLLAPSE_ID_PREFIX, Op, Replacement
from context_editor.core.names import refs_of
from context_editor.core.prints import stored_prints
from context_editor.core.rows import PieceForm, Row
from context_editor.core.state import CarriedPart, Intent, Planted, SessionState, TurnChoices
from context_editor.engine.ports import Settled
from context_editor.store.files import append_line
from context_editor.store.session import SessionFolder


@dataclass(frozen=True)
class Matched:
    """The emitted rows, found again in the conversation that now stands.

    Attributes:
        reason: Why it is not what was planned; empty when it is.
        is_ours: Whether what was handed over is there at all: another compaction may stand in its place.
        is_partial: Whether only a beginning of it stands, and nothing else.
        renamed: New anchors of rows, by the anchor that each had before.
        standing: Anchors of the rows that each replacement put there.
        service: Anchors of rows that are the product's own words.
        carried: What rides as text in a row, by its anchor.
        refs: Refs that a row keeps although its print would give another, by its anchor.
    """

    reason: str = ""
    is_ours: bool = True
    is_partial: bool = False
    renamed: dict[str, str] = field(default_factory=dict)
    standing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    service: tuple[str, ...] = ()
    carried: dict[str, tuple[CarriedPart, ...]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)


def stored_groups(conversation: Conversation) -> tuple[tuple[str, ...], ...]:
    """The host's ids by stored row, each followed by those of what hangs behind it, in order."""
    groups: list[list[str]] = []
    last = None
    for piece in conversation.pieces:
        if piece.handle == last:
            continue
        last = piece.handle
        if groups and piece.form is PieceForm.ATTACHMENT:
            groups[-1].append(last)
        else:
            groups.append([last])
    return tuple(map(tuple, groups))


def matched(planted: Sequence[Planted], conversation: Conversation) -> Matched:
    """Pair the emitted rows with the rows of the conversation, in order.

    Where they are not what was handed over, only rows with the same print are paired: no name may lead to
    another row than the one that it was given to.
    """
    groups = stored_groups(conversation)
    by_handle = stored_prints(conversation)
    prints = [by_handle[group[0]] for group in groups]
    reason = _mismatch(planted, prints)
    pairs = list(zip(range(len(planted)), groups, strict=False))
    if reason:
        pairs = [(at, groups[to]) for at, to in _alike([one.print for one in planted], prints)]
    is_ours = not reason or _is_ours(planted, {at for at, _ in pairs})
    found = Matched(reason, is_ours, _is_partial(planted, groups, prints))
    fresh = refs_of(conversation.rows, {})
    beginnings = _beginnings(conversation)
    service: list[str] = []
    for at, group in pairs:
        one = planted[at]
        rows = [row for handle in group for row in beginnings.get(handle, ())]
        found.renamed.update(
            {f"u:{old}": f"u:{new}" for old, new in zip(one.handles, group, strict=False)}
        )
        if one.replacement:
            anchors = (one.anchor,) if one.anchor else tuple(row.anchor for row in rows[:1])
            before = found.standing.get(one.replacement, ())
            found.standing[one.replacement] = tuple(dict.fromkeys((*before, *anchors)))
        if one.service:
            service += [row.anchor for row in rows]
        if one.carried:
            found.carried[f"u:{group[0]}"] = one.carried
        found.refs.update(
            {
                row.anchor: ref
                for ref, row in zip(one.refs, rows, strict=False)
                if fresh.get(row.anchor) != ref
            }
        )
    return replace(found, service=tuple(service))


def _beginnings(conversation: Conversation) -> dict[str, list[Row]]:
    """The rows that begin in each stored row, by the host's id of it."""
    found: dict[str, list[Row]] = {}
    for row in conversation.rows:
        found.setdefault(row.pieces[0].handle, []).append(row)
    return found


def matched_by_calls(
    made: Sequence[Replacement], conversation: Conversation, reason: str
) -> Matched:
    """What the ids of calls alone tell, where the list of emitted rows is lost."""
    standing: dict[str, tuple[str, ...]] = {}
    for one in made:
        is_collapse = one.op is Op.COLLAPSE
        anchors = (f"t:{COLLAPSE_ID_PREFIX}{one.id}",) if is_collapse else one.anchors
        calls = tuple(a for a in anchors if a.startswith("t:") and a in conversation.by_anchor)
        standing.update({one.id: calls} if calls else {})
    return Matched(reason, standing=standing)


def _is_partial(
    planted: Sequence[Planted], groups: Sequence[Sequence[str]], prints: Sequence[str]
) -> bool:
    """Whether all that stands is a beginning of what was handed over: the host writes more than one page in steps."""
    if not prints or len(prints) > len(planted):
        return False
    if any(one.print != stored for one, stored in zip(planted, prints, strict=False)):
        return False
    last = planted[len(prints) - 1]
    is_cut = bool(last.kept) and len(groups[-1]) < len(last.handles)
    return len(prints) < len(planted) or is_cut


def _mismatch(planted: Sequence[Planted], prints: Sequence[str]) -> str:
    if len(prints) < len(planted):
        return f"{len(planted)} rows were handed over, {len(prints)} stand"
    for number, (one, stored) in enumerate(zip(planted, prints, strict=False), start=1):
        if stored != one.print:
            return f"row {number} of {len(planted)} is not what was handed over"
    return ""


def _alike(planted: Sequence[str], stored: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of rows with the same print, in order on both sides."""
    for block in SequenceMatcher(None, planted, stored, autojunk=False).get_matching_blocks():
        for n in range(block.size):
            yield block.a + n, block.b + n


def _is_ours(planted: Sequence[Planted], found: Collection[int]) -> bool:
    """Whether a row that only this apply can have made is among those that were found."""
    made = [at for at, one in enumerate(planted) if one.replacement or one.service or one.carried]
    built = [at for at, one in enumerate(planted) if not one.kept]
    return any(at in found for at in made or built or range(len(planted)))


def take_in(state: SessionState, intent: Intent, found: Matched) -> None:
    """Bring the state up to the conversation that now stands."""
    _move_anchors(state, found.renamed)
    _absorb(state, intent)
    for made in intent.replacements:
        state.replacements[made.id] = replace(made, anchors=found.standing.get(made.id, ()))
    state.absorbed.update(intent.absorbed)
    state.service = sorted({*state.service, *found.service})
    state.carried.update(found.carried)
    state.refs.update(found.refs)
    left = set(intent.dropped)
    state.queue = [edit for edit in state.queue if edit.id not in left]
    state.epoch += 1
    state.numbered_epoch = None
    if intent.trigger != "auto":
        # A compaction in the middle of a turn leaves what the turn queued, and when that is due.
        state.choices = TurnChoices(turn=state.choices.turn)
    state.is_ordered = False
    state.saved_tokens += intent.before_tokens - intent.after_tokens
    state.calibration = state.calibration.after_apply()
    state.intent = None


def _move_anchors(state: SessionState, new: dict[str, str]) -> None:
    """Rows that the host wrote again have new ids: everything that names them follows."""

    def moved(anchor: str) -> str:
        return new.get(anchor, anchor)

    state.refs = {moved(anchor): ref for anchor, ref in state.refs.items()}
    state.carried = {moved(anchor): parts for anchor, parts in state.carried.items()}
    state.service = [moved(anchor) for anchor in state.service]
    state.queue = [replace(e, anchors=tuple(map(moved, e.anchors))) for e in state.queue]
    state.molt = state.molt.moved(moved) if state.molt else None
    state.replacements = {
        key: replace(r, anchors=tuple(map(moved, r.anchors)))
        for key, r in state.replacements.items()
    }


def _absorb(state: SessionState, intent: Intent) -> None:
    """Mark the replacements whose rows this apply took in or put back."""
    for edit, made in zip(intent.edits, intent.replacements, strict=True):
        if edit.op is Op.RESTORE:
            _undo(state, edit.target, made.id)
            continue
        covered = set(edit.anchors)
        for earlier in list(state.replacements.values()):
            if earlier.anchors and not earlier.absorbed_by and covered.issuperset(earlier.anchors):
                state.replacements[earlier.id] = replace(earlier, absorbed_by=made.id)


def _undo(state: SessionState, target: str, restore_id: str) -> None:
    """A restore takes its target's place, and what the target had taken in stands again."""
    for earlier in list(state.replacements.values()):
        if earlier.absorbed_by == target:
            state.replacements[earlier.id] = replace(earlier, absorbed_by="")
    undone = state.replacements.get(target)
    if undone is not None:
        state.replacements[target] = replace(undone, absorbed_by=restore_id)
    state.absorbed = {ref: later for ref, later in state.absorbed.items() if later != target}


def log_apply(
    folder: SessionFolder,
    state: SessionState,
    intent: Intent,
    settled: Settled,
    mismatch: str,
    stamp: str,
) -> None:
    """Append one line about this apply to `applies.jsonl`, once: it is taken in anew after a crash."""
    line: dict[str, Any] = {
        "ts": stamp,
        "epoch": state.epoch,
        "trigger": intent.trigger,
        "edits": [_logged(r) for r in intent.replacements],
        "skipped": intent.skipped,
        "tokens_before": intent.before_tokens,
        "tokens_after": intent.after_tokens,
        "first_changed": intent.first_changed,
        "prefix_blocks": intent.prefix_blocks,
        "thinking_dropped": intent.thinking_dropped,
        "duration_ms": round(intent.duration_ms, 1),
        "resumable": settled.is_resumable,
        "how": settled.how,
        "mismatch": mismatch,
    }
    if _same_apply(_last_line(folder.applies), line):
        return
    append_line(
        folder.applies, json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )


def _last_line(path: Path) -> dict[str, Any]:
    """The last line of the log; empty where there is none, or none that can be read."""
    try:
        last: Any = json.loads(path.read_bytes().splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return {}
    return cast("dict[str, Any]", last) if isinstance(last, dict) else {}


def _same_apply(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two lines are about the same apply: the second look finds its rows patched already."""
    looks = {"ts", "how", "resumable"}
    return {k: v for k, v in one.items() if k not in looks} == {
        k: v for k, v in other.items() if k not in looks
    }


def _logged(replacement: Replacement) -> dict[str, Any]:
    return {
        "id": replacement.id,
        "op": str(replacement.op),
        "author": replacement.author,
        "source": replacement.source,
        "original": replacement.original,
        "tokens_before": replacement.tokens_before,
        "tokens_after": replacement.tokens_after,
    }


def prune_applies(folder: Path, up_to_epoch: int) -> None:
    """Delete lists of emitted rows that are too old to be asked for; originals are never touched."""
    for path in folder.glob("*.json"):
        if path.stem.isdecimal() and int(path.stem) < up_to_epoch:
            path.unlink(missing_ok=True)
