"""Start the server on this machine, and a browser for it."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress

from tacit.errors import ArgumentError, EngineError, Setting, Wording, sentence

PORT = 8765
# If no port is named and this one is taken, how many are tried.
_TRIED = 20
_NEEDED = "the page needs FastAPI and uvicorn: pip install 'tacit[web]'"


def serve(
    folder: str | os.PathLike[str],
    *,
    port: int | None,
    wording: Wording,
    worker: Sequence[str],
    browser: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve a folder until somebody interrupts; ``tell`` is given the address, which holds the token.

    Guarantees
    ----------
    The server can be reached only from this machine.
    """
    try:
        import uvicorn

        from tacit.web.app import application
        from tacit.web.security import ADDRESS, Keys
    except ImportError as error:
        raise EngineError(_NEEDED) from error

    keys = Keys()
    with _listening(ADDRESS, port) as listener:
        bound = listener.getsockname()[1]
        app = application(folder, keys, port=bound, wording=wording, worker=worker, spare=True)
        config = uvicorn.Config(
            app,
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
        address = f"http://{ADDRESS}:{bound}/?token="
        tell(address + keys.token)
        if browser:
            # In a thread: a text browser would block this call while it waits for the server.
            threading.Thread(target=webbrowser.open, args=(address + keys.code(),), daemon=True).start()
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(address: str, port: int | None) -> socket.socket:
    tried = (port,) if port is not None else (*range(PORT, PORT + _TRIED), 0)
    for each in tried:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, each))
        except OSError:
            listener.close()
            continue
        listener.listen(128)
        return listener
    raise ArgumentError(sentence("{port} is taken: choose another", port=Setting("port", port)))
