"""A tool is about to run: name the session to our own tools, and let reads of the archive pass.

Run by `bin/context-editor hook pre-tool-use` as `python -I -S`: without the person's paths, and without `site`.
"""

import sys

sys.path.insert(0, __file__.rpartition("/hooks/")[0] + "/src")

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import main

    sys.exit(main("pre-tool-use"))
