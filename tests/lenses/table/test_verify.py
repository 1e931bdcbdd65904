"""Verify: a true claim holds, and every way of breaking it is found and named."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from papers import forge, write_paper
from sizes import few, many
from tables_of_people import clinic, merged_in, read_csv, rules_in, write_csv
from tacit import SourceError, protect, verify
from tacit.report import to_text

MADE_AGAIN = "every row is as the rules make it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One merged set, replaced by draws; mixtures have their own tests."""
    place = tmp_path_factory.mktemp("verify")
    people = write_csv(place / "people.csv", clinic(3000))
    protect(people, secret="illness", epsilon=0.8, out=place / "release", mechanism="watchdog", random_state=0)
    return place


@pytest.fixture
def people(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(folder / "people.csv", tmp_path / "people.csv"))


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def edit(release: Path, **changes: object) -> None:
    paper = release / "certificate.json"
    write_paper(paper, {**json.loads(paper.read_text()), **changes})


def certify_again(release: Path, data: str = "data.csv") -> None:
    """Forge the fingerprint, so that only the contents can give the change away."""
    import hashlib

    digest = hashlib.sha256((release / data).read_bytes()).hexdigest()
    output = json.loads((release / "certificate.json").read_text())["output"]
    edit(release, output={**output, "sha256": digest})


def failed(result: object) -> set[str]:
    return {check.name for check in result.checks if check.passed is False}  # type: ignore[attr-defined]


def test_a_true_claim_holds(release: Path, people: Path) -> None:
    result = verify(release, against=people)
    assert result.verdict == "holds"
    assert all(check.passed for check in result.checks)


def test_a_measure_that_is_said_twice_is_no_measure(release: Path, people: Path) -> None:
    first, *others = json.loads((release / "certificate.json").read_text())["measures"]
    edit(release, measures=[{**first, "after": 0.0}, first, *others])
    assert failed(verify(release, against=people)) == {"measures before and after"}


REPLACEMENTS = ["resample", "uniform", "merge", "suppress"]
ASKED: list[dict] = [{}, {"delta": 0.03, "epsilon_max": 3.0}, {"released": ["ward", "age"]}]


# An honest release of each kind is below; of those that ask for more, one each, or all.
@pytest.mark.parametrize(("words", "replacement"), list(product(ASKED, REPLACEMENTS))[:: many(7, 1)])
def test_every_kind_of_release_verifies_with_and_without_the_rules(
    tmp_path: Path, replacement: str, words: dict
) -> None:
    people, out = write_csv(tmp_path / "people.csv", clinic(1000)), tmp_path / "r"
    protect(people, secret="illness", epsilon=0.6, out=out, replacement=replacement, **words)
    assert verify(out, against=people).verdict == "holds"
    shutil.rmtree(out / "private")
    # One draw does not show how it was made.
    drawn = replacement in ("resample", "uniform")
    assert verify(out, against=people).verdict == ("not checked" if drawn else "holds")


def test_cut_weighted_and_missing_columns_verify(tmp_path: Path) -> None:
    columns = {
        **clinic(2000, missing=0.1),
        "years": [i % 70 for i in range(2000)],
        "w": [1 + i % 2 for i in range(2000)],
    }
    table = write_csv(tmp_path / "p.csv", columns)
    protect(table, secret="illness", epsilon=0.9, weight="w", out=tmp_path / "r")
    assert verify(tmp_path / "r", against=table).verdict == "holds"


def test_a_frame_verifies_against_the_same_frame(tmp_path: Path) -> None:
    table = pa.table(clinic(1000))
    protect(table, secret="illness", epsilon=0.9, out=tmp_path / "r")
    assert verify(tmp_path / "r", against=table).verdict == "holds"


def test_without_the_original_the_claim_is_not_checked(release: Path) -> None:
    assert verify(release).verdict == "not checked"


def test_a_changed_byte_of_the_data_breaks_the_fingerprint(release: Path, people: Path) -> None:
    data = release / "data.csv"
    data.write_text(data.read_text() + "\n")
    assert "released data is the data certified" in failed(verify(release))


def test_another_original_is_found_out(release: Path, tmp_path: Path) -> None:
    other = write_csv(tmp_path / "other.csv", clinic(3000, random_state=9))
    result = verify(release, against=other)
    assert result.verdict == "broken"
    assert "original is the one certified" in failed(result)


def test_a_claim_that_is_too_small_is_found_out(release: Path, people: Path) -> None:
    smaller = dict.fromkeys(("epsilon", "epsilon_low", "epsilon_high", "attained_epsilon"), 0.1)
    edit(release, **smaller)
    assert {"claim in words", "rules belong to the certificate"} <= failed(verify(release, against=people))
    rules = rules_in(release)
    bounds = {**rules["bounds"], "low": 0.1, "high": 0.1}
    (release / "private" / "rules.json").write_text(json.dumps({**rules, "bounds": bounds}))
    assert {"attained epsilon", "epsilon is kept"} <= failed(verify(release, against=people))
    # In the words of the smaller number, and without the owner's folder, nothing speaks against it, and nothing for it.
    shutil.rmtree(release / "private")
    forge(release, **smaller)
    found = verify(release, against=people)
    assert found.verdict == "not checked"
    assert "attained epsilon" in {check.name for check in found.checks if check.passed is None}


def test_an_unprotected_table_with_a_forged_certificate_is_found_out(release: Path, people: Path) -> None:
    columns = read_csv(people)
    del columns["illness"]
    write_csv(release / "data.csv", columns)
    certify_again(release)
    assert failed(verify(release, against=people)) - {"what readers keep"} == {MADE_AGAIN}
    shutil.rmtree(release / "private")
    assert verify(release, against=people).verdict == "broken"


def test_a_kept_row_that_was_touched_is_found_out(release: Path, people: Path) -> None:
    columns, original = read_csv(release / "data.csv"), read_csv(people)
    merged = merged_in(release)
    rows = list(zip(original["age"], original["ward"], original["district"], strict=True))
    at = next(i for i, row in enumerate(rows) if row not in merged)
    columns["district"][at] = "south" if columns["district"][at] != "south" else "east"
    write_csv(release / "data.csv", columns)
    certify_again(release)
    assert failed(verify(release, against=people)) - {"what readers keep"} == {MADE_AGAIN}


def test_a_replacement_that_remembers_the_secret_is_found_out(release: Path, people: Path) -> None:
    """Merged rows get a merged value chosen by their secret: frequencies look right, the secret shines through."""
    columns, original = read_csv(release / "data.csv"), read_csv(people)
    merged = merged_in(release)
    chosen = {secret: merged[k] for k, secret in enumerate(sorted(set(original["illness"])))}
    for i, row in enumerate(zip(original["age"], original["ward"], original["district"], strict=True)):
        if row in merged:
            for name, value in zip(("age", "ward", "district"), chosen[original["illness"][i]], strict=True):
                columns[name][i] = value
    write_csv(release / "data.csv", columns)
    certify_again(release)
    assert failed(verify(release, against=people)) - {"what readers keep"} == {MADE_AGAIN}


def test_rows_in_another_order_are_found_out(release: Path, people: Path) -> None:
    columns = read_csv(release / "data.csv")
    write_csv(release / "data.csv", {name: values[::-1] for name, values in columns.items()})
    certify_again(release)
    assert failed(verify(release, against=people)) - {"what readers keep"} == {MADE_AGAIN}


@pytest.mark.parametrize("damage", few(["{", "[]", "{}", '{"claim": 3}'], 2))
def test_a_damaged_certificate_is_refused_in_one_line(release: Path, damage: str) -> None:
    (release / "certificate.json").write_text(damage)
    with pytest.raises(SourceError, match=r"certificate\.json"):
        verify(release)


def test_a_directory_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no release"):
        verify(tmp_path / "nowhere")
    with pytest.raises(SourceError, match=r"certificate\.json"):
        verify(tmp_path)


def test_an_infinite_leak_is_not_near_any_number(tmp_path: Path) -> None:
    columns = clinic(400)
    columns["ward"][:2] = ["lone"] * 2
    people = write_csv(tmp_path / "p.csv", columns)
    protect(people, secret="illness", epsilon=0.3, delta=0.2, mechanism="watchdog", out=tmp_path / "r")
    paper = json.loads((tmp_path / "r" / "certificate.json").read_text())
    assert paper["attained_epsilon"] == "inf"
    edit(tmp_path / "r", attained_epsilon=0.05)
    assert "attained epsilon" in failed(verify(tmp_path / "r", against=people))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"claim": "Nobody can learn anything."}, "claim in words"),
        ({"breach_share": 0.5}, "records that breach epsilon"),
        ({"released": ["age", "ward"]}, "columns"),
    ],
)
def test_every_line_of_the_certificate_is_held_against_the_data(
    release: Path, people: Path, changes: dict, line: str
) -> None:
    edit(release, **changes)
    assert line in failed(verify(release, against=people))


def test_a_secret_that_slipped_into_the_file_is_found_out(release: Path, people: Path) -> None:
    columns = read_csv(release / "data.csv")
    write_csv(release / "data.csv", {**columns, "illness": read_csv(people)["illness"]})
    certify_again(release)
    assert "columns" in failed(verify(release, against=people))


def test_a_deterministic_replacement_is_checked_exactly(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    protect(people, secret="illness", epsilon=0.6, out=out, replacement="merge")
    columns, original = read_csv(out / "data.csv"), read_csv(people)
    merged = merged_in(out)
    rows = list(zip(original["age"], original["ward"], original["district"], strict=True))
    at = next(i for i, row in enumerate(rows) if row in merged)
    other = next(row for row in merged if row != tuple(columns[n][at] for n in ("age", "ward", "district")))
    for name, value in zip(("age", "ward", "district"), other, strict=True):
        columns[name][at] = value
    write_csv(out / "data.csv", columns)
    certify_again(out)
    assert failed(verify(out, against=people)) - {"what readers keep"} == {MADE_AGAIN}
    shutil.rmtree(out / "private")
    assert "merged records all look the same" in failed(verify(out, against=people))


def test_draws_of_a_few_records_are_checked_as_well_as_those_of_many(tmp_path: Path) -> None:
    table = pa.table({"s": ["a", "a", "b", "b", "a", "b", "a"], "x": ["p", "p", "q", "q", "r", "r", "p"]})
    for mechanism in few(("optimal", "watchdog")):
        protect(table, secret="s", epsilon=0.2, out=tmp_path / mechanism, mechanism=mechanism)
        assert verify(tmp_path / mechanism, against=table).verdict == "holds"


def test_another_key_is_found_out(release: Path, people: Path) -> None:
    """Whoever looks for draws that fit the secrets needs another key than the one that was committed to."""
    key = release / "private" / "key.txt"
    key.write_text("00" * 32 + "\n")
    assert failed(verify(release, against=people)) == {"key is the one committed to"}
    key.write_text("no key")
    with pytest.raises(SourceError, match="damaged"):
        verify(release, against=people)
    key.unlink()
    assert verify(release, against=people).verdict == "not checked"


def test_a_commitment_where_nothing_was_drawn_is_found_out(people: Path, tmp_path: Path) -> None:
    protect(people, secret="illness", epsilon=0.6, out=tmp_path / "r")
    assert not (tmp_path / "r" / "private" / "key.txt").exists()
    output = json.loads((tmp_path / "r" / "certificate.json").read_text())["output"]
    edit(tmp_path / "r", output={**output, "key_sha256": "00" * 32})
    assert failed(verify(tmp_path / "r", against=people)) == {"key is committed to"}


def test_a_parquet_release_that_keeps_a_column_as_it_is_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    # In one pass DuckDB knew that no secret is missing, in another it did not, and said so in the file.
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.normal(50, 9, 600).round(1),
        "ward": rng.choice(["a", "b"], 600),
        "s": rng.choice([*"xyz"], 600),
    }
    source, out = tmp_path / "people.parquet", tmp_path / "r"
    pq.write_table(pa.table(columns), source)
    protect(source, secret="s", epsilon=1, out=out, keep_secret=True)
    assert verify(out, against=source).verdict == "holds"
    assert all(pq.ParquetFile(out / "data.parquet").schema.column(at).max_definition_level == 1 for at in range(3))


def test_a_secret_that_is_published_and_was_edited_is_found_out(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    protect(people, secret="illness", epsilon=0.6, out=out, keep_secret=True)
    columns = read_csv(out / "data.csv")
    columns["illness"][7] = "flu" if columns["illness"][7] != "flu" else "none"
    write_csv(out / "data.csv", columns)
    certify_again(out)
    assert failed(verify(out, against=people)) - {"what readers keep"} == {MADE_AGAIN}


def test_an_honest_release_holds(tmp_path: Path) -> None:
    """Small random tables, with delta; without the rules they may not be checked, and are never called broken."""
    import numpy as np

    for seed in range(many(2, 40)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 60))
        table = pa.table(
            {
                "s": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
                "x": rng.choice(["p", "q", "r", "t"], n),
                "y": pa.array(rng.choice([1.5, 2.5], n), mask=rng.random(n) < 0.3),
            }
        )
        if len(set(table["s"].to_pylist())) < 2:
            continue
        words = {"delta": 0.2} if seed % 2 else {}
        kind = ["resample", "uniform", "merge", "suppress", None][seed % 5]
        out = tmp_path / str(seed)
        protect(table, secret="s", epsilon=0.3, out=out, replacement=kind, **words)
        assert verify(out, against=table).verdict == "holds", seed
        shutil.rmtree(out / "private")
        assert verify(out, against=table).verdict != "broken", seed


def test_the_fingerprint_of_the_original_cannot_be_tried_out(release: Path, people: Path) -> None:
    import hashlib

    plain = hashlib.sha256(people.read_bytes()).hexdigest()
    assert plain not in (release / "certificate.json").read_text()
    assert plain not in (release / "report.html").read_text()


@pytest.mark.parametrize(
    "damage", few([{"cuts": [{"column": "age"}]}, {"mechanism": {}}, {"output": None}, {"input": {}}], 2)
)
def test_a_certificate_that_lacks_a_part_is_refused(release: Path, people: Path, damage: dict) -> None:
    edit(release, **damage)
    with pytest.raises(SourceError, match="damaged"):
        verify(release, against=people)


def test_quotes_that_mark_rows_are_found_out(release: Path, people: Path) -> None:
    secrets = read_csv(people)["illness"]
    head, *lines = (release / "data.csv").read_text().splitlines()
    marked = [
        ",".join(f'"{c}"' for c in line.split(",")) if s == "none" else line
        for s, line in zip(secrets, lines, strict=True)
    ]
    (release / "data.csv").write_text("\n".join([head, *marked]) + "\n")
    certify_again(release)
    assert failed(verify(release, against=people)) == {"file is written plainly"}


def test_what_an_arrow_file_holds_where_a_cell_is_missing_is_found_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(900) < 0.3
    age = np.where(ill, rng.integers(60, 90, 900), rng.integers(20, 90, 900)) // 5
    people = pa.table({"ill": np.where(ill, "yes", "no"), "age": age})
    with pa.ipc.new_file(tmp_path / "people.arrow", people.schema) as writer:
        writer.write_table(people)
    asked = {"secret": "ill", "epsilon": 0.5, "mechanism": "watchdog", "replacement": "suppress"}
    made = protect(tmp_path / "people.arrow", **asked, out=tmp_path / "release", random_state=0)  # type: ignore[call-overload]
    for column in (pa.ipc.open_file(tmp_path / "release" / "data.arrow").read_all()["age"], made.frame()["age"]):
        stored = column.combine_chunks()
        missing = stored.is_null().to_numpy(zero_copy_only=False)
        assert missing.sum() > 100
        assert not np.frombuffer(stored.buffers()[1], np.int64, 900)[missing].any()
    assert verify(tmp_path / "release", against=tmp_path / "people.arrow").verdict == "holds"
    told = stored.fill_null(0).to_numpy() + np.where(missing, ill + 1, 0)
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little").tobytes())
    forged = pa.Array.from_buffers(pa.int64(), 900, [valid, pa.py_buffer(told.tobytes())])
    with pa.ipc.new_file(tmp_path / "release" / "data.arrow", pa.schema([("age", pa.int64())])) as writer:
        writer.write_batch(pa.record_batch([forged], ["age"]))
    certify_again(tmp_path / "release", "data.arrow")
    found = verify(tmp_path / "release", against=tmp_path / "people.arrow")
    assert found.verdict != "holds"
    assert [check.name for check in found.checks if not check.passed] == ["file is written plainly"]


@pytest.mark.parametrize("change", few(["column", "rows", "association"]))
def test_what_readers_keep_is_measured_again(release: Path, people: Path, change: str) -> None:
    keeps = json.loads((release / "certificate.json").read_text())["keeps"]
    first, *others = keeps["columns"]
    changes = {
        "column": {"columns": [{**first, "kept": 0.99}, *others]},
        "rows": {"information": {**keeps["information"], "told": keeps["information"]["entropy"]}},
        "association": {"association_error": {**keeps["association_error"], "mean": 0.0}},
    }
    edit(release, keeps={**keeps, **changes[change]})
    assert failed(verify(release, against=people)) == {"what readers keep"}


def test_scores_of_models_and_the_page_are_said_not_to_be_made_again(release: Path, people: Path) -> None:
    notes = " ".join(verify(release, against=people).notes)
    assert "how well the release predicts columns was not computed again" in notes
    assert "report.html was compared with its fingerprint in the certificate and not made again" in notes


def test_a_file_that_tacit_did_not_write_is_named_and_nothing_holds_beside_it(release: Path, people: Path) -> None:
    (release / "private" / "notes.txt").write_text("for the owner")
    assert verify(release, against=people).verdict == "holds"
    shutil.copy(people, release / "people.csv")
    result = verify(release, against=people)
    assert result.verdict == "not checked"
    assert "people.csv" in str(result.headline)


def test_the_answer_fits_on_a_screen_with_the_verdict_first_and_the_checks_are_folded(
    release: Path, people: Path
) -> None:
    found = verify(release, against=people)
    first = to_text(found, width=80).splitlines()
    assert len(first) <= 40
    assert first[0].startswith("✓ HOLDS") or "HOLDS ROW BY ROW" in first[0]
    assert "Every check" not in "\n".join(first[:-3])
    assert all(each.name in " ".join(" ".join(first).split()) for each in found.checks)
    assert "SHA-256" in found.as_text(full=True)


def test_what_failed_is_told_first_and_fits_on_a_screen_too(release: Path, people: Path) -> None:
    edit(release, randomness="none", assumptions=["none"], claim="none")
    broken = verify(release, against=people)
    lines = to_text(broken, width=80).splitlines()
    assert "BROKEN" in lines[0]
    assert "✗ failed" in "\n".join(lines[:20])
    assert len(lines) <= 40


def test_a_result_says_what_was_found_and_not_every_field(release: Path) -> None:
    found = verify(release)
    assert len(repr(found)) < 600
    assert found.headline in repr(found)


def test_a_large_release_of_one_cell_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large table is counted first: its only cell was then written as a constant, in other bytes."""
    monkeypatch.setattr("tacit.lenses.table.verify.MOST_ROWS", 10)
    table, rng = pa.table({"ward": ["a", "b"] * 30, "illness": ["x", "y"] * 30}), np.random.default_rng(0)
    pq.write_table(table.take(rng.permutation(60)), tmp_path / "people.parquet")
    protect(tmp_path / "people.parquet", secret="illness", epsilon=0.2, out=tmp_path / "r")
    assert verify(tmp_path / "r", against=tmp_path / "people.parquet").verdict == "holds"
