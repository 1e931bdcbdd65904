"""``protect`` and ``verify`` for images in codes: each becomes one of a few pictures that many people share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.errors import Command
from tacit.learn.arrays import Codes, Flags
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.coded.checking import CodedAgain, Originals, check_of_bytes, checks_of_shown, verified_code
from tacit.lenses.coded.coding import asked_bound, coded, one_use, refuse_originals
from tacit.lenses.coded.parts import Units, dealt, units_of
from tacit.lenses.coded.projecting import principal
from tacit.lenses.coded.releasing import release_in_codes
from tacit.lenses.coded.saving import KeptCode
from tacit.lenses.images.audit import ImageCollection, ask_images, certified_input
from tacit.lenses.images.images import (
    Images,
    check_of_reading,
    image_file,
    open_again,
    open_images,
    open_pixels,
    pixels_of,
    write_images,
)
from tacit.lenses.images.verify import says_more, stray_labels
from tacit.lenses.images.worth import image_likeness
from tacit.lenses.worth import check_of_worth
from tacit.release.certificate import CertifiedInput, CertifiedOutput, CodedCertificate
from tacit.release.checks import Check, CheckedRelease
from tacit.release.directory import ReleaseDraft, refuse_target
from tacit.release.kept import ImageLikeness
from tacit.release.keys import LABELS, files_sha256, seed_or_secure
from tacit.requests import Bound, Coding, Making, Question
from tacit.tables.drawing import new_key

# Pixels are reduced to this many directions: faces differ in fewer.
_DIRECTIONS = 60
# The released label that says which picture an image got.
CODE_LABEL = "code"


def protect_coded_images(
    question: Question, bound: Bound, making: Making, coding: Coding, *, out: Path, progress: Progress
) -> CodedProtectResult:
    """Write one of a few pictures for every image, or every person; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. No released picture is an original: each is the mean of the images of
    at least ``least`` people. The claim is proved on images that the code was not made from; see
    :class:`CodedCertificate`.
    """
    seed = seed_or_secure(making.random_state)
    collection = ask_images(question, random_state=seed)
    refuse_target(out, original=collection.images.source, overwrite=making.overwrite)
    about = CodedAbout("images", collection.secret, None, coding.group, one_use(question))
    limits, key = asked_bound(bound, coding), new_key(making.random_state)
    units, matrix = image_units(collection, about), collection.images.matrix()
    parts = dealt(units, _contents(collection.images), key)
    progress("reading the images", None)
    projection = principal(matrix[parts.design[units.of_record]], most=_DIRECTIONS, random_state=seed)
    records = coded(units, parts, projection, matrix, limits, key=key, random_state=seed, progress=progress)
    refuse_originals(records, units.means(matrix))
    pictures = pixels_of(records.shown(units.means(matrix)), (-1, *collection.images.pixels.shape[1:]))

    def write(draft: ReleaseDraft, codes: Codes) -> tuple[CertifiedInput, CertifiedOutput]:
        write_images(_released(collection.images, pictures, codes), draft.place, keep=(CODE_LABEL,))
        file = image_file(collection.images)
        source = certified_input(collection, draft.salted(collection.images.sha256()))
        return source, CertifiedOutput(file, len(units), files_sha256(draft.place, file))

    return release_in_codes(
        records,
        about,
        limits,
        making,
        out=out,
        key=key,
        write=write,
        show=lambda code, people: ShownCode(code, people, picture=pictures[code]),
        progress=progress,
        worth={"likeness": _likeness(collection.images, pictures, records.released, units, parts.design)},
        notes=collection.images.notes,
    )


def _likeness(images: Images, pictures: Any, released: Codes, units: Units, design: Flags) -> ImageLikeness:
    """How like the released pictures are to their originals, over those that the code was not made from."""
    apart = np.flatnonzero(~design[units.of_record])
    return image_likeness(images.pixels[apart], pictures[released[units.of_record[apart]]])


def _contents(images: Images) -> list[bytes]:
    return [image.tobytes() for image in images.pixels]


def image_units(collection: ImageCollection, about: CodedAbout) -> Units:
    group = None if about.group is None else collection.images.label(about.group).tolist()
    use = None if about.use is None else np.unique(collection.images.label(about.use), return_inverse=True)[1]
    return units_of(
        collection.codes, [str(each) for each in collection.secrets], group=group, named=about.group, use=use
    )


def _released(images: Images, pictures: Any, codes: Codes) -> Images:
    """The picture of each code in the order of the release; files are PNG, which changes no pixel."""
    digits = len(str(len(codes)))
    names = tuple(f"{at + 1:0{digits}d}.png" for at in range(len(codes)))
    return replace(images, pixels=pictures[codes], names=names, labels={CODE_LABEL: tuple(map(str, codes.tolist()))})


def verify_coded_images(
    directory: Path,
    certificate: CodedCertificate,
    *,
    against: Any,
    labels: Path | None,
    progress: Progress,
) -> CheckedRelease:
    """Check images in codes: given the originals, their labels and the owner's folder, every code is made again."""

    def read(kept: KeptCode) -> Originals:
        reading = certificate.input.reading
        images = against if isinstance(against, Images) else open_again(against, reading, labels=labels)
        collection = ask_images(Question(images, secret=certificate.secret), random_state=0)
        units = image_units(collection, CodedAbout("images", certificate.secret, None, certificate.group))
        matrix, released = images.matrix(), _with_codes(directory, certificate)
        codes = np.array([int(each) for each in released.label(CODE_LABEL)], dtype=np.int64)

        def shown(again: CodedAgain) -> Iterator[Check]:
            means = units.means(matrix)
            pictures = pixels_of(again.shown(means), (-1, *images.pixels.shape[1:]))
            yield check_of_reading(images, certificate.input)
            yield from checks_of_shown(
                again, means, pictures[codes].astype(np.float64), released.pixels.astype(np.float64)
            )
            likeness = _likeness(images, pictures, again.released, units, kept.parts.design)
            yield check_of_worth("likeness to the originals", likeness, certificate.likeness)

        vectors = units.means(kept.projection(matrix))
        place = directory / certificate.output.file
        more = stray_labels(directory, place, (CODE_LABEL,))
        if more is None and not released.npz and any(says_more(place / name) for name in released.names):
            more = "files say more than their pixels"
        plain = check_of_bytes(directory, lambda to: write_images(released, to, keep=(CODE_LABEL,)), more=more)
        return Originals(images.sha256(), units, _contents(images), vectors, codes, plain, shown)

    command = Command("verify", "RELEASE", against="FOLDER", labels="labels.csv")
    return verified_code(directory, certificate, command, None if against is None else read, progress=progress)


def _with_codes(directory: Path, certificate: CodedCertificate) -> Images:
    place = directory / certificate.output.file
    return open_images(place, labels=directory / LABELS) if place.is_dir() else open_pixels(place)
