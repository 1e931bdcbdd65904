"""The COMPAS experiment of the watchdog paper, done again: estimators, Figures 1 and 2, Tables I to IV.

Writes figure1.svg, figure2.svg, results.json and the marked sections of README.md beside this file. About five minutes
of one CPU core, nearly all of them for the paper's own networks.

    .venv/bin/python experiments/compas/run.py
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from compas_figures import Cloud, Curve, figure_1, figure_2
from compas_learning import AUTO, PAPER, PAPER_UNSCALED, PAPER_UNSCALED_SLOW, WAYS, Learned, learn, score
from compas_pages import (
    EPSILONS,
    LookedUp,
    curve_block,
    estimators_block,
    records_block,
    rows_block,
    summary_block,
    tradeoff_block,
)
from compas_records import PRINTED, Records, match, read_records
from compas_tradeoff import Tradeoff, tradeoff
from pages import fill

from tacit.errors import TacitError

HERE = Path(__file__).parent
RANDOM_STATE = 0


def main() -> None:
    """Do everything and say what is being done."""
    records = read_records(random_state=RANDOM_STATE)
    print(f"{len(records.secret):,} records, {len(records.train):,} to learn from", flush=True)
    learned: dict[tuple[str, str], Learned] = {}
    scores = []
    for way in WAYS:
        for one in learn(way, records, random_state=RANDOM_STATE):
            learned[one.name, one.normalised] = one
            scores.append(score(one, records))
            found = scores[-1]
            print(
                f"{found.name} (normalised: {found.normalised}): DV {found.dv_train:.3f} on the training records, "
                f"{found.dv_test:.3f} held out; {found.cpu_seconds:.1f} CPU-s",
                flush=True,
            )
    rows = look_up(records, learned)
    raw = {AUTO: learned[AUTO, "record"]}
    raw |= {name: learned[name, "none"] for name in (PAPER, PAPER_UNSCALED, PAPER_UNSCALED_SLOW)}
    trades = {
        (name, part): tradeoff(*records.part(part), one.risk[getattr(records, part)])
        for name, one in raw.items()
        for part in ("train", "test")
    }
    (HERE / "figure1.svg").write_text(str(draw_1(records, raw, rows)), encoding="utf-8")
    (HERE / "figure2.svg").write_text(str(draw_2(trades)), encoding="utf-8")
    blocks = {
        "summary": summary_block(scores, learned, trades, rows, records),
        "records": records_block(records),
        "estimators": estimators_block(scores),
        "curve": curve_block(scores, learned[AUTO, "record"]),
        "tradeoff": tradeoff_block(trades),
        "rows": rows_block(rows),
    }
    fill(HERE / "README.md", blocks)
    results = {
        "estimators": [asdict(s) for s in scores],
        "auto": getattr(learned[AUTO, "record"].estimator, "reason_", ""),
        "tradeoff": {f"{name}, {part}": told_at(t) for (name, part), t in trades.items()},
        "rows": [as_json(found) for found in rows],
    }
    (HERE / "results.json").write_text(json.dumps(_plain(results), indent=1) + "\n", encoding="utf-8")
    print("wrote figure1.svg, figure2.svg, results.json and README.md in", HERE)


def look_up(records: Records, learned: dict[tuple[str, str], Learned]) -> list[LookedUp]:
    """Every printed row in the data, and what three estimators say of it."""
    auto, paper, unscaled = learned[AUTO, "record"], learned[PAPER, "none"], learned[PAPER_UNSCALED, "none"]
    rows = []
    for row in PRINTED:
        found = match(row, records)
        x = row.released(found.length_of_stay)
        low, high = auto.estimator.log_lift_interval(x)
        said = [one.estimator.log_lift(x) for one in (auto, paper, unscaled)]
        lift, least, most, printed, as_is = (tuple(map(float, pair[0])) for pair in (said[0], low, high, *said[1:]))
        rows.append(LookedUp(row, found, lift, least, most, printed, as_is))
    return rows


def draw_1(records: Records, raw: dict[str, Learned], rows: list[LookedUp]) -> Any:
    """The networks as printed, in two readings, and auto."""
    panels = (
        ("(a) the paper's network, numbers scaled", PAPER, "paper"),
        ("(b) the same, numbers as they are", PAPER_UNSCALED, "unscaled"),
        ("(c) auto", AUTO, "auto"),
    )
    clouds = []
    for title, name, field in panels:
        off = raw[name].off_the_curve()
        exact = float(np.abs(off).max()) < 1e-9
        note = (
            "Σ p(s) eⁱ = 1 for every record"
            if exact
            else f"Σ p(s) eⁱ from {np.exp(off.min()):.2f} to {np.exp(off.max()):.2f}"
        )
        tables = sorted({found.row.table for found in rows})
        printed = {t: np.array([getattr(f, field) for f in rows if f.row.table == t]) for t in tables}
        clouds.append(Cloud(title, note, raw[name].log_lift, printed))
    return figure_1(clouds, records.secret, raw[AUTO].prior)


def draw_2(trades: dict[tuple[str, str], Tradeoff]) -> Any:
    """auto and the paper's network, each on its training records and on those held out."""
    curves = [
        Curve("auto, training records", "first", trades[AUTO, "train"], labelled=True),
        Curve("auto, held out", "first test", trades[AUTO, "test"]),
        Curve("the paper's network (scaled), training records", "second", trades[PAPER, "train"], labelled=True),
        Curve("the paper's network (scaled), held out", "second test", trades[PAPER, "test"]),
    ]
    return figure_2(curves, float(trades[AUTO, "train"].utility[-1]))


def told_at(trade: Tradeoff) -> list[dict[str, float]]:
    """The numbers of one line of Figure 2 at some epsilons."""
    fields = ("kept_share", "utility", "gamma", "merged_risk", "leakage")
    return [
        {"epsilon": epsilon} | {name: float(getattr(trade, name)[trade.at(epsilon)]) for name in fields}
        for epsilon in EPSILONS
    ]


def as_json(found: LookedUp) -> dict[str, Any]:
    """A printed row and what was found of it."""
    told = asdict(found)
    told["match"]["rows"] = told["match"]["rows"].tolist()
    return told | {"claim_holds": found.claim_holds}


def _plain(value: Any) -> Any:
    """JSON without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else str(value)
    return value


if __name__ == "__main__":
    try:
        main()
    except TacitError as problem:
        # No data: the message says how to get them.
        print(problem, file=sys.stderr)
        raise SystemExit(3) from None
