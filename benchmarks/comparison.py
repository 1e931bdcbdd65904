"""What other tools say about one table and its releases: Adult, 10,000 people, 7 columns, the secret is sex.

    .venv/bin/python benchmarks/comparison.py          the tables of docs/comparison.md

Needs pycanon (installed by `make test`), and anonypy, anjana, OpenDP and Presidio (`make peers`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from people_tables import TABLES, PeopleTable
from pycanon import anonymity
from releases import as_it_is, by_tacit, mondrian

# The counts that a reader asks for: how many people of each age group work in each occupation.
AGES = [0, 25, 35, 45, 55, 200]
# Where anjana may cut numbers, from fine to coarse; words are told or not, and at most 5 % of the records are left out.
STEPS = {
    "age": (5, 10, 20, 40),
    "education-num": (2, 4, 8),
    "hours-per-week": (10, 20, 40),
    "capital-gain": (1_000, 10_000),
}
LEFT_OUT = 5
PRESIDIO = Path(__file__).with_name("data") / "presidio"


def judged(table: PeopleTable, release: pd.DataFrame) -> dict[str, float]:
    """What pycanon says about a release with the secret added, and what counting says."""
    columns = list(table.released)
    beside = release[columns].astype(str)
    beside["secret"] = table.inside[table.secret].astype(str).loc[beside.index].to_numpy()
    # pycanon reads an index as places.
    beside = beside.reset_index(drop=True)
    classes = beside.groupby(columns)["secret"].value_counts().unstack(fill_value=0)
    prior = beside["secret"].value_counts(normalize=True)[classes.columns].to_numpy()
    with np.errstate(divide="ignore"):
        risk = np.abs(np.log(classes.to_numpy() / classes.sum(axis=1).to_numpy()[:, None] / prior)).max(axis=1)
    people = classes.sum(axis=1).to_numpy()
    return {
        "k": anonymity.k_anonymity(beside, columns),
        "l": anonymity.l_diversity(beside, columns, ["secret"]),
        "t": anonymity.t_closeness(beside, columns, ["secret"]),
        "delta": anonymity.delta_disclosure(beside, columns, ["secret"]),
        "largest risk": risk.max(),
        "beyond 0.5": people[risk > 0.5 + 1e-9].sum() / people.sum(),
    }


def by_anjana(table: PeopleTable, least: int) -> pd.DataFrame:
    """k-anonymity by anjana: whole columns are generalised, and records that are left over are left out."""
    from anjana.anonymity import k_anonymity

    columns = list(table.released)
    frame = table.inside[columns].astype(object)
    frame["row"] = frame.index
    hierarchies = {}
    for name in columns:
        values = list(frame[name].unique())
        coarser = [[f"{value // step * step}+" for value in values] for step in STEPS.get(name, ())]
        steps = [values, *coarser, ["*"] * len(values)]
        hierarchies[name] = {at: pd.Series(step, dtype=object) for at, step in enumerate(steps)}
    # It prints as it goes, and was written for pandas 2, where text is in arrays of objects.
    with redirect_stdout(io.StringIO()), pd.option_context("future.infer_string", False):
        release = k_anonymity(frame, [], columns, least, LEFT_OUT, hierarchies)
    return release.set_index(release["row"].astype(int))


def by_presidio(table: PeopleTable) -> dict[str, list[list[object]]]:
    """What Presidio finds in the values of each column, and how many people have it."""
    values = {name: table.inside[name].astype(str).value_counts().to_dict() for name in table.released}
    columns = PRESIDIO.with_name("presidio.json")
    columns.write_text(json.dumps(values), "utf-8")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("presidio_alone.py")), str(columns)],
        env={**os.environ, "PYTHONPATH": str(PRESIDIO)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[list[object]]] = json.loads(done.stdout)
    return found


def counts(table: PeopleTable) -> pd.DataFrame:
    ages = pd.cut(table.inside["age"].astype(float), AGES, right=False)
    return pd.crosstab(ages, table.inside["occupation"].astype(str))


def noisy(truth: pd.DataFrame, dp_epsilon: float) -> pd.DataFrame:
    """OpenDP's answer to the same counts; one person changes one count by one."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    answer = dp.binary_search_chain(lambda scale: space >> dp.m.then_laplace(scale), d_in=1, d_out=dp_epsilon)
    released = answer([int(each) for each in truth.to_numpy().ravel()])
    return pd.DataFrame(np.reshape(released, truth.shape), index=truth.index, columns=truth.columns)


def main() -> None:
    table = TABLES["adult"]()
    assert table is not None, "Adult is not here"
    ways: dict[str, Callable[[], pd.DataFrame]] = {
        "the table as it is": lambda: as_it_is(table, 0.5, 10),
        "Mondrian, k = 10 (anonypy)": lambda: mondrian(table, 0.5, 10),
        "k = 10 (anjana)": lambda: by_anjana(table, 10),
        "cells, 0.5 nats, least 10 (Tacit)": lambda: by_tacit("cells")(table, 0.5, 10),
    }
    titles = (
        "release",
        "people",
        "rows that differ",
        "k",
        "l",
        "t",
        "delta",
        "largest risk",
        "beyond 0.5 nats",
        "CPU s",
    )
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    for name, make in ways.items():
        begun = process_time()
        release = make()
        took = process_time() - begun
        said, rows = judged(table, release), len(release[list(table.released)].astype(str).drop_duplicates())
        numbers = " | ".join(f"{said[key]:.3g}" for key in ("k", "l", "t", "delta", "largest risk"))
        print(
            f"| {name} | {len(release):,} | {rows:,} | {numbers} | {said['beyond 0.5']:.0%} | {took:.1f} |", flush=True
        )
    print("Presidio, without a language model:", by_presidio(table) if PRESIDIO.exists() else "not installed")
    truth = counts(table)
    for dp_epsilon in (0.1, 1.0):
        errors = [np.abs(noisy(truth, dp_epsilon) - truth).to_numpy().mean() for _ in range(20)]
        print(f"OpenDP, dp_epsilon {dp_epsilon:g}: {truth.size} counts off by {np.mean(errors):.1f} people on average")


if __name__ == "__main__":
    main()
