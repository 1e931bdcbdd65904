"""The page and a report in Debian's chromium: their weight, first paint beside an empty page, and the slider.

    .venv/bin/python benchmarks/page.py

The table is the hospital of the tests, with 50,000 stays. Paints are the best of several, by turns with an empty page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

import tacit

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from hospital import SECRET, hospital
from opened_pages import chromium, served, slider_times

RECORDS = 50_000
RUNS = 5
EMPTY = "<!DOCTYPE html><title>empty</title><p>nothing</p>"
PAINTED = """() => new Promise(told => { const seen = () => performance.getEntriesByName('first-contentful-paint')[0];
  const look = () => seen() ? told(seen().startTime) : setTimeout(look, 5); look(); })"""
WEIGHED = "() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
WEIGHED += ".map(each => each.decodedBodySize)"


def painted(browser: Any, address: str) -> float:
    """Milliseconds to the first paint with something in it, in a browser that has cached nothing."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    try:
        tab = context.new_page()
        tab.goto(address)
        return float(tab.evaluate(PAINTED))
    finally:
        context.close()


def main() -> None:
    stays = pd.DataFrame(hospital(RECORDS))
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        place = Path(name)
        empty, report = place / "empty.html", place / "report.html"
        empty.write_text(EMPTY)
        tacit.audit(stays, secret=SECRET).write_report(report)
        best = {empty: float("inf"), report: float("inf")}
        for _ in range(RUNS):
            for page in best:
                best[page] = min(best[page], painted(browser, page.as_uri()))
        print(
            f"report of {RECORDS:,} records: {report.stat().st_size / 1e3:,.0f} kB, first paint {best[report]:.0f} ms"
        )
        print(f"  {best[report] / best[empty]:.1f} times an empty page ({best[empty]:.0f} ms)")

        folder = place / "served"
        folder.mkdir()
        stays.to_csv(folder / "hospital.csv", index=False)
        with served(folder, browser) as pages:
            tab = pages.tab("/")
            sizes = tab.evaluate(WEIGHED)
            print(f"first page: {sum(sizes) / 1e3:,.0f} kB in {len(sizes)} requests")
            tab.get_by_role("link", name="Look at it").first.click()
            tab.wait_for_selector("table.columns", timeout=120_000)
            tab.get_by_role("button", name="This is right").click()
            tab.wait_for_selector(".document .answer", timeout=300_000)
            tab.get_by_role("button", name="See what a safe version would keep").click()
            tab.wait_for_selector("#epsilon", timeout=300_000)
            for name, times in zip(("clock", "processor"), zip(*slider_times(tab, RUNS), strict=True), strict=True):
                print(f"slider by the {name}: {median(times):.1f} ms a step, {max(times):.1f} ms at most (bar: 100)")
            sizes = tab.evaluate(WEIGHED)
            print(f"page of the slider: {sum(sizes) / 1e3:,.0f} kB in {len(sizes)} requests")


if __name__ == "__main__":
    main()
