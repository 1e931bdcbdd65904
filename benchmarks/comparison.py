"""What other tools say about one table and its releases: Adult, 10,000 people, 7 columns, the secret is sex.

    .venv/bin/python benchmarks/comparison.py          the tables of docs/comparison.md

Needs pycanon (installed by `make test`), anonypy (`make peers`) and OpenDP (by hand: pip install opendp).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable

import numpy as np
import pandas as pd
from people_tables import TABLES, PeopleTable
from pycanon import anonymity
from releases import as_it_is, by_tacit, mondrian

# The counts that a reader asks for: how many people of each age group work in each occupation.
AGES = [0, 25, 35, 45, 55, 200]


def judged(table: PeopleTable, release: pd.DataFrame) -> dict[str, float]:
    """What pycanon says about a release with the secret added, and what counting says."""
    columns = list(table.released)
    beside = release[columns].astype(str).reset_index(drop=True)
    beside["secret"] = table.inside[table.secret].astype(str).to_numpy()
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
        "cells, 0.5 nats, least 10 (Tacit)": lambda: by_tacit("cells")(table, 0.5, 10),
    }
    print("| release | k | l | t | delta | largest risk | people beyond 0.5 nats |\n|---|---|---|---|---|---|---|")
    for name, make in ways.items():
        said = judged(table, make())
        numbers = " | ".join(f"{said[key]:.3g}" for key in ("k", "l", "t", "delta", "largest risk"))
        print(f"| {name} | {numbers} | {said['beyond 0.5']:.0%} |")
    truth = counts(table)
    for dp_epsilon in (0.1, 1.0):
        errors = [np.abs(noisy(truth, dp_epsilon) - truth).to_numpy().mean() for _ in range(20)]
        print(f"OpenDP, dp_epsilon {dp_epsilon:g}: {truth.size} counts off by {np.mean(errors):.1f} people on average")


if __name__ == "__main__":
    main()
