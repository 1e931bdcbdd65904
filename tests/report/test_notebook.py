"""A result in a notebook: its style stays inside, the notebook's stays outside, and a long answer is folded."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sample_results as samples
from sizes import few
from tacit.report import fragment

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
# What JupyterLab 4 does to tables and lists of what a cell shows, and a theme that its reader chose.
JUPYTER = """
.jp-RenderedHTMLCommon dl { display: grid; grid-template-columns: 20px 1fr; }
.jp-RenderedHTMLCommon dt { float: left; width: 20px; clear: both; }
.jp-RenderedHTMLCommon table { table-layout: fixed; margin-left: auto; }
.jp-RenderedHTMLCommon td { text-align: right; max-width: none; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: white; }
.jp-RenderedHTMLCommon code { background-color: white; }
"""
# The numbers that a browser has worked out are written where the test can read them.
LOOK = """
const seen = (name, what) => [...document.querySelectorAll(name)].map(one => getComputedStyle(one)[what]);
const several = values => [...new Set(values)].join();
document.querySelectorAll(".tacit details").forEach(one => one.open = true);
document.title = [
  several(seen(".tacit dt", "float")), several(seen(".tacit table", "tableLayout")),
  several(seen(".tacit tbody tr", "backgroundColor")), several(seen(".tacit code", "backgroundColor")),
  several(seen(".tacit .wide", "display")), several(seen(".tacit .narrow", "display")),
  several(seen(".tacit", "backgroundColor")), seen("#outside", "borderCollapse")[0],
  Math.min(...[...document.querySelectorAll(".tacit .tile dt, .tacit .reading dt")].map(one => one.clientWidth)) > 80,
].join("|");
"""


def style() -> str:
    found = re.search(r"<style>(.*?)</style>", fragment(samples.audit_result()), re.DOTALL)
    assert found is not None
    return found[1]


def test_every_rule_is_about_what_is_inside() -> None:
    rules = re.sub(r"@(media|container)[^{]*\{", "", style())
    selectors = [one for group in re.findall(r"([^{}]+)\{[^{}]*\}", rules) for one in re.split(r",(?![^(]*\))", group)]
    assert len(selectors) > 100
    for selector in selectors:
        assert re.search(r"\.tacit(-cell)?(?![\w-])", selector), selector
        # Our rules weigh more than the one that takes the notebook's back, and that one more than the notebook's.
        assert selector.count(".tacit") >= 4 or selector.strip() == ".tacit-cell"


def test_it_asks_for_nothing_and_goes_by_its_own_width() -> None:
    assert not re.search(r"url\(|https?:|@import", style())
    assert "@media (max-width" not in style()
    assert "@container tacit-cell (max-width: 820px)" in style()


def test_a_long_answer_is_folded_and_a_short_one_is_not() -> None:
    page = fragment(samples.audit_result())
    before, after = page.split('<details class="whole">')
    assert "What to do" in before
    assert "What leaks" in after
    before, after = fragment(samples.protect_result()).split('<details class="whole">')
    assert '<dl class="tiles">' in before
    assert "<section>" not in before
    assert after.count("<section>") > 1
    before, after = fragment(samples.verify_result()).split('<details class="whole">')
    assert "What was checked" in before
    assert "Every check" in after
    # What opens with nothing has its answer in its sections.
    assert '<details class="whole">' not in fragment(samples.check_result())


def test_records_of_people_are_not_in_a_notebook_unless_they_are_asked_for() -> None:
    audit = samples.audit_result()
    cells = {cell for row in audit.ladder.before for cell in row} | {
        str(value) for each in audit.riskiest for value in each.values.values()
    }
    whole, shown = fragment(audit, records=True), fragment(audit)
    assert 'class="before-after"' in whole
    assert whole.count('class="risky"') == len(audit.riskiest) > 0
    assert 'class="before-after"' not in shown
    assert 'class="risky"' not in shown
    assert "Notebooks are often passed on" in shown
    # Only common words remain of what the records hold: none is marked up as a cell of theirs.
    assert not any(f'title="{cell}">' in shown for cell in cells)
    assert 'data-rows="[[], []' in shown


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
@pytest.mark.parametrize("theme", few(["dark", "light"]))
def test_a_browser_shows_it_as_it_is_meant_whatever_the_notebook_does(theme: str, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(
        f"<!DOCTYPE html><style>{JUPYTER}</style><body data-jp-theme-light='{str(theme == 'light').lower()}'>"
        f"<table id=outside><tr><td>1</table><div class=jp-RenderedHTMLCommon style='width:700px'>"
        f"{fragment(samples.audit_result())}</div><script>{LOOK}</script>",
        "utf-8",
    )
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    card = "rgb(255, 255, 255)" if theme == "light" else "rgb(24, 28, 34)"
    clear = "rgba(0, 0, 0, 0)"
    assert title[1] == f"none|auto|{clear}|{clear}|none|block|{card}|separate|true"
