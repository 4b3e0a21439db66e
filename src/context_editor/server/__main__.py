"""`python -m context_editor.server`: serve over stdio.

`--write-tools` writes what is published to the launcher's file instead.
"""

import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Serve until the client leaves.

    Returns:
        The exit status.
    """
    # The host ends a server by SIGINT; there is nothing to tidy up, and no traceback to show.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import anyio  # noqa: PLC0415 (the signal must be set before anything that takes time)

    from context_editor.server.app import serve, write_tools  # noqa: PLC0415
    from context_editor.server.calls import Desk  # noqa: PLC0415
    from context_editor.server.sessions import Sessions  # noqa: PLC0415

    if "--write-tools" in arguments:
        write_tools()
        return 0
    anyio.run(serve, Desk(Sessions()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
