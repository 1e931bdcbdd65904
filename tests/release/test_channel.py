"""The published channel: what it says of each value, against loops over all flows, and what it never spells out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tacit.release import Damaged, PublishedChannel, Treatment, channel_of, decoded, text_of
from tacit.tables import Symbols
from treatment_strategies import MISSING, becomes, mergings, mixings, names_of, some_symbols

OTHER, BLANK = "other", "suppressed"
Flows = dict[Any, float]


def normal(flows: Flows) -> Flows:
    total = sum(flows.values())
    return {to: mass / total for to, mass in flows.items() if mass > 0}


def told(channel: PublishedChannel) -> dict[Any, Flows]:
    """What the channel says becomes of every input."""
    names = [*names_of(channel.symbols), OTHER, BLANK]
    said = {}
    for x, k in zip(names, channel.draw.tolist(), strict=False):
        at = slice(channel.draws.starts[k], channel.draws.starts[k + 1])
        row = {x: 1.0} if k < 0 else dict(zip(channel.draws.at[at].tolist(), channel.draws.p[at].tolist(), strict=True))
        said[x] = row if k < 0 else {names[y]: p for y, p in row.items()}
    return said


@given(st.data())
def test_the_channel_is_that_of_the_treatment_with_rare_values_as_one(data: st.DataObject) -> None:
    own, symbols = data.draw(some_symbols()), data.draw(some_symbols())
    treatment: Treatment = data.draw(st.one_of(mergings(own), mixings(len(own))))
    records = np.array(data.draw(st.lists(st.integers(1, 20), min_size=len(symbols) + 1, max_size=len(symbols) + 1)))
    least = data.draw(st.integers(1, 21))
    people = dict(zip(names_of(symbols), records.tolist(), strict=False))
    channel = channel_of(treatment, own, symbols, records, least=least)
    common = [x for x, n in people.items() if n >= least]
    assert names_of(channel.symbols) == common

    def seen(y: tuple[Any, ...]) -> Any:
        return y if y in common else BLANK if y == MISSING else OTHER

    sources = {x: (x,) for x in common} | {OTHER: tuple(x for x in people if x not in common)}
    said = told(channel)
    for x, members in sources.items():
        flows: Flows = {}
        for member in members:
            for y, p in becomes(treatment, own, member).items():
                flows[seen(y)] = flows.get(seen(y), 0.0) + p * people[member]
        if x == OTHER:
            # Records that carry no weight are treated as any value that was never seen.
            for y, p in becomes(treatment, own, ("z", "z")).items():
                flows[seen(y)] = flows.get(seen(y), 0.0) + p * float(records[-1])
        assert said[x] == pytest.approx(normal(flows), rel=1e-4), x
    for at in range(2):
        check_column(channel, at, people, lambda x: becomes(treatment, own, x), least, int(records[-1]))


def check_column(channel: PublishedChannel, at: int, people: dict, becoming: Any, least: int, apart: int) -> None:
    """A column's channel, by loops."""
    own = channel.columns[at]
    levels = {x[at] for x in people}
    count = {level: sum(n for x, n in people.items() if x[at] == level) for level in levels}
    common = {level for level, n in count.items() if n >= least}
    values = list(own.values.levels[0])
    assert set(values[: own.inputs]) == common
    assert set(values[own.inputs :]) <= {None}
    inputs = {level: [(x, n) for x, n in people.items() if x[at] == level] for level in common}
    inputs[OTHER] = [(x, n) for x, n in people.items() if x[at] not in common] + [(("z", "z"), apart)]
    before, after = dict.fromkeys([*values, OTHER], 0.0), dict.fromkeys([*values, OTHER], 0.0)
    names = [*values[: own.inputs], OTHER]
    for row, x in zip(own.matrix, names, strict=True):
        flows: Flows = {}
        for member, n in inputs[x]:
            before[x] += n
            for y, p in becoming(member).items():
                to = y[at] if y[at] in values else OTHER
                flows[to] = flows.get(to, 0.0) + p * n
                after[to] += p * n
        told_here = {to: p for to, p in zip([*values, OTHER], row.tolist(), strict=True) if p > 0}
        assert told_here == pytest.approx(normal(flows), rel=1e-4)
    assert own.stationary == (after == pytest.approx(before) and own.inputs == len(values))


def example() -> PublishedChannel:
    symbols = Symbols(("x", "y"), (("a", "b"), ("p", None)), np.array([[0, 0], [0, 1], [1, 0]]))
    from scipy.sparse import csr_array

    from tacit.release import Mixing

    channel = Mixing(csr_array([[0.5, 0, 0.5, 0], [0, 1.0, 0, 0], [0.25, 0, 0.75, 0]]))
    return channel_of(channel, symbols, symbols, np.array([30, 2, 40, 0]), least=10)


def test_no_value_of_few_people_is_spelled_out() -> None:
    text = text_of(example())
    assert "null" not in json.dumps(json.loads(text)["symbols"])
    assert json.loads(text)["symbols"]["codes"] == [[0, 0], [1, 0]]


def test_it_comes_back_as_it_was_written_and_damage_is_refused() -> None:
    whole = json.loads(text_of(example()))
    assert decoded(PublishedChannel, whole).agrees(example())
    damage: list[Any] = [
        lambda data: data["draws"]["p"].__setitem__(0, 0.9),
        lambda data: data["draws"]["at"].__setitem__(0, 9),
        lambda data: data["draws"]["at"].pop(),
        lambda data: data["draw"].pop(),
        lambda data: data["draw"].__setitem__(0, 7),
        lambda data: data["columns"].pop(),
        lambda data: data["columns"][0].update(inputs=9),
        lambda data: data["columns"][0]["draws"].update(starts=[0, 1]),
        lambda data: data.pop("least"),
        lambda data: data.update(version=2),
    ]
    for change in damage:
        data = json.loads(text_of(example()))
        change(data)
        with pytest.raises(Damaged):
            decoded(PublishedChannel, data)


def test_other_probabilities_do_not_agree() -> None:
    data = json.loads(text_of(example()))
    first = data["draws"]["p"]
    first[0], first[1] = first[0] + 0.01, first[1] - 0.01
    assert not decoded(PublishedChannel, data).agrees(example())
