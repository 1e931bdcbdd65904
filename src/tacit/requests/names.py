"""The names a user may choose: of mechanisms, engines and estimators. Nothing is imported until one is used."""

from __future__ import annotations

from typing import NamedTuple


class MechanismChoice(NamedTuple):
    """Where the function of a mechanism is, and what it does, as written after its name in a help text.

    A ``coded`` one works on cells, of which there are few; the others on the cut values of the table.
    """

    place: str
    does: str
    coded: bool = False


# A new mechanism is one file and one line here; "auto" means the first.
MECHANISMS = {
    "cells": MechanismChoice(
        "tacit.lenses.table.mechanisms.cells:cells",
        "writes ranges and groups that enough people share, and draws nothing",
        coded=True,
    ),
    "cells+mix": MechanismChoice(
        "tacit.lenses.table.mechanisms.cells:mixed_cells", "makes finer cells and mixes those", coded=True
    ),
    "watchdog": MechanismChoice("tacit.lenses.table.mechanisms.watchdog:one_set", "merges one set of values"),
    "subsets": MechanismChoice("tacit.lenses.table.mechanisms.mixtures:several_sets", "merges several sets"),
    "optimal": MechanismChoice(
        "tacit.lenses.table.mechanisms.mixtures:optimal_mixture", "mixes values as little as epsilon allows"
    ),
}

# What is done to images and posts: a code is the default of both.
MEDIA = {
    "code": "writes one of a few pictures or topics for each image or post, with a ceiling for every adversary",
    "noise": "puts noise on the patches of images that give the secret away: an estimate, which certifies nothing",
    "mask": "hides the words of posts that give the secret away: an estimate, which certifies nothing",
}

# A new engine is one file and one line here; the first is the default.
ENGINES = {
    "duckdb": "tacit.tables.engines.duckdb:DuckDBEngine",
    "spark": "tacit.tables.engines.spark:SparkEngine",
}
# Those whose rows are spread over workers.
DISTRIBUTED = frozenset(("spark",))

# tacit.learn implements them.
ESTIMATORS = {
    "counts": "count every released value (smoothed); best for few values with many records each",
    "auto": "try counts, linear models, trees and nets, and blend them by their loss on held-out records",
    "linear": "penalised linear models of the columns and their products",
    "trees": "boosted trees with early stopping",
    "net": "small regularised neural nets",
    "neural": "larger neural nets, several per fold, with the papers' objectives",
}
