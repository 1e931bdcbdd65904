"""Mixtures: values drawn by a channel, within bounds on either side and for every secret, and found out when forged."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from papers import write_paper
from sizes import few, many
from tables_of_people import clinic, joint_of, merged_in, read_csv, rules_in, symbols_of, write_csv
from tacit import NotCertifiedError, protect, verify
from tacit.lenses.table.checks import rows

RELEASED = ["age", "ward", "district"]


def people_of(n: int = 3000, **words: Any) -> dict[str, list[Any]]:
    return clinic(n, missing=0.05, **words)


MADE_AGAIN = "every row is as the rules make it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People, and a mixture of them whose draws can be made again."""
    place = tmp_path_factory.mktemp("mixtures")
    people = write_csv(place / "people.csv", people_of())
    protect(people, secret="illness", epsilon=0.8, out=place / "release", mechanism="optimal", random_state=0)
    return place


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "release", tmp_path / "release"))


def paper(release: Path) -> dict[str, Any]:
    return json.loads((release / "certificate.json").read_text("utf-8"))


def edit(release: Path, **changes: object) -> None:
    write_paper(release / "certificate.json", {**paper(release), **changes})


def failed(result: Any) -> set[str]:
    return {check.name for check in result.checks if check.passed is False}


def channel_in(release: Path) -> dict[tuple[Any, ...], dict[tuple[Any, ...], float]]:
    """What each value becomes, with which probability, as the rules say it; read with plain loops."""
    rules = rules_in(release)
    symbols, mixed = symbols_of(rules), rules["treatment"]
    written = [*symbols, (None,) * len(rules["released"])]
    becomes = {symbol: {symbol: 1.0} for symbol in symbols}
    for at, value in enumerate(mixed["mixed"]):
        here = range(mixed["starts"][at], mixed["starts"][at + 1])
        becomes[symbols[value]] = {written[mixed["outputs"][k]]: mixed["p"][k] for k in here}
    return becomes


def flows(columns: dict[str, list[Any]], release: Path) -> dict[tuple[tuple[Any, ...], tuple[Any, ...]], float]:
    """Probability of every pair of value and output; values that the rules do not know become missing."""
    becomes, released = channel_in(release), rules_in(release)["released"]
    rows = list(zip(*(columns[name] for name in released), strict=True))
    found: dict[Any, float] = {}
    for value in sorted(set(rows), key=repr):
        for output, p in becomes.get(value, {(None,) * len(released): 1.0}).items():
            found[value, output] = found.get((value, output), 0.0) + p * rows.count(value) / len(rows)
    return found


def log_lifts(columns: dict[str, list[Any]], secret: Sequence[str], release: Path) -> np.ndarray:
    """Log-lifts of the output, from the counted joint and the rules' channel."""
    named = {**columns, "s": [repr(s) for s in zip(*(columns[name] for name in secret), strict=True)]}
    joint, place = joint_of(named, "s", rules_in(release)["released"])
    outputs: dict[Any, np.ndarray] = {}
    for (value, output), mass in flows(columns, release).items():
        x = joint[:, place[value]]
        outputs[output] = outputs.get(output, 0.0) + x * (mass / x.sum())
    after = np.column_stack(list(outputs.values()))
    with np.errstate(divide="ignore"):
        return np.log(after / after.sum(axis=0) / joint.sum(axis=1, keepdims=True))


def rows_of(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return [tuple(cell or None for cell in row) for row in zip(*(columns[name] for name in RELEASED), strict=True)]


def rewrite_rows(release: Path, rows: list[tuple[Any, ...]]) -> None:
    """Forge data and fingerprint, so that only the contents can give the change away."""
    write_csv(release / "data.csv", dict(zip(RELEASED, zip(*rows, strict=True), strict=True)))
    digest = hashlib.sha256((release / "data.csv").read_bytes()).hexdigest()
    edit(release, output={**paper(release)["output"], "sha256": digest})


# What a mixture keeps


@pytest.mark.parametrize("epsilon", [0.3, 0.0, 0.8][: many(1, 3)])
def test_the_attained_epsilon_follows_from_channel_and_counts(tmp_path: Path, epsilon: float) -> None:
    columns = people_of()
    people = write_csv(tmp_path / "p.csv", columns)
    words = {"secret": "illness", "epsilon": epsilon}
    made = protect(people, **words, out=tmp_path / "r", mechanism="optimal").certificate
    lifts = log_lifts(columns, ["illness"], tmp_path / "r")
    assert made.mechanism.replacement == "mixture"
    assert np.abs(lifts).max() <= epsilon + 1e-9
    assert made.attained_epsilon == pytest.approx(np.abs(lifts).max(), abs=1e-9)
    one_set = protect(people, **words, out=tmp_path / "w", mechanism="watchdog").certificate
    assert made.utility.nmil <= one_set.utility.nmil
    assert made.mechanism.watchdog_nmil == pytest.approx(one_set.utility.nmil, abs=1e-9)
    assert made.mechanism.loss_bound <= made.utility.nmil + 1e-9


def test_utility_is_what_a_sum_over_all_flows_gives(folder: Path) -> None:
    columns, told = people_of(), paper(folder / "release")["utility"]
    moved = flows(columns, folder / "release")
    assert sum(moved.values()) == pytest.approx(1)
    assert told["rows_unchanged"] == pytest.approx(sum(p for (x, y), p in moved.items() if x == y))
    cells = sum(p * np.mean([a == b for a, b in zip(x, y, strict=True)]) for (x, y), p in moved.items())
    assert told["cells_unchanged"] == pytest.approx(cells)
    shifts = []
    for column in range(len(RELEASED)):
        levels = {z[column] for pair in moved for z in pair}
        before, after = (
            {v: sum(p for pair, p in moved.items() if pair[side][column] == v) for v in levels} for side in (0, 1)
        )
        shifts.append(sum(abs(before[v] - after[v]) for v in levels) / 2)
    assert told["column_shift"] == pytest.approx(max(shifts))
    x, y = (
        {v: sum(p for pair, p in moved.items() if pair[side] == v) for v in {pair[side] for pair in moved}}
        for side in (0, 1)
    )
    information = sum(p * math.log(p / x[a] / y[b]) for (a, b), p in moved.items())
    assert told["mutual_information"] == pytest.approx(information)
    assert told["entropy"] == pytest.approx(-sum(p * math.log(p) for p in x.values()))


def test_every_released_value_is_one_of_the_table_and_values_never_mixed_stay(folder: Path) -> None:
    before, after = rows_of(people_of()), rows_of(read_csv(folder / "release" / "data.csv"))
    becomes = channel_in(folder / "release")
    assert set(after) <= set(before)
    assert all(y in becomes[x] for x, y in zip(before, after, strict=True))
    assert any(len(outputs) > 1 for outputs in becomes.values())
    assert any(outputs == {x: 1.0} for x, outputs in becomes.items())


def test_the_drawn_release_has_the_shares_it_expects(tmp_path: Path) -> None:
    columns = clinic(many(10_000, 40_000))
    path = write_csv(tmp_path / "p.csv", columns)
    words = {"secret": "illness", "epsilon": 0.3, "mechanism": "optimal"}
    utility = protect(path, **words, out=tmp_path / "r", random_state=0).certificate.utility
    before, after = rows_of(columns), rows_of(read_csv(tmp_path / "r" / "data.csv"))
    same = np.mean([x == y for x, y in zip(before, after, strict=True)])
    assert same == pytest.approx(utility.rows_unchanged, abs=many(2, 1) / 100)


def test_a_mixture_holds_for_its_owner_and_nobody_else_can_check_it(release: Path, folder: Path) -> None:
    result = verify(release, against=folder / "people.csv")
    assert (result.verdict, [c.name for c in result.checks if not c.passed]) == ("holds", [])
    shutil.rmtree(release / "private")
    result = verify(release, against=folder / "people.csv")
    assert (result.verdict, failed(result)) == ("not checked", set())
    assert verify(release).verdict == "not checked"


def test_subsets_are_several_merged_sets_and_hold(folder: Path, tmp_path: Path) -> None:
    people = folder / "people.csv"
    made = protect(people, secret="illness", epsilon=0.3, out=tmp_path / "r", mechanism="subsets").certificate
    assert made.mechanism.name == "subsets"
    assert np.abs(log_lifts(people_of(), ["illness"], tmp_path / "r")).max() <= 0.3 + 1e-9
    assert all(len(outputs) == 1 for outputs in channel_in(tmp_path / "r").values())
    assert made.randomness.startswith("None")
    assert verify(tmp_path / "r", against=people).verdict == "holds"


def test_a_large_mixture_is_checked_by_numbers_and_its_file_lists_no_text_that_is_not_in_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "FEW_ROWS", 10)
    monkeypatch.setattr(rows, "rows_apart", None)
    data = pa.table({name: pa.array(column).cast(pa.string()) for name, column in people_of().items()})
    pq.write_table(data, tmp_path / "people.parquet")
    words = {"secret": "illness", "epsilon": 0.8, "mechanism": "optimal", "random_state": 0}
    protect(tmp_path / "people.parquet", **words, out=tmp_path / "release")
    with pq.ParquetFile(tmp_path / "release" / "data.parquet", read_dictionary=RELEASED) as file:
        written = file.read_row_group(0)
    for column in written.columns:
        stored = column.chunk(0)
        assert set(stored.dictionary.to_pylist()) == {*stored.to_pylist()} - {None}
    assert verify(tmp_path / "release", against=tmp_path / "people.parquet").verdict == "holds"
    # A file that was damaged, with the certificate of what it should have been, is not taken for what was drawn.
    other = written.to_pylist()
    other[7] = other[8] if other[7] != other[8] else other[9]
    damaged = pa.Table.from_pylist(other, schema=pa.schema([(name, pa.string()) for name in written.column_names]))
    pq.write_table(damaged, tmp_path / "release" / "data.parquet")
    monkeypatch.undo()
    assert MADE_AGAIN in failed(verify(tmp_path / "release", against=tmp_path / "people.parquet"))


@pytest.mark.long
@pytest.mark.spark
def test_a_mixture_is_the_same_bytes_on_both_engines(spark: Any, folder: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "epsilon": 0.8, "mechanism": "optimal", "random_state": 0}
    protect(folder / "people.csv", **words, out=tmp_path / "spark", engine="spark")
    assert (tmp_path / "spark" / "data.csv").read_bytes() == (folder / "release" / "data.csv").read_bytes()
    assert verify(tmp_path / "spark", against=folder / "people.csv", engine="spark").verdict == "holds"


# Forged mixtures


def test_a_value_that_is_never_mixed_and_was_touched_is_found_out(release: Path, folder: Path) -> None:
    before, rows = rows_of(people_of()), rows_of(read_csv(release / "data.csv"))
    becomes = channel_in(release)
    at = next(i for i, x in enumerate(before) if becomes[x] == {x: 1.0})
    rows[at] = next(x for x in becomes if x != rows[at])
    rewrite_rows(release, rows)
    assert failed(verify(release, against=folder / "people.csv")) - {"what readers keep"} == {MADE_AGAIN}


def test_an_output_that_its_value_cannot_have_is_found_out(release: Path, folder: Path) -> None:
    before, rows = rows_of(people_of()), rows_of(read_csv(release / "data.csv"))
    becomes = channel_in(release)
    at = next(i for i, x in enumerate(before) if len(becomes[x]) > 1)
    rows[at] = next(x for x in becomes if x not in becomes[before[at]])
    rewrite_rows(release, rows)
    assert failed(verify(release, against=folder / "people.csv")) - {"what readers keep"} == {MADE_AGAIN}


def test_draws_that_look_at_the_secret_are_found_out(release: Path, folder: Path) -> None:
    """Records of one secret always take the likeliest output of their value: each is an output it may have."""
    columns, rows = people_of(), rows_of(read_csv(release / "data.csv"))
    becomes = channel_in(release)
    for i, (secret, x) in enumerate(zip(columns["illness"], rows_of(columns), strict=True)):
        if secret == "asthma":
            rows[i] = max(becomes[x], key=becomes[x].__getitem__)
    rewrite_rows(release, rows)
    assert failed(verify(release, against=folder / "people.csv")) - {"what readers keep"} == {MADE_AGAIN}


def test_draws_that_were_never_made_are_found_out(release: Path, folder: Path) -> None:
    """The original itself, under the certificate of a mixture: most values may stay as they are."""
    rewrite_rows(release, rows_of(people_of()))
    assert failed(verify(release, against=folder / "people.csv")) - {"what readers keep"} == {MADE_AGAIN}


def test_a_channel_that_was_edited_is_found_out(release: Path, folder: Path) -> None:
    rules = rules_in(release)
    mixed = rules["treatment"]
    at = next(k for k in range(len(mixed["mixed"])) if mixed["starts"][k + 1] - mixed["starts"][k] > 1)
    first = mixed["starts"][at]
    mixed["p"][first : first + 2] = mixed["p"][first : first + 2][::-1]
    (release / "private" / "rules.json").write_text(json.dumps(rules))
    wrong = failed(verify(release, against=folder / "people.csv"))
    assert {"attained epsilon", "what is kept and merged"} <= wrong


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"attained_epsilon": 0.1}, "attained epsilon"),
        ({"attained_delta": 0.1}, "delta"),
        ({"breach_share": 0.1}, "records that breach epsilon"),
        ({"epsilon_low": 0.5}, "rules belong to the certificate"),
        ({"mechanism": {"records_merged": 0.01}}, "records mixed"),
        ({"assumptions": []}, "assumptions"),
        ({"randomness": "None: the mechanism is deterministic."}, "randomness"),
        ({"utility": {"column_shift": 0.0}}, "what is kept and merged"),
        # This one and the next are not computed again: only what cannot be is found out.
        ({"mechanism": {"loss_bound": 0.9}}, "what is kept and merged"),
        ({"mechanism": {"watchdog_nmil": 0.001}}, "what is kept and merged"),
        ({"mechanism": {"plain_watchdog_attains": 5.0}}, "what is kept and merged"),
        ({"mechanism": {"values_merged": 1}}, "what is kept and merged"),
        ({"utility": {"rows_unchanged": 1.0}}, "what is kept and merged"),
        ({"utility": {"nmil": 0.0}}, "what is kept and merged"),
        ({"delta_kind": "egamma"}, "rules belong to the certificate"),
    ][: many(5, 15)],
)
def test_an_edited_certificate_is_found_out(release: Path, folder: Path, changes: dict, line: str) -> None:
    whole = paper(release)
    edit(release, **{k: {**whole[k], **v} if isinstance(v, dict) else v for k, v in changes.items()})
    assert line in failed(verify(release, against=folder / "people.csv"))


def test_verify_says_what_it_did_not_compute_again(release: Path, folder: Path) -> None:
    notes = verify(release, against=folder / "people.csv").notes
    assert any("what the watchdog and the best mechanism would lose" in note for note in notes)


# Either side by itself


def test_each_side_has_its_own_bound(folder: Path, tmp_path: Path) -> None:
    people = folder / "people.csv"
    words = {"secret": "illness", "mechanism": "optimal"}
    made = protect(people, **words, epsilon_low=0.9, epsilon_high=0.2, out=tmp_path / "r").certificate
    lifts = log_lifts(people_of(), ["illness"], tmp_path / "r")
    assert 0.2 < -lifts.min() <= 0.9 + 1e-9
    assert lifts.max() <= 0.2 + 1e-9
    assert (made.epsilon_low, made.epsilon_high, made.epsilon) == (0.9, 0.2, 0.9)
    assert "log-lift between -0.9" in made.claim
    assert made.attained_epsilon == pytest.approx(max(-lifts.min(), lifts.max()), abs=1e-9)
    assert verify(tmp_path / "r", against=people).verdict == "holds"


def test_one_side_given_replaces_epsilon_there_alone(folder: Path, tmp_path: Path) -> None:
    words = {"secret": "illness", "mechanism": "optimal"}
    made = protect(folder / "people.csv", **words, epsilon=0.8, epsilon_high=0.3, out=tmp_path / "r").certificate
    lifts = log_lifts(people_of(), ["illness"], tmp_path / "r")
    assert (made.epsilon_low, made.epsilon_high) == (0.8, 0.3)
    assert lifts.max() <= 0.3 + 1e-9
    assert lifts.min() >= -0.8 - 1e-9


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["optimal", "auto", "watchdog"][: many(2, 3)])
def test_with_the_high_side_alone_a_secret_may_be_ruled_out(tmp_path: Path, mechanism: str) -> None:
    columns = clinic(3000)
    # Nobody of the hospice has asthma, and everybody else may be there.
    keep = [s != "asthma" for s in columns["illness"]]
    columns["ward"] = [
        "hospice" if k and i % 10 == 0 else w for i, (w, k) in enumerate(zip(columns["ward"], keep, strict=True))
    ]
    people = write_csv(tmp_path / "p.csv", columns)
    words = {"secret": "illness", "released": ["ward", "district"]}
    made = protect(people, **words, epsilon_high=0.3, out=tmp_path / "r", mechanism=mechanism).certificate
    assert made.epsilon_low == math.inf
    assert made.attained_epsilon <= 0.3 + 1e-9
    assert "less likely without a bound" in made.claim
    assert "hospice" in read_csv(tmp_path / "r" / "data.csv")["ward"]
    largest = next(m.after for m in made.measures if m.name == "risk")
    assert largest > 0.3 if mechanism == "optimal" else largest == math.inf
    assert verify(tmp_path / "r", against=people).verdict == "holds"
    both = protect(people, **words, epsilon=0.3, out=tmp_path / "both", mechanism=mechanism).certificate
    assert made.utility.nmil < both.utility.nmil


# Several secrets


def test_every_secret_and_their_combination_keep_their_own_epsilon(tmp_path: Path) -> None:
    columns = people_of()
    # The mixture of few values is found sooner.
    columns = {name: columns[name] for name in ["illness", "age", "ward", "district"][: many(3, 4)]}
    people = write_csv(tmp_path / "p.csv", columns)
    asked: dict[Any, float] = {"age": 0.1, ("illness", "age"): 0.7}
    words = {"secret": "illness", "epsilon": 0.5, "mechanism": "optimal"}
    made = protect(people, **words, also=asked, out=tmp_path / "r").certificate
    assert list(read_csv(tmp_path / "r" / "data.csv")) == list(columns)[2:]
    assert made.left_out == ("illness", "age")
    assert np.abs(log_lifts(columns, ["illness"], tmp_path / "r")).max() <= 0.5 + 1e-9
    for claim, (names, epsilon) in zip(made.also, asked.items(), strict=True):
        secret = (names,) if isinstance(names, str) else names
        reached = np.abs(log_lifts(columns, secret, tmp_path / "r")).max()
        assert (claim.secret, claim.epsilon) == (tuple(secret), epsilon)
        assert claim.attained_epsilon == pytest.approx(reached, abs=1e-9)
        assert reached <= epsilon + 1e-9
    assert verify(tmp_path / "r", against=people).verdict == "holds"


@pytest.mark.long
def test_a_further_secret_costs_something_and_its_claim_cannot_be_edited(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "p.csv", people_of())
    words = {"secret": "illness", "epsilon": 0.5, "mechanism": "optimal"}
    alone = protect(people, **words, released=["ward", "district"], out=tmp_path / "alone").certificate
    made = protect(people, **words, also={"age": 0.05}, out=tmp_path / "r").certificate
    assert made.utility.nmil > alone.utility.nmil
    told = paper(tmp_path / "r")["also"]
    edit(tmp_path / "r", also=[{**told[0], "attained_epsilon": 0.001}])
    assert "epsilon of age" in failed(verify(tmp_path / "r", against=people))
    edit(tmp_path / "r", also=[{**told[0], "epsilon": 0.04}])
    assert "rules belong to the certificate" in failed(verify(tmp_path / "r", against=people))
    edit(tmp_path / "r", also=[])
    assert "rules belong to the certificate" in failed(verify(tmp_path / "r", against=people))


@pytest.mark.parametrize("replacement", ["resample", "merge", "suppress"][: many(1, 3)])
def test_one_merged_set_keeps_every_secret_too(tmp_path: Path, replacement: str) -> None:
    people = write_csv(tmp_path / "p.csv", people_of())
    words = {"secret": "illness", "epsilon": 0.5, "also": {"age": 0.15}, "replacement": replacement}
    made = protect(people, **words, out=tmp_path / "r").certificate
    assert made.attained_epsilon <= 0.5 + 1e-9
    assert made.also[0].attained_epsilon <= 0.15 + 1e-9
    assert verify(tmp_path / "r", against=people).verdict == "holds"


# Delta as an excess of probability


def test_an_excess_of_probability_is_kept_and_told(folder: Path, tmp_path: Path) -> None:
    people, columns = folder / "people.csv", people_of()
    words = {"secret": "illness", "epsilon": 0.3, "delta": 0.02, "delta_kind": "egamma"}
    made = protect(people, **words, out=tmp_path / "r", mechanism="watchdog").certificate
    joint, place = joint_of(columns, "illness", RELEASED)
    merged = [place[value] for value in merged_in(tmp_path / "r")]
    kept = [x for x in range(joint.shape[1]) if x not in merged]
    output = np.column_stack([joint[:, kept], joint[:, merged].sum(axis=1)])
    free = np.outer(joint.sum(axis=1), output.sum(axis=0))
    e = math.exp(0.3)
    excess = np.maximum(output - e * free, 0).sum() + np.maximum(free - e * output, 0).sum()
    assert 0 < made.attained_delta <= 0.02 + 1e-9
    assert "excess of probability of 0.02" in made.claim
    assert "E-gamma" in " ".join(made.assumptions)
    assert made.attained_delta == pytest.approx(excess, abs=1e-9)
    assert verify(tmp_path / "r", against=people).verdict == "holds"
    edit(tmp_path / "r", attained_delta=0.0001)
    assert "delta" in failed(verify(tmp_path / "r", against=people))


@pytest.mark.long
@pytest.mark.parametrize("kind", few(["mass", "egamma"]))
def test_a_delta_never_makes_a_release_worse(folder: Path, tmp_path: Path, kind: str) -> None:
    """One merged set that may exceed epsilon loses more here than cells or a mixture that never do."""
    people, words = folder / "people.csv", {"secret": "illness", "epsilon": 0.3}
    strict = protect(people, **words, out=tmp_path / "strict").certificate
    relaxed = protect(people, **words, delta=0.001, delta_kind=kind, out=tmp_path / "r").certificate
    assert relaxed.utility.nmil <= strict.utility.nmil + 1e-9
    assert relaxed.attained_delta <= 0.001 + 1e-9
    assert relaxed.delta_kind == kind
    assert verify(tmp_path / "r", against=people).verdict == "holds"


# The next batch


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.8][: many(1, 3)])
def test_the_next_batch_is_mixed_alike_and_unseen_values_are_suppressed(tmp_path: Path, epsilon: float) -> None:
    first = write_csv(tmp_path / "one.csv", people_of())
    protect(first, secret="illness", epsilon=epsilon, out=tmp_path / "one", mechanism="optimal")
    columns = people_of(random_state=5)
    columns["ward"][:7] = ["new ward"] * 7
    batch = write_csv(tmp_path / "two.csv", columns)
    made = protect(batch, rules=tmp_path / "one" / "private" / "rules.json", out=tmp_path / "two").certificate
    assert made.attained_epsilon <= epsilon + 1e-9
    assert np.abs(log_lifts(columns, ["illness"], tmp_path / "two")).max() <= epsilon + 1e-9
    assert made.mechanism.values_merged_besides > 0
    after = rows_of(read_csv(tmp_path / "two" / "data.csv"))
    assert "new ward" not in {ward for _, ward, _ in after}
    assert set(after) <= {*channel_in(tmp_path / "one"), (None, None, None)}
    assert verify(tmp_path / "two", against=batch).verdict == "holds"
    shutil.rmtree(tmp_path / "two" / "private")
    result = verify(tmp_path / "two", against=batch)
    assert (result.verdict, failed(result)) == ("not checked", set())


def test_a_batch_like_the_first_is_drawn_by_the_same_channel(release: Path, folder: Path, tmp_path: Path) -> None:
    made = protect(
        folder / "people.csv", rules=release / "private" / "rules.json", out=tmp_path / "two", random_state=0
    )
    assert made.certificate.mechanism.values_merged_besides == 0
    assert (tmp_path / "two" / "data.csv").read_bytes() == (release / "data.csv").read_bytes()
    assert channel_in(tmp_path / "two") == channel_in(release)


def test_a_mixture_that_misses_its_epsilon_is_never_written(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    from tacit.lenses.table.mechanisms import rules as by_rules

    monkeypatch.setattr(by_rules, "cover_set", lambda region, merged, most: np.zeros_like(merged))
    batch = write_csv(tmp_path / "two.csv", people_of(random_state=5))
    with pytest.raises(NotCertifiedError, match="nothing was written"):
        protect(batch, rules=folder / "release" / "private" / "rules.json", out=tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_an_honest_mixture_holds(tmp_path: Path) -> None:
    """Small random tables, several secrets or one side, with and without the rules, and the next batch."""
    import pyarrow as pa

    def some(seed: int) -> pa.Table:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(12, 80))
        columns = {"s": rng.choice(["a", "b", "c"], n), "t": rng.choice(["u", "v"], n), "x": rng.choice([*"pqrt"], n)}
        return pa.table({**columns, "y": pa.array(rng.choice([1.5, 2.5], n), mask=rng.random(n) < 0.3)})

    wishes: list[dict[str, Any]] = [{"epsilon": 0.3}, {"epsilon_high": 0.2}, {"epsilon": 0.4, "also": {"t": 0.2}}]
    for seed, words in zip(range(many(1, 24)), itertools.cycle(wishes)):
        table, batch, out, then = some(seed), some(seed + 100), tmp_path / f"{seed}", tmp_path / f"{seed} then"
        protect(table, secret="s", released=["x", "y"], out=out, mechanism="optimal", **words)
        protect(batch, rules=out / "private" / "rules.json", out=then)
        for made, original in ((out, table), (then, batch)):
            assert verify(made, against=original).verdict == "holds", seed
            shutil.rmtree(made / "private")
            assert failed(verify(made, against=original)) == set(), seed


def test_several_sets_draw_nothing_even_where_one_set_would_do(tmp_path: Path) -> None:
    """One risky pair of values that hide each other: one merged set, which the watchdog would resample."""
    import pyarrow as pa

    rows = [("a", "p")] * 30 + [("b", "q")] * 30 + [("a", "r"), ("b", "r")] * 200
    table = pa.table({"s": [s for s, _ in rows], "x": [x for _, x in rows]})
    for mechanism in ("subsets", "watchdog"):
        protect(table, secret="s", epsilon=0.3, mechanism=mechanism, out=tmp_path / mechanism)
    drawn = {m: (tmp_path / m / "channel.json").exists() for m in ("subsets", "watchdog")}
    assert drawn == {"subsets": False, "watchdog": True}
    assert verify(tmp_path / "subsets", against=table).verdict == "holds"
