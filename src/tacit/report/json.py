"""A result as one object of strict JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tacit.document import converted
from tacit.document.quantities import unit_name
from tacit.errors import Wording

if TYPE_CHECKING:
    from tacit.report.result import Result


def plain(value: Any) -> Any:
    """``value`` as strict JSON types; infinity is written ``"inf"``, not-a-number becomes null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.repr}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        # A numpy array or scalar; this room does not import numpy.
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (bool, int)):
        return value
    return str(value)


def to_json(result: Result, *, bits: bool = False) -> str:
    """The whole result as one JSON object, in the order of its fields.

    Parameters
    ----------
    result : Result
        What a verb found.
    bits : bool
        Give information quantities in bits instead of nats; the key ``unit`` says which. Results
        about a person have neither.

    Returns
    -------
    str
        Strict JSON: infinity is ``"inf"`` or ``"-inf"``, and not-a-number null.
    """
    wording = Wording(bits=bits)
    answer = converted(result, wording).to_dict()
    unit = {"unit": unit_name(wording)} if result.has_unit else {}
    return json.dumps({"result": answer.pop("result"), **unit, **answer}, indent=2, allow_nan=False)
