"""``attack`` for vectors: can any family of adversaries read a release of them?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.bench.answers import BenchResult
from tacit.lenses.bench.families import NEIGHBOURS, Family, linear, switched_on
from tacit.lenses.bench.releases import attacked, kept_order, not_its_originals, places_of
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.vectors.coding import read_back, vector_units
from tacit.lenses.vectors.vectors import read_vectors, secret_of
from tacit.release.certificate import CodedCertificate
from tacit.requests import AttackRequest, Question


@dataclass(frozen=True, eq=False)
class ReadVectors:
    """Vectors, and the place of each in its file."""

    rows: Floats
    place: Codes


def _rows(records: ReadVectors) -> Floats:
    return records.rows


def _trees() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, random_state=0)


def _nearest() -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), KNeighborsClassifier(25))


def vector_families() -> tuple[Family, ...]:
    """The families that are tried on vectors."""
    return (
        Family("linear", "a linear reader of every number of a vector", _rows, lambda: linear(0.1)),
        Family("trees", "boosted trees on every number: corners and products of a few of them", _rows, _trees),
        Family("nearest", "knows the secrets of the 25 vectors that are nearest to one", _rows, _nearest),
        NEIGHBOURS,
    )


def attack_vectors(certificate: CodedCertificate, request: AttackRequest, *, progress: Progress) -> BenchResult:
    """Try every family on a release of vectors in codes; ``tacit.attack`` says how.

    Raises
    ------
    SourceError
        If the owner's folder is not there: only it says which released vector is which original.
    """
    families = switched_on(vector_families(), tuple(request.without or ()))
    order = kept_order(request, "vectors")
    question = Question(request.against, secret=certificate.secret, vector=certificate.column, labels=request.labels)
    vectors = read_vectors(question)
    _, codes, values = secret_of(vectors, question)
    about = CodedAbout("vectors", certificate.secret, certificate.column, certificate.group)
    units = vector_units(vectors, codes, values, about)
    _, shown = read_back(Path(request.release) / certificate.output.file)
    before, place = units.means(vectors.rows), places_of(order, len(units))
    if place is None or shown.shape != before.shape:
        raise not_its_originals(vectors.name, "vectors")
    after = shown[place]
    together: Any = np.unique(before, axis=0, return_inverse=True)[1].ravel()
    if certificate.group is None and request.group is not None:
        together = np.array(vectors.label(request.group))
    return attacked(
        certificate,
        request,
        families,
        lambda rows: (ReadVectors(before[rows], rows), ReadVectors(after[rows], place[rows])),
        medium="vectors",
        against=vectors.name,
        secret=units.secret,
        together=together,
        untouched=int((after == before.astype(np.float32)).all(axis=1).sum()),
        progress=progress,
    )
