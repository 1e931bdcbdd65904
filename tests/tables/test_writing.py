"""Writing: the input's format, the same cells, and a release that is whole or not there."""

from __future__ import annotations

import csv
import hashlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from sample_results import certificate
from tacit.errors import ArgumentError, SourceError
from tacit.release import new_release, whole_directory
from tacit.tables import (
    count,
    new_key,
    open_table,
    rewrite,
    suffix_for,
    whole_file,
    write_table,
)

DATA = pa.table({"a": ["x", None, "y"], "b": [1, 2, None], "c": [0.5, None, -0.0]})


def test_csv_is_written_with_its_delimiter_and_the_same_text_in_every_cell(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(b'id;name;"a;b"\n007;"x;y";1.50\n;"";+1e3\n 8 ;"say ""hi""";NULL\n9;"two\nlines";\n')
    table = open_table(source)
    write_table(table, out, like=table)
    with source.open(newline="") as one, out.open(newline="") as two:
        assert list(csv.reader(one, delimiter=";")) == list(csv.reader(two, delimiter=";"))
    again = open_table(out)
    assert again.sample(again.names, 9).to_pylist() == table.sample(table.names, 9).to_pylist()


def test_a_rewritten_csv_changes_risky_cells_alone(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("id,zip,sex\n" + "".join(f"{i:05d},{i % 7:04d},{'fm'[i % 2]}\n" for i in range(5000)))
    table = open_table(source)
    symbols = count(table, ["zip"]).symbols(["zip"])[0]
    merged = np.arange(7) < 2
    write_table(rewrite(table, symbols, merged=merged, replacement=merged / 2, key=new_key(1)), out, like=table)
    before, after = source.read_text().splitlines(), out.read_text().splitlines()
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        if one.split(",")[1] in ("0000", "0001"):
            assert two.split(",")[1] in ("0000", "0001")
            assert (one[:5], one[-1]) == (two[:5], two[-1])
        else:
            assert one == two


@pytest.mark.parametrize("codec", ["snappy", "zstd", "gzip", "none", "lz4", "brotli"])
def test_parquet_is_written_with_its_codec(tmp_path, codec):
    pq.write_table(DATA, tmp_path / "in.parquet", compression=codec)
    table = open_table(tmp_path / "in.parquet")
    write_table(table, tmp_path / "out.parquet", like=table)
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == DATA.to_pylist()
    assert open_table(tmp_path / "out.parquet").codec == table.codec


@pytest.mark.parametrize("name", ["t.arrow", "t.feather"])
def test_arrow_is_written_as_arrow(tmp_path, name):
    pyarrow.feather.write_feather(DATA, tmp_path / name)
    table = open_table(tmp_path / name)
    write_table(table, tmp_path / f"out{suffix_for(table)}", like=table)
    assert pyarrow.feather.read_table(tmp_path / f"out{suffix_for(table)}").to_pylist() == DATA.to_pylist()


def over_remains(values, missing, name):
    """An Arrow file with one column that has these bytes also where cells are missing."""
    raw = np.asarray(values)
    valid = np.packbits(~np.asarray(missing), bitorder="little")
    buffers = [pa.py_buffer(valid.tobytes()), pa.py_buffer(raw.tobytes())]
    column = pa.Array.from_buffers(pa.from_numpy_dtype(raw.dtype), len(raw), buffers)
    with pa.OSFile(str(name), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("a", column.type)])) as writer:
        writer.write_batch(pa.record_batch([column], ["a"]))


@pytest.mark.parametrize("ending", ["arrow", "feather"])
@pytest.mark.parametrize("kind", ["int64", "float64", "int8"])
def test_an_arrow_file_says_nothing_where_a_cell_is_missing(tmp_path, kind, ending):
    values, missing = np.arange(1, 101).astype(kind), np.arange(100) % 3 == 0
    over_remains(values, missing, tmp_path / f"in.{ending}")
    table = open_table(tmp_path / f"in.{ending}")
    write_table(table, tmp_path / f"out.{ending}", like=table)
    (column,) = pa.ipc.open_file(tmp_path / f"out.{ending}").read_all().columns
    assert column.to_pylist() == [None if gone else value for value, gone in zip(values, missing, strict=True)]
    stored = np.frombuffer(column.combine_chunks().buffers()[1], kind, len(values))
    assert not stored[missing].any()


def test_jsonl_is_written_as_jsonl_and_frames_and_databases_as_parquet(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a":1,"t":"2020-01-01T00:00:00"}\n{"a":null,"t":"x"}\n')
    lines = open_table(tmp_path / "in.jsonl")
    write_table(lines, tmp_path / "out.jsonl", like=lines)
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "in.jsonl").read_text()
    frame = open_table(DATA)
    assert suffix_for(frame) == ".parquet"
    write_table(frame, tmp_path / "out.parquet", like=frame)
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == DATA.to_pylist()
    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.from_arrow(DATA).to_table("t")
    base = open_table(tmp_path / "d.duckdb")
    write_table(base, tmp_path / "base.parquet", like=base)
    assert open_table(tmp_path / "base.parquet").codec == "zstd"


def test_a_single_column_with_missing_cells_comes_back(tmp_path):
    (tmp_path / "in.csv").write_text('a\nx\n""\ny\n')
    table = open_table(tmp_path / "in.csv")
    write_table(table, tmp_path / "out.csv", like=table)
    assert open_table(tmp_path / "out.csv").row_count() == 3


def test_what_cannot_be_written_is_told_in_one_line(tmp_path):
    table = open_table(DATA)
    with pytest.raises(SourceError, match="nowhere") as caught:
        write_table(table, tmp_path / "nowhere" / "x.parquet", like=table)
    assert "\n" not in str(caught.value)


def test_a_directory_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "release"
    with whole_directory(target) as draft:
        (draft / "private").mkdir()
        (draft / "private" / "a.txt").write_text("a")
        assert not target.exists()
        assert draft.parent.parent == tmp_path
        # Whoever is killed now leaves nothing that others can read.
        assert draft.parent.stat().st_mode & 0o777 == 0o700
    assert (target / "private" / "a.txt").read_text() == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_directory_does_not_appear_when_something_fails(tmp_path, error):
    def fail():
        with whole_directory(tmp_path / "release") as draft:
            (draft / "a.txt").write_text("a")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_is_there_is_replaced_only_when_asked(tmp_path):
    target = tmp_path / "release"
    target.mkdir()
    for again in (False, True):
        with new_release(target, overwrite=again) as draft:
            if again:
                assert (target / "data.parquet").read_text() == "False"
            (draft.place / "data.parquet").write_text(str(again))
            draft.report.write_text("<p>")
            paper = certificate()
            fingerprint = hashlib.sha256((draft.place / "data.parquet").read_bytes()).hexdigest()
            draft.sealed(replace(paper, output=replace(paper.output, sha256=fingerprint)), ["For the owner alone."])
        assert (target / "data.parquet").read_text() == str(again)
        with pytest.raises(ArgumentError, match="already exists"), whole_directory(target):
            pass
        with pytest.raises(RuntimeError), whole_directory(target, overwrite=True):
            raise RuntimeError
        assert (target / "data.parquet").read_text() == str(again)
    assert sorted(path.name for path in target.iterdir()) == [
        "certificate.json",
        "data.parquet",
        "private",
        "report.html",
    ]
    assert target.joinpath("private").stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in target.joinpath("private").iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_swap_that_was_killed_half_way_is_undone(tmp_path):
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    old = tmp_path / f".release.tacit-old-{dead.stdout.strip()}-00000000"
    old.mkdir()
    (old / "a").write_text("old")
    with pytest.raises(ArgumentError, match="already exists"), whole_directory(tmp_path / "release"):
        pass
    assert (tmp_path / "release" / "a").read_text() == "old"


def test_a_file_is_whole_or_not_there(tmp_path):
    target = tmp_path / "x.csv"

    def fail():
        with whole_file(target) as draft:
            draft.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with whole_file(target) as draft:
        assert draft.suffix == ".csv"
        draft.write_text("one")
    with whole_file(target) as draft:
        draft.write_text("two")
        assert target.read_text() == "one"
    assert target.read_text() == "two"
    assert list(tmp_path.iterdir()) == [target]


WORK = """
    import sys
    import narwhals as nw
    import pyarrow as pa
    from tacit.release import whole_directory
    from tacit.tables import open_table, write_table
    table = open_table(pa.table({"i": [1]}))
    many = "SELECT i, sha256(i::VARCHAR) AS h, i AS __tacit_row__ FROM range(500000000) t(i)"
    table = table.with_rows(nw.from_native(nw.to_native(table.rows).query("one", many)), table.columns)
    with whole_directory(sys.argv[1] + "/release") as draft:
        print("ready", flush=True)
        write_table(table, draft / "data.parquet", like=table)
"""


def started(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WORK), str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 10
    while (
        not any(path.is_file() for path in (tmp_path / "out").rglob("*data.parquet*")) and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    return process


def test_a_killed_process_leaves_no_release_and_the_next_run_cleans_up(tmp_path):
    process = started(tmp_path)
    process.kill()
    process.communicate()
    out = tmp_path / "out"
    lock, draft = sorted((path.name for path in out.iterdir()), key=len)
    assert lock == ".release.tacit-lock"
    assert draft.startswith(".release.tacit-draft-")
    with whole_directory(out / "release") as draft:
        (draft / "a").write_text("a")
    assert [path.name for path in out.iterdir()] == ["release"]


@pytest.mark.long
def test_an_interrupted_process_stops_at_once_and_leaves_nothing(tmp_path):
    process = started(tmp_path)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert list((tmp_path / "out").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def limited_to_a_megabyte():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.mark.long
def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(tmp_path):
    program = """
        import sys, pyarrow as pa
        from dataclasses import replace
        from tacit.errors import SourceError
        from tacit.tables import open_table, whole_file, write_table
        table = open_table(pa.table({"i": range(500_000)}))
        for suffix in ("parquet", "csv", "arrow"):
            like = replace(table, format=suffix, delimiter=",", codec="uncompressed")
            try:
                with whole_file(sys.argv[1] + f"/x.{suffix}") as draft:
                    write_table(table, draft, like=like)
            except SourceError as error:
                assert "\\n" not in str(error), error
                print("refused:", error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        capture_output=True,
        text=True,
        preexec_fn=limited_to_a_megabyte,
    )
    assert [line[:16] for line in done.stdout.splitlines()] == ["refused: cannot "] * 3, done.stderr
    assert list(tmp_path.iterdir()) == []
