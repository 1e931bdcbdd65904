"""k-anonymity and l-diversity beside the leakage: how large the crowd is in which a person stands.

k and l say how many records could be the person's and how many secrets they hold; the leakage says how much of the
person's file is known. Two persons with the same k can leak differently (the paper's Alice and Zoe), so both are told.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tacit.errors import ArgumentError, DataError
from tacit.person.labels import Labels
from tacit.person.records import Record, Reference
from tacit.person.values import covers, is_suppressed


@dataclass(frozen=True)
class Anonymity:
    """The crowd in which one person stands.

    Parameters
    ----------
    k : int
        How many records could be the person's; 0 if none could, and then the person is not in the table.
    distinct_l : int or None
        How many different sensitive values these records hold; None if no sensitive label was named.
    entropy_l : float or None
        exp(entropy) of their sensitive values: the number of equally frequent values that would be as hard to guess.
        At most ``distinct_l``.
    members : tuple of int
        The positions of these records in the table.
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
        The published table, one record a row.
    quasi_identifiers : sequence of str
        Labels by which outsiders recognise a person.
    labels : Labels, optional
        How values are compared.

    Returns
    -------
    tuple of tuple of int
        In the order of their first records; together they are all records, each once.
    """
    known = labels if labels is not None else Labels()
    wanted = _checked(quasi_identifiers)
    found: dict[tuple[frozenset[str], ...], list[int]] = {}
    for place, record in enumerate(records):
        key = tuple(frozenset(_meant(record, label, known)) for label in wanted)
        found.setdefault(key, []).append(place)
    return tuple(tuple(members) for members in found.values())


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
        exp(entropy) of the values of a class in place of their number. Others round it down to a whole number.

    Returns
    -------
    float
        A whole number unless ``entropy``; 0 if a class holds no sensitive value at all.
    """
    known = labels if labels is not None else Labels()
    smallest = math.inf
    for members in classes(_table(records), quasi_identifiers, labels=known):
        distinct, effective = _diversity((records[place] for place in members), sensitive, known)
        smallest = min(smallest, effective if entropy else distinct)
    return smallest


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
    of the person's. What the record does not say cannot rule the person out, nor what is not known of the person.

    Parameters
    ----------
    reference : Reference
        The person.
    records : sequence of Record
        The published table.
    quasi_identifiers : sequence of str
        Labels by which outsiders recognise a person.
    sensitive : str, optional
        The label that is secret, for l.
    labels : Labels, optional
        How values are compared.

    Returns
    -------
    Anonymity
        Where no value is suppressed and no record lacks one, k is the size of the person's equivalence class.
    """
    known = labels if labels is not None else Labels()
    wanted = {label: _truth(reference, label, known) for label in _checked(quasi_identifiers)}
    members = tuple(
        place
        for place, record in enumerate(records)
        if all(_could_be(_meant(record, label, known), truth, known[label].meant) for label, truth in wanted.items())
    )
    distinct: int | None = None
    effective: float | None = None
    if sensitive is not None:
        distinct, effective = _diversity((records[place] for place in members), sensitive, known)
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
    """The record's values of a label in their normal form; suppressed ones as they are, for the stars are the point."""
    how = labels[label]
    values = [attribute.value for attribute in record if attribute.label == label]
    return [value if is_suppressed(value) else how.meant(value) for value in values]


def _truth(reference: Reference, label: str, labels: Labels) -> list[str]:
    how = labels[label]
    return [how.meant(value) for value in reference.values(label)]


def _could_be(held: Sequence[str], truth: Sequence[str], meant: Callable[[str], str]) -> bool:
    if not held or not truth:
        return True
    return any(value == true or covers(value, true, meant=meant) for value in held for true in truth)


def _diversity(records: Iterable[Record], sensitive: str, labels: Labels) -> tuple[int, float]:
    """The number of different sensitive values, and exp of their entropy."""
    counts = Counter(value for record in records for value in _meant(record, sensitive, labels))
    total = counts.total()
    if not total:
        return 0, 0.0
    entropy = -math.fsum(n / total * math.log(n / total) for n in counts.values())
    return len(counts), math.exp(entropy)
