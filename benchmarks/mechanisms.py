"""What each rung of the mechanism ladder loses, and how long it takes, from 8 to a million released values.

    .venv/bin/python benchmarks/mechanisms.py [--effort low|normal|high] [--epsilon 0.5] [--largest 1000000]

Random tables: each P(s|x) is a uniform draw, normalised; P(x) is `uniform` (uniform draws) or `zipf` (1/rank^1.1). NMIL
is the share of the information in the released values that is lost; the bound says what no mechanism can go below. The
watchdog is shown as 1 where its merged set breaks epsilon, since it may then release nothing.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

from tacit.lift.joint import Joint
from tacit.lift.mechanisms import watchdog
from tacit.lift.mixture import MixtureChannel
from tacit.lift.optimal import optimal

SIZES = (8, 20, 100, 1_000, 10_000, 100_000, 1_000_000)
SECRETS = (2, 3, 15)
# More cells than this are not built: a joint and its lifts would take gigabytes.
MOST_CELLS = 4_000_000


def random_joint(kind: str, n_secrets: int, n_released: int) -> Joint:
    rng = np.random.default_rng([n_secrets, n_released])
    posteriors = rng.random((n_secrets, n_released))
    posteriors /= posteriors.sum(axis=0)
    marginal = rng.random(n_released) if kind == "uniform" else 1 / np.arange(1, n_released + 1) ** 1.1
    return Joint(posteriors * (marginal / marginal.sum()))


def timed(joint: Joint, epsilon: float, rung: str, effort: str) -> tuple[float, MixtureChannel]:
    start = perf_counter()
    channel = optimal(joint, epsilon, rung=rung, effort=effort)  # type: ignore[arg-type]
    return perf_counter() - start, channel


def line(kind: str, n_secrets: int, n_released: int, epsilon: float, effort: str) -> str:
    head = f"| {n_released:,} | {n_secrets} | {kind} |"
    if n_secrets * n_released > MOST_CELLS:
        return f"{head} not run: more than {MOST_CELLS:,} cells | | | | | | | |"
    joint = random_joint(kind, n_secrets, n_released)
    start = perf_counter()
    plain = watchdog(joint, epsilon)
    seconds = [perf_counter() - start]
    losses = [plain.nmil if plain.attains else 1.0]
    for rung in ("camouflage", "subsets", "optimal"):
        took, channel = timed(joint, epsilon, rung, effort)
        seconds.append(took)
        losses.append(channel.nmil)
    shown = " | ".join(f"{loss:.4f}" for loss in losses)
    times = " / ".join(f"{each:.2g}" for each in seconds)
    return (
        f"{head} {shown} | {channel.loss_bound:.4f} ({channel.proof}) | {channel.kept_share:.3f} | "
        f"{channel.rung} | {times} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", default="normal", choices=["low", "normal", "high"])
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    arguments = parser.parse_args()
    print(f"epsilon {arguments.epsilon:g}, effort {arguments.effort}; seconds are of the four rungs\n")
    print("| values | secrets | P(x) | watchdog | camouflage | subsets | optimal | bound | kept | won | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for n_secrets in SECRETS:
        for kind in ("uniform", "zipf"):
            for n_released in SIZES:
                if n_released <= arguments.largest:
                    print(line(kind, n_secrets, n_released, arguments.epsilon, arguments.effort), flush=True)


if __name__ == "__main__":
    main()
