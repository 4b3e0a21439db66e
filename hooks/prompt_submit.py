"""A prompt was submitted: attach what it is to carry, once.

Run by `bin/context-editor hook prompt-submit` as `python -I -S`: without the person's paths, and without `site`.
"""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0] + "/src")

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import main

    sys.exit(main("prompt-submit"))
