"""A folder with a table, and servers of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from opened_pages import chromium
from served_page import Page


def _filled(place: Path) -> Path:
    place.mkdir()
    rows = "".join(f"{20 + i % 7},{'AB'[i % 3 == 0]}\n" for i in range(120))
    (place / "people.csv").write_text(f"age,race\n{rows}")
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _filled(tmp_path / "data")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A server for tests that leave it as it was."""
    with ExitStack() as stack:
        yield Page(_filled(tmp_path_factory.mktemp("shared") / "data"), stack)


@pytest.fixture
def start() -> Iterator[Callable[..., Page]]:
    """Starts a server of a folder; what its workers are at is stopped when the test ends."""
    with ExitStack() as stack:

        def started(folder: Path, **how: Any) -> Page:
            page = Page(folder, stack, **how)
            stack.callback(page.desk.close)
            return page

        yield started


@pytest.fixture
def page(folder: Path, start: Callable[..., Page]) -> Page:
    return start(folder)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a file of tests, and none for longer: while there is one, this thread has a loop that runs."""
    with chromium() as opened:
        yield opened
