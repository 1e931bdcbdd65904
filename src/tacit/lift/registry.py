"""The measures of a whole release by name: what each number means, and how large it could be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from tacit.lift import measures
from tacit.lift.joint import Joint

Unit = Literal["nats", "probability", "1"]


@dataclass(frozen=True)
class Measure:
    """A leakage measure: a number for a joint, larger when the release says more.

    ``ceiling`` gives the largest value the measure can take for this prior of the secret, whatever is released:
    that of releasing the secret itself.
    """

    name: str
    title: str
    unit: Unit
    formula: str
    meaning: str
    function: Callable[[Joint], float]
    ceiling: Callable[[Joint], float]


def _sum_of_powers(joint: Joint, power: float) -> float:
    return float((joint.prior**power).sum())


_ALL = (
    Measure(
        name="risk",
        title="Largest risk",
        unit="nats",
        formula="max over s, x of |log P(s,x) / (P(s) P(x))|",
        meaning="Whatever the adversary sees, no secret becomes likelier or less likely by more than a factor of e "
        "to this number. Infinite if some released value rules a secret out.",
        function=lambda joint: float(measures.risk(joint).max()),
        ceiling=lambda joint: np.inf if len(joint.prior) > 1 else 0.0,
    ),
    Measure(
        name="pointwise_maximal_leakage",
        title="Pointwise maximal leakage",
        unit="nats",
        formula="max over s, x of log P(s,x) / (P(s) P(x))",
        meaning="The worst single released value makes some secret likelier by a factor of e to this number. Ruling "
        "secrets out is not counted.",
        function=lambda joint: float(measures.pointwise_maximal_leakage(joint).max()),
        ceiling=lambda joint: float(-np.log(joint.prior.min())),
    ),
    Measure(
        name="local_dp",
        title="Local differential privacy",
        unit="nats",
        formula="max over s, x, x' of log P(s|x) / P(s|x')",
        meaning="Between two released values, the adversary's belief in a secret differs by at most a factor of e to "
        "this number. Infinite if one value rules out a secret that another allows.",
        function=measures.local_dp,
        ceiling=lambda joint: np.inf if len(joint.prior) > 1 else 0.0,
    ),
    Measure(
        name="maximal_leakage",
        title="Maximal leakage",
        unit="nats",
        formula="log sum over x of max over s of P(x|s)",
        meaning="An adversary who sees the release guesses any function of the secret better than one who does not "
        "by a factor of at most e to this number, on average over releases.",
        function=measures.maximal_leakage,
        ceiling=lambda joint: float(np.log(len(joint.prior))),
    ),
    Measure(
        name="mutual_information",
        title="Mutual information",
        unit="nats",
        formula="sum over s, x of P(s,x) log P(s,x) / (P(s) P(x))",
        meaning="How much an average record says about the secret. A small value can hide a few records that say "
        "everything.",
        function=measures.mutual_information,
        ceiling=lambda joint: measures.entropy(joint.prior),
    ),
    Measure(
        name="sibson",
        title="Sibson's mutual information of order 2",
        unit="nats",
        formula="2 log sum over x of sqrt(sum over s of P(s) P(x|s)^2)",
        meaning="Between mutual information (order 1) and maximal leakage (order inf): the higher the order, the "
        "more the revealing releases count.",
        function=lambda joint: measures.sibson(joint, 2.0),
        ceiling=lambda joint: measures.entropy(joint.prior, order=0.5),
    ),
    Measure(
        name="arimoto",
        title="Arimoto's mutual information of order 2",
        unit="nats",
        formula="2 log of the mean over x of ||P(.|x)||_2 / ||P_S||_2",
        meaning="How much the release lowers the adversary's doubt about the secret, with likely secrets counting "
        "for more than in mutual information.",
        function=lambda joint: measures.arimoto(joint, 2.0),
        ceiling=lambda joint: measures.entropy(joint.prior, order=2.0),
    ),
    Measure(
        name="guessing_probability",
        title="Probability of guessing the secret",
        unit="probability",
        formula="sum over x of max over s of P(s,x)",
        meaning="An adversary who sees the release and makes the best guess at the secret is right this often. "
        "Without the release it would be the share of the commonest secret.",
        function=measures.guessing_probability,
        ceiling=lambda joint: 1.0,
    ),
    Measure(
        name="chi_squared",
        title="Chi-squared information",
        unit="1",
        formula="sum over s, x of (P(s,x) - P(s) P(x))^2 / (P(s) P(x))",
        meaning="Bounds how well any function of the secret can be estimated in mean square from the release. It is "
        "Pearson's statistic divided by the number of records.",
        function=lambda joint: measures.f_information(joint, "chi_squared"),
        ceiling=lambda joint: len(joint.prior) - 1.0,
    ),
    Measure(
        name="total_variation",
        title="Total variation information",
        unit="probability",
        formula="1/2 sum over s, x of |P(s,x) - P(s) P(x)|",
        meaning="The most by which the release changes the probability of any event about secret and released value "
        "together, compared with a release that says nothing.",
        function=lambda joint: measures.f_information(joint, "total_variation"),
        ceiling=lambda joint: 1 - _sum_of_powers(joint, 2),
    ),
    Measure(
        name="hellinger",
        title="Squared Hellinger information",
        unit="1",
        formula="1 - sum over s, x of sqrt(P(s,x) P(s) P(x))",
        meaning="How far the joint is from independence, between 0 and 1; it stays finite and moderate where pairs "
        "never occur.",
        function=lambda joint: measures.f_information(joint, "hellinger"),
        ceiling=lambda joint: 1 - _sum_of_powers(joint, 1.5),
    ),
    Measure(
        name="reverse_kl",
        title="Lautum information",
        unit="nats",
        formula="sum over s, x of P(s) P(x) log P(s) P(x) / P(s,x)",
        meaning="Mutual information with the roles reversed: it charges secrets that are ruled out, and is infinite if "
        "one is ruled out altogether.",
        function=lambda joint: measures.f_information(joint, "reverse_kl"),
        ceiling=lambda joint: np.inf if len(joint.prior) > 1 else 0.0,
    ),
)

MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _ALL})
"""Every measure of a whole release, by name."""
