"""An outside judge: Anonymeter's attacks, with people outside as their control group, on every mechanism.

    .venv/bin/python benchmarks/outside_judge.py                   what was not judged yet, then the table
    .venv/bin/python benchmarks/outside_judge.py --ways cells --again
    .venv/bin/python benchmarks/outside_judge.py --show            judge nothing; the table, also into README.md

Anonymeter 1.1.0 (Clear BSD, patent pending: used here unmodified, never imitated) pins numpy below 1.27 but runs with
ours; `make peers` installs it. It wants a table with the columns of the original. A release of ranges is handed to it
twice: with the usual value of each range (the middle, the commonest), and with one drawn from it. The worse risk of the
two counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from people_tables import TABLES, PeopleTable
from readings import Codes, TableReading, plain
from releases import WAYS, Way, made

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).with_name("README.md")
JUDGED = ("hospital", "adult")
EPSILON, LEAST = 0.5, 10
ATTACKS = 1_000
# This many ways to single somebody out are tried; with few different rows there are few.
ATTEMPTS = 20_000
KINDS = ("inference", "linkability", "singling out")


def judge(table: PeopleTable, way: Way, kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Attacks of these kinds on one release, by both readings of it."""
    reading = made(way, table, EPSILON, LEAST).reading
    original, control = (_as_frame(table, frame) for frame in (table.inside, table.outside))
    found = []
    for how, codes in (("usual", reading.usual()), ("drawn", reading.drawn(np.random.default_rng(0)))):
        released = _told(codes, reading)
        for kind in kinds:
            # Its attacks draw from numpy's global generator.
            np.random.seed(0)  # noqa: NPY002
            with warnings.catch_warnings():
                # It warns where an attack is no better than a blind guess, which is what we hope for.
                warnings.simplefilter("ignore")
                evaluator = _evaluator(kind, table, original, released, control)
                found.append({"kind": kind, "reading": how, **_result(evaluator)})
    return found


def _as_frame(table: PeopleTable, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: plain(frame[name]) for name in table.released})


def _told(codes: dict[str, Codes], reading: TableReading) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(reading.columns[name].of.values[codes[name]]) for name in codes})


def _evaluator(kind: str, table: PeopleTable, ori: pd.DataFrame, syn: pd.DataFrame, control: pd.DataFrame) -> Any:
    """An attack, done."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    words: dict[str, Any] = {"ori": ori, "syn": syn, "control": control, "n_attacks": ATTACKS}
    if kind == "inference":
        numeric = ori[table.wanted].dtype.kind in "fiu"
        guess = InferenceEvaluator(aux_cols=list(table.known), secret=table.wanted, regression=numeric, **words)
        return guess.evaluate(n_jobs=1)
    if kind == "linkability":
        half = (len(table.released) + 1) // 2
        halves = list(table.released[:half]), list(table.released[half:])
        return LinkabilityEvaluator(aux_cols=halves, n_neighbors=5, **words).evaluate(n_jobs=1)
    # Its correction for a smaller control group overshoots: it sees a risk of 0.10 in columns that were shuffled.
    words["ori"] = ori.sample(min(len(ori), len(control)), random_state=0)
    return SinglingOutEvaluator(n_cols=3, max_attempts=ATTEMPTS, seed=0, **words).evaluate(mode="multivariate")


def _result(evaluator: Any) -> dict[str, float]:
    result = evaluator.results()
    risk = result.risk()
    rates = {
        "attack": result.attack_rate.value,
        "control": result.control_rate.value,
        "blind": result.baseline_rate.value,
        "risk": risk.value,
        "low": risk.ci[0],
        "high": risk.ci[1],
    }
    return {name: round(float(value), 4) for name, value in rates.items()}


def show(results: list[dict[str, Any]]) -> str:
    """Markdown: mechanisms down, attacks across; the worse of both readings."""
    lines = []
    for name in JUDGED:
        here = [each for each in results if each["table"] == name]
        table = TABLES[name]() if here else None
        if table is None:
            continue
        kinds = [kind for kind in KINDS if kind in {each["kind"] for each in here}]
        said = {"inference": f"{table.wanted} inferred", "linkability": "linked", "singling out": "singled out"}
        titles = [said[kind] for kind in kinds]
        lines += [
            f"\n**{table.title}**, epsilon {EPSILON:g}, least {LEAST}; risk [95 %] (attack / control)\n",
            f"| mechanism | {' | '.join(titles)} |",
            "|---" * (len(titles) + 1) + "|",
        ]
        for way in WAYS:
            cells = []
            for kind in kinds:
                mine = [each for each in here if (each["way"], each["kind"]) == (way, kind)]
                cells.append(_shown(max(mine, key=lambda each: each["risk"])) if mine else "")
            if any(cells):
                lines.append(f"| {way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(found: dict[str, Any]) -> str:
    rates = f"({found['attack']:.2f} / {found['control']:.2f})"
    return f"{found['risk']:.2f} [{found['low']:.2f}, {found['high']:.2f}] {rates}"


def write(section: str) -> None:
    """Into README.md, between the marks."""
    marks = "<!-- outside judge: written by outside_judge.py -->", "<!-- end of outside judge -->"
    before, rest = PAGE.read_text().split(marks[0])
    PAGE.write_text(f"{before}{marks[0]}\n{section}\n\n{marks[1]}{rest.split(marks[1])[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(JUDGED), choices=list(TABLES))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS), metavar="WAY")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--wanted", metavar="COL", help="infer this column instead; printed, not kept")
    parser.add_argument("--again", action="store_true", help="judge anew what was judged")
    parser.add_argument("--show", action="store_true", help="judge nothing")
    words = parser.parse_args()
    done = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    if importlib.util.find_spec("anonymeter") is None and not words.show:
        print("anonymeter is not installed: nothing is judged anew")
        words.show = True
    # It warns that few ways to single somebody out were found, which is what we hope for.
    logging.disable(logging.WARNING)
    for name in [] if words.show else words.tables:
        table = TABLES[name]()
        if table is not None and words.wanted:
            other = replace(
                table, wanted=words.wanted, known=tuple(each for each in table.known if each != words.wanted)
            )
            for title in words.ways:
                print(name, title, words.wanted, *judge(other, WAYS[title], words.kinds), sep="\n", flush=True)
            continue
        for title in words.ways:
            mine = [
                each for each in done if (each["table"], each["way"]) == (name, title) and each["kind"] in words.kinds
            ]
            kinds = [kind for kind in words.kinds if words.again or kind not in {each["kind"] for each in mine}]
            if table is None or not WAYS[title].here or not kinds:
                continue
            mine = [each for each in mine if each["kind"] in kinds]
            found = [{"table": name, "way": title, **each} for each in judge(table, WAYS[title], kinds)]
            done = [each for each in done if each not in mine] + found
            RESULTS.write_text("".join(json.dumps(each) + "\n" for each in done))
            print(name, title, {(each["kind"], each["reading"]): each["risk"] for each in found}, flush=True)
    section = show(done)
    write(section)
    print(section)


if __name__ == "__main__":
    main()
