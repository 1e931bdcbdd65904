"""Ctrl-C stops the command within a second, whatever native code is running."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

# How many seconds the usual KeyboardInterrupt may take to unwind before the process ends without it.
GRACE = 1.0


@contextmanager
def prompt() -> Iterator[None]:
    """Within it Ctrl-C raises KeyboardInterrupt as usual; if that cannot be raised in time, the process ends.

    Python sees a signal only between its own instructions, and DuckDB or HiGHS may take minutes between two of them.
    What was being written is removed first, and the message is the same. A request to terminate ends the process at
    once, with nothing left behind: DuckDB's spill files hold rows of the tables it read.
    """
    hears, rings = socket.socketpair()
    rings.setblocking(False)
    unwound = threading.Event()
    before = signal.set_wakeup_fd(rings.fileno(), warn_on_full_buffer=False)
    # Without a handler, the process would end before the watcher hears the signal.
    handler = signal.getsignal(signal.SIGTERM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, frame: None)
    watcher = threading.Thread(target=_watch, args=(hears, unwound), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        unwound.set()
        signal.signal(signal.SIGTERM, handler)
        signal.set_wakeup_fd(before)
        rings.close()
        watcher.join()
        hears.close()


@contextmanager
def left_to_others() -> Iterator[None]:
    """Within :func:`prompt`, a part that handles its own interrupts: a server must first stop its work."""
    before = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def _watch(hears: socket.socket, unwound: threading.Event) -> None:
    while heard := hears.recv(64):
        if signal.SIGTERM in heard:
            leave(143)
        if signal.SIGINT in heard and not unwound.wait(GRACE):
            leave(130)


def leave(code: int) -> NoReturn:
    """End the process at once, with nothing left behind, and say what was written before.

    A query that does not stop would still run while Python shuts down, and crash the process.
    """
    from tacit.tables.writing import abandon_drafts, what_appeared

    abandon_drafts()
    os.write(2, f"tacit: interrupted; {what_appeared()}\n".encode())
    os._exit(code)
