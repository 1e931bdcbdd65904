"""The other pages, in a browser: posts, images, a person, and a release that was received. In the long form."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opened_pages import OpenedPages, in_a_browser, served, unsound
from sizes import many
from tacit import protect
from tacit.person import person_init

in_the_long_form = pytest.mark.skipif(not many(0, 1), reason="in the long form: make test-long")
pytestmark = [pytest.mark.browser, in_a_browser, in_the_long_form]


def filled(folder: Path) -> Path:
    """Posts, images, a person, a table and the zip of a release of it."""
    rng = np.random.default_rng(0)
    lines = ["region,text"]
    for _ in range(600):
        side = rng.choice(["north", "south"])
        told = {"north": "#snow", "south": "@beach"}[side] if rng.random() < 0.6 else "nothing"
        lines.append(f"{side},{' '.join(rng.choice(['bread', 'train', 'walk', 'late', 'tea', 'book'], 8))} {told}")
    (folder / "posts.csv").write_text("\n".join(lines))
    smile = rng.integers(2, size=200)
    pixels = rng.integers(70, 150, (200, 16, 16))
    pixels[:, 4:8, 8:12] += np.where(smile == 1, 30, -30)[:, None, None]
    np.savez(folder / "faces.npz", x=pixels.astype(np.uint8), smile=smile)
    person_init(folder)
    ages, races = rng.integers(20, 60, 500), rng.choice(["A", "B"], 500)
    (folder / "table.csv").write_text("age,race\n" + "\n".join(f"{a},{r}" for a, r in zip(ages, races, strict=True)))
    protect(folder / "table.csv", secret="race", epsilon=0.5, out=folder / "made")
    with zipfile.ZipFile(folder / "received.zip", "w") as archive:
        for path in sorted((folder / "made").rglob("*")):
            if path.is_file() and "private" not in path.parts:
                archive.write(path, f"made/{path.relative_to(folder / 'made')}")
    return folder


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPages]:
    with served(filled(tmp_path_factory.mktemp("served")), browser) as opened:
        yield opened


def sound(tab: Any, pages: OpenedPages) -> None:
    assert unsound(tab) == []
    assert pages.noise == []


def test_a_post_is_read_while_it_is_typed_and_is_not_kept(pages: OpenedPages) -> None:
    tab = pages.tab("/text?source=posts.csv")
    tab.get_by_label("Column that must not be learned").select_option("region")
    tab.get_by_role("button", name="Read the posts").click()
    tab.get_by_role("textbox", name="Type a post").fill("a walk in the #snow <b>late</b>")
    tab.locator(".typed .w", has_text="#snow").wait_for()
    assert "north" in tab.locator(".typed .told").inner_text()
    assert tab.locator(".typed b", has_text="late").count() == 0
    kept = tab.evaluate("fetch('/api/jobs').then((answer) => answer.json())")
    assert not any(job["verb"] == "explain-text" for job in kept)
    sound(tab, pages)


def test_images_show_a_map_and_are_released(pages: OpenedPages) -> None:
    tab = pages.tab("/images?source=faces.npz")
    tab.get_by_label("Label that must not be learned").fill("smile")
    tab.get_by_role("button", name="Look at the images").click()
    tab.wait_for_selector(".document .maps img")
    sound(tab, pages)
    tab.get_by_label("How").select_option("noise")
    tab.get_by_role("button", name="Write the release").click()
    tab.get_by_role("link", name="Download the release").wait_for()
    sound(tab, pages)


def test_a_person_has_a_ladder_and_what_ifs(pages: OpenedPages) -> None:
    tab = pages.tab("/person")
    tab.get_by_role("button", name="How much is out?").click()
    tab.get_by_role("heading", name="The ladder").wait_for()
    sound(tab, pages)
    tab.get_by_role("button", name="I had a source removed").click()
    tab.locator(".document .label", has_text="remov").wait_for()
    tab.get_by_role("textbox", name="somebody searched for me").fill("name=Alice")
    tab.get_by_role("button", name="somebody searched for me").click()
    tab.wait_for_selector(".progress")
    tab.wait_for_selector(".document")
    sound(tab, pages)


def test_a_release_that_was_received_is_verified_and_attacked(pages: OpenedPages) -> None:
    tab = pages.tab("/check?release=received.zip&against=table.csv")
    tab.get_by_role("button", name="Is the promise true?").click()
    tab.locator(".document .answer", has_text="Holds").wait_for()
    sound(tab, pages)
    tab.get_by_role("button", name="Try to break it").click()
    tab.locator(".document .label", has_text="attack").wait_for()
    sound(tab, pages)
