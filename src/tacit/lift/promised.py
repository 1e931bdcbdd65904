"""What epsilon-lift promises about every other measure: the papers' bounds, and sharper ones that are proved.

Where the log-lifts lie in [-epsilon_low, epsilon_high], the lifts lie in [a, b] with a = e^-epsilon_low and
b = e^epsilon_high, and their mean over P(s)P(x) is 1: over x, for every single s. A convex function lies below its
chord on [a, b], so its mean is at most q f(b) + (1 - q) f(a) with q = (1 - a) / (b - a). All bounds here but the plain
ones are of this kind. For Sibson's and Arimoto's information of order alpha the function is t^alpha: both are the
infimum over Q of D_alpha(P_S' P_X|S || P_S' Q), for P_S' the prior or the prior tilted to P_S^alpha, and Q = P_X gives
a mean of t^alpha over x that the chord bounds for every s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift import measures
from tacit.lift.joint import Joint
from tacit.lift.measures import Distribution
from tacit.lift.partitions.merging import Task
from tacit.lift.registry import MEASURES

Status = Literal["proved", "wrong as printed", "new"]

_ORDERS = (0.5, 2.0, 5.0)
_PROPOSITION_1 = "watchdog, Proposition 1"

# The square of e^epsilon overflows soon after this; beyond it, only bounds that need no power of it are given.
_LARGEST_EPSILON = 350.0


@dataclass(frozen=True)
class Promise:
    """What epsilon-lift implies for one measure.

    Attributes
    ----------
    measure : str
        Name of the measure; ``order`` is that of ``sibson`` and ``arimoto``.
    bound : float
        The measure is at most this. It is proved.
    printed_bound : float or None
        The bound printed in the source, for the larger of the two epsilons; None if it prints none.
    status : str
        ``proved`` says that the printed bound is true (and no sharper than ``bound``), ``wrong as printed`` that
        it is not, ``new`` that there is none in the source.
    source : str
        Where the bound is printed.
    function : callable
        The measure itself, to check a joint against the bound.
    """

    measure: str
    bound: float
    printed_bound: float | None
    status: Status
    source: str
    function: Callable[[Joint], float]
    order: float | None = None


def promises(
    epsilon: float, *, epsilon_low: float | None = None, epsilon_high: float | None = None
) -> tuple[Promise, ...]:
    """What a release with every log-lift in [-epsilon, epsilon] promises about every measure.

    ``epsilon_low`` and ``epsilon_high`` replace epsilon on their side.

    Guarantees
    ----------
    For every joint with ``is_private(joint, epsilon, ...)``, ``promise.function(joint) <= promise.bound``.
    """
    low, high = measures.sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    widest = max(low, high)

    def of_f(name: str) -> float:
        return f_bound(name, high, epsilon_low=low, epsilon_high=high)

    return (
        _promise("risk", widest, widest, "proved", "watchdog, Definition 1"),
        _promise("pointwise_maximal_leakage", high, None, "new", "watchdog, Definition 1"),
        _promise("local_dp", low + high, widest, "wrong as printed", "watchdog, (5)"),
        _promise("local_dp", low + high, 2 * widest, "proved", "watchdog-short, Lemma 1"),
        _promise("maximal_leakage", high, widest, "proved", _PROPOSITION_1),
        *(_of_order("sibson", measures.sibson, order, low, high) for order in _ORDERS),
        *(_of_order("arimoto", measures.arimoto, order, low, high) for order in (*_ORDERS, np.inf)),
        _promise("mutual_information", of_f("kl"), widest, "proved", "watchdog, Lemma 1"),
        *(
            _promise(name, of_f(name), _printed_f_bound(name, widest), "proved", _PROPOSITION_1)
            for name in measures.GENERATORS
            if name != "kl"
        ),
    )


def _promise(measure: str, bound: float, printed: float | None, status: Status, source: str) -> Promise:
    return Promise(measure, bound, printed, status, source, MEASURES[measure].function)


def _of_order(
    measure: str, function: Callable[[Joint, float], float], order: float, low: float, high: float
) -> Promise:
    printed = None if order < 1 else max(low, high) * (1.0 if np.isinf(order) else order / (order - 1))
    return Promise(
        measure=measure,
        bound=order_bound(order, high, epsilon_low=low, epsilon_high=high),
        printed_bound=printed,
        status="new" if printed is None else "proved",
        source=_PROPOSITION_1,
        function=lambda joint: function(joint, order),
        order=order,
    )


def _printed_f_bound(name: str, epsilon: float) -> float:
    if name == "reverse_kl":
        # The paper's f is -log t; ours has t - 1 added, which changes its maximum but not the information.
        return epsilon
    return max(_ends(name, epsilon, epsilon)) if epsilon <= _LARGEST_EPSILON else np.inf


def order_bound(
    order: float, epsilon: float, *, epsilon_low: float | None = None, epsilon_high: float | None = None
) -> float:
    """Largest Sibson or Arimoto information of an order that epsilon-lift allows; never more than epsilon."""
    low, high = measures.sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    if not order > 0:
        raise ArgumentError(f"order is {order}; it must be more than 0, and may be inf")
    if order == 1:
        return f_bound("kl", epsilon, epsilon_low=low, epsilon_high=high)
    if low == 0 or high == 0:
        return 0.0
    if order == np.inf or high > _LARGEST_EPSILON:
        return high
    share = share_at_top(low, high)
    mean = measures.log_mean_exp(np.array([share, 1 - share]), np.array([order * high, -order * low]))
    return min(max(float(mean) / (order - 1), 0.0), high)


def guessing_bound(prior: ArrayLike, epsilon: float, *, epsilon_low: float | None = None) -> float:
    """Largest probability of guessing the secret right from a release within epsilon.

    The belief in a secret of prior p is at most p e^epsilon, and at least q e^-epsilon is left to each other
    secret of prior q. For small epsilon the first binds (the printed bound), for large epsilon the second.
    ``epsilon_low`` replaces epsilon on the low side.

    Guarantees
    ----------
    ``guessing_probability(joint) <= guessing_bound(joint.prior, epsilon)`` for every joint within epsilon.
    """
    p = np.asarray(prior, dtype=np.float64)
    low, high = measures.sides(epsilon, epsilon_low=epsilon_low)
    with np.errstate(over="ignore"):
        return float(np.minimum(p * np.exp(high), 1 - (1 - p) * np.exp(-low)).max())


def f_bound(f: str, epsilon: float, *, epsilon_low: float | None = None, epsilon_high: float | None = None) -> float:
    """Largest f-information that epsilon-lift allows, by the chord of f over the lifts allowed.

    For mutual information (``kl``) it is epsilon tanh(epsilon / 2).
    """
    low, high = measures.sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    if low == 0 or high == 0:
        return 0.0
    if high > _LARGEST_EPSILON:
        return high if f == "kl" else np.inf
    share = share_at_top(low, high)
    bottom, top = _ends(f, low, high)
    return share * top + (1 - share) * bottom


def _ends(f: str, low: float, high: float) -> tuple[float, float]:
    bottom, top = measures.generator(f)(np.exp([[-low, high]]))[0]
    return float(bottom), float(top)


def share_at_top(low: float, high: float) -> float:
    """The share q of lifts at the top if every lift is at one end or the other: their mean is 1."""
    return 0.0 if high == 0 else float(np.expm1(-low) / (np.expm1(-low) - np.expm1(high)))


def watchdog_bound_printed(joint: Distribution, epsilon: float) -> float:
    """Proposition 2 of the watchdog paper as printed: it bounds the risk after merging the risky values.

    Kept for comparison: it is true and very loose, and inf as soon as e^epsilon times the probability of the safe
    values reaches 1. Where nothing is risky the formula divides by 0; nothing changes then, so it is epsilon.
    """
    safe, risky = _masses(joint, epsilon)
    if risky == 0 or epsilon > _LARGEST_EPSILON:
        return epsilon if risky == 0 else np.inf
    rest = 1 - np.exp(epsilon) * safe
    upper = np.log((rest + np.exp(epsilon)) / risky)
    return float(max(upper, -np.log(rest / risky))) if rest > 0 else np.inf


def watchdog_bound_tight(joint: Distribution, epsilon: float) -> float:
    """The best bound on the risk after merging that follows from epsilon and the probability of the safe values."""
    safe, risky = _masses(joint, epsilon)
    if risky == 0 or epsilon > _LARGEST_EPSILON:
        return epsilon if risky == 0 else np.inf
    rest = 1 - np.exp(epsilon) * safe
    upper = np.log((1 - np.exp(-epsilon) * safe) / risky)
    return float(max(epsilon, upper, -np.log(rest / risky))) if rest > 0 else np.inf


def watchdog_bound_exact(joint: Distribution, epsilon: float) -> float:
    """The risk after merging the risky values: the number that the other two bound, and as cheap as they are."""
    task = Task.of(joint, epsilon)
    return task.result(~task.safe, "watchdog").attained


def _masses(joint: Distribution, epsilon: float) -> tuple[float, float]:
    task = Task.of(joint, epsilon)
    return float(task.joint.marginal[task.safe].sum()), float(task.joint.marginal[~task.safe].sum())
