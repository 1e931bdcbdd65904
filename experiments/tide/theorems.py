"""The numbers that decide the theorems: small cases, exact, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from tacit.lift import (
    compose_deltas,
    e_gamma,
    gaussian_delta,
    gaussian_scale,
    log_lift,
    obfuscation_delta,
    obfuscation_floor,
)

# Patches in an image: GENKI's 64 x 64 and CelebA's 218 x 178, in patches of 2 x 2.
GENKI, CELEBA = 32 * 32, 109 * 89


def theorems(cases: int) -> dict[str, Any]:
    """All of them; ``cases`` random ones each."""
    return {
        "parity": parity(),
        "post_processing": post_processing(),
        "tail": tail_claim(),
        "theorem_1": theorem_1(cases),
        "theorem_2": theorem_2(cases),
        "theorem_3": theorem_3(),
        "theorem_4": theorem_4(),
        "theorem_5": theorem_5(min(cases, 400)),
        "chain_rule": chain_rule(cases),
        "tail_18": tail_of_density(),
    }


def parity() -> dict[str, float]:
    """S = X1 + X2 modulo 2: what each says alone, and both together."""
    joint = np.zeros((2, 2, 2))
    for first in (0, 1):
        for second in (0, 1):
            joint[(first + second) % 2, first, second] = 0.25
    alone = max(np.abs(log_lift(joint.sum(axis=axis))).max() for axis in (1, 2))
    return {"alone": float(alone), "together": float(log_lift(joint.reshape(2, 4)).max())}


def post_processing() -> dict[str, float]:
    """The metric (5) before and after two values are merged."""
    overall, lift, gamma = np.array([0.1, 0.4, 0.5]), np.array([3.0, 1.3, 0.36]), 1.5
    merged = overall[:2].sum()
    merged_lift = (overall * lift)[:2].sum() / merged
    return {"before": float(overall[lift > gamma].sum()), "after": float(merged if merged_lift > gamma else 0.0)}


def tail_claim(epsilon: float = 0.5, beyond: float = 0.01) -> dict[str, float]:
    """A small E-gamma with a log-lift above epsilon half of the time."""
    given = np.array([0.5, 0.5])
    first = 0.5 * np.exp(-epsilon - beyond)
    overall = np.array([first, 1 - first])
    above = np.log(given / overall) > epsilon
    return {"e_gamma": e_gamma(given, overall, np.exp(epsilon)), "above": float(given[above].sum())}


def theorem_1(cases: int) -> dict[str, float]:
    """The tail formula (12), with probabilities among those with the secret, and among everyone."""
    rng, off = np.random.default_rng(1), {"secret": 0.0, "everyone": 0.0}
    for _ in range(cases):
        given, overall, epsilon = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6)), rng.uniform(0, 1)
        density = np.log(given / overall)
        for name, shares in (("secret", given), ("everyone", overall)):
            # Pr(i > t) is constant between log-lifts, so that the integral is a sum.
            ends = np.concatenate([[epsilon], np.sort(density[density > epsilon])])
            above = (shares * (density > ends[:-1, None])).sum(axis=1)
            formula = np.exp(epsilon) * (above @ (np.exp(-ends[:-1]) - np.exp(-ends[1:])))
            off[name] = max(off[name], abs(formula - e_gamma(given, overall, np.exp(epsilon))))
    return {"cases": cases, **off}


def theorem_2(cases: int) -> dict[str, float]:
    """E-gamma of two or three adaptive steps, less the sum of theirs, and less the sharper bound."""
    rng, excess, sharper = np.random.default_rng(2), -1.0, -1.0
    for _ in range(cases):
        epsilon, first, second = rng.uniform(0, 0.8), np.ones(1), np.ones(1)
        deltas = []
        for size in rng.integers(2, 5, rng.integers(2, 4)):
            p, q = (rng.dirichlet(np.ones(size), len(first)) for _ in range(2))
            deltas.append(float(np.maximum(p - np.exp(epsilon) * q, 0).sum(axis=1).max()))
            first, second = (first[:, None] * p).ravel(), (second[:, None] * q).ravel()
        attained = e_gamma(first, second, np.exp(epsilon * len(deltas)))
        excess = max(excess, attained - sum(deltas))
        sharper = max(sharper, attained - compose_deltas([epsilon] * len(deltas), deltas)[1])
    return {"cases": cases, "excess": excess, "excess_of_product": sharper}


def theorem_3() -> dict[str, Any]:
    """The printed numbers, the scale that could not be derived, how much all patches give, and A, B and C."""
    epsilon, rare = 0.5, 0.01
    attained = quad(
        lambda y: max(norm.pdf(y, 1) - np.exp(epsilon) * ((1 - rare) * norm.pdf(y, -1) + rare * norm.pdf(y, 1)), 0),
        -12, 14, points=[0.25], limit=400,
    )[0]  # fmt: skip
    overall = 0.5 * rare + 0.05 * (1 - rare)
    lift = np.log(0.5 / overall)
    delta = 0.01
    return {
        "genki": float(gaussian_delta(0.5, 1, 1)),
        "celeba": float(gaussian_delta(0.74, 1, 1)),
        "grey_patch": float(gaussian_delta(0.5, 2, 1)),
        "genki_all": GENKI * float(gaussian_delta(0.5, 1, 1)),
        "celeba_all": CELEBA * float(gaussian_delta(0.74, 1, 1)),
        "genki_patches": GENKI,
        "celeba_patches": CELEBA,
        "scale": float(gaussian_scale(0.5, delta, 1)),
        "scale_at_0": float(gaussian_scale(0.0, delta, 1)),
        "closed_at_0": float(1 / (2 * norm.isf((1 - delta) / 2))),
        "order_at_0": float(1 / -np.log1p(-delta)),
        "a": {
            "attained": attained,
            "printed": float(gaussian_delta(0.5, 1, 1)),
            "repaired": float(gaussian_delta(0.5, 2, 1)),
        },
        "b": {
            "floor": float(obfuscation_floor(0.5, lift, 0.8)),
            "printed": float(gaussian_delta(0.8, 1, 1e3)),
            "repaired": float(obfuscation_delta(0.5, lift, 0.8, 0.0, 1e3)),
        },
        "c": {
            "attained": e_gamma([1, 0], [0.5, 0.5], np.exp(2 * 0.1)),
            "printed": 2 * float(gaussian_delta(0.1, 1, 1e3)),
        },
    }


# A small joint of two secrets and three values, for the theorems about estimates.
SMALL = np.array([[0.30, 0.12, 0.08], [0.20, 0.08, 0.22]])


def objective(g: Any, joint: Any = SMALL) -> float:
    """What TIDE maximises, (19): Donsker and Varadhan's bound on the mutual information."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint * g).sum() - np.log((apart * np.exp(g)).sum()))


def normalised(g: Any, joint: Any = SMALL) -> Any:
    """An estimate less its constant, so that the mean of e^g is 1 as that of a lift."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return g - np.log((apart * np.exp(g)).sum())


def theorem_4(constant: float = 1.0) -> dict[str, float]:
    """How far (19) notices a constant, how far the maximiser with it is from the truth, and the normalised one."""
    truth = log_lift(SMALL)
    moved = truth + constant
    return {
        "seen": abs(objective(moved) - objective(truth)),
        "off": float(np.abs(moved - truth).max()),
        "normalised": float(np.abs(normalised(moved) - truth).max()),
    }


def theorem_5(draws: int) -> dict[str, Any]:
    """The largest error of the maximiser of (19) on samples, normalised: a table of counts; and one record n times."""
    rng, truth = np.random.default_rng(5), log_lift(SMALL)
    sizes, errors = (500, 2_000, 8_000, 32_000), []
    for n in sizes:
        counts = rng.multinomial(n, SMALL.ravel(), size=draws).reshape(draws, *SMALL.shape)
        # A pair that was not drawn has a log-lift of minus infinity: the error is then as large as it can be.
        errors.append(float(np.mean([np.abs(log_lift(each / n) - truth).max() for each in counts])))
    rate = float(np.log(errors[0] / errors[-1]) / np.log(sizes[-1] / sizes[0]))
    records, clip = 10, 20
    return {
        "sizes": list(sizes),
        "errors": errors,
        "rate": rate,
        "records": records,
        "clip": clip,
        "same": float(SMALL.max() ** records),
        "promised": float(np.exp(-clip)),
    }


def chain_rule(cases: int) -> dict[str, float]:
    """(17) with prefixes, and with single features, as the symbols that are left in the text could be read."""
    rng, prefixes, singles = np.random.default_rng(17), 0.0, 0.0
    for _ in range(min(cases, 200)):
        joint = rng.dirichlet(np.ones(18)).reshape(2, 3, 3)
        secret, first, pair = joint.sum(axis=(1, 2)), joint.sum(axis=2), joint.sum(axis=0)
        belief = first / first.sum(axis=0)
        conditional = np.log(joint / (belief[:, :, None] * pair))
        whole = np.log(joint / (secret[:, None, None] * pair))
        before, alone = (log_lift(joint.sum(axis=axis)) for axis in (2, 1))
        prefixes = max(prefixes, np.abs(conditional - (whole - before[:, :, None])).max())
        singles = max(singles, np.abs(conditional - (alone[:, None, :] - before[:, :, None])).max())
    return {"prefixes": float(prefixes), "singles": float(singles)}


def tail_of_density() -> dict[str, float]:
    """(18) for X = S uniform on ten values: Pr(i > 1) among everyone and among those with the secret, and e^-1."""
    density = log_lift(np.eye(10) / 10)[0]
    shares = {"everyone": np.full(10, 0.1), "secret": np.eye(10)[0]}
    return {name: float(each[density > 1].sum()) for name, each in shares.items()} | {"bound": float(np.exp(-1))}
