"""Columns of numbers that stay numbers where some are missing: what is written is counted again, a row at a time."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from papers import write_paper
from sizes import few, many
from tables_of_people import write_csv
from tacit import DataError, SourceError, attack, protect, verify
from tacit.codes import NumberScale
from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.coding import coded, told_counts
from tacit.codes.fitting import fit_code, fitted_again
from tacit.codes.tree import CellTree
from tacit.loading import file_sha256
from tacit.release import decoded, encoded
from tacit.tables import count, open_table

LEAST, EPSILON = 10, 0.7


def people(n=600, *, seed=0, missing=0.2, far=0):
    """Ages, some of them missing, and incomes that are ``far`` from nought, so that four digits tell few apart."""
    rng = np.random.default_rng(seed)
    age, gone = rng.integers(0, 90, n), rng.random(n) < missing
    return pa.table(
        {
            "s": rng.choice(["yes", "no"], n),
            "age": pa.array(age, mask=gone),
            "income": pa.array(far + rng.gamma(2.0, 50.0, n).round(1), mask=rng.random(n) < missing / 4),
            "ward": rng.choice(["a", "b"], n),
        }
    )


def asked(**said):
    return CodeRequest(
        ("age", "income", "ward"), (CodeClaim(("s",), EPSILON, EPSILON),), LEAST, **{"write": "means", **said}
    )


def rows_of(table, names=("age", "income", "ward")):
    rows = pa.concat_tables(table.batches(list(names), 1_000)).to_pylist()
    return [tuple(row[name] for name in names) for row in rows]


@settings(max_examples=many(2, 300))
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.3, 0.8, 1.0]), st.sampled_from([0, 10**5, 10**7]))
def test_the_bound_and_the_least_hold_on_the_rows_as_they_are_written(seed, missing, far):
    """Cells that are written alike, as numbers of four digits may be, only become one."""
    data = people(250, seed=seed, missing=missing, far=far)
    table, secrets = open_table(data), data.column("s").to_pylist()
    fitted = fit_code(table, asked())
    written = rows_of(coded(table, fitted.code))
    prior, cells, pairs = Counter(secrets), Counter(written), Counter(zip(written, secrets, strict=True))
    assert min(cells.values()) >= LEAST
    for cell in cells:
        for value in prior:
            lift = pairs[cell, value] * len(secrets) / (cells[cell] * prior[value])
            assert lift > 0
            assert abs(math.log(lift)) <= EPSILON + 1e-12
    # What is counted by cell is what is counted in the rows.
    told = told_counts(table, fitted.code, *fitted.found.counted(["s"]))
    whole = count(coded(table, fitted.code), ["s", *fitted.code.columns])
    assert (told.levels, told.records.tolist()) == (whole.levels, whole.records.tolist())
    # What is written is true: missing stands for nothing else, a number for the atoms that it says.
    for column, name in enumerate(fitted.code.columns):
        scale, meant = fitted.code.scales[column], fitted.code.meant(column)
        values = data.column(name).to_pylist()
        for value, atom, row in zip(values, scale.atoms_of(values), written, strict=True):
            assert meant[row[column]][atom]
            assert row[column] is not None or value is None


AGE = NumberScale("age", (30.0, 60.0), True, None, None, (20.0, 40.0, 71.0), has_missing=True)


def in_two_halves():
    """Below an x of 1 ages are told from missing ones, from there on those under 60 from the rest."""
    x = NumberScale("x", (1.0,), True, None, None, (0.0, 1.0), has_missing=False)
    column, below = np.array([0, 1, 1, -1, -1, -1, -1]), np.array([1, 3, 2, -1, -1, -1, -1])
    tree = CellTree(np.array([2, 4]), column, below, np.zeros(0, bool), np.array([0]))
    return CellCode((x, AGE), tree)


def test_a_column_of_numbers_with_missing_values_is_one_of_numbers_on_every_engine(as_table):
    data = pa.table({"x": [0, 0, 0, 1, 1, 1], "age": [20, 71, None, 20, 71, None]})
    code = in_two_halves().in_numbers({"x": np.array([80, 80]), "age": np.array([30, 30, 40, 60])}, 10)
    made = coded(as_table(data), code)
    assert made["age"].kind == "number"
    assert [age for _, age in rows_of(made, ("x", "age"))] == [46.4, 46.4, None, 30.0, 71.0, 71.0]


def test_a_number_is_the_mean_of_the_numbers_of_its_level_and_of_no_few():
    """Three ages beside many that are missing would be told by their mean; then the range alone is."""
    sizes = {"x": np.array([80, 80]), "age": np.array([30, 30, 40, 60])}
    told = in_two_halves().in_numbers(sizes, 10).numbers["age"]
    assert told == {
        "any": 46.4,
        "any number": 46.4,
        "missing": None,
        "59 and under": 30.0,
        "60 and over or missing": 71,
    }
    tenths = in_two_halves().in_numbers({"x": np.array([80, 80]), "age": np.array([33, 34, 47, 60])}, 10).numbers["age"]
    assert all(number is None or number == float(f"{number:.4g}") for number in tenths.values())
    few = in_two_halves().in_numbers(sizes | {"age": np.array([30, 30, 3, 60])}, 10).numbers["age"]
    assert few["60 and over or missing"] == 60.0
    assert few["missing"] is None
    # Of a column with hardly a number that is told whole there is no range either: it stays text.
    whole = CellTree(np.array([4]), np.array([-1]), np.array([-1]), np.zeros(0, bool), np.array([0]))
    assert CellCode((AGE,), whole).in_numbers({"age": np.array([3, 1, 2, 90])}, 10).numbers == {}


def test_numbers_that_stand_for_missing_levels_are_read_back():
    code = fit_code(open_table(people()), asked()).code
    assert None in code.numbers["age"].values()
    again = decoded(CellCode, json.loads(json.dumps(encoded(code))))
    assert again.numbers == code.numbers
    assert again.written == code.written


def test_a_value_that_has_no_place_among_the_levels_is_refused_and_not_told():
    sizes = pa.table({"s": ["yes", "no"] * 40, "size": ["small", "small", "large", "large"] * 20})
    request = CodeRequest(("size",), (CodeClaim(("s",), 1.0, 1.0),), 5, levels={"size": ("small", "large")})
    code = fit_code(open_table(sizes), request).code
    batch = sizes.set_column(1, "size", pa.array(["small", "huge", "large", "large"] * 20))
    with pytest.raises(DataError, match="holds 1 values that do not fit the levels") as told:
        fitted_again(open_table(batch), code, request)
    assert "huge" not in str(told.value)


@pytest.mark.parametrize("before", [0.0, 0.2], ids=["the first missing values", "more of them"])
def test_a_next_batch_may_bring_missing_values(before):
    code = fit_code(open_table(people(missing=before)), asked()).code
    batch = open_table(people(400, seed=1, missing=0.4))
    again = fitted_again(batch, code, asked())
    rows = rows_of(coded(batch, again))
    assert min(Counter(rows).values()) >= LEAST
    # A number says what it said, of people whose value is missing, too.
    assert {row[0] for row in rows} <= {*code.numbers["age"].values()}
    assert {*again.numbers["age"].values()} <= {*code.numbers["age"].values()}
    assert (None in {row[0] for row in rows}) == (before > 0)


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"][: many(1, 3)])
def test_a_release_with_missing_numbers_is_verified_and_goes_on_by_its_rules(tmp_path: Path, suffix):
    for name, missing in (("first", 0.2), ("next", 0.5)):
        data = people(seed=len(name), missing=missing)
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "csv":
            columns = data.to_pydict()
            write_csv(path, {each: ["" if v is None else str(v) for v in columns[each]] for each in columns})
        elif suffix == "parquet":
            pq.write_table(data, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()))
    first, batch = tmp_path / f"first.{suffix}", tmp_path / f"next.{suffix}"
    made = protect(first, secret="s", epsilon=EPSILON, write="means", out=tmp_path / "r")
    protect(batch, rules=tmp_path / "r" / "private" / "rules.json", out=tmp_path / "again")
    assert verify(tmp_path / "r", against=first).verdict == "holds"
    assert verify(tmp_path / "again", against=batch).verdict == "holds"
    assert any("of its missing values are written as the mean of their level" in note for note in made.notes)
    ages = next(each for each in made.levels if each.column == "age")
    assert "missing" in ages.meanings[ages.levels.index(None)]
    assert any(" or missing" in meaning for meaning in ages.meanings)


def test_a_published_code_says_nothing_that_no_cell_does(tmp_path: Path):
    """Means of levels that no cell has, and centres of ranges, could be anything in levels.json: verify saw neither."""
    pq.write_table(people(400), tmp_path / "t.parquet")
    protect(tmp_path / "t.parquet", secret="s", epsilon=EPSILON, write="means", out=tmp_path / "r")
    path, paper = tmp_path / "r" / "levels.json", json.loads((tmp_path / "r" / "certificate.json").read_text())
    text, written = path.read_text(), pq.read_table(tmp_path / "r" / "data.parquet").column("age").to_pylist()
    code = json.loads(text)["code"]
    assert {*code["numbers"]["age"].values()} == {*written}
    centres = code["scales"][0]["centres"]
    for part in (
        {"numbers": code["numbers"] | {"age": code["numbers"]["age"] | {"any": 17.0}}},
        {"scales": [code["scales"][0] | {"centres": [*centres[:-1], centres[-1] + 17]}, *code["scales"][1:]]},
    ):
        write_paper(path, json.loads(text) | {"code": code | part})
        paper["output"]["levels_sha256"] = file_sha256(path)
        write_paper(tmp_path / "r" / "certificate.json", paper)
        with pytest.raises(SourceError, match="says more than its cells do"):
            verify(tmp_path / "r", against=tmp_path / "t.parquet")


def test_one_column_of_means_may_be_missing_throughout_a_line_of_a_csv(tmp_path: Path):
    data = people(missing=0.5).to_pydict()
    path = write_csv(tmp_path / "t.csv", {"s": data["s"], "age": ["" if v is None else str(v) for v in data["age"]]})
    protect(path, secret="s", epsilon=EPSILON, write="means", out=tmp_path / "r")
    assert verify(tmp_path / "r", against=path).verdict == "holds"


@pytest.mark.parametrize(
    "words", [{"known": ["age"]}, {"mechanism": "cells+mix", "random_state": 1}][: many(1, 2)], ids=str
)
def test_missing_numbers_may_be_mixed_and_known(tmp_path: Path, words):
    data = people(missing=0.5)
    pq.write_table(data, tmp_path / "t.parquet")
    protect(tmp_path / "t.parquet", secret="s", epsilon=EPSILON, write="means", out=tmp_path / "r", **words)
    assert verify(tmp_path / "r", against=tmp_path / "t.parquet").verdict == "holds"


@pytest.mark.long
@pytest.mark.parametrize("suffix", few(["csv", "parquet"]))
def test_an_adversary_who_links_knows_what_a_mean_stands_for(tmp_path: Path, suffix):
    """Numbers in a file of text fitted nobody, and one that stood for two levels fitted the people of one."""
    data = people(400, missing=0.3)
    columns = {name: ["" if v is None else str(v) for v in values] for name, values in data.to_pydict().items()}
    path = tmp_path / f"t.{suffix}"
    write_csv(path, columns) if suffix == "csv" else pq.write_table(data, path)
    protect(path, secret="s", epsilon=EPSILON, write="means", least=2, out=tmp_path / "r")
    found = attack(tmp_path / "r", against=path, known=["age", "income", "ward"])
    assert {each.after.nobody for each in found.linkage} == {0.0}
