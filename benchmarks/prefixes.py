"""Log-lift of all prefixes by running sums, against one forward pass per prefix; and training on faces and on words.

Run by itself: .venv/bin/python benchmarks/prefixes.py [faces|train|text]

Faces are GENKI-4K crops, 64 x 64, in 1,024 patches of 2 x 2, from $TACIT_DATA/genki4k, or synthetic if there are none.
The bags of words are synthetic: 75,946 x 24,657, Zipf's law, about 15 words each, some of which lean to a secret.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tacit.learn import PrefixLogLift
from tacit.learn.contract import one_thread
from tacit.learn.nets.prefix_net import ROWS_AT_ONCE, PrefixNetwork, lifts, prefix_scores

SIDE, PATCH, TRAINED, ASKED = 64, 2, 2_400, 600
POSTS, TERMS, WORDS = 75_946, 24_657, 15
# The baseline runs one prefix in this many; the rest would take as long.
EVERY = 8


def faces() -> tuple[str, np.ndarray, np.ndarray]:
    """Pixels between 0 and 1, and whether the face smiles."""
    path = Path(os.environ.get("TACIT_DATA", "data")) / "genki4k" / "genki4k_face64.npz"
    rng = np.random.default_rng(0)
    if path.exists():
        with np.load(path) as kept:
            pixels, smiles = kept["x"].reshape(len(kept["x"]), -1) / 255.0, kept["smile"].astype(int)
        chosen = rng.permutation(len(pixels))[: TRAINED + ASKED]
        return "GENKI-4K", pixels[chosen], smiles[chosen]
    print(f"no {path} (set TACIT_DATA): the faces are drawn")
    smiles = rng.integers(2, size=TRAINED + ASKED)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    mouth = np.exp(-(((rows - 46) / 4) ** 2) - ((columns - 32) / 12) ** 2).ravel()
    pixels = 0.5 + 0.15 * rng.normal(size=(len(smiles), SIDE * SIDE)) + 0.2 * np.outer(smiles - 0.5, mouth)
    return "drawn", pixels.clip(0, 1), smiles


def patches() -> np.ndarray:
    """The patch of every pixel."""
    rows, columns = np.divmod(np.arange(SIDE * SIDE), SIDE)
    return rows // PATCH * (SIDE // PATCH) + columns // PATCH


def one_pass_each(net: PrefixNetwork, design: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The baseline: for every prefix, blank the inputs of the other features and run the whole network."""
    out = np.empty((len(design), len(lengths), net.out.shape[1]))
    for at, length in enumerate(lengths.tolist()):
        masked = np.zeros_like(design)
        masked[:, : starts[length]] = design[:, : starts[length]]
        out[:, at] = net.scores(masked @ net.first + net.present[:length].sum(axis=0) + net.bias)
    return out


def compare(estimator: PrefixLogLift, pixels: np.ndarray) -> None:
    """Both ways on the same network, in double precision, on one thread."""
    net, starts, m = estimator.networks_[0], estimator.layout_.starts, estimator.n_groups_
    design = estimator.layout_.design(
        estimator.encoder_, estimator.encoder_.encode(estimator._cells(pixels, reset=False))
    )
    lengths = np.arange(EVERY, m + 1, EVERY)
    with one_thread():
        swept, scores = timed(lambda: prefix_scores(net, design, starts, np.arange(m)), repeat=3)
        each, checked = timed(lambda: one_pass_each(net, design, starts, lengths))
    each *= m / len(lengths)
    assert np.allclose(lifts(scores[:, lengths], estimator.prior_), lifts(checked, estimator.prior_), atol=1e-9)
    asked, _ = timed(lambda: estimator.prefix_log_lift(pixels))
    print(f"all {m:,} prefixes of {len(pixels)} faces: {swept:.2f} s by running sums, {ROWS_AT_ONCE:,} records at once")
    print(f"  one forward pass per prefix: {each:.1f} s, {each / swept:.0f} times as long")
    once = asked - swept
    print(f"  checking and encoding the pixels, which either way takes once: {once:.2f} s; with it, "
          f"{(each + once) / asked:.0f} times as long")  # fmt: skip


def train_faces() -> tuple[PrefixLogLift, np.ndarray]:
    """Train on 2,400 faces and see what whole faces and half faces tell about the others."""
    name, pixels, smiles = faces()
    seconds, estimator = timed(
        lambda: PrefixLogLift(groups=patches(), random_state=0).fit(pixels[:TRAINED], smiles[:TRAINED])
    )
    fresh, secret = pixels[TRAINED:], smiles[TRAINED:]
    lift = estimator.prefix_log_lift(fresh)
    guesses = (lift + np.log(estimator.prior_)).argmax(axis=2) == secret[:, None]
    said = lift[np.arange(len(fresh)), :, secret].mean(axis=0)
    half = (lift.shape[1] - 1) // 2
    print(f"training on {TRAINED:,} faces ({name}), {estimator.n_groups_:,} patches: {seconds:.0f} s")
    print(f"  of {len(fresh)} others: upper half {said[half]:.3f} nats, {guesses[:, half].mean():.3f} guessed; "
          f"whole {said[-1]:.3f} nats, {guesses[:, -1].mean():.3f}")  # fmt: skip
    return estimator, fresh


def words(n: int, rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray]:
    """Bags of words, their secrets and the true log ratios; every fifth term leans, by up to a factor of e."""
    fixed = np.random.default_rng(1)
    share = 1 / np.arange(10, TERMS + 10)
    lean = np.where(fixed.random(TERMS) < 0.2, fixed.uniform(-1, 1, size=TERMS), 0.0)
    shares = [share * np.exp(sign * lean / 2) for sign in (-1, 1)]
    secret = rng.integers(2, size=n)
    counts = rng.poisson(WORDS, size=n).clip(1)
    terms = np.empty(counts.sum(), dtype=np.int64)
    of = np.repeat(np.arange(n), counts)
    for k in range(2):
        here = np.flatnonzero(secret[of] == k)
        terms[here] = rng.choice(TERMS, size=len(here), p=shares[k] / shares[k].sum())
    bags = sparse.csr_array((np.ones(len(of)), (of, terms)), shape=(n, TERMS))
    bags.data[:] = 1.0
    bags.indices, bags.indptr = bags.indices.astype(np.int32), bags.indptr.astype(np.int32)
    return bags, secret, np.log(shares[1] / shares[1].sum()) - np.log(shares[0] / shares[0].sum())


def train_words() -> None:
    """Train on all posts but a tenth, and score every word of that tenth."""
    from sklearn.linear_model import SGDClassifier

    bags, secret, ratio = words(POSTS, np.random.default_rng(0))
    apart = POSTS // 10
    seconds, estimator = timed(lambda: PrefixLogLift(random_state=0).fit(bags[apart:], secret[apart:]))
    scored, found = timed(lambda: estimator.term_log_lift(bags[:apart]))
    guessed = (estimator.predict(bags[:apart]) == secret[:apart]).mean()
    linear = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0).fit(bags[apart:], secret[apart:])
    print(f"training on {POSTS - apart:,} x {TERMS:,} bags of words, {bags[apart:].nnz:,} entries: {seconds:.0f} s")
    print(f"  {len(found):,} words of {apart:,} other posts scored in {scored:.2f} s; guessed {guessed:.3f}; "
          f"a linear model {linear.score(bags[:apart], secret[:apart]):.3f}, "
        f"the law they are drawn from {((bags[:apart] @ ratio > 0) == secret[:apart]).mean():.3f}")  # fmt: skip


def timed(work: Any, repeat: int = 1) -> tuple[float, Any]:
    """The least CPU seconds that it took, and the result."""
    least, result = np.inf, None
    for _ in range(repeat):
        begun = time.process_time()
        result = work()
        least = min(least, time.process_time() - begun)
    return least, result


def main() -> None:
    """Run what was asked for, or all."""
    asked = set(sys.argv[1:]) or {"faces", "text"}
    if asked & {"faces", "train"}:
        estimator, fresh = train_faces()
        if "faces" in asked:
            compare(estimator, fresh)
    if "text" in asked:
        train_words()
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    main()
