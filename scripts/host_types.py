"""Lays the host's own declarations of the mod's API where the host lays them itself.

    python scripts/host_types.py

They are the host's, so they are not kept here; a scripted session asks it for them. Written to
`.claude-plugin/types/claude-code/index.d.ts`, where `tsconfig.json` reads them.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
"""The checkout."""

TYPES: Final = ROOT / ".claude-plugin" / "types" / "claude-code" / "index.d.ts"
"""Where the host lays its declarations beside a mod that it loads from a folder."""

SKILL: Final = "plugin-authoring"
"""The host's bundled skill whose folder holds `types/claude-code.d.ts`."""


def main() -> int:
    """Fetch the declarations from the host, unless those of its pinned release are there."""
    sys.path.insert(0, str(ROOT))
    from tests.host.host import MISSING, PINNED_VERSION, Host, binary  # noqa: PLC0415
    from tests.host.scripted_model import say, use  # noqa: PLC0415 - found through the line above

    if TYPES.exists() and f"Claude Code {PINNED_VERSION}." in TYPES.read_text(encoding="utf-8"):
        return 0
    program = binary()
    if program is None:
        print(MISSING, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        script = [say("Loading.", use("Skill", {"skill": SKILL})), say("Done.")]
        run = Host(program, Path(scratch)).run("go", script, tools=["Skill"])
        found = re.search(rf"(/[^\s\"\\]*/{SKILL})\b", str(run.bodies[-1]["messages"]))
        if found is None:
            print(f"the host named no folder for its skill {SKILL}", file=sys.stderr)
            return 1
        TYPES.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(found[1]) / "types" / "claude-code.d.ts", TYPES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
