"""What stands in the agent's own stores: the pad, and the index of its journal (rules K-R1 to K-R4)."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from context_editor.core.edits.wording import cut
from context_editor.core.journal import ENTRY_NAME, area_below
from context_editor.errors import RefusedError

PAD_NAME: Final = "pad.md"
"""The pad's file, in the store folder."""

SHOWN_CHARS: Final = 2_000
"""How much of each store is shown: a store that says more is opened by itself."""

REBUILD_TURNS: Final = 5
"""Within so many turns of another rebuild one that has nothing to apply is refused (rule K-R4)."""

HOSTS_FILES: Final = (
    "CLAUDE.md and AGENTS.md are the host's: it loads them when a session starts and when it compacts, so a change of "
    "them on disk is not in your prompt now. Read them yourself if you changed them."
)
"""What every answer to a rebuild says of files that are not ours (rule K-R3)."""


@dataclass(frozen=True)
class Stores:
    """The stores as they stand on disk.

    Attributes:
        root: The project root.
        store_dir: Where they stand, relative to it.
    """

    root: Path
    store_dir: str = "."

    def words(self) -> str:
        """What stands there, for the model to read.

        Raises:
            RefusedError: A store is there and cannot be read; nothing is applied then (rule K-R2).
        """
        pad = os.path.normpath(f"{self.store_dir}/{PAD_NAME}")
        index = f"{area_below(self.store_dir)}/{ENTRY_NAME}"
        return "\n".join((self._words("Pad", pad), self._words("Journal index", index)))

    def _words(self, name: str, relative: str) -> str:
        try:
            text = (self.root / relative).read_bytes().decode("utf-8")
        except FileNotFoundError:
            return f"{name}: {relative} does not exist"
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{relative} cannot be read ({error}): mend it, then call again. Nothing was applied."
            raise RefusedError(msg) from error
        said = text.strip()
        if not said:
            return f"{name}: {relative} is empty"
        return f"{name} ({relative}, {len(text)} characters):\n{cut(said, SHOWN_CHARS)}"
