"""Lets the real server take over a connection that the stand-in has already opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import IO

CHUNK_BYTES = 65536
"""How much is carried at a time: what a pipe holds on Linux."""


def hand_over(command: list[str], opening: list[bytes], line: bytes) -> int:
    """Start the real server behind this process and carry every byte from now on.

    The client has had its handshake answered, so the server hears the same opening again and
    its answer to it is dropped.

    Args:
        command: The server's command line.
        opening: The client's `initialize` and what followed it; may be empty.
        line: The message that was read last and not answered.

    Returns:
        The server's exit status.
    """
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if server.stdin is None or server.stdout is None:  # pragma: no cover - both are PIPE above
        return 1
    server.stdin.write(b"".join([*opening, line]))
    server.stdin.flush()
    # The thread is left to the exit of this process: it waits in a read that nothing can end.
    threading.Thread(target=_carry_in, args=(server.stdin,), daemon=True).start()
    _carry_out(server.stdout, _ids_of(opening))
    return server.wait()


def _ids_of(opening: list[bytes]) -> list[object]:
    """The ids of the requests in the opening: their answers the client already has."""
    messages = [json.loads(line) for line in opening]
    return [message["id"] for message in messages if "id" in message]


def _carry_in(server_in: IO[bytes]) -> None:
    """Carry what the client sends; the end of its stream is the end of the server's."""
    try:
        while chunk := os.read(sys.stdin.fileno(), CHUNK_BYTES):
            server_in.write(chunk)
            server_in.flush()
        server_in.close()
    except BrokenPipeError:
        # The server has ended; the reader of its output sees that too and ends this process.
        return


def _carry_out(server_out: IO[bytes], answered: list[object]) -> None:
    """Carry what the server sends, without the answers that the client already has."""
    for line in server_out:
        if answered and json.loads(line).get("id") in answered:
            answered = []
            continue
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
