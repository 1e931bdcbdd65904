"""The results as text for README.md: every number in it comes from here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from compas_learning import (
    AUTO,
    PAPER,
    PAPER_ONE_HOT,
    PAPER_SLOW,
    PAPER_UNSCALED,
    PAPER_UNSCALED_SLOW,
    Learned,
    Score,
)
from compas_records import CLAIMS, RACES, Match, PrintedRow, Records
from compas_tradeoff import Tradeoff

# What experiments share lies beside their folders.
sys.path.append(str(Path(__file__).parent.parent))
from pages import table

EPSILONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.85, 1.0, 1.2)
# Shown as "near 0" by the tables' own words; what it allows the other log-lift is computed.
NEAR_ZERO = 0.1


@dataclass(frozen=True)
class LookedUp:
    """A printed row, the records it may be, and what the estimators say of it (log-lifts of secrets 0 and 1)."""

    row: PrintedRow
    match: Match
    auto: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]
    paper: tuple[float, float]
    unscaled: tuple[float, float]

    @property
    def claim_holds(self) -> str:
        """Whether auto sees what the table claims; Tables III and IV claim what no lift can be.

        The two log-lifts have opposite signs, so that it is beyond doubt as soon as one interval leaves 0 out.
        """
        if self.row.table not in ("I", "II"):
            return "cannot be"
        for_0 = self.row.table == "I"
        says = self.auto[0] > 0 if for_0 else self.auto[1] > 0
        sure = any(low > 0 or high < 0 for low, high in zip(self.low, self.high, strict=True))
        return ("yes" if says else "no, the reverse") + ("" if sure else ", in doubt")


def summary_block(
    scores: Sequence[Score],
    learned: dict[tuple[str, str], Learned],
    trades: dict[tuple[str, str], Tradeoff],
    rows: Sequence[LookedUp],
    records: Records,
) -> str:
    """What came out, in a few sentences."""
    by = {(s.name, s.normalised): s for s in scores}
    auto, paper, slow = by[AUTO, "record"], by[PAPER, "none"], by[PAPER_SLOW, "none"]
    unscaled, slow_unscaled, hot = (by[n, "none"] for n in (PAPER_UNSCALED, PAPER_UNSCALED_SLOW, PAPER_ONE_HOT))
    apart = learned[AUTO, "record"].log_lift[records.test] - learned[PAPER, "record"].log_lift[records.test]
    train, test = trades[AUTO, "train"], trades[AUTO, "test"]
    by_time = sum(found.match.by_time[0] > 0 for found in rows)
    merged = round(len(records.test) * float(1 - test.kept_share[test.at(1.2)]))
    return "\n".join(
        [
            f"- **Reproduced.** Race leaks: {auto.mean.value:.3f} nats ({auto.mean.low:.3f} to {auto.mean.high:.3f}) "
            "by auto on the held-out records, an estimate of the mutual information from below. The paper's network "
            f"finds as much ({paper.dv_test:.3f}) if Adagrad's sums begin at 0 and the numbers are scaled, in "
            f"{paper.cpu_seconds:.0f} CPU-seconds instead of {auto.cpu_seconds:.0f}; normalised per record it differs "
            f"from auto by {float(np.sqrt((apart**2).mean())):.2f} nats (root mean square). {by_time} of the "
            f"{len(rows)} printed rows are in the data if stays are cut to whole days, as the authors "
            "seem to have done.",
            f"- **What is not printed matters.** With TensorFlow's 0.1 the held-out DV value is {slow.dv_test:.3f} "
            f"instead of {paper.dv_test:.3f} ({slow_unscaled.dv_test:.3f} instead of {unscaled.dv_test:.3f} without "
            "scaling). With every column one-hot the network learns the records by heart: DV "
            f"{hot.dv_train:.3f} on the training records, {hot.dv_test:.3f} held out.",
            "- **Wrong: the outputs are not log-lifts.** They are known up to a constant only, which training leaves "
            f"where it happens to be: Σ p(s) e^i(s,x) is about {np.exp(paper.off_median):.2f} with scaled numbers, "
            f"{np.exp(unscaled.off_median):.2f} with unscaled ones, {np.exp(slow_unscaled.off_median):.2f} if these "
            "begin at 0.1, and must be 1. Risk, box and partition all depend on that constant.",
            "- **Wrong: Tables III and IV.** With two secrets i(0,x) = 0 if and only if i(1,x) = 0, so no record can "
            "be as they say. A constant above 0 makes ordinary records look like that (Figure 1 a); whether the tables "
            "came about so we cannot know.",
            '- **An artefact: "best near ε = 0.3".** By the printed γ the curve does bend, at ε = '
            f"{train.epsilons[train.bend]:.2f} (training) and {test.epsilons[test.bend]:.2f} (held out). Beyond the "
            f"bend γ runs to infinity, which it reaches at {train.epsilons[train.last_finite]:.2f} and "
            f"{test.epsilons[test.last_finite]:.2f}, while utility hardly grows: this is what the paper describes. But "
            "the bend belongs to the bound, not to the data. By the exact value nothing happens there: utility grows "
            f"on with ε, from {train.utility[train.at(0.3)]:.1f} nats at 0.3 to {train.utility[train.at(0.85)]:.1f} at "
            f"0.85, of {train.utility[-1]:.1f}.",
            "- **Not said in the paper: the merged set leaks too.** For large ε nearly all its records are "
            f"{RACES[0]}, and its own log-lift exceeds ε: at ε = 1.2 it is {train.merged_risk[train.at(1.2)]:.2f} "
            f"(training) and {test.merged_risk[test.at(1.2)]:.2f} (held out, {merged} records).",
        ]
    )


def records_block(records: Records) -> str:
    """What the data are."""
    n, counts = len(records.secret), np.bincount(records.secret)
    values = records.X.groupby(list(records.X.columns)).size()
    ceilings = -np.log(counts / n)
    differing = (records.days_cut != records.X["length_of_stay"]).mean()
    return "\n".join(
        [
            f"- {n:,} records: {counts[0]:,} {RACES[0]} (S = 0), {counts[1]:,} {RACES[1]} (S = 1); "
            f"{len(records.train):,} to learn from, {len(records.test):,} held out.",
            f"- {len(values):,} distinct released values, {int((values == 1).sum()):,} of them held by one person: "
            "counting alone says next to nothing here.",
            f"- The file has {records.in_file:,} records of the two races; ProPublica's own filter leaves {n:,}, the "
            f"paper's number, with {int(records.X.isna().to_numpy().sum())} missing cells: that filter seems to "
            "be what the paper calls dropping incomplete records.",
            f"- Log-lift cannot exceed -log p(s): i(0,x) ≤ {ceilings[0]:.3f}, i(1,x) ≤ {ceilings[1]:.3f}. The side "
            "i(0,x) ≤ 0.85 of the paper's box therefore never binds.",
            f"- Times in jail are on a 12-hour clock without a.m. and p.m. (all hours lie between "
            f"{records.hours.min()} and {records.hours.max()}), so {int((records.elapsed < 0).sum())} people leave "
            "before they come. The difference of *dates*, which we use, is never negative and equals the rounded "
            "difference of times. The difference of times cut down to whole days (what pandas' `.dt.days` gives) "
            f"is -1 for those people and differs for {differing:.0%} of all records.",
        ]
    )


def estimators_block(scores: Sequence[Score]) -> str:
    """One line for every estimator and normalisation."""
    words = {"none": "no", "constant": "constant", "record": "per record"}
    rows = [
        (
            s.name,
            words[s.normalised],
            f"{s.dv_train:.3f}",
            f"{s.dv_test:.3f}",
            f"{s.mean.value:.3f} ({s.mean.low:.3f} to {s.mean.high:.3f})",
            f"{s.verdict} (p = {s.p_value:.3f})",
            f"{s.bins_inside} of {s.bins}",
            f"{s.off_rms:.3f}" if s.off_rms > 1e-9 else "0",
            f"{s.cpu_seconds:.1f}",
        )
        for s in scores
    ]
    head = ("estimator", "normalised", "DV value, training", "DV value, held out", "mean log-lift of the true secret, "
            "held out (95%)", "verdict", "calibrated bins", "off the curve, RMS", "CPU-s")  # fmt: skip
    return table(head, rows)


def curve_block(scores: Sequence[Score], learned: Learned) -> str:
    """How far estimates are from where lifts can lie."""
    by = {(s.name, s.normalised): s for s in scores}
    told = []
    for name in (PAPER, PAPER_UNSCALED, PAPER_ONE_HOT):
        low, high = by[name, "none"].off_range
        told.append(f"{np.exp(low):.2f} to {np.exp(high):.2f} ({name})")
    p0, p1 = learned.prior
    auto = by[AUTO, "record"]
    at, c = 0.5, by[PAPER, "none"].off_median
    return "\n".join(
        [
            f"- Σ p(s) e^i(s,x) must be 1. Of the raw networks it is {'; '.join(told)}. For auto it is 1 to rounding.",
            f"- With p₀ = {p0:.4f}, p₁ = {p1:.4f} among the training records: i(0,x) = 0 gives i(1,x) = "
            f"log((1 - p₀)/p₁) = 0 exactly. |i(0,x)| ≤ {NEAR_ZERO} leaves i(1,x) between "
            f"{_other(p0, p1, NEAR_ZERO):.2f} and {_other(p0, p1, -NEAR_ZERO):.2f}; |i(1,x)| ≤ {NEAR_ZERO} leaves "
            f"i(0,x) between {_other(p1, p0, NEAR_ZERO):.2f} and {_other(p1, p0, -NEAR_ZERO):.2f}. "
            f"i(1,x) = {at} needs i(0,x) = {_other(p1, p0, at):.2f}.",
            f"- A constant c left on the outputs moves the curve by c along both axes. Of the raw network ({PAPER}) "
            f"the median c is {c:+.2f}: it shows i(1,x) = {np.log((np.exp(c) - p0) / p1):+.2f} where i(0,x) = 0, and "
            f"i(0,x) = {np.log((np.exp(c) - p1) / p0):+.2f} where i(1,x) = 0.",
            f"- auto's log-lifts of all records: i(0,x) from {auto.smallest[0]:.2f} to {auto.largest[0]:.2f}, i(1,x) "
            f"from {auto.smallest[1]:.2f} to {auto.largest[1]:.2f}; "
            f"{float((learned.risk > 0.85).mean()):.1%} of the records lie outside the box of 0.85.",
        ]
    )


def _other(own: float, other: float, lift: float) -> float:
    """The log-lift of the other secret, given that of one: own e^lift + other e^i = 1."""
    return float(np.log((1 - own * np.exp(lift)) / other))


def tradeoff_block(trades: dict[tuple[str, str], Tradeoff]) -> str:
    """The points of Figure 2 at some epsilons, and what they say of 'epsilon around 0.3'."""
    rows = []
    for epsilon in EPSILONS:
        cells: list[str] = [f"{epsilon:g}"]
        for part in ("train", "test"):
            t = trades[AUTO, part]
            j = t.at(epsilon)
            merged = f"{t.merged_risk[j]:.2f}" + (" **> ε**" if t.merged_risk[j] > epsilon else "")
            cells += [f"{t.kept_share[j]:.0%}", f"{t.utility[j]:.2f}", _number(t.gamma[j]), merged]
        rows.append(cells)
    head = ["ε"]
    for part in ("training", "held out"):
        head += [f"kept, {part}", "I(X;Y)", "γ printed", "merged set, counted"]
    return table(head, rows) + "\n\n" + "\n".join(_told(trades))


def _told(trades: dict[tuple[str, str], Tradeoff]) -> list[str]:
    told = []
    for part, words in (("train", "training"), ("test", "held-out")):
        t = trades[AUTO, part]
        j, at = t.last_finite, t.at(0.3)
        told.append(
            f"- auto, {words} records: H(X) = {t.utility[-1]:.2f} nats. At ε = 0.3 the watchdog keeps "
            f"{t.kept_share[at]:.0%} of the records, {t.utility[at] / t.utility[-1]:.0%} of H(X); at 0.85 "
            f"{t.utility[t.at(0.85)] / t.utility[-1]:.0%}; everything from ε = {t.epsilons[-1]:.2f} on. γ bends at "
            f"ε = {t.epsilons[t.bend]:.2f} (γ = {t.gamma[t.bend]:.2f}, I(X;Y) = {t.utility[t.bend]:.2f}) and is "
            f"infinite from ε = {t.epsilons[j]:.2f} on (I(X;Y) = {t.utility[j]:.2f})."
        )
    for name in (PAPER, PAPER_UNSCALED, PAPER_UNSCALED_SLOW):
        t = trades[name, "train"]
        told.append(
            f"- {name}, unnormalised, training records: {t.kept_share[t.at(0.3)]:.0%} kept at ε = 0.3, everything from "
            f"ε = {t.epsilons[-1]:.2f} on."
        )
    return told


def rows_block(rows: Sequence[LookedUp]) -> str:
    """Tables I to IV: each printed row beside the data and the estimates."""
    lines = []
    for found in rows:
        m = found.match
        lines.append(
            (
                found.row.table,
                str(found.row),
                f"{m.by_date[0]} + {m.by_date[1]}",
                f"{m.by_time[0]} + {m.by_time[1]}",
                m.length_of_stay,
                *(
                    f"{found.auto[s]:+.2f} ({found.low[s]:+.2f} to {found.high[s]:+.2f})"
                    for s in (0, 1)
                ),
                f"{found.paper[0]:+.2f}, {found.paper[1]:+.2f}",
                f"{found.unscaled[0]:+.2f}, {found.unscaled[1]:+.2f}",
                found.claim_holds,
            )
        )  # fmt: skip
    head = ("table", "sex race age, priors, stay, score", "records, by date", "records, by time", "stay used",
            "auto i(0,x) (95%)", "auto i(1,x) (95%)", "DV scaled, raw i(0), i(1)", "DV unscaled, raw i(0), i(1)",
            "claim holds")  # fmt: skip
    return table(head, lines) + "\n\n" + rows_summary(rows)


def rows_summary(rows: Sequence[LookedUp]) -> str:
    """How many of the printed rows are there, and how the claims fare."""
    by_time = sum(found.match.by_time[0] > 0 for found in rows)
    by_date = sum(found.match.by_date[0] > 0 for found in rows)
    either = sum(found.match.by_time[0] + found.match.by_date[0] > 0 for found in rows)
    told = [
        f"- Of {len(rows)} printed rows, {by_time} are in the data with the printed race if a stay is cut down to "
        f"whole days (by time), {by_date} if dates are subtracted (by date), {either} under one of the two."
    ]
    for name in CLAIMS:
        here = [found for found in rows if found.row.table == name]
        if name in ("I", "II"):
            agree = sum(found.claim_holds.startswith("yes") for found in here)
            sure = sum(found.claim_holds == "yes" for found in here)
            told.append(
                f"- Table {name} ({CLAIMS[name]}): auto agrees on the sign in {agree} of {len(here)} rows, in {sure} "
                "of them beyond its 95% interval."
            )
            continue
        s = 0 if name == "III" else 1
        near = sum(abs(found.auto[s]) <= NEAR_ZERO for found in here)
        told.append(
            f"- Table {name} ({CLAIMS[name]}): auto finds |i({s},x)| ≤ {NEAR_ZERO} in {near} of {len(here)} rows; the "
            f"other log-lift lies between {min(f.auto[1 - s] for f in here):+.2f} and "
            f"{max(f.auto[1 - s] for f in here):+.2f}."
        )
    return "\n".join(told)


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "∞"
