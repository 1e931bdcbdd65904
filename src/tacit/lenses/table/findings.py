"""The parts of an audit: each turns a joint into something a person can read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress, RiskHistogram
from tacit.lenses.histograms import histogram_of
from tacit.lenses.table.results import ColumnLeak, MeasureFinding, RiskyValue, SafeShare
from tacit.lenses.table.tabulating import Counted
from tacit.lift import MEASURES, Joint, Matrix, Vector, entropy, log_lift, risk, shuffles
from tacit.tables.symbols import Codes, Symbols, in_order

# Tables of more cells than this are shuffled while others are measured; for smaller ones threads are not worth it.
AHEAD = 100_000


@dataclass(frozen=True)
class ColumnGroups:
    """Which released values agree on one column (``alone``), and which agree on all the others (``others``).

    ``others`` is None if no two do: then the others say all that the whole row does.
    """

    name: str
    alone: Codes
    others: Codes | None

    def joint_without(self, counts: Matrix) -> Joint:
        """The joint of the secret and all columns but this one."""
        return Joint.from_counts(counts if self.others is None else _grouped(counts, self.others))


@dataclass(frozen=True)
class Shuffled:
    """Every measure, and every column's leak alone and of all others, over the shuffles of the secret."""

    n: int
    measures: dict[str, Vector]
    alone: dict[str, Vector]
    others: dict[str, Vector]


def column_groups(symbols: Symbols) -> tuple[ColumnGroups, ...]:
    """The groupings by each released column and by its complement."""
    codes = symbols.codes
    tell = _telling(codes)
    return tuple(
        ColumnGroups(
            name,
            np.ascontiguousarray(codes[:, j]),
            None if tell[j] else in_order(np.delete(codes, j, axis=1))[1],
        )
        for j, name in enumerate(symbols.columns)
    )


def _telling(codes: Codes) -> list[bool]:
    """For each column, whether the others tell all values apart; False if that was not established.

    A value is hashed to a sum of random numbers, one per column. If all sums differ, all values differ, whatever the
    random numbers; and one subtraction gives the sum without a column, with no need to read all columns again. If half
    of the columns tell all values apart, the columns of the other half need no check of their own.
    """
    rng = np.random.default_rng(0)
    terms = [
        rng.integers(0, 2**64, int(column.max(initial=0)) + 1, dtype=np.uint64)[column]
        if len(column)
        else np.zeros(0, np.uint64)
        for column in codes.T
    ]
    halves = [np.sum(terms[start::2], axis=0, dtype=np.uint64) for start in (0, 1) if terms[start::2]]
    # A column of one half is not needed if the other half tells all values apart.
    needless = [_all_differ(np.asarray(half)) for half in reversed(halves)] if len(halves) > 1 else [False]
    summed = np.sum(halves, axis=0, dtype=np.uint64)
    return [needless[j % 2] or _all_differ(summed - terms[j]) for j in range(len(terms))]


def _all_differ(numbers: NDArray[np.uint64]) -> bool:
    ordered = np.sort(numbers)
    return bool((ordered[1:] != ordered[:-1]).all())


def _measures_of(table: Matrix) -> dict[str, float]:
    # A drawn table may lack a value or a secret altogether (weights, huge tables); it then has no lift to speak of.
    some = table.sum(axis=1) > 0, table.sum(axis=0) > 0
    joint = Joint.from_counts(table if all(map(np.all, some)) else table[np.ix_(*some)])
    return {measure.name: float(measure.function(joint)) for measure in MEASURES.values()}


def shuffled(
    counted: Counted, groups: Sequence[ColumnGroups], *, n: int, random_state: int, progress: Progress
) -> Shuffled:
    """Measure ``n`` tables whose secrets were shuffled."""
    seeds = shuffles.seeds(n, random_state=random_state)
    effective = counted.counts.effective_records if counted.question.weight else None

    def drawn(seed: np.random.SeedSequence) -> Matrix:
        return shuffles.shuffled_counts(counted.table, random_state=seed, effective_records=effective)

    done, columns = [], shuffles.Groupings.of([group.alone for group in groups])
    for table in _ahead(drawn, seeds) if counted.table.size > AHEAD else map(drawn, seeds):
        alone = dict(zip((group.name for group in groups), columns.informations(table), strict=True))
        whole = shuffles.plug_in_information(table)
        others = {group.name: _of_others(table, group, whole) for group in groups}
        done.append((_measures_of(table), alone, others))
        progress("shuffling", len(done) / n)
    over_shuffles = zip(*done, strict=True)
    return Shuffled(n, *({name: np.array([each[name] for each in part]) for name in part[0]} for part in over_shuffles))


def _ahead(
    drawn: Callable[[np.random.SeedSequence], Matrix], seeds: Sequence[np.random.SeedSequence]
) -> Iterator[Matrix]:
    """The tables of the seeds, in order; the next two are drawn while one is measured."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        waiting = deque(pool.submit(drawn, seed) for seed in seeds[:2])
        for at in range(len(seeds)):
            table = waiting.popleft().result()
            waiting.extend(pool.submit(drawn, seed) for seed in seeds[at + 2 : at + 3])
            yield table


def _grouped(counts: Matrix, group: Codes) -> Matrix:
    return shuffles.grouped(counts, group, int(group.max(initial=0)) + 1)


def _information(counts: Matrix, group: Codes) -> float:
    return shuffles.plug_in_information(_grouped(counts, group))


def _of_others(counts: Matrix, group: ColumnGroups, whole: float) -> float:
    return whole if group.others is None else _information(counts, group.others)


def measure_findings(joint: Joint, null: Shuffled) -> tuple[MeasureFinding, ...]:
    """Every measure, next to what shuffled secrets give."""
    leaks_by_column = []
    for measure in MEASURES.values():
        value, ceiling = float(measure.function(joint)), float(measure.ceiling(joint))
        band = shuffles.null_band(value, null.measures[measure.name].tolist(), ceiling=ceiling)
        leaks_by_column.append(
            MeasureFinding(
                name=measure.name,
                title=measure.title,
                value=value,
                ceiling=ceiling,
                null_low=band.low,
                null_high=band.high,
                p_value=band.p_value,
                verdict=band.verdict,
                meaning=measure.meaning,
                unit=measure.unit,
            )
        )
    return tuple(leaks_by_column)


def column_leaks(counted: Counted, groups: Sequence[ColumnGroups], null: Shuffled) -> tuple[ColumnLeak, ...]:
    """What each column gives away alone and on top of the others, and what remains when it is left out."""
    counts, ceiling = counted.table, entropy(counted.joint.prior)
    whole = shuffles.plug_in_information(counts)
    by_itself = shuffles.Groupings.of([group.alone for group in groups]).informations(counts)
    leaks, as_it_is = [], _safe_share(counted.joint)
    for group, alone in zip(groups, by_itself.tolist(), strict=True):
        others = _of_others(counts, group, whole)
        alone_band = shuffles.null_band(alone, null.alone[group.name].tolist(), ceiling=ceiling)
        added = null.measures["mutual_information"] - null.others[group.name]
        leaks.append(
            ColumnLeak(
                name=group.name,
                alone=alone,
                alone_null=alone_band.high,
                alone_verdict=alone_band.verdict,
                given_others=max(whole - others, 0.0),
                given_others_null=shuffles.quantile(np.sort(added), 0.95),
                left_out=others,
                safe_share_without=as_it_is if group.others is None else _safe_share(group.joint_without(counts)),
            )
        )
    return tuple(leaks)


def _safe_share(joint: Joint) -> float:
    return float(joint.marginal[risk(joint) <= 1.0].sum())


def risk_histogram(joint: Joint, *, beside: RiskHistogram | None = None) -> RiskHistogram:
    """Share of records by the risk of their released value, in the bins of another histogram if one is given."""
    return histogram_of(risk(joint), joint.marginal, beside=beside)


def safe_shares(joint: Joint, epsilons: Sequence[float]) -> tuple[SafeShare, ...]:
    """How much of the table is within each epsilon, and what skipping zero cells would make of it."""
    lifts = np.abs(log_lift(joint))
    risks = lifts.max(axis=0)
    skipping = np.where(np.isfinite(lifts), lifts, 0.0).max(axis=0)
    return tuple(
        SafeShare(
            epsilon=epsilon,
            records=float(joint.marginal[risks <= epsilon].sum()),
            values=float((risks <= epsilon).mean()),
            records_skipping_zero_cells=float(joint.marginal[skipping <= epsilon].sum()),
        )
        for epsilon in sorted(set(epsilons))
    )


def riskiest(counted: Counted, *, n: int) -> tuple[RiskyValue, ...]:
    """The ``n`` riskiest released values, the more frequent first among equals, and why they are risky."""
    lifts = log_lift(counted.joint)
    order = np.lexsort((-counted.joint.marginal, -np.abs(lifts).max(axis=0)))[:n]
    return tuple(_risky_value(counted, int(x), lifts[:, x]) for x in order)


def _risky_value(counted: Counted, x: int, lifts: Vector) -> RiskyValue:
    joint, symbols = counted.joint, counted.symbols
    # Among secrets that are ruled out, the commonest says most.
    s = int(np.lexsort((joint.prior, np.abs(lifts)))[-1])
    contributions = chain_rule(counted.table, symbols.codes, x=x, s=s)
    loudest = int(np.argmax(np.abs(contributions)))
    return RiskyValue(
        values=symbols.values(x),
        records=float(counted.table[:, x].sum()),
        secret=counted.labels[s],
        prior=float(joint.prior[s]),
        posterior=float(joint.matrix[s, x] / joint.marginal[x]),
        log_lift=float(lifts[s]),
        risk=float(np.abs(lifts).max()),
        contributions=tuple(zip(symbols.columns, contributions, strict=True)),
        p_chance=_chance(counted.evidence, x, s),
        why=f"{_why(counted, x, s)}; most of it comes from {shown(symbols, x, loudest)}",
    )


def chain_rule(counts: Matrix, codes: Codes, *, x: int, s: int) -> list[float]:
    """i(s; x_j | x_1 ... x_{j-1}) for each column j; the terms add up to i(s; x).

    After a term of minus infinity (the secret is ruled out) nothing more can be learned of it: later terms are zero.
    """
    agree = np.arange(len(codes))
    before, terms = 0.0, []
    total, of_secret = counts.sum(), counts[s].sum()
    for j in range(codes.shape[1]):
        agree = agree[codes[agree, j] == codes[x, j]]
        here = counts[s, agree].sum()
        if here == 0:
            terms.append(-np.inf if np.isfinite(before) else 0.0)
            before = -np.inf
            continue
        now = float(np.log(here * total / (of_secret * counts[:, agree].sum())))
        terms.append(now - before)
        before = now
    return terms


def _chance(counts: Matrix, x: int, s: int) -> float:
    """Probability that shuffling gives this value a count as extreme for some secret (two-sided, Bonferroni)."""
    total, size, of_secret = round(counts.sum()), round(counts[:, x].sum()), round(counts[s].sum())
    chance = shuffles.chance_of_count(round(counts[s, x]), size=size, successes=of_secret, total=total)
    return min(1.0, len(counts) * chance)


def _why(counted: Counted, x: int, s: int) -> str:
    joint, label = counted.joint, counted.labels[s]
    prior, posterior = float(joint.prior[s]), float(joint.matrix[s, x] / joint.marginal[x])
    shares = f"{percent(posterior)} against {percent(prior)}"
    certain = np.flatnonzero(joint.matrix[:, x] == joint.marginal[x])
    if len(certain):
        return f"every one of the {counted.table[:, x].sum():,.0f} records here is {counted.labels[int(certain[0])]}"
    if posterior == 0:
        return f"nobody here is {label}, though {percent(prior)} of all records are"
    if posterior > prior:
        return f"{label} is {posterior / prior:.2g} times as common here as overall ({shares})"
    return f"{label} is {prior / posterior:.2g} times as rare here as overall ({shares})"


def percent(share: float) -> str:
    """A share with two significant digits, so that a rare secret does not read as 0%."""
    return f"{100 * share:.2g}%" if share < 0.1 else f"{share:.0%}"


def shown(symbols: Symbols, x: int, column: int) -> str:
    """One cell of a released value in words."""
    name, value = list(symbols.values(x).items())[column]
    return f"{name} missing" if value is None else f"{name} = {value}"
