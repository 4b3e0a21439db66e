"""A session ends: confirm an apply that no later event did, keep what is shed.

Run by `bin/context-editor hook session-end` as `python -I -S`: without the person's paths, and without `site`.
"""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0] + "/src")

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import main

    sys.exit(main("session-end"))
