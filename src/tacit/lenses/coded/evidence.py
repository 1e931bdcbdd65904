"""What the proving part shows about a coded release: the same numbers for its maker and for whoever checks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.learn.arrays import Codes, Flags
from tacit.lenses.coded.parts import Parts
from tacit.lift import Matrix, certify_counts, guessing_ceiling
from tacit.release.bounds import LARGEST_EPSILON

# No epsilon is proved: a certificate holds finite numbers.
UNBOUNDED = LARGEST_EPSILON
# The share of beta, the chance that the claim is false, for epsilon, which hardly feels it; the ceiling has the rest.
SHARE_OF_EPSILON = 0.2


@dataclass(frozen=True)
class CodedEvidence:
    """What is proved about a coded release.

    ``guessed`` is how often the best guess is right if the codes' secrets are counted on the very same units: too high
    on average, and no proof. ``ceiling`` and ``epsilon`` hold with the confidence that was asked, for one draw of the
    units; ``smallest`` is the number of different people in the smallest released code, and ``prior`` the share of the
    commonest secret.
    """

    ceiling: float
    epsilon: float
    guessed: float
    prior: float
    smallest: int
    codes: int
    proved_on: int


def counts_of(secret: Codes, released: Codes, *, secrets: int, codes: int) -> Matrix:
    """Units of each pair of secret and released code."""
    flat = np.bincount(secret * codes + released, minlength=secrets * codes)
    return np.asarray(flat.reshape(secrets, codes), dtype=np.float64)


def evidence(
    secret: Codes, released: Codes, parts: Parts, *, secrets: int, possible: Flags, beta: float, tried: tuple[int, int]
) -> CodedEvidence:
    """What the units of the proving part show about all codes that are ``possible``.

    Guarantees
    ----------
    If the units are independent draws from a population, and the code and its channel depend only on the design part,
    ``ceiling`` and ``epsilon`` are both true of that population with probability at least 1 - beta. They then hold at
    once for all of the ``tried`` codes (one number for the ceiling, one for epsilon), however one of them was chosen.
    Copies may be people who said the same, or one person entered twice: both numbers are the larger of those proved
    with copies and without, so they are true either way.
    """
    proofs = [
        counts_of(secret[part], released[part], secrets=secrets, codes=len(possible))
        for part in (parts.apart, parts.proving)
    ]
    people = np.bincount(released[parts.different], minlength=len(possible))
    shares = (1 - SHARE_OF_EPSILON) * beta / tried[0], SHARE_OF_EPSILON * beta / tried[1]
    return CodedEvidence(
        ceiling=max(guessing_ceiling(counts, beta=shares[0]) for counts in proofs),
        epsilon=min(max(certify_counts(each[:, possible], beta=shares[1]).epsilon for each in proofs), UNBOUNDED),
        guessed=float(proofs[0].max(axis=0).sum() / proofs[0].sum()),
        prior=float(np.bincount(secret).max() / len(secret)),
        smallest=int(people[possible].min()),
        codes=int(possible.sum()),
        proved_on=int(parts.proving.sum()),
    )
