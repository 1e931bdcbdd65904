"""``attack`` for images: can any family of adversaries read a release of them?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import DataError, SourceError, sentence
from tacit.learn.arrays import Codes
from tacit.lenses.bench.answers import BenchResult
from tacit.lenses.bench.families import switched_on
from tacit.lenses.bench.trying import BenchRecords, benched, folds_of, spread
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.coded.saving import CODE, KeptCode
from tacit.lenses.images.audit import Asked, ask_images, first_of_each
from tacit.lenses.images.coding import image_units
from tacit.lenses.images.families import ReadImages, image_families
from tacit.lenses.images.images import Images, open_again, open_pixels, pixels_of, suggested_patch
from tacit.lenses.images.protect import NAMES, by_part
from tacit.lenses.images.results import Pixels
from tacit.lenses.images.verify import opened_images, originals_of
from tacit.lift import Mask
from tacit.release.certificate import CodedCertificate, ImageCertificate
from tacit.release.directory import PRIVATE
from tacit.requests import AttackRequest, Question


@dataclass(frozen=True, eq=False)
class Matched:
    """Originals beside what was released of them, row by row, in the order of the originals.

    ``place`` is where each stands in the release; those ``together`` are of one person. ``untouched`` are released as
    they were; ``part`` is the third in which each was treated, where that is known.
    """

    before: Pixels
    after: Pixels
    secret: Codes
    place: Codes
    together: Any
    untouched: Mask
    patch: int
    part: Codes | None = None


def attack_images(
    certificate: ImageCertificate | CodedCertificate, request: AttackRequest, *, progress: Progress = silent
) -> BenchResult:
    """Try every family on a release of images, in codes or with noise; ``tacit.attack`` says how.

    Raises
    ------
    SourceError
        If the owner's folder is not there: only it says which released image is which original.
    """
    families = switched_on(image_families(), tuple(request.without or ()))
    progress("reading the images", None)
    folder, against = Path(request.release), request.against
    reading = certificate.input.reading
    original = against if isinstance(against, Images) else open_again(against, reading, labels=request.labels)
    asked = ask_images(Question(original, secret=certificate.secret), random_state=request.random_state)
    if isinstance(certificate, ImageCertificate):
        matched = _noised(folder, certificate, asked, request)
    else:
        matched = _coded(folder, certificate, asked, request)
    rows = spread(len(matched.secret), request.records)
    records = BenchRecords(
        ReadImages(matched.before[rows], rows, matched.patch),
        ReadImages(matched.after[rows], matched.place[rows], matched.patch),
        matched.secret[rows],
        folds_of(matched.secret[rows], together=matched.together[rows], random_state=request.random_state),
    )
    return BenchResult(
        release=str(request.release),
        against=original.source.name,
        medium="images",
        secret=certificate.secret,
        records=len(matched.secret),
        ceiling=certificate.ceiling if isinstance(certificate, CodedCertificate) else None,
        untouched=int(matched.untouched.sum()),
        untouched_parts=() if matched.part is None else by_part(matched.untouched, matched.part),
        run=benched(families, records, progress=progress),
        without=tuple(request.without or ()),
        group=request.group,
    )


def _noised(folder: Path, certificate: ImageCertificate, asked: Asked, request: AttackRequest) -> Matched:
    release, original = opened_images(folder, certificate), asked.images
    if release.names is None and certificate.names != "kept":
        raise _lacking(NAMES)
    released = open_pixels(folder / certificate.output.file)
    order = originals_of(release, original, released)
    if order is None or released.pixels.shape != original.pixels.shape:
        raise _other(original)
    # From the order of the release to that of the originals.
    place = np.argsort(order)
    after = released.pixels[place]
    untouched = (after == original.pixels).reshape(len(after), -1).all(axis=1)
    part = None
    if release.flags is not None and len(release.flags) == len(after):
        # JPEG changes what was not noised, too.
        untouched |= ~np.asarray(release.flags.any(axis=1))[place]
        part = None if release.fold is None else release.fold[place]
    together = first_of_each(original)[0] if request.group is None else original.label(request.group)
    patch = certificate.patch
    return Matched(original.pixels, after, asked.codes, place, together, untouched, patch, part)


def _coded(folder: Path, certificate: CodedCertificate, asked: Asked, request: AttackRequest) -> Matched:
    if not (folder / PRIVATE / CODE).exists():
        raise _lacking(CODE)
    original, group = asked.images, certificate.group
    units = image_units(asked, CodedAbout("images", certificate.secret, None, group))
    order = KeptCode(folder / PRIVATE).order
    released = open_pixels(folder / certificate.output.file)
    if sorted(order.tolist()) != list(range(len(units))) or len(released) != len(units):
        raise _other(original)
    place = np.argsort(order)
    before = pixels_of(units.means(original.matrix()), (-1, *original.pixels.shape[1:]))
    after = released.pixels[place]
    together: Any = np.arange(len(units))
    if group is None:
        together = first_of_each(original)[0] if request.group is None else original.label(request.group)
    untouched = (after == before).reshape(len(after), -1).all(axis=1)
    # Families look at whole patches: of odd sides the last row and column of pixels are left away.
    height, width = (side - side % 2 for side in (original.height, original.width))
    before, after = (pixels[:, :height, :width] for pixels in (before, after))
    return Matched(before, after, units.secret, place, together, untouched, suggested_patch(height, width))


def _lacking(file: str) -> SourceError:
    words = "only {file} says which released image is which original, and it is not there: attack the release where "
    return SourceError(
        sentence(words + "it was made, with its {folder} folder", file=f"{PRIVATE}/{file}", folder=PRIVATE)
    )


def _other(original: Images) -> DataError:
    return DataError(f"{original.source.name} does not fit this release: name the images that it was made from")
