"""k-anonymity and l-diversity, to show next to the leakage: how large a crowd a person hides in.

k and l say how many records could be the person's and how many secrets they hold; the leakage says how much of the
person's file is known. Two people with the same k can leak differently (the paper's Alice and Zoe), so both are shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tacit.errors import ArgumentError, DataError
from tacit.person.model.labels import Labels, as_labels
from tacit.person.model.records import Record, Reference
from tacit.person.model.values import covers, is_suppressed


@dataclass(frozen=True)
class Anonymity:
    """The crowd that one person hides in.

    ``k`` is how many records could be the person's (0: the person is not in the table), ``distinct_l`` how many
    different sensitive values they hold, and ``entropy_l`` exp(entropy) of these: the number of equally frequent values
    that would be as hard to guess; both are None if no sensitive label was named. ``members`` are row positions.
    """

    k: int
    distinct_l: int | None
    entropy_l: float | None
    members: tuple[int, ...]

    @property
    def prosecutor_risk(self) -> float:
        """1/k: the chance of naming the person's record, for somebody who knows that the person is in the table."""
        return 1.0 / self.k if self.k else 0.0


def classes(
    records: Sequence[Record], quasi_identifiers: Sequence[str], *, labels: Labels | None = None
) -> tuple[tuple[int, ...], ...]:
    """The equivalence classes of a table: the positions of records that agree on all quasi-identifiers.

    Values agree as they are meant (normalised, synonyms folded); a suppressed value agrees with the same suppressed
    value and with nothing else, as "11*" and "1**" are different cells of a published table. A record without a
    quasi-identifier agrees with the others that lack it.

    Parameters
    ----------
    records : sequence of Record
        The published table, one record per row.
    quasi_identifiers : sequence of str
        Labels by which outsiders recognise a person.
    labels : Labels, optional
        How values are compared.

    Returns
    -------
    tuple of tuple of int
        In the order of their first records; together they are all records, each once.
    """
    described = as_labels(None, labels)
    wanted = _checked(quasi_identifiers)
    members: dict[tuple[frozenset[str], ...], list[int]] = {}
    for place, record in enumerate(records):
        key = tuple(frozenset(_meant(record, label, described)) for label in wanted)
        members.setdefault(key, []).append(place)
    return tuple(map(tuple, members.values()))


def k_anonymity(records: Sequence[Record], quasi_identifiers: Sequence[str], *, labels: Labels | None = None) -> int:
    """The size of the smallest equivalence class: the table's k."""
    return min(len(members) for members in classes(_table(records), quasi_identifiers, labels=labels))


def l_diversity(
    records: Sequence[Record],
    quasi_identifiers: Sequence[str],
    sensitive: str,
    *,
    labels: Labels | None = None,
    entropy: bool = False,
) -> float:
    """The table's l: the fewest different sensitive values in an equivalence class.

    Parameters
    ----------
    records, quasi_identifiers, labels
        As for ``classes``. Synonyms of the sensitive label count as one value, which l-diversity alone cannot see.
    sensitive : str
        The label that is secret.
    entropy : bool
        exp(entropy) of the values of a class instead of their number. Other tools round it down to a whole number.

    Returns
    -------
    float
        A whole number unless ``entropy``; 0 if a class holds no sensitive value at all.
    """
    return min(
        _diversity((records[place] for place in members), sensitive, as_labels(None, labels))[entropy]
        for members in classes(_table(records), quasi_identifiers, labels=labels)
    )


def anonymity_of(
    reference: Reference,
    records: Sequence[Record],
    quasi_identifiers: Sequence[str],
    *,
    sensitive: str | None = None,
    labels: Labels | None = None,
) -> Anonymity:
    """How many records of a table could be one person's, and how many secrets they hold.

    A record could be the person's if for every quasi-identifier one of its values is, or covers ("11*" covers 111), one
    of the person's. A label that the record or the reference does not have cannot rule the person out.

    ``sensitive`` is the label that is secret, for l.

    Returns
    -------
    Anonymity
        Where no value is suppressed and no record lacks one, k is the size of the person's equivalence class.
    """
    described = as_labels(None, labels)
    truth = {
        label: [described[label].meant(value) for value in reference.values(label)]
        for label in _checked(quasi_identifiers)
    }
    members = tuple(
        place
        for place, record in enumerate(records)
        if all(_could_be(_meant(record, label, described), truth[label], described[label].meant) for label in truth)
    )
    if sensitive is None:
        return Anonymity(k=len(members), distinct_l=None, entropy_l=None, members=members)
    distinct, effective = _diversity((records[place] for place in members), sensitive, described)
    return Anonymity(k=len(members), distinct_l=distinct, entropy_l=effective, members=members)


def _checked(quasi_identifiers: Sequence[str]) -> tuple[str, ...]:
    if isinstance(quasi_identifiers, str):
        raise ArgumentError("the quasi-identifiers are one text: give a list of labels, such as ['zip', 'age']")
    if not quasi_identifiers:
        raise ArgumentError("there is no quasi-identifier: name the labels by which a person is recognised")
    return tuple(quasi_identifiers)


def _table(records: Sequence[Record]) -> Sequence[Record]:
    if not records:
        raise DataError("the table has no record: k and l are of at least one")
    return records


def _meant(record: Record, label: str, labels: Labels) -> list[str]:
    """The record's values of a label in normal form; suppressed ones unchanged, because their stars matter."""
    meant = labels[label].meant
    return [value if is_suppressed(value) else meant(value) for name, value, _ in record if name == label]


def _could_be(values: Sequence[str], truth: Sequence[str], meant: Callable[[str], str]) -> bool:
    if not values or not truth:
        return True
    return any(value == true or covers(value, true, meant=meant) for value in values for true in truth)


def _diversity(records: Iterable[Record], sensitive: str, labels: Labels) -> tuple[int, float]:
    """The number of different sensitive values, and exp of their entropy."""
    counts = Counter(value for record in records for value in _meant(record, sensitive, labels))
    total = counts.total()
    if not total:
        return 0, 0.0
    entropy = -math.fsum(n / total * math.log(n / total) for n in counts.values())
    return len(counts), math.exp(entropy)
