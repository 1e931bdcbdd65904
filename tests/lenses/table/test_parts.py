"""A release in parts: the workers of Spark write the table, and the certificate is about each file they wrote."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from papers import forge
from sizes import few
from tables_of_people import clinic
from tacit.errors import EngineError, SourceError
from tacit.release import read_certificate
from tacit.release.data import data_written
from tacit.tables import writing
from tacit.tables.engines.spark import engine

pytestmark = pytest.mark.spark
ROWS, EACH = 1_500, 500
WORDS: dict[str, Any] = {"secret": "illness", "epsilon": 0.5, "random_state": 3}
MECHANISMS = ["cells", "optimal"]
# More rows than the largest sample.
TOLD = ["00001", "00417", "90123"]
MANY, SAMPLED = 250_000, 200_000


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of three files, each of which is a partition."""
    folder, whole = tmp_path_factory.mktemp("people"), pa.table(clinic(ROWS, missing=0.1))
    for at in range(0, ROWS, EACH):
        pq.write_table(whole.slice(at, EACH), folder / f"{at:04}.parquet")
    return folder


@pytest.fixture(scope="module")
def made(people: Path, tmp_path_factory: pytest.TempPathFactory, spark: Any) -> Callable[[str], Path]:
    # A name that would be a pattern, if Spark read or wrote it as one.
    place = tmp_path_factory.mktemp("releases [1]{a,b}")

    def once(mechanism: str) -> Path:
        if not (place / mechanism).exists():
            tacit.protect(people, out=place / mechanism, mechanism=mechanism, parts=True, engine="spark", **WORDS)
        return place / mechanism

    return once


@pytest.fixture
def release(made: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(made("cells"), tmp_path / "release"))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_parts_hold_the_rows_of_the_one_file_in_their_order_and_either_engine_verifies_them(
    made: Callable[[str], Path], people: Path, tmp_path: Path, mechanism: str
) -> None:
    out = made(mechanism)
    one = tacit.protect(people, out=tmp_path / "one", mechanism=mechanism, **WORDS)
    parts = sorted((out / "data").iterdir())
    output = read_certificate(out).output
    assert [part.name for part in parts] == [part.name for part in output.parts]
    assert [part.records for part in output.parts] == [pq.read_metadata(part).num_rows for part in parts] == [EACH] * 3
    assert pa.concat_tables(map(pq.read_table, parts)).equals(one.frame())
    for each in ("duckdb", "spark"):
        verified = tacit.verify(out, against=people, engine=each)
        assert verified.verdict == "holds"
        assert any("are together in a part" in note for note in verified.notes)
    # What goes with the data is what goes with one file.
    assert {each.name for each in out.iterdir()} - {"data"} == {each.name for each in (tmp_path / "one").iterdir()} - {
        one.data_file
    }
    assert [each for each in out.parent.iterdir() if each.name.startswith(".")] == []


def test_what_reads_a_release_reads_parts(made: Callable[[str], Path], people: Path) -> None:
    told = tacit.read(made("cells"))
    assert sum(value.at_least for value in told.counts("ward")) <= ROWS
    assert tacit.attack(made("cells"), against=people, records=300, random_state=1).best_after <= 1
    corrected = tacit.corrected_counts(made("optimal"), "ward")
    assert sum(value.records for value in corrected.values) == pytest.approx(ROWS)


def left_out(data: Path) -> None:
    (data / "part-00001.parquet").unlink()


def swapped(data: Path) -> None:
    (data / "part-00000.parquet").rename(data / "kept")
    (data / "part-00002.parquet").rename(data / "part-00000.parquet")
    (data / "kept").rename(data / "part-00002.parquet")


def added(data: Path) -> None:
    shutil.copy(data / "part-00000.parquet", data / "part-00003.parquet")


def beside(data: Path) -> None:
    (data / "_SUCCESS").touch()


def cell_changed(data: Path) -> None:
    rows = pq.read_table(data / "part-00001.parquet").to_pylist()
    rows[0] = next(row for row in rows if row != rows[0])
    pq.write_table(pa.Table.from_pylist(rows), data / "part-00001.parquet")


def linked(data: Path) -> None:
    (data / "part-00001.parquet").rename(data.parent.parent / "elsewhere.parquet")
    (data / "part-00001.parquet").symlink_to(data.parent.parent / "elsewhere.parquet")


@pytest.mark.parametrize("tamper", few([left_out, swapped, added, beside, cell_changed, linked], 6))
def test_a_part_that_is_not_the_one_certified_breaks_the_claim(
    release: Path, people: Path, tamper: Callable[[Path], None]
) -> None:
    tamper(release / "data")
    verified = tacit.verify(release, against=people)
    assert verified.verdict == "broken"
    assert next(check.name for check in verified.checks if not check.passed) == "released data is the data certified"
    with pytest.raises(SourceError, match="not what was certified"):
        tacit.read(release)


def ends_moved(data: Path) -> None:
    """The same rows in the same order, but where the first part ends says a number."""
    first, second = data / "part-00000.parquet", data / "part-00001.parquet"
    rows = pa.concat_tables([pq.read_table(first), pq.read_table(second)])
    for path, some in ((first, rows.slice(0, 417)), (second, rows.slice(417))):
        pq.write_table(some, path)


def more_said(data: Path) -> None:
    part = data / "part-00001.parquet"
    rows = pq.read_table(part)
    pq.write_table(rows.replace_schema_metadata({"row 7": "asthma"}), part, compression="snappy")


@pytest.mark.parametrize(
    ("tamper", "verdict"),
    [(swapped, "broken"), (cell_changed, "broken"), (more_said, "not checked"), (ends_moved, "not checked")],
)
def test_a_forger_who_certifies_the_parts_again_is_found_out_by_their_rows_and_bytes(
    release: Path, people: Path, tamper: Callable[[Path], None], verdict: str
) -> None:
    tamper(release / "data")
    output = read_certificate(release).output
    again = data_written(release, "data", output.records)
    forge(release, output=replace(output, parts=again.parts, sha256=again.sha256))
    verified = tacit.verify(release, against=people)
    assert verified.verdict == verdict
    passed = {check.name: check.passed for check in verified.checks}
    assert passed["released data is the data certified"]
    assert passed["parts end as in the original"] is (None if tamper is ends_moved else True)


@pytest.mark.parametrize(
    "parts",
    [
        lambda parts: parts[::-1],
        lambda parts: [parts[0], *parts],
        lambda parts: [{**parts[0], "name": "../part-00000.parquet"}, *parts[1:]],
        lambda parts: [{**parts[0], "records": parts[0]["records"] + 1}, *parts[1:]],
        lambda parts: [{**parts[0], "sha256": "0" * 64}, *parts[1:]],
        lambda parts: parts[:2],
        # Whoever may choose names can say something with them.
        lambda parts: [{**part, "name": f"part-{number}.parquet"} for number, part in zip(TOLD, parts, strict=True)],
        lambda parts: [*parts[:2], {**parts[2], "name": "part-\u0660\u0660\u0660\u0660\u0662.parquet"}],
    ],
)
def test_a_certificate_whose_parts_do_not_fit_together_is_refused(release: Path, parts: Any) -> None:
    paper = json.loads((release / "certificate.json").read_text())
    changed = paper["output"]["parts"] = parts(paper["output"]["parts"])
    listed = "".join(f"{part['sha256']}  {part['name']}\n" for part in changed)
    if changed[0]["sha256"] != "0" * 64:
        paper["output"]["sha256"] = hashlib.sha256(listed.encode()).hexdigest()
    (release / "certificate.json").write_text(json.dumps(paper))
    with pytest.raises(SourceError, match="damaged or not a certificate"):
        read_certificate(release)


def test_a_release_in_parts_appears_whole_or_not_at_all(
    people: Path, tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(step: str) -> None:
        if step == "parts written":
            raise KeyboardInterrupt

    words = {**WORDS, "out": tmp_path / "out", "mechanism": "optimal", "parts": True, "engine": "spark"}
    with monkeypatch.context() as patch:
        patch.setattr(writing, "watchers", [stopped])
        with pytest.raises(KeyboardInterrupt):
            tacit.protect(people, **words)
    assert list(tmp_path.iterdir()) == []

    def unseen(step: str) -> None:
        # As with workers whose folder is not the driver's.
        if step == "parts written":
            for each in tmp_path.glob(".*/parts/part-00001*"):
                each.unlink()

    with monkeypatch.context() as patch:
        patch.setattr(writing, "watchers", [unseen])
        with pytest.raises(SourceError, match=r"of 1,500 rows that the workers wrote, 1,000 are seen here: choose a f"):
            tacit.protect(people, **words)
    assert list(tmp_path.iterdir()) == []

    def swapped_by_the_disk(step: str) -> None:
        if step == "data written":
            (data,) = tmp_path.glob(".*/release/data")
            swapped(data)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "watchers", [swapped_by_the_disk])
        with pytest.raises(tacit.TacitError, match="what was written is not what was counted"):
            tacit.protect(people, **words)
    assert list(tmp_path.iterdir()) == []


def test_a_release_in_parts_is_replaced_only_if_it_is_one(release: Path, people: Path) -> None:
    words = {**WORDS, "out": release, "mechanism": "optimal"}
    tacit.protect(people, overwrite=True, **words)
    assert not (release / "data").exists()
    tacit.protect(people, overwrite=True, parts=True, engine="spark", **words)
    (release / "data" / "notes.txt").write_text("mine")
    with pytest.raises(tacit.TacitError, match="not just a Tacit release"):
        tacit.protect(people, overwrite=True, **words)


def test_parts_say_nothing_that_the_frame_says_beside_its_rows(spark: Any, tmp_path: Path) -> None:
    told = {"comment": "row 7 is ill", "ml_attr": {"vals": ["nobody-has-this"]}}
    frame = spark.createDataFrame(pa.table(clinic(ROWS))).repartition(2)
    frame = frame.localCheckpoint()
    frame = frame.withMetadata("ward", told).withMetadata("illness", told)
    words = {**WORDS, "out": tmp_path / "out", "mechanism": "optimal", "parts": True}
    # Nothing is done to the secret's column, which is therefore written as it comes.
    result = tacit.protect(frame, keep_secret=True, **words)
    written = b"".join(part.read_bytes() for part in (tmp_path / "out" / "data").iterdir())
    assert b"asthma" in written
    assert b"nobody" not in written
    assert b"row 7" not in written
    assert result.frame().count() == ROWS
    assert tacit.verify(tmp_path / "out", against=frame).verdict == "holds"


def test_parts_need_workers(people: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"written by the workers of Spark: leave out parts=True, or use engine"):
        tacit.protect(people, out=tmp_path / "out", parts=True, **WORDS)
    assert os.listdir(tmp_path) == []


@pytest.mark.long
def test_no_row_of_a_release_in_parts_comes_to_the_driver_and_no_more_rows_than_a_sample_has(
    tmp_path: Path, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = tmp_path / "people.parquet"
    pq.write_table(pa.table(clinic(MANY)), people, row_group_size=MANY // 4)
    brought: list[int] = []
    kinds: list[Any] = []
    collected, streamed = engine.SparkEngine.collected, engine.streamed

    def watched(own: Any, rows: Any) -> pa.Table:
        data = collected(own, rows)
        brought.append(data.num_rows)
        return data

    def watched_stream(frame: Any, *others: Any) -> Any:
        kinds.extend(field.dataType.typeName() for field in frame.schema)
        return streamed(frame, *others)

    monkeypatch.setattr(engine.SparkEngine, "collected", watched)
    monkeypatch.setattr(engine, "streamed", watched_stream)
    for mechanism in MECHANISMS:
        out = tmp_path / mechanism
        tacit.protect(people, out=out, mechanism=mechanism, parts=True, engine="spark", **WORDS)
        assert tacit.verify(out, against=people, engine="spark").verdict == "holds"
    assert 0 < max(brought) <= SAMPLED
    # What comes of every row is a number of its symbol, for comparison.
    assert {*kinds} <= {"integer", "long"}
