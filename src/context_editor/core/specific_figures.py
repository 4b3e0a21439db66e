"""Figures that count as specifics: a number with a unit, a currency or a score's name (rule L9).

A bare number is none: a log with numbered lines holds thousands, and no digest could keep them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from context_editor.core.specific_forms import Hit, Scanner, SpecificKind, has_digit
from context_editor.core.specific_text import Text

_NUMBER: Final = rb"[0-9]{1,18}+(?:[.,_][0-9]{1,18})*+(?:[eE][-+]?[0-9]{1,3})?+"

_UNITS: Final = (  # noqa: SIM905 - a list of lines is read more easily than one of words
    # parts of a whole
    "% ‰ percent pp bp bps 百分点 个百分点 "
    # time
    "ns us µs μs ms s sec secs second seconds min mins minute minutes h hr hrs hour hours day days "
    "week weeks month months year years 毫秒 微秒 纳秒 秒 分钟 小时 天 周 "
    # data
    "bit bits byte bytes B kB KB MB GB TB PB KiB MiB GiB TiB kbps Kbps Mbps Gbps Kbit Mbit Gbit "
    "字节 "
    # rates
    "B/s kB/s KB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s req/s token/s tokens/s tok/s ops/s it/s rows/s "
    "files/s fps qps rps tps rpm Hz kHz MHz GHz "
    # size, weight, electricity, temperature
    "px pt rem nm µm mm cm km mg kg dB mV mA mW kW MW Wh kWh °C °F ℃ 公里 度 "
    # money and a model's work
    "USD EUR GBP CNY JPY 元 万 亿 倍 token tokens"
).split()
_CLOSE_UNITS: Final = ("k", "K", "M", "G", "T", "m", "g", "V", "x", "×")  # noqa: RUF001 - both crosses are written
"""Units only where they touch the number: `83.4k`, `2x`."""

_SPACES: Final = (" ", "\u00a0", "\u202f")
"""What may stand between number and unit: one space of any kind, never a tab (a gutter)."""


def _any_of(words: Iterable[str]) -> bytes:
    """A pattern for any of the words, by first byte: one test instead of one a word."""
    rests: dict[bytes, list[bytes]] = {}
    for word in sorted((word.encode() for word in words), key=len, reverse=True):
        rests.setdefault(word[:1], []).append(re.escape(word[1:]))
    branches = (re.escape(first) + b"(?:" + b"|".join(rest) + b")" for first, rest in rests.items())
    return b"(?:" + b"|".join(branches) + b")"


def _unit_tail() -> bytes:
    behind_space = [space.encode() + _any_of(_UNITS) for space in _SPACES]
    return b"(?:" + b"|".join((*behind_space, _any_of((*_UNITS, *_CLOSE_UNITS)))) + b")"


_WITH_UNIT: Final = re.compile(
    rb"0(?<![0A-Za-z_]0)(?<!0[.,]0)0{0,17}+(?:[.,_]0{1,18})*+(?:[eE][-+]?0{1,3})?+"
    rb"(?=[ %A-Za-z\xc2-\xe9])" + _unit_tail() + rb"(?![0A-Za-z_])"
)
"""A number from its first digit, then its unit, on the digit mask.

The first byte is a literal, and what
stands in front is looked at behind it, so that a scan passes over all other bytes at full speed."""

_NUMBER_REACH: Final = 40
"""How far in front of a score's name its number may begin, in bytes."""

_CURRENCY_ANCHOR: Final = re.compile("(?:\\$|€|£|¥) ?0".encode())
_MONEY: Final = re.compile(
    rb"(?:\$(?=[0-9]+[.,][0-9]|[0-9]{2})|\xe2\x82\xac ?|\xc2\xa3 ?|\xc2\xa5 ?)"
    + _NUMBER
    + rb"(?:[kKMB](?![0-9A-Za-z_]))?"
)
"""An amount of money. One digit behind a dollar is left out: in a script it is an argument."""

_LABELS: Final = tuple(
    label.encode()
    for label in (
        *("accuracy", "precision", "recall", "f1", "score", "pass@", "coverage", "loss", "auc"),
        *("bleu", "rouge", "perplexity"),
        *("mmlu", "gsm8k", "humaneval", "swe-bench", "gpqa"),
    )
)
_CHINESE_LABELS: Final = tuple(
    label.encode() for label in ("准确率", "精确率", "召回率", "覆盖率", "得分", "损失")
)
"""Names of scores and of benchmarks, lower-case.

Each costs one pass over the text, so only names in wide use stand here, and the Chinese ones are
looked for in texts that are not plain ASCII alone.
"""

_LABEL_TAIL: Final = re.compile(
    rb"(?:(?<=@)[0-9]{1,3}|[-_@](?:verified|lite|pro|[0-9a-z]{1,3}))?s?(?![A-Za-z])"
)
_BEHIND_LABEL: Final = re.compile(
    (
        "[\"')*`]{0,2}[ \t]{0,2}"
        "(?:[:=|]|：|is|was|of|at|to|为|是|达到|达)?"  # noqa: RUF001 - the wide colon too
        '[ \t]{0,2}[*`"]{0,2}'
    ).encode()
    + rb"([-+]?"
    + _NUMBER
    + rb")(?![0-9A-Za-z_])"
)
_BEFORE_LABEL: Final = re.compile(
    rb"(?<![0-9A-Za-z_])(?<![0-9][.,])(" + _NUMBER + rb") ?(?:on|in|at|for)? ?(?:the )?\Z"
)


def with_units(text: Text) -> Iterator[Hit]:
    """Numbers with a unit or a per cent sign, and amounts of money."""
    for found in _WITH_UNIT.finditer(text.digits):
        start = found.start() - _lead(text.data[max(0, found.start() - 2) : found.start()])
        yield Hit(start, found.end(), SpecificKind.FIGURE)
    if b"$" not in text.data and text.data.isascii():
        return
    for anchor in _CURRENCY_ANCHOR.finditer(text.digits):
        money = _MONEY.match(text.data, anchor.start())
        if money:
            yield Hit(*money.span(), SpecificKind.FIGURE)


_LEAD: Final = re.compile(rb"(?<![0-9A-Za-z_)\]])[-+.]\Z")


def _lead(before: bytes) -> int:
    """How many bytes in front of the first digit belong to it: a sign or a leading point."""
    return 1 if _LEAD.search(before) else 0


def labelled(text: Text) -> Iterator[Hit]:
    """Bare numbers beside a score's name: `F1: 0.88`, `87.4 on MMLU`."""
    behind_numbers: list[Hit] = []
    for start, end in _named(text):
        label = text.data[start:end].decode("utf-8", "replace")
        if found := _BEHIND_LABEL.match(text.data, end):
            yield Hit(*found.span(1), SpecificKind.FIGURE, label)
        elif found := _BEFORE_LABEL.search(text.data, max(0, start - _NUMBER_REACH), start):
            behind_numbers.append(Hit(*found.span(1), SpecificKind.FIGURE, label))
    # In `loss 0.3 F1 0.88` the name in front has the better claim.
    yield from behind_numbers


def _named(text: Text) -> Iterator[tuple[int, int]]:
    labels = _LABELS if text.data.isascii() else (*_LABELS, *_CHINESE_LABELS)
    lower = text.lower
    for label in [label for label in labels if label in lower]:
        at = lower.find(label)
        while at >= 0:
            is_cut = label.isascii() and text.data[max(0, at - 1) : at].isalnum()
            tail = None if is_cut else _LABEL_TAIL.match(lower, at + len(label))
            if tail:
                yield at, tail.end()
            at = lower.find(label, at + len(label))


FIGURES: Final = (Scanner(with_units, has_digit), Scanner(labelled, has_digit))
"""The classes of figures, of which a digest must hold every member."""
