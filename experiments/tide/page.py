"""The page of the tide paper, from nothing but its results."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from experiments.figures import drawn
from experiments.paper import Page, Results, table
from experiments.tide import face_tables as tables
from experiments.tide.faces import SIZES, key
from experiments.tide.items import NO_DATA, TABLE_2, chance_of_table_2, items
from experiments.tide.patches import SHAPE
from experiments.tide.posts import NAMED
from tacit.lenses.images.images import patches, pixels_of
from tacit.report.charts.pictures import overlaid

# Bars a side of Figure 3, lambdas in the tables, and on the axes.
BARS, SHOWN_SCALES, TICKS = 12, (0.2, 0.5, 1.0, 5.0), (0.1, 0.2, 0.5, 1, 2, 5)


def page(results: Results) -> Page:
    """Texts, items and figures."""
    told, posts, known = results["faces"], results["posts"], results["gaussian"]
    texts = {
        "one_feature": _one_feature(known["one"]),
        "two_features": _two_features(known["two"]),
        "trimmed": _trimmed(known["trimmed"]),
        "learned": _learned(known["learned"]),
        "random": _random(known["random"]),
        "table_2": _table_2(),
        "small": _small(results["theorems"]["theorem_5"]),
    }
    figures = {"gaussian": _gaussian_figure(known)}
    parts = {
        "faces": tables.facts, "by_the_paper": tables.by_the_paper, "given_released": tables.given_released,
        "for_all": tables.for_all, "baselines": tables.baselines, "findings": tables.findings,
    }  # fmt: skip
    texts |= {name: part(told) if told else f"*Could not be had: {NO_DATA}.*" for name, part in parts.items()}
    parts = {"posts": _posts, "terms": _terms, "named": _named, "masking": _masking, "rules": _rules}
    texts |= {name: part(posts) if posts else f"*Could not be had: {NO_DATA}.*" for name, part in parts.items()}
    if told:
        figures |= {"heat": _heat(told), "released": _released(told)}
    if posts:
        figures |= {"figure3": _figure_3(posts), "masking": _masking_figure(posts)}
    return Page(texts=texts, items=items(results), figures=figures)


# ---- Gaussian records ---------------------------------------------------------------------------------------------


def _small(found: Results) -> str:
    rows = [(f"{n:,}", f"{error:.3f}") for n, error in zip(found["sizes"], found["errors"], strict=True)]
    return table(("records", "largest error, on average"), rows)


def _table_2() -> str:
    rows = [
        (
            f"{epsilon:g}", f"{emotion:.2f}", f"{their_emotion:.2f}", f"{emotion - their_emotion:+.2f}",
            f"{gender:.2f}", f"{their_gender:.2f}", f"{gender - their_gender:+.2f}",
            f"{chance_of_table_2(emotion):.2f}, {chance_of_table_2(gender):.2f}",
        )
        for epsilon, emotion, gender, their_emotion, their_gender in TABLE_2
    ]  # fmt: skip
    heads = ("ε", "emotion", "Bertran et al.", "less", "gender", "Bertran et al.", "less", "chance: emotion, gender")
    return table(heads, rows)


def _one_feature(one: Results) -> str:
    rows = [
        (
            each["words"], f"{each['epsilon']:g}", f"{row['scale']:g}", f"{row['noised']:.0%}",
            *(f"{row[name]:.3f}" for name in ("attained", "told", "printed", "repaired")),
            "**yes**" if row["told"] > row["printed"] else "",
        )
        for each in one.values()
        for row in each["curve"]
        if row["scale"] in SHOWN_SCALES
    ]  # fmt: skip
    head = (
        "records",
        "ε",
        "λ",
        "noised",
        "attained",
        "flag known",
        "θ(K, λ), printed",
        "repaired bound",
        "printed bound exceeded?",
    )
    return table(head, rows)


def _two_features(two: Results) -> str:
    rows = []
    for each in two.values():
        for raw, released in zip(each["raw prefix"], each["released prefix"], strict=True):
            if raw["scale"] in SHOWN_SCALES:
                rows.append(
                    (
                        each["words"], f"{raw['scale']:g}", f"{raw['attained']:.4f}", f"{released['attained']:.4f}",
                        f"{raw['printed']:.4f}", f"{released['repaired']:.4f}", f"{raw['raw']:.3f}",
                    )
                )  # fmt: skip
    head = (
        "features",
        "λ",
        "B_2 given raw",
        "B_2 given released",
        "2θ(K, λ), printed",
        "repaired bound",
        "no noise at all",
    )
    return table(head, rows)


def _random(random: Results) -> str:
    return (
        f"Of {random['populations']:,} random populations (two to four secrets, ε from 0.1 to 1.2, λ from 0.2 to 3) "
        f"{random['pass_printed']} exceed the printed bound, and {random['pass_repaired']} the repaired one, whose "
        f"median slack is {random['slack']:.2f}."
    )


def _trimmed(trimmed: Results) -> str:
    rows = [
        (name, f"{row['rms']:.3f}", f"{row['missed']:.1%}", f"{row['attained']:.4f}") for name, row in trimmed.items()
    ]
    return table(
        ("records, densities", "rms error of i(s; x2 given x1)", "leaks and not flagged", "E_γ attained"), rows
    )


def _learned(learned: Results) -> str:
    rows = [
        (
            f"{each['n']:,}", name,
            *(f"{row[value]:.2f}" for value in ("rms_first", "rms", "largest", "mean_lift")),
            *(f"{row[value]:.0%}" for value in ("first_noised", "missed", "needless")), f"{row['attained']:.3f}",
        )
        for each in learned
        for name, row in each.items()
        if name != "n"
    ]  # fmt: skip
    head = (
        "records", "estimator", "rms error of i(s; x1)", "of i(s; x2 given x1)", "its 95% quantile",
        "mean of e^g (is 1)", "x1 noised", "x2 leaks, not flagged", "x2 flagged, leaks not", "E_γ attained",
    )  # fmt: skip
    return table(head, rows)


def _gaussian_figure(known: Results) -> str:
    with drawn(panels=4, width=12, height=3.3) as (axes, drawing):
        for axis, each in zip(axes, known["one"].values(), strict=False):
            rows = each["curve"]
            scales = [row["scale"] for row in rows]
            axis.plot(scales, [row["told"] for row in rows], color="#2f62c9", label="attained")
            axis.plot(scales, [row["printed"] for row in rows], color="#b3261e", label="Theorem 3, printed")
            axis.plot(scales, [row["repaired"] for row in rows], color="#14713d", label="repaired")
            axis.set_title(each["words"], fontsize=8.5)
        copy = known["two"]["a copy"]
        scales = [row["scale"] for row in copy["raw prefix"]]
        lines = (
            ("raw prefix", "attained", "B given raw", "#2f62c9", "-"),
            ("released prefix", "attained", "B given released", "#2f62c9", "--"),
            ("raw prefix", "printed", "printed", "#b3261e", "-"),
            ("released prefix", "repaired", "repaired", "#14713d", "-"),
        )
        for prefix, value, label, colour, style in lines:
            axes[3].plot(scales, [row[value] for row in copy[prefix]], style, color=colour, label=label)
        axes[3].set_title(copy["words"], fontsize=8.5)
        for axis in axes:
            axis.set(xscale="log", xlabel="λ", ylim=(0, 1.03))
            axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axis.minorticks_off()
        axes[0].set_ylabel("E_γ")
        axes[0].legend(fontsize=7)
        axes[3].legend(fontsize=6.5, loc=(0.01, 0.5))
    return drawing.svg


# ---- pictures of faces, averages only -----------------------------------------------------------------------------


def _average(told: Any) -> Any:
    return np.frombuffer(base64.b64decode(told["average"]), np.uint8).reshape(SHAPE)


def _strip(pictures: list[Any]) -> str:
    titles = ["average face", *(f"{size} x {size}" for size in SIZES)]
    with drawn(panels=len(pictures), width=9.6, height=1.9) as (axes, drawing):
        for axis, picture, title in zip(axes, pictures, titles, strict=True):
            axis.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            axis.set_title(title)
            axis.axis("off")
    return drawing.svg


def _heat(told: Any) -> str:
    """Each size has its own scale: a small patch says less than a large one that holds it."""
    grey = _average(told)
    heats = [np.array(told["cells"][key("density", size)]["heat"]) for size in SIZES]
    return _strip([grey, *(overlaid(grey, heat, top=float(heat.max())) for heat in heats)])


def _released(told: Any) -> str:
    grey, shown = _average(told), []
    for size in SIZES:
        touched = np.array(told["cells"][key("mask", size)]["mask"])[patches(*SHAPE, size)]
        draws = np.random.default_rng(0).standard_normal(len(touched))
        shown.append(pixels_of(grey.ravel() / 255 + touched * draws, SHAPE))
    return _strip([grey, *shown])


# ---- posts --------------------------------------------------------------------------------------------------------


def _sides(posts: Any) -> dict[str, list[Any]]:
    secrets = sorted({term["secret"] for term in posts["figure3"]})
    return {secret: [term for term in posts["figure3"] if term["secret"] == secret][:BARS] for secret in secrets}


def _posts(posts: Any) -> str:
    tally = posts["verdicts"]
    return "\n".join(
        [
            f"- {posts['tweets']:,} tweets; {posts['terms_in_2']:,} terms in two or more, {posts['terms']:,} in five "
            f"or more; {posts['copies']:,} tweets are copies of others and count once.",
            f"- {posts['headline']}",
            f"- Of the terms {tally['real']:,} are real, {tally['noise']:,} are noise, and for "
            f"{tally['cannot tell']:,} nobody can tell.",
            "- CPU-seconds: " + "; ".join(f"{name} {value}" for name, value in posts["cpu_seconds"].items()) + ".",
        ]
    )


def _terms(posts: Any) -> str:
    sides = _sides(posts)
    rows = [
        [
            cell
            for t in pair
            for cell in (f"`{t['term']}`", t["posts"], f"{t['conditional']:.2f}", f"{t['log_lift']:.2f}")
        ]
        for pair in zip(*sides.values(), strict=False)
    ]
    return table([cell for side in sides for cell in (f"points to {side}", "tweets", "conditional", "alone")], rows)


def _named(posts: Any) -> str:
    rows = [
        (
            f"`{term}`",
            NAMED[term],
            found["side"],
            found["posts"],
            f"{found['conditional']:.2f}",
            f"{found['alone']:.2f}",
        )
        for term, found in posts["named"].items()
    ]
    return table(("term", "the paper's side", "ours", "tweets", "conditional", "alone"), rows)


def _masked_row(row: Any) -> list[str]:
    return [
        row["ranking"], f"{row['terms']:,}", f"{row['words_masked']:.1%}",
        *(f"{row[who]['right']:.1%}" for who in ("clean", "retrained", "chamber")),
    ]  # fmt: skip


def _masking(posts: Any) -> str:
    counts = sorted({row["terms"] for row in posts["masking"]})
    shown = {counts[0], *counts[-2:], 100}
    rows = [_masked_row(row) for row in posts["masking"] if row["terms"] in shown]
    return table(("ranking", "terms", "words masked", "clean-trained", "retrained", "chamber, retrained"), rows)


def _rules(posts: Any) -> str:
    head = ("rule", "terms", "words masked", "clean-trained", "retrained", "chamber, retrained")
    return table(head, [_masked_row(row) for row in posts["post_by_post"]])


def _figure_3(posts: Any) -> str:
    sides = _sides(posts)
    with drawn(panels=len(sides), height=3.4) as (axes, drawing):
        for axis, (side, terms), colour in zip(axes, sides.items(), ("#2f62c9", "#b3261e"), strict=True):
            axis.barh([t["term"] for t in reversed(terms)], [t["conditional"] for t in reversed(terms)], color=colour)
            axis.set(title=f"points to {side}", xlabel="mean of i(s; term given the words before), nats")
    return drawing.svg


def _masking_figure(posts: Any) -> str:
    names = list(dict.fromkeys(row["ranking"] for row in posts["masking"]))
    with drawn(panels=2) as (axes, drawing):
        for axis, who, words in zip(axes, ("clean", "retrained"), ("trained on clean posts", "retrained"), strict=True):
            for name in names:
                rows = sorted((row for row in posts["masking"] if row["ranking"] == name), key=lambda row: row["terms"])
                # Nothing masked is drawn at 1.
                axis.plot([max(row["terms"], 1) for row in rows], [row[who]["right"] for row in rows], ".-", label=name)
            axis.axhline(posts["prior_right"], color="#596270", linestyle=":", label="guessing")
            axis.set(xscale="log", title=words, xlabel="terms masked in every post (0 at the left)", ylim=(0.55, 0.86))
        axes[0].set_ylabel("party guessed right")
        axes[0].legend(fontsize=7)
    return drawing.svg
