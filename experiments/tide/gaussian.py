"""Gaussian records whose density is known: the mechanism's exact E-gamma next to Theorem 3 and the repaired bound.

Features are normal numbers on a grid within [-1, 1], so that K = 1 as in the paper, and every sum is finite: what is
released has an exact distribution, noise included. Noise is Gaussian, rounded to the same grid, continued outwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from experiments.paper import Say
from tacit.learn import NeuralLogLift, PrefixLogLift, log_mean
from tacit.lift import compose_deltas, e_gamma, gaussian_delta, obfuscation_delta, obfuscation_floor

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

POINTS = 81
GRID = np.linspace(-1, 1, POINTS)
STEP = GRID[1] - GRID[0]
RADIUS, DIAMETER = 1.0, 2.0
EPSILON, CLIP = 0.5, 3.0
SCALES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.5, 5.0)


@dataclass(frozen=True)
class Population:
    """Two features (the second follows the first with a correlation) whose means and spreads depend on the secret."""

    words: str
    prior: tuple[float, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]
    correlation: float = 0.0
    epsilon: float = EPSILON

    @property
    def given(self) -> Floats:
        """p(x1, x2 | s): secrets x grid x grid."""
        first = bells(self.means, self.spreads)
        rest = np.sqrt(1 - self.correlation**2)
        moves = [
            bells(mean + self.correlation * (GRID - mean), np.full(POINTS, spread * rest))
            for mean, spread in zip(self.means, self.spreads, strict=True)
        ]
        return np.asarray(first[:, :, None] * np.array(moves))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
        """Records and secrets."""
        joint = np.array(self.prior)[:, None, None] * self.given
        s, first, second = np.unravel_index(rng.choice(joint.size, size=n, p=joint.ravel()), joint.shape)
        return np.column_stack([GRID[first], GRID[second]]), s


def bells(means: Any, spreads: Any) -> Floats:
    """Normal densities on the grid, each summing to 1."""
    means, spreads = np.asarray(means)[:, None], np.asarray(spreads)[:, None]
    # Narrower than the grid a bell is one point of it.
    away = ((GRID - means) / np.maximum(spreads, STEP / 8)) ** 2 / 2
    heights = np.exp(away.min(axis=1, keepdims=True) - away)
    return np.asarray(heights / heights.sum(axis=1, keepdims=True))


# One feature: the everyday case, and Gaussian forms of the counterexamples A and B.
POPULATIONS = {
    "overlapping": Population("two bells that overlap", (0.7, 0.3), (-0.2, 0.25), (0.3, 0.3)),
    "far apart": Population("A: a rare secret far from the rest", (0.99, 0.01), (-0.9, 0.9), (0.05, 0.05)),
    "wide": Population("B: a rare secret with a wider bell", (0.98, 0.02), (0.0, 0.0), (0.25, 0.5), epsilon=0.8),
}
# Two features; the last is the Gaussian form of C.
PAIRS = {
    "independent": Population("independent given the secret", (0.9, 0.1), (-0.3, 0.4), (0.3, 0.3)),
    "correlated": Population("correlation 0.6", (0.9, 0.1), (-0.3, 0.4), (0.3, 0.3), 0.6),
    "a copy": Population("C: the second is a copy of the first", (0.9, 0.1), (-0.3, 0.4), (0.3, 0.3), 1.0),
}

# What estimators learn from: log-lifts that the clip hardly affects.
MILD = Population("two overlapping bells, correlation 0.6", (0.85, 0.15), (-0.15, 0.2), (0.3, 0.3), 0.6)


def noise(scale: float) -> Floats:
    """p(y | x) of noise on every grid point: grid x (the grid extended by eight scales on either side)."""
    beyond = int(np.ceil(8 * scale / STEP))
    ends = (np.arange(-beyond, POINTS + beyond + 1) - 0.5) * STEP - 1
    below = ndtr((ends[None, :] - GRID[:, None]) / scale)
    # The outermost cells take all that is beyond them.
    below[:, 0], below[:, -1] = 0.0, 1.0
    return np.asarray(np.diff(below, axis=1))


def as_it_is(width: int) -> Floats:
    """The channel that releases a grid point unchanged, among as many outputs as the noise has."""
    beyond = (width - POINTS) // 2
    return np.eye(POINTS, width, k=beyond)


def lifts(given: Floats, prior: Floats) -> Floats:
    """log p(. | s) / p(.), secrets first."""
    overall = np.tensordot(prior, given, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(overall > 0, np.log(given / overall), 0.0))


def released(first: Floats, second: Floats, leaks: Flags, channel: Floats, *, told: bool) -> tuple[Floats, Floats]:
    """Two distributions of what is released of one feature; ``told`` shows which values were noised."""
    both = []
    for shares in (first, second):
        raw, noised = np.where(leaks, 0.0, shares) @ as_it_is(channel.shape[1]), np.where(leaks, shares, 0.0) @ channel
        both.append(np.concatenate([raw, noised]) if told else raw + noised)
    return both[0], both[1]


def bound(share: Any, overall: Any, width: float, scale: float, epsilon: float) -> Any:
    """Theorem 3': P(B|s) theta at epsilon - i(s,B), with the diameter of B."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.where(share > 0, np.log(share / overall), -np.inf)
    return obfuscation_delta(np.minimum(share, 1.0), lift, epsilon, width, scale)


def one_feature(population: Population, scale: float) -> dict[str, float]:
    """The largest attained E-gamma over secrets, and what the theorem and its repair say about it."""
    prior, given = np.array(population.prior), population.given.sum(axis=2)
    overall, channel, epsilon = prior @ given, noise(scale), population.epsilon
    leaks = np.abs(lifts(given, prior)).max(axis=0) > epsilon
    width = float(np.ptp(GRID[leaks])) if leaks.any() else 0.0
    share, gamma = given[:, leaks].sum(axis=1), np.exp(epsilon)
    lift = np.log(share / overall[leaks].sum()) if leaks.any() else np.full(len(prior), 0.0)
    return {
        "scale": scale,
        "attained": max(e_gamma(*released(each, overall, leaks, channel, told=False), gamma) for each in given),
        "told": max(e_gamma(*released(each, overall, leaks, channel, told=True), gamma) for each in given),
        "printed": float(gaussian_delta(epsilon, RADIUS, scale)),
        "repaired": float(np.max(bound(share, overall[leaks].sum(), width, scale, epsilon))),
        "floor": float(np.max(obfuscation_floor(np.minimum(share, 1.0), lift, epsilon))),
        "noised": float(overall[leaks].sum()),
    }


def random_populations(number: int) -> dict[str, Any]:
    """How often populations drawn at random exceed Theorem 3 and its repair."""
    rng = np.random.default_rng(3)
    rows = []
    while len(rows) < number:
        secrets = int(rng.integers(2, 5))
        drawn = Population(
            "", tuple(rng.dirichlet(np.ones(secrets))), tuple(rng.uniform(-1, 1, secrets)),
            tuple(rng.uniform(0.03, 0.5, secrets)), epsilon=rng.uniform(0.1, 1.2),
        )  # fmt: skip
        rows.append(one_feature(drawn, rng.uniform(0.2, 3)))
    attained, told, printed, repaired = (
        np.array([row[name] for row in rows]) for name in ("attained", "told", "printed", "repaired")
    )
    return {
        "populations": number,
        "pass_printed": int((attained > printed + 1e-9).sum()),
        "pass_printed_told": int((told > printed + 1e-9).sum()),
        "pass_repaired": int((told > repaired + 1e-9).sum()),
        "slack": float(np.median(repaired - told)),
    }


def two_features(
    population: Population, scale: float, *, raw_prefix: bool, leaking: tuple[Flags, Flags] | None = None
) -> dict[str, Any]:
    """Both features by the mechanism (14): B_2 given the raw first feature, as printed, or given its release.

    ``leaking`` gives other sets than the true ones: of x1, and of (x1, x2).
    """
    prior, given = np.array(population.prior), population.given
    channel, gamma = noise(scale), np.exp(2 * EPSILON)
    plain = as_it_is(channel.shape[1])
    first = given.sum(axis=2)
    leaks = np.abs(lifts(first, prior)).max(axis=0) > EPSILON if leaking is None else leaking[0]
    kernel = np.where(leaks[:, None], channel, plain)
    steps: list[Floats] = [bound(first[:, leaks].sum(axis=1), (prior @ first)[leaks].sum(), DIAMETER, scale, EPSILON)]
    if raw_prefix:
        conditional = lifts(given, prior) - lifts(first, prior)[:, :, None]
        flagged = np.abs(conditional).max(axis=0) > EPSILON if leaking is None else leaking[1]
        seen = np.array(
            [kernel.T @ (np.where(flagged, 0, p) @ plain + np.where(flagged, p, 0) @ channel) for p in given]
        )
        noised = float((np.tensordot(prior, given, 1) * flagged).sum())
    else:
        # What is released of the first feature, with the second raw.
        beside = np.array([kernel.T @ p for p in given])
        prefix = beside.sum(axis=2)
        flagged = np.abs(lifts(beside, prior) - lifts(prefix, prior)[:, :, None]).max(axis=0) > EPSILON
        seen = np.array([np.where(flagged, 0, p) @ plain + np.where(flagged, p, 0) @ channel for p in beside])
        noised = float((np.tensordot(prior, beside, 1) * flagged).sum())
        likely = np.tensordot(prior, prefix, 1) > 1e-12
        share = ((beside * flagged).sum(axis=2) / prefix.clip(1e-300))[:, likely]
        overall = (np.tensordot(prior, beside * flagged, 1) / np.tensordot(prior, prefix, 1)[:, None]).sum(axis=1)
        steps.append(bound(share, overall[likely], DIAMETER, scale, EPSILON).max(axis=1))
    overall_seen = np.tensordot(prior, seen, 1)
    out = {
        "scale": scale,
        "attained": max(e_gamma(each.ravel(), overall_seen.ravel(), gamma) for each in seen),
        "printed": min(2 * float(gaussian_delta(EPSILON, RADIUS, scale)), 1.0),
        "raw": max(e_gamma(each.ravel(), np.tensordot(prior, given, 1).ravel(), gamma) for each in given),
        "noised": [float((prior @ first)[leaks].sum()), noised],
    }
    if not raw_prefix:
        worst = [float(np.max(step)) for step in steps]
        out["repaired"] = compose_deltas([EPSILON] * len(worst), worst)[1]
    return out


def learned(n: int, *, steps: int, random_state: int) -> dict[str, dict[str, float]]:
    """TIDE as printed, the same normalised, and ours: learned from n records, compared with the truth.

    TIDE is one network per prefix, and the conditional density a difference of two, by the chain rule (17).
    """
    records, secret = MILD.draw(n, np.random.default_rng(random_state))
    pairs = np.stack(np.meshgrid(GRID, GRID, indexing="ij"), axis=-1).reshape(-1, 2)
    tide = [
        NeuralLogLift.as_in_the_paper("tide", clip=CLIP, steps=steps, random_state=random_state)
        .fit(records[:, :columns], secret)
        .log_lift(pairs[:, :columns])
        for columns in (1, 2)
    ]
    prior = np.bincount(secret) / n
    normalised = [each - log_mean(each, prior)[:, None] for each in tide]
    ours = PrefixLogLift(orders="given", random_state=random_state).fit(records, secret)
    prefixes = ours.prefix_log_lift(pairs)
    return {
        "TIDE": held_against_truth(MILD, *tide),
        "TIDE, normalised": held_against_truth(MILD, *normalised),
        "PrefixLogLift": held_against_truth(MILD, prefixes[:, 1], prefixes[:, 2]),
    }


def held_against_truth(population: Population, first: Floats, both: Floats) -> dict[str, float]:
    """Errors of log-lifts of the two prefixes (grid pairs x secrets), and what obfuscation by them attains."""
    prior, given = np.array(population.prior), population.given
    truth_first = np.repeat(lifts(given.sum(axis=2), prior)[:, :, None], POINTS, axis=2)
    truth = lifts(given, prior) - truth_first
    found_first = first.T.reshape(truth.shape)
    found = both.T.reshape(truth.shape) - found_first
    weights = np.tensordot(prior, given, 1)
    away = np.abs(found - truth)
    leaks, flags = (np.abs(each).max(axis=0) > EPSILON for each in (truth, found))
    order = np.argsort(away, axis=None)
    # Every pair (s, x) by the product of its marginals.
    reached = (prior[:, None, None] * weights).ravel()[order].cumsum()
    sets = np.abs(found_first).max(axis=0)[:, 0] > EPSILON, flags
    return {
        "rms": float(np.sqrt(np.tensordot(prior, (weights * away**2).sum(axis=(1, 2)), 1))),
        "rms_first": float(
            np.sqrt(np.tensordot(prior, (weights * (found_first - truth_first) ** 2).sum(axis=(1, 2)), 1))
        ),
        "largest": float(away.ravel()[order][np.searchsorted(reached, 0.95)]),
        "mean_lift": float(prior @ (np.exp(found_first) * weights).sum(axis=(1, 2))),
        "first_noised": float(weights[sets[0]].sum()),
        "missed": float(weights[leaks & ~flags].sum()),
        "needless": float(weights[flags & ~leaks].sum()),
        "attained": two_features(population, 1.0, raw_prefix=True, leaking=sets)["attained"],
    }


def trimmed() -> dict[str, dict[str, float]]:
    """The true densities of both prefixes, trimmed or not, before the chain rule makes a difference of them."""
    found = {}
    for name, population in (("correlated", PAIRS["correlated"]), ("mild", MILD)):
        prior, given = np.array(population.prior), population.given
        first = np.repeat(lifts(given.sum(axis=2), prior)[:, :, None], POINTS, axis=2)
        for words, most in (("true", np.inf), (f"trimmed to {CLIP:g}", CLIP)):
            both = (np.clip(each, -most, most).reshape(len(prior), -1).T for each in (first, lifts(given, prior)))
            found[f"{name}, {words}"] = held_against_truth(population, *both)
    return found


def gaussian(*, quick: bool, say: Say) -> dict[str, Any]:
    """All of it."""
    scales = (0.5, 1.0) if quick else SCALES
    say("Gaussian records: the mechanism, exactly")
    made = {
        "radius": RADIUS,
        "epsilon": EPSILON,
        "one": {
            name: {
                "words": each.words,
                "epsilon": each.epsilon,
                "curve": [one_feature(each, scale) for scale in scales],
            }
            for name, each in POPULATIONS.items()
        },
        "random": random_populations(20 if quick else 2_000),
        "two": {
            name: {
                "words": each.words,
                "raw prefix": [two_features(each, scale, raw_prefix=True) for scale in scales],
                "released prefix": [two_features(each, scale, raw_prefix=False) for scale in scales],
            }
            for name, each in PAIRS.items()
        },
        "trimmed": trimmed(),
        "learned": [],
    }
    for n in (200, 400) if quick else (125, 500, 2_000):
        found = learned(n, steps=20 if quick else 3_000, random_state=0)
        say(f"{n:,} records: rms error " + ", ".join(f"{name} {each['rms']:.3f}" for name, each in found.items()))
        made["learned"].append({"n": n, **found})
    return made
