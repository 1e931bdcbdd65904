"""What SQL says of values that are nearly the same leaves none of them out."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from sizes import many
from tacit.person import similarity
from tacit.person.link.attributes import lent
from tacit.person.link.forms.near import BOUNDS, CAPS, KEYED, near_keys
from tacit.person.model.forms import ALIKE
from tacit.tables.engines import store_on

SOME = {
    "phone": ["+491605550199", "01605550199x7", "4155552671", "5550199"],
    "email": ["aliceq@gmail.com", "jo@web.de", "anna.berg@web.de"],
    "code": ["ab12345", "q7", "1234567"],
    "zip": ["02138", "2138", "sw1a1aa", "021381"],
}


def mistyped(chance, value):
    """One or two slips: a sign left out, put in, changed, swapped; a zero at the beginning lost or put there."""
    for _ in range(chance.choice([1, 1, 2])):
        at, sign = chance.randrange(len(value)), chance.choice("01579ab+")
        value = chance.choice(
            [
                value[:at] + value[at + 1 :],
                value[:at] + sign + value[at:],
                value[:at] + sign + value[at + 1 :],
                value[:at] + value[at : at + 2][::-1] + value[at + 2 :],
                value.lstrip("0"),
                "0" + value,
            ]
        )
        value = value or "0"
    return value


@pytest.mark.parametrize("near", KEYED)
def test_what_has_a_credit_shares_a_key_and_is_within_the_bound_and_the_cap(near):
    chance, alike, store = random.Random(near), similarity(near), store_on("duckdb")
    pairs = [(mistyped(chance, true), true) for true in SOME[near] for _ in range(many(100, 3_000))]
    pairs = [(held, true) for held, true in pairs if held != true and alike(held, true) > 0]
    assert len(pairs) > 50
    assert max(alike(held, true) for held, true in pairs) <= CAPS[near]
    with lent(store, pa.table({"meant": [held for held, _ in pairs], "actual": [true for _, true in pairs]})) as rows:
        keys = f"list_has_any({near_keys(near, 'meant')}, {near_keys(near, 'actual')})"
        missed = store.ask(f"SELECT meant, actual FROM {rows} WHERE NOT ({keys}) OR NOT ({BOUNDS[near]})")
    assert missed.to_pylist() == []


def test_every_similarity_that_knows_its_kind_has_a_cap():
    assert set(ALIKE) <= set(CAPS)
