"""What noise on flagged features only is worth: the repaired bound of the tide paper, counted on records."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lift import obfuscation_delta


def flagging_delta(
    flags: Flags, secret: Codes, *, epsilon: float, diameter: ArrayLike, scale: ArrayLike
) -> tuple[Floats, Floats]:
    """For every feature, the bound on E-gamma, gamma = e^epsilon, and the part of it that no noise removes.

    ``flags`` is records x features; ``diameter`` and ``scale`` are one for all features, or one for each. Both results
    are the largest over the two sides and the secrets (`obfuscation_delta`), with shares counted among the records.
    """
    by_secret = np.array([flags[secret == s].mean(axis=0) for s in range(int(secret.max()) + 1)])
    whole = np.broadcast_to(flags.mean(axis=0), by_secret.shape)
    flagged = by_secret > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.where(flagged, np.log(by_secret) - np.log(whole), -np.inf)

    def worst(diameter: ArrayLike, scale: ArrayLike) -> Floats:
        noise = [np.broadcast_to(each, by_secret.shape) for each in (diameter, scale)]
        # Where a secret never has the flag, seeing it rules the secret out: the whole share of flags is excess.
        back = whole.copy()
        back[flagged] = obfuscation_delta(whole[flagged], -lift[flagged], epsilon, *(each[flagged] for each in noise))
        return np.asarray(np.maximum(obfuscation_delta(by_secret, lift, epsilon, *noise), back).max(axis=0))

    return worst(diameter, scale), worst(0.0, np.inf)
