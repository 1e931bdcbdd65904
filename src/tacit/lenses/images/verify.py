"""``verify`` for images: is a release what its certificate says it is?"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.document import Progress, Share
from tacit.errors import Command, Setting, SourceError, sentence
from tacit.learn.arrays import Codes
from tacit.lenses.bench.fitness import AS_THEY_WERE, broken_words, check_of_readers, check_of_untouched
from tacit.lenses.images.claims import judged, patch_delta
from tacit.lenses.images.files import Pixels
from tacit.lenses.images.images import Images, check_of_reading, open_again, open_pixels, patch_masks, write_images
from tacit.lenses.images.protect import BETTER, FLAGS, NAMES, benched_images, by_part, verdict_after
from tacit.lift import Mask, Matrix
from tacit.loading import arrays_in, rows_in
from tacit.release.certificate import ImageCertificate, best_guesses
from tacit.release.checks import Check, CheckedRelease, check_of_original, checked, checks_of_papers, notes_on_files
from tacit.release.directory import PRIVATE, SALT
from tacit.release.keys import LABELS, secret_bytes_in

# A probability below e to minus this is no accident, however many patches there are.
NEVER = 30.0
# Noise of the right scale gives a larger sum of squares about once in two million releases.
TOO_FAR = 5.0
# Another processor's matrix products differ in their last bits, which moves a few guesses.
ALIKE = 0.02
NOTES = (
    "that the right patches were chosen cannot be checked: it was learned, and certifies nothing about a single image",
    "that no other adversary guesses better cannot be checked",
    "that the noise came from a secure source cannot be checked either; its spread was, where the originals are",
)


@dataclass(frozen=True)
class ImageRelease:
    """A release of images: its certificate, and as much of the owner's folder as is there.

    ``flags`` and ``fold`` (the third in which each was treated) are in the order of the release.
    """

    directory: Path
    certificate: ImageCertificate
    flags: Mask | None
    fold: Codes | None
    names: Mapping[str, str] | None
    salt: bytes | None


def verify_images(
    directory: str | Path,
    certificate: ImageCertificate,
    *,
    against: str | Path | None,
    labels: str | Path | None,
    progress: Progress,
) -> CheckedRelease:
    """Check a release of images against its certificate, and against the originals where they are available.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked: files and report are those certified, the words follow from
    the numbers, unflagged patches are unchanged to the last bit, flagged ones carry noise of the stated scale, every
    image has one, and the adversaries, trained again, guess what was stated and surely no more than without looking.
    It says nothing about what a single image gives away: that was never certified.
    """
    release = opened_images(Path(directory), certificate)
    checks = _checks_of_papers(release)
    if against is None:
        command = Command("verify", "RELEASE", against="FOLDER")
        checks.append(Check("patches compared", None, sentence("needs the originals: {command}", command=command)))
        left = round((1 - certificate.flagged_images) * certificate.output.records)
        checks.append(check_of_untouched(left, certificate.output.records, "images"))
    else:
        progress("comparing patch by patch", None)
        original = open_again(against, certificate.input.reading, labels=labels, need_labels=False)
        checks += _checks_against(release, original, progress)
    _, best = best_guesses(certificate.adversaries)
    checks.append(check_of_readers(best, certificate.prior, read=certificate.verdict_after == BETTER))
    return checked(
        certificate,
        checks,
        holds="The release is what its certificate says: unflagged patches are unchanged, flagged ones carry noise of "
        "the stated scale, and no family of adversaries reads the secret. What a single image gives away was never "
        "certified.",
        broken=broken_words(checks, "The release is not what its certificate says"),
        unsure="Not all of it was checked",
        notes=(*NOTES, *notes_on_files(release.directory, certificate)),
    )


def opened_images(directory: Path, certificate: ImageCertificate) -> ImageRelease:
    """A release of images, with as much of the owner's folder as is there."""
    private, flags, fold, names = directory / PRIVATE, None, None, None
    try:
        if (private / FLAGS).exists():
            arrays = arrays_in(private / FLAGS, "flags")
            flags, fold = arrays["flags"].astype(bool), arrays.get("fold")
            fold = None if fold is None or fold.shape != flags.shape[:1] else fold.astype(np.int64)
        if (private / NAMES).exists():
            (_, header), *rows = rows_in(private / NAMES, "names")
            at, of = header.index("released"), header.index("original")
            names = {row[at]: row[of] for _, row in rows if row}
    except (OSError, ValueError, LookupError) as error:
        raise SourceError(f"{private} is damaged: put back what protect wrote ({type(error).__name__})") from error
    return ImageRelease(directory, certificate, flags, fold, names, secret_bytes_in(private / SALT))


def _checks_of_papers(release: ImageRelease) -> list[Check]:
    certificate, directory = release.certificate, release.directory
    place = directory / certificate.output.file
    checks = checks_of_papers(directory, certificate, drawn=True, learned_here=True)
    if not place.exists():
        return checks
    stray = stray_labels(directory, place, certificate.kept_labels)
    verdict = verdict_after(certificate.adversaries, prior=certificate.prior, tested_on=certificate.tested_on)
    vacuous = judged(certificate.delta, certificate.epsilon)
    return [
        *checks,
        Check("no other labels", stray is None, stray or "as certified"),
        Check("what is called vacuous is", vacuous, "as the bound gives it" if vacuous else "it was changed"),
        Check("verdict follows from the adversaries", verdict == certificate.verdict_after, certificate.verdict_after),
    ]


def stray_labels(directory: Path, place: Path, kept: tuple[str, ...]) -> str | None:
    """What is wrong with the labels next to the images, or in an npz; None if nothing is."""
    beside = directory / LABELS
    if place.is_file():
        images = open_pixels(place)
        fits = not images.notes and sorted(images.labels) == sorted(kept) and not beside.exists()
        return None if fits else f"{place.name} holds other arrays than the certified labels"
    if beside.exists() != bool(kept):
        return f"{LABELS} was not certified" if beside.exists() else f"there is no {LABELS}"
    if not kept or _label_rows(directory)[0] == ["file", *kept]:
        return None
    return f"{LABELS} has other columns than were certified"


def _label_rows(directory: Path) -> list[list[str]]:
    return [row for _, row in rows_in(directory / LABELS, "labels")] or [[]]


def _checks_against(release: ImageRelease, original: Images, progress: Progress) -> list[Check]:
    certificate = release.certificate
    digest = original.sha256() if original.labels else None
    lacking = f"{PRIVATE}/{SALT}" if release.salt is None else Setting("labels")
    checks = [check_of_original(digest, certificate, release.salt, why=sentence("needs {lacking}", lacking=lacking))]
    checks.append(check_of_reading(original, certificate.input))
    released = open_pixels(release.directory / certificate.output.file)
    counts = len(original), len(released), certificate.output.records
    alike = len(set(counts)) == 1 and original.pixels.shape == released.pixels.shape
    detail = f"{counts[0]:,} originals, {counts[1]:,} released, {counts[2]:,} certified"
    checks.append(Check("number and size of images", alike, detail))
    if not alike:
        return checks
    if release.flags is None or (release.names is None and certificate.names != "kept"):
        unsure = f"needs {PRIVATE}/{FLAGS} and {PRIVATE}/{NAMES}"
        return [*checks, Check("unflagged patches are unchanged", None, unsure)]
    checks += _checks_of_patches(release, release.flags, original, released)
    # A release that is not the one certified needs no adversary.
    if all(check.passed is not False or check.name == AS_THEY_WERE for check in checks):
        checks.append(_check_of_adversaries(release, original, released, progress))
    return checks


def _check_of_adversaries(release: ImageRelease, original: Images, released: Images, progress: Progress) -> Check:
    """Whether the families, trained again, guess what the certificate says."""
    name, certificate = "adversaries trained again", release.certificate
    order = originals_of(release, original, released)
    if release.fold is None or order is None or certificate.secret not in original.labels:
        return Check(
            name, None, sentence("needs {} and {folder}/{file}", Setting("labels"), folder=PRIVATE, file=FLAGS)
        )
    progress("training adversaries", None)
    place = np.argsort(order)
    codes = np.unique(original.label(certificate.secret), return_inverse=True)[1].astype(np.int64)
    patch, fold = certificate.patch, release.fold[place]
    tried = benched_images(original.pixels, released.pixels[place], codes, fold, order, patch, progress)
    again = {each.score.name: [right for right, _ in each.score.guesses] for each in tried.families}
    certified = {each.name: [right for right, _ in each.guesses] for each in certificate.adversaries}
    alike = again.keys() == certified.keys() and all(
        abs(a - b) <= ALIKE for each in certified for a, b in zip(again[each], certified[each], strict=True)
    )
    _, best = best_guesses([each.score for each in tried.families])
    return Check(name, alike, sentence("the best guesses {share} right", share=Share(best)))


def originals_of(release: ImageRelease, original: Images, released: Images) -> Codes | None:
    """Which original each released image is, by the owner's papers; None if they do not fit."""
    at = {name: k for k, name in enumerate(original.names)}
    names = release.names or {name: name for name in released.names}
    places = [at.get(names.get(name, "")) for name in released.names]
    recognised = [place for place in places if place is not None]
    return np.array(recognised, dtype=np.int64) if len(set(recognised)) == len(places) else None


def _checks_of_patches(release: ImageRelease, flags: Mask, original: Images, released: Images) -> list[Check]:
    certificate = release.certificate
    rows = originals_of(release, original, released)
    if rows is None or flags.shape != (len(released), certificate.patches):
        detail = f"{PRIVATE}/{NAMES} or {PRIVATE}/{FLAGS} do not fit"
        return [Check("owner's papers fit the release", False, detail)]
    before = original.pixels[rows]
    mask = patch_masks(original, certificate.patch, flags)
    share, touched = float(flags.mean()), float(flags.any(axis=1).mean())
    checks = [
        Check(
            "share of noised patches",
            math.isclose(share, certificate.flagged_share, abs_tol=1e-12)
            and math.isclose(touched, certificate.flagged_images, abs_tol=1e-12),
            sentence(
                "{share}, in {touched} of the images, by {flags}",
                share=Share(share),
                touched=Share(touched),
                flags=f"{PRIVATE}/{FLAGS}",
            ),
        ),
        *_checks_of_labels(release, flags, original, released, rows),
        _check_of_untouched(release, flags, before, released.pixels),
    ]
    if certificate.lossy:
        unsure = "JPEG changes pixels, so that neither can be checked bit by bit"
        lines = ("unflagged patches are unchanged", "scale of the noise")
        return [*checks, *(Check(name, None, unsure) for name in lines)]
    checks.append(_written_plainly(release, released))
    changed = int((released.pixels != before)[~mask].sum())
    square = float(((released.pixels.astype(np.float64) - before) ** 2).mean())
    alike = math.isclose(square, certificate.mean_square, rel_tol=1e-9, abs_tol=1e-9)
    return [
        *checks,
        Check("unflagged patches are unchanged", changed == 0, f"{changed:,} of {int((~mask).sum()):,} values differ"),
        Check("mean squared change", alike, f"{square:.4g} levels squared"),
        check_of_noise(before[mask], released.pixels[mask], certificate.scale),
        _check_of_each_patch(before, released.pixels, flags, certificate),
    ]


def _check_of_untouched(release: ImageRelease, flags: Mask, before: Pixels, after: Pixels) -> Check:
    # JPEG changes even images without noise.
    left = (before == after).reshape(len(after), -1).all(axis=1) | ~flags.any(axis=1)
    parts = () if release.fold is None else by_part(left, release.fold)
    return check_of_untouched(int(left.sum()), len(left), "images", parts=parts)


def _written_plainly(release: ImageRelease, released: Images) -> Check:
    """Whether files say no more than their pixels (no texts, dates, odd packing): written again, the bytes match."""
    name, file = "files are written plainly", release.certificate.output.file
    with tempfile.TemporaryDirectory() as place:
        write_images(released, Path(place), keep=release.certificate.kept_labels if released.npz else ())
        again = [Path(place) / file, *((Path(place) / file).glob("*"))]
        bytes_alike = all(
            (release.directory / path.relative_to(place)).read_bytes() == path.read_bytes()
            for path in again
            if path.is_file()
        )
    if bytes_alike:
        return Check(name, True, "every byte is as protect writes it")
    more = [] if released.npz else [each for each in released.names if says_more(release.directory / file / each)]
    if more or released.npz:
        return Check(name, False, f"{max(1, len(more)):,} of the files say more than their pixels")
    return Check(name, None, "this version of Pillow packs pixels into other bytes")


def says_more(path: Path) -> bool:
    """Whether a PNG has parts besides its size, its colours and its pixels."""
    data, at, plain = path.read_bytes(), 8, (b"IHDR", b"PLTE", b"IDAT", b"IEND")
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        at += size + 12
        if kind not in plain or (kind == b"IEND" and at != len(data)):
            return True
    return False


def _checks_of_labels(
    release: ImageRelease, flags: Mask, original: Images, released: Images, rows: Codes
) -> list[Check]:
    """Whether kept labels are the originals', and the bound is what flags and secrets give."""
    certificate, checks = release.certificate, []
    kept = certificate.kept_labels
    if kept and set(kept) <= set(original.labels):
        wanted = [original.label(column)[rows].tolist() for column in kept]
        if released.npz:
            alike = [list(released.labels.get(column, ())) for column in kept] == wanted
        else:
            lines = [list(row) for row in zip(released.names, *wanted, strict=True)]
            alike = _label_rows(release.directory)[1:] == lines
        checks.append(Check("kept labels", alike, ", ".join(kept)))
    if certificate.secret in original.labels:
        codes = np.unique(original.label(certificate.secret), return_inverse=True)[1][rows].astype(np.int64)
        columns = original.channels * certificate.patch**2
        epsilon, scale = certificate.epsilon, certificate.scale
        delta = patch_delta(flags, codes, epsilon=epsilon, scale=scale, columns=columns)
        detail = f"delta {delta.largest:g} per patch, from flags, labels, epsilon and scale"
        checks.append(Check("bound", delta == certificate.delta, detail))
    return checks


def _check_of_each_patch(before: Pixels, after: Pixels, flags: Mask, certificate: ImageCertificate) -> Check:
    """Whether no flagged patch has more unchanged values than noise would leave, by a union bound."""
    from scipy.special import gammaln

    size, n = certificate.patch, len(before)
    stays = np.diag(noise_law(certificate.scale))

    def by_patch(values: NDArray[Any]) -> NDArray[Any]:
        cut = values.reshape(n, before.shape[1] // size, size, before.shape[2] // size, size, -1)
        return cut.transpose(0, 1, 3, 2, 4, 5).reshape(n, flags.shape[1], -1)[flags]

    same = by_patch(before == after).sum(axis=1)
    of = by_patch(before).shape[1]
    likeliest = np.log(np.maximum(stays[by_patch(before)].max(axis=1, initial=0.0), 1e-300))
    chance = gammaln(of + 1) - gammaln(same + 1) - gammaln(of - same + 1) + same * likeliest
    wrong = int((chance < -NEVER).sum())
    return Check("every flagged patch was noised", wrong == 0, f"{wrong:,} of {len(same):,} are mostly the originals'")


def check_of_noise(before: Pixels, after: Pixels, scale: float) -> Check:
    """Whether the squared changes add up to what noise of this scale gives, cut to 0 and 255 and rounded."""
    name = "scale of the noise"
    if len(before) == 0:
        return Check(name, True, "no patch was noised")
    levels = np.arange(256.0)
    law = noise_law(scale)
    squares = (levels[None, :] - levels[:, None]) ** 2
    mean = (law * squares).sum(axis=1)
    variance = (law * squares**2).sum(axis=1) - mean**2
    changes = (after.astype(np.float64) - before) ** 2
    count = np.bincount(before, minlength=256)
    spread = math.sqrt(max(float(count @ variance), 1e-300))
    z = float((changes.sum() - count @ mean) / spread)
    return Check(name, abs(z) <= TOO_FAR, f"squared changes are {abs(z):.1f} standard errors from those expected")


def noise_law(scale: float) -> Matrix:
    """The chance of each level, given the level before: Gaussian noise, cut to the range and rounded."""
    from scipy.special import ndtr

    levels = np.arange(256.0)
    edges = (levels[:-1] + 0.5)[None, :] - levels[:, None]
    below = ndtr(edges / (255.0 * scale))
    return np.diff(below, axis=1, prepend=0.0, append=1.0)
