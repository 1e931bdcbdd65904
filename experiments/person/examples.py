"""Every worked example of the text, computed by the library, in the text's order; numbers as fractions."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.person import (
    Adversary,
    Correlated,
    Cost,
    Generalise,
    Label,
    Labels,
    Normalise,
    Record,
    Reference,
    Resolve,
    Rules,
    certainty,
    completeness,
    correctness,
    covers,
    dip,
    exp_abs,
    f_beta,
    incremental_leakage,
    k_anonymity,
    l_diversity,
    leakage,
    record_leakage,
    verify_next,
)


@dataclass(frozen=True)
class Example:
    """Numbers that the text works out, as printed and as they come out."""

    section: str
    what: str
    printed: tuple[str, ...]
    ours: tuple[str, ...]
    why: str = "not as printed"


def told(*values: float) -> tuple[str, ...]:
    """Numbers as fractions, if they are fractions to twelve digits."""
    found = [Fraction(value).limit_denominator(1000) for value in values]
    if not all(math.isclose(f, v, rel_tol=1e-11, abs_tol=1e-12) for f, v in zip(found, values, strict=True)):
        raise ValueError(f"no small fractions: {values}")
    return tuple(map(str, found))


def facts(text: str) -> list[tuple[str, str, float]]:
    """Attributes as "N Alice, P 123 .5": label, value, and a confidence if it is not 1."""
    parts = [part.split() for part in text.split(",")]
    return [(part[0], part[1], float(part[2]) if len(part) > 2 else 1.0) for part in parts]


def record(text: str) -> Record:
    """A record from text."""
    return Record(facts(text))


def reference(text: str) -> Reference:
    """A reference from text."""
    return Reference([(label, value) for label, value, _ in facts(text)])


def joining(*rules: str, **terms: Any) -> Adversary:
    """An adversary who joins records that share all labels of a rule."""
    return Adversary("joins", [Resolve(Rules([rule.split() for rule in rules]), **terms)])


def examples() -> list[Example]:
    """All of them."""
    return [*section_1_and_2(), *section_2_4(), *section_3(), *section_4(), *section_5()]


def section_1_and_2() -> list[Example]:
    """Right, complete, their mean, and confidences."""
    bought, alice = record("N Alice, A 123-Main, C 999"), reference("N Alice, A 123-Main, P 555, C 999, S 000")
    e, r, heavy = reference("N Alice, A 20, P 123, Z 94305"), record("N Alice, A 20, P 111"), {"N": 2.0}
    doubted, three = record("N Alice .5, A 20"), reference("N Alice, A 20, P 123")
    worlds = itertools.product(*[(c, 1 - c) if c < 1 else (c,) for *_, c in record("N Alice, A 20 .4, P 123 .5")])
    return [
        Example(
            "1",
            "what of r is right; what of e is found",
            ("3/3", "3/5"),
            told(correctness(bought, alice), completeness(bought, alice)),
        ),
        Example("2.1", "precision with w_N = 2", ("3/4",), told(correctness(r, e, heavy))),
        Example("2.2", "recall; F1", ("3/5", "2/3"), told(completeness(r, e, heavy), f_beta(r, e, heavy))),
        Example("2.3", "four possible worlds", ("0.2", "0.2", "0.3", "0.3"), told(*map(math.prod, worlds))),
        Example(
            "2.3",
            "L0 of both worlds and L, with w_N = 2",
            ("1/2", "4/5", "13/20"),
            told(
                *(record_leakage(record(world), three, heavy) for world in ("A 20", "N Alice, A 20")),
                record_leakage(doubted, three, heavy),
            ),
            "the text says w_N = 2 but calculates with 1: equal weights give what is printed",
        ),
    ]


def section_2_4() -> list[Example]:
    """What joining by name adds, what it costs, and dipping."""
    shop = [record("N Alice, P 123"), record("N Alice, C 999"), record("N Bob, P 987")]
    alice, joins = reference("N Alice, P 123, C 999, Z 111"), joining("N")
    dipped = dip(shop, joins, record("N Alice"))
    return [
        Example(
            "2.4", "before and after joining", ("2/3", "6/7"), told(leakage(shop, alice), leakage(shop, alice, joins))
        ),
        Example("2.4", "cost of 1000 records", ("1000",), told(Cost(per_pair=1 / 1000).of(1000))),
        Example("2.4", "attributes found by dipping with Alice's name", ("3",), told(len(dipped.record))),
    ]


NAMES = ("Name", "Zip", "Age", "Disease")
TABLE_1 = ("Alice 111 30 Heart", "Bob 112 31 Breast", "Carol 115 33 Cancer", "Dave 222 50 Hair", "Pat 299 70 Flu",
           "Zoe 241 60 Flu")  # fmt: skip
TABLE_2 = ("11* 3* Heart", "11* 3* Breast", "11* 3* Cancer", "2** ≥50 Hair", "2** ≥50 Flu", "2** ≥50 Flu")
TABLE_3 = ("Alice 111 30",)


def rows(table: tuple[str, ...], labels: tuple[str, ...]) -> list[Record]:
    """The rows of one of the first three tables."""
    return [Record(zip(labels, row.split(), strict=True)) for row in table]


def section_3() -> list[Example]:
    """Tables 1 to 3: k-anonymity and l-diversity compared with leakage."""
    people = {row.split()[0]: Reference(zip(NAMES, row.split(), strict=True)) for row in TABLE_1}
    published, diverse = rows(TABLE_2, NAMES[1:]), rows((*TABLE_2[:-1], "2** ≥50 Influenza"), NAMES[1:])
    known, same, quasi = rows(TABLE_3, NAMES[:3]), Resolve(Rules([["Zip", "Age"]])), ("Zip", "Age")
    joins = Adversary("joins", [same])
    coarsens = Adversary("coarsens", [Generalise("Zip"), Generalise("Age"), same])
    flu = Labels({"Disease": Label(synonyms={"Influenza": "Flu"})})
    knows = Adversary("knows that Influenza is Flu", [Normalise(), same])
    covered = sum(
        all(covers(a.value, truth) for a, truth in zip(row, true.split()[1:], strict=True))
        for row, true in zip(published, TABLE_1, strict=True)
    )
    return [
        Example(
            "3.1",
            "Tables 1 and 2: rows that agree; k of Table 2",
            ("6", "3"),
            told(covered, k_anonymity(published, quasi)),
        ),
        Example(
            "3.1",
            "leakage of Alice; of Zoe",
            ("2/3", "3/4"),
            told(*(leakage(published, people[n], joins) for n in ("Alice", "Zoe"))),
        ),
        Example("3.1", "Alice, with Table 3", ("4/5",), told(leakage([*published, *known], people["Alice"], coarsens))),
        Example(
            "3.2",
            "l of Table 2; with Influenza",
            ("2", "3"),
            told(*(l_diversity(table, quasi, "Disease") for table in (published, diverse))),
        ),
        Example(
            "3.2",
            "Zoe: Influenza another illness; the same as Flu",
            ("2/3", "3/4"),
            told(leakage(diverse, people["Zoe"], joins), leakage(diverse, people["Zoe"], knows, labels=flu)),
        ),
    ]


def section_4() -> list[Example]:
    """Which card to use, and what to verify."""
    s, t = record("N n1, C c1, P p1"), record("N n1, C c2")
    alice, joins = reference("N n1, C c1, C c2, P p1, A a1"), joining("N C", "N P")
    u, v = s, record("N n1, C c2, P p1")
    held = [record("N Alice, A 20"), record("N Alice .9, P 123 .5, C 987")]
    checks = {check.label: check.gain_per_cost for check in verify_next(held)}
    return [
        Example("4.1", "leakage of s; of t", ("3/4", "4/7"), told(record_leakage(s, alice), record_leakage(t, alice))),
        Example(
            "4.1",
            "with card c1; with card c2",
            ("3/4", "8/9"),
            told(*(leakage([s, t, x], alice, joins) for x in (u, v))),
        ),
        Example(
            "4.1",
            "what each adds",
            ("0", "5/36"),
            told(*(incremental_leakage([s, t], alice, joins, x) for x in (u, v))),
        ),
        Example("4.3", "certainty before: 1/2 + 3/7", ("13/14",), told(certainty(held))),
        Example(
            "4.3",
            "verifying the name; the phone",
            ("0", "1/28"),
            told(checks["N"], checks["P"]),
            "(1/14) / 0.5 is 1/7; the text multiplies by the cost",
        ),
    ]


def algorithm_1(held, reference, *, last):
    """Algorithm 1, line by line: line 9 runs from 0 to |Y| - last."""
    leakage = 0.0
    for b in reference:
        y = [1.0]
        for a, p in held.items():
            if a == b:
                continue
            z = [y[0] * p]
            for x in range(len(y) - last + 1):
                z.append(y[x] * (1 - p) + y[x + 1] * p)
            z.append(y[-1] * (1 - p))
            y = z
        for x in range(len(y)):
            leakage += 2 * held.get(b, 0.0) * y[x] / (len(reference) + len(y) - x)
    return leakage


def section_5() -> list[Example]:
    """The example of Algorithm 1."""
    r, e = record("A 1 .1, B 3 .2"), reference("A 1, B 2")
    held, true = {(label, value): c for label, value, c in r}, list(e)
    return [
        Example(
            "5",
            "Algorithm 1; by possible worlds",
            ("19/300", "19/300"),
            told(algorithm_1(held, true, last=2), record_leakage(r, e, method="worlds")),
        ),
    ]


def claims() -> dict[str, Any]:
    """What the text says in words, as numbers."""
    alice = reference("N Alice, A 123-Main, P 555, C 999, S 000")
    once = record("N Alice, A 123-Main, C 999")
    twice = record("N Alice, A 123-Main .5, A 777-Main .5, C 999, X 111")
    figure_1 = [
        record(text)
        for text in ("N Alice, P 123", "N Alice, C 999", "N Alice, P 987", "N Bob, P 333", "N Carol, S 000")
    ]
    other = reference("N Alice, A 123-Main, P 123, C 999, S 000")
    aged = Labels({"A": Label(similarity=exp_abs(10))})
    scaled = [{"N": 1.0, "A": 2.0, "P": 3.0}, {"N": 2.0, "A": 4.0, "P": 6.0}]
    r, e = record("N Alice .7, A 20 .4, P 111 .3"), reference("N Alice, A 20, P 123")
    shared = Labels({"A": Label(weight=2), "P": Label(weight=3)}, correlated=[Correlated(("A", "P"), 1.0)])
    apart = {"J": 1.0, "A": 2.0, "P": 3.0}
    # Figure 2: r and s are Alice's, v is not; d1 adds its own errors to r, d2 links v to r.
    held = [record("N Alice, P 123, E a@x"), record("C 999"), record("N Carol, Q v, S 111, T 555")]
    target = reference("N Alice, P 123, E a@x, C 999")
    joins = joining("N P", "Q")
    self_, linkage = record("N Alice, P 123, X 1, Y 2"), record("N Alice, P 123, Q v")
    try:
        algorithm_1({("A", "1"): 0.1, ("B", "3"): 0.2}, [("A", "1"), ("B", "2")], last=1)
        printed = "runs"
    except IndexError:
        printed = "reads beyond the end of Y"
    return {
        "second_purchase": [record_leakage(x, alice) for x in (once, twice)],
        "figure_1": [told(leakage(figure_1, x), leakage(figure_1, x, joining("N"))) for x in (alice, other)],
        "ages": [record_leakage(record(f"N Alice, A {a}"), reference("N Alice, A 30"), labels=aged) for a in (31, 80)],
        "scaled": [record_leakage(r, e, weights) for weights in scaled],
        "correlated": [
            [
                record_leakage(record(ours), reference("A a, P p"), labels=shared),
                record_leakage(record(theirs), reference("J j, A a, P p"), apart),
            ]
            for ours, theirs in (("P p", "J j, P p"), ("A a", "J j, A a"), ("A a, P p", "J j, A a, P p"))
        ],
        "figure_2": [leakage([*held, *more], target, joins) for more in ([], [self_], [linkage], [self_, linkage])],
        "line_9": printed,
        # One right attribute and a wrong one of a hundred times the weight, all confidences m.
        "unequal": [record_leakage(record(f"A 1 {m}, B 2 {m}"), reference("A 1"), {"B": 100.0}) for m in (0.5, 1.0)],
    }
