"""The kinds of arrays that this room speaks of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Mask, Matrix

Floats = Matrix
Flags = Mask
Codes = NDArray[np.int64]
Singles = NDArray[np.float32]
