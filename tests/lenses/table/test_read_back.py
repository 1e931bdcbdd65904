"""What protect wrote is read beside its original, in one pass through both files."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

import tacit
from tacit.lenses.table.certifying import planned
from tacit.lenses.table.checks import rows
from tacit.tables import labelled, open_table, write_table


def test_a_file_is_what_was_counted_only_row_by_row_and_holds_no_text_that_no_row_has(tmp_path, monkeypatch):
    source, told = tmp_path / "people.parquet", []
    people = pa.table(
        {
            "ill": ["flu", "none", "none", "flu", "none"] * 80,
            "ward": ["lung", "general", "general", "general", "eye"] * 80,
            "sex": ["f", "m"] * 200,
        }
    )
    pq.write_table(people, source)
    # As in a table of many rows.
    monkeypatch.setattr(rows, "FEW_ROWS", 10)
    monkeypatch.setattr("tacit.tables.table.FEW_ROWS", 10)
    real = planned.written_as_counted

    def watched(counted, written, rules):
        turned = tmp_path / "turned.parquet"
        data = pq.read_table(written.path)
        # The same rows as often, each beside the secret of another.
        pq.write_table(pa.concat_tables([data.slice(1), data.slice(0, 1)]), turned)
        told.extend([real(counted, written, rules), real(counted, open_table(turned), rules)])
        return told[0]

    monkeypatch.setattr(planned, "written_as_counted", watched)
    out = tmp_path / "release"
    tacit.protect(source, secret="ill", epsilon=1.0, out=out)
    assert told == [True, False]
    names = ["ward", "sex"]
    data = pq.read_table(out / "data.parquet", read_dictionary=names)
    for name in names:
        column = data.column(name).combine_chunks()
        assert set(column.dictionary.to_pylist()) == set(column.to_pylist())
    assert tacit.verify(out, against=source).verdict == "holds"


def test_texts_of_another_engine_are_written_as_the_same_bytes(tmp_path):
    table = open_table(pa.table({"n": [0, 1, 1, 2, 0, None] * 50}))
    texts = {"a": ["b", "a", None], "c": [f"{i} of many" for i in (2, 0, 1)]}
    coded = labelled(table, "n", texts).select(["a", "c"])
    plain = coded.with_rows(table.engine.of_arrow(coded.sample(["a", "c"], 1_000)), coded.columns)
    for name, each in (("here", coded), ("there", plain)):
        write_table(each, tmp_path / f"{name}.parquet", like=table)
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()
    assert pq.read_table(tmp_path / "here.parquet").equals(coded.sample(["a", "c"], 1_000))
