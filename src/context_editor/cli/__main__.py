"""`python -m context_editor.cli`."""

import sys

from context_editor.cli.main import main

sys.exit(main())
