"""The o200k token count, where its table is on disk.

This module alone knows tiktoken, and it never uses a network. tiktoken's own loader fetches a table
that is missing and deletes one that is damaged; so the table is read and checked here, and handed
over complete.
"""

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

TABLE_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The digest of the o200k_base table. Source: tiktoken 0.9, `tiktoken_ext/openai_public.py`."""

TABLE_NAMES: Final = ("o200k_base.tiktoken", "fb374d419588a4632f3f557e76b4b70aebbca790")
"""What the table is called: as published, and in tiktoken's cache (the SHA-1 of its address)."""

REMEMBERED_TEXTS: Final = 20_000
"""Counts kept, one for each different text: a very long session's rows, in about 3 MB."""

SLICE_CHARS: Final = 20_000
"""Characters counted at once; a cut costs one token at most.

tiktoken's matcher overflows its stack, and panics, on a single run of about a million spaces; and
the time for one unbroken run grows faster than its length.
"""

_LETTERS_END: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_SPLIT: Final = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        + _LETTERS_END,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        + _LETTERS_END,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""How o200k cuts a text before it looks pieces up; part of the encoding as the table is."""


class O200kCounter:
    """Counts o200k tokens; call it with a text.

    Counts are kept by a hash of the text, so a transcript that is measured again costs its hashing
    only.
    """

    def __init__(self, table: Path) -> None:
        """Read and check the table.

        Raises:
            OSError: The table cannot be read.
            ValueError: The file is not the o200k table.
            ImportError: tiktoken is not installed.
        """
        # Importing tiktoken costs tens of milliseconds: whoever never counts must not pay for it.
        import tiktoken  # noqa: PLC0415

        ranks = _ranks(table)
        self._encoding = tiktoken.Encoding(
            "o200k_base", pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens={}
        )
        self._counts: dict[bytes, int] = {}

    def __call__(self, text: str) -> int:
        """The number of o200k tokens of a text; special tokens count as the text they are."""
        raw = text.encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(raw, digest_size=16).digest()
        known = self._counts.get(key)
        if known is not None:
            return known
        slices = (text[at : at + SLICE_CHARS] for at in range(0, len(text), SLICE_CHARS))
        count = sum(len(self._encoding.encode_ordinary(part)) for part in slices)
        if len(self._counts) >= REMEMBERED_TEXTS:
            del self._counts[next(iter(self._counts))]
        self._counts[key] = count
        return count

    @property
    def remembered(self) -> int:
        """How many counts are kept."""
        return len(self._counts)


def o200k_counter(folder: Path | None) -> O200kCounter | None:
    """A counter by the table in a folder; None where there is none to be had.

    The table is missing or damaged, or tiktoken is not installed: an answer, not a fault. Sizes are
    then estimated from characters.

    Args:
        folder: Where the table may lie, under its published name or as tiktoken's cache names it.
    """
    table = next(filter(Path.is_file, _candidates(folder)), None)
    if table is None:
        return None
    try:
        return O200kCounter(table)
    except (OSError, ValueError, ImportError):
        return None


def _candidates(folder: Path | None) -> Iterable[Path]:
    """The paths at which the table may lie; none without a folder."""
    return () if folder is None else (folder / name for name in TABLE_NAMES)


def _ranks(table: Path) -> dict[bytes, int]:
    """The table's tokens and their ranks, once the file has proved to be the table."""
    raw = table.read_bytes()
    if hashlib.sha256(raw).hexdigest() != TABLE_SHA256:
        msg = f"{table} is not the o200k_base table: its SHA-256 differs"
        raise ValueError(msg)
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}
