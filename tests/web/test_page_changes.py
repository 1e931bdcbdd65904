"""The page says of a change what the command says: of a table that is examined at coarser levels, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from opened_pages import OpenedPages, in_a_browser, served
from tacit import audit

pytestmark = [pytest.mark.browser, in_a_browser]


def loans() -> pd.DataFrame:
    """Two numbers that make nearly everybody unique, and few people at steps of 10."""
    rng = np.random.default_rng(4)
    ratio, rate = rng.normal(80, 12, 500).round(1), rng.normal(40, 6, 500).round(1)
    return pd.DataFrame({"ratio": ratio, "rate": rate, "group": np.where(rng.random(500) < 0.3, "b", "w")})


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPages]:
    folder: Path = tmp_path_factory.mktemp("loans")
    loans().to_csv(folder / "loans.csv", index=False)
    with served(folder, browser) as opened:
        yield opened


def test_making_columns_coarser_says_how_many_could_be_found_before_and_after(pages: OpenedPages) -> None:
    tab = pages.tab("/table?source=loans.csv")
    tab.wait_for_selector("table.columns")
    kinds = tab.locator("table.columns td[data-label='Looks like']").all_inner_texts()
    assert kinds[:2] == ["number", "number"], "and not 'numbers' below it"
    tab.get_by_label("What is group?").select_option("secret")
    pages.answered(tab, tab.locator("button.main").click)
    before = audit(loans(), secret="group")
    tab.wait_for_selector("table.advised tbody tr")
    first, *_, coarser = tab.locator("table.advised tbody tr").all()
    assert first.inner_text().split("\t")[1] == f"{round(before.fixes.found):,}"
    words, found, *unknown = coarser.inner_text().split("\t")
    assert words.startswith("Make ")
    assert words.endswith(" coarser")
    assert unknown == ["–", "–"]
    assert "–: not measured." in tab.locator("table.advised caption").inner_text()
    pages.answered(tab, coarser.get_by_role("button").click)
    banner = tab.locator(".effect").inner_text()
    assert f"people in 1,000 who could be found {round(before.fixes.found):,} → {found}," in banner
    assert "did not help" not in banner
    tab.wait_for_selector(".document li")
    # The sentence below the banner, which the command prints, has the same number.
    (alone,) = [each for each in tab.locator(".document li").all_inner_texts() if "alone with their values" in each]
    people = int(alone.split(" of ")[0])
    assert f"{2 * people}" == found
    assert pages.noise == []
