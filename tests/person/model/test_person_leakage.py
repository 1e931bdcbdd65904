"""Record leakage: the exact method against possible worlds, its laws, batches, contributions and derivatives."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oracles_person import leakage_by_worlds, possible_worlds, weights_of_world
from sizes import many
from tacit.errors import ArgumentError, DataError
from tacit.person import (
    Attribute,
    Correlated,
    Label,
    Labels,
    Record,
    Reference,
    bits,
    compare,
    completeness,
    contributions,
    correctness,
    entropy_bits,
    exp_abs,
    f_beta,
    gradient,
    leakage_batch,
    measure,
    prior_of,
    record_leakage,
    record_leakages,
    record_precision,
    record_recall,
    shared_weights,
    surprisal,
)
from tacit.person.model.leakage import leakage_of
from tacit.person.model.quadrature import TOLERANCE, nodes
from tacit.person.model.worlds import MOST_ATTRIBUTES

EXACT = 1e-12  # the relative error that record_leakage promises


# ------------------------------------------------------------------------------------------------ strategies

confidences = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 1 - 1e-10, 1e-10]), st.floats(0, 1, allow_subnormal=False, width=32)
)
weights = st.floats(-3, 3).map(lambda power: 10.0**power)
digits = st.integers(0, 9).map(str)
LABELS = ("a", "b", "c", "d")


@st.composite
def label_descriptions(draw: st.DrawFn, *, single: bool | None = None) -> Label:
    """Labels whose values are digits, with everything a label can have."""
    return Label(
        weight=draw(weights),
        single=draw(st.booleans()) if single is None else single,
        similarity=draw(st.sampled_from([None, exp_abs(2)])),
        suppressed=draw(st.sampled_from(["equal", "size", "prior"])),
        domain=[str(i) for i in range(10)],
        prior={str(i): (i + 1) / 55 for i in range(10)} if draw(st.booleans()) else None,
        synonyms=draw(st.sampled_from([{}, {"1": "2", "7": "8"}])),
    )


@st.composite
def general_cases(draw: st.DrawFn, *, most: int = 8) -> tuple[Record, Reference, Labels]:
    """A record, a reference and labels with every kind of dependence."""
    described = {}
    for name in LABELS:
        label = draw(label_descriptions())
        if label.suppressed == "prior" and label.prior is None:
            label = Label(label.weight, label.single, similarity=label.similarity, synonyms=label.synonyms)
        described[name] = label
    groups = draw(st.sampled_from([(), (("a", "b"),), (("a", "b", "c"),), (("a", "c"), ("b", "d"))]))
    labels = Labels(described, correlated=[Correlated(group, draw(weights)) for group in groups])
    facts = draw(st.lists(st.tuples(st.sampled_from(LABELS), digits), min_size=1, max_size=5, unique=True))
    values = st.one_of(digits, st.sampled_from(["*", ">=5", "[2-6)", "{1, 9}"]))
    held = draw(st.lists(st.tuples(st.sampled_from(LABELS), values), max_size=most, unique=True))
    return Record([(*fact, draw(confidences)) for fact in held]), Reference(facts), labels


@st.composite
def plain_cases(draw: st.DrawFn, *, most: int = 9) -> tuple[Record, Reference, Labels]:
    """Independent attributes: labels of their own, weights over six orders of magnitude."""
    size = draw(st.integers(1, most))
    labels = Labels.weighted({f"l{i}": draw(weights) for i in range(size)})
    right = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    record = Record([(f"l{i}", "true" if right[i] else "false", draw(confidences)) for i in range(size)])
    absent = draw(st.lists(st.integers(size, size + 3), max_size=3, unique=True))
    known = [(f"l{i}", "true") for i in range(size) if right[i] or draw(st.booleans())]
    return record, Reference([*known, ("always", "true"), *((f"l{i}", "true") for i in absent)]), labels


def by_fractions(record: Record, reference: Reference, labels: Labels) -> Fraction:
    """Definition 1 in exact arithmetic, for independent attributes that are right or wrong."""
    true = set(reference.facts)
    weighed = [Fraction(labels[a.label].weight) for a in record]
    whole = sum((Fraction(labels[label].weight) for label, _ in true), Fraction(0))
    total = Fraction(0)
    for world in range(1 << len(record)):
        chance, held, right = Fraction(1), Fraction(0), Fraction(0)
        for place, attribute in enumerate(record):
            if world >> place & 1:
                chance *= Fraction(attribute.confidence)
                held += weighed[place]
                right += weighed[place] if attribute.fact in true else 0
            else:
                chance *= 1 - Fraction(attribute.confidence)
        total += chance * 2 * right / (held + whole)
    return total


def near(value: float, wanted: float, *, error: float = EXACT) -> bool:
    return abs(value - wanted) <= error * abs(wanted)


# ------------------------------------------------------------------------------------------------ quadrature


@pytest.mark.parametrize("ratio", [1, 1.2, 1.5, 2, 2.3, 3, 4, 6, 8, 10, 12, 16, 30, 64, 65, 1e3, 1e6, 1e9, 1e12, 1e18])
def test_exponential_sums_are_as_near_to_the_reciprocal_as_promised(ratio: float) -> None:
    u, omega = nodes(ratio)
    assert np.all(u > 0)
    assert np.all(omega > 0)
    for x in np.geomspace(1, ratio, 2001).tolist():
        approximation = math.fsum(w * math.exp(-a * x) for a, w in zip(u.tolist(), omega.tolist(), strict=True))
        assert abs(1 - x * approximation) <= 1.2 * TOLERANCE


@pytest.mark.parametrize(("ratio", "most"), [(2, 7), (4, 10), (8, 12), (16, 16), (1e3, 45), (1e12, 120)])
def test_few_terms_suffice(ratio: float, most: int) -> None:
    assert len(nodes(ratio)[0]) <= most


@pytest.mark.parametrize("ratio", [0.5, math.inf, math.nan])
def test_a_ratio_that_cannot_be_is_refused(ratio: float) -> None:
    with pytest.raises(ArgumentError, match="finite weights"):
        nodes(ratio)


# --------------------------------------------------------------------------------- exact against definitions


@given(plain_cases())
def test_the_exact_method_is_the_definition_in_exact_arithmetic(case: tuple[Record, Reference, Labels]) -> None:
    record, reference, labels = case
    assert near(record_leakage(record, reference, labels=labels), float(by_fractions(*case)))


@settings(max_examples=many(25, 250))
@given(general_cases(), st.sampled_from([0.0, 0.3, 1.0, 2.0]))
def test_the_exact_method_agrees_with_possible_worlds_under_every_dependence(
    case: tuple[Record, Reference, Labels], beta: float
) -> None:
    record, reference, labels = case
    exact = record_leakage(record, reference, labels=labels, beta=beta)
    assert near(exact, leakage_by_worlds(record, reference, labels, beta=beta))
    assert near(exact, record_leakage(record, reference, labels=labels, beta=beta, method="worlds"))
    assert 0 <= exact <= 1


@given(general_cases())
def test_expected_precision_and_recall_are_sums_over_possible_worlds(case: tuple[Record, Reference, Labels]) -> None:
    record, reference, labels = case
    found = compare(record, reference, labels)
    precision, recall, total = 0.0, 0.0, 0.0
    for chance, places in possible_worlds(record, found, labels):
        held, right = weights_of_world(places, record, found, labels)
        precision += chance * right / held if right > 0 else 0.0
        recall += chance * right / found.reference_weight
        total += chance
    assert total == pytest.approx(1, abs=1e-12)
    result = measure(record, reference, labels)
    assert result.precision == pytest.approx(precision, rel=1e-11)
    assert result.recall == pytest.approx(recall, rel=1e-11)
    assert result.precision == record_precision(record, reference, labels=labels)
    assert result.recall == record_recall(record, reference, labels=labels)


@given(general_cases(), st.dictionaries(st.sampled_from(LABELS), weights))
def test_labels_with_weights_alone_are_compared_as_all_others_are(
    case: tuple[Record, Reference, Labels], weighed: dict[str, float]
) -> None:
    record, reference, _ = case
    plain = Labels.weighted(weighed)
    # A label nobody uses, told to be more than a weight, sends the comparison the long way.
    told = Labels({**plain, "unused": Label(synonyms={"a": "b"})})
    assert plain.plain
    assert not told.plain
    quick, long = compare(record, reference, plain), compare(record, reference, told)
    for name in ("confidence", "share", "weight", "credit", "hit", "alone"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(long, name))
    for name in ("kinds", "units", "missing", "reference_weight"):
        assert getattr(quick, name) == getattr(long, name)


def test_a_golden_record_of_uneven_weights() -> None:
    p = ["1/10", "1/2", "9/10", "1/3", "1"]
    w = ["1/2", "1", "1/4", "2/3", "1/5"]
    right = [1, 0, 1, 1, 0]
    labels = Labels.weighted(
        {f"l{i}": float(Fraction(x)) for i, x in enumerate(w)} | {"rest": 3 - 1 / 2 - 1 / 4 - 2 / 3}
    )
    record = Record([(f"l{i}", right[i], float(Fraction(x))) for i, x in enumerate(p)])
    reference = Reference([*((f"l{i}", 1) for i in range(5) if right[i]), ("rest", 1)])
    exact = Fraction(16594473062925341140718693, 72871146007852250804997108)
    assert near(record_leakage(record, reference, labels=labels), float(exact))
    assert near(record_leakage(record, reference, labels=labels, method="worlds"), float(exact))
    second = record_leakage(record, reference, labels=labels, method="second_order")
    assert second == pytest.approx(0.22765697265859577, rel=1e-12)


def test_weights_over_many_orders_of_magnitude_stay_exact() -> None:
    # Almost certain, enormous and wrong: the leakage comes almost only from the worlds in which it is absent.
    for wrong in (1 - 1e-10, 1 - 2**-40, 0.5, 1.0):
        for heavy in (1e3, 1e6, 1e9, 1e12):
            labels = Labels.weighted({"x": heavy, "n": 1.0, "m": 1e-6})
            record = Record([("x", "false", wrong), ("n", "true", 0.7), ("m", "true", 0.2)])
            reference = Reference([("n", "true"), ("m", "true")])
            wanted = float(by_fractions(record, reference, labels))
            assert near(record_leakage(record, reference, labels=labels), wanted)


@pytest.mark.parametrize("heavy", [1e-100, 1e-50, 1.0, 1e50, 1e100])
@pytest.mark.parametrize("light", [1e-100, 1e-6, 1.0, 1e100])
@pytest.mark.parametrize("unlikely", [1e-199, 1e-100, 0.5])
def test_exactness_holds_up_to_the_ends_of_the_range_that_is_promised(
    heavy: float, light: float, unlikely: float
) -> None:
    labels = Labels.weighted({"x": heavy, "n": light, "m": 1.0})
    record = Record([("x", "false", 1 - 1e-10), ("n", "true", unlikely), ("m", "false", 0.3)])
    reference = Reference([("n", "true"), ("m", "true")])
    wanted = by_fractions(record, reference, labels)
    if wanted >= Fraction(1, 10**200):
        assert record_leakage(record, reference, labels=labels) == pytest.approx(float(wanted), rel=EXACT, abs=0)


def test_below_the_range_a_leakage_may_be_lost_as_the_promise_says() -> None:
    # The weight times the confidence is 1e-347, which no number is; the leakage is 1e-148.
    labels = Labels.weighted({"n": 1e-199})
    record, reference = Record([("n", "true", 1e-148)]), Reference([("n", "true")])
    assert by_fractions(record, reference, labels) > Fraction(1, 10**149)
    assert record_leakage(record, reference, labels=labels) == 0


def test_a_long_record_is_exact_too() -> None:
    # Equal weights: the number of attributes present is a sum of two binomials, added term by term.
    from scipy.stats import binom

    n, p, q = 4_000, 0.3, 1e-3
    record = Record([("right", i, p) for i in range(n)] + [("wrong", i, q) for i in range(n)])
    reference = Reference([("right", i) for i in range(n)])
    k = np.arange(n + 1)
    right, wrong = binom.pmf(k, n - 1, p), binom.pmf(k, n, q)
    present = np.convolve(right, wrong)
    wanted = math.fsum(2 * n * p * present / (n + 1 + np.arange(len(present))))
    assert record_leakage(record, reference) == pytest.approx(wanted, rel=1e-11)


@given(plain_cases(most=7))
def test_algorithm_1_agrees_where_weights_are_equal(case: tuple[Record, Reference, Labels]) -> None:
    record, reference, _ = case
    wanted = float(by_fractions(record, reference, Labels()))
    assert record_leakage(record, reference, method="algorithm1") == pytest.approx(wanted, rel=1e-12)
    doubled = Labels.weighted(dict.fromkeys({a.label for a in record} | {label for label, _ in reference}, 3.0))
    assert record_leakage(record, reference, labels=doubled, method="algorithm1") == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("size", "low", "high"), [(10, 1e-6, 1e-3), (100, 1e-8, 1e-5), (1000, 1e-10, 1e-7)])
def test_the_second_order_errs_as_the_square_of_the_number_of_attributes(size: int, low: float, high: float) -> None:
    rng = np.random.default_rng(size)
    record = Record([("l", i, p) for i, p in enumerate(rng.random(size))])
    reference = Reference([("l", i) for i in range(0, 2 * size, 2)])
    exact = record_leakage(record, reference)
    assert low < abs(record_leakage(record, reference, method="second_order") / exact - 1) < high


def test_the_second_order_may_err_by_more_than_a_third_if_weights_are_very_unequal() -> None:
    record = Record([("n", "true", 0.5), ("x", "false", 0.9)])
    reference, labels = Reference([("n", "true")]), Labels.weighted({"x": 1000.0})
    exact = record_leakage(record, reference, labels=labels)
    assert abs(record_leakage(record, reference, labels=labels, method="second_order") / exact - 1) > 1 / 3


def test_slow_methods_refuse_what_they_cannot_do_and_say_the_way_out() -> None:
    reference = Reference([("a", "1")])
    many = Record([("a", i, 0.5) for i in range(MOST_ATTRIBUTES + 1)])
    with pytest.raises(ArgumentError, match="method='exact'"):
        record_leakage(many, reference, method="worlds")
    two = Record([("a", "1", 0.5), ("a", "2", 0.5)])
    for method in ("algorithm1", "second_order"):
        with pytest.raises(ArgumentError, match=r"independent.*method='exact'"):
            record_leakage(two, reference, labels=Labels({"a": Label(single=True)}), method=method)
    with pytest.raises(ArgumentError, match=r"one weight.*method='exact'"):
        record_leakage(Record([("a", "1"), ("b", "1")]), reference, {"b": 2}, method="algorithm1")
    with pytest.raises(ArgumentError, match="no method 'quick'"):
        record_leakage(two, reference, method="quick")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="both weights and labels"):
        record_leakage(two, reference, {"a": 1}, labels=Labels())
    for beta in (-1.0, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="beta"):
            record_leakage(two, reference, beta=beta)


# ------------------------------------------------------------------------------------------------------ laws


@given(general_cases(), st.sampled_from([1e-6, 0.3, 7.0, 1e5]))
def test_only_ratios_of_weights_count(case: tuple[Record, Reference, Labels], factor: float) -> None:
    record, reference, labels = case
    scaled = Labels(
        {name: replace(labels[name], weight=labels[name].weight * factor) for name in labels},
        correlated=[replace(group, shared=group.shared * factor) for group in labels.correlated],
    )
    before = record_leakage(record, reference, labels=labels)
    assert near(record_leakage(record, reference, labels=scaled), before, error=1e-11)


@given(plain_cases(), st.data())
def test_more_confidence_raises_the_leakage_of_the_right_and_lowers_that_of_the_wrong(
    case: tuple[Record, Reference, Labels], data: st.DataObject
) -> None:
    record, reference, labels = case
    place = data.draw(st.integers(0, len(record) - 1))
    surer = list(record.attributes)
    label, value, confidence = surer[place]
    surer[place] = Attribute(label, value, confidence + (1 - confidence) * data.draw(st.floats(0, 1)))
    before = record_leakage(record, reference, labels=labels)
    after = record_leakage(Record(surer), reference, labels=labels)
    if value == "true":
        assert after >= before * (1 - EXACT)
    else:
        assert after <= before * (1 + EXACT)


@given(general_cases(), st.randoms(use_true_random=False))
def test_the_order_of_attributes_and_facts_does_not_matter(
    case: tuple[Record, Reference, Labels], chance: object
) -> None:
    record, reference, labels = case
    before = record_leakage(record, reference, labels=labels)
    attributes, facts = list(record.attributes), list(reference.facts)
    chance.shuffle(attributes)  # type: ignore[attr-defined]
    chance.shuffle(facts)  # type: ignore[attr-defined]
    assert near(record_leakage(Record(attributes), Reference(facts), labels=labels), before, error=1e-11)


@given(plain_cases())
def test_names_of_labels_and_values_do_not_matter(case: tuple[Record, Reference, Labels]) -> None:
    record, reference, labels = case
    renamed = Labels.weighted({f"new {name}": labels[name].weight for name in labels})
    other = record_leakage(
        Record([(f"new {a.label}", f"{a.value}!", a.confidence) for a in record]),
        Reference([(f"new {label}", f"{value}!") for label, value in reference]),
        labels=renamed,
    )
    assert other == record_leakage(record, reference, labels=labels)


@given(general_cases())
def test_a_record_that_is_the_reference_leaks_all_and_one_that_knows_nothing_leaks_nothing(
    case: tuple[Record, Reference, Labels],
) -> None:
    _, reference, labels = case
    # Each fact once: of a single-valued label a record holds one value.
    facts = {
        labels[label].meant(value) if not labels[label].single else label: (label, value) for label, value in reference
    }
    whole = Reference({(label, labels[label].meant(value)) for label, value in facts.values()})
    result = measure(Record(whole.facts), whole, labels)
    if compare(Record(whole.facts), whole, labels).reference_weight > 0:
        assert result.value == pytest.approx(1, abs=1e-12)
        assert result.precision == pytest.approx(1, abs=1e-12)
        assert result.recall == pytest.approx(1, abs=1e-12)
    nothing = measure(Record([(*fact, 0.0) for fact in whole]), whole, labels)
    assert (nothing.value, nothing.precision, nothing.recall) == (0, 0, 0)


def test_an_empty_record_leaks_nothing() -> None:
    result = measure(Record([]), Reference([("a", "1")]))
    assert (result.value, result.precision, result.recall) == (0, 0, 0)
    assert f_beta(Record([]), Reference([("a", "1")])) == 0
    assert contributions(Record([]), Reference([("a", "1")])).tolist() == []


def test_labels_refuse_a_policy_that_there_is_not() -> None:
    with pytest.raises(ArgumentError, match="equal, size, prior"):
        Label(suppressed="some")  # type: ignore[arg-type]


def test_what_weighs_nothing_leaks_nothing() -> None:
    record, reference = Record([("a", "1", 0.5), ("b", "2", 0.5)]), Reference([("a", "1"), ("b", "1")])
    assert measure(record, reference, Labels.weighted({"a": 0, "b": 0})).value == 0
    assert record_leakage(record, reference, {"a": 0}) == 0
    assert gradient(record, reference, Labels.weighted({"a": 0})).tolist() == [0, 0]


@given(general_cases())
def test_a_record_taken_at_its_word_is_the_world_in_which_all_is_present(
    case: tuple[Record, Reference, Labels],
) -> None:
    record, reference, labels = case
    found = compare(record, reference, labels)
    held, right = weights_of_world(tuple(range(len(record))), record, found, labels)
    whole = found.reference_weight
    assert correctness(record, reference, labels=labels) == pytest.approx(right / held if held else 0)
    assert completeness(record, reference, labels=labels) == pytest.approx(right / whole if whole else 0)
    wanted = 5 * right / (held + 4 * whole) if right else 0
    assert f_beta(record, reference, labels=labels, beta=2) == pytest.approx(wanted)


# --------------------------------------------------------------------------------------------------- batches


@given(st.lists(plain_cases(), min_size=1, max_size=6), st.sampled_from([0.0, 1.0, 2.0]))
def test_a_batch_gives_each_record_the_leakage_it_has_alone(
    cases: list[tuple[Record, Reference, Labels]], beta: float
) -> None:
    found = [compare(*case) for case in cases]
    empty = compare(Record([]), *cases[0][1:])
    found = [empty, found[0], empty, *found[1:], empty]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in found])])
    together = leakage_batch(
        starts,
        *(np.concatenate([getattr(one, name) for one in found]) for name in ("confidence", "weight", "credit")),
        [one.reference_weight for one in found],
        beta=beta,
    )
    assert together[[0, 2, -1]].tolist() == [0, 0, 0]
    for value, case in zip(np.delete(together, [0, 2, -1]), cases, strict=True):
        assert near(float(value), leakage_by_worlds(*case, beta=beta))


@given(st.lists(general_cases(), min_size=1, max_size=5))
def test_many_records_against_one_reference_are_as_one_by_one(cases: list[tuple[Record, Reference, Labels]]) -> None:
    _, reference, labels = cases[0]
    records = [record for record, _, _ in cases]
    together = record_leakages(records, reference, labels)
    for value, record in zip(together, records, strict=True):
        assert near(float(value), record_leakage(record, reference, labels=labels))


def test_a_batch_is_cut_into_parts_that_fit_and_long_records_among_short_ones_are_right() -> None:
    rng = np.random.default_rng(5)
    few = many(2_000, 20_000)
    lengths = np.concatenate([rng.integers(0, 12, few), [many(20_000, 150_000)], rng.integers(0, 12, few)])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    n = int(starts[-1])
    p, w = rng.random(n), rng.lognormal(0, 2, n)
    p[rng.random(n) < 0.2] = 1
    c = np.where(rng.random(n) < 0.5, w, 0)
    whole = rng.lognormal(3, 1, len(lengths)) + 1
    together = leakage_batch(starts, p, w, c, whole)
    for i in [*rng.integers(0, len(lengths), 50).tolist(), few]:
        own = slice(starts[i], starts[i + 1])
        labels = Labels.weighted(
            {f"l{j}": float(weight) for j, weight in enumerate(w[own])} | {"rest": float(whole[i])}
        )
        right = np.flatnonzero(c[own] > 0)
        record = Record([(f"l{j}", int(c[own][j] > 0), float(p[own][j])) for j in range(lengths[i])])
        # The reference of record i is made up to the weight that the batch was told.
        reference = Reference([*((f"l{j}", 1) for j in right), ("rest", 1)])
        found = replace(compare(record, reference, labels), reference_weight=float(whole[i]))
        assert near(float(together[i]), leakage_of(found), error=1e-12)


def test_a_batch_of_certain_records_is_the_fraction_itself() -> None:
    found = leakage_batch([0, 2, 5], [1, 0, 1, 1, 0.5], [1, 9, 1, 1, 1], [1, 9, 1, 0, 1], [2, 3])
    assert found[0] == 2 / 3
    assert found[1] == pytest.approx((2 / 5 + 4 / 6) / 2, rel=1e-13)


def test_a_batch_says_what_is_wrong_with_its_arrays() -> None:
    one = np.ones(2)
    with pytest.raises(ArgumentError, match="starts"):
        leakage_batch([1, 2], one, one, one, 1)
    with pytest.raises(ArgumentError, match="one number per attribute"):
        leakage_batch([0, 3], one, one, one, 1)
    with pytest.raises(ArgumentError, match="confidence"):
        leakage_batch([0, 2], one * 2, one, one, 1)
    with pytest.raises(ArgumentError, match="credit"):
        leakage_batch([0, 2], one, one, one * 2, 1)
    with pytest.raises(ArgumentError, match="reference weight"):
        leakage_batch([0, 2], one, one, one, -1)
    assert leakage_batch([0], [], [], [], 1).tolist() == []
    assert leakage_batch([0, 0], [], [], [], 1).tolist() == [0]


# ---------------------------------------------------------------------------------- contributions, gradients


@settings(max_examples=many(30, 120))
@given(general_cases(), st.sampled_from([0.5, 1.0]))
def test_contributions_are_what_removing_each_attribute_takes_away(
    case: tuple[Record, Reference, Labels], beta: float
) -> None:
    record, reference, labels = case
    whole = leakage_by_worlds(record, reference, labels, beta=beta)
    found = contributions(record, reference, labels, beta=beta)
    for attribute, value in zip(record, found, strict=True):
        without = leakage_by_worlds(record.without(attribute), reference, labels, beta=beta)
        assert abs(value - (whole - without)) <= 1e-11 * max(whole, without)


@settings(max_examples=many(30, 120))
@given(general_cases(), st.data())
def test_the_derivative_is_the_slope_of_the_leakage(
    case: tuple[Record, Reference, Labels], data: st.DataObject
) -> None:
    record, reference, labels = case
    if not len(record):
        return
    place = data.draw(st.integers(0, len(record) - 1))
    attribute = record.attributes[place]

    def at(confidence: float) -> float:
        changed = list(record.attributes)
        changed[place] = attribute._replace(confidence=confidence)
        return leakage_by_worlds(Record(changed), reference, labels)

    slope = float(gradient(record, reference, labels)[place])
    if not labels[attribute.label].single:
        # A straight line: any two points will do.
        low, high = at(0.0), at(1.0)
        assert abs(slope - (high - low)) <= 1e-11 * max(low, high)
        return
    step = 1e-5
    total = sum(a.confidence for a in record if a.label == attribute.label)
    if step < attribute.confidence < 1 - step and abs(total - 1) > 0.01:
        rise = (at(attribute.confidence + step) - at(attribute.confidence - step)) / (2 * step)
        assert slope == pytest.approx(rise, abs=1e-4 * max(1e-3, abs(slope)) + 1e-6)


def test_certain_heavy_attributes_do_not_spoil_the_contributions_of_others() -> None:
    labels = Labels.weighted({"x": 1e9, "y": 1e6, "n": 1.0, "m": 1e-3})
    record = Record([("x", "false", 1.0), ("y", "true", 1.0), ("n", "true", 0.7), ("m", "true", 0.2)])
    reference = Reference([("n", "true"), ("m", "true")])
    found = contributions(record, reference, labels)
    whole = by_fractions(record, reference, labels)
    for attribute, value in zip(record, found, strict=True):
        without = by_fractions(record.without(attribute), reference, labels)
        assert near(float(value), float(whole - without), error=1e-10)


# ---------------------------------------------------------------------------------- the model's finer points


def test_values_of_a_single_valued_label_exclude_one_another() -> None:
    record, reference = Record([("N", "n"), ("A", 20, 0.5), ("A", 30, 0.4)]), Reference([("N", "n"), ("A", 20)])
    assert record_leakage(record, reference) == pytest.approx(0.76, rel=1e-12)
    exclusive = Labels({"A": Label(single=True)})
    assert record_leakage(record, reference, labels=exclusive) == pytest.approx(23 / 30, rel=1e-12)


def test_confidences_of_exclusive_values_that_exceed_one_are_scaled() -> None:
    labels = Labels({"A": Label(single=True)})
    reference = Reference([("A", 20), ("N", "n")])
    many = record_leakage(Record([("A", 20, 0.8), ("A", 30, 0.8)]), reference, labels=labels)
    assert many == pytest.approx(record_leakage(Record([("A", 20, 0.5), ("A", 30, 0.5)]), reference, labels=labels))


@pytest.mark.parametrize(("guess", "wanted"), [(30, 0.8), (31, 0.762), (40, 0.547), (80, 0.403)])
def test_a_near_guess_of_an_age_leaks_more_than_a_wild_one(guess: int, wanted: float) -> None:
    labels = Labels({"age": Label(similarity=exp_abs(10))})
    reference = Reference([("name", "Alice"), ("age", 30), ("zip", 111)])
    value = record_leakage(Record([("name", "Alice"), ("age", guess)]), reference, labels=labels)
    assert value == pytest.approx(wanted, abs=5e-4)


def test_several_near_values_of_one_fact_have_credit_once() -> None:
    labels = Labels({"age": Label(similarity=exp_abs(10))})
    reference = Reference([("name", "Alice"), ("age", 30), ("zip", 111)])
    record = Record([("name", "Alice"), ("age", 30, 0.5), ("age", 31, 0.4), ("age", 80, 0.3)])
    assert record_leakage(record, reference, labels=labels) == pytest.approx(0.6416, abs=5e-5)


def test_what_correlated_labels_share_is_counted_once() -> None:
    labels = Labels({"A": Label(weight=3), "P": Label(weight=1)}, correlated=[Correlated(("A", "P"), 2)])
    reference = Reference([("A", "123 Main"), ("P", 555)])
    record = Record([("A", "123 Main", 0.6), ("P", 555, 0.7)])
    assert record_leakage(record, reference, labels=labels) == pytest.approx(0.770, abs=5e-4)
    assert f_beta(Record([("P", 555)]), reference, labels=labels) == pytest.approx(2 * 3 / (3 + 6))
    # A wrong phone tells a wrong joint part besides the right one of the address; two wrong phones do so once.
    assert f_beta(Record([("A", "123 Main"), ("P", 1)]), reference, labels=labels) == pytest.approx(2 * 5 / (5 + 3 + 6))
    two = Record([("A", "123 Main"), ("P", 1), ("P", 2)])
    assert f_beta(two, reference, labels=labels) == pytest.approx(2 * 5 / (5 + 2 + 1 + 1 + 6))


def test_a_suppressed_value_is_the_truth_with_less_confidence() -> None:
    reference = Reference([("zip", "111"), ("name", "Alice")])
    record = Record([("zip", "11*")])

    def leak(label: Label) -> float:
        return record_leakage(record, reference, labels=Labels({"zip": label}))

    known = record_leakage(Record([("zip", "111")]), reference)
    domain = [str(number) for number in range(100, 200)]
    assert leak(Label()) == pytest.approx(known)
    assert leak(Label(suppressed="size", domain=domain)) == pytest.approx(known / 10)
    likely = prior_of({"111": 3, "112": 1, "200": 96})
    share = Labels({"zip": Label(suppressed="prior", prior=likely)})
    assert compare(record, reference, share).confidence.tolist() == pytest.approx([0.75])
    assert compare(record, reference, share).kinds == ("covered",)
    for label in (Label(suppressed="size"), Label(suppressed="prior")):
        with pytest.raises(ArgumentError, match="'zip'"):
            leak(label)


def test_a_truth_the_prior_does_not_know_counts_as_the_rarest() -> None:
    label = Label(suppressed="prior", prior={"112": 0.01, "200": 0.99})
    found = compare(Record([("zip", "11*")]), Reference([("zip", "111")]), Labels({"zip": label}))
    assert found.confidence.tolist() == pytest.approx([0.5])


def test_values_are_compared_as_they_are_meant() -> None:
    labels = Labels({"name": Label(normalise=str.casefold), "ill": Label(synonyms={"Influenza": "Flu"})})
    reference = Reference([("name", "Alice"), ("ill", "Flu")])
    found = compare(Record([("name", "ALICE"), ("ill", "Influenza"), ("ill", "Flu")]), reference, labels)
    assert found.kinds == ("correct",) * 3
    assert found.hit.tolist() == [0, 1, 1]
    assert found.missing == ()
    # The two names of the illness weigh twice but are credited once.
    assert f_beta(Record([("name", "ALICE"), ("ill", "Influenza"), ("ill", "Flu")]), reference, labels=labels) == 4 / 5


def test_a_fact_said_twice_in_the_reference_counts_once() -> None:
    labels = Labels({"name": Label(normalise=str.casefold)})
    assert f_beta(Record([("name", "alice")]), Reference([("name", "Alice"), ("name", "ALICE")]), labels=labels) == 1


def test_a_comparison_says_what_is_missing_and_shows_no_value() -> None:
    reference = Reference([("name", "Alice"), ("card", "999"), ("card", "888")])
    found = compare(Record([("card", "888", 0.5), ("phone", "5")]), reference, Labels())
    assert found.kinds == ("correct", "wrong")
    assert found.missing == (0, 1)
    assert "888" not in repr(found)


def test_a_similarity_beyond_one_is_refused_without_naming_the_value() -> None:
    labels = Labels({"name": Label(similarity=lambda held, true: 2.0)})
    with pytest.raises(ArgumentError, match="label 'name'") as refused:
        compare(Record([("name", "Eve")]), Reference([("name", "Alice")]), labels)
    assert "Eve" not in str(refused.value)
    assert "Alice" not in str(refused.value)


# ------------------------------------------------------------------------------------------------ background


def test_a_rare_value_weighs_its_surprisal() -> None:
    label = Label(weight=2, prior=prior_of({"nsw": 34, "nt": 1, "vic": 29}))
    assert label.weigh("nt") == pytest.approx(2 * 6)
    assert surprisal(label, "nt") == pytest.approx(6)
    assert surprisal(label, "unheard of") == pytest.approx(6)
    labels = Labels({"state": label})
    rare, common = (
        record_leakage(Record([("state", state)]), Reference([("state", state), ("sex", "f")]), labels=labels)
        for state in ("nt", "nsw")
    )
    assert rare > common
    with pytest.raises(ArgumentError, match="no prior"):
        surprisal(Label(), "nt")


def test_counts_become_probabilities_of_what_is_meant() -> None:
    assert prior_of({"Flu": 1, "Influenza": 2, "Cold": 1}, Label(synonyms={"Influenza": "Flu"})) == {
        "Flu": 0.75,
        "Cold": 0.25,
    }
    for counts in ({}, {"a": 0.0}, {"a": -1.0}, {"a": math.nan}):
        with pytest.raises(DataError):
            prior_of(counts)


def test_bits_are_the_log_lift_of_the_true_value() -> None:
    from tacit.lift import log_lift

    # Joint of the state and of what a source says: P(says nt | nt) and so on.
    joint = np.array([[0.02, 0.08], [0.08, 0.82]])
    posterior, prior = joint[0, 0] / joint[:, 0].sum(), joint[0].sum()
    labels = Labels({"state": Label(prior={"nt": prior, "nsw": 1 - prior})})
    told = bits(Record([("state", "nt", posterior)]), Reference([("state", "nt"), ("sex", "f")]), labels)
    assert told == pytest.approx(log_lift(joint)[0, 0] / math.log(2))


@pytest.mark.parametrize(
    ("prior", "confidence", "wanted"), [(0.5, 0.5, 0), (0.25, 1, 2), (0.25, 0.5, 1), (0.5, 0.1, 0)]
)
def test_bits_are_none_if_the_record_says_no_more_than_the_population(
    prior: float, confidence: float, wanted: float
) -> None:
    labels = Labels({"state": Label(prior={"nt": prior, "nsw": 1 - prior})})
    assert bits(Record([("state", "nt", confidence)]), Reference([("state", "nt")]), labels) == pytest.approx(wanted)


def test_bits_of_a_near_value_are_fewer_and_wrong_ones_tell_nothing() -> None:
    label = Label(prior={str(age): 1 / 64 for age in range(64)}, similarity=exp_abs(1 / math.log(2)))
    reference, labels = Reference([("age", 30), ("name", "n")]), Labels({"age": label})
    assert bits(Record([("age", 30)]), reference, labels) == pytest.approx(6)
    assert bits(Record([("age", 31), ("age", 32)]), reference, labels) == pytest.approx(5)
    assert bits(Record([("age", 30, 0.0), ("sex", "f")]), reference, labels) == 0


def test_independent_columns_share_nothing_and_equal_ones_everything() -> None:
    rng = np.random.default_rng(3)
    zips, states = rng.integers(0, 300, 1000).tolist(), rng.integers(0, 8, 1000).tolist()
    independent = shared_weights(zips, states, random_state=1)
    assert independent.shared < 0.1
    together = entropy_bits(list(zip(zips, states, strict=True)))
    assert entropy_bits(zips) + entropy_bits(states) - together > 0.5  # what the plug-in estimate would say
    equal = shared_weights(states, states, random_state=1)
    assert equal.first == pytest.approx(0, abs=0.1)
    assert equal.first + equal.shared == pytest.approx(entropy_bits(states))
    assert shared_weights(zips, states, random_state=1) == independent
    labels = independent.labels("zip", "state")
    assert labels["zip"].weight + labels.correlated[0].shared == pytest.approx(entropy_bits(zips))


def test_shared_weights_say_what_is_wrong() -> None:
    with pytest.raises(ArgumentError, match="2 and 1 values"):
        shared_weights([1, 2], [1], random_state=0)
    with pytest.raises(ArgumentError, match="permutations"):
        shared_weights([1, 2], [1, 2], random_state=0, permutations=0)
    with pytest.raises(DataError, match="no values"):
        shared_weights([], [], random_state=0)
