"""The page of the watchdog paper, from nothing but its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.figures import drawn
from experiments.paper import Item, Page, Results, table
from experiments.watchdog.data import CLAIMS, RACES
from experiments.watchdog.learning import (
    AUTO,
    PAPER,
    PAPER_ONE_HOT,
    PAPER_SLOW,
    PAPER_UNSCALED,
    PAPER_UNSCALED_SLOW,
    RELU,
)
from experiments.watchdog.run import BOX, EPSILONS

# Shown as "near 0" by the tables' own words; what it allows the other log-lift is computed.
NEAR_ZERO = 0.1
PARTS = {"train": "training", "test": "held out"}
FIRST, SECOND = "#2f62c9", "#c2781d"


def page(results: Results) -> Page:
    """Texts, items and figures."""
    return Page(
        texts={
            "records": _records(results["records"]),
            "estimators": _estimators(results["estimators"]),
            "curve": _curve(results),
            "tradeoff": _tradeoff(results["tradeoff"]),
            "rows": _rows(results["rows"]),
            "consistency": _consistency(results["consistency"]),
        },
        items=_items(results),
        figures={"figure1": _figure_1(results), "figure2": _figure_2(results)},
    )


def _scores(results: Results) -> dict[tuple[str, str], Any]:
    return {(each["name"], each["normalised"]): each for each in results["estimators"]}


# ---- items --------------------------------------------------------------------------------------------------------


def _items(results: Results) -> list[Item]:
    by, trades = _scores(results), results["tradeoff"]
    auto, paper, slow, relu = by[AUTO, "record"], by[PAPER, "none"], by[PAPER_SLOW, "none"], by[RELU, "record"]
    train, rows = trades[f"{AUTO}, train"], results["rows"]
    first, last = results["consistency"][0], results["consistency"][-1]
    ours_first = (
        f"{auto['mean']['value']:.3f} nats by auto ({auto['mean']['low']:.3f} to {auto['mean']['high']:.3f}); "
        f"the paper's network {paper['dv_test']:.3f}, or {slow['dv_test']:.3f} if Adagrad begins at TensorFlow's 0.1"
    )
    return [
        Item.checked(
            "Section IV, data",
            "5278 samples",
            f"{sum(results['records']['of_each']):,} by ProPublica's own filter",
            holds=sum(results["records"]["of_each"]) == 5278,
            why="another filter",
        ),
        Item.checked(
            "Figure 1: race leaks",
            "log-lifts up to about 1 either side",
            ours_first,
            holds=auto["mean"]["low"] > 0 and auto["verdict"] == "leak",
            why="no leak was found",
        ),
        Item.checked(
            "Figure 1: the dots are log-lifts",
            "outputs of the network are read as i(s,x)",
            f"Σ p(s) e^i(s,x) is {np.exp(paper['off_median']):.2f} (scaled numbers) or "
            f"{np.exp(by[PAPER_UNSCALED, 'none']['off_median']):.2f} (unscaled), and must be 1",
            holds=abs(paper["off_median"]) < 0.01,
            why="the objective leaves a constant free, and training leaves it where it happens to be",
        ),
        Item(
            "Figures 1 and 2, their pictures",
            "two plots",
            "ours, with the numbers",
            "not available",
            "the authors' code, split and random numbers are not public, so our figures cannot be laid over theirs",
        ),
        Item.checked(
            "Figure 2: best near ε = 0.3",
            "beyond that leakage grows, but utility does not",
            f"by the printed γ there is a bend at {train['bend']['epsilons']:.2f}; by the exact value utility keeps "
            f"growing, from {train['at']['0.3']['utility']:.1f} to {train['at']['0.85']['utility']:.1f} nats at 0.85",
            holds=train["at"]["0.85"]["utility"] - train["at"]["0.3"]["utility"] < 0.1,
            why="the bend belongs to the bound, not to the data",
        ),
        Item.checked(
            "Appendix E, ReLU network for p(S|X)",
            "trained, but the paper does not say what for",
            f"DV {relu['dv_test']:.3f} held out, calibrated in {relu['bins_inside']} of {relu['bins']} bins",
            holds=relu["dv_test"] > 0.5 * paper["dv_test"],
            why="it finds less than the network for log-lift",
        ),
        _item_table_1(rows),
        Item.checked(
            "Table II",
            CLAIMS["II"],
            _signs(rows, "II"),
            holds=all(_claim(row).startswith("yes") for row in rows if row["table"] == "II"),
            why="auto sees the reverse in the others, within its interval",
        ),
        Item.checked(
            "Tables III and IV",
            f"{CLAIMS['III']}; {CLAIMS['IV']}",
            "with two secrets i(0,x) = 0 if and only if i(1,x) = 0",
            holds=False,
            why="no record can be like that; a constant left in the outputs makes ordinary records look like it",
        ),
        Item.checked(
            "Lemma 2, Proposition 3",
            "the estimator comes as close as one likes with probability 1 for large n",
            f"raw: RMSE {first['raw'][0]:.2f} at n = {first['n']:,}, {last['raw'][0]:.2f} at {last['n']:,}; normalised "
            f"{first['normalised'][0]:.2f} and {last['normalised'][0]:.2f}",
            holds=last["raw"][0] < 0.5 * first["raw"][0] and last["raw"][0] < 1.2 * last["normalised"][0],
            why="the maximiser is unique only up to a constant; and the probability is 1 for no finite n",
        ),
        Item.checked(
            "Proposition 2",
            "γ bounds the leakage of the release",
            f"true, but infinite from ε = {train['last_finite']['epsilons']:.2f} on here, where the exact value is "
            f"{train['last_finite']['leakage']:.2f}",
            holds=False,
            why="valid but loose: its two terms use only ε and P(X_ε); the exact value costs no more",
        ),
        Item.checked(
            "Lemma 1 (2), long version",
            "P(s|x)/P(s|x') ≤ e^ε",
            "more than ε is attained, up to 2ε: the example below",
            holds=False,
            why="the short version has e^2ε, which is right",
        ),
    ]


def _item_table_1(rows: Sequence[Any]) -> Item:
    words = [row["words"] for row in rows if row["table"] == "I"]
    odd = [each for each in words if " C " in each or int(each.split()[2].rstrip(",")) > 40]
    return Item.checked(
        "Table I against the text",
        "“young males with a high prior count and high recidivism risk score”",
        f"{_signs(rows, 'I')}; not as the text says: {'; '.join(odd)}",
        holds=not odd,
        why="some rows of the table are neither young nor have many priors, and one is Caucasian",
    )


def _signs(rows: Sequence[Any], name: str) -> str:
    here = [row for row in rows if row["table"] == name]
    agree, sure = sum(_claim(row).startswith("yes") for row in here), sum(_claim(row) == "yes" for row in here)
    return f"auto agrees on the sign in {agree} of {len(here)} rows, beyond its 95% interval in {sure}"


def _claim(row: Results) -> str:
    """Whether auto sees what the table claims; Tables III and IV claim what no lift can be.

    The two log-lifts have opposite signs, so that it is beyond doubt as soon as one interval leaves 0 out.
    """
    if row["table"] not in ("I", "II"):
        return "cannot be"
    says = row["auto"][0] > 0 if row["table"] == "I" else row["auto"][1] > 0
    sure = any(low > 0 or high < 0 for low, high in zip(row["low"], row["high"], strict=True))
    return ("yes" if says else "no, the reverse") + ("" if sure else ", in doubt")


# ---- texts --------------------------------------------------------------------------------------------------------


def _records(data: Results) -> str:
    n, (first, second) = sum(data["of_each"]), data["of_each"]
    ceilings = -np.log(np.array(data["of_each"]) / n)
    return "\n".join(
        [
            f"- {n:,} records: {first:,} {RACES[0]} (S = 0), {second:,} {RACES[1]} (S = 1); {data['train']:,} to learn "
            f"from, {data['test']:,} held out.",
            f"- {data['values']:,} distinct released values, {data['of_one_person']:,} of them held by one person: "
            "counting says next to nothing here.",
            f"- The file has {data['in_file']:,} records of the two races; ProPublica's own filter leaves {n:,}, the "
            f"paper's number, with {data['missing']} missing cells: that filter seems to be what the paper calls "
            "dropping incomplete records.",
            f"- Log-lift cannot exceed -log p(s): i(0,x) ≤ {ceilings[0]:.3f}, i(1,x) ≤ {ceilings[1]:.3f}. The side "
            f"i(0,x) ≤ {BOX} of the paper's box therefore never binds.",
            f"- Times in jail are on a 12-hour clock without a.m. and p.m. (all hours lie between {data['hours'][0]} "
            f"and {data['hours'][1]}), so {data['left_before_they_came']} people leave before they arrive. The "
            "difference of *dates*, which we use, is never negative. The difference of times cut down to whole days "
            f"(what pandas' `.dt.days` gives) is -1 for those people and differs for {data['other_stay']:.0%} of all.",
        ]
    )


def _estimators(scores: Sequence[Any]) -> str:
    words = {"none": "no", "constant": "constant", "record": "per record"}
    rows = [
        (
            s["name"],
            words[s["normalised"]],
            f"{s['dv_train']:.3f}",
            f"{s['dv_test']:.3f}",
            f"{s['mean']['value']:.3f} ({s['mean']['low']:.3f} to {s['mean']['high']:.3f})",
            f"{s['verdict']} (p = {s['p_value']:.3f})",
            f"{s['bins_inside']} of {s['bins']}",
            f"{s['off_rms']:.3f}" if s["off_rms"] > 1e-9 else "0",
            f"{s['cpu_seconds']:.1f}",
        )
        for s in scores
    ]
    mean = "mean log-lift of the true secret, held out (95%)"
    head = (
        "estimator",
        "normalised",
        "DV, training",
        "DV, held out",
        mean,
        "verdict",
        "calibrated bins",
        "off, RMS",
        "CPU-s",
    )
    return table(head, rows)


def _curve(results: Results) -> str:
    by, (p0, p1) = _scores(results), results["prior"]
    ranges = "; ".join(
        f"{np.exp(by[name, 'none']['off_range'][0]):.2f} to {np.exp(by[name, 'none']['off_range'][1]):.2f} ({name})"
        for name in (PAPER, PAPER_UNSCALED, PAPER_ONE_HOT)
    )
    auto, c = by[AUTO, "record"], by[PAPER, "none"]["off_median"]
    return "\n".join(
        [
            f"- Σ p(s) e^i(s,x) must be 1. For the raw networks it is {ranges}. For auto it is 1, up to rounding.",
            f"- With p₀ = {p0:.4f}, p₁ = {p1:.4f} among the training records: |i(0,x)| ≤ {NEAR_ZERO} leaves i(1,x) "
            f"between {_other(p0, p1, NEAR_ZERO):.2f} and {_other(p0, p1, -NEAR_ZERO):.2f}; |i(1,x)| ≤ {NEAR_ZERO} "
            f"leaves i(0,x) between {_other(p1, p0, NEAR_ZERO):.2f} and {_other(p1, p0, -NEAR_ZERO):.2f}.",
            f"- A constant c left in the outputs moves the curve by c along both axes. For the raw network ({PAPER}) "
            f"the median c is {c:+.2f}: it shows i(1,x) = {np.log((np.exp(c) - p0) / p1):+.2f} where i(0,x) = 0.",
            f"- auto's log-lifts of all records: i(0,x) from {auto['smallest'][0]:.2f} to {auto['largest'][0]:.2f}, "
            f"i(1,x) from {auto['smallest'][1]:.2f} to {auto['largest'][1]:.2f}; {results['outside_box']:.1%} of the "
            f"records lie outside the box of {BOX}. The paper's network, normalised per record, differs from auto by "
            f"{results['apart']:.2f} nats (root mean square).",
        ]
    )


def _other(own: float, other: float, lift: float) -> float:
    """The log-lift of the other secret, given that of one: own e^lift + other e^i = 1."""
    return float(np.log((1 - own * np.exp(lift)) / other))


def _tradeoff(trades: Results) -> str:
    rows = []
    for epsilon in EPSILONS:
        cells: list[str] = [f"{epsilon:g}"]
        for part in PARTS:
            at = trades[f"{AUTO}, {part}"]["at"][f"{epsilon:g}"]
            beyond = " **> ε**" if at["merged_risk"] > epsilon else ""
            merged = f"{at['merged_risk']:.2f}{beyond}"
            cells += [f"{at['kept_share']:.0%}", f"{at['utility']:.2f}", _or_infinite(at["gamma"]), merged]
        rows.append(cells)
    head = [
        "ε",
        *(f"{name}, {words}" for words in PARTS.values() for name in ("kept", "I(X;Y)", "γ printed", "merged set")),
    ]
    lines = []
    for part, words in PARTS.items():
        t = trades[f"{AUTO}, {part}"]
        lines.append(
            f"- auto, {words}: H(X) = {t['end']['utility']:.2f} nats. At ε = 0.3 the watchdog keeps "
            f"{t['at']['0.3']['kept_share']:.0%} of the records; everything from ε = {t['end']['epsilons']:.2f} on. γ "
            f"bends at ε = {t['bend']['epsilons']:.2f} (γ = {_or_infinite(t['bend']['gamma'])}) and is infinite from "
            f"{t['last_finite']['epsilons']:.2f} on."
        )
    for name in (PAPER, PAPER_UNSCALED, PAPER_UNSCALED_SLOW):
        t = trades[f"{name}, train"]
        lines.append(
            f"- {name}, unnormalised, training: {t['at']['0.3']['kept_share']:.0%} kept at ε = 0.3, everything from ε "
            f"= {t['end']['epsilons']:.2f} on."
        )
    return table(head, rows) + "\n\n" + "\n".join(lines)


def _rows(rows: Sequence[Any]) -> str:
    lines = [
        (
            row["table"],
            row["words"],
            "{} + {}".format(*row["by_date"]),
            "{} + {}".format(*row["by_time"]),
            row["stay"],
            *(f"{row['auto'][s]:+.2f} ({row['low'][s]:+.2f} to {row['high'][s]:+.2f})" for s in (0, 1)),
            "{:+.2f}, {:+.2f}".format(*row["paper"]),
            "{:+.2f}, {:+.2f}".format(*row["unscaled"]),
            _claim(row),
        )
        for row in rows
    ]
    head = ("table", "sex race age, priors, stay, score", "by date", "by time", "stay used", "auto i(0,x) (95%)")
    head += ("auto i(1,x) (95%)", "DV scaled, raw", "DV unscaled, raw", "claim holds")
    by_time, by_date = (sum(row[way][0] > 0 for row in rows) for way in ("by_time", "by_date"))
    said = [
        f"- Of {len(rows)} printed rows, {by_time} are in the data with the printed race if a stay is cut down to "
        f"whole days (by time), {by_date} if dates are subtracted (by date)."
    ]
    for name in ("III", "IV"):
        here, s = [row for row in rows if row["table"] == name], int(name == "IV")
        near = sum(abs(row["auto"][s]) <= NEAR_ZERO for row in here)
        others = [row["auto"][1 - s] for row in here]
        said.append(
            f"- Table {name} ({CLAIMS[name]}): auto finds |i({s},x)| ≤ {NEAR_ZERO} in {near} of {len(here)} rows; the "
            f"other log-lift lies between {min(others):+.2f} and {max(others):+.2f}."
        )
    return table(head, lines) + "\n\n" + "\n".join(said)


def _consistency(rows: Sequence[Any]) -> str:
    cells = [
        (
            f"{row['n']:,}",
            f"{row['constant']:+.2f}",
            *(f"{row[k][0]:.3f} ({row[k][1]:.2f})" for k in ("raw", "normalised", "auto")),
        )
        for row in rows
    ]
    return table(("records", "constant left, median", "paper's network, raw", "the same, normalised", "auto"), cells)


def _or_infinite(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "∞"


# ---- figures ------------------------------------------------------------------------------------------------------


def _figure_1(results: Results) -> str:
    titles = {
        "paper": "(a) the paper's network, numbers scaled",
        "unscaled": "(b) the same, as they are",
        "auto": "(c) auto",
    }
    marks = {"I": ("o", "#14713d"), "III": ("^", "#a02c8c"), "IV": ("s", "#0f7c8a")}
    p0, p1 = results["prior"]
    with drawn(panels=3, width=11, height=4.4) as (axes, drawing):
        for axis, (name, title) in zip(axes, titles.items(), strict=True):
            cloud = results["clouds"][name]
            for dots, colour, race in zip(cloud["dots"], (FIRST, SECOND), RACES, strict=True):
                axis.plot(*np.array(dots).T, ".", markersize=2.5, color=colour, alpha=0.5, label=race, rasterized=True)
            i0 = np.linspace(-2.5, -np.log(p0) - 1e-4, 400)
            axis.plot(i0, np.log((1 - p0 * np.exp(i0)) / p1), color="#1b2027", linewidth=1, label="where log-lifts lie")
            axis.plot(
                np.array([-1, 1, 1, -1, -1]) * BOX,
                np.array([-1, -1, 1, 1, -1]) * BOX,
                "--",
                color="#b3261e",
                linewidth=1,
            )
            for number_, (mark, colour) in marks.items():
                points = np.array([row[name] for row in results["rows"] if row["table"] == number_])
                axis.plot(
                    *points.T, mark, markersize=5, markerfacecolor="white", color=colour, label=f"Table {number_}"
                )
            axis.set(title=title, xlabel=f"i(0,x): {RACES[0]}, nats", xlim=(-2.2, 1.6), ylim=(-2.6, 1.8))
        axes[0].set_ylabel(f"i(1,x): {RACES[1]}, nats")
        axes[0].legend(loc="lower left", fontsize=7)
    return drawing.svg


def _figure_2(results: Results) -> str:
    lines = {
        f"{AUTO}, train": (FIRST, "-", "auto, training"),
        f"{AUTO}, test": (FIRST, "--", "auto, held out"),
        f"{PAPER}, train": (SECOND, "-", "the paper's network (scaled), training"),
        f"{PAPER}, test": (SECOND, "--", "the paper's network (scaled), held out"),
    }
    panels = {"gamma": "(a) the paper's γ; infinite drawn at 4", "leakage": "(b) the exact value"}
    with drawn(panels=2, width=10, height=4) as (axes, drawing):
        for axis, (of, title) in zip(axes, panels.items(), strict=True):
            for name, (colour, style, label) in lines.items():
                line = results["tradeoff"][name]["line"]
                # The last point keeps everything: there is no merged set any more, and no bound on it.
                values = [min(v, 4.0) for v in line[of][:-1]]
                axis.plot(values, line["utility"][:-1], style, color=colour, label=label)
            trade = results["tradeoff"][f"{AUTO}, train"]
            for epsilon in ("0.1", "0.2", "0.3", "0.5", "0.85"):
                at = trade["at"][epsilon]
                place = (min(at[of], 4.0), at["utility"])
                axis.plot(*place, "o", color=FIRST, markersize=4)
                axis.annotate(f"ε = {epsilon}", place, textcoords="offset points", xytext=(6, -9), fontsize=7)
            axis.set(
                title=title, xlabel="leakage: bound on abs(log-lift), nats", xlim=(-0.05, 4.1 if of == "gamma" else 2.2)
            )
        axes[0].set_ylabel("utility I(X;Y), nats")
        axes[1].legend(loc="lower right", fontsize=7)
    return drawing.svg
