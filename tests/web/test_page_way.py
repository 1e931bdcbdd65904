"""The page, in a browser: the whole way from a file to a release that was downloaded, and what may go wrong on it."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from excel_files import write_workbook
from hospital import hospital
from opened_pages import OpenedPages, in_a_browser, rungs_of, served, slider_time, unsound
from served_page import STUB_WORKER
from sizes import few, many
from tacit.verbs.examples import compas_path

pytestmark = [pytest.mark.browser, in_a_browser]
# One way in the quick form; the others take their time.
WAYS = (("hospital.csv", "illness"), ("compas.csv", "race"), ("hospital.xlsx", "illness"))[: many(1, 3)]
# Milliseconds in which the slider answers, and how often it may try.
QUICK, MOVES = 100, 12
EVIL = "<img src=x onerror=\"window.owned=1;alert('x')\">"


def written(path: Path, columns: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    return path


def table(name: str, place: Path) -> Path:
    """A table by its name, somewhere that is not served."""
    if name == "compas.csv":
        if (path := compas_path()) is None:
            pytest.skip("COMPAS is not installed")
        with path.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        wanted = ("sex", "age", "race", "priors_count", "decile_score", "two_year_recid")
        return written(place / name, {each: [line[each] for line in lines] for each in wanted})
    n = many(1_000, 2_000)
    stays = {"patient": [f"P{number:05d}" for number in range(n)], **hospital(n)}
    if not many(0, 1):
        # Few values, which counting suffices for.
        stays = {each: stays[each] for each in ("patient", "illness", "sex", "ward")}
    # A file may hold anything: it is shown, and never run.
    stays[EVIL] = ["<script>window.owned=1</script>", "b", EVIL, "{{7*7}}"] * (n // 4)
    if name.endswith(".xlsx"):
        return write_workbook(place / name, {"stays": [tuple(stays), *zip(*stays.values(), strict=True)]})
    return written(place / name, stays)


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPages]:
    folder = tmp_path_factory.mktemp("served")
    evil = {
        EVIL: [EVIL, "b"] * 60,
        "race": ["<script>window.owned=1</script>", "x", "y"] * 40,
        "=1+1": ["{{7*7}}"] * 120,
    }
    written(folder / "evil.csv", evil)
    with served(folder, browser) as opened:
        yield opened


def to_the_trade_off(tab: Any, secret: str, pages: OpenedPages) -> None:
    """From the columns, whose guesses are looked at and confirmed, to the slider."""
    assert tab.get_by_label(f"What is {secret}?").input_value() == "secret"
    # That somebody knows a column weakens the promise: it is suggested, and said by nobody but the reader.
    assert tab.get_by_text("others may well know this").count() > 0
    assert tab.locator(".tick input:checked").count() == 0
    only_some_values_are_secret(tab, secret)
    assert unsound(tab) == []
    nothing_was_run(tab)
    pages.answered(tab, tab.get_by_role("button", name="This is right").click)
    tab.wait_for_selector(".document .answer")
    assert unsound(tab) == []
    nothing_was_run(tab)
    tab.get_by_role("button", name="See what a safe version would keep").click()
    tab.wait_for_selector("#epsilon")


def only_some_values_are_secret(tab: Any, secret: str) -> None:
    """Values are named with commas between them, and said again before anything is asked; here all are meant."""
    values = tab.get_by_label(f"Are only some values of {secret}")
    values.fill('I21, "a, b"')
    assert f"{secret} (I21 and a, b; all others are one)" in tab.locator(".summed").inner_text()
    values.fill("")
    assert "all others" not in tab.locator(".summed").inner_text()


def a_column_that_is_not_told_says_why_and_what_would_tell_it(tab: Any) -> None:
    range_ = tab.locator("#epsilon")
    before = range_.input_value()
    range_.fill("0")
    why = tab.locator(".why").first
    assert tab.locator(".why").count() == tab.get_by_text("not shown", exact=True).count() > 0
    why.locator("summary").click()
    assert "no split of" in why.inner_text()
    finer = why.get_by_role("button", name="epsilon")
    if finer.count():
        finer.click()
        assert range_.input_value() != "0"
    range_.fill(before)


def nothing_was_run(tab: Any) -> None:
    """What a file holds is text: no element came of it, and no script ran."""
    assert tab.locator("main img, main script").count() == 0
    assert tab.evaluate("window.owned") is None


@pytest.mark.parametrize(("name", "secret"), WAYS)
def test_the_whole_way_from_a_hostile_file_to_a_downloaded_release(
    name: str, secret: str, pages: OpenedPages, tmp_path: Path
) -> None:
    tab = pages.tab("/")
    path = table(name, tmp_path)
    pages.answered(tab, lambda: tab.set_input_files("#file", path))
    tab.wait_for_selector("table.columns")
    if name.startswith("hospital"):
        assert tab.get_by_label("What is patient?").input_value() == "drop"
        assert tab.get_by_role("rowheader", name=EVIL, exact=True).inner_text() == EVIL
    to_the_trade_off(tab, secret, pages)
    a_column_that_is_not_told_says_why_and_what_would_tell_it(tab)
    assert unsound(tab) == []
    nothing_was_run(tab)
    slider_is_quick_and_moves_by_keys(tab)
    what_is_not_told_is_said(tab)
    the_edge_of_a_wide_table_is_seen(tab)
    changed = tab.locator(".rows .changed").first
    assert changed.locator("del").count() == 1, "a changed cell is marked by more than colour"
    tab.locator("button.main", has_text="Release at epsilon").click()
    assert unsound(tab) == []
    data = "data.parquet" if name.endswith(".xlsx") else "data.csv"
    assert tab.locator(".write dt").first.inner_text() == data
    tab.get_by_label("Name of the release").fill(f"made of {name}")
    pages.answered(tab, tab.get_by_role("button", name="Write the release").click)
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download the release").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        inside = {Path(each).name for each in archive.namelist()}
        assert {data, "certificate.json", "report.html", "levels.json"} <= inside
        assert not any("private" in each for each in archive.namelist())
    assert unsound(tab) == []
    nothing_was_run(tab)
    assert "Holds" in tab.locator(".document .answer").inner_text()
    tab.get_by_text("The same on the command line").click()
    assert tab.locator(".command code").inner_text().startswith("tacit protect ")
    # The same address shows the same release again, in another tab and another day.
    again = pages.tab(tab.url.removeprefix(pages.address))
    assert again.get_by_role("link", name="Download the release").count() or again.wait_for_selector(".written")
    assert pages.noise == []


def slider_is_quick_and_moves_by_keys(tab: Any) -> None:
    """Every rung is shown within 100 ms by the clock; arrows move it, and it says in words where it is.

    A machine that does other things at the same time makes some moves slow: the best of several counts.
    """
    for rung in reversed(rungs_of(tab)):
        assert any(slider_time(tab, rung) < QUICK for _ in range(MOVES)), rung
    before = tab.locator("#promise").inner_text()
    tab.locator("#epsilon").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#promise").inner_text() != before
    assert "of 1,000 people" in tab.locator("#epsilon").get_attribute("aria-valuetext")


def what_is_not_told_is_said(tab: Any) -> None:
    """A column that reads "any" in all ten records is said not to be told, and no other, at every rung."""
    lists = tab.evaluate(
        """() => { const range = document.getElementById("epsilon"); const before = range.value; const lists = [];
        for (let rung = 0; rung <= Number(range.max) + 1; rung++) {
          range.value = rung > Number(range.max) ? before : String(rung);
          range.dispatchEvent(new Event("input", { bubbles: true }));
          const rows = [...document.querySelectorAll(".rows tbody tr")].map(row => [...row.querySelectorAll("td")]);
          const kept = [...document.querySelectorAll(".kept tbody tr")];
          const any = cell => /^(any( number| date)?|[*])$/.test(cell.querySelector("ins")?.textContent);
          lists.push([rows[0].map((_, place) => rows.every(row => any(row[place]))),
            kept.map(row => row.textContent.includes("not shown"))]); }
        return lists; }"""
    )
    assert [unread for unread, _ in lists] == [said for _, said in lists]
    assert any(any(said) for _, said in lists), "nothing was tested"


def the_edge_of_a_wide_table_is_seen(tab: Any) -> None:
    """On a narrow screen the ten records have an edge and a note, until they are scrolled to their end."""
    before = tab.viewport_size
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.get_by_text("Scroll sideways to see more columns.").wait_for()
    tab.locator(".edged.more").wait_for()
    tab.locator(".edged .scroll").evaluate("box => box.scrollLeft = box.scrollWidth")
    tab.locator(".edged:not(.more)").wait_for()
    tab.set_viewport_size(before)


@pytest.fixture
def acted(browser: Any, tmp_path: Path) -> Iterator[OpenedPages]:
    """A folder whose jobs a stand-in answers, as the names of the files say."""
    for name in ("slow.csv", "bad.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    with served(tmp_path, browser, worker=STUB_WORKER) as opened:
        yield opened
        (tmp_path / "go").write_text("")


def test_an_error_is_the_command_lines_sentence_where_the_answer_would_be(acted: OpenedPages) -> None:
    tab = acted.tab("/table?source=bad.csv")
    tab.get_by_text("bad is no table").wait_for()
    assert tab.get_by_role("alert").count() == 1
    assert tab.get_by_role("alert").inner_text().startswith("This file cannot be read.")
    assert tab.get_by_role("link", name="Choose another file").get_attribute("href") == "/"
    tab.get_by_role("button", name="Run it again").click()
    tab.get_by_text("bad is no table").wait_for()
    assert acted.noise == []


def test_what_is_refused_before_there_is_a_job_is_told_in_the_command_lines_words_alone(acted: OpenedPages) -> None:
    tab = acted.tab("/table?source=../people.csv")
    alert = tab.get_by_role("alert")
    alert.wait_for()
    assert alert.inner_text() == "a file is named as it is listed: no '..', no '/' before it, no other folder"


def test_a_job_is_cancelled_in_the_middle_and_survives_its_tab(acted: OpenedPages) -> None:
    first = acted.tab("/table?source=slow.csv")
    first.get_by_text("counting", exact=False).first.wait_for()
    assert first.locator("progress").first.evaluate("bar => bar.value") == 0.25
    address = first.url
    first.close()
    second = acted.tab("/check")
    second.locator("#jobs summary").click()
    second.get_by_role("link", name="Columns: slow.csv").click()
    second.wait_for_selector(".progress")
    assert second.url == address
    third = acted.tab(address.removeprefix(acted.address))
    second.locator(".progress").get_by_role("button", name="Cancel").click()
    for tab in (second, third):
        tab.get_by_text("This job was cancelled. Nothing was written.").wait_for()
    assert acted.noise == []


def test_every_page_opens_in_silence_for_everybody(pages: OpenedPages) -> None:
    tab = pages.tab("/")
    # What stands on the others is looked at on the ways that lead over them.
    for path in few(("/", "/table", "/text", "/images", "/person", "/check"), 2):
        tab.goto(f"{pages.address}{path}")
        tab.wait_for_selector("main h1")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert tab.locator("header, nav, main, footer").count() >= 4
        assert unsound(tab) == [], path
        assert pages.noise == [], path
