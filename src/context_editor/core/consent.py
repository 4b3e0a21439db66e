"""Whether a replacement claims words or a consent that the person never gave.

A replacement stays in the conversation for good and is read as the agent's own memory. A quote that
the person never said, or `the user approved`, becomes an order there. So quotes are held against
the person's rows by structure; what cannot be checked so draws a warning and no more.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from context_editor.core.word_tables import (
    APPROVAL,
    BE_FORM,
    BY_THE_PERSON,
    CJK,
    NOT_A_CLAIM,
    PERSON,
    ROLES,
)

QUOTE_WORDS_LEAST: Final = 3
"""The shortest quote that is checked, in words: shorter ones name buttons and options.

Chinese and Japanese have no spaces: there two characters count as one word, a begun pair as a whole
one, so that five characters are three words.
"""

_CJK_CHARS_A_WORD: Final = 2
"""Most words of modern Chinese have two characters."""

QUOTE_CHARS_MOST: Final = 2_000
"""The longest quote looked for; it bounds the search for a closing mark that never comes."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What was found in a replacement's text.

    Attributes:
        unproved: Quotes given to the user that stand in no person row; any of them refuses the
        edit.
        unquoted: Sentences that claim an approval of the user without a quote; each draws a
        warning.
    """

    unproved: tuple[str, ...] = ()
    unquoted: tuple[str, ...] = ()

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why the edit is refused, one message a quote; empty when it is not."""
        return tuple(
            f"no person row holds the words “{quote}”: quote the person exactly, or tell it in your"
            f" own words without quotation marks"
            for quote in self.unproved
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at again, one message a sentence."""
        return tuple(
            f"“{sentence}” claims an approval: quote the person's words for it, or leave it out"
            for sentence in self.unquoted
        )


def checked(text: str, person_texts: Iterable[str]) -> Consent:
    """The claims of a replacement's text, held against what the person wrote.

    Args:
        text: The replacement as the agent wrote it, without the fixed wording around it.
        person_texts: The texts of all person rows of the session, each row apart; read only when a
            quote has to be proved.
    """
    unproved: list[str] = []
    unquoted: list[str] = []
    said: list[str] | None = None
    for sentence in _sentences(text):
        if not PERSON.search(sentence.frame):
            continue
        quotes = [quote for quote in sentence.quotes if _word_count(quote) >= QUOTE_WORDS_LEAST]
        if not quotes and _claims_approval(sentence.frame):
            unquoted.append(" ".join(sentence.text.split()))
        for quote in quotes:
            said = [_padded(row) for row in person_texts] if said is None else said
            if not any(_padded(quote) in row for row in said):
                unproved.append(" ".join(quote.split()))
    return Consent(tuple(dict.fromkeys(unproved)), tuple(dict.fromkeys(unquoted)))


# --- sentences and quotes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    frame: str
    """The sentence with its quotes blanked: who is named outside of them is the one quoted."""
    quotes: Sequence[str]


_CODE: Final = re.compile(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE
)
_BLOCK_QUOTE: Final = re.compile(r"(?<=[:：])\n\s*((?:[ \t]*>[^\n]*(?:\n|\Z))+)")  # noqa: RUF001 - the wide colon too
_LINE_END: Final = re.compile(r"(?<=(.))(\n\s*)", re.DOTALL)
_ITEM: Final = re.compile(r"[-*+•#>|]|\d+[.)]\s")

_LONG: Final = f"{{1,{QUOTE_CHARS_MOST}}}"
_QUOTE: Final = re.compile(
    rf"\"([^\"\n]{_LONG})\"|“([^”\n]{_LONG})”|„([^“”\n]{_LONG})[“”]|«([^»\n]{_LONG})»|「([^」\n]{_LONG})」"
    rf"|『([^』\n]{_LONG})』|(?<!\w)[‘']((?=\S)[^\n]{_LONG}?)(?<=\S)[’'](?!\w)"  # noqa: RUF001 - quotation marks as people write them
)
_SENTENCE_END: Final = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?](?=\s)|[。！？]|\n"  # noqa: RUF001 - wide
)


def _sentences(text: str) -> Iterator[_Sentence]:
    """The sentences of a text, code left out, wrapped lines joined."""
    text = "\n".join(line.rstrip() for line in _CODE.sub(" ", text).split("\n"))
    text = _BLOCK_QUOTE.sub(lambda block: f" “{_unquoted_lines(block[1])}”.\n", text)
    text = _LINE_END.sub(lambda end: _joint(end, text), text)
    frame = _QUOTE.sub(lambda quote: "\x00" * len(quote[0]), text)
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(frame)), len(text)]:
        piece = text[start:end]
        quotes = [next(filter(None, quote.groups())) for quote in _QUOTE.finditer(piece)]
        if piece.strip():
            yield _Sentence(piece.strip(), frame[start:end], quotes)
        start = end


def _unquoted_lines(block: str) -> str:
    return " ".join(line.strip().removeprefix(">").strip() for line in block.splitlines())


def _joint(end: re.Match[str], text: str) -> str:
    """What stands for a line's end: a space within a sentence, a line feed between two."""
    if end[1] in ":：":  # noqa: RUF001 - the wide colon too
        return " "
    is_boundary = end[2].count("\n") > 1 or _ITEM.match(text, end.end())
    return "\n" if is_boundary else " "


# --- words ---------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(rf"[{CJK}]|(?:(?![{CJK}])\w)+(?:['’](?:(?![{CJK}])\w)+)*")  # noqa: RUF001 - both apostrophes
_CJK_RUN: Final = re.compile(rf"[{CJK}]+")


def _word_count(text: str) -> int:
    runs = [len(run) for run in _CJK_RUN.findall(text)]
    pairs = sum(-(-chars // _CJK_CHARS_A_WORD) for chars in runs)
    return len(_TOKEN.findall(text)) - sum(runs) + pairs


def _padded(text: str) -> str:
    """The words of a text and nothing else, in one line: what `word for word` compares."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()  # noqa: RUF001 - made alike
    return f" {' '.join(_TOKEN.findall(plain))} "


def _claims_approval(frame: str) -> bool:
    return any(_is_claim(frame, approval) for approval in APPROVAL.finditer(frame))


def _is_claim(frame: str, approval: re.Match[str]) -> bool:
    """Whether the user is the one who allows, and already did."""
    before = frame[: approval.start()]
    if NOT_A_CLAIM.search(before):
        return False
    if BY_THE_PERSON.match(frame, approval.end()):
        return True
    return PERSON.search(before) is not None and not BE_FORM.search(before)


# --- how a replacement may begin -----------------------------------------------------------------

SERVICE_PREFIXES: Final = ("[context-editor", "context-editor:")
"""How texts of this product begin (rule J1)."""

_OPENING_CHARS: Final = 200
_DECORATION: Final = " \t\r\n\ufeff\u200b\u200c\u200d\u2060>*_#`~\"'“”‘’|-"  # noqa: RUF001 - what may hide a label
_FORGED: Final = re.compile(
    rf"\[context-editor|context-editor:|(?:{ROLES})\s*[*_`]*\s*:"
    r"|later, (?:your context_|the retention policy)"
    r"|<\s*/?\s*(?:[a-z]+:)?(?:system|human|user|assistant|tool|function|command|instruction|important)[-_a-z]*"
    r"|<\|[a-z_]+\|>|\[/?inst\]|<<sys>>",
    re.IGNORECASE,
)


def forged_opening(text: str) -> str:
    """The words with which a text begins as if it came from the host, a person or this product.

    Empty when it begins as it may. Marks of emphasis, quotation and invisible characters in front
    do not hide a label, and letters in full width are read as plain ones.
    """
    head = unicodedata.normalize("NFKC", text[:_OPENING_CHARS]).lstrip(_DECORATION)
    found = _FORGED.match(head)
    return found[0] if found else ""
