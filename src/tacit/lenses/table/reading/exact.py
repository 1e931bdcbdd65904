"""Give columns of a release that are told exactly their own type: true and not "true", 7 and not "7"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.codes.code import CellCode
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.prefixes import PrefixScale
from tacit.codes.scales.scale import Scale
from tacit.lenses.table.reading.atoms import ranges_of

if TYPE_CHECKING:
    import pyarrow as pa


def exactly(data: pa.Table, code: CellCode) -> pa.Table:
    """The released data; columns in which every row states a single value, or that it is missing, get their own type.

    Guarantees
    ----------
    Nothing is said that the text did not say; a column with a single range, group or "any" in it stays text.
    """
    import pyarrow as pa

    for at, name in enumerate(code.columns):
        meant = {} if name in code.numbers else code.meant(at)
        values = _single_values(code.scales[at])
        single = {level: values[int(np.flatnonzero(part)[0])] for level, part in meant.items() if part.sum() == 1}
        if not meant or len(single) < len(meant) or any(value is _UNTOLD for value in single.values()):
            continue
        encoded = data.column(name).combine_chunks().dictionary_encode()
        if set(encoded.dictionary.to_pylist()) <= set(single):
            typed = pa.array([single[level] for level in encoded.dictionary.to_pylist()])
            data = data.set_column(data.column_names.index(name), name, typed.take(encoded.indices))
    return data


_UNTOLD: Any = object()


def _single_values(scale: Scale) -> list[Any]:
    """The value of each atom, if it is a single one; missing is None."""
    absent = [None] if scale.has_missing else []
    ranges = ranges_of(scale) if scale.kind == "numbers" else None  # type: ignore[attr-defined]
    if ranges is not None and ranges.whole:
        pairs = zip(ranges.low.tolist(), ranges.high.tolist(), strict=True)
        return [*(int(low) if low == high else _UNTOLD for low, high in pairs), *absent]
    if isinstance(scale, ListedScale) and not (isinstance(scale, PrefixScale) and scale.length is not None):
        others = [_UNTOLD] if isinstance(scale, CategoryScale) and scale.has_others else []
        return [*scale.symbols.levels[0][: len(scale.values)], *others, *absent]
    return [_UNTOLD] * scale.size
