"""The array types used in this package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Mask, Matrix

Floats = Matrix
Flags = Mask
Codes = NDArray[np.int64]
Singles = NDArray[np.float32]
