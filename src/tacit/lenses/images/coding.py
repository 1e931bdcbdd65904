"""``protect`` and ``verify`` for images in codes: each becomes one of a few pictures that many people share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Command, sentence
from tacit.learn.arrays import Codes, Flags
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout, coded_certificate, headline
from tacit.lenses.coded.checking import check_of_shown, checked_code, checks_of_code, coded_again
from tacit.lenses.coded.coding import CodedRecords, asked_bound, coded
from tacit.lenses.coded.parts import Units, design_part, note_on_copies, units_of
from tacit.lenses.coded.projecting import principal
from tacit.lenses.coded.saving import CODE, README, KeptCode, keep_code
from tacit.lenses.images.audit import Asked, ask_images, certified_input
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
from tacit.lenses.images.worth import image_likeness
from tacit.lenses.worth import check_of_worth
from tacit.release.certificate import CertifiedOutput, CodedCertificate
from tacit.release.checks import Check, CheckedRelease, check_of_original
from tacit.release.directory import PRIVATE, SALT, new_release, refuse_target
from tacit.release.kept import ImageLikeness
from tacit.release.keys import LABELS, committed, files_sha256, secret_bytes_in, seed_or_secure
from tacit.requests import Bound, Coding, Making, Question
from tacit.tables.drawing import new_key

# Directions that pixels are brought down to: faces differ in fewer than this.
_DIRECTIONS = 60
# The released label that says which picture an image got.
CODE_LABEL = "code"


def protect_coded_images(
    question: Question, bound: Bound, making: Making, coding: Coding, *, out: Path, progress: Progress = silent
) -> CodedProtectResult:
    """Write one of a few pictures for every image, or every person; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. No released picture is an original: each is the mean of the images of
    at least ``least`` people. What is claimed is proved on images that the code was not made from; see
    :class:`CodedCertificate`.
    """
    seed, repeatable = seed_or_secure(making.random_state), making.random_state is not None
    asked = ask_images(question, random_state=seed)
    refuse_target(out, original=asked.images.source, overwrite=making.overwrite)
    about = CodedAbout("images", asked.secret, None, coding.group, _one_use(question))
    limits, key = asked_bound(bound, coding), new_key(making.random_state)
    units, matrix = image_units(asked, about), asked.images.matrix()
    contents = [image.tobytes() for image in asked.images.pixels]
    design, copies = design_part(units, contents, random_state=seed)
    progress("reading the images", None)
    projection = principal(matrix[design[units.of_record]], most=_DIRECTIONS, random_state=seed)
    made = coded(
        units, design, projection, matrix, limits, key=key, random_state=seed, repeatable=repeatable, progress=progress
    )
    pictures = pixels_of(made.shown(units.means(matrix)), (-1, *asked.images.pixels.shape[1:]))
    with new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the images", None)
        released = _released(asked.images, pictures, made.released[made.order])
        write_images(released, draft.place, keep=(CODE_LABEL,))
        file = image_file(asked.images)
        output = CertifiedOutput(file, len(units), files_sha256(draft.place, file))
        certificate = coded_certificate(
            made,
            about,
            limits,
            input=certified_input(asked, draft.salted(asked.images.sha256())),
            output=replace(output, key_sha256=committed(key, draft.salt)),
            repeatable=repeatable,
        )
        certificate = replace(certificate, likeness=_likeness(asked.images, pictures, made.released, units, design))
        notes = (*asked.images.notes, *note_on_copies(copies, "images"))
        result = CodedProtectResult(str(out), certificate, headline(certificate), _shown(made, pictures), notes)
        keep_code(draft, made, key, {})
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, README)
    return replace(result, certificate=certificate)


def _likeness(images: Images, pictures: Any, released: Codes, units: Units, design: Flags) -> ImageLikeness:
    """Originals that the code was not made from, beside the pictures that were released for them."""
    apart = np.flatnonzero(~design[units.of_record])
    return image_likeness(images.pixels[apart], pictures[released[units.of_record[apart]]])


def _one_use(question: Question) -> str | None:
    names = tuple(question.use or ())
    if len(names) > 1:
        raise ArgumentError("images and posts in codes keep one use: name one column")
    return names[0] if names else None


def image_units(asked: Asked, about: CodedAbout) -> Units:
    group = None if about.group is None else asked.images.label(about.group).tolist()
    use = None if about.use is None else np.unique(asked.images.label(about.use), return_inverse=True)[1]
    return units_of(asked.codes, [str(each) for each in asked.secrets], group=group, named=about.group, use=use)


def _released(images: Images, pictures: Any, codes: Codes) -> Images:
    """The picture of each code in the order of the release; files are PNG, which changes no pixel."""
    digits = len(str(len(codes)))
    names = tuple(f"{at + 1:0{digits}d}.png" for at in range(len(codes)))
    return replace(images, pixels=pictures[codes], names=names, labels={CODE_LABEL: tuple(map(str, codes.tolist()))})


def _shown(made: CodedRecords, pictures: Any) -> tuple[ShownCode, ...]:
    people = np.bincount(made.released, minlength=len(pictures))
    order = [at for at in np.argsort(-people, kind="stable").tolist() if people[at]]
    return tuple(ShownCode(at, int(people[at]), picture=pictures[at]) for at in order)


def verify_coded_images(
    directory: Path,
    certificate: CodedCertificate,
    *,
    against: Any = None,
    labels: Path | None = None,
    progress: Progress = silent,
) -> CheckedRelease:
    """Check images in codes: with originals, labels and the owner's folder every code is made again."""
    checks: list[Check] = []
    private = directory / PRIVATE
    if against is None or not (private / CODE).exists():
        command = Command("verify", "RELEASE", against="FOLDER", labels="labels.csv")
        words = "needs the originals and the owner's {code}: {command}"
        checks.append(Check("codes made again", None, sentence(words, code=f"{PRIVATE}/{CODE}", command=command)))
        return checked_code(directory, certificate, checks)
    progress("making codes again", None)
    reading = certificate.input.reading
    images = against if isinstance(against, Images) else open_again(against, reading, labels=labels)
    checks.append(check_of_reading(images, certificate.input))
    digest = images.sha256()
    salt = secret_bytes_in(private / SALT)
    checks.append(check_of_original(digest, certificate, salt, why=f"needs {PRIVATE}/{SALT}"))
    question = Question(images, secret=certificate.secret)
    units = image_units(
        ask_images(question, random_state=0), CodedAbout("images", certificate.secret, None, certificate.group)
    )
    kept, matrix = KeptCode(private), images.matrix()
    again = coded_again(directory, units, units.means(kept.projection(matrix)), kept)
    released = _with_codes(directory, certificate)
    codes = np.array([int(each) for each in released.label(CODE_LABEL)], dtype=np.int64)
    checks += checks_of_code(directory, certificate, units, again, codes)
    if all(each.passed is not False for each in checks):
        pictures = pixels_of(again.shown(units.means(matrix)), (-1, *images.pixels.shape[1:]))
        checks.append(check_of_shown(pictures[codes].astype(np.float64), released.pixels.astype(np.float64)))
        likeness = _likeness(images, pictures, again.released, units, kept.design)
        checks.append(check_of_worth("likeness to the originals", likeness, certificate.likeness))
    return checked_code(directory, certificate, checks)


def _with_codes(directory: Path, certificate: CodedCertificate) -> Images:
    place = directory / certificate.output.file
    return open_images(place, labels=directory / LABELS) if place.is_dir() else open_pixels(place)
