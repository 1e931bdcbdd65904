"""Pages that are served to a real browser: the server in a thread, its workers as they are, what the console said."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sizes import many
from tacit.cli.serving import WORKER
from tacit.cli.wording import COMMAND_LINE
from tacit.web.jobs.desk import Desk

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = "no Chromium on this machine" if CHROMIUM is None else None
if MISSING is None and not (find_spec("playwright") and find_spec("axe_playwright_python")):
    MISSING = "playwright or axe-playwright-python is not installed"
in_a_browser = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
# A busy machine is not a failing test.
PATIENCE = many(60_000, 300_000)


class OpenedPages:
    """A folder that is served, and tabs of one browser in it. ``noise`` is what the console said, which is nothing."""

    def __init__(self, address: str, token: str, context: Any, desk: Desk) -> None:
        self.address, self.token, self.context, self.desk = address, token, context, desk
        self.noise: list[str] = []

    def tab(self, path: str = "/", width: int = 1200) -> Any:
        """A new tab at a path, with the cookie of one who was given the token."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda said: self.noise.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.on("dialog", lambda dialog: self.noise.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.goto(f"{self.address}{path}{'&' if '?' in path else '?'}token={self.token}")
        return page

    def answered(self, tab: Any, press: Callable[[], Any]) -> None:
        """Press what asks for a job, and wait until it has ended: a browser that waits itself looks at every frame."""
        with tab.expect_response(lambda answer: answer.request.method == "POST" and answer.status == 202):
            press()
        while any(job["state"] in ("waiting", "running") for job in self.desk.all()):
            time.sleep(0.1)


def unsound(tab: Any) -> list[str]:
    """What keeps somebody from using the page as it is now: what axe-core calls serious, and lines that run out of it.

    Afterwards the page is as wide as it was.
    """
    from axe_playwright_python.sync_playwright import Axe

    found = [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]
    wide = tab.viewport_size
    tab.set_viewport_size({"width": 400, "height": 900})
    over = tab.evaluate("document.documentElement.scrollWidth")
    tab.set_viewport_size(wide)
    return [*found, *([f"{over} pixels wide at 400"] if over > 400 else [])]


# From the key or the pointer to the picture: what is drawn in a frame is there when the task after it begins.
_MOVED = """rung => new Promise(told => { const range = document.getElementById('epsilon'), began = performance.now();
  range.value = String(rung); range.dispatchEvent(new Event('input', { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => told(performance.now() - began))); })"""


def rungs_of(tab: Any) -> range:
    """The places of the slider."""
    return range(int(tab.locator("#epsilon").get_attribute("max")) + 1)


def slider_time(tab: Any, rung: int) -> float:
    """Milliseconds by the clock until the page shows what is at a place of the slider, its picture included."""
    return float(tab.evaluate(_MOVED, rung))


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def served(folder: Path, browser: Any, *, worker: tuple[str, ...] = WORKER, **look: Any) -> Iterator[OpenedPages]:
    """Serve a folder, and open it; ``look`` is how the browser is set: its colours, its size."""
    import uvicorn

    from tacit.web.app import application
    from tacit.web.security import ADDRESS, Keys

    keys, listener = Keys(), socket.socket()
    listener.bind((ADDRESS, 0))
    port = listener.getsockname()[1]
    app = application(folder, keys, port=port, wording=COMMAND_LINE, worker=worker)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    # What moves is drawn again and again, by this processor.
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce", **look)
    try:
        yield OpenedPages(f"http://{ADDRESS}:{port}", keys.token, context, app.app.state.desk)
    finally:
        context.close()
        server.should_exit = True
        thread.join(20)
        listener.close()
