"""Where learned log-lifts are trimmed: the M of the tide paper."""

from __future__ import annotations

import math

from tacit.learn.arrays import Floats

# The paper's choice for posts.
LEAST_TRIM = 3.0


def trim_at(prior: Floats) -> float:
    """Log-lifts are trimmed to this, either way.

    A secret is ruled out by no more than this; none is kept from being as likely as can be: log-lift is at most minus
    the logarithm of the prior.
    """
    return max(LEAST_TRIM, -math.log(float(prior[prior > 0].min())))
