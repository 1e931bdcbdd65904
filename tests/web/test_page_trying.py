"""The page, in a browser: what is tried says what it did and whether it helped, and is undone with a click.

A stand-in answers as the request says, with answers that were made before: what the verbs find is tested elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sample_results as samples
from opened_pages import OpenedPages, in_a_browser, served, unsound
from tacit.report import plain, to_html

pytestmark = [pytest.mark.browser, in_a_browser]
CANNED = """
import json, sys
from pathlib import Path
from tacit.web.jobs.kept import KeptJob, PAGE, REQUEST, RESULT

job = KeptJob(Path(sys.stdin.readline().strip()))
asked = job.read(REQUEST)
request = asked["request"]
kind = {"audit": "-".join(request.get("drop", [])), "ladder": "told" if "prefer" in request else ""}
with job.held():
    canned = Path.cwd() / f"{asked['verb']}{kind.get(asked['verb'], '')}.json"
    job.write_text(PAGE, (Path.cwd() / "page.html").read_text())
    job.write(RESULT, json.loads(canned.read_text()))
"""


def answers(folder: Path) -> None:
    """Two audits and two trade-offs: without the zip nobody is found, and put first the zip is told at epsilon 0.1.

    A trade-off starts from the file itself, whatever is examined: its original never changes.
    """
    audit, ladder = samples.audit_result(), samples.ladder()
    first, *rest = ladder.rungs
    told = replace(ladder, rungs=(replace(first, rows=(("13*", "any", "any", "f"), ("2*", "any", "any", "m"))), *rest))
    at_risk = {"found": ladder.original.found, "guessed": ladder.original.guessed}
    advice = [
        {"words": f"Leave out {name}", "settings": {"secret": ["race"], "drop": [name]}, **effect}
        for name, effect in (("zip", {"found": 0.0, "guessed": 12.0, "kept": 0.75}), ("sex", {}))
    ]
    found = {**audit.to_dict(), "advice": advice, "fixes": at_risk}
    columns = {"columns": [{"name": "zip", "levels": ["3 characters"]}], "written": ".csv"}
    canned = {
        "columns": columns,
        "audit": found,
        "auditsex": found,
        "auditzip": {**found, "fixes": {"found": 0.0, "guessed": 12.0}},
        "ladder": ladder,
        "laddertold": told,
        "verify": {},
    }
    for name, answer in canned.items():
        (folder / f"{name}.json").write_text(json.dumps(plain(answer)))
    (folder / "page.html").write_text(to_html(audit))
    (folder / "people.csv").write_text("zip,race\n1,2\n")
    (folder / "made").mkdir()
    (folder / "made" / "certificate.json").write_text("{}")


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPages]:
    folder = tmp_path_factory.mktemp("served")
    answers(folder)
    with served(folder, browser, worker=(sys.executable, "-c", CANNED)) as opened:
        yield opened


@pytest.fixture
def tab(pages: OpenedPages) -> Any:
    """A tab at an audit."""
    tab = pages.tab("/")
    asked = "{method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)}"
    job = tab.evaluate(
        f"body => fetch('/api/audit', {asked}).then(answer => answer.json())",
        {"source": "people.csv", "secret": ["race"]},
    )
    tab.goto(f"{pages.address}/table?job={job['id']}")
    tab.locator(".document .answer").wait_for()
    return tab


@pytest.mark.long
def test_advice_stands_beside_its_effect_and_is_followed_and_undone_with_a_click(tab: Any, pages: OpenedPages) -> None:
    advice = tab.locator("table.advised tbody tr")
    assert [each.split("\t") for each in advice.all_inner_texts()] == [
        ["no change", "412", "96", "100%"],
        ["Leave out zip", "0", "12", "75%"],
        ["Leave out sex", "–", "–", "–"],
    ]
    # The buttons stand for the lines of the command line.
    assert "--drop" not in tab.locator("section", has=tab.locator(".advised")).last.inner_text()
    was = tab.url
    tab.get_by_role("button", name="Leave out sex").click()
    effect = tab.locator(".effect")
    assert effect.inner_text().startswith(
        "Leave out sex: this did not help. People in 1,000 who could be found 412 → 412"
    )
    assert unsound(tab) == []
    tab.get_by_role("button", name="Undo: Leave out sex").click()
    effect.wait_for(state="detached")
    assert tab.url == was
    # Whoever goes by keys is at what came of it, not at the top of the page.
    assert tab.evaluate("document.activeElement.id") == "step"
    assert "tried: found 412, guessed 96" in advice.nth(2).inner_text()
    tab.get_by_role("button", name="Leave out zip").click()
    assert effect.inner_text().startswith("Leave out zip: people in 1,000 who could be found 412 → 0,")
    assert "guessed 96 → 12." in effect.inner_text()
    assert pages.noise == []


def test_what_was_to_tell_a_column_says_whether_it_did_and_is_undone_with_a_click(tab: Any, pages: OpenedPages) -> None:
    tab.get_by_role("button", name="See what a safe version would keep").click()
    slider = tab.locator("#epsilon")
    slider.fill("0")
    why = tab.locator(".kept .why").first
    why.locator("summary").click()
    # What was tried for the slider is measured already.
    assert "epsilon 0.5\ntried: 76% kept" in why.inner_text()
    was = tab.url
    why.get_by_role("button", name="5 people per row").click()
    effect = tab.locator(".effect")
    assert "At least 5 people: this did not help, zip is still not shown." in effect.inner_text()
    assert tab.locator("#least").input_value() == "5"
    assert unsound(tab) == []
    tab.get_by_role("button", name="Undo: At least 5 people").click()
    effect.wait_for(state="detached")
    assert (tab.url, slider.input_value(), tab.locator("#least").input_value()) == (was, "0", "10")
    why.locator("summary").click()
    assert "5 people per row\ntried: still not shown" in why.inner_text()
    why.get_by_role("button", name="keep it first").click()
    assert "zip first: zip is shown now." in effect.inner_text()
    assert pages.noise == []


def test_the_upper_side_alone_is_promised_where_that_is_asked(tab: Any) -> None:
    tab.get_by_role("button", name="See what a safe version would keep").click()
    tab.get_by_label("Promise both ways").uncheck()
    tab.get_by_text("It may make one unlikely, or rule it out.").wait_for()
    tab.go_back()
    tab.get_by_text("or as unlikely.").wait_for()


@pytest.mark.long
def test_what_cannot_be_asked_says_so_in_the_pages_words_and_takes_nothing_away(tab: Any, pages: OpenedPages) -> None:
    tab.goto(f"{pages.address}/check?release=made")
    tab.get_by_role("button", name="Is the promise true?").click()
    tab.locator(".document").wait_for()
    tab.get_by_role("button", name="Try to break it").click()
    assert "takes the original" in tab.get_by_role("alert").inner_text()
    assert tab.locator(".document").count() == 1
    assert unsound(tab) == []
    assert pages.noise == []
