"""A folder with a table, and servers of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from served_page import Page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "data"
    place.mkdir()
    rows = "".join(f"{20 + i % 7},{'AB'[i % 3 == 0]}\n" for i in range(120))
    (place / "people.csv").write_text(f"age,race\n{rows}")
    return place


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
