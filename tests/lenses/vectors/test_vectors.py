"""Vectors: what they give away, and their release in codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from papers import write_paper
from sizes import few
from tacit.errors import ArgumentError, ColumnError, DataError
from tacit.lenses.vectors.vectors import read_vectors
from tacit.loading import file_sha256
from tacit.requests import Question


def embeddings(n: int = 1200, seed: int = 0, *, told: float = 1.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors in twelve dimensions: one tells the gender, another the job."""
    rng = np.random.default_rng(seed)
    gender, job = rng.integers(0, 2, n), rng.integers(0, 3, n)
    rows = rng.normal(size=(n, 12))
    rows[:, 0] += told * gender
    rows[:, 1:4] += 3 * np.eye(3)[job]
    return rows.astype(np.float32), np.array(["f", "m"])[gender], np.array(["a", "b", "c"])[job]


def in_parquet(path: Path, **how: float) -> Path:
    rows, gender, job = embeddings(**how)
    pq.write_table(pa.table({"emb": list(rows), "gender": gender, "job": job}), path)
    return path


def test_what_vectors_give_away_is_found_and_where_it_sits(tmp_path) -> None:
    found = tacit.audit(in_parquet(tmp_path / "v.parquet"), vector="emb", secret="gender")
    assert found.verdict == "leak"
    assert {probe.name for probe in found.probes} == {"linear", "trees"}
    assert all(probe.right > 0.7 for probe in found.probes)
    assert max(each.between_secrets for each in found.directions) > 0.2
    assert "gender" in str(found)


def test_what_no_straight_line_reads_is_found_by_trees(tmp_path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 4))
    np.savez(tmp_path / "v.npz", emb=rows, gender=((rows[:, 0] > 0) ^ (rows[:, 1] > 0)).astype(int))
    linear, trees = tacit.audit(tmp_path / "v.npz", vector="emb", secret="gender").probes
    assert linear.right < 0.6
    assert trees.right > 0.8


def test_vectors_that_tell_nothing_are_not_called_a_leak(tmp_path) -> None:
    found = tacit.audit(in_parquet(tmp_path / "v.parquet", told=0.0, n=600), vector="emb", secret="gender")
    assert found.verdict == "no leak detected"
    assert found.largest_risk == 0.0


@pytest.mark.parametrize("length", [12, 60])
def test_too_few_vectors_are_not_said_to_hold_no_leak(tmp_path, length) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "v.npz", emb=rng.normal(size=(16, length)), gender=np.arange(16) % 2)
    found = tacit.audit(tmp_path / "v.npz", vector="emb", secret="gender")
    assert found.verdict == "cannot tell"
    assert found.largest_risk == float("inf")
    assert found.headline.startswith("Cannot tell")


@pytest.mark.parametrize("format", few(["parquet", "npz", "npy"]))
def test_a_release_in_codes_hides_the_secret_and_tells_the_use(tmp_path, format) -> None:
    rows, gender, job = embeddings()
    source, more = tmp_path / f"v.{format}", {}
    if format == "parquet":
        in_parquet(source)
    elif format == "npz":
        np.savez(source, emb=rows, gender=gender, job=job)
    else:
        np.save(source, rows)
        lines = ["gender,job", *(f"{g},{j}" for g, j in zip(gender, job, strict=True))]
        (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
        more = {"labels": tmp_path / "labels.csv"}
    asked = {"vector": "emb", "secret": "gender", "use": "job", "ceiling": 0.6, "random_state": 1, **more}
    made = tacit.protect(source, out=tmp_path / "r", **asked)
    certificate = made.certificate
    assert certificate.medium == "vectors"
    assert certificate.adversaries[0].before > 0.7
    assert certificate.adversaries[0].retrained < 0.6
    assert certificate.use.after > 0.8
    checked = tacit.verify(tmp_path / "r", against=source, **more)
    assert checked.verdict == "holds", [check for check in checked.checks if not check.passed]


def test_a_vector_that_was_moved_is_found_out(tmp_path) -> None:
    import json

    source = in_parquet(tmp_path / "v.parquet")
    tacit.protect(source, vector="emb", secret="gender", ceiling=0.65, random_state=1, out=tmp_path / "r")
    data = pq.read_table(tmp_path / "r" / "data.parquet")
    lists = [list(each) for each in data["emb"].to_pylist()]
    lists[0][0] += 0.5
    kept = pa.FixedSizeListArray.from_arrays(pa.array(np.array(lists, np.float32).ravel()), len(lists[0]))
    pq.write_table(data.set_column(1, "emb", kept), tmp_path / "r" / "data.parquet")
    said = json.loads((tmp_path / "r" / "certificate.json").read_text())
    said["output"]["sha256"] = file_sha256(tmp_path / "r" / "data.parquet")
    write_paper(tmp_path / "r" / "certificate.json", said)
    assert tacit.verify(tmp_path / "r", against=source).verdict == "broken"


def test_what_is_no_vector_is_refused_by_name(tmp_path) -> None:
    source = in_parquet(tmp_path / "v.parquet", n=30)
    with pytest.raises(ColumnError):
        tacit.audit(source, vector="nothing", secret="gender")
    with pytest.raises(DataError, match="not lists of numbers"):
        tacit.audit(source, vector="job", secret="gender")
    np.save(tmp_path / "v.npy", np.ones((3, 2)))
    with pytest.raises(ArgumentError, match="has no labels"):
        tacit.audit(tmp_path / "v.npy", vector="emb", secret="gender")
    with pytest.raises(ArgumentError, match="not for vectors"):
        tacit.protect(source, vector="emb", secret="gender", mechanism="mask", ceiling=0.9, out=tmp_path / "r")


ROWS = np.arange(12, dtype=float).reshape(4, 3)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float16()), pa.list_(pa.float32(), 3), pa.large_list(pa.float64()), pa.list_(pa.int8()),
        pa.list_(pa.uint64()),
    ],
    ids=str,
)  # fmt: skip
def test_lists_of_every_kind_of_number_are_read(tmp_path, kind) -> None:
    values = [np.asarray(row, np.float16) for row in ROWS] if kind == pa.list_(pa.float16()) else ROWS.tolist()
    pq.write_table(pa.table({"emb": pa.array(values, kind), "g": list("abab")}), tmp_path / "v.parquet")
    found = read_vectors(Question(tmp_path / "v.parquet", secret="g", vector="emb"))
    assert (found.rows == ROWS).all()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[True, False]] * 4, "are lists of bool"),
        ([["1", "2"]] * 4, "are lists of string"),
        ([[[1.0], [2.0]]] * 4, "are lists of list<.*one deep"),
        ([[1.0, None]] * 4, "lack 4 of their numbers"),
        ([None, [1.0], [2.0], [3.0]], "1 vectors .* are missing"),
        ([[1.0], [1.0, 2.0], [2.0], [3.0]], "differ in length, from 1 to 2"),
        ([[], [], [], []], "no two vectors of a number"),
        ([[float("inf")], [1.0], [2.0], [3.0]], "1 vectors .* not finite"),
        ([[1e200], [1.0], [2.0], [3.0]], "1 vectors .* beyond 1e"),
        (["[1, 2]"] * 4, "holds string, not lists"),
        ([{"a": 1.0}] * 4, "holds struct"),
    ],
)
def test_lists_that_are_no_vectors_are_refused_by_name(tmp_path, cells, words) -> None:
    kind = pa.list_(pa.float32()) if cells[0] == [] else None
    pq.write_table(pa.table({"emb": pa.array(cells, kind), "g": list("abab")}), tmp_path / "v.parquet")
    with pytest.raises(DataError, match=words):
        read_vectors(Question(tmp_path / "v.parquet", secret="g", vector="emb"))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"emb": ROWS + 1j, "g": np.arange(4)}, "'emb' of v.npz holds complex128"),
        ({"emb": ROWS > 1, "g": np.arange(4)}, "holds bool"),
        ({"emb": ROWS[:, 0], "g": np.arange(4)}, "has 1 dimensions"),
        ({"emb": ROWS[..., None], "g": np.arange(4)}, "has 3 dimensions"),
        ({"emb": ROWS, "g": np.arange(3)}, "'g' of v.npz has the shape .3,.: it should hold 4 labels"),
    ],
)
def test_arrays_that_are_no_vectors_are_refused_by_name(tmp_path, arrays, words) -> None:
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read_vectors(Question(tmp_path / "v.npz", secret="g", vector="emb"))


def test_labels_of_an_npz_are_read_as_they_are_meant(tmp_path) -> None:
    labels = {
        "b": np.array([b"f", b"m", b"f", b"m"]),
        "f": np.array([1.0, 0.5, np.nan, 2.0]),
        "t": np.array(list("abcd")),
    }
    np.savez(tmp_path / "v.npz", emb=ROWS.astype(">f2"), **labels)
    found = read_vectors(Question(tmp_path / "v.npz", secret="b", vector="emb"))
    assert (found.rows == ROWS).all()
    assert found.labels == {"b": ("f", "m", "f", "m"), "f": ("1", "0.5", "(missing)", "2"), "t": tuple("abcd")}


def test_families_that_read_vectors_stay_within_the_ceiling_of_codes(tmp_path) -> None:
    source = in_parquet(tmp_path / "v.parquet")
    tacit.protect(source, vector="emb", secret="gender", ceiling=0.6, random_state=1, out=tmp_path / "r")
    found = tacit.attack(tmp_path / "r", against=source)
    assert {each.score.name for each in found.run.families} == {"linear", "trees", "nearest", "neighbours"}
    assert found.verdict == "within the promise"
    assert max(each.score.before for each in found.run.families) > 0.7
    assert "vectors" in str(found)
