"""The line of a verification about the whole file: how many people share each released value."""

from __future__ import annotations

import numpy as np

from tacit.lenses.table.certifying import whole_file_of
from tacit.lenses.table.checks.rows import RowComparison
from tacit.release.certificate import CountedCertificate
from tacit.release.checks import Check
from tacit.release.claims import NOTHING_DRAWN
from tacit.release.rules import ReleaseRules
from tacit.release.whole_file import WholeFile
from tacit.tables.counting import count


def check_of_people(certificate: CountedCertificate, rules: ReleaseRules | None, rows: RowComparison) -> Check:
    """How many people share each released value, counted again.

    By the rules if the owner verifies, otherwise in the file itself. The file does not show what might have been drawn
    but was not, so it may show fewer values that belong to few people than the certificate states, but never more.
    """
    name, claimed = "fewest people who share a released value", certificate.file
    whole_file = (
        _in_the_file(certificate, rows) if rules is None else whole_file_of(rows.original, rules, claimed.least)
    )
    differ = f"{_smallest_set(whole_file)}; the certificate says {_smallest_set(claimed)}"
    drawn = not certificate.randomness.startswith(NOTHING_DRAWN)
    if whole_file == claimed:
        return Check(name, True, _smallest_set(whole_file))
    if (
        rules is None
        and drawn
        and whole_file.smallest >= claimed.smallest
        and whole_file.values_below <= claimed.values_below
    ):
        return Check(name, None, f"{differ}. Seeing what else might have been drawn takes private/rules.json")
    return Check(name, False, differ)


def _smallest_set(file: WholeFile) -> str:
    below = f"{file.values_below:,} values, {file.people_below:,} people, below {file.least:,}"
    return f"{file.smallest:,} ({below})"


def _in_the_file(certificate: CountedCertificate, rows: RowComparison) -> WholeFile:
    """As the file shows it: records that look alike if nothing was drawn, else those that truly have the value."""
    counts, released = count(rows.data, certificate.released), certificate.released
    symbols, value = counts.symbols(released)
    alike = np.bincount(value, counts.records, len(symbols)).astype(np.int64)
    if certificate.randomness.startswith(NOTHING_DRAWN):
        return WholeFile.of(alike, certificate.file.least)
    truly = np.append(rows.original.people[:-1], 0)[symbols.positions_in(rows.original.symbols)]
    people = np.where(symbols.all_missing, alike, truly)
    return WholeFile.of(people, certificate.file.least)
