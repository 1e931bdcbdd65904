"""The COMPAS experiment of the watchdog paper: estimators, Figures 1 and 2, Tables I to IV, and Proposition 3 tried."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from experiments.paper import Say
from experiments.watchdog.consistency import consistency
from experiments.watchdog.data import PRINTED, Records, describe, match, read_records
from experiments.watchdog.learning import (
    AUTO,
    PAPER,
    PAPER_UNSCALED,
    PAPER_UNSCALED_SLOW,
    QUICK,
    WAYS,
    Learned,
    learn,
    score,
)
from experiments.watchdog.tradeoff import Tradeoff, tradeoff

RANDOM_STATE = 0
EPSILONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.85, 1.0, 1.2)
BOX = 0.85
# Figure 1: dots closer than this are drawn once; Figure 2: points of a curve.
NEAR = 0.02
POINTS = 160
CLOUDS = {"paper": PAPER, "unscaled": PAPER_UNSCALED, "auto": AUTO}


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """All results; quick takes the paper's networks for a few steps and a tenth of the records to learn from."""
    records = read_records(random_state=RANDOM_STATE, thinned=quick)
    say(f"{len(records.secret):,} records, {len(records.train):,} to learn from")
    learned: dict[tuple[str, str], Learned] = {}
    scores = []
    for way in QUICK if quick else WAYS:
        for one in learn(way, records, random_state=RANDOM_STATE):
            learned[one.name, one.normalised] = one
            scores.append(score(one, records))
        say(f"{way.name}: DV {scores[-1].dv_train:.3f} on the training records, {scores[-1].dv_test:.3f} held out")
    raw = {AUTO: learned[AUTO, "record"]}
    raw |= {name: learned[name, "none"] for name in (PAPER, PAPER_UNSCALED, PAPER_UNSCALED_SLOW)}
    say("consistency over n")
    return {
        "records": describe(records),
        "prior": learned[AUTO, "record"].prior,
        "estimators": [asdict(each) for each in scores],
        "apart": _rms(learned[AUTO, "record"], learned[PAPER, "record"], records),
        "outside_box": float((learned[AUTO, "record"].risk > BOX).mean()),
        "rows": [look_up(row, records, learned) for row in PRINTED],
        "clouds": {name: cloud(raw[of], records) for name, of in CLOUDS.items()},
        "tradeoff": {
            f"{name}, {part}": curve(tradeoff(*records.part(part), one.risk[getattr(records, part)]))
            for name, one in raw.items()
            for part in ("train", "test")
        },
        "consistency": consistency(
            (200, 400) if quick else (250, 1_000, 4_000), steps=30 if quick else 3_000, seeds=1 if quick else 2
        ),
    }


def _rms(one: Learned, other: Learned, records: Records) -> float:
    return float(np.sqrt(((one.log_lift - other.log_lift)[records.test] ** 2).mean()))


def look_up(row: Any, records: Records, learned: dict[tuple[str, str], Learned]) -> dict[str, Any]:
    """A printed row in the data, and what three estimators say about it (log-lifts of secrets 0 and 1)."""
    found = match(row, records)
    x = row.released(found.length_of_stay)
    auto = learned[AUTO, "record"]
    low, high = auto.estimator.log_lift_interval(x)
    lifts = {
        name: learned[of, "record" if of == AUTO else "none"].estimator.log_lift(x)[0] for name, of in CLOUDS.items()
    }
    place = {"by_date": found.by_date, "by_time": found.by_time, "stay": found.length_of_stay}
    return {"table": row.table, "words": str(row), "race": row.race, **place, **lifts, "low": low[0], "high": high[0]}


def cloud(one: Learned, records: Records) -> dict[str, Any]:
    """The dots of one panel of Figure 1, by secret, and how far from the curve of true lifts they are."""
    off = one.off_the_curve()
    dots = [np.unique(np.round(one.log_lift[records.secret == s] / NEAR) * NEAR, axis=0) for s in (0, 1)]
    return {"dots": dots, "off": [float(off.min()), float(np.median(off)), float(off.max())]}


def curve(trade: Tradeoff) -> dict[str, Any]:
    """One line of Figure 2: thinned for drawing, whole at some epsilons, and where gamma bends and ends."""
    fields = ("epsilons", "kept_share", "utility", "gamma", "merged_risk", "leakage")

    def at(j: int) -> dict[str, float]:
        return {name: float(getattr(trade, name)[j]) for name in fields}

    shown = np.unique(np.linspace(0, len(trade.gamma) - 1, POINTS).astype(int))
    return {
        "line": {name: getattr(trade, name)[shown] for name in ("gamma", "leakage", "utility")},
        "at": {f"{epsilon:g}": at(trade.at(epsilon)) for epsilon in EPSILONS},
        "bend": at(trade.bend),
        "last_finite": at(trade.last_finite),
        "end": at(len(trade.gamma) - 1),
    }
