"""What is counted and what is written are of the same rows, or nothing is released."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tables_of_people import clinic, write_csv
from tacit import DataError, NotCertifiedError, SourceError, protect, verify
from tacit.lenses.table import protect as lens
from tacit.lenses.table.certifying import planned
from tacit.lenses.table.tabulating import Counted


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", clinic(300))


def other(place: Path) -> Path:
    """A table of the same size with other secrets: what was counted of the first is false of it."""
    columns = clinic(300)
    columns["illness"] = ["asthma" if ward == "lung" else "none" for ward in columns["ward"]]
    return write_csv(place / "other.csv", columns)


def before_writing(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Do something between counting and writing."""
    write = lens.write_table

    def meddled(*args: Any, **words: Any) -> None:
        act()
        write(*args, **words)

    monkeypatch.setattr(lens, "write_table", meddled)


def refused(people: Path, out: Path, error: type[Exception] = SourceError) -> None:
    with pytest.raises(error, match=r"changed while it was read|not what was counted"):
        protect(people, secret="illness", epsilon=0.5, out=out)
    assert not out.exists()
    assert not [each for each in out.parent.iterdir() if "tacit" in each.name]


def test_an_input_that_another_is_renamed_over_is_refused(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    another = other(tmp_path)
    before_writing(monkeypatch, lambda: os.replace(another, people))
    refused(people, tmp_path / "r", (SourceError, NotCertifiedError))  # type: ignore[arg-type]


def test_an_input_that_was_away_for_a_while_is_refused(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Another was in its place, and it is back, the same bytes, before anybody looks."""
    aside, another = tmp_path / "aside.csv", other(tmp_path)

    def there_and_back() -> None:
        os.rename(people, aside)
        shutil.copy(another, people)
        os.replace(aside, people)

    before_writing(monkeypatch, there_and_back)
    refused(people, tmp_path / "r")


@pytest.mark.parametrize("keep_times", [False, True])
def test_an_input_that_is_written_to_is_refused(
    people: Path, tmp_path: Path, monkeypatch: Any, keep_times: bool
) -> None:
    def edit() -> None:
        seen, data = people.stat(), people.read_bytes()
        people.write_bytes(data.replace(b"none", b"NONE"))
        if keep_times:
            os.utime(people, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    before_writing(monkeypatch, edit)
    refused(people, tmp_path / "r", (SourceError, NotCertifiedError))  # type: ignore[arg-type]


def test_an_input_that_is_gone_is_refused(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    before_writing(monkeypatch, people.unlink)
    with pytest.raises(SourceError):
        protect(people, secret="illness", epsilon=0.5, out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


DRAWN = (
    "SELECT CASE WHEN random() < 0.5 THEN 'ill' ELSE 'well' END AS illness, "
    "CASE WHEN random() < 0.5 THEN 'lung' ELSE 'skin' END AS ward FROM range(2000)"
)


def test_a_view_that_draws_is_read_once(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "p.duckdb")) as database:
        database.execute(f"CREATE VIEW people AS {DRAWN}")
    result = protect(f"{tmp_path}/p.duckdb::people", secret="illness", epsilon=0.5, out=tmp_path / "r")
    assert result.certificate.holds
    # The next time it is another table.
    assert verify(tmp_path / "r", against=f"{tmp_path}/p.duckdb::people").verdict == "broken"


def test_a_relation_that_draws_is_read_once(tmp_path: Path) -> None:
    import duckdb

    database = duckdb.connect()
    assert protect(database.sql(DRAWN), **words(tmp_path)).certificate.holds


def words(place: Path) -> dict[str, Any]:
    return {"secret": "illness", "epsilon": 0.5, "out": place / "r"}


@pytest.mark.spark
def test_a_spark_frame_that_draws_is_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions as F

    frame = spark.range(500).select(
        F.when(F.rand() < 0.5, "ill").otherwise("well").alias("illness"), (F.col("id") % 3).alias("ward")
    )
    with pytest.raises(DataError, match="draws anew"):
        protect(frame, **words(tmp_path))
    assert not (tmp_path / "r").exists()


def test_a_view_may_not_read_other_files_of_the_machine(tmp_path: Path) -> None:
    import duckdb

    secret = write_csv(tmp_path / "secret.csv", clinic(50))
    with duckdb.connect(str(tmp_path / "p.duckdb")) as database:
        database.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{secret}')")
    with pytest.raises(SourceError, match=r"p\.duckdb has a view that reads other files"):
        protect(f"{tmp_path}/p.duckdb::people", **words(tmp_path))


def test_rows_that_were_written_otherwise_are_never_released(people: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """A disk or a writer at fault: one cell of one row."""
    write = lens.write_table

    def wrong(table: Any, path: Path, **more: Any) -> None:
        write(table, path, **more)
        head, first, *lines = path.read_text().splitlines()
        path.write_text("\n".join([head, lines[-1], first, *lines[:-1]]) + "\n")

    monkeypatch.setattr(lens, "write_table", wrong)
    refused(people, tmp_path / "r", NotCertifiedError)


@pytest.mark.parametrize(
    ("differ", "words"),
    [(0, "read again, the source counts differently"), (1, "1 row differs"), (1_200, "1,200 rows differ")],
)
def test_a_refusal_says_what_differs_and_never_that_nothing_does(
    people: Path, tmp_path: Path, monkeypatch: Any, differ: int, words: str
) -> None:
    monkeypatch.setattr(planned, "written_as_counted", lambda *_: None)
    monkeypatch.setattr(planned, "rows_that_differ", lambda *_: differ)
    monkeypatch.setattr(Counted, "comes_out_again", lambda _: False)
    with pytest.raises(NotCertifiedError, match=rf"not what was counted \({words}\): the source changes"):
        protect(people, secret="illness", epsilon=0.5, out=tmp_path / "r")
