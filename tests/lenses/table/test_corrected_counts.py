"""A drawn release is counted right: by Python, by SQL and in the report, from what it publishes alone."""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from papers import write_paper
from sizes import many
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, ProtectResult, SourceError, corrected_counts, protect, verify
from tacit.lenses.table import CorrectedColumn
from tacit.report import to_json, to_text
from tacit.tables import open_table

WORDS: dict[str, Any] = {"secret": "illness", "epsilon": 0.2, "mechanism": "optimal"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clinic with a ward of three people, and a mixture of it."""
    found, columns = tmp_path_factory.mktemp("counts"), clinic(3000)
    columns["ward"][:3] = ["attic"] * 3
    write_csv(found / "people.csv", columns)
    return found


@pytest.fixture(scope="module")
def mixed(folder: Path) -> ProtectResult:
    return protect(folder / "people.csv", out=folder / "release", random_state=1, **WORDS)


@pytest.fixture
def release(folder: Path, mixed: ProtectResult, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def true_counts(table: Any, column: str, counted: CorrectedColumn) -> list[int]:
    """The number of records of the original with each value of the answer, other values last."""
    rows = open_table(table).head([column], 10**6).column(column).to_pylist()
    known = [each.value for each in counted.values[:-1]]
    counts = Counter(value if value in known else "others" for value in rows)
    return [*(counts[value] for value in known), counts["others"]]


def by_sql(counted: CorrectedColumn, data: Path) -> dict[str, tuple[float, float]]:
    """What the query says of the released data."""
    reader = duckdb.read_csv(str(data), all_varchar=True) if data.suffix == ".csv" else duckdb.read_parquet(str(data))
    rows = reader.query("release", counted.sql).fetchall()
    return {value: (float(records), float(error)) for value, records, error in rows}


def test_counts_come_close_to_the_original_where_the_release_is_far_off(folder: Path, mixed: ProtectResult) -> None:
    found = corrected_counts(folder / "release", "ward")
    true = true_counts(folder / "people.csv", "ward", found)
    assert [each.name for each in found.values] == ["endocrine", "general", "lung", "other values"]
    off = [abs(each.observed - n) / each.standard_error for each, n in zip(found.values, true, strict=True)]
    assert max(off) > 4
    for each, n in zip(found.values, true, strict=True):
        assert abs(each.records - n) < 4 * each.standard_error
    assert sum(each.observed for each in found.values) == 3000
    assert sum(each.records for each in found.values) == pytest.approx(3000, abs=0.1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("ward", {"mechanism": "optimal"}),
        ("ward", {"replacement": "resample"}),
        ("age", {"replacement": "uniform"}),
    ][: many(1, 3)],
)
def test_corrected_counts_are_right_on_average_over_the_draws(
    folder: Path, tmp_path: Path, column: str, words: dict
) -> None:
    """Errors are too large rather than too small: at least 19 of 20 counts lie within two of them."""
    misses, means, times = 0, [], many(3, 100)
    asked = {**WORDS, "epsilon": 0.6, "mechanism": None, **words}
    for seed in range(times):
        protect(folder / "people.csv", out=tmp_path / "r", random_state=seed, overwrite=True, **asked)
        found = corrected_counts(tmp_path / "r", column)
        true = true_counts(folder / "people.csv", column, found)
        assert all(math.isfinite(each.standard_error) for each in found.values)
        z = [(e.records - n) / max(e.standard_error, 1e-9) for e, n in zip(found.values, true, strict=True)]
        misses += sum(abs(each) > 1.96 for each in z)
        means.append(z)
    assert misses <= 0.05 * 4 * times + 4 * math.sqrt(0.05 * 4 * times)
    assert np.abs(np.mean(means, axis=0)).max() < 4.5 / math.sqrt(times)


def test_sql_gives_the_same_numbers(folder: Path, mixed: ProtectResult) -> None:
    for column in ("age", "ward", "district"):
        found = corrected_counts(folder / "release", column)
        asked = by_sql(found, folder / "release" / "data.csv")
        for each in found.values:
            if each.records or each.standard_error:
                assert asked[each.name] == pytest.approx((each.records, each.standard_error), rel=1e-4, abs=1e-3)


def test_sql_knows_numbers_dates_quotes_and_missing_cells(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 2000
    ill = rng.choice(["yes", "no"], n)
    tilt = np.where(ill == "yes", 0.75, 0.25)

    def one_of(first: Any, *others: Any) -> list[Any]:
        picks = zip(rng.random(n) < tilt, rng.integers(0, len(others), n), strict=True)
        return [first if is_first else others[k] for is_first, k in picks]

    table = pa.table(
        {
            "ill": ill,
            "who's": one_of("it's", 'a "b"', None),
            "day": one_of(dt.date(2024, 1, 2), dt.date(2024, 2, 3), dt.date(2025, 1, 1)),
            "dose": one_of(0.1, 2.5, 1e-7),
            "beds": one_of(1, 2, None),
        }
    )
    pq.write_table(table, tmp_path / "p.parquet")
    protect(tmp_path / "p.parquet", secret="ill", epsilon=0.3, mechanism="optimal", out=tmp_path / "r", least=3)
    for column in table.column_names[1:]:
        found = corrected_counts(tmp_path / "r", column)
        asked = by_sql(found, tmp_path / "r" / "data.parquet")
        told = [each for each in found.values if math.isfinite(each.standard_error)]
        assert len(told) > 1
        for each in told:
            expected = (each.records, each.standard_error)
            assert asked.get(each.name, (0.0, 0.0)) == pytest.approx(expected, rel=1e-3, abs=0.05), (column, each.name)


def test_the_report_and_the_answer_have_the_table_and_the_query(folder: Path, mixed: ProtectResult) -> None:
    page = (folder / "release" / "report.html").read_text()
    assert [each.column for each in mixed.corrected] == ["age", "ward", "district"]
    assert "How many there were" in to_text(mixed, full=True)
    assert "How many there were" in page
    assert "JOIN (VALUES" in page
    assert json.loads(to_json(mixed))["corrected"][1]["column"] == "ward"
    assert mixed.corrected[1] == corrected_counts(folder / "release", "ward")


def test_no_value_of_few_people_is_in_the_channel_nor_in_the_counts(folder: Path, mixed: ProtectResult) -> None:
    for name in ("channel.json", "report.html"):
        assert "attic" not in (folder / "release" / name).read_text()
    assert "attic" not in str(mixed)


# ---- what is certified ---------------------------------------------------------------------------------------------


def test_a_release_that_draws_nothing_publishes_no_channel(folder: Path, tmp_path: Path) -> None:
    for how in ("merge", "suppress")[: many(1, 2)]:
        made = protect(folder / "people.csv", secret="illness", epsilon=0.5, replacement=how, out=tmp_path / how)
        assert made.certificate.output.channel_sha256 is None
        assert not (tmp_path / how / "channel.json").exists()
        assert made.corrected == ()
        with pytest.raises(ArgumentError, match="nothing was drawn"):
            corrected_counts(tmp_path / how, "ward")


def test_verify_computes_the_channel_again(release: Path, folder: Path) -> None:
    result = verify(release, against=folder / "people.csv")
    assert result.verdict == "holds"
    assert {"channel is the one certified", "channel is that of the rules"} <= {check.name for check in result.checks}


def forged(release: Path) -> None:
    """Another channel, with a fingerprint that fits it."""
    import hashlib

    data = json.loads((release / "channel.json").read_text())
    draws = data["columns"][1]["draws"]
    draws["p"][0], draws["p"][1] = draws["p"][1], draws["p"][0]
    write_paper(release / "channel.json", data)
    paper = json.loads((release / "certificate.json").read_text())
    paper["output"]["channel_sha256"] = hashlib.sha256((release / "channel.json").read_bytes()).hexdigest()
    write_paper(release / "certificate.json", paper)


def failed(release: Path, folder: Path) -> set[str]:
    return {check.name for check in verify(release, against=folder / "people.csv").checks if check.passed is False}


def test_an_edited_or_forged_channel_is_found_out(release: Path, folder: Path) -> None:
    whole = (release / "channel.json").read_text()
    (release / "channel.json").write_text(whole + " ")
    assert "channel is the one certified" in failed(release, folder)
    with pytest.raises(SourceError, match="not the channel that was certified"):
        corrected_counts(release, "ward")
    with pytest.raises(ArgumentError, match=r"channel\.json is not the one that was written"):
        protect(folder / "people.csv", out=release, overwrite=True, **WORDS)
    (release / "channel.json").write_text(whole)
    forged(release)
    assert failed(release, folder) == {"channel is that of the rules"}


def test_only_data_that_was_certified_is_counted(release: Path) -> None:
    data = release / "data.csv"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join([*lines, lines[-1]]))
    with pytest.raises(SourceError, match=r"data\.csv is not what was certified"):
        corrected_counts(release, "ward")
    data.unlink()
    with pytest.raises(SourceError, match=r"data\.csv is not what was certified"):
        corrected_counts(release, "ward")


def test_a_drawn_release_without_a_channel_says_so(release: Path, folder: Path) -> None:
    (release / "channel.json").unlink()
    result = verify(release, against=folder / "people.csv")
    assert any("there is no channel.json" in note for note in result.notes)
    paper = json.loads((release / "certificate.json").read_text())
    paper["output"]["channel_sha256"] = None
    write_paper(release / "certificate.json", paper)
    assert "channel is published" in failed(release, folder)


def test_without_the_rules_it_is_told_that_the_channel_was_not_checked(release: Path, folder: Path) -> None:
    shutil.rmtree(release / "private")
    notes = verify(release, against=folder / "people.csv").notes
    assert any("whether channel.json is what was done was not checked" in note for note in notes)


def test_a_column_that_is_not_released_is_refused_by_name(release: Path) -> None:
    with pytest.raises(ArgumentError, match="column 'illness' is not released"):
        corrected_counts(release, "illness")


def test_the_next_batch_publishes_its_own_channel(release: Path, tmp_path: Path) -> None:
    batch = write_csv(tmp_path / "next.csv", clinic(1500, random_state=3))
    protect(batch, rules=release / "private" / "rules.json", out=tmp_path / "april", random_state=2)
    assert verify(tmp_path / "april", against=batch).verdict == "holds"
    found = tacit.corrected_counts(tmp_path / "april", "district")
    for each, n in zip(found.values, true_counts(batch, "district", found), strict=True):
        assert abs(each.records - n) <= 4 * each.standard_error


def test_records_are_counted_and_not_their_weight(tmp_path: Path) -> None:
    columns = clinic(1500)
    columns["weight"] = [1 + 9 * (ward == "lung") for ward in columns["ward"]]
    people = write_csv(tmp_path / "p.csv", columns)
    words = {"secret": "illness", "weight": "weight", "epsilon": 0.8, "out": tmp_path / "r", "random_state": 0}
    protect(people, replacement="resample", **words)
    assert verify(tmp_path / "r", against=people).verdict == "holds"
    found = corrected_counts(tmp_path / "r", "ward")
    # The heavy ward is drawn more often than it occurs, and the correction knows.
    lung = next(each for each in found.values if each.value == "lung")
    assert lung.observed > columns["ward"].count("lung")
    assert abs(lung.records - columns["ward"].count("lung")) < 4 * lung.standard_error
