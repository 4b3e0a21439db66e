"""The plugin in the real host: how the model asks it for edits, and what its applies must hold."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.host.scripted_model import Body, Step, call, use
from tests.host.wire import (
    Block,
    Chosen,
    assert_conserved,
    assert_legal,
    assert_prefix_kept,
    blocks,
    is_service_text,
    messages_of,
    plain,
    text_with,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.host.host import Condition, Host, Live, Run

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout: the plugin under test."""

PARTS: Final = ("bin", "src", "hooks", "commands", "skills", "requirements.lock", "plugin.json")
"""What of the checkout a plugin folder needs; what is not there is left out."""

TOOLS: Final = "mcp__plugin_context-editor_editor__"
"""How the plugin's tools are named in the host."""

APPLIED: Final = re.compile(r"context-editor: applied (\d+) edit\(s\): [^\"]*?epoch (\d+)")
"""The head of an applied report: how many edits, and the epoch that they made."""

COLLAPSED: Final = "toolu_ctxed_"
"""How the ids of the calls begin that stand where rows were collapsed."""


def lay_parts(folder: Path) -> Path:
    """A copy of what a person installs."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / part)
    manifest = folder / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir()
    shutil.copyfile(ROOT / "plugin.json", manifest)
    return folder


def lay_plugin(folder: Path) -> Path:
    """A copy of the checkout's plugin; the host writes files of its own beside a mod that it loads.

    It runs in the checkout's environment: `.git` tells its launcher that this is a checkout.
    """
    lay_parts(folder)
    (folder / ".git").mkdir()
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


# --- what the model asks for ----------------------------------------------------------------------


def edit(*edits: Mapping[str, Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON of any shape
    """A call of `context_edit`."""
    return use(f"{TOOLS}context_edit", {"edits": list(edits), **options})


def listing(**options: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON of any shape
    """A call of `context_list`."""
    return use(f"{TOOLS}context_list", options)


def summarize(call_id: str, text: str = "It printed numbers, nothing else.") -> dict[str, Any]:
    """An edit that replaces one result."""
    return {"op": "summarize", "tool_use_id": call_id, "text": text}


def seq(first: int, last: int, call_id: str) -> dict[str, Any]:
    """A call of Bash that prints numbers: a result whose size and words a test can foretell."""
    return use("Bash", {"command": f"seq {first} {last}"}, call_id)


def numbers(first: int, last: int) -> str:
    """What such a call prints."""
    return "\n".join(map(str, range(first, last + 1)))


def answered(body: Body) -> str:
    """The text of the newest tool result."""
    return [block.text for block in blocks(body) if block.kind == "tool_result"][-1]


def number_of(words: str, body: Body, which: int = -1) -> int:
    """The number of a listed row whose line holds these words, in the newest listing.

    Args:
        words: What the line holds.
        body: The request that holds the listing as its newest result.
        which: Which of several such rows; the newest by default, 0 is the oldest.
    """
    found = [line for line in answered(body).splitlines() if line.startswith("#") and words in line]
    assert found, f"no row with {words!r} in:\n{answered(body)}"
    return int(found[which][1:].split()[0])


def editing(
    make: Callable[[Body], Sequence[Mapping[str, Any]]],
    **options: Any,  # noqa: ANN401 - JSON of any shape
) -> Callable[[Body], Step]:
    """A step that edits by what the newest listing says."""
    return lambda body: call(edit(*make(body), **options))


# --- what happened --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Apply:
    """One apply, as the model saw it.

    Attributes:
        edits: How many edits the report names.
        epoch: The epoch that it made.
        before: The last request before it.
        after: The first request after it.
    """

    edits: int
    epoch: int
    before: Body
    after: Body

    @property
    def report(self) -> str:
        """The applied report that the next prompt carried."""
        return next(
            block.text
            for block in blocks(self.after)
            if re.search(rf"context-editor: applied .*epoch {self.epoch};", block.text)
        )


def applies_in(bodies: Sequence[Body]) -> list[Apply]:
    """The applies between these requests, oldest first, by the reports in them."""
    return list(_applies(bodies))


def _applies(bodies: Sequence[Body]) -> Iterator[Apply]:
    seen: set[int] = set()
    for at, body in enumerate(bodies):
        text = json.dumps(messages_of(body), ensure_ascii=False)
        for edits, epoch in APPLIED.findall(text):
            if int(epoch) not in seen and at:
                yield Apply(int(edits), int(epoch), bodies[at - 1], body)
            seen.add(int(epoch))


@dataclass(frozen=True)
class Edited:
    """A run of the host with the plugin, and what its conversation was sent before."""

    run: Run
    earlier: tuple[Body, ...] = ()

    @property
    def bodies(self) -> list[Body]:
        """All requests of the conversation, this run's last."""
        return [*self.earlier, *self.run.bodies]

    @property
    def applies(self) -> list[Apply]:
        """Every apply of the conversation."""
        return applies_in(self.bodies)

    @property
    def only_apply(self) -> Apply:
        """The apply of a conversation that had exactly one."""
        found = self.applies
        assert len(found) == 1, f"{len(found)} applies in:\n{shown(self.last)}\n{self.told}"
        return found[0]

    @property
    def last(self) -> Body:
        """The newest request."""
        return self.run.bodies[-1]

    @property
    def told(self) -> str:
        """The lines of the host's log in which the plugin says something."""
        lines = self.run.debug.splitlines()
        return "\n".join(line for line in lines if "context-editor: " in line)


def shown(body: Body) -> str:
    """The blocks of a request, a line each: what a failure prints."""
    return "\n".join(map(str, blocks(body)))


def run_edited(
    host: Host,
    *args: Any,  # noqa: ANN401 - those of `Host.run`
    edited: Sequence[Chosen],
    after: Edited | None = None,
    **options: Any,  # noqa: ANN401 - those of `Host.run`
) -> Edited:
    """Run the host, and hold every request legal and every apply to what it must hold.

    Args:
        host: The machine.
        args: As `Host.run`.
        edited: The blocks that the edits of this run name; all others must survive every apply.
        after: The run that this one resumes.
        options: As `Host.run`.
    """
    if after is not None:
        options = {"resume": after.run.session_id, **options}
    run = host.run(*args, **options)
    whole = Edited(run, tuple(after.bodies) if after else ())
    for body in run.bodies:
        assert_legal(body)
    for apply in whole.applies:
        if not any(apply.after is body for body in run.bodies):
            continue
        present = [chosen for chosen in edited if any(map(chosen, blocks(apply.before)))]
        changed = changed_in(apply, present)
        assert_conserved(apply.before, apply.after, *present, changed)
        assert_prefix_kept(apply.before, apply.after, changed, is_resumed="resume" in options)
        assert_thinking_gone(apply)
    return whole


def changed_in(apply: Apply, edited: Sequence[Chosen]) -> Chosen:
    """The blocks that an apply changes or takes away: edited ones, and own ones that went."""
    after = {block.what for block in blocks(apply.after)}
    first = blocks(apply.before)[first_difference(apply)]

    def is_due(block: Block) -> bool:
        is_own = TOOLS in block.name or is_service_text(block)
        return is_own or any(means(block) for means in edited)

    assert is_due(first) or first.kind == "thinking", f"the first change is not due: {first}"
    return lambda block: is_due(block) and (block == first or block.what not in after)


def first_difference(apply: Apply) -> int:
    """The number of the first block that is not the same after an apply."""
    pairs = zip(blocks(apply.before), blocks(apply.after), strict=False)
    return next(at for at, (one, other) in enumerate(pairs) if one.what != other.what)


def assert_thinking_gone(apply: Apply) -> None:
    """Fail where thinking stands behind the first difference (rule C22)."""
    before, after = blocks(apply.before), blocks(apply.after)
    same = first_difference(apply)
    old = {block.text for block in before if block.kind == "thinking"}
    left = [str(block) for block in after[same:] if block.kind == "thinking" and block.text in old]
    assert not left, f"thinking behind the first change: {left}"


def assert_unchanged(before: Body, after: Body) -> None:
    """Fail unless a request goes on from another one byte for byte."""
    for part in ("system", "tools"):
        assert plain(after.get(part)) == plain(before.get(part)), f"`{part}` changed"
    held, found = messages_of(before), messages_of(after)
    assert found[: len(held)] == held


def sessions_folder(host: Host) -> Path:
    """Where the plugin keeps its sessions on this machine."""
    (found,) = (host.home / ".claude" / "plugins" / "data").glob("*/sessions")
    return found


def session_folder(host: Host, session_id: str) -> Path:
    """Where the plugin keeps one session."""
    return sessions_folder(host) / session_id


def log_of(host: Host, session_id: str) -> list[dict[str, Any]]:
    """The lines of the log of applies."""
    path = session_folder(host, session_id) / "applies.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def original_in(text: str) -> Path:
    """The file that a replacement names as its original."""
    found = re.search(r"\(original: (/[^,)]+)", text)
    assert found is not None, f"no original in {text!r}"
    return Path(found[1])


def result_text(body: Body, call_id: str) -> str:
    """The text of one result."""
    return next(
        block.text
        for block in blocks(body)
        if block.kind == "tool_result" and block.call_id == call_id
    )


def has_boundary(live: Live) -> bool:
    """Whether a compaction has just reached a transcript."""
    files = (live.project.parent / "home" / ".claude" / "projects").glob("*/*.jsonl")
    return any(b'"compact_boundary"' in path.read_bytes() for path in files)


def after_applies(count: int) -> Condition:
    """Once so many compactions have reached a transcript."""

    def come(live: Live) -> bool:
        files = (live.project.parent / "home" / ".claude" / "projects").glob("*/*.jsonl")
        return sum(path.read_bytes().count(b'"compact_boundary"') for path in files) >= count

    return come


def is_our_continuation(words: str) -> Chosen:
    """The continuation prompt with these words, as the model reads it."""
    return text_with(words)


def picture(width: int = 1200, height: int = 900) -> dict[str, Any]:
    """An image block: a black PNG, so large that describing it saves something."""
    rows = zlib.compress(b"".join(b"\0" + bytes(width) for _ in range(height)), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def with_files(host: Host, files: Mapping[str, str]) -> Host:
    """The machine with these files in its project."""
    for name, text in files.items():
        path = host.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return host
