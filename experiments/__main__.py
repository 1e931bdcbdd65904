"""Reproduce the papers: ``python -m experiments [PAPER ...] [--quick]``.

Each paper's results go to ``experiments/PAPER/results.json``; its page, filled from them, and its figures to
``docs/papers``. With ``--quick`` sizes are small and everything goes to a temporary folder: it shows that the code
runs, not the numbers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from experiments.paper import Page, Results, items_table, load, save, table
from tacit.errors import TacitError

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "papers"
PAPERS = ("watchdog", "relaxed", "tide", "person")


def do(paper: str, *, quick: bool, out: Path) -> Page:
    """Run one paper and write its results, page and figures."""
    begun = time.process_time()
    stored = out / f"{paper}.json" if quick else HERE / paper / "results.json"

    def say(text: str) -> None:
        print(f"{paper}: {text}", flush=True)

    results = import_module(f"experiments.{paper}.run").run(quick=quick, say=say)
    taken = time.process_time() - begun
    say(f"{taken:.0f} CPU-seconds")
    save(results | {"cpu_seconds": taken}, stored)
    return write(paper, load(stored), out)


def write(paper: str, results: Results, out: Path) -> Page:
    """The page and the figures of a paper, from nothing but its results."""
    page: Page = import_module(f"experiments.{paper}.page").page(results)
    out.mkdir(parents=True, exist_ok=True)
    for name, svg in page.figures.items():
        (out / f"{paper}-{name}.svg").write_text(svg, encoding="utf-8")
    (out / f"{paper}.md").write_text(page.filled((HERE / paper / "page.md").read_text("utf-8")), encoding="utf-8")
    return page


def main() -> None:
    """Reproduce the papers named, or all, and report what became of every item."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Reproduce the papers' tables and figures."
    )
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"one of {', '.join(PAPERS)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="small sizes, into a temporary folder")
    asked = parser.parse_args()
    unknown = sorted(set(asked.papers) - set(PAPERS))
    if unknown:
        parser.error(f"there is no paper {', '.join(unknown)}; there are: {', '.join(PAPERS)}")
    out = Path(tempfile.mkdtemp(prefix="papers-")) if asked.quick else PAGES
    pages = {paper: do(paper, quick=asked.quick, out=out) for paper in asked.papers or PAPERS}
    for paper, page in pages.items():
        print(f"\n{paper}\n{items_table(page.items)}")
    if not asked.quick:
        (PAGES / "README.md").write_text(index(), encoding="utf-8")
    print(f"\n{counted(pages)}\npages are in {out}")


def index() -> str:
    """The page that lists all papers and what became of their items, from the stored results."""
    results = {paper: load(HERE / paper / "results.json") for paper in PAPERS}
    pages: dict[str, Page] = {
        paper: import_module(f"experiments.{paper}.page").page(found) for paper, found in results.items()
    }
    taken = {paper: found["cpu_seconds"] / 60 for paper, found in results.items()}
    each = ", ".join(f"{paper} {minutes:.0f}" for paper, minutes in taken.items())
    others = [
        (f"[{paper}]({paper}.md)", item.name, item.outcome, item.why)
        for paper, page in pages.items()
        for item in page.items
        if item.outcome != "reproduced"
    ]
    return (
        "# The papers, reproduced\n\n`make papers` computes every table and figure again and writes these pages; "
        "`make papers PAPER=relaxed` does one of them.\n\n"
        f"It takes {sum(taken.values()):.0f} CPU-minutes: {each}.\n\n"
        f"{counted(pages)}\n\n## What differs from print\n\n{table(('paper', 'item', 'outcome', 'why'), others)}\n"
    )


def counted(pages: Mapping[str, Page]) -> str:
    """How many items of each paper were reproduced, corrected, or not available."""
    outcomes = ("reproduced", "corrected", "not available")
    rows = [
        (f"[{paper}]({paper}.md)", *(sum(item.outcome == each for item in page.items) for each in outcomes))
        for paper, page in pages.items()
    ]
    return table(("paper", *outcomes), rows)


if __name__ == "__main__":
    try:
        main()
    except TacitError as problem:
        # No data: the message says how to get them.
        print(problem, file=sys.stderr)
        raise SystemExit(3) from None
