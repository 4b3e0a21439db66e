"""Starts a hook on a bare interpreter: `python -I -S enter_hook.py EVENT`.

`-I` keeps the person's own paths out, `-S` saves what only a look at the session needs.
"""

import sys

sys.path.insert(0, __file__.removesuffix("/context_editor/hosts/claude_code/enter_hook.py"))

if __name__ == "__main__":
    from context_editor.hosts.claude_code.quick import main

    sys.exit(main(sys.argv[1]))
