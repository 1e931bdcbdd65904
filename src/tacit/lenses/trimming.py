"""Where learned log-lifts are trimmed: the M of the tide paper."""

from __future__ import annotations

import math

from tacit.learn.arrays import Floats

# The paper's choice for posts.
LEAST_TRIM = 3.0


def trim_at(prior: Floats) -> float:
    """Log-lifts are trimmed to plus or minus this.

    Only evidence against a secret is ever cut off: log-lift is at most minus the logarithm of the prior, and the trim
    is never smaller than that.
    """
    return max(LEAST_TRIM, -math.log(float(prior[prior > 0].min())))
