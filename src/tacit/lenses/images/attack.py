"""``attack`` for images: can any family of adversaries read a release of them?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.learn.arrays import Codes
from tacit.lenses.bench.answers import BenchResult
from tacit.lenses.bench.families import switched_on
from tacit.lenses.bench.releases import attacked, kept_order, lacking, not_its_originals, places_of
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.images.audit import ImageCollection, ask_images, first_alike
from tacit.lenses.images.coding import image_units
from tacit.lenses.images.families import ReadImages, image_families
from tacit.lenses.images.files import Pixels
from tacit.lenses.images.images import Images, open_again, open_pixels, pixels_of, suggested_patch
from tacit.lenses.images.protect import NAMES, by_part
from tacit.lenses.images.verify import opened_images, originals_of
from tacit.lift import Mask
from tacit.release.certificate import CodedCertificate, ImageCertificate
from tacit.requests import AttackRequest, Question


@dataclass(frozen=True, eq=False)
class Matched:
    """Originals and what was released for them, row by row, in the order of the originals.

    ``place`` is where each stands in the release; images alike in ``together`` are one person's. ``untouched`` marks
    those released unchanged; ``part`` is the third in which each was treated, where that is known.
    """

    before: Pixels
    after: Pixels
    secret: Codes
    place: Codes
    together: Any
    untouched: Mask
    patch: int
    part: Codes | None = None

    def read(self, rows: Codes) -> tuple[ReadImages, ReadImages]:
        """Some of the originals, and what was released for them, as adversaries get them."""
        return (
            ReadImages(self.before[rows], rows, self.patch),
            ReadImages(self.after[rows], self.place[rows], self.patch),
        )


def attack_images(
    certificate: ImageCertificate | CodedCertificate, request: AttackRequest, *, progress: Progress
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
    collection = ask_images(Question(original, secret=certificate.secret), random_state=request.random_state)
    if isinstance(certificate, ImageCertificate):
        matched = _noised(folder, certificate, collection, request)
    else:
        matched = _coded(folder, certificate, collection, request)
    return attacked(
        certificate,
        request,
        families,
        matched.read,
        medium="images",
        against=original.source.name,
        secret=matched.secret,
        together=matched.together,
        untouched=int(matched.untouched.sum()),
        untouched_parts=() if matched.part is None else by_part(matched.untouched, matched.part),
        progress=progress,
    )


def _noised(
    folder: Path, certificate: ImageCertificate, collection: ImageCollection, request: AttackRequest
) -> Matched:
    release, original = opened_images(folder, certificate), collection.images
    if release.names is None and certificate.names != "kept":
        raise lacking(NAMES, "images")
    released = open_pixels(folder / certificate.output.file)
    order = originals_of(release, original, released)
    if order is None or released.pixels.shape != original.pixels.shape:
        raise not_its_originals(original.source.name, "images")
    # From the order of the release to that of the originals.
    place = np.argsort(order)
    after = released.pixels[place]
    untouched = (after == original.pixels).reshape(len(after), -1).all(axis=1)
    part = None
    if release.flags is not None and len(release.flags) == len(after):
        # JPEG changes even images without noise.
        untouched |= ~np.asarray(release.flags.any(axis=1))[place]
        part = None if release.fold is None else release.fold[place]
    together = first_alike(original) if request.group is None else original.label(request.group)
    patch = certificate.patch
    return Matched(original.pixels, after, collection.codes, place, together, untouched, patch, part)


def _coded(folder: Path, certificate: CodedCertificate, collection: ImageCollection, request: AttackRequest) -> Matched:
    order, original, group = kept_order(request, "images"), collection.images, certificate.group
    units = image_units(collection, CodedAbout("images", certificate.secret, None, group))
    released, place = open_pixels(folder / certificate.output.file), places_of(order, len(units))
    if place is None or len(released) != len(units):
        raise not_its_originals(original.source.name, "images")
    before = pixels_of(units.means(original.matrix()), (-1, *original.pixels.shape[1:]))
    after = released.pixels[place]
    together: Any = np.arange(len(units))
    if group is None:
        together = first_alike(original) if request.group is None else original.label(request.group)
    untouched = (after == before).reshape(len(after), -1).all(axis=1)
    # Families read whole patches: where a side is odd, its last row or column of pixels is dropped.
    height, width = (side - side % 2 for side in (original.height, original.width))
    before, after = (pixels[:, :height, :width] for pixels in (before, after))
    return Matched(before, after, units.secret, place, together, untouched, suggested_patch(height, width))
