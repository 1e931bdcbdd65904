"""The line of a verification about what readers keep: counted again, except for the scores of models."""

from __future__ import annotations

from tacit.lenses.table.kept.tables import kept_of_tables
from tacit.lenses.table.tabulating import Counted
from tacit.lift import agree
from tacit.release.certificate import CountedCertificate
from tacit.release.checks import Check
from tacit.release.kept import AssociationChange, ReaderKeeps
from tacit.tables.table import Table

# Numbers have four decimals, and another engine may round the last.
_ROUNDED = 2e-4


def checks_of_reader(certificate: CountedCertificate, original: Counted, release: Table) -> list[Check]:
    """What is kept of columns, of whole rows and of associations, measured again on the same rows."""
    claimed = certificate.keeps
    if claimed is None:
        return []
    drawn = certificate.output.channel_sha256 is not None
    right = kept_of_tables(
        original.question.original,
        release,
        released=certificate.released,
        released_entropy=certificate.utility.mutual_information if drawn else None,
        whole=original.given_entropy if certificate.mechanism.weight is None else None,
        weight=certificate.mechanism.weight,
        scored=False,
    )
    wrong = _differences(right, claimed)
    detail = f"differ: {', '.join(wrong)}" if wrong else f"measured again on {right.rows_used:,} records"
    return [Check("what readers keep", not wrong, detail)]


def _differences(right: ReaderKeeps, claimed: ReaderKeeps) -> list[str]:
    wrong = [] if right.rows_used == claimed.rows_used else ["records measured"]
    if [each.name for each in right.columns] != [each.name for each in claimed.columns]:
        wrong.append("columns")
    for ours, theirs in zip(right.columns, claimed.columns, strict=False):
        if not (agree(ours.kept, theirs.kept, within=_ROUNDED) and agree(ours.shift, theirs.shift, within=_ROUNDED)):
            wrong.append(ours.name)
    own, published = right.information, claimed.information
    alike = agree(own.told, published.told, within=_ROUNDED) and agree(own.entropy, published.entropy, within=_ROUNDED)
    if not alike or own.kind != published.kind:
        wrong.append("information kept")
    if not _associated_alike(right.association_error, claimed.association_error):
        wrong.append("associations")
    return wrong


def _associated_alike(right: AssociationChange | None, claimed: AssociationChange | None) -> bool:
    if right is None or claimed is None:
        return right is claimed
    numbers = ((right.mean, claimed.mean), (right.largest, claimed.largest))
    named = (right.pairs, right.worst) == (claimed.pairs, claimed.worst)
    return named and all(agree(*pair, within=_ROUNDED) for pair in numbers)
