"""Small tables with known leaks, for the tests of the workflows."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Columns = Mapping[str, Sequence[Any]]


def clinic(n: int = 2000, *, random_state: int = 0, missing: float = 0.0) -> dict[str, list[Any]]:
    """Illness leaks through the ward, a little through the age, not at all through the district."""
    return {name: list(column) for name, column in _clinic(n, random_state, missing).items()}


@cache
def _clinic(n: int, random_state: int, missing: float) -> dict[str, list[Any]]:
    """Drawn once: most tests begin with the same clinic."""
    rng = np.random.default_rng(random_state)
    illness = rng.choice(["none", "diabetes", "asthma"], size=n, p=[0.6, 0.25, 0.15])
    ward_given = {"none": [0.9, 0.05, 0.05], "diabetes": [0.7, 0.29, 0.01], "asthma": [0.7, 0.01, 0.29]}
    age_given = {"none": [0.4, 0.4, 0.2], "diabetes": [0.25, 0.4, 0.35], "asthma": [0.45, 0.35, 0.2]}
    ward = _drawn(rng, ["general", "endocrine", "lung"], ward_given, illness)
    age: list[Any] = _drawn(rng, ["18-39", "40-59", "60+"], age_given, illness)
    district = rng.choice(["north", "east", "south"], size=n).tolist()
    if missing:
        age = [None if gone else value for value, gone in zip(age, rng.random(n) < missing, strict=True)]
    return {"illness": illness.tolist(), "age": age, "ward": ward, "district": district}


def _drawn(rng: np.random.Generator, values: Sequence[str], given: Mapping[str, list[float]], s: Any) -> list[str]:
    """A value for each secret, by its shares; what ``rng.choice`` would draw one by one, in a hundredth of the time."""
    ends = {secret: np.cumsum(shares) / np.cumsum(shares)[-1] for secret, shares in given.items()}
    at = (np.array([ends[secret] for secret in s]) <= rng.random(len(s))[:, None]).sum(axis=1)
    return [values[k] for k in at]


def patients(n: int = 600, *, random_state: int = 0, shuffled: bool = False) -> dict[str, list[Any]]:
    """The clinic with an income that is different in nearly every row and tells diabetes; some cells are missing."""
    columns = clinic(n, random_state=random_state, missing=0.1)
    rng = np.random.default_rng(random_state + 1)
    income = rng.normal(1000, 200, size=n) + np.where(np.array(columns["illness"]) == "diabetes", 300, 0)
    gone = rng.random(n) < 0.05
    columns["income"] = [None if absent else f"{value:.1f}" for value, absent in zip(income, gone, strict=True)]
    if shuffled:
        columns["illness"] = rng.permutation(columns["illness"]).tolist()
    return columns


def write_csv(path: Path, columns: Columns, *, delimiter: str = ",") -> Path:
    """The columns as a CSV; None is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read_csv(path: Path) -> dict[str, list[str]]:
    """A CSV as columns of text."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = list(csv.reader(file))
    return {name: [row[at] if row else "" for row in rows] for at, name in enumerate(names)}


def rules_in(release: Path) -> dict[str, Any]:
    """The rules that a release keeps for its owner."""
    return json.loads((release / "private" / "rules.json").read_text("utf-8"))


def symbols_of(rules: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The released values that some rules know, in their order."""
    levels = [column["levels"] for column in rules["symbols"]["columns"]]
    return [tuple(levels[c][k] for c, k in enumerate(code)) for code in rules["symbols"]["codes"]]


def merged_in(release: Path) -> list[tuple[Any, ...]]:
    """The values that a release merged into one set."""
    rules = rules_in(release)
    symbols = symbols_of(rules)
    return [symbols[k] for k in rules["treatment"]["merged"]]


def joint_of(columns: Columns, secret: str, released: Sequence[str]) -> tuple[np.ndarray, dict[tuple[Any, ...], int]]:
    """The joint by a loop over rows: slow and obviously right."""
    secrets = sorted(set(columns[secret]))
    values = sorted(set(zip(*(columns[name] for name in released), strict=True)), key=repr)
    place = {value: at for at, value in enumerate(values)}
    counts = np.zeros((len(secrets), len(values)))
    for s, *x in zip(columns[secret], *(columns[name] for name in released), strict=True):
        counts[secrets.index(s), place[tuple(x)]] += 1
    return counts / counts.sum(), place
