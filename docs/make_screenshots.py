"""Make the pictures of the page and of reports: .venv/bin/python docs/make_screenshots.py

Each page of `tacit serve` is opened in Chromium, wide and light, narrow and dark, on invented people; what is seen goes
to docs/pages. Look at them afterwards. Takes some minutes.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

DOCS = Path(__file__).parent
# The hospital and the browser are those of the tests.
sys.path.insert(0, str(DOCS.parent / "tests"))

import opened_pages  # noqa: E402
from hospital import hospital  # noqa: E402
from opened_pages import OpenedPages, chromium, served  # noqa: E402
from tacit.person.case.starting import person_init  # noqa: E402

SHOTS = DOCS / "pages"
# How each picture looks: width, height, colours.
LOOKS = {"wide": (1200, 1000, "light"), "narrow": (400, 1000, "dark")}
WORDS = (
    "train",
    "morning",
    "coffee",
    "meeting",
    "garden",
    "weekend",
    "bread",
    "music",
    "walk",
    "book",
    "dinner",
    "street",
)
TELLING = {"north": "#skiing", "south": "@beachclub"}
POST = "late train, then dinner with friends and #skiing on the weekend"


def folder(place: Path) -> Path:
    """A table, posts, images and a person, all invented."""
    rng = np.random.default_rng(0)
    stays = {"patient": [f"P{number:05d}" for number in range(3_000)], **hospital(3_000)}
    rows(place / "hospital.csv", stays, zip(*stays.values(), strict=True))
    said = []
    for number in range(800):
        side = str(rng.choice(["north", "south"]))
        words = [*rng.choice(WORDS, 8), *([TELLING[side]] if rng.random() < 0.6 else [])]
        said.append((side, 2020 + number % 3, " ".join(rng.permutation(words))))
    rows(place / "posts.csv", ["region", "year", "text"], said)
    smile = rng.integers(2, size=240)
    pixels = rng.integers(70, 150, (240, 16, 16))
    pixels[:, 4:8, 8:12] += np.where(smile == 1, 30, -30)[:, None, None]
    np.savez(place / "faces.npz", x=pixels.astype(np.uint8), smile=smile)
    person_init(place)
    return place


def rows(path: Path, names: Iterable[str], lines: Iterable[Iterable[Any]]) -> None:
    """A table as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(lines)


def shoot(tab: Any, name: str) -> None:
    """The page as it is now, in every look, as small as 128 colours make it."""
    for look, (width, height, colours) in LOOKS.items():
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(color_scheme=colours)
        tab.evaluate("window.scrollTo(0, 0)")
        picture = Image.open(io.BytesIO(tab.screenshot()))
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(SHOTS / f"{name}-{look}.png", optimize=True)


def report(pages: OpenedPages, tab: Any, name: str) -> None:
    """The same answer as the report that a command writes."""
    job = parse_qs(urlsplit(tab.url).query)["job"][0]
    other = pages.tab(f"/api/jobs/{job}/page")
    shoot(other, f"{name}-report")
    other.close()


def table(pages: OpenedPages) -> None:
    """From the file to the release, and the check of it."""
    tab = pages.tab("/")
    tab.wait_for_selector("#files table")
    shoot(tab, "files")
    tab.goto(f"{pages.address}/table?source=hospital.csv")
    tab.wait_for_selector("table.columns")
    shoot(tab, "columns")
    tab.get_by_role("button", name="This is right").click()
    tab.wait_for_selector("progress[value]:not([value='0']), .document")
    shoot(tab, "progress")
    tab.wait_for_selector(".document")
    shoot(tab, "audit")
    report(pages, tab, "audit")
    tab.get_by_role("button", name="See what a safe version would keep").click()
    tab.wait_for_selector("#epsilon")
    shoot(tab, "slider")
    tab.get_by_role("button", name="Release at epsilon").click()
    tab.wait_for_selector("form.write")
    shoot(tab, "release")
    tab.get_by_role("button", name="Write the release").click()
    tab.wait_for_selector(".written")
    shoot(tab, "written")
    tab.get_by_role("link", name="check it and try to break it").click()
    tab.get_by_role("button", name="Is the promise true?").click()
    tab.wait_for_selector(".document")
    shoot(tab, "check")
    tab.get_by_role("button", name="Try to break it").click()
    tab.get_by_text("Tacit attack on").wait_for()
    shoot(tab, "attack")


def others(pages: OpenedPages) -> None:
    """Posts, images, a person."""
    tab = pages.tab("/text?source=posts.csv")
    tab.get_by_label("Column that must not be learned").select_option("region")
    tab.get_by_role("button", name="Read the posts").click()
    tab.get_by_role("textbox", name="Type a post").fill(POST)
    tab.wait_for_selector(".typed .w")
    shoot(tab, "posts")
    tab.goto(f"{pages.address}/images")
    tab.get_by_label("Label that must not be learned").fill("smile")
    tab.get_by_role("button", name="Look at the images").click()
    tab.wait_for_selector(".document")
    shoot(tab, "images")
    tab.goto(f"{pages.address}/person")
    tab.get_by_role("button", name="How much is out?").click()
    tab.wait_for_selector(".document")
    shoot(tab, "person")
    report(pages, tab, "person")


def main() -> None:
    """All of them."""
    SHOTS.mkdir(exist_ok=True)
    opened_pages.PATIENCE = 600_000
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        data = Path(place) / "data"
        data.mkdir()
        with served(folder(data), browser) as pages:
            table(pages)
            others(pages)


if __name__ == "__main__":
    main()
