"""Questions drawn at random, all of them valid: each ends in an answer or a refusal, and what is released is true."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tacit
from sizes import few, many
from tacit.codes.vectors.codebook import code_space
from tacit.errors import DataError, NotCertifiedError, TacitError

Rng = random.Random
Settings = dict[str, Any]

CELLS: tuple[Callable[[Rng, int], object], ...] = (
    lambda r, n: r.randrange(10),
    lambda r, n: r.randrange(-5, 5) * 10,
    lambda r, n: round(r.gauss(0, 10), 1),
    lambda r, n: math.exp(r.gauss(0, 3)),
    lambda r, n: r.choice("abc"),
    lambda r, n: r.choice(["low", "mid", "high", "n/a", "", "12", "É"]),
    lambda r, n: f"v{r.randrange(n)}",
    lambda r, n: f"{r.randrange(100_000):05}",
    lambda r, n: dt.date(2020, 1, 1) + dt.timedelta(days=r.randrange(1000)),
    lambda r, n: dt.datetime(2020, 1, 1) + dt.timedelta(minutes=r.randrange(10**6)),
    lambda r, n: r.random() < 0.5,
    lambda r, n: "x",
)
SECRETS: dict[str, Callable[[Rng], object]] = {
    "letter": lambda r: r.choice("xyz"),
    "bit": lambda r: r.random() < 0.3,
    "number": lambda r: round(r.gauss(50, 10), 1),
    "rare": lambda r: "sick" if r.random() < 0.02 else "well",
    "many": lambda r: f"s{r.randrange(12)}",
}


def perhaps(r: Rng, chance: float, **settings: Any) -> Settings:
    return settings if r.random() < chance else {}


def a_table(r: Rng, place: Path) -> tuple[Path, Settings, Settings]:
    """A small table, the question about it, and the settings of a release."""
    n, of_secret = r.choice([1, 2, 5, 20, 50, 120, 300]), r.choice(list(SECRETS))
    columns: dict[str, list[object]] = {}
    for at in range(r.randint(1, 4)):
        cell, lost = r.choice(CELLS), r.choice([0, 0, 0.02, 0.3])
        columns[f"c{at}"] = [None if r.random() < lost else cell(r, n) for _ in range(n)]
    columns["s"] = [SECRETS[of_secret](r) for _ in range(n)]
    if r.random() < 0.3:
        columns["c1"] = [secret if r.random() < 0.4 else None for secret in columns["s"]]
    question: Settings = {"secret": "s", **perhaps(r, 0.15, known="c0"), **perhaps(r, 0.15, use="c0")}
    if r.random() < 0.2:
        columns["w"] = [r.choice([0, 0.5, 1, 2]) for _ in range(n)]
        question["weight"] = "w"
    bound: Settings = r.choice(
        [
            {"epsilon": r.choice([0, 0.01, 0.1, 0.5, 1, 2])},
            {"epsilon_high": r.choice([0.1, 0.5, 2])},
            {"epsilon_low": r.choice([0.1, 3]), "epsilon_high": r.choice([0.2, 1])},
        ]
    )
    making = {
        **perhaps(r, 0.5, mechanism=r.choice(["cells", "cells+mix", "watchdog", "subsets", "optimal"])),
        **perhaps(r, 0.5, thresholds=r.choice([0.1, 0.25]) if of_secret == "number" else None),
        **perhaps(r, 0.1, confidence=r.choice([0.9, 0.99])),
        **perhaps(r, 0.1, delta=r.choice([0.01, 0.2])),
        **perhaps(r, 0.1, recode="global"),
        **perhaps(r, 0.1, write="means"),
        **perhaps(r, 0.1, keep_secret=True),
        "least": r.choice([1, 2, 5, 10, 50]),
    }
    path = place / f"t{r.choice(['.csv', '.parquet'])}"
    (pq.write_table if path.suffix == ".parquet" else pa.csv.write_csv)(pa.table(columns), path)
    return path, question, bound | making


def posts(r: Rng, place: Path) -> tuple[Path, Settings, Settings]:
    """A few posts of two parties, some of which say a word of their own."""
    n, words = r.choice([5, 40, 100, 300, 700]), [f"w{at}" for at in range(r.choice([3, 20, 100]))]
    party = [r.choice("LR") for _ in range(n)]
    said = [
        [
            *(["left" if own == "L" else "right"] if r.random() < 0.5 else []),
            *r.choices(words, k=r.choice([0, 1, 5, 12])),
        ]
        for own in party
    ]
    texts = [" ".join([*each, *(["@me", "#tag", "😀", "你好"] if r.random() < 0.1 else [])]) for each in said]
    table = {"text": texts, "party": party, "author": [f"a{at // 3}" for at in range(n)], "topic": r.choices("pq", k=n)}
    pa.csv.write_csv(pa.table(table), place / "posts.csv")
    return place / "posts.csv", {"text": "text", "secret": "party"}, in_codes(r, group="author", use="topic")


def images(r: Rng, place: Path) -> tuple[Path, Settings, Settings]:
    """A few small pictures, with a corner that may tell the label."""
    n, side, rng = r.choice([10, 60, 200, 500]), r.choice([4, 8]), np.random.default_rng(r.randrange(10**6))
    smile = rng.integers(0, r.choice([2, 3]), n)
    pixels = rng.normal(120, 30, (n, side, side))
    pixels[:, :2, :2] += r.choice([0, 40, 90]) * smile[:, None, None]
    others = {"turn": rng.integers(0, 2, n), "person": np.arange(n) // 2}
    np.savez(place / "faces.npz", x=pixels.clip(0, 255).astype(np.uint8), smile=smile, **others)
    return place / "faces.npz", {"secret": "smile"}, in_codes(r, group="person", use="turn")


def vectors(r: Rng, place: Path) -> tuple[Path, Settings, Settings]:
    """A few vectors, the first number of which may tell the label."""
    n, size, rng = r.choice([10, 60, 300, 900]), r.choice([1, 2, 20]), np.random.default_rng(r.randrange(10**6))
    smile = rng.integers(0, r.choice([2, 4]), n)
    rows = rng.normal(size=(n, size))
    rows[:, 0] += r.choice([0, 1, 3]) * smile
    others = {"turn": r.choices("ab", k=n), "person": [f"p{at // 2}" for at in range(n)]}
    pq.write_table(pa.table({"v": list(rows), "smile": smile.astype(str), **others}), place / "v.parquet")
    return place / "v.parquet", {"vector": "v", "secret": "smile"}, in_codes(r, group="person", use="turn")


def in_codes(r: Rng, **columns: str) -> Settings:
    bound = {
        **perhaps(r, 0.7, ceiling=r.choice([0.4, 0.55, 0.6, 0.7, 0.9])),
        **perhaps(r, 0.4, epsilon=r.choice([0.1, 2])),
    }
    named = {name: column for name, column in columns.items() if r.random() < 0.2}
    return {**bound, **named, "least": r.choice([1, 2, 5, 10])}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(many(3, 400)))
@pytest.mark.parametrize("medium", [a_table, posts, images, vectors])
def test_any_question_ends_in_an_answer_or_a_refusal_and_what_is_released_holds(
    medium: Callable[[Rng, Path], tuple[Path, Settings, Settings]], seed: int, tmp_path: Path
) -> None:
    r = random.Random(seed)
    source, question, settings = medium(r, tmp_path)
    with suppress(TacitError):
        assert str(tacit.audit(source, **question))
    made = None
    with suppress(TacitError):
        made = tacit.protect(source, **question, **settings, random_state=seed, out=tmp_path / "release")
    assert (tmp_path / "release").exists() == (made is not None)
    if made is None:
        return
    assert str(made)
    assert tacit.verify(tmp_path / "release", against=source).verdict == "holds"
    with suppress(TacitError):
        assert str(tacit.attack(tmp_path / "release", against=source))
    # What is drawn keeps the bound on average over draws, not in the file.
    in_cells = medium is a_table and settings.get("mechanism", "cells") == "cells"
    if in_cells and not {"weight", "thresholds", "delta"} & {*question, *settings}:
        recount(source, tmp_path / "release", question, settings, made.certificate.attained_epsilon)


def recount(source: Path, release: Path, question: Settings, settings: Settings, attained: float) -> None:
    """Nobody stands alone in the file, and no cell says more about the secret than the certificate does."""
    read = pq.read_table if source.suffix == ".parquet" else pa.csv.read_csv
    (data,) = release.glob("data.*")
    rows = read(data)
    told = rows.drop_columns(["s"]) if "s" in rows.column_names else rows
    cells = [tuple(row.values()) for row in told.to_pylist()]
    secrets = read(source).column("s").to_pylist()
    assert len(cells) == len(secrets)
    alike = Counter(cells)
    assert min(alike.values()) >= min(settings["least"], len(cells))
    if "known" in question:
        return
    own, both = Counter(secrets), Counter(zip(secrets, cells, strict=True))
    high = settings.get("epsilon", settings.get("epsilon_high", math.inf))
    low = settings.get("epsilon", settings.get("epsilon_low", math.inf))
    for secret, cell in ((secret, cell) for secret in own for cell in alike):
        share = both[secret, cell] * len(cells) / (own[secret] * alike[cell])
        assert share <= math.exp(min(high, attained if high < math.inf else math.inf)) * (1 + 1e-9)
        assert low == math.inf or share >= math.exp(-min(low, attained)) * (1 - 1e-9)


@pytest.mark.parametrize("people", few([50, 51, 60]))
def test_an_attack_on_a_secret_that_one_person_has_ends_in_an_answer(people: int, tmp_path: Path) -> None:
    r = random.Random(people)
    letters = {name: r.choices("abc", k=people) for name in "cd"}
    table = pa.table({**letters, "s": ["sick", *["well"] * (people - 1)]})
    tacit.protect(table, secret="s", epsilon=3, least=2, out=tmp_path / "release")
    found = tacit.attack(tmp_path / "release", against=table)
    assert f"guesses {1 - 1 / people:.1%} of secrets right" in found.headline


@pytest.mark.parametrize("records", [1, 2, 3])
def test_too_few_records_to_choose_and_to_prove_are_refused_with_the_way_out(records: int) -> None:
    table = pa.table({"c": ["a"] * records, "s": [1.5 * at for at in range(records)]})
    with pytest.raises((NotCertifiedError, DataError), match=r"leave out confidence|only one value"):
        tacit.protect(table, secret="s", thresholds=0.25, epsilon=1, confidence=0.9)


def test_a_use_that_does_not_vary_among_the_vectors_that_make_codes_is_passed_over() -> None:
    vectors, secret = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 2
    alone = code_space(vectors, secret, None, random_state=0)
    beside = code_space(vectors, secret, np.zeros(9, int), random_state=0)
    assert np.array_equal(beside(vectors), alone(vectors))
