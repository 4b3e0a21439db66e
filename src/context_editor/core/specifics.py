"""The specifics of a text: the values that a digest must carry character for character (rule L9).

A digest that loses an error code or rounds a score is worse than none, because it still reads as if
it were whole. So the values are extracted from the original by form, and each must stand in the
digest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from context_editor.core import specific_figures, specific_forms
from context_editor.core.specific_forms import Hit, Scanner, SpecificKind
from context_editor.core.specific_text import Text

__all__ = [
    "Completion",
    "Original",
    "Specific",
    "SpecificKind",
    "completed",
    "extracted",
    "held_by",
    "invented",
    "missing",
    "required",
    "specifics_line",
]

LINE_HEAD: Final = "Specifics: "
"""How the line begins that carries what a digest left out."""

LINE_SHARE: Final = 0.25
"""The largest share of the original, in characters, that the specifics line may take.

Beyond it the original is mostly specifics: a digest of it is a worse copy, not a summary (rule L9).
"""


@dataclass(frozen=True, slots=True)
class Specific:
    """One value that must not change.

    Attributes:
        kind: Its class.
        text: The characters, exactly as they stand in the original.
        label: For a bare number the score's name beside it, exactly as it stands; else empty.
    """

    kind: SpecificKind
    text: str
    label: str = ""

    @property
    def words(self) -> str:
        """The value as the specifics line shows it, behind its score's name if it has one."""
        return f"{self.label} {self.text}" if self.label else self.text


_REQUIRED: Final[tuple[Scanner, ...]] = (*specific_forms.REQUIRED, *specific_figures.FIGURES)
"""The classes of which a digest must hold every member."""

_ALL: Final[tuple[Scanner, ...]] = (*_REQUIRED, specific_forms.PLACES)
"""With `file:line`: worth keeping, never required, for search results hold one in every line."""

_GAP: Final = "\n" * (specific_forms.WINDOW_BYTES + 1)

_RANK: Final = {kind: rank for rank, kind in enumerate(SpecificKind)}


def extracted(text: str) -> tuple[Specific, ...]:
    """All specifics of a text, each once, in the order of their first occurrence.

    What lies whole inside another one (`#12` in `owner/repo#12`, a hash in an address) is part of
    it.
    """
    return _distinct(text, _ALL)


def required(text: str) -> tuple[Specific, ...]:
    """The specifics that a digest of the text must hold: all classes but `file:line`."""
    return _distinct(text, _REQUIRED)


def held_by(lines: Iterable[str]) -> tuple[Specific, ...]:
    """All specifics of several lines, each once for each class that it has in one of them; without labels.

    They are looked for at once: no form runs over the end of a line, and none looks further than the gap.
    """
    source = Text(_GAP.join(lines).encode("utf-8", "surrogatepass"))
    found = {(hit.kind, source.data[hit.start : hit.end]) for hit in _hits(source, _ALL)}
    return tuple([Specific(kind, value.decode("utf-8", "surrogatepass")) for kind, value in found])


def _distinct(text: str, scanners: Sequence[Scanner]) -> tuple[Specific, ...]:
    source = Text(text.encode("utf-8", "surrogatepass"))
    found: dict[bytes, Hit] = {}
    for hit in _hits(source, scanners):
        found.setdefault(source.data[hit.start : hit.end], hit)
    return tuple(
        Specific(hit.kind, value.decode("utf-8", "surrogatepass"), hit.label)
        for value, hit in found.items()
    )


def _hits(source: Text, scanners: Sequence[Scanner]) -> Iterable[Hit]:
    hits = [hit for one in scanners if one.may_hold(source) for hit in one.scan(source)]
    return _outermost(hits) if hits else ()


def _outermost(hits: Iterable[Hit]) -> Iterator[Hit]:
    covered = 0
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end, _RANK[hit.kind])):
        if hit.end <= covered:
            continue
        yield hit
        # A place may be left out of a digest, so it must not take along what may not.
        if hit.kind is not SpecificKind.PLACE:
            covered = hit.end


@dataclass(frozen=True, slots=True)
class Completion:
    """A digest that holds every specific, and whether it is still worth having.

    Attributes:
        text: The digest, with the specifics line where one was needed.
        line: That line; empty where nothing was missing.
        fits: Whether the line keeps within its share of the original.
    """

    text: str
    line: str
    fits: bool


@dataclass(frozen=True)
class Original:
    """A text that digests are held against; what it holds is extracted once, when first needed.

    Attributes:
        text: The text.
    """

    text: str

    @cached_property
    def required(self) -> tuple[Specific, ...]:
        """What each digest must hold."""
        return required(self.text)

    @cached_property
    def values(self) -> frozenset[str]:
        """The characters of all its specifics."""
        return frozenset(specific.text for specific in extracted(self.text))

    def missing(self, digest: str) -> tuple[Specific, ...]:
        """The required specifics that a digest does not hold exactly."""
        return _absent(self.required, Original(digest))

    def invented(self, digest: str) -> tuple[Specific, ...]:
        """The specifics of a digest that do not stand here."""
        return _absent(extracted(digest), self)

    def holds_all(self, lines: Sequence[str]) -> bool:
        """Whether every specific of each line is sure to stand here."""
        return not _absent(held_by(lines), self)

    def completed(self, digest: str) -> Completion:
        """A digest made whole by rule: what it left out follows in one line."""
        line = specifics_line(self.missing(digest))
        if not line:
            return Completion(digest, "", fits=True)
        text = f"{digest.rstrip()}\n{line}".lstrip("\n")
        return Completion(text, line, fits=len(line) <= LINE_SHARE * len(self.text))


def missing(original: str, digest: str) -> tuple[Specific, ...]:
    """The required specifics of an original that a digest does not hold exactly.

    `87%` does not hold `87.4 %`, `E10` does not hold `E1042`, and neither does the reverse.
    """
    return Original(original).missing(digest)


def invented(originals: str, digest: str) -> tuple[Specific, ...]:
    """The specifics of a digest, `file:line` included, that do not stand in its originals."""
    return Original(originals).invented(digest)


def completed(original: str, digest: str) -> Completion:
    """A digest made whole by rule, from a text that is needed only once."""
    return Original(original).completed(digest)


def _absent(specifics: Sequence[Specific], place: Original) -> tuple[Specific, ...]:
    lost = [specific for specific in specifics if not _stands_in(specific, place.text)]
    # Some forms begin or end where no look at the neighbours can tell; extraction can, at a cost. It finds
    # nothing that does not occur at all.
    return tuple([s for s in lost if s.text not in place.text or s.text not in place.values])


def specifics_line(specifics: Iterable[Specific]) -> str:
    """The line that carries specifics verbatim; empty for none."""
    words = [specific.words for specific in specifics]
    return LINE_HEAD + "; ".join(words) if words else ""


# --- whether a value stands in a text ------------------------------------------------------------

_MORE_OF_A_VERSION: Final = re.compile(specific_forms.PRERELEASE)


def _stands_in(specific: Specific, text: str) -> bool:
    """Whether the value occurs, and not as a piece of a longer one."""
    is_whole = _is_whole_url if specific.kind is SpecificKind.URL else _is_whole
    at = text.find(specific.text)
    while at >= 0:
        if is_whole(specific, text, at):
            return True
        at = text.find(specific.text, at + 1)
    return False


def _is_whole_url(specific: Specific, text: str, at: int) -> bool:
    is_begun = at == 0 or not _is_word(text[at - 1])
    run = re.match(r"[^\x00-\x20\x7f<>\"'`|\\^]*", text[at : at + specific_forms.URL_BYTES])
    return is_begun and run is not None and specific_forms.trimmed_url(run.group()) == specific.text


def _is_whole(specific: Specific, text: str, at: int) -> bool:
    end = at + len(specific.text)
    return _begins_here(specific, text[max(0, at - 2) : at]) and _ends_here(
        specific, text[end : end + specific_forms.WINDOW_BYTES]
    )


def _begins_here(specific: Specific, before: str) -> bool:
    first, near = specific.text[0], before[-1:]
    if first == "#":
        return near not in ("&", "#")
    if _is_word(first) and _is_word(near):
        return False
    if not (first.isdigit() or first == "."):
        return True
    is_cut_number = near in (".", ",") and before[:1].isdigit() and len(before) > 1
    is_signed = near in ("-", "+") and not _is_word(before[:-1])
    is_money = near in ("$", "€", "£", "¥")
    is_figure = specific.kind is SpecificKind.FIGURE
    return not is_cut_number and not (is_figure and (is_signed or is_money))


def _ends_here(specific: Specific, behind: str) -> bool:
    last = specific.text[-1]
    if _is_word(last) and _is_word(behind[:1]):
        return False
    if last == "%" and behind[:1].isalnum() and behind[:1].isascii():
        return False
    if last.isdigit() and behind[:1] in (".", ",") and behind[1:2].isdigit():
        return False
    is_version = specific.kind is SpecificKind.VERSION
    return not (is_version and _MORE_OF_A_VERSION.match(behind))


def _is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")
