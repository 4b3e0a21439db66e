"""The host is about to compact: stop it where it would answer a command of ours, archive before its own.

Run by `bin/context-editor hook pre-compact` as `python -I -S`: without the person's paths, and without `site`.
"""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0] + "/src")

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import main

    sys.exit(main("pre-compact"))
