"""Does a recomputed number agree with the one a certificate claims?"""

from __future__ import annotations

import numpy as np

from tacit.workflows.results import Check

# A recomputed number must agree to this; it leaves room for sums taken in another order.
AGREEMENT = 1e-9


def agree(a: float, b: float, *, within: float = AGREEMENT) -> bool:
    """Whether two numbers are the same but for rounding; infinity agrees with itself alone."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return a == b
    return abs(a - b) <= within * max(1.0, abs(a), abs(b))


def close(name: str, found: float, claimed: float, *, within: float = AGREEMENT) -> Check:
    """One line of a verification: a number recomputed beside the one claimed."""
    return Check(
        name, agree(found, claimed, within=within), f"recomputed {found:.9g}, the certificate says {claimed:.9g}"
    )
