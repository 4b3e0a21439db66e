"""Checks of a handoff against the session that it is to outlive.

A molt sheds the conversation; what the handoff has wrong or leaves out cannot be asked again. So
what it names is looked up, what is still open must be mentioned, and what the person forbade goes
along word for word. Every finding is a warning: the words are the agent's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from context_editor.core.specifics import SpecificKind, invented
from context_editor.core.word_tables import CJK, NO_ORDER, ORDER


class FindingKind(StrEnum):
    """What a finding is about."""

    PATH = "path"
    ID = "id"
    TODO = "todo"
    TASK = "task"
    INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at again.

    Attributes:
        kind: What it is about.
        subject: The path, id, item, task or instruction, as it was written.
        message: The finding in one sentence, with the way out.
    """

    kind: FindingKind
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class OpenItem:
    """One todo or task item that is not done.

    Attributes:
        text: Its words.
        item_id: Its id, where the host gives one; else empty.
    """

    text: str
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class HandoffFacts:
    """What the session and the disk say.

    Attributes:
        session_texts: The texts of all rows, calls included, in which an id may have occurred.
        person_texts: The texts of the person's rows, oldest first.
        existing: For each path of `named_paths` whether something is there; a path that is not in
            it was not looked up and draws no finding.
        open_items: Todo items that are not done.
        task_ids: Ids of background tasks that still run.
    """

    session_texts: Sequence[str] = ()
    person_texts: Sequence[str] = ()
    existing: Mapping[str, bool] = field(default_factory=dict[str, bool])
    open_items: Sequence[OpenItem] = ()
    task_ids: Sequence[str] = ()


def checked(text: str, facts: HandoffFacts) -> tuple[Finding, ...]:
    """Everything in a handoff that does not agree with the session, in a fixed order of kinds.

    The person's instructions are not among it: `with_instructions` carries those, whatever the text
    says.
    """
    return (
        *_lost_paths(text, facts.existing),
        *_unknown_ids(text, facts.session_texts),
        *_unmentioned_items(text, facts.open_items),
        *_unmentioned_tasks(text, facts.task_ids),
    )


# --- files ---------------------------------------------------------------------------------------

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_PATH: Final = re.compile(
    r"(?<![\w./~@-])(?:(?:~/|\.{1,2}/|/)[\w.@+\-\[\]]+|[\w.@+-]+/[\w.@+\-\[\]]+)(?:/[\w.@+\-\[\]]+)*/?"
)
_CODE_NAME: Final = re.compile(r"`([\w.@+-]+\.[A-Za-z][A-Za-z0-9]{0,7})`")
_FILE_END: Final = re.compile(r"[^/.][^/]*\.[A-Za-z][A-Za-z0-9]{0,7}\Z|\A[~.]{0,2}/|/\Z")
"""A path is one that should exist when it ends in a file's name or a slash, or begins at a root."""


def named_paths(text: str) -> tuple[str, ...]:
    """The paths that a text names, each once: with a folder, or bare in backticks.

    Addresses are none, and neither are pairs of words such as `owner/repo` or `and/or`.
    """
    plain = _URL.sub(" ", text)
    found = [match[0].rstrip(".") for match in _PATH.finditer(plain)]
    found += [match[1] for match in _CODE_NAME.finditer(plain)]
    return tuple(dict.fromkeys(path for path in found if _FILE_END.search(path)))


def _lost_paths(text: str, existing: Mapping[str, bool]) -> Iterator[Finding]:
    for path in named_paths(text):
        if existing.get(path) is False:
            message = f"{path} does not exist: correct it, or say in the handoff that it is gone"
            yield Finding(FindingKind.PATH, path, message)


# --- ids -----------------------------------------------------------------------------------------

_ID_KINDS: Final = (SpecificKind.HASH, SpecificKind.ISSUE, SpecificKind.URL)
_OTHER_ID: Final = re.compile(r"(?<![\w./-])(?=[A-Za-z_]*[0-9])[a-z]{2,12}_[0-9A-Za-z]{4,}(?!\w)")
"""Ids with a kind in front, as hosts and services write them: `toolu_01AbCd`, `bash_4f21`."""


def _unknown_ids(text: str, session_texts: Sequence[str]) -> Iterator[Finding]:
    session = "\n".join(session_texts)
    unknown = [found.text for found in invented(session, text) if found.kind in _ID_KINDS]
    unknown += [found for found in _OTHER_ID.findall(text) if found not in session]
    for name in dict.fromkeys(unknown):
        message = f"{name} occurs nowhere in this session: look it up before it is handed on"
        yield Finding(FindingKind.ID, name, message)


# --- open work -----------------------------------------------------------------------------------

MENTION_SHARE: Final = 0.6
"""The share of an item's words that must occur in the handoff for the item to count as mentioned.

An agent shortens and rewords its own items; two shared words of three are the same item, one is
chance.
"""

_WORD: Final = re.compile(rf"[{CJK}]{{2}}|(?:(?![{CJK}])\w){{3,}}")


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _is_mentioned(item: OpenItem, text: str, words: set[str]) -> bool:
    if item.item_id and _stands_alone(item.item_id, text):
        return True
    if " ".join(item.text.split()).casefold() in " ".join(text.split()).casefold():
        return True
    own = _words(item.text)
    # Pairs of characters depend on where a run begins, so they are looked for anywhere.
    shared = sum(1 for word in own if word in words or (not word.isascii() and word in text))
    return bool(own) and shared >= MENTION_SHARE * len(own)


def _stands_alone(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _unmentioned_items(text: str, items: Sequence[OpenItem]) -> Iterator[Finding]:
    words = _words(text)
    for item in items:
        if item.text.strip() and not _is_mentioned(item, text, words):
            message = (
                f"the open item “{item.text}” is not in the handoff: take it along, or say why not"
            )
            yield Finding(FindingKind.TODO, item.text, message)


def _unmentioned_tasks(text: str, task_ids: Sequence[str]) -> Iterator[Finding]:
    for task_id in task_ids:
        if not _stands_alone(task_id, text):
            message = f"background task {task_id} still runs: say in the handoff what it is for"
            yield Finding(FindingKind.TASK, task_id, message)


# --- what the person forbade or demanded ---------------------------------------------------------

INSTRUCTIONS_MOST: Final = 30
"""The most instructions carried along, the newest ones: a page that still gets read."""

SECTION: Final = (
    "Standing instructions of the person, word for word, oldest first (a later one wins):"
)

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S))+[.!?。！？]*")  # noqa: RUF001 - wide marks too
_CLAUSE_END: Final = re.compile(
    r"[,;:，；：、—]|\s[-–]\s|\s(?=(?:and|but|then|so|please)\s)",  # noqa: RUF001 - wide marks too
    re.IGNORECASE,
)
_BULLET: Final = re.compile(r"\A(?:[-*•]|\d+[.)])\s+")
_QUESTION: Final = re.compile(r"[?？]\W*\Z")  # noqa: RUF001 - the wide mark too


def standing_instructions(person_texts: Iterable[str]) -> tuple[str, ...]:
    """The sentences in which the person forbade or demanded something, each once, oldest first.

    They are given verbatim. Found by structure: a clause that begins with the order, behind no
    subject but `you`. Code and quoted lines are left out, and so are questions.
    """
    found: dict[str, None] = {}
    for text in person_texts:
        for match in _SENTENCE.finditer(_FENCE.sub("\n", text)):
            sentence = _BULLET.sub("", match[0].strip())
            if not sentence.startswith(">") and _is_instruction(sentence):
                found.pop(sentence, None)
                found[sentence] = None
    return tuple(found)


def _is_instruction(sentence: str) -> bool:
    clauses = _CLAUSE_END.split(sentence)
    if _QUESTION.search(sentence) and len(clauses) == 1:
        return False
    return any(ORDER.search(clause) and not NO_ORDER.search(clause) for clause in clauses)


def with_instructions(text: str, instructions: Sequence[str]) -> str:
    """The handoff with every instruction in it word for word: those it lacks follow in a section.

    Beyond `INSTRUCTIONS_MOST` the oldest stay behind, and the section says how many.
    """
    said = " ".join(text.split())
    lacking = [order for order in instructions if " ".join(order.split()) not in said]
    if not lacking:
        return text
    kept = lacking[-INSTRUCTIONS_MOST:]
    older = len(lacking) - len(kept)
    notice = [f"- ({older} older ones: see the person's rows in the snapshot)"] if older else []
    lines = [SECTION, *notice, *(f"- {order}" for order in kept)]
    return f"{text.rstrip()}\n\n" + "\n".join(lines) + "\n"
