"""Runs one module of the product on whatever interpreter this is, and on nothing else's path.

    PYTHON -I enter.py MODULE ARGS...

`-I` keeps the person's PYTHONPATH and user packages out; this file then puts the product's own
`src` first. It must still parse on Python 3.6, so that an old interpreter is told what is wrong.
"""

import os
import runpy
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - pathlib costs 10 ms on the way into every hook
"""The product's `src` folder."""


def main() -> None:
    """Run the named module as `__main__`; its arguments follow its name."""
    sys.path.insert(0, SOURCE)
    module = sys.argv[1]
    del sys.argv[1]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
