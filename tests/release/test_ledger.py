"""The ledger: what several releases say together, counted where it can be, bounded otherwise, and never forgotten."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
import stat
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from sizes import few, many
from tables_of_people import clinic, read_csv, write_csv
from tacit import ArgumentError, Joint, NotCertifiedError, SourceError, log_lift, protect, verify
from tacit.cli.commands import tacit as command
from tacit.release import Merging, ReleaseRules, certificate_from, encoded, text_of
from tacit.release.ledger import together as togethers
from tacit.release.ledger.file import alone_with, read_ledger

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", clinic(600))


@pytest.fixture
def coins(tmp_path: Path) -> Path:
    """Two fair coins, and whether they differ: each says nothing of that, both say all."""
    rows = [(a, b, "differ" if a != b else "agree") for a, b in product("xy", "xy")] * 25
    return write_csv(tmp_path / "coins.csv", dict(zip("abs", map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def one_released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one release of these people and the ledger that knows it."""
    folder = tmp_path_factory.mktemp("one")
    people = write_csv(folder / "people.csv", clinic(600))
    released(people, folder / "one", ["age", "ward"], epsilon=0.2, mechanism="watchdog")
    return folder


def together(columns: dict[str, list[Any]], secret: list[str], releases: list[Path]) -> np.ndarray:
    """The log-lifts of all outputs at once by a dense tensor: every draw of every pool is an output of its own."""
    names = list(zip(*(columns[name] for name in secret), strict=True))
    secrets = {name: at for at, name in enumerate(sorted(set(names)))}
    rules = [ReleaseRules.load(release / "private" / "rules.json") for release in releases]
    channels, rows = [], []
    for each, release in zip(rules, releases, strict=True):
        size = len(each.symbols)
        channels.append(each.treatment.push(np.eye(size), np.arange(size)))
        place = {tuple(each.symbols.values(at).values()): at for at in range(size)}
        # A row of a release in cells shows its cell; of others it is what the row was.
        told = columns if each.code is None else read_csv(release / "data.csv")
        rows.append([place[value] for value in zip(*(told[name] for name in each.released), strict=True)])
    tensor = np.zeros((len(secrets), *(channel.shape[1] for channel in channels)))
    for s, *values in zip(names, *rows, strict=True):
        cell = np.ones(())
        for channel, value in zip(channels, values, strict=True):
            cell = np.multiply.outer(cell, channel[value])
        tensor[secrets[s]] += cell / len(names)
    flat = tensor.reshape(len(secrets), -1)
    return log_lift(Joint(flat[:, flat.sum(axis=0) > 0]))


def released(source: Any, out: Path, names: list[str], **words: Any) -> dict[str, Any]:
    """Protect with the ledger beside the release; gives the composition."""
    words = {"secret": "illness", "epsilon": 0.5, "ledger": out.parent / "ledger.json"} | words
    composition = protect(source, released=names, out=out, **words).certificate.composition
    assert composition is not None
    return dict(vars(composition)) | {
        "secrets": [dict(vars(each), secret=list(each.secret)) for each in composition.secrets]
    }


EPSILONS = [0.1, 0.4, 1.0]
PAIRS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"replacement": "resample"}, {"replacement": "uniform"}),
    ({"replacement": "suppress"}, {"mechanism": "optimal"}),
    ({"mechanism": "optimal"}, {"mechanism": "subsets"}),
    ({"mechanism": "optimal"}, {"mechanism": "optimal"}),
    ({"mechanism": "cells"}, {"mechanism": "optimal"}),
    ({"mechanism": "cells"}, {"mechanism": "cells"}),
]


@pytest.mark.parametrize(
    ("epsilon", "first", "second"),
    [(EPSILONS[(k + j) % 3], *pair) for k, pair in few(enumerate(PAIRS), 2) for j in range(many(1, 3))],
)
def test_releases_of_one_table_compose_exactly(
    people: Path, tmp_path: Path, epsilon: float, first: dict[str, Any], second: dict[str, Any]
) -> None:
    released(people, tmp_path / "one", ["age", "ward"], epsilon=epsilon, **first)
    found = released(people, tmp_path / "two", ["ward", "district"], epsilon=epsilon, **second)
    values = together(clinic(600), ["illness"], [tmp_path / "one", tmp_path / "two"])
    [of_illness] = found["secrets"]
    assert found["exact"]
    assert found["releases"] == 2
    assert of_illness["epsilon_low"] == pytest.approx(-values.min(), abs=1e-9)
    assert of_illness["epsilon_high"] == pytest.approx(values.max(), abs=1e-9)
    assert of_illness["epsilon"] == max(of_illness["epsilon_low"], of_illness["epsilon_high"])


def test_three_releases_about_different_secrets_are_composed_for_each_of_them(people: Path, tmp_path: Path) -> None:
    columns, out = clinic(600), [tmp_path / name for name in ("one", "two", "three")]
    released(people, out[0], ["age"], mechanism="optimal", also={("illness", "ward"): 3.0})
    released(people, out[1], ["illness"], secret="district", epsilon=0.2, mechanism="optimal")
    found = released(people, out[2], ["ward"], secret=("age", "district"), epsilon=0.3, mechanism="optimal")
    assert [each["secret"] for each in found["secrets"]] == [
        ["age", "district"], ["illness"], ["illness", "ward"], ["district"]
    ]  # fmt: skip
    for each in found["secrets"]:
        values = together(columns, each["secret"], out)
        assert each["epsilon_low"] == pytest.approx(-values.min(), abs=1e-9)
        assert each["epsilon_high"] == pytest.approx(values.max(), abs=1e-9)


def test_numbers_are_cut_by_each_release_in_its_own_way(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    columns: dict[str, list[Any]] = {"s": rng.choice(["a", "b"], 900).tolist()}
    columns["income"] = [int(rng.integers(0, 80) + 15 * (s == "a")) for s in columns["s"]]
    table = write_csv(tmp_path / "t.csv", columns)
    for name, edges in (("one", [40]), ("two", [30, 50])):
        words = {"secret": "s", "epsilon": 3.0, "bins": {"income": edges}}
        found = released(table, tmp_path / name, ["income"], **words)
    counted = {
        "s": columns["s"],
        "x": [str(int(np.searchsorted([30, 40, 50], x, side="right"))) for x in columns["income"]],
    }
    pairs = np.zeros((2, 4))
    for s, x in zip(counted["s"], counted["x"], strict=True):
        pairs["ab".index(s), int(x)] += 1
    values = log_lift(Joint.from_counts(pairs))
    assert found["secrets"][0]["epsilon"] == pytest.approx(np.abs(values).max())


def test_two_releases_that_say_nothing_alone_may_say_everything_together(coins: Path, tmp_path: Path) -> None:
    first = released(coins, tmp_path / "one", ["a"], secret="s", epsilon=0.01)
    second = released(coins, tmp_path / "two", ["b"], secret="s", epsilon=0.01)
    assert first["secrets"][0]["epsilon"] == 0
    assert second["secrets"] == [
        {"secret": ["s"], "epsilon_low": math.inf, "epsilon_high": pytest.approx(math.log(2)), "epsilon": math.inf}
    ]
    assert second["exact"]
    assert "together rule out a value of s" in second["sentence"]
    paper = json.loads((tmp_path / "two" / "certificate.json").read_text())
    assert paper["composition"]["secrets"][0]["epsilon"] == "inf"
    again = certificate_from(paper).composition
    assert again is not None
    assert encoded(again) == paper["composition"]
    assert [dict(vars(each), secret=list(each.secret)) for each in again.secrets] == second["secrets"]


def test_the_same_release_again_says_no_more(people: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        found = released(people, tmp_path / name, ["age", "ward"], replacement="resample")
    paper = json.loads((tmp_path / "one" / "certificate.json").read_text())
    assert found["releases"] == 3
    assert found["secrets"][0]["epsilon"] == pytest.approx(paper["attained_epsilon"])


def test_a_release_that_was_overwritten_was_out(people: Path, tmp_path: Path) -> None:
    released(people, tmp_path / "one", ["age", "ward"])
    assert released(people, tmp_path / "one", ["district"], overwrite=True)["releases"] == 2


def test_releases_of_different_files_are_bounded_by_the_rarest_value_alone(people: Path, tmp_path: Path) -> None:
    other = clinic(500, random_state=1)
    released(people, tmp_path / "one", ["age"])
    found = released(write_csv(tmp_path / "more.csv", other), tmp_path / "two", ["ward"])
    rarest = min(
        columns["illness"].count(value) / len(columns["illness"])
        for columns in (clinic(600), other)
        for value in set(other["illness"])
    )
    assert not found["exact"]
    assert found["secrets"][0] == {
        "secret": ["illness"],
        "epsilon_low": math.inf,
        "epsilon_high": pytest.approx(-math.log(rarest)),
        "epsilon": math.inf,
    }
    assert "Nothing bounds what the 2 releases in the ledger together say about illness" in found["sentence"]
    assert "one table, or count the joint" in found["sentence"]


def test_where_only_one_side_is_bounded_the_rarest_value_bounds_it(people: Path, tmp_path: Path) -> None:
    words = {"epsilon": None, "epsilon_high": 0.6}
    released(people, tmp_path / "one", ["age"], **words)
    more = write_csv(tmp_path / "more.csv", clinic(500, random_state=1))
    found = released(more, tmp_path / "two", ["ward"], budget=3.0, **words)
    assert found["secrets"][0]["epsilon"] == found["secrets"][0]["epsilon_high"] < 3
    assert "the side that was bounded" in found["sentence"]


def test_frames_weights_and_large_joints_are_not_counted(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pa.table(clinic(600))
    for name in ("one", "two"):
        found = released(frame, tmp_path / name, ["age"])
    assert "a frame has no fingerprint" in found["sentence"]
    weighted = write_csv(tmp_path / "weighted.csv", {**clinic(600), "w": [1, 2] * 300})
    words = {"weight": "w", "ledger": tmp_path / "weights.json"}
    released(weighted, tmp_path / "three", ["age"], **words)
    assert "weighted" in released(weighted, tmp_path / "four", ["ward"], **words)["sentence"]
    words = {"ledger": tmp_path / "large.json", "mechanism": "optimal"}
    released(people, tmp_path / "five", ["age"], **words)
    monkeypatch.setattr(togethers, "MOST_CELLS", 30)
    found = released(people, tmp_path / "six", ["ward"], **words)
    assert not found["exact"]
    assert "cells" in found["sentence"]


def test_for_other_people_the_worst_release_counts(people: Path, tmp_path: Path) -> None:
    first = released(people, tmp_path / "one", ["age", "ward"], epsilon=0.2)
    more = write_csv(tmp_path / "more.csv", clinic(500, random_state=1))
    alone = released(more, tmp_path / "alone", ["age", "ward"], epsilon=0.6, ledger=tmp_path / "alone.json")
    both = released(more, tmp_path / "two", ["age", "ward"], epsilon=0.6, people="other")
    for end in ("epsilon_low", "epsilon_high"):
        assert both["secrets"][0][end] == max(first["secrets"][0][end], alone["secrets"][0][end])
    assert both["exact"]
    assert "other people" in both["sentence"]
    # A third release, of the first table: counted with the first, and nobody of the second is in it.
    third = released(people, tmp_path / "three", ["district"])
    values = together(clinic(600), ["illness"], [tmp_path / "one", tmp_path / "three"])
    assert third["exact"]
    assert third["secrets"][0]["epsilon"] == pytest.approx(max(np.abs(values).max(), both["secrets"][0]["epsilon"]))
    # Within exactly that budget, and not below.
    budget = third["secrets"][0]["epsilon"]
    with pytest.raises(NotCertifiedError, match="budget"):
        released(people, tmp_path / "none", ["district"], budget=0.999 * budget)
    assert released(people, tmp_path / "same", ["district"], budget=1.001 * budget)["exact"]
    with pytest.raises(ArgumentError, match="very table"):
        released(people, tmp_path / "four", ["ward"], people="other")
    # A table that may hold people of both makes all of them one group.
    last = write_csv(tmp_path / "last.csv", clinic(400, random_state=2))
    assert released(last, tmp_path / "five", ["age"])["secrets"][0]["epsilon"] == math.inf
    # What was not counted for one group is not counted for all.
    others = write_csv(tmp_path / "others.csv", clinic(400, random_state=3))
    assert not released(others, tmp_path / "six", ["age"], people="other")["exact"]


def test_for_other_people_a_side_that_nobody_bounded_stays_out(people: Path, tmp_path: Path) -> None:
    more = write_csv(tmp_path / "more.csv", clinic(500, random_state=1))
    upwards = {"epsilon": None, "epsilon_high": 0.3}
    released(people, tmp_path / "one", ["age", "ward"], **upwards)
    [leak] = released(more, tmp_path / "two", ["age", "ward"], people="other", **upwards)["secrets"]
    assert leak["epsilon"] == leak["epsilon_high"] < leak["epsilon_low"]


def test_betas_of_proofs_from_samples_add(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "large.csv", clinic(4000))
    for name in ("one", "two"):
        found = released(table, tmp_path / name, ["age"], epsilon=1.5, confidence=0.95)
    assert found["beta"] == pytest.approx(0.1)
    assert "90.0% confidence" in found["sentence"]


def test_beyond_the_budget_neither_release_nor_entry_is_written(coins: Path, tmp_path: Path) -> None:
    released(coins, tmp_path / "one", ["a"], secret="s", budget=0.5)
    before = (tmp_path / "ledger.json").read_bytes()
    with pytest.raises(NotCertifiedError, match=r"budget of 0\.5 nats.*nothing was written"):
        released(coins, tmp_path / "two", ["b"], secret="s", budget=0.5)
    # A budget is for every secret of the ledger, also for those that this release is not about.
    with pytest.raises(NotCertifiedError, match="budget"):
        released(coins, tmp_path / "two", ["b"], secret="a", budget=0.5)
    assert (tmp_path / "ledger.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["coins.csv", "ledger.json", "one"]


def test_a_first_release_beyond_the_budget_makes_no_ledger(people: Path, tmp_path: Path) -> None:
    with pytest.raises(NotCertifiedError, match="budget"):
        released(people, tmp_path / "one", ["ward"], epsilon=2.0, budget=0.01)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_the_ledger_is_private_and_holds_what_was_released(people: Path, tmp_path: Path) -> None:
    released(people, tmp_path / "one", ["age", "ward"])
    file = tmp_path / "ledger.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    [entry] = read_ledger(file)
    paper = json.loads((tmp_path / "one" / "certificate.json").read_text())
    assert entry.release == str((tmp_path / "one").resolve())
    assert entry.output_sha256 == paper["output"]["sha256"]
    assert entry.original.records == 600
    assert text_of(entry.rules) == (tmp_path / "one" / "private" / "rules.json").read_text()
    assert max(entry.attained[0].low, entry.attained[0].high) == paper["attained_epsilon"]


@pytest.mark.parametrize("failing", few(["replace", "fsync"]))
def test_a_failure_while_writing_leaves_the_old_ledger_and_no_release(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    released(people, tmp_path / "one", ["age"])
    before = (tmp_path / "ledger.json").read_bytes()

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, failing, refuse)
        with pytest.raises(SourceError, match="No space left"):
            released(people, tmp_path / "two", ["ward"])
    assert (tmp_path / "ledger.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.json", "one", "people.csv"]
    assert released(people, tmp_path / "two", ["ward"])["releases"] == 2


def test_an_entry_is_there_before_its_release_and_taken_back_without_it(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, the ledger knows of a release that is not out: the safe side."""
    entries = []

    def refuse(*_: Any) -> None:
        entries.append(len(read_ledger(tmp_path / "ledger.json")))
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        with pytest.raises(SourceError):
            released(people, tmp_path / "one", ["age"])
    assert not (tmp_path / "one").exists()
    assert entries == [1]
    assert read_ledger(tmp_path / "ledger.json") == ()


@pytest.mark.parametrize(
    "change",
    few(
        [
            lambda data: data.update(entries=None),
            lambda data: data.update(version=1),
            lambda data: data.update(format="something else"),
            lambda data: data["entries"][0].pop("rules"),
            lambda data: data["entries"][0].update(relation="some people"),
            lambda data: data["entries"][0].update(attained=[]),
            lambda data: data["entries"][0].update(beta=2),
            lambda data: data["entries"][0]["original"].update(records="many"),
            lambda data: data["entries"][0]["attained"][0].update(low=math.nan),
            lambda data: data["entries"][0]["attained"][0].update(low=-1),
            # In order as a file, but not what these rules make of this table.
            lambda data: data["entries"][0]["attained"][0].update(low=0.01, high=0.01),
            lambda data: data["entries"][0]["rules"]["treatment"].update(merged=[], replacement=None),
        ],
        6,
    ),
)
def test_a_damaged_ledger_is_refused_and_left_alone(
    people: Path, one_released: Path, tmp_path: Path, change: Change
) -> None:
    file = Path(shutil.copy(one_released / "ledger.json", tmp_path))
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    before = file.read_bytes()
    with pytest.raises(SourceError, match="ledger"):
        released(people, tmp_path / "two", ["district"])
    assert file.read_bytes() == before
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "tacit rules"}', "a,b\n1,2\n"])
def test_another_file_is_never_taken_for_a_ledger(people: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "ledger.json").write_text(text)
    with pytest.raises(SourceError, match="not a Tacit ledger"):
        released(people, tmp_path / "one", ["age"])
    assert (tmp_path / "ledger.json").read_text() == text


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"random_state": 1}, "random_state"),
        ({"keep_secret": True}, "keep_secret"),
        ({"people": "some"}, "people"),
        ({"budget": -1.0}, "budget"),
        ({"ledger": None, "budget": 1.0}, "give ledger"),
        ({"ledger": None, "people": "other"}, "give ledger"),
    ],
)
def test_what_cannot_be_composed_is_refused(people: Path, tmp_path: Path, words: dict[str, Any], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        released(people, tmp_path / "one", ["age"], **words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


def test_a_ledger_is_no_part_of_a_release(people: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="outside the release"):
        released(people, tmp_path / "one", ["age"], ledger=tmp_path / "one" / "private" / "ledger.json")


def test_two_processes_do_not_write_one_ledger_at_once(people: Path, tmp_path: Path) -> None:
    with alone_with(tmp_path / "ledger.json"), pytest.raises(SourceError, match="another process"):
        released(people, tmp_path / "one", ["age"])
    assert not (tmp_path / "one").exists()
    # A lock whose owner was killed is none: the system has let go of it, and only the file is there.
    lock = tmp_path / ".ledger.json.tacit-lock"
    lock.touch()
    assert released(people, tmp_path / "one", ["age"])["releases"] == 1
    assert not lock.exists()


def test_a_lock_on_a_file_that_was_removed_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, flock = tmp_path / ".ledger.json.tacit-lock", fcntl.flock

    def too_late(descriptor: int, how: int) -> None:
        lock.unlink()
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", too_late)
    with pytest.raises(SourceError, match="another process"), alone_with(tmp_path / "ledger.json"):
        pytest.fail("not alone")


def test_the_command_line_and_verify(people: Path, tmp_path: Path) -> None:
    base = [
        "protect",
        str(people),
        "--secret",
        "illness",
        "--epsilon",
        "0.5",
        "--ledger",
        str(tmp_path / "ledger.json"),
    ]
    first = CliRunner().invoke(
        command, [*base, "--released", "age", "-o", str(tmp_path / "one")], standalone_mode=False
    )
    assert first.exception is None
    second = CliRunner().invoke(
        command,
        [
            *base,
            "--released",
            "ward",
            "--people",
            "same",
            "--budget",
            "9",
            "-o",
            str(tmp_path / "two"),
            "--bits",
            "--full",
        ],
        standalone_mode=False,
    )
    assert second.exception is None
    shown = " ".join(second.output.split())
    assert "Together 2 releases in the ledger" in shown
    assert "bits of illness" in shown
    checked = verify(tmp_path / "two", against=people)
    assert checked.verdict == "holds"
    assert any("owner's ledger" in note for note in checked.notes)
    over = CliRunner().invoke(
        command,
        [*base, "--released", "district", "--budget", "0.01", "-o", str(tmp_path / "three")],
        standalone_mode=False,
    )
    assert isinstance(over.exception, NotCertifiedError)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(releases=0),
        lambda found: found.update(exact="yes"),
        lambda found: found.update(sentence=None),
        lambda found: found.update(secrets=[]),
        lambda found: found.update(beta=1.5),
        lambda found: found["secrets"][0].update(epsilon=77),
        lambda found: found["secrets"][0].update(epsilon_low=-1),
        lambda found: found["secrets"][0].pop("secret"),
    ],
)
def test_a_damaged_composition_is_a_damaged_certificate(one_released: Path, tmp_path: Path, change: Change) -> None:
    file = Path(shutil.copytree(one_released / "one", tmp_path / "one")) / "certificate.json"
    paper = json.loads(file.read_text())
    change(paper["composition"])
    file.write_text(json.dumps(paper))
    with pytest.raises(SourceError, match="damaged"):
        verify(tmp_path / "one")


def test_tables_of_one_database_are_told_apart(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "all.duckdb")) as base:
        for name, seed in (("first", 0), ("second", 1)):
            frame = pa.table(clinic(300, random_state=seed))
            base.register("frame", frame)
            base.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
    released(f"{tmp_path / 'all.duckdb'}::first", tmp_path / "one", ["age"])
    assert not released(f"{tmp_path / 'all.duckdb'}::second", tmp_path / "two", ["age"])["exact"]


def test_a_merging_that_draws_a_kept_value_is_refused() -> None:
    """All draws from a pool count as one output, which holds only where no kept value is drawn."""
    with pytest.raises(ValueError, match="not of the merged values"):
        Merging(np.array([True, False]), np.array([0.5, 0.5]))
