"""``attack`` on a release of images, posts or vectors: what their lenses share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tacit.document import Progress
from tacit.errors import DataError, SourceError
from tacit.learn.arrays import Codes
from tacit.lenses.bench.answers import BenchResult
from tacit.lenses.bench.families import Family
from tacit.lenses.bench.trying import BenchRecords, benched, folds_of, spread
from tacit.lenses.coded.saving import CODE, KeptCode
from tacit.release.certificate import CodedCertificate, ImageCertificate, TextCertificate
from tacit.release.directory import PRIVATE
from tacit.requests import AttackRequest

Medium = Literal["images", "posts", "vectors"]


def attacked(
    certificate: CodedCertificate | ImageCertificate | TextCertificate,
    request: AttackRequest,
    families: Sequence[Family],
    read: Callable[[Codes], tuple[Any, Any]],
    *,
    medium: Medium,
    against: str,
    secret: Codes,
    together: Any,
    untouched: int,
    untouched_parts: tuple[tuple[int, int], ...] = (),
    progress: Progress,
) -> BenchResult:
    """Try the families on the records of a release, or on as many of them as the request allows.

    ``read`` gives, for the numbers of some originals, those originals and what was released for them. Records that are
    alike in ``together`` stay on one side of every split.
    """
    rows = spread(len(secret), request.records)
    before, after = read(rows)
    fold = folds_of(secret[rows], together=together[rows], random_state=request.random_state)
    return BenchResult(
        release=str(request.release),
        against=against,
        medium=medium,
        secret=certificate.secret,
        records=len(secret),
        ceiling=certificate.ceiling if isinstance(certificate, CodedCertificate) else None,
        untouched=untouched,
        untouched_parts=untouched_parts,
        run=benched(families, BenchRecords(before, after, secret[rows], fold), progress=progress),
        without=tuple(request.without or ()),
        group=request.group,
    )


def kept_order(request: AttackRequest, medium: Medium) -> Codes:
    """Which unit stands at each place of a release in codes, by the owner's folder.

    Raises
    ------
    SourceError
        If the owner's folder is not there.
    """
    private = Path(request.release) / PRIVATE
    if not (private / CODE).exists():
        raise lacking(CODE, medium)
    return KeptCode(private).order


def places_of(order: Codes, units: int) -> Codes | None:
    """Where each unit stands in the release; None if ``order`` does not name every unit once."""
    return np.argsort(order) if sorted(order.tolist()) == list(range(units)) else None


def lacking(file: str, medium: Medium) -> SourceError:
    """The error of a release without the owner's file that matches it with the originals."""
    words = f"only {PRIVATE}/{file} says which released {medium.removesuffix('s')} is which original, and it is not "
    return SourceError(words + f"there: attack the release where it was made, with its {PRIVATE} folder")


def not_its_originals(name: str, medium: Medium) -> DataError:
    """The error of originals that the release was not made from."""
    return DataError(f"{name} does not fit this release: name the {medium} that it was made from")
