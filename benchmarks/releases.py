"""Mechanisms that release a table of people: a name, and what makes a released frame of the original one.

A library for cells.py and outside_judge.py. Mondrian is anonypy's (`make peers`).

anonypy's t-closeness is left out: 0.2.1 overwrites its threshold (`p` in `is_t_close`) and compares with the share of
the last secret instead. In its place its search runs with a correct check, that of epsilon itself.

Looked for but not available here: ARX (Maven and its site are out of reach; on PyPI pyARXaaS and pyarx are clients of a
server that is not there, arx and arxpy are something else) and sdcMicro (Debian has no r-cran-sdcmicro; CRAN is out of
reach). What generalises whole columns by hierarchies, as ARX does, is in mechanisms_on_tables.py: anjana, and the best
of all such generalisations by exhaustive search.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from people_tables import PeopleTable
from readings import Codes, TableReading, Values, plain, read_drawn, read_levels, read_true

import tacit

PROTOTYPES = Path(os.environ.get("TACIT_DATA", "../shared/data")).parent / "prototypes" / "cells"
Making = Callable[[PeopleTable, float, int], pd.DataFrame]


@dataclass(frozen=True)
class Way:
    """A mechanism; ``true`` if what it writes is true of the person, ``asks`` for which settings it listens to."""

    make: Making
    true: bool
    asks: tuple[str, ...] = ("epsilon", "least")
    needs: str = ""

    @property
    def here(self) -> bool:
        if self.needs == "prototypes":
            return PROTOTYPES.exists()
        return not self.needs or importlib.util.find_spec(self.needs) is not None


@dataclass(frozen=True)
class MadeRelease:
    """A release, what it says, and the CPU seconds that it took."""

    frame: pd.DataFrame
    reading: TableReading
    cpu: float


def made(way: Way, table: PeopleTable, epsilon: float, least: int) -> MadeRelease:
    begun = time.process_time()
    frame = way.make(table, epsilon, least)
    cpu = time.process_time() - begun
    values = {name: Values.of(table.inside[name], table.outside[name]) for name in table.released}
    assert len(frame) == len(table.inside), "a release of other rows"
    if "code" in frame.attrs:
        reading = read_levels(frame, table.inside, values, frame.attrs["code"])
    else:
        reading = read_true(frame, table.inside, values) if way.true else read_drawn(frame, values)
    return MadeRelease(frame, reading, cpu)


def as_it_is(table: PeopleTable, _: float, __: int) -> pd.DataFrame:
    return table.inside[list(table.released)]


def shuffled(table: PeopleTable, _: float, __: int) -> pd.DataFrame:
    """Every column shuffled separately, which tells only what values there are: the floor of all measures."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {name: table.inside[name].iloc[rng.permutation(len(table.inside))].array for name in table.released}
    )


def mondrian(table: PeopleTable, _: float, least: int) -> pd.DataFrame:
    """Mondrian, only k-anonymity."""
    from anonypy.mondrian import Mondrian

    frame, columns = _as_anonypy_wants(table)
    return _boxes(frame, columns, Mondrian(frame, columns, table.secret).partition(k=least))


def mondrian_within(table: PeopleTable, epsilon: float, least: int) -> pd.DataFrame:
    """Mondrian whose parts must also be within epsilon: its search, our bound."""
    from anonypy.mondrian import Mondrian

    frame, columns = _as_anonypy_wants(table)
    secrets = pd.factorize(table.inside[table.secret])[0]
    prior = np.bincount(secrets) / len(secrets)

    class Bounded(Mondrian):  # type: ignore[misc]
        def is_valid(self, partition: pd.Index, k: int = 2, **_: Any) -> bool:
            if len(partition) < k:
                return False
            share = np.bincount(secrets[partition.to_numpy()], minlength=len(prior)) / len(partition)
            with np.errstate(divide="ignore"):
                return bool(np.abs(np.log(share / prior)).max() <= epsilon)

        def partition(self, k: int = 3, **_: Any) -> list[pd.Index]:
            # As anonypy's, which hands its limits on by place.
            self.is_valid = lambda part, k, *_: Bounded.is_valid(self, part, k)  # type: ignore[method-assign]
            return list(super().partition(k))

    return _boxes(frame, columns, Bounded(frame, columns, table.secret).partition(k=least))


def _as_anonypy_wants(table: PeopleTable) -> tuple[pd.DataFrame, list[str]]:
    frame = pd.DataFrame({name: plain(table.inside[name]) for name in table.released})
    for name in frame:
        if frame[name].dtype.kind not in "fiu":
            frame[name] = frame[name].astype("category")
    return frame.assign(**{table.secret: table.inside[table.secret]}), list(table.released)


def _boxes(frame: pd.DataFrame, columns: list[str], parts: list[pd.Index]) -> pd.DataFrame:
    """Every part written as anonypy does: least and largest number, or all categories that occur."""
    part = np.empty(len(frame), dtype=np.intp)
    for at, rows in enumerate(parts):
        part[rows.to_numpy()] = at
    return pd.DataFrame({name: _box(frame[name], part) for name in columns})


def _box(column: pd.Series, part: Codes) -> pd.Series:
    grouped = column.groupby(part)
    if column.dtype.kind in "fiu":
        low, high = grouped.transform("min"), grouped.transform("max")
        return low.astype(str) + " to " + high.astype(str)
    words = grouped.agg(lambda values: " or ".join(sorted(set(values))))
    return pd.Series(words.to_numpy()[part])


def by_tacit(mechanism: str, *, use: bool = False, known: bool = False, side: str = "epsilon") -> Making:
    """One of Tacit's mechanisms, as anybody would call it.

    With ``use`` it is told what the reader predicts, with ``known`` what a neighbour knows; ``side`` is the bound that
    is asked for.
    """

    def make(table: PeopleTable, epsilon: float, least: int) -> pd.DataFrame:
        asked: dict[str, Any] = {"secret": table.secret, side: epsilon, "mechanism": mechanism, "random_state": 0}
        if known:
            asked["known"] = list(table.known)
        columns = [*table.released, table.secret]
        if use:
            asked |= {"use": table.use, "released": list(table.released)}
            columns += [table.use] if table.use not in columns else []
        if mechanism.startswith("cells"):
            asked["least"] = least
        with tempfile.TemporaryDirectory() as place:
            out = Path(place) / "release"
            tacit.protect(table.inside[columns], **asked, out=out)
            release = pd.read_parquet(next(out.glob("data.*")))[list(table.released)]
            return _with_code(release, out) if mechanism.startswith("cells") else release

    return make


def _with_code(release: pd.DataFrame, out: Path) -> pd.DataFrame:
    """The release, with the code that was published with it."""
    from tacit.release.levels import read_code

    code = read_code(out)
    if code is not None and not code.numbers:
        release.attrs["code"] = code
    return release


def _sketch() -> ModuleType:
    """The prototype's cells.py, which has the name of a benchmark."""
    spec = importlib.util.spec_from_file_location("sketch_of_cells", PROTOTYPES / "cells.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prototype(table: PeopleTable, epsilon: float, least: int) -> pd.DataFrame:
    """The sketch behind THEORY.md section 8, by columns; a cell is written as the cuts on the way to it."""
    sketch = _sketch()
    frame = pd.DataFrame({name: plain(table.inside[name]) for name in table.released})
    secrets = pd.factorize(table.inside[table.secret], sort=True)[0]
    prior = np.bincount(secrets) / len(secrets)
    numbers = sketch.ordered(frame, secrets, np.arange(len(frame)))
    tree = sketch.grow_by_columns(numbers, secrets, len(prior), prior, epsilon, least=least)
    sides = {0: tuple((-np.inf, np.inf) for _ in frame)}
    written = np.empty(frame.shape, dtype=object)
    for at, rows in enumerate(sketch.nodes(tree, numbers)):
        if not tree[at]["kids"]:
            written[rows] = [f"{low} to {high}" for low, high in sides[at]]
            continue
        column, threshold = tree[at]["column"], tree[at]["threshold"]
        for kid, side in zip(tree[at]["kids"], (1, 0), strict=True):
            box = list(sides[at])
            box[column] = (box[column][0], threshold) if side else (threshold, box[column][1])
            sides[kid] = tuple(box)
    return pd.DataFrame(written, columns=frame.columns)


WAYS: dict[str, Way] = {
    "the table as it is": Way(as_it_is, True, ()),
    "columns shuffled": Way(shuffled, False, ()),
    "Mondrian, k": Way(mondrian, True, ("least",), "anonypy"),
    "Mondrian, k and epsilon": Way(mondrian_within, True, needs="anonypy"),
    "watchdog": Way(by_tacit("watchdog"), False, ("epsilon",)),
    "subsets": Way(by_tacit("subsets"), False, ("epsilon",)),
    "optimal": Way(by_tacit("optimal"), False, ("epsilon",)),
    "cells, prototype": Way(prototype, True, needs="prototypes"),
    "cells": Way(by_tacit("cells"), True, needs="tacit.codes"),
    "cells, use named": Way(by_tacit("cells", use=True), True, needs="tacit.codes"),
    "cells, neighbour known": Way(by_tacit("cells", known=True), True, needs="tacit.codes"),
    "cells, upper side alone": Way(by_tacit("cells", side="epsilon_high"), True, needs="tacit.codes"),
    "cells+mix": Way(by_tacit("cells+mix"), False, needs="tacit.codes"),
}
