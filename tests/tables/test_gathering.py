"""Named values of a column and the rest: a value that is not there is refused, whatever the column holds."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tacit.errors import DataError
from tacit.tables import open_table
from tacit.tables.gathering import REST, gathered


def test_booleans_are_named_true_or_false():
    table = open_table(pa.table({"ill": [True, False, None, True]}))
    named = gathered(table, "ill", ["True"])
    assert named.sample(["ill"], 10).column("ill").to_pylist() == ["True", REST, REST, "True"]
    # What is neither must not be read as false: the secret would be another one.
    for typed in ("treu", "1", "yes", ""):
        with pytest.raises(DataError, match=f"holds true and false, and '{typed}' is neither"):
            gathered(table, "ill", [typed])


def test_a_value_that_is_no_number_is_refused_in_a_column_of_numbers():
    table = open_table(pa.table({"age": [1, 2, 3]}))
    with pytest.raises(DataError, match="holds numbers, and 'old' is not one"):
        gathered(table, "age", ["old"])
