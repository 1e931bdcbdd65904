"""Which records are a person's, to somebody who knows the truth about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.person.link.attributes import Attributes, IntArray, arrow_table, lent, listed, numbers
from tacit.person.link.right import RightRows
from tacit.person.model.comparing import Comparer
from tacit.person.model.kinds import usual
from tacit.person.model.records import Record, Reference

if TYPE_CHECKING:
    import pyarrow as pa

# A true value of one of these identifies a person.
ALONE = frozenset(
    ("email", "phone", "ssn", "national_id", "tax_id", "passport", "driving_licence", "card", "account", "username")
)
# So does one of these together with another, or with one of those (or a postcode), each right or nearly right.
BESIDE = frozenset(("name", "dob", "address"))
BOTH = ALONE | BESIDE | {"zip"}
# Who somebody is does not depend on where they live or what they do, so agreement on one says nothing about the other.
NAMES = frozenset(("name", "given", "middle", "surname"))
# Of these everybody has one, or hardly ever two.
ONE = NAMES | {"dob", "ssn", "national_id", "tax_id", "passport", "driving_licence"}
# How near a value is, by its credit as a share of the truth's: the steps that are told apart, the last one the truth.
STEPS = (0.1, 0.5, 0.75, 0.999999)
NEAR = 3
# Records that agree by chance are likelier than the person's own beyond this many.
MOST_BY_CHANCE = 0.5
# A record of the person rarely contradicts what they have only one of; another person's nearly always does.
CONTRADICTION = 20.0
# Steps are bits, so many facts fit into one number of the engine.
_FACTS = 60 // len(STEPS)

# For each fact of the person, how near a record comes to it: one bit per step, _FACTS facts per number.
Holds = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Recognition:
    """Decides which records are a person's, from what is ``right`` about the person in ``attributes``.

    One of their e-mail addresses, numbers or codes is enough, or two of name, date of birth, address and postcode. A
    name or date of birth beside anything else is enough if so few records agree on either that hardly any would agree
    on both by chance; far fewer, if the record contradicts something of which everybody has one.
    """

    right: RightRows
    attributes: Attributes
    comparer: Comparer
    reference: Reference

    @cached_property
    def rids(self) -> IntArray:
        """The records that are the person's."""
        store = self.right.store
        with lent(store, self._holding_rows()) as rows:
            columns = ", ".join(self._columns)
            counts = {
                tuple(row[name] for name in self._columns): int(row["n"])
                for row in store.ask(f"SELECT {columns}, count(*) AS n FROM {rows} GROUP BY {columns}").to_pylist()
            }
            some, doubtful = self.decided(counts)
            theirs = np.zeros(self.attributes.records, bool)
            theirs[self._with(rows, some)] = True
            theirs[self._contradicting(self._with(rows, doubtful))] = False
            return np.flatnonzero(theirs)

    def decided(
        self, counts: Mapping[Holds, int], with_label: Mapping[str, int] | None = None
    ) -> tuple[list[Holds], list[Holds]]:
        """Which records are the person's, by how near they come to each fact; and which of these are not if they
        contradict the person.

        ``counts`` says how many records come so near; ``with_label`` how many have each label, if these attributes are
        not all of them.
        """
        vars(self)["_counts"] = counts
        if with_label is not None:
            vars(self)["_with_label"] = with_label
        surely = [holds for holds in counts if self._surely(holds)]
        chances = {holds: self._chance(holds) for holds in counts if not self._surely(holds)}
        likely = [holds for holds, chance in chances.items() if chance <= MOST_BY_CHANCE]
        return [*surely, *likely], [holds for holds in likely if chances[holds] * CONTRADICTION > MOST_BY_CHANCE]

    def holding(self) -> pa.Table:
        """How near each record comes to each fact, as far as it comes near any, and whether it contradicts the person:
        (rid, holds, against)."""
        store, columns = self.right.store, ", ".join(self._columns)
        rows = store.ask(f"SELECT rid, [{columns}] AS holds FROM ({self._holding_rows()}) h")
        rids = numbers(rows, "rid")
        against = np.isin(rids, self._contradicting(rids))
        return rows.append_column("against", arrow_table({"against": against}).column("against"))

    def recognises(self, record: Record) -> bool:
        """Whether a record that is not among the attributes is the person's."""
        compared = self.comparer.compare(record)
        steps: dict[int, int] = {}
        labels_there: set[str] = set()
        for place, (attribute, kind) in enumerate(zip(record.attributes, compared.kinds, strict=True)):
            if kind != "wrong" and attribute.confidence > 0:
                fact = int(compared.hit[place])
                share = float(compared.credit[place]) / self._whole[fact] if self._whole[fact] else 0.0
                step = _step(share)
                steps[fact] = max(steps.get(fact, 0), min(step, 1) if kind == "covered" else step)
            if kind != "wrong":
                labels_there.add(attribute.label)
        holds = self._bits(steps)
        if self._surely(holds):
            return True
        _ = self.rids  # which counts what other records hold
        against = any(label in self._single and label not in labels_there and p > 0 for label, _, p in record)
        return self._chance(holds) * (CONTRADICTION if against else 1.0) <= MOST_BY_CHANCE

    @cached_property
    def _whole(self) -> dict[int, float]:
        """What each fact of the person is worth."""
        truth = self.comparer.compare(Record([(label, value) for label, value in self.reference]))
        return {int(fact): float(credit) for fact, credit in zip(truth.hit, truth.credit, strict=True)}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {fact: place for place, fact in enumerate(sorted(self._whole))}

    @cached_property
    def _label_of(self) -> Mapping[int, str]:
        return {place: self.reference.facts[fact][0] for fact, place in self._places.items()}

    @cached_property
    def _columns(self) -> list[str]:
        return [f"h{at}" for at in range(-(-len(self._places) // _FACTS))]

    @cached_property
    def _single(self) -> frozenset[str]:
        return frozenset(
            label for label, _ in self.reference if self.comparer.labels[label].single or usual(label) in ONE
        )

    def _holding_rows(self) -> str:
        """SQL for how near each record comes to each fact, as far as it comes near any."""
        steps = " ".join(f"WHEN h.credit >= {least} * m.whole THEN {_bits_to(at)}" for at, least in _falling(STEPS))
        # A value that only covers the truth is no more than a hint, however much it counts for.
        codes = f"(CASE WHEN h.hidden THEN {_bits_to(1)} {steps} END)::BIGINT"
        columns = ", ".join(
            f"bit_or(CASE WHEN m.place // {_FACTS} = {at} THEN {codes} << ({len(STEPS)} * (m.place % {_FACTS})) ELSE 0 "
            f"END) AS {name}"
            for at, name in enumerate(self._columns)
        )
        facts = ", ".join(f"({fact}, {place}, {self._whole[fact]!r})" for fact, place in self._places.items())
        return (
            f"SELECT h.rid, {columns} FROM {self.right.name} h JOIN (VALUES {facts}) m(fact, place, whole) ON "
            f"m.fact = h.fact WHERE h.credit >= {STEPS[0]} * m.whole AND h.confidence > 0 "
            "GROUP BY h.rid"
        )

    def _bits(self, steps: Mapping[int, int]) -> Holds:
        numbers_of = [0] * len(self._columns)
        for fact, step in steps.items():
            at, place = divmod(self._places[fact], _FACTS)
            numbers_of[at] |= _bits_to(step) << (len(STEPS) * place) if step else 0
        return tuple(numbers_of)

    def _steps(self, holds: Holds) -> dict[int, int]:
        """The step of each fact that is held, by its place."""
        steps = {}
        for place in self._label_of:
            at, inner = divmod(place, _FACTS)
            if bits := holds[at] >> (len(STEPS) * inner) & _bits_to(len(STEPS)):
                steps[place] = bits.bit_length()
        return steps

    def _surely(self, holds: Holds) -> bool:
        steps = self._steps(holds)
        kinds = {place: usual(self._label_of[place]) for place in steps}
        if any(step == len(STEPS) and kinds[place] in ALONE for place, step in steps.items()):
            return True
        near = [kinds[place] for place, step in steps.items() if step >= NEAR and kinds[place] in BOTH]
        return len(near) > 1 and not BESIDE.isdisjoint(near)

    def _chance(self, holds: Holds) -> float:
        """How many records of other people would hold as much by chance.

        Of n records, some agree on who the person is and some on everything else that this one agrees on; if neither
        depends on the other, their product divided by n agree on both. The records that surely are the person's are
        left out, and one record is added to either number: what was not seen is rare, not impossible.
        """
        steps = self._steps(holds)
        named = {place: step for place, step in steps.items() if usual(self._label_of[place]) in NAMES}
        born = {place: step for place, step in steps.items() if usual(self._label_of[place]) == "dob"}
        who = named or born
        rest = {place: step for place, step in steps.items() if place not in who}
        if not who or not rest:
            return np.inf
        facts = {place: fact for fact, place in self._places.items()}
        first, second = (self._bits({facts[at]: step for at, step in some.items()}) for some in (who, rest))
        one = other = 1.0
        for holds_there, count in self._others.items():
            some, more = _within(first, holds_there), _within(second, holds_there)
            one += count * (some and not more)
            other += count * (more and not some)
        n = min(self._with_label.get(self._label_of[place], 1) for place in steps)
        return one * other / max(n, 1)

    @cached_property
    def _others(self) -> dict[Holds, int]:
        counts: dict[Holds, int] = self.__dict__["_counts"]
        return {holds: count for holds, count in counts.items() if not self._surely(holds)}

    @cached_property
    def _with_label(self) -> dict[str, int]:
        """How many records have each label, at most."""
        attributes = self.attributes
        if attributes.coded is not None:
            return {label: min(count, attributes.records) for label, count in attributes.coded.counts.items()}
        counts = attributes.store.ask(f"SELECT label, count(DISTINCT rid) AS n FROM {attributes.name} GROUP BY label")
        return {row["label"]: int(row["n"]) for row in counts.to_pylist()}

    def _with(self, rows: str, some: Sequence[Holds]) -> IntArray:
        """The records that hold exactly one of these."""
        if not some:
            return np.zeros(0, np.int64)
        columns = {name: np.array([holds[at] for holds in some], np.int64) for at, name in enumerate(self._columns)}
        with lent(self.right.store, arrow_table(columns)) as wanted:
            chosen = self.right.store.ask(
                f"SELECT rid FROM {rows} JOIN {wanted} USING ({', '.join(self._columns)}) ORDER BY rid"
            )
        return numbers(chosen, "rid")

    def _contradicting(self, rids: IntArray) -> IntArray:
        """Those of the records that say something else, nothing like the truth, of what everybody has one of."""
        if not len(rids) or not self._single:
            return np.zeros(0, np.int64)
        store, single = self.right.store, listed(self.right.store, self._single)
        with lent(store, arrow_table({"rid": rids})) as some:
            rows = store.ask(
                f"SELECT DISTINCT a.rid FROM {self.attributes.name} a JOIN {some} s ON s.rid = a.rid LEFT JOIN "
                f"{self.right.name} h ON h.rid = a.rid AND h.label = a.label WHERE a.label IN ({single}) AND "
                "a.confidence > 0 AND h.rid IS NULL"
            )
        return numbers(rows, "rid")


def _step(share: float) -> int:
    """How many of the steps a share reaches."""
    return next((at for at, least in _falling(STEPS) if share >= least), 0)


def _falling(steps: Sequence[float]) -> Iterable[tuple[int, float]]:
    return [(at + 1, steps[at]) for at in range(len(steps) - 1, -1, -1)]


def _bits_to(step: int) -> int:
    return (1 << step) - 1


def _within(some: Holds, whole: Holds) -> bool:
    return all(one & other == one for one, other in zip(some, whole, strict=True))
