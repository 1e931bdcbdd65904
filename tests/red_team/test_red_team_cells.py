"""What is printed of a release in cells was made false here, and is not any more."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacit.codes.fitting as fitting
import tacit.codes.searching as searching
from papers import write_paper
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, protect, verify
from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.coding import coded
from tacit.codes.fitting import fit_code
from tacit.tables import open_table


@pytest.fixture
def on_a_sample(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Cells of small tables are designed on a sample, as those of large ones are."""
    for name, number in (("MOST_WHOLE", 60), ("DESIGN_RECORDS", 200), ("FEW_COMBINATIONS", 5)):
        monkeypatch.setattr(searching, name, number)
    return monkeypatch


def people(records: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = np.arange(records) % 60
    rng.shuffle(a)
    return pd.DataFrame({"a": a, "b": rng.integers(0, 60, records)})


def test_a_further_secret_has_no_column_of_which_a_few_values_are_secret(tmp_path: Path) -> None:
    """The claim said "any value of s"; what was bounded was S0 and the rest."""
    table = people().assign(s=lambda d: "S" + (d["a"] // 20).astype(str), t="x")
    for also in ({"s": 1.0}, {("s", "t"): 1.0}):
        with pytest.raises(ArgumentError, match="names values of 's'"):
            protect(table, secret={"s": ["S0"]}, also=also, epsilon=1.0, out=tmp_path / "release")


@pytest.mark.parametrize("columns", [("a",), ("a", "b")])
def test_cells_of_a_sample_are_held_against_thresholds_of_all(
    on_a_sample: pytest.MonkeyPatch, columns: tuple[str, ...]
) -> None:
    on_a_sample.setattr(fitting, "MOST_CUT_AGAIN", 0)
    table = people().assign(s=lambda d: d["a"] // 12 + (d["b"] * 7) % 60)
    asked = CodeRequest(columns, (CodeClaim(("s",), 1.0, 1.0, floor=0.1),), least=10)
    code = fit_code(open_table(table), asked).code
    assert len(code.tree.leaves) > 1
    told = coded(open_table(table[list(columns)]), code).sample(list(columns), 600).to_pandas().agg("|".join, axis=1)
    joint = pd.crosstab(table["s"], told.to_numpy()).to_numpy()
    below = np.cumsum(joint, axis=0)[:-1]
    events = np.concatenate([below, joint.sum(axis=0) - below])
    share = events.sum(axis=1) / 600
    lift = np.log(events / joint.sum(axis=0) / share[:, None], where=events > 0, out=np.full(events.shape, -np.inf))
    assert np.abs(lift[share >= 0.1]).max() <= 1.0


def test_no_obstacle_is_told_that_is_one_of_the_sample_alone(on_a_sample: pytest.MonkeyPatch) -> None:
    """In every third row the rare value is found at one age; in the others everywhere."""
    table = people()
    row = np.arange(len(table))
    rare = ((row % 3 == 0) & (table["a"] == 30)) | ((row % 3 > 0) & (row % 10 == 1))
    table["s"] = np.where(rare, "rare", "common")
    for most in (fitting.MOST_CUT_AGAIN, 0):
        on_a_sample.setattr(fitting, "MOST_CUT_AGAIN", most)
        assert not fit_code(open_table(table), CodeRequest(("a", "b"), (CodeClaim(("s",), 0.5, 0.5),), 10)).obstacles


def test_a_number_that_stands_for_a_range_is_of_all_records(on_a_sample: pytest.MonkeyPatch) -> None:
    """The records of the outer range were none of the sample's, and it was told by those that were."""
    table = people()
    rng = np.random.default_rng(1)
    table["z"], table["s"] = rng.integers(0, 300, 600), rng.choice(["x", "y"], 600)
    far = [row for row in range(600) if row % 3][:40]
    table.loc[far, "z"] = 1000 + np.arange(40)
    asked = CodeRequest(("z", "b"), (CodeClaim(("s",), 2.0, 2.0),), 5, prefer={"z": 20.0}, write="means")
    code = fit_code(open_table(table), asked).code
    told = coded(open_table(table[["z", "b"]]), code).sample(["z"], 600).to_pandas()["z"]
    assert abs(told.mean() / table["z"].mean() - 1) < 0.05


def test_the_next_batch_weighs_records_as_the_first_did(tmp_path: Path) -> None:
    columns = {**clinic(600), "w": [1 + i % 3 for i in range(600)]}
    people = write_csv(tmp_path / "p.csv", columns)
    protect(people, secret="illness", epsilon=0.8, weight="w", out=tmp_path / "r")
    rules = tmp_path / "r" / "private" / "rules.json"
    batch = protect(people, rules=rules, out=tmp_path / "batch")
    assert batch.certificate.mechanism.weight == "w"
    with pytest.raises(ArgumentError, match="did not weigh"):
        protect(people, rules=rules, weight="age", out=tmp_path / "other")


def test_columns_left_out_cannot_be_edited(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "p.csv", clinic(300))
    protect(people, secret="illness", epsilon=0.8, drop=["age"], out=tmp_path / "r")
    paper = tmp_path / "r" / "certificate.json"
    write_paper(paper, {**json.loads(paper.read_text()), "left_out": ["illness"]})
    failed = [check.name for check in verify(tmp_path / "r", against=people).checks if check.passed is False]
    assert "columns left out" in failed
