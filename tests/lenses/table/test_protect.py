"""Protect: a release that keeps its claim, appears whole or not at all, and changes only what leaks."""

from __future__ import annotations

import json
import math
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click import UsageError
from click.testing import CliRunner

from sizes import few, many
from tables_of_people import clinic, joint_of, merged_in, read_csv, rules_in, write_csv
from tacit import ArgumentError, NotCertifiedError, SourceError, audit, protect, risk, verify
from tacit.cli.commands import tacit as command
from tacit.cli.wording import COMMAND_LINE
from tacit.release import ReleaseDraft
from tacit.tables import count, open_table

RELEASED = ["age", "ward", "district"]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", clinic())


@pytest.fixture(scope="module")
def rules_of_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules of a release of these people at epsilon 1, by the watchdog."""
    folder = tmp_path_factory.mktemp("one")
    people = write_csv(folder / "people.csv", clinic())
    protect(people, secret="illness", epsilon=1, out=folder / "one", mechanism="watchdog")
    return folder / "one" / "private" / "rules.json"


def certificate_in(release: Path) -> dict:
    return json.loads((release / "certificate.json").read_text("utf-8"))


# Each replacement and each epsilon, or all the pairs of them.
BOUNDED = list(product(["resample", "uniform", "merge", "suppress"], [0.0, 0.3, 1.0, 5.0]))[:: many(5, 1)]


@pytest.mark.parametrize(("replacement", "epsilon"), BOUNDED)
def test_the_attained_epsilon_is_that_of_the_output_joint(
    people: Path, tmp_path: Path, replacement: str, epsilon: float
) -> None:
    """Oracle: rebuild the joint of secret and output from the rows themselves, merged rows pooled."""
    out = tmp_path / "release"
    result = protect(people, secret="illness", epsilon=epsilon, out=out, replacement=replacement)
    columns, released = clinic(), read_csv(out / "data.csv")
    before = list(zip(*(columns[name] for name in RELEASED), strict=True))
    after = list(zip(*(released[name] for name in RELEASED), strict=True))
    merged = set(merged_in(out))
    output = ["merged" if x in merged else y for x, y in zip(before, after, strict=True)]
    assert all(x == y for x, y in zip(before, after, strict=True) if x not in merged)
    joint, _ = joint_of({"s": columns["illness"], "y": output}, "s", ["y"])
    attained = float(risk(joint).max())
    assert result.certificate.attained_epsilon == pytest.approx(attained, abs=1e-9)
    assert attained <= epsilon + 1e-9
    assert result.certificate.holds


def test_only_risky_rows_change_and_the_rest_stay_in_their_place(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    protect(people, secret="illness", epsilon=1.0, out=out, mechanism="watchdog")
    columns, released = clinic(), read_csv(out / "data.csv")
    joint, place = joint_of(columns, "illness", RELEASED)
    risks = risk(joint)
    before = list(zip(*(columns[name] for name in RELEASED), strict=True))
    after = list(zip(*(released[name] for name in RELEASED), strict=True))
    changed = [x for x, y in zip(before, after, strict=True) if x != y]
    assert changed
    assert all(risks[place[x]] > 1.0 for x in changed)


def test_the_secret_is_left_out_unless_asked_and_then_the_certificate_shouts(people: Path, tmp_path: Path) -> None:
    protect(people, secret="illness", epsilon=1, out=tmp_path / "a")
    assert list(read_csv(tmp_path / "a" / "data.csv")) == RELEASED
    protect(people, secret="illness", epsilon=1, out=tmp_path / "b", keep_secret=True)
    assert list(read_csv(tmp_path / "b" / "data.csv")) == ["illness", *RELEASED]
    assert any("THE SECRET ITSELF IS IN THE FILE" in text for text in certificate_in(tmp_path / "b")["assumptions"])


def test_resampling_keeps_the_frequencies_of_the_release(people: Path, tmp_path: Path) -> None:
    """A chi-squared test over merged values that a frequency 10% off would fail at this size."""
    from scipy.stats import chisquare

    columns = clinic(40_000)
    path = write_csv(tmp_path / "many.csv", columns)
    protect(path, secret="illness", epsilon=0.3, out=tmp_path / "release", replacement="resample", random_state=1)
    released = read_csv(tmp_path / "release" / "data.csv")
    for name in RELEASED:
        values, expected = np.unique(columns[name], return_counts=True)
        found = [released[name].count(value) for value in values]
        assert chisquare(found, expected).pvalue > 1e-4


TOLD: dict[str, dict] = {"cells": {}, "values": {"mechanism": "watchdog"}, "means": {"write": "means"}}
# A CSV tells no types.
TYPED = [(".parquet", "values"), (".parquet", "means"), (".jsonl", "values"), (".jsonl", "means")]
FORMATS = [(suffix, "cells") for suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".arrow")] + TYPED
FORMATS += [(suffix, told) for suffix in (".csv", ".tsv", ".arrow") for told in ("values", "means")][: many(0, 6)]


@pytest.mark.parametrize(("suffix", "kept"), few(FORMATS, 3))
def test_the_release_has_the_format_columns_and_types_of_the_input(tmp_path: Path, suffix: str, kept: str) -> None:
    """Cells are told as text, and as numbers if means are asked for."""
    words = TOLD[kept]
    kind, told = {"watchdog": (pa.int32(), int), "means": (pa.float64(), float)}.get(
        next(iter(words.values()), ""), (pa.string(), str)
    )
    table = pa.table({**clinic(300), "visits": pa.array([i % 4 for i in range(300)], pa.int32())})
    path = tmp_path / f"people{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path, compression="gzip")
    elif suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        write_csv(path, table.to_pydict(), delimiter="\t" if suffix == ".tsv" else ",")
    result = protect(path, secret="illness", epsilon=1.0, out=tmp_path / "release", **words)
    data = tmp_path / "release" / result.data_file
    assert data.suffix == suffix
    if suffix == ".parquet":
        assert pq.read_schema(data).field("visits").type == kind
        assert pq.read_schema(data).names == ["age", "ward", "district", "visits"]
        assert pq.ParquetFile(data).metadata.row_group(0).column(0).compression == "GZIP"
    elif suffix == ".tsv":
        assert data.read_text().splitlines()[0] == "age\tward\tdistrict\tvisits"
    elif suffix == ".jsonl":
        row = json.loads(data.read_text().splitlines()[0])
        assert list(row) == ["age", "ward", "district", "visits"]
        assert isinstance(row["visits"], told)


def test_a_frame_is_released_as_parquet(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    result = protect(pd.DataFrame(clinic(300)), secret="illness", epsilon=1.0, out=tmp_path / "release")
    assert result.data_file == "data.parquet"
    assert pq.read_table(tmp_path / "release" / "data.parquet").num_rows == 300


def test_a_binned_column_is_released_binned(tmp_path: Path) -> None:
    columns = {**clinic(500), "years": [18 + i % 60 for i in range(500)]}
    path = write_csv(tmp_path / "p.csv", columns)
    words = {"secret": "illness", "released": ["years", "ward"], "bins": {"years": [30, 60]}, "epsilon": 1}
    result = protect(path, **words, mechanism="watchdog", out=tmp_path / "r")
    assert set(read_csv(tmp_path / "r" / "data.csv")["years"]) <= {"< 30", "[30, 60)", ">= 60"}
    assert result.certificate.cuts[0].edges == (30.0, 60.0)
    # In cells the edges are where a column may be cut; neighbours may be told together.
    protect(path, **words, out=tmp_path / "cells")
    found = set(read_csv(tmp_path / "cells" / "data.csv")["years"])
    assert len(found) > 1
    assert found <= {"29 and under", "30 to 59", "60 and over", "59 and under", "30 and over", "any"}


@pytest.mark.long
def test_the_same_random_state_makes_the_same_release_and_warns(people: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "epsilon": 0.5, "mechanism": "optimal"}
    for name in ("a", "b"):
        protect(people, **words, out=tmp_path / name, random_state=7)
    protect(people, **words, out=tmp_path / "c")
    protect(people, **words, out=tmp_path / "d")
    data = {name: (tmp_path / name / "data.csv").read_bytes() for name in "abcd"}
    assert data["a"] == data["b"]
    assert data["c"] != data["d"]
    assert "WARNING" in certificate_in(tmp_path / "a")["randomness"]
    assert "secure source" in certificate_in(tmp_path / "c")["randomness"]


def test_cells_are_not_drawn_and_the_same_whenever_they_are_made(people: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        protect(people, secret="illness", epsilon=0.5, out=tmp_path / name)
    for file in ("data.csv", "levels.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert certificate_in(tmp_path / "a")["randomness"].startswith("None")


def test_the_key_of_the_draws_is_the_owners_alone(people: Path, tmp_path: Path, monkeypatch) -> None:
    from tacit.lenses.table import protect as lens

    keys = []
    made = lens.new_key

    def remembered(random_state: int | None) -> bytes:
        keys.append(made(random_state))
        return keys[-1]

    monkeypatch.setattr(lens, "new_key", remembered)
    protect(people, secret="illness", epsilon=0.5, out=tmp_path / "release", mechanism="optimal")
    for path in (tmp_path / "release").rglob("*"):
        if path.is_file() and path.name != "key.txt":
            data = path.read_bytes()
            assert keys[0] not in data
            assert keys[0].hex().encode() not in data
    kept = tmp_path / "release" / "private" / "key.txt"
    assert (kept.read_text().strip(), kept.stat().st_mode & 0o777) == (keys[0].hex(), 0o600)


def test_the_certificate_says_what_was_done(people: Path, tmp_path: Path) -> None:
    import hashlib

    out = tmp_path / "release"
    protect(people, secret="illness", epsilon=0.8, out=out)
    paper = certificate_in(out)
    assert paper["epsilon"] == 0.8
    assert paper["attained_epsilon"] <= 0.8
    assert paper["epsilon_max"] == "inf"
    salt = bytes.fromhex((out / "private" / "salt.txt").read_text().strip())
    digest = hashlib.sha256(salt + hashlib.sha256(people.read_bytes()).digest()).hexdigest()
    assert paper["input"]["salted_sha256"] == digest
    assert paper["output"]["sha256"] == hashlib.sha256((out / "data.csv").read_bytes()).hexdigest()
    assert paper["left_out"] == ["illness"]
    for measure in paper["measures"]:
        if measure["promise"] not in (None, "inf"):
            assert float(measure["after"]) <= float(measure["promise"]) + 1e-9, measure["name"]
    for number in ("rows_unchanged", "cells_unchanged", "nmil"):
        assert 0 <= paper["utility"][number] <= 1


def test_the_expected_share_of_unchanged_rows_and_cells_is_what_is_found(tmp_path: Path) -> None:
    columns = clinic(40_000)
    path = write_csv(tmp_path / "p.csv", columns)
    utility = protect(path, secret="illness", epsilon=0.3, out=tmp_path / "r", random_state=0).certificate.utility
    released = read_csv(tmp_path / "r" / "data.csv")
    same = np.array([[a == b for a, b in zip(columns[n], released[n], strict=True)] for n in RELEASED])
    assert same.all(axis=0).mean() == pytest.approx(utility.rows_unchanged, abs=0.01)
    assert same.mean() == pytest.approx(utility.cells_unchanged, abs=0.01)


def test_nothing_public_names_a_merged_value(tmp_path: Path) -> None:
    columns = clinic(1000)
    columns["ward"] = ["Zanzibar" if i < 5 else w for i, w in enumerate(columns["ward"])]
    path = write_csv(tmp_path / "p.csv", columns)
    protect(path, secret="illness", epsilon=0.5, out=tmp_path / "r", replacement="suppress")
    for name in ("certificate.json", "report.html"):
        assert "Zanzibar" not in (tmp_path / "r" / name).read_text("utf-8")
    assert (tmp_path / "r" / "private").stat().st_mode & 0o077 == 0


def test_a_wholly_missing_row_is_not_told_from_a_suppressed_one(tmp_path: Path) -> None:
    table = pa.table({"s": ["a", "b"] * 50, "x": ["p", "q"] * 20 + [None, None] * 30})
    result = protect(table, secret="s", epsilon=0.1, out=tmp_path / "r", replacement="suppress")
    # Without the merging of the missing ones, p and q alone would be suppressed and the file would look the same.
    assert result.certificate.mechanism.values_merged == 3
    assert result.certificate.attained_epsilon == pytest.approx(0.0, abs=1e-12)


def test_when_the_watchdog_cannot_attain_epsilon_camouflage_does(tmp_path: Path) -> None:
    """The risky values all tilt to one secret; safe ones must be merged with them (THEORY 3)."""
    rows = [("a", "risky")] * 30 + [("b", "risky")] * 2
    rows += [(s, f"safe {k}") for k in range(8) for s in ("a",) * 20 + ("b",) * 25]
    table = pa.table({"s": [s for s, _ in rows], "x": [x for _, x in rows]})
    result = protect(table, secret="s", epsilon=0.3, out=tmp_path / "r", mechanism="watchdog")
    assert result.certificate.attained_epsilon <= 0.3 + 1e-9
    assert result.certificate.mechanism.plain_watchdog_attains > 0.3
    assert "camouflage" in result.notes[-1]
    assert 1 < result.certificate.mechanism.values_merged < 9


def test_everything_merged_comes_with_a_diagnosis_and_a_next_step(tmp_path: Path) -> None:
    columns = clinic(800)
    columns["job"] = [f"job {i % 200}" for i in range(800)]
    result = protect(pa.table(columns), secret="illness", epsilon=0.2, out=tmp_path / "r", mechanism="watchdog")
    assert result.diagnosis is not None
    assert "drop='job'" in result.diagnosis
    assert "records per value" in result.diagnosis


def test_delta_lets_a_little_through_and_says_how_many_records_breach(people: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "epsilon": 0.5, "mechanism": "watchdog"}
    strict = protect(people, **words, out=tmp_path / "a").certificate
    relaxed = protect(people, **words, delta=0.05, epsilon_max=2.5, out=tmp_path / "b").certificate
    assert relaxed.utility.nmil < strict.utility.nmil
    assert relaxed.attained_delta <= 0.05 + 1e-9
    assert relaxed.attained_epsilon <= 2.5 + 1e-9
    assert relaxed.breach_share >= relaxed.attained_delta > 0
    assert strict.breach_share == 0


def test_the_next_batch_is_treated_alike_and_unseen_values_count_as_risky(tmp_path: Path) -> None:
    first = write_csv(tmp_path / "one.csv", clinic(3000))
    protect(first, secret="illness", epsilon=1.0, out=tmp_path / "one", mechanism="watchdog")
    columns = clinic(3000, random_state=1)
    columns["ward"][:3] = ["new ward"] * 3
    second = write_csv(tmp_path / "two.csv", columns)
    rules = tmp_path / "one" / "private" / "rules.json"
    result = protect(second, rules=rules, out=tmp_path / "two")
    released = read_csv(tmp_path / "two" / "data.csv")
    assert "new ward" not in released["ward"]
    assert result.certificate.epsilon == 1.0
    assert result.certificate.attained_epsilon <= 1.0
    assert merged_in(tmp_path / "one")
    assert set(merged_in(tmp_path / "one")) <= set(merged_in(tmp_path / "two"))


@pytest.mark.parametrize("mechanism", few(["watchdog", "optimal"]))
def test_a_batch_that_the_rules_alone_would_not_keep_within_epsilon_is_covered(tmp_path: Path, mechanism: str) -> None:
    first = write_csv(tmp_path / "one.csv", clinic(3000))
    protect(first, secret="illness", epsilon=1.0, out=tmp_path / "one", mechanism=mechanism)
    columns = clinic(3000)
    # The wards that were merged now hold one illness only, and nothing else is risky.
    columns["illness"] = [
        s if w == "general" else "asthma" for s, w in zip(columns["illness"], columns["ward"], strict=True)
    ]
    batch = write_csv(tmp_path / "two.csv", columns)
    result = protect(batch, rules=tmp_path / "one" / "private" / "rules.json", out=tmp_path / "two")
    assert result.certificate.attained_epsilon <= 1.0
    assert result.certificate.mechanism.values_merged_besides > 0
    assert verify(tmp_path / "two", against=batch).verdict == "holds"


def test_a_plan_that_misses_its_epsilon_is_never_written(people: Path, tmp_path: Path, monkeypatch) -> None:
    """Whatever a mechanism claims, the joint of secret and output decides."""
    from tacit.lenses.table.mechanisms import rules as by_rules

    protect(people, secret="illness", epsilon=0.5, out=tmp_path / "one", mechanism="watchdog")
    monkeypatch.setattr(by_rules, "cover_set", lambda region, merged, most: np.zeros_like(merged))
    rules = rules_in(tmp_path / "one")
    nothing = {"kind": "merging", "size": len(rules["symbols"]["codes"]), "merged": [], "replacement": None}
    (tmp_path / "rules.json").write_text(json.dumps({**rules, "treatment": nothing}))
    with pytest.raises(NotCertifiedError, match="nothing was written"):
        protect(people, rules=tmp_path / "rules.json", out=tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_cells_that_miss_their_epsilon_are_never_written(people: Path, tmp_path: Path, monkeypatch) -> None:
    """Whatever a search finds, the joint of secret and cell decides."""
    from tacit.codes import fitting

    protect(people, secret="illness", epsilon=3, out=tmp_path / "one")
    rules = rules_in(tmp_path / "one")
    strict = {**rules["bounds"], "low": 0.1, "high": 0.1}
    (tmp_path / "rules.json").write_text(json.dumps({**rules, "bounds": strict}))
    monkeypatch.setattr(fitting, "pruned", lambda tree, *_, **__: tree)
    monkeypatch.setattr(fitting, "grown", lambda *_, start, **__: start)
    with pytest.raises(NotCertifiedError, match="nothing was written"):
        protect(people, rules=tmp_path / "rules.json", out=tmp_path / "two")
    assert not (tmp_path / "two").exists()
    monkeypatch.undo()
    made = protect(people, rules=tmp_path / "rules.json", out=tmp_path / "two").certificate
    assert made.attained_epsilon <= 0.1


@pytest.mark.parametrize(
    "text",
    few(["", "{", "[]", '{"format": "tacit rules", "version": 99}', '{"format": "tacit rules", "version": 1}'], 2),
)
def test_damaged_rules_are_refused(people: Path, tmp_path: Path, text: str) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(text)
    with pytest.raises(SourceError, match=r"rules\.json"):
        protect(people, rules=rules, out=tmp_path / "r")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"epsilon": None}, "epsilon=0.5"),
        ({"epsilon": -0.5}, "between 0 and 100"),
        ({"epsilon": math.nan}, "it must be a number"),
        ({"epsilon": math.inf}, "between 0 and 100"),
        ({"epsilon": 800}, "between 0 and 100"),
        ({"epsilon": 1, "max_loss": -3}, "between 0 and 1"),
        ({"epsilon": 1, "delta": 1.0}, "delta is a probability"),
        ({"epsilon": 1, "delta": -0.1}, "between 0 and 1"),
        ({"epsilon": 1, "delta": math.nan}, "it must be a number"),
        ({"epsilon": 1, "epsilon_max": 0.5}, "epsilon_max"),
        ({"epsilon": 1, "replacement": "shred"}, "replacement='shred' cannot be used: choose one of"),
        ({"epsilon": 1, "mechanism": "magic"}, "mechanism='magic' cannot be used: choose one of"),
        ({"epsilon": 1, "effort": "heroic"}, "effort='heroic' cannot be used: choose one of"),
        ({"epsilon": 1, "mechanism": "optimal", "replacement": "merge"}, "leave out one of the two"),
        ({"epsilon_low": 1}, "epsilon=0.5"),
        ({"epsilon": 1, "epsilon_low": -1}, "epsilon_low=-1 cannot be used"),
        ({"epsilon": 1, "epsilon_low": math.nan}, "it must be a number"),
        ({"epsilon_high": math.inf}, "epsilon_high=inf cannot be used"),
        ({"epsilon": 1, "epsilon_low": 0.5, "delta": 0.1}, "one epsilon for both sides"),
        ({"epsilon": 1, "delta": 0.1, "delta_kind": "loss"}, "choose one of mass, egamma"),
        ({"epsilon": 1, "delta": 0.1, "delta_kind": "egamma", "epsilon_max": 2}, "leave out epsilon_max"),
        ({"epsilon": 1, "delta": 0.1, "mechanism": "optimal"}, "one merged set"),
        ({"epsilon": 1, "delta": 0.1, "also": {"age": 1}, "mechanism": "watchdog"}, "takes one secret"),
        ({"epsilon": 1, "also": {"age": -1}}, "also=-1 cannot be used"),
        ({"epsilon": 1, "also": {(): 1}}, "names no column"),
    ],
)
def test_wrong_bounds_are_refused(people: Path, tmp_path: Path, words: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        protect(people, secret="illness", out=tmp_path / "r", **words)
    assert not (tmp_path / "r").exists()


def test_an_existing_release_is_kept_unless_told_otherwise(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    protect(people, secret="illness", epsilon=1, out=out)
    before = (out / "certificate.json").read_bytes()
    with pytest.raises((ArgumentError, SourceError), match="overwrite=True"):
        protect(people, secret="illness", epsilon=0.5, out=out)
    assert (out / "certificate.json").read_bytes() == before
    protect(people, secret="illness", epsilon=0.5, out=out, overwrite=True)
    assert certificate_in(out)["epsilon"] == 0.5


def test_a_failure_half_way_leaves_nothing(people: Path, tmp_path: Path, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ReleaseDraft, "sealed", fails)
    with pytest.raises(KeyboardInterrupt):
        protect(people, secret="illness", epsilon=1, out=tmp_path / "release")
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_table_without_risk_is_released_as_it_is(tmp_path: Path) -> None:
    columns = clinic(2000)
    people = write_csv(tmp_path / "people.csv", columns)
    result = protect(people, secret="illness", released="district", epsilon=3, out=tmp_path / "release")
    assert read_csv(tmp_path / "release" / "data.csv")["district"] == columns["district"]
    assert result.certificate.utility.nmil == 0
    columns["district"][0] = "elsewhere"
    batch = write_csv(tmp_path / "batch.csv", columns)
    protect(batch, rules=tmp_path / "release" / "private" / "rules.json", out=tmp_path / "next")
    # A value that was never seen is in no cell by itself; it is not named, and what is told of its cell is true of it.
    told = read_csv(tmp_path / "next" / "data.csv")["district"]
    assert "another value" in told[0].split(" or ")
    assert told.count(told[0]) >= 10
    assert verify(tmp_path / "next", against=batch).verdict == "holds"
    protect(people, secret="illness", released="district", epsilon=3, out=tmp_path / "old", mechanism="watchdog")
    protect(batch, rules=tmp_path / "old" / "private" / "rules.json", out=tmp_path / "alike")
    assert read_csv(tmp_path / "alike" / "data.csv")["district"][0] == ""


def test_a_release_is_not_written_into_the_folder_of_its_original(people: Path, tmp_path: Path) -> None:
    """The folder would no longer be a table, or one with the released rows in it."""
    folder = tmp_path / "people"
    folder.mkdir()
    shutil.copy(people, folder)
    for out in (folder / "release", folder / "deeper" / "release"):
        with pytest.raises(ArgumentError, match="is inside the original people: choose another"):
            protect(folder, secret="illness", epsilon=1, out=out)
    assert [each.name for each in folder.iterdir()] == ["people.csv"]
    protect(folder, secret="illness", epsilon=1, out=tmp_path / "people-release")


def test_nothing_but_a_release_is_ever_overwritten(people: Path, tmp_path: Path) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "thesis.txt").write_text("years of work")
    with pytest.raises(ArgumentError, match="not a release"):
        protect(people, secret="illness", epsilon=1, out=tmp_path / "keep", overwrite=True)
    with pytest.raises(ArgumentError, match=r"holds the original people\.csv"):
        protect(people, secret="illness", epsilon=1, out=tmp_path, overwrite=True)
    assert (tmp_path / "keep" / "thesis.txt").read_text() == "years of work"
    assert people.exists()


def test_rules_and_words_that_contradict_them_are_refused(people: Path, rules_of_one: Path, tmp_path: Path) -> None:
    said = {"epsilon": 0.1, "secret": "ward", "released": "ward", "delta": 0.1, "bins": {"age": 3}, "epsilon_low": 0.1}
    said |= {"epsilon_high": 0.1, "also": {"age": 0.1}, "confidence": 0.9, "mechanism": "optimal", "effort": "high"}
    said |= {"replacement": "merge", "delta_kind": "egamma", "epsilon_max": 2.0, "estimator": "linear"}
    for name, value in said.items():
        with pytest.raises(ArgumentError, match=f"leave out {name} with rules"):
            protect(people, rules=rules_of_one, out=tmp_path / "two", **{name: value})
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("name", few(["epsilon", "epsilon_low", "epsilon_high"]))
def test_an_epsilon_of_zero_beside_rules_is_refused_like_any_other(
    people: Path, rules_of_one: Path, tmp_path: Path, name: str
) -> None:
    with pytest.raises(ArgumentError, match=f"leave out {name} with rules"):
        protect(people, rules=rules_of_one, out=tmp_path / "two", **{name: 0})
    words = ["protect", str(people), "--rules", str(rules_of_one), f"--{name.replace('_', '-')}", "0", "-o", "two"]
    answer = CliRunner().invoke(command, words, standalone_mode=False)
    assert isinstance(answer.exception, ArgumentError)
    assert f"leave out --{name.replace('_', '-')} with --rules" in answer.exception.told(COMMAND_LINE)
    assert not (tmp_path / "two").exists()


def test_a_secret_that_is_named_twice_is_refused(people: Path, tmp_path: Path) -> None:
    for work in (audit, lambda source, secret: protect(source, secret=secret, epsilon=1, out=tmp_path / "r")):
        with pytest.raises(ArgumentError, match="illness"):
            work(people, secret=["illness", "illness"])
    with pytest.raises(ArgumentError, match="age"):
        protect(people, secret="illness", also={("age", "age"): 1}, epsilon=1, out=tmp_path / "r")
    words = ["protect", str(people), "--secret", "illness,illness", "--epsilon", "1", "-o", str(tmp_path / "r")]
    answer = CliRunner().invoke(command, words, standalone_mode=False)
    assert isinstance(answer.exception, UsageError)
    assert answer.exception.exit_code == 2
    assert "cannot be used" in answer.exception.message
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("groups", [-5, 0, 1, 101])
def test_a_number_of_groups_that_cannot_be_is_refused(tmp_path: Path, groups: int) -> None:
    people = write_csv(tmp_path / "p.csv", {**clinic(200), "years": [18 + i % 60 for i in range(200)]})
    with pytest.raises(ArgumentError, match=f"bins={{'years': {groups}}} cannot be used"):
        protect(people, secret="illness", bins={"years": groups}, epsilon=1, out=tmp_path / "r")
    words = ["protect", str(people), "--secret", "illness", "--bins", f"years={groups}", "--epsilon", "1"]
    answer = CliRunner().invoke(command, [*words, "-o", str(tmp_path / "r")], standalone_mode=False)
    assert isinstance(answer.exception, UsageError)
    assert answer.exception.exit_code == 2
    assert "cannot be used" in answer.exception.message
    assert f"--bins years={groups}" in answer.exception.message
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("mechanism", few(["optimal", "watchdog"]))
def test_what_exceeds_epsilon_in_the_next_batch_is_merged_besides(tmp_path: Path, mechanism: str) -> None:
    first = write_csv(tmp_path / "one.csv", clinic(3000))
    protect(first, secret="illness", epsilon=0.45, out=tmp_path / "one", mechanism=mechanism)
    batch = write_csv(tmp_path / "two.csv", clinic(3000, random_state=4))
    result = protect(batch, rules=tmp_path / "one" / "private" / "rules.json", out=tmp_path / "two")
    assert result.certificate.mechanism.values_merged_besides > 0
    assert result.certificate.attained_epsilon <= 0.45


@pytest.mark.parametrize(("one", "other"), [(math.nan, None), (0.0, -0.0)])
def test_numbers_that_count_as_one_are_released_as_one(tmp_path: Path, one: float, other: float | None) -> None:
    """NaN for one secret and missing for the other, or 0.0 and -0.0, would tell them apart."""
    secret = ["a", "b"] * 200
    numbers = pa.array([one if s == "a" else other for s in secret], pa.float64(), from_pandas=False)
    pq.write_table(pa.table({"s": secret, "x": numbers, "y": ["p", "p", "q", "q"] * 100}), tmp_path / "p.parquet")
    protect(tmp_path / "p.parquet", secret="s", epsilon=0.1, out=tmp_path / "r")
    released = pq.read_table(tmp_path / "r" / "data.parquet").column("x").to_pylist()
    assert len({repr(value) for value in released}) == 1


def test_suppression_with_missing_rows_and_delta_is_possible_and_counted_right(tmp_path: Path) -> None:
    for seed in range(many(3, 30)):
        rng = np.random.default_rng(seed)
        table = pa.table(
            {"s": rng.choice(["a", "b"], 30), "x": pa.array(rng.choice(["p", "q"], 30), mask=rng.random(30) < 0.4)}
        )
        result = protect(table, secret="s", epsilon=0.05, delta=0.2, replacement="suppress", out=tmp_path / str(seed))
        released = pq.read_table(tmp_path / str(seed) / "data.parquet").column("x").to_pylist()
        same = np.mean([a == b for a, b in zip(table["x"].to_pylist(), released, strict=True)])
        assert result.certificate.utility.rows_unchanged == pytest.approx(same)
        assert result.certificate.utility.cells_unchanged == pytest.approx(same)


@pytest.mark.parametrize(
    ("part", "change"),
    few(
        [
            ("treatment", {"merged": [-1]}),
            ("treatment", {"merged": [10_000]}),
            ("treatment", {"replacement": {"at": [0], "p": [0.5]}}),
            ("bounds", {"epsilon_low": -5}),
            ("bounds", {"epsilon_high": "inf"}),
            ("bounds", {"epsilon_high": "nan"}),
            ("bounds", {"delta": 2}),
            ("bounds", {"delta_kind": "large"}),
            ("bounds", {"epsilon_max": 0.5}),
        ],
        5,
    ),
)
def test_rules_that_make_no_sense_are_refused(
    people: Path, rules_of_one: Path, tmp_path: Path, part: str, change: dict
) -> None:
    rules = json.loads(rules_of_one.read_text("utf-8"))
    (tmp_path / "rules.json").write_text(json.dumps({**rules, part: {**rules[part], **change}}))
    with pytest.raises(SourceError, match="damaged"):
        protect(people, rules=tmp_path / "rules.json", out=tmp_path / "two")


def test_a_wholly_missing_row_of_the_next_batch_is_not_told_from_a_suppressed_one(tmp_path: Path) -> None:
    """The first batch has nothing to merge, so the next one's unseen values are suppressed beside missing ones."""
    first = pa.table({"s": ["a", "b"] * 60, "x": ["p", "p", "q", "q", None, None] * 20})
    protect(first, secret="s", epsilon=0.3, out=tmp_path / "one", mechanism="watchdog")
    secret, value = ["a", "b"] * 60, ["p", "p", "q", "q", None, None] * 20
    # Three unseen values, all of secret a: alone they would give it away.
    batch = pa.table({"s": [*secret, "a", "a", "a"], "x": [*value, "new", "new", "new"]})
    result = protect(batch, rules=tmp_path / "one" / "private" / "rules.json", out=tmp_path / "two")
    released = pq.read_table(tmp_path / "two" / "data.parquet").column("x").to_pylist()
    joint, _ = joint_of({"s": batch["s"].to_pylist(), "y": released}, "s", ["y"])
    assert result.certificate.attained_epsilon == pytest.approx(float(risk(joint).max()))
    assert result.certificate.attained_epsilon <= 0.3


def test_where_hardly_anything_comes_through_the_column_to_leave_out_is_named() -> None:
    secret = [row % 2 for row in range(400)]
    telling = [f"{row % 80} {of}" for row, of in enumerate(secret)]
    table = pa.table({"s": secret, "telling": telling, "plain": ["x"] * 400})
    made = protect(table, secret="s", epsilon=0.3, mechanism="watchdog", random_state=0)
    assert "Leaving out column 'telling' makes 100.0% of the records safe" in str(made.diagnosis)


def test_a_table_that_was_counted_before_its_frame_was_written_to_in_place_is_counted_again(tmp_path: Path) -> None:
    secret, told = np.repeat([0, 1], 100), np.tile([0, 1], 100)
    table = open_table(pa.table({"secret": secret, "told": told}))
    count(table, ["secret", "told"])
    told[:] = secret
    release = protect(table, secret="secret", epsilon=0.5, mechanism="watchdog", out=tmp_path / "release")
    written = pq.read_table(tmp_path / "release" / release.certificate.output.file)
    assert release.certificate.mechanism.values_merged == 2
    assert written.column("told").to_pylist() != secret.tolist()
