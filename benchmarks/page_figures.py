"""Figures that pages state and no other script measures: what readers count, draws beside secrets, copies, thresholds.

Run by itself: .venv/bin/python benchmarks/page_figures.py [reading|draws|thresholds|unique|copies ...]

They stand in docs/sharp-edges.md, docs/howto/use-a-release.md and docs/howto/cells.md. Every draw is repeatable, so the
same Tacit prints the same figures.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from people_tables import PeopleTable, adult, compas, stays, taiwan

import tacit
from tacit.release.rules import ReleaseRules
from tacit.tables import open_table
from tacit.verbs.examples import CLINIC

Codes = NDArray[np.intp]
FEW = 40


def largest_risk(secret: pd.Series, released: pd.DataFrame) -> float:
    """The largest absolute log-lift, counted row by row beside the secrets."""
    joint = pd.crosstab(secret, [released[name] for name in released]).to_numpy() / len(secret)
    with np.errstate(divide="ignore"):
        lift = np.log(joint / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)))
    return float(np.abs(lift).max())


# ---- what a reader counts and averages ----


def reading() -> None:
    """Counts of categories and means by category, read from eight releases, beside the originals."""
    counts: list[float] = []
    means: list[float] = []
    all_counts = all_means = wrong = 0
    for make in (adult, compas, stays, taiwan):
        table = make()
        if table is None:
            print(f"{make.__name__}: not there (make peers)")
            continue
        for epsilon in (0.5, 1.0):
            with tempfile.TemporaryDirectory() as place:
                out = Path(place) / "release"
                columns = [*table.released, table.secret]
                tacit.protect(table.inside[columns], secret=table.secret, epsilon=epsilon, out=out)
                release = tacit.read(out)
                for name in categories(table):
                    truth = table.inside[name].astype(str).value_counts()
                    for one in release.counts(name):
                        if one.name not in truth:  # a range, or "any" where nothing is told
                            continue
                        true = int(truth[one.name])
                        wrong += not one.at_least <= true <= one.at_most
                        all_counts += 1
                        if one.records is not None:
                            counts.append(one.records / true - 1)
                    for number in numbers(table):
                        true_means = table.inside.groupby(table.inside[name].astype(str))[number].mean()
                        try:
                            groups = release.means(number, by=name)
                        except tacit.ArgumentError:  # the release tells nothing of the column
                            continue
                        for mean in groups:
                            if mean.name not in true_means:
                                continue
                            true_mean = float(true_means[mean.name])
                            wrong += not mean.at_least - 1e-9 <= true_mean <= mean.at_most + 1e-9
                            all_means += 1
                            if mean.mean is not None and true_mean:
                                means.append(mean.mean / true_mean - 1)
            print(
                f"{table.title} at {epsilon}: {all_counts} counts and {all_means} means so far, {wrong} out of bounds"
            )
    for what, errors, every in (("counts", counts, all_counts), ("means", means, all_means)):
        off = np.abs(errors)
        print(
            f"{what}: {len(errors)} of {every} estimated; off by {np.median(off):.1%} (half), "
            f"{np.quantile(off, 0.9):.1%} (nine in ten), {off.max():.1%} (worst); {np.mean(errors):+.1%} on average"
        )


def categories(table: PeopleTable) -> list[str]:
    """Released columns of few texts."""
    return [n for n in table.released if table.inside[n].dtype.kind not in "fiu" and table.inside[n].nunique() <= FEW]


def numbers(table: PeopleTable) -> list[str]:
    """Released columns of numbers."""
    return [name for name in table.released if table.inside[name].dtype.kind in "fiu"]


# ---- draws ----


def draws() -> None:
    """One draw of a mixture counted beside the secrets, ten times; and what the draw says to somebody who knows it."""
    clinic = CLINIC.sample(20_000, random_state=0).to_pandas()
    secret, released = clinic["illness"], clinic.drop(columns="illness")
    with tempfile.TemporaryDirectory() as place:
        for mechanism in ("optimal", "watchdog"):
            risks = []
            for state in range(10):
                out = Path(place) / f"{mechanism}{state}"
                asked = {} if mechanism == "optimal" else {"replacement": "resample"}
                made = tacit.protect(
                    clinic, secret="illness", epsilon=0.7, mechanism=mechanism, random_state=state, out=out, **asked
                )
                risks.append(largest_risk(secret, pd.read_parquet(next(out.glob("data.*")))))
            told = ", ".join(f"{risk:.2f}" for risk in sorted(risks))
            print(f"{mechanism}: attains {made.certificate.attained_epsilon:.2f}; counted in ten draws {told}")
        print(known_draw(Path(place) / "optimal0", secret, released))


def known_draw(out: Path, secret: pd.Series, released: pd.DataFrame) -> str:
    """The risk to a record from somebody who can draw again: which values would have become what is seen there?"""
    rules = ReleaseRules.load(out / "private" / "rules.json")
    key = bytes.fromhex((out / "private" / "key.txt").read_text().strip())
    seen = pd.read_parquet(next(out.glob("data.*")))
    kinds = released.value_counts().index
    joint = pd.crosstab(secret, [released[name] for name in released])[kinds].to_numpy() / len(secret)
    prior, possible = joint.sum(axis=1), np.zeros((len(kinds), len(seen)), dtype=bool)
    for place, kind in enumerate(kinds):
        # All rows with this one value: a row's draw depends on its number, its value and the key.
        rows = pa.table({name: [value] * len(seen) for name, value in zip(released, kind, strict=True)})
        drawn = rules.applied(open_table(rows), key)
        again = drawn.collected(drawn.rows).to_pandas()
        possible[place] = (again[list(seen)].astype(str) == seen.astype(str)).all(axis=1).to_numpy()
    posterior = joint @ possible
    posterior /= posterior.sum(axis=0)
    with np.errstate(divide="ignore"):
        risk = np.abs(np.log(posterior / prior[:, None])).max(axis=0)
    return (
        f"a draw that is known: largest risk {risk.max():.2f}, {np.mean(risk > 0.7 + 1e-9):.1%} of records beyond 0.7"
    )


# ---- thresholds of a number ----


def thresholds() -> None:
    """How many cells 5,000 incomes allow, by the share of records that an event must cover."""
    rng = np.random.default_rng(0)
    n = 5_000
    age, job = rng.integers(18, 70, n), rng.choice(["baker", "clerk", "nurse"], n)
    income = np.exp(6.9 + 0.01 * age + 0.2 * (job == "nurse") + 0.7 * rng.normal(size=n)).round()
    table = pd.DataFrame({"age": age, "job": job, "district": rng.choice(list("NESW"), n), "income": income})
    for share in (0.25, 0.2, 0.1, None):
        asked = {} if share is None else {"thresholds": share}
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "release"
            tacit.protect(table, secret="income", epsilon=0.5, out=out, **asked)
            cells = pd.read_parquet(next(out.glob("data.*"))).drop_duplicates()
        print(f"{'tenths' if share is None else share}: {len(cells)} cells")


# ---- records that are nearly all unique ----


def unique() -> None:
    """How many of 2,000 nearly unique records a mixture leaves as they were, and the watchdog."""
    rng = np.random.default_rng(0)
    ill = rng.random(2_000) < 0.4
    columns = {f"c{j}": rng.integers(0, 5, 2_000) + (ill & (rng.random(2_000) < 0.2)) for j in range(6)}
    table = pd.DataFrame({"ill": np.where(ill, "yes", "no")} | {name: c.astype(str) for name, c in columns.items()})
    alone = (~table.drop(columns="ill").duplicated(keep=False)).sum()
    for mechanism in ("optimal", "watchdog"):
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "release"
            made = tacit.protect(table, secret="ill", epsilon=0.5, mechanism=mechanism, random_state=0, out=out)
            after = pd.read_parquet(next(out.glob("data.*")))
        same = (after.astype(str) == table[list(after)]).all(axis=1).mean()
        print(
            f"{alone} of 2,000 unique: {mechanism} leaves {same:.1%}, attains {made.certificate.attained_epsilon:.2f}"
        )


# ---- the same person several times ----


def copies() -> None:
    """How often a shuffled secret is called a leak, with every row once and four times."""
    for times in (1, 4):
        leaks = 0
        for state in range(20):
            rng = np.random.default_rng(state)
            rows = {f"q{j}": rng.normal(size=250).round(3) for j in range(4)}
            table = pd.DataFrame(rows | {"s": rng.choice(["a", "b"], 250)})
            found = tacit.audit(pd.concat([table] * times), secret="s", estimator="trees", shuffles=19)
            leaks += found.verdict == "leak"
        print(f"every row {times} time{'s' * (times > 1)}: leak {leaks} of 20")


PARTS: dict[str, Callable[[], None]] = {
    "reading": reading,
    "draws": draws,
    "thresholds": thresholds,
    "unique": unique,
    "copies": copies,
}


def main() -> None:
    """The parts that are named, or all."""
    for name in sys.argv[1:] or PARTS:
        begun = time.process_time()
        PARTS[name]()
        print(f"({name}: {time.process_time() - begun:.0f} CPU s)", flush=True)


if __name__ == "__main__":
    main()
