"""The page and a report in Debian's chromium: their size, first paint against an empty page, and the slider.

    .venv/bin/python benchmarks/page.py

The tables are the hospital of the tests, with 50,000 stays and with 2,000, and COMPAS where it is installed. Paints are
the best of several, by turns with an empty page. The slider is measured by the clock, from the move to its picture.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pandas as pd

import tacit
from tacit.verbs.examples import compas_path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from hospital import SECRET, hospital
from opened_pages import OpenedPages, chromium, rungs_of, served, slider_time

RECORDS = 50_000
RUNS = 5
# How often the slider goes all the way.
SLIDES = 10
COMPAS = ["sex", "age", "race", "priors_count", "decile_score", "two_year_recid"]
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
        stays.to_csv(folder / "hospital-50000.csv", index=False)
        stays.head(2_000).to_csv(folder / "hospital.csv", index=False)
        if (compas := compas_path()) is not None:
            pd.read_csv(compas)[COMPAS].to_csv(folder / "compas.csv", index=False)
        with served(folder, browser) as pages:
            tab = pages.tab("/")
            sizes = tab.evaluate(WEIGHED)
            print(f"first page: {sum(sizes) / 1e3:,.0f} kB in {len(sizes)} requests")
            for each in sorted(folder.glob("*.csv")):
                slid(pages, each.name)


def slid(pages: OpenedPages, name: str) -> None:
    """Print how long the slider of a table takes, by the clock."""
    tab = pages.tab(f"/table?source={name}")
    tab.set_default_timeout(600_000)
    tab.get_by_role("button", name="This is right").click()
    tab.get_by_role("button", name="See what a safe version would keep").click()
    tab.wait_for_selector("#epsilon")
    times = [slider_time(tab, rung) for _ in range(SLIDES) for rung in rungs_of(tab)]
    *_, high = quantiles(times, n=20)
    told = f"{median(times):.0f} ms in the middle, {high:.0f} at the 95th percentile, {min(times):.0f} at best"
    print(f"slider on {name}: {told}, of {len(times)} moves (bar: 100)")
    sizes = tab.evaluate(WEIGHED)
    print(f"  its page: {sum(sizes) / 1e3:,.0f} kB in {len(sizes)} requests")
    tab.close()


if __name__ == "__main__":
    main()
