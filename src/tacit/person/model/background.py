"""Background statistics: how surprising a value is, what a record tells beyond it, and what two labels share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import ArgumentError, DataError
from tacit.person.model.comparing import Places, compare
from tacit.person.model.labels import Correlated, Label, Labels
from tacit.person.model.records import Record, Reference


def prior_of(counts: Mapping[str, float], label: Label | None = None) -> dict[str, float]:
    """Probabilities of values from how often they occur, in the form in which the label compares them.

    Examples
    --------
    >>> prior_of({"Smith": 3, "Garcia": 1})
    {'Smith': 0.75, 'Garcia': 0.25}
    """
    meant: dict[str, float] = {}
    for place, (value, count) in enumerate(counts.items(), start=1):
        if not (math.isfinite(count) and count >= 0):
            raise DataError(f"count {place} of the background is {count:g}: counts are finite and 0 or more")
        form = label.meant(value) if label is not None else value
        meant[form] = meant.get(form, 0.0) + float(count)
    total = math.fsum(meant.values())
    if total <= 0:
        raise DataError("the counts of the background add to 0: give at least one value that occurs")
    return {value: count / total for value, count in meant.items() if count > 0}


def surprisal(label: Label, value: str) -> float:
    """-log2 of the value's prior probability, in bits: what is left to learn for somebody who knows the population."""
    if label.prior is None:
        raise ArgumentError("the label has no prior: give the probabilities or counts of its values")
    return replace(label, weight=1.0).weigh(value)


def bits(record: Record, reference: Reference, labels: Labels) -> float:
    """What the record tells about the person beyond background statistics, in bits.

    The sum over the facts of the reference of max(0, log2(confidence / prior)), where the confidence is that of the
    attribute that states the fact best (times its similarity if it is only near). If the confidence is the
    probability of the true value given what was seen, the term is its log-lift (`tacit.log_lift`) in bits instead of
    nats: 0 if the record says no more than the population does, at most the surprisal of the value. Labels without a
    prior are left out; weights do not matter.
    """
    compared = compare(record, reference, labels)
    best: dict[int, float] = {}
    for place in np.flatnonzero(compared.hit >= 0).tolist():
        fact = int(compared.hit[place])
        label, value = reference.facts[fact]
        believed, how = float(compared.confidence[place]), labels[label]
        if how.prior is None:
            continue
        if compared.kinds[place] == "near" and how.similarity is not None:
            believed *= float(how.similarity(how.meant(record.attributes[place].value), how.meant(value)))
        best[fact] = max(best.get(fact, 0.0), believed)
    gains = [
        surprisal(labels[reference.facts[fact][0]], reference.facts[fact][1]) + math.log2(believed)
        for fact, believed in best.items()
        if believed > 0
    ]
    return math.fsum(max(0.0, gain) for gain in gains)


def entropy_bits(values: Iterable[Hashable]) -> float:
    """Entropy of the values' frequencies, in bits."""
    counts = np.array(list(Counter(values).values()), dtype=np.float64)
    if len(counts) == 0:
        raise DataError("no values to take the entropy of: give at least one")
    shares = counts / counts.sum()
    return float(max(0.0, -np.sum(shares * np.log2(shares))))


@dataclass(frozen=True)
class SharedWeights:
    """What two labels say separately and what they say in common, in bits: the paper's A, P and J."""

    first: float
    second: float
    shared: float

    def labels(self, first: str, second: str) -> Labels:
        """The two labels with these weights, correlated."""
        own = {first: Label(weight=self.first), second: Label(weight=self.second)}
        return Labels(own, correlated=[Correlated((first, second), self.shared)])


def shared_weights(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    random_state: int | np.random.Generator,
    permutations: int = 20,
) -> SharedWeights:
    """Weights of two correlated labels from a table of people: H(A) - I, H(P) - I and I.

    Parameters
    ----------
    first, second : sequences of equal length
        The two values of every person.
    random_state : int or Generator
        For the permutations.
    permutations : int
        Entropies of samples make labels with many values look dependent: even postcodes and states dealt to people at
        random share some plug-in information. So the average information that remains after shuffling the second
        column is subtracted.

    Returns
    -------
    SharedWeights
        All 0 or more; ``first + shared`` is the entropy of the first column and ``second + shared`` of the second.
    """
    if len(first) != len(second):
        raise ArgumentError(f"the columns have {len(first)} and {len(second)} values: give one pair per person")
    if permutations < 1:
        raise ArgumentError(f"permutations is {permutations}: give 1 or more")
    rng = np.random.default_rng(random_state)
    one, two = _codes(first), _codes(second)
    alone, other = entropy_bits(one.tolist()), entropy_bits(two.tolist())
    together = _joint_entropy(one, two)
    by_chance = [_joint_entropy(one, rng.permutation(two)) for _ in range(permutations)]
    shared = min(max(0.0, float(np.mean(by_chance)) - together), alone, other)
    return SharedWeights(alone - shared, other - shared, shared)


def _codes(values: Sequence[Hashable]) -> Places:
    number_of: dict[Hashable, int] = {}
    return np.array([number_of.setdefault(value, len(number_of)) for value in values], dtype=np.intp)


def _joint_entropy(one: Places, two: Places) -> float:
    return entropy_bits((one * (int(two.max(initial=0)) + 1) + two).tolist())
