"""Ctrl-C that stops the command within a second, whatever native code is at work."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# How long the usual KeyboardInterrupt may take to unwind before the process leaves without it.
GRACE = 1.0


@contextmanager
def prompt(message: str) -> Iterator[None]:
    """Within it Ctrl-C raises KeyboardInterrupt as usual; if that cannot be raised in time, the process ends.

    Python sees a signal only between its own instructions, and DuckDB or HiGHS may take minutes between two of them.
    What was being written is removed first, and the message is the same.
    """
    hears, rings = socket.socketpair()
    rings.setblocking(False)
    unwound = threading.Event()
    before = signal.set_wakeup_fd(rings.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(hears, unwound, message), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        unwound.set()
        signal.set_wakeup_fd(before)
        rings.close()
        watcher.join()
        hears.close()


def _watch(hears: socket.socket, unwound: threading.Event, message: str) -> None:
    while heard := hears.recv(64):
        if signal.SIGINT in heard and not unwound.wait(GRACE):
            from tacit.tables.writing import abandon_drafts

            abandon_drafts()
            os.write(2, f"{message}\n".encode())
            os._exit(130)
