"""A release in cells, from end to end: what is written is true, shared, within bounds, and can be checked."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hospital import hospital
from papers import write_paper
from sizes import few, many
from tables_of_people import read_csv, write_csv
from tacit import ArgumentError, DataError, SourceError, attack, protect, verify
from tacit.codes.coding import sample_in_cells
from tacit.release.levels import read_code
from tacit.tables import open_table

SECRET = {"illness": ["B20", "F32"]}
ROWS = many(1_200, 2_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cells")
    write_csv(place / "stays.csv", hospital(ROWS))
    protect(place / "stays.csv", secret=SECRET, epsilon=0.5, out=place / "release")
    return place


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def rows_of(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


def classes(columns: dict[str, list[Any]]) -> list[str]:
    """The secret as it is claimed of: two illnesses, and all others as one."""
    return [value if value in SECRET["illness"] else "other" for value in columns["illness"]]


def worst_lift(secrets: list[str], rows: list[tuple[Any, ...]], *, one_sided: bool = False) -> float:
    """The largest log-lift, counted the slow way; a secret that never occurs with a row is ruled out."""
    prior, sizes, pairs = Counter(secrets), Counter(rows), Counter(zip(secrets, rows, strict=True))
    worst = 0.0
    for row, size in sizes.items():
        for secret, share in prior.items():
            lift = pairs[secret, row] / size / (share / len(rows))
            side = math.log(lift) if lift > 0 else -math.inf
            worst = max(worst, side if one_sided else abs(side))
    return worst


def failed(release: Path, folder: Path) -> set[str]:
    checked = verify(release, against=folder / "stays.csv")
    assert checked.verdict != "holds"
    return {check.name for check in checked.checks if check.passed is False}


def sealed_again(release: Path) -> None:
    """Give the certificate the fingerprints of what is there, as somebody who tampers would."""
    paper = release / "certificate.json"
    certificate = json.loads(paper.read_text())
    for name, field in (("data.csv", "sha256"), ("levels.json", "levels_sha256")):
        certificate["output"][field] = hashlib.sha256((release / name).read_bytes()).hexdigest()
    write_paper(paper, certificate)


def test_the_bound_and_the_smallest_group_are_those_of_the_bytes_that_were_written(folder: Path) -> None:
    original, written = read_csv(folder / "stays.csv"), read_csv(folder / "release" / "data.csv")
    rows = rows_of(written)
    certificate = json.loads((folder / "release" / "certificate.json").read_text())
    assert len(set(rows)) > 10
    assert worst_lift(classes(original), rows) == pytest.approx(certificate["attained_epsilon"], abs=1e-9)
    assert certificate["attained_epsilon"] <= 0.5
    assert min(Counter(rows).values()) == certificate["file"]["smallest"] >= 10


def test_every_level_is_true_of_its_record(folder: Path) -> None:
    original, written = read_csv(folder / "stays.csv"), read_csv(folder / "release" / "data.csv")
    code = read_code(folder / "release")
    assert code is not None
    for column, scale in enumerate(code.scales):
        which, parts = code.tree.parts_of(column)
        part_of = dict(zip(code.written[column], which[code.tree.leaves].tolist(), strict=True))
        atoms = scale.atoms_of(original[scale.column])
        told = zip(atoms.tolist(), written[scale.column], strict=True)
        assert all(parts[part_of[level]][atom] for atom, level in told)


def test_the_page_shows_how_columns_are_told(folder: Path) -> None:
    page, code = (folder / "release" / "report.html").read_text("utf-8"), read_code(folder / "release")
    assert code is not None
    assert "How columns are written" in page
    told = {level for levels in code.written for level in levels if level != "any"}
    assert sum(f">{level}" in page or f", {level}" in page for level in told) >= 5


def test_no_rare_number_date_or_code_stands_in_what_is_published(folder: Path) -> None:
    original = read_csv(folder / "stays.csv")
    public = "".join(path.read_text() for path in (folder / "release").iterdir() if path.is_file())
    words = set(public.replace('"', " ").replace(",", " ").split())
    ages = Counter(int(age) for age in original["age"])
    ends = [end for end in (min(ages), max(ages)) if ages[end] < 10]
    told = set(read_csv(folder / "release" / "data.csv")["age"])
    assert ends
    assert not [level for level in told for end in ends if str(end) in level.split()]
    rare = {name for name, times in Counter(original["postcode"]).items() if times < 10}
    assert rare
    assert not rare & words


def test_it_verifies_without_the_owners_part(folder: Path, release: Path) -> None:
    shutil.rmtree(release / "private")
    assert verify(release, against=folder / "stays.csv").verdict == "holds"


def test_a_row_that_was_given_another_cell_is_found_out(folder: Path, release: Path) -> None:
    head, *lines = (release / "data.csv").read_text().splitlines()
    other = next(at for at, line in enumerate(lines) if line != lines[0])
    lines[0], lines[other] = lines[other], lines[0]
    (release / "data.csv").write_text("\n".join([head, *lines]) + "\n")
    assert "released data is the data certified" in failed(release, folder)
    sealed_again(release)
    assert failed(release, folder)


def test_levels_that_say_something_else_are_found_out(folder: Path, release: Path) -> None:
    path = release / "levels.json"
    levels = json.loads(path.read_text())
    scale = next(each for each in levels["code"]["scales"] if each["kind"] == "stretches" and each["starts"])
    scale["starts"] = [start + 1 for start in scale["starts"]]
    write_paper(path, levels)
    with pytest.raises(SourceError, match="damaged"):
        verify(release, against=folder / "stays.csv")


@pytest.mark.parametrize("change", few([{"known": ["age"]}, {"secret_values": ["B20"]}, {"attained_epsilon": 0.1}]))
def test_an_edited_certificate_is_found_out(folder: Path, release: Path, change: dict[str, Any]) -> None:
    paper = release / "certificate.json"
    write_paper(paper, {**json.loads(paper.read_text()), **change})
    assert failed(release, folder)


def test_nobody_is_found_who_was_found_in_the_original(folder: Path) -> None:
    found = attack(folder / "release", against=folder / "stays.csv", records=1_000)
    assert found.verdict != "people are found"
    assert found.linkage
    for finding in found.linkage:
        assert finding.before is not None
        assert finding.before.found > 0.9
        # THEORY 8.2: whatever is known, at least ten people fit, and the person is one of them.
        assert (finding.after.found, finding.after.nobody) == (0, 0)
        assert finding.after.candidates >= 10


@pytest.mark.parametrize("seed", [5, 0][: many(1, 2)])
def test_inside_what_is_known_as_it_is_written_nothing_much_is_added(tmp_path: Path, seed: int) -> None:
    """An adversary found tables on which cuts of the known column went on below what was bounded."""
    rng = np.random.default_rng(seed)
    known, x = rng.choice(list("ABCDEFGHIJ"), 400), rng.integers(0, 100, 400)
    secret = np.where(rng.random(400) < 0.3 + 0.4 * (x / 100), "flu", "no")
    columns = {"s": secret.tolist(), "k": known.tolist(), "x": [str(each) for each in x]}
    people = write_csv(tmp_path / "t.csv", columns)
    protect(people, secret="s", epsilon=0.7, known=["k"], out=tmp_path / "r")
    written = read_csv(tmp_path / "r" / "data.csv")
    for part in set(written["k"]):
        inside = [at for at, own in enumerate(written["k"]) if own == part]
        rows = rows_of(written)
        assert worst_lift([columns["s"][at] for at in inside], [rows[at] for at in inside]) <= 0.7
    assert verify(tmp_path / "r", against=people).verdict == "holds"


@pytest.mark.parametrize("mechanism", ["cells", "watchdog", "optimal"])
def test_records_of_weight_0_are_refused_by_every_mechanism(tmp_path: Path, mechanism: str) -> None:
    """They were written, counted as people of a cell, and nobody had counted what they told."""
    columns = {"s": ["a", "b"] * 100, "x": ["p", "p", "q", "q"] * 50, "w": [0.0, *([1.0] * 199)]}
    with pytest.raises(DataError, match=r"1 weights that are missing, 0, negative.*leave their rows out"):
        protect(pa.table(columns), secret="s", weight="w", epsilon=1, mechanism=mechanism, out=tmp_path / "r")


def test_whole_numbers_that_a_float_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    large = pa.array([2**53 + int(v) for v in rng.integers(0, 40, 500)])
    people = pa.table({"s": rng.choice(["a", "b"], 500).tolist(), "b": large})
    with pytest.raises(DataError, match="cannot be distinguished as numbers"):
        protect(people, secret="s", epsilon=1, out=tmp_path / "r")


def test_cells_that_are_mixed_are_verified(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"s": rng.choice(["a", "b"], 500).tolist(), "age": [str(v) for v in rng.integers(0, 90, 500)]}
    people = write_csv(tmp_path / "t.csv", columns)
    protect(people, secret="s", epsilon=0.5, mechanism="cells+mix", random_state=1, out=tmp_path / "r")
    assert verify(tmp_path / "r", against=people).verdict == "holds"


def test_what_is_known_may_be_written_in_means(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"s": rng.choice(["a", "b"], 500).tolist(), "age": [str(v) for v in rng.integers(0, 90, 500)]}
    people = write_csv(tmp_path / "t.csv", {**columns, "c": rng.choice(["A", "B"], 500).tolist()})
    protect(people, secret="s", epsilon=1, known=["age"], write="means", out=tmp_path / "r")
    assert verify(tmp_path / "r", against=people).verdict == "holds"


def test_a_category_that_few_have_is_named_nowhere(tmp_path: Path) -> None:
    """It stood in the text of its group, and in the levels of the next batch that had it."""
    rng = np.random.default_rng(3)
    jobs = [str(each) for each in rng.choice(["clerk", "nurse", "cook"], 600)]
    columns = {"s": rng.choice(["a", "b"], 600).tolist(), "job": ["astronaut", *(["diver"] * 3), *jobs[4:]]}
    people = write_csv(tmp_path / "t.csv", columns)
    made = protect(people, secret="s", epsilon=0.5, out=tmp_path / "r")
    batch = write_csv(tmp_path / "next.csv", columns | {"job": ["pope", *jobs[1:]]})
    protect(batch, rules=tmp_path / "r" / "private" / "rules.json", out=tmp_path / "again")
    for release, source in (("r", people), ("again", batch)):
        told = "".join((tmp_path / release / name).read_text() for name in ("data.csv", "levels.json", "report.html"))
        assert not any(rare in told for rare in ("astronaut", "diver", "pope"))
        assert verify(tmp_path / release, against=source).verdict == "holds"
    assert any("another value" in level for level in read_csv(tmp_path / "r" / "data.csv")["job"])
    assert made.certificate.keeps is not None
    assert made.certificate.keeps.columns[0].kept > 0.9


def test_an_outlier_is_not_read_from_the_means(tmp_path: Path) -> None:
    """One 98,765 among 99 twos was written as 989.6 in every row."""
    columns = {"s": ["a", "b"] * 50, "x": [98_765, *([2] * 99)], "c": ["p", "q", "q", "p"] * 25}
    protect(pa.table(columns), secret="s", epsilon=1, write="means", out=tmp_path / "r")
    assert set(pq.read_table(tmp_path / "r" / "data.parquet").column("x").to_pylist()) == {2.0}


def test_long_texts_without_a_pattern_name_no_rare_end(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    codes = [f"K{rng.integers(0, 110)}-{rng.choice(list('XY'))}" for _ in range(500)]
    people = write_csv(tmp_path / "t.csv", {"s": rng.choice(["a", "b"], 500).tolist(), "code": codes})
    protect(people, secret="s", epsilon=1, out=tmp_path / "r")
    rare = {code for code, times in Counter(codes).items() if times < 10}
    words = {word for level in read_csv(tmp_path / "r" / "data.csv")["code"] for word in level.split()}
    assert not rare & words
    assert verify(tmp_path / "r", against=people).verdict == "holds"


@pytest.mark.long
def test_one_side_alone_keeps_columns_that_a_zero_forbids(folder: Path, tmp_path: Path) -> None:
    both = protect(folder / "stays.csv", secret="illness", epsilon=1.0, out=tmp_path / "both")
    above = protect(folder / "stays.csv", secret="illness", epsilon_high=1.0, out=tmp_path / "above")
    for name, freed in (("sex", True), ("ward", False)):
        # What another bound would tell was measured: it is what a release with that bound tells.
        told = np.mean([level != "any" for level in read_csv(tmp_path / "above" / "data.csv")[name]])
        (note,) = (note for note in both.notes if f"'{name}' cannot be shown on its own" in note)
        assert (told > 0) == freed == ("upper side only" in note)
        assert not freed or f"(epsilon_high=1.0) it is shown in {told:.0%} of the rows" in note
    kept = [{each.name: each.kept for each in made.certificate.keeps.columns} for made in (both, above)]
    assert kept[0]["sex"] < 0.05 < kept[1]["sex"]
    rows = rows_of(read_csv(tmp_path / "above" / "data.csv"))
    assert worst_lift(read_csv(folder / "stays.csv")["illness"], rows, one_sided=True) <= 1.0


def test_means_stay_numbers_where_the_column_held_numbers(tmp_path: Path) -> None:
    stays = pa.table(hospital(600))
    pq.write_table(
        stays.set_column(3, "age", pa.array([int(a) for a in stays["age"].to_pylist()])), tmp_path / "s.parquet"
    )
    protect(tmp_path / "s.parquet", secret=SECRET, epsilon=0.5, write="means", out=tmp_path / "r")
    written = pq.read_table(tmp_path / "r" / "data.parquet")
    assert pa.types.is_floating(written.schema.field("age").type)
    assert verify(tmp_path / "r", against=tmp_path / "s.parquet").verdict == "holds"


def test_a_next_batch_is_told_in_the_same_words_and_keeps_its_own_bound(folder: Path, tmp_path: Path) -> None:
    batch = write_csv(tmp_path / "batch.csv", hospital(1_000, random_state=7))
    protect(batch, rules=folder / "release" / "private" / "rules.json", out=tmp_path / "r")
    rows = rows_of(read_csv(tmp_path / "r" / "data.csv"))
    assert worst_lift(classes(read_csv(batch)), rows) <= 0.5
    assert min(Counter(rows).values()) >= 10
    assert verify(tmp_path / "r", against=batch).verdict == "holds"


@pytest.mark.long
def test_one_level_per_column_is_one_level_in_every_record(folder: Path, tmp_path: Path) -> None:
    protect(folder / "stays.csv", secret=SECRET, epsilon=1.0, recode="global", out=tmp_path / "r")
    code = read_code(tmp_path / "r")
    assert code is not None
    for column in range(len(code.columns)):
        which, parts = code.tree.parts_of(column)
        used = [parts[at] for at in set(which[code.tree.leaves].tolist())]
        # Parts of a column that is told alike everywhere have no atom in common.
        assert sum(part.astype(int) for part in used).max() == 1
    assert verify(tmp_path / "r", against=folder / "stays.csv").verdict == "holds"


@pytest.mark.parametrize("role", ["known", "use"])
def test_a_further_secret_is_neither_known_nor_of_use(folder: Path, tmp_path: Path, role: str) -> None:
    words = {"secret": SECRET, "epsilon": 0.5, "also": {"sex": 0.5}, role: "sex"}
    with pytest.raises(ArgumentError, match=f"'sex' is named in {role} and is a further secret"):
        protect(folder / "stays.csv", out=tmp_path / "r", **words)


def test_times_with_a_zone_are_told_by_a_clock_that_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    zone = dt.timezone(dt.timedelta(hours=-5))
    when = [dt.datetime(2024, 3, 1, 22, tzinfo=zone) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9, 400)]
    table = pa.table({"s": rng.choice(["a", "b"], 400), "when": pa.array(when, pa.timestamp("us", "-05:00"))})
    made = protect(table, secret="s", epsilon=1, levels={"when": "day"}, out=tmp_path / "r")
    assert any("'when' holds times with a zone: its days and hours are those of UTC" in note for note in made.notes)
    levels = json.loads((tmp_path / "r" / "levels.json").read_text())
    assert [each["zone"] for each in levels["columns"]] == ["UTC"]
    written = pq.read_table(tmp_path / "r" / "data.parquet").column("when").to_pylist()
    days = {(moment.astimezone(dt.UTC).date().isoformat(), text) for moment, text in zip(when, written, strict=True)}
    assert all(day == text for day, text in days if len(text) == 10)
    assert any(len(text) == 10 for _, text in days)
    assert verify(tmp_path / "r", against=table).verdict == "holds"


def test_a_known_column_that_is_not_released_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="may be known but is not released"):
        protect(folder / "stays.csv", secret=SECRET, epsilon=0.5, drop="age", known="age", out=tmp_path / "r")


def test_a_sample_in_cells_is_what_the_release_holds(release: Path, folder: Path) -> None:
    code, original = read_code(release), open_table(folder / "stays.csv")
    assert code is not None
    told = sample_in_cells(original.sample(code.columns, 50), code, original)
    assert told is not None
    written = read_csv(release / "data.csv")
    step = original.step_for(50)
    assert told.to_pydict() == {name: written[name][::step] for name in code.columns}


def test_a_sample_of_a_release_that_was_made_again_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table(hospital(ROWS)), tmp_path / "stays.parquet")
    for module in ("verify", "kept.tables"):
        monkeypatch.setattr(f"tacit.lenses.table.{module}.MOST_ROWS", 100)
    protect(tmp_path / "stays.parquet", secret=SECRET, epsilon=0.5, out=tmp_path / "r")
    kept: list[dict[str, list[str]]] = []
    monkeypatch.setattr(
        "tacit.tables.table.Table.remember_sample", lambda _, step, rows: kept.append(rows.to_pydict()), raising=True
    )
    assert verify(tmp_path / "r", against=tmp_path / "stays.parquet").verdict == "holds"
    data = pq.read_table(tmp_path / "r" / "data.parquet").to_pydict()
    assert {name: values[:: -(-ROWS // 100)] for name, values in data.items() if name in kept[-1]} == kept[-1]


@pytest.mark.parametrize("write", ["text", "means"])
def test_numbers_that_are_nan_in_a_parquet_file_without_nulls_are_missing(tmp_path: Path, write: str) -> None:
    # Such a file states the smallest and the largest number, and that nothing is missing.
    chance, n = np.random.default_rng(1), 3_000
    numbers = np.where(chance.random(n) < 0.2, np.nan, chance.integers(0, 3, n) / 2)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"ill": np.where(chance.random(n) < 0.3, "yes", "no"), "dose": pa.array(numbers)}), path)
    protect(path, secret="ill", epsilon=0.5, mechanism="cells", write=write, out=tmp_path / "release")
    written = pq.read_table(tmp_path / "release" / "data.parquet").column("dose").to_pylist()
    missing = None if write == "means" else "missing"
    assert [value == missing for value in written] == np.isnan(numbers).tolist()
    assert verify(tmp_path / "release", against=path).verdict == "holds"
