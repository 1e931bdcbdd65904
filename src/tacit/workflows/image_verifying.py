"""``verify`` for images: is a release what its certificate says it is?"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SourceError
from tacit.lift.grid_noise import GridGaussian
from tacit.media.images import Images, open_images, open_pixels, patch_masks
from tacit.workflows.certifying import REPORT, file_sha256, salted
from tacit.workflows.image_claims import (
    LABELS,
    assumptions_of_images,
    claim_of_images,
    fingerprint,
    judged,
    patch_delta,
)
from tacit.workflows.image_protecting import FLAGS, NAMES, SALT, verdict_of
from tacit.workflows.image_results import KIND, Guess, ImageAdversary, PatchDelta
from tacit.workflows.results import Check, VerifyResult
from tacit.workflows.tabulating import Progress, silent

# Chances below e to minus this do not come by chance, however many patches there are.
NEVER = 30.0
# Noise of the right scale gives a larger sum of squares about once in two million releases.
TOO_FAR = 5.0
NOTES = (
    "that the right patches were chosen cannot be checked: it was learned, and certifies nothing of a single image",
    "what adversaries guessed was not measured again: it rests on the certificate",
    "that the noise came from a secure source cannot be checked either; its spread was, where the originals are",
)


@dataclass(frozen=True)
class ImageRelease:
    """A release of images: its certificate as it was written, and what of the owner's folder is there."""

    directory: Path
    paper: Mapping[str, Any]
    flags: NDArray[np.bool_] | None
    names: Mapping[str, str] | None
    salt: bytes | None


def is_image_release(directory: str | Path) -> bool:
    """Whether a directory holds a certificate of images."""
    try:
        paper = json.loads((Path(directory) / "certificate.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(paper, dict) and paper.get("kind") == KIND


def verify_images(
    release: str | Path, *, against: str | Path | None = None, labels: str | Path | None = None,
    progress: Progress = silent,
) -> VerifyResult:  # fmt: skip
    """Check a release of images against its certificate, and against the originals where they are at hand.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked: files and report are those certified, the words follow from
    the numbers, unflagged patches are unchanged to the last bit, and flagged ones carry noise of the stated scale. It
    says nothing of what a single image gives away: that was never certified.
    """
    opened = _opened(Path(release))
    checks = [*_checks_of_papers(opened)]
    if against is None:
        checks.append(Check("patches compared", None, "needs the originals: tacit verify RELEASE --against FOLDER"))
    else:
        progress("comparing patch by patch", None)
        checks += _checks_against(opened, _originals(opened, Path(against), labels))
    failed = [check for check in checks if check.passed is False]
    open_ = [check for check in checks if check.passed is None]
    return VerifyResult(
        release=str(release),
        against=None if against is None else str(against),
        verdict="broken" if failed else "not checked" if open_ else "holds",
        headline=_headline(opened, failed, open_),
        checks=tuple(checks),
        notes=NOTES,
    )


def _opened(directory: Path) -> ImageRelease:
    paper = json.loads((directory / "certificate.json").read_text("utf-8"))
    try:
        _check_fields(paper)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"{directory / 'certificate.json'} is damaged or not a certificate of images ({error})"
        ) from error
    private = directory / "private"
    try:
        flags = names = salt = None
        if (private / FLAGS).exists():
            with np.load(private / FLAGS, allow_pickle=False) as archive:
                flags = archive["flags"].astype(bool)
        if (private / NAMES).exists():
            with (private / NAMES).open(encoding="utf-8", newline="") as file:
                names = {row["released"]: row["original"] for row in csv.DictReader(file)}
        if (private / SALT).exists():
            salt = bytes.fromhex((private / SALT).read_text("ascii").strip())
    except (OSError, ValueError, KeyError) as error:
        raise SourceError(f"{private} is damaged: put back what protect wrote ({error})") from error
    return ImageRelease(directory, paper, flags, names, salt)


def _check_fields(paper: Mapping[str, Any]) -> None:
    """What is read below must be there, and of its type."""
    texts = [paper[name] for name in ("claim", "secret", "order", "randomness", "names", "verdict_after")]
    texts += [paper["input"]["name"], paper["input"]["salted_sha256"], paper["output"]["file"]]
    if not all(isinstance(text, str) for text in (*texts, *paper["kept_labels"], *paper["assumptions"])):
        raise TypeError("a field that should be text is not")
    numbers = [paper[name] for name in ("epsilon", "scale", "flagged_share", "flagged_images", "mean_square")]
    numbers += [paper["delta"][name] for name in ("largest", "total", "total_epsilon", "floor", "diameter", "rarest")]
    if not all(type(number) in (int, float) and math.isfinite(number) for number in numbers) or paper["scale"] <= 0:
        raise TypeError("a field that should be a number is not")
    if not all(type(n) is int for n in (paper["patch"], paper["patches"], paper["output"]["images"])):
        raise TypeError("a field that should be a whole number is not")
    if paper["format_version"] != 1 or Path(paper["output"]["file"]).name != paper["output"]["file"]:
        raise ValueError("not a certificate of images of format 1")
    papers = [paper["output"]["sha256"], paper["claim"]]
    if not all(isinstance(text, str) for text in papers) or type(paper["output"]["lossy"]) is not bool:
        raise TypeError("the output is not described")
    if paper["certified_epsilon"] is not None or not all(type(each) is str for each in paper["kept_labels"]):
        raise ValueError("nothing is certified of images, and kept labels are names")
    PatchDelta(**paper["delta"])
    _adversaries(paper)


def _adversaries(paper: Mapping[str, Any]) -> tuple[ImageAdversary, ...]:
    def guess(told: Mapping[str, Any]) -> Guess:
        return Guess(float(told["right"]), float(told["low"]), float(told["high"]), int(told["of"]))

    return tuple(
        ImageAdversary(
            str(a["name"]), guess(a["before"]), guess(a["after"]), guess(a["retrained"]), float(a["prior"])
        )
        for a in paper["adversaries"]
    )  # fmt: skip


def _checks_of_papers(opened: ImageRelease) -> list[Check]:
    paper, directory = opened.paper, opened.directory
    place = directory / paper["output"]["file"]
    if not place.exists():
        return [Check("images are those certified", False, f"there is no {place.name}")]
    same = fingerprint(directory, place.name) == paper["output"]["sha256"]
    checks = [Check("images are those certified", same, "SHA-256 agrees" if same else "the files were changed")]
    stray = _stray_labels(directory, place, paper["kept_labels"])
    checks.append(Check("no other labels", stray is None, stray or "as certified"))
    delta = PatchDelta(**paper["delta"])
    claim = claim_of_images(
        secret=paper["secret"], epsilon=paper["epsilon"], scale=paper["scale"], patch=paper["patch"],
        flagged=paper["flagged_share"], lossy=paper["output"]["lossy"],
    )  # fmt: skip
    rests_on = assumptions_of_images(
        secret=paper["secret"], delta=delta, patches=paper["patches"], epsilon=paper["epsilon"]
    )
    plainly = paper["certified_epsilon"] is None and judged(delta, paper["epsilon"])
    said = claim == paper["claim"] and list(rests_on) == paper["assumptions"] and plainly
    checks.append(Check("words follow from numbers", said, "claim and assumptions" if said else "they were changed"))
    verdict = verdict_of(_adversaries(paper)) == paper["verdict_after"]
    checks.append(Check("verdict follows from the adversaries", verdict, paper["verdict_after"]))
    page, claimed = directory / REPORT, paper["output"].get("report_sha256")
    if page.exists():
        same = claimed is not None and file_sha256(page) == claimed
        detail = "SHA-256 agrees" if same else f"{REPORT} was changed"
        checks.append(Check("report is the one certified", same, detail))
    return checks


def _stray_labels(directory: Path, place: Path, kept: list[str]) -> str | None:
    """What is wrong with the labels beside the images, or within an npz."""
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
    try:
        with (directory / LABELS).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file)) or [[]]
    except (OSError, ValueError, csv.Error) as error:
        raise SourceError(f"cannot read {directory / LABELS} ({error})") from error


def _originals(opened: ImageRelease, against: Path, labels: str | Path | None) -> Images:
    if against.is_dir() and labels is None:
        return open_pixels(against)
    return open_images(against, labels=labels)


def _checks_against(opened: ImageRelease, original: Images) -> list[Check]:
    paper, checks = opened.paper, []
    if opened.salt is not None and original.labels:
        same = salted(original.sha256(), opened.salt) == paper["input"]["salted_sha256"]
        detail = "salted SHA-256 agrees" if same else "pixels, names or labels differ"
        checks.append(Check("originals are those certified", same, detail))
    else:
        why = "needs --labels" if opened.salt is not None else f"needs private/{SALT}"
        checks.append(Check("originals are those certified", None, why))
    released = open_pixels(opened.directory / paper["output"]["file"])
    counts = len(original), len(released), paper["output"]["images"]
    same = len(set(counts)) == 1 and original.pixels.shape == released.pixels.shape
    detail = f"{counts[0]:,} originals, {counts[1]:,} released, {counts[2]:,} certified"
    checks.append(Check("number and size of images", same, detail))
    if not same:
        return checks
    if opened.flags is None or (opened.names is None and paper["names"] != "kept"):
        checks.append(Check("unflagged patches are unchanged", None, f"needs private/{FLAGS} and private/{NAMES}"))
        return checks
    return [*checks, *_checks_of_patches(opened, original, released)]


def _checks_of_patches(opened: ImageRelease, original: Images, released: Images) -> list[Check]:
    paper, flags = opened.paper, opened.flags
    assert flags is not None
    at = {name: k for k, name in enumerate(original.names)}
    names = opened.names or {name: name for name in released.names}
    wanted = [at.get(names.get(name, "")) for name in released.names]
    if None in wanted or len(set(wanted)) != len(wanted) or flags.shape != (len(released), paper["patches"]):
        return [Check("owner's papers fit the release", False, f"private/{NAMES} or private/{FLAGS} do not fit")]
    before = original.pixels[np.array(wanted, dtype=np.int64)]
    mask = patch_masks(original.height, original.width, paper["patch"], flags)
    if original.channels == 3:
        mask = np.repeat(mask[..., None], 3, axis=3)
    rows = np.array(wanted, dtype=np.int64)
    changed = int((released.pixels != before)[~mask].sum())
    share, touched = float(flags.mean()), float(flags.any(axis=1).mean())
    checks = [
        Check(
            "share of noised patches",
            math.isclose(share, paper["flagged_share"], abs_tol=1e-12)
            and math.isclose(touched, paper["flagged_images"], abs_tol=1e-12),
            f"{share:.2%}, in {touched:.2%} of the images, by private/{FLAGS}",
        ),
        *_checks_of_labels(opened, original, released, rows),
    ]
    if paper["output"]["lossy"]:
        unsure = "JPEG changes pixels, so that neither can be checked bit by bit"
        return [
            *checks,
            Check("unflagged patches are unchanged", None, unsure),
            Check("scale of the noise", None, unsure),
        ]
    checks.append(
        Check("unflagged patches are unchanged", changed == 0, f"{changed:,} of {int((~mask).sum()):,} values differ")
    )
    square = float(((released.pixels.astype(np.float64) - before) ** 2).mean())
    same = math.isclose(square, paper["mean_square"], rel_tol=1e-9, abs_tol=1e-9)
    checks.append(Check("mean squared change", same, f"{square:.4g} levels squared"))
    checks.append(_check_of_noise(before[mask], released.pixels[mask], paper["scale"]))
    return [*checks, _check_of_each_patch(before, released.pixels, flags, paper)]


def _checks_of_labels(
    opened: ImageRelease, original: Images, released: Images, rows: NDArray[np.int64]
) -> list[Check]:  # fmt: skip
    """Kept labels are the originals', and the bound is what the flags and the secrets give."""
    paper, flags, checks = opened.paper, opened.flags, []
    assert flags is not None
    kept = paper["kept_labels"]
    if kept and set(kept) <= set(original.labels):
        wanted = [original.label(column)[rows].tolist() for column in kept]
        if released.npz:
            found = [list(released.labels.get(column, ())) for column in kept]
            same = found == wanted
        else:
            same = _label_rows(opened.directory)[1:] == [list(row) for row in zip(released.names, *wanted, strict=True)]
        checks.append(Check("kept labels", same, ", ".join(kept)))
    if paper["secret"] in original.labels:
        codes = np.unique(original.label(paper["secret"]), return_inverse=True)[1][rows].astype(np.int64)
        columns = original.channels * paper["patch"] ** 2
        delta = patch_delta(
            flags, codes, epsilon=paper["epsilon"], scale=paper["scale"], diameter=math.sqrt(columns),
            truncated=columns * GridGaussian(paper["scale"]).truncated,
        )  # fmt: skip
        same = delta == PatchDelta(**paper["delta"])
        checks.append(Check("bound", same, f"delta {delta.largest:g} a patch, from flags, labels, epsilon and scale"))
    return checks


def _check_of_each_patch(
    before: NDArray[np.uint8], after: NDArray[np.uint8], flags: NDArray[np.bool_], paper: Mapping[str, Any]
) -> Check:  # fmt: skip
    """Whether some noised patch has more unchanged values than noise could leave, by a union bound."""
    from scipy.special import gammaln

    size, n = paper["patch"], len(before)
    stays = np.diag(noise_law(paper["scale"]))

    def by_patch(values: NDArray[Any]) -> NDArray[Any]:
        cut = values.reshape(n, before.shape[1] // size, size, before.shape[2] // size, size, -1)
        return cut.transpose(0, 1, 3, 2, 4, 5).reshape(n, flags.shape[1], -1)[flags]

    same = by_patch(before == after).sum(axis=1)
    of = by_patch(before).shape[1]
    likeliest = np.log(np.maximum(stays[by_patch(before)].max(axis=1, initial=0.0), 1e-300))
    chance = gammaln(of + 1) - gammaln(same + 1) - gammaln(of - same + 1) + same * likeliest
    wrong = int((chance < -NEVER).sum())
    return Check("every flagged patch was noised", wrong == 0, f"{wrong:,} of {len(same):,} are mostly the originals'")


def _check_of_noise(before: NDArray[np.uint8], after: NDArray[np.uint8], scale: float) -> Check:
    """Whether the squared changes add up to what noise of this scale gives, cut to 0 and 255 and rounded."""
    name = "scale of the noise"
    if len(before) == 0:
        return Check(name, True, "no patch was noised")
    levels = np.arange(256.0)
    law = noise_law(scale)
    squares = (levels[None, :] - levels[:, None]) ** 2
    mean = (law * squares).sum(axis=1)
    variance = (law * squares**2).sum(axis=1) - mean**2
    found = (after.astype(np.float64) - before) ** 2
    count = np.bincount(before, minlength=256)
    spread = math.sqrt(max(float(count @ variance), 1e-300))
    z = float((found.sum() - count @ mean) / spread)
    return Check(name, abs(z) <= TOO_FAR, f"squared changes are {abs(z):.1f} standard errors from those expected")


def noise_law(scale: float) -> NDArray[np.float64]:
    """The chance of each level, given the level before: Gaussian noise, cut to the range and rounded."""
    from scipy.special import ndtr

    levels = np.arange(256.0)
    edges = (levels[:-1] + 0.5)[None, :] - levels[:, None]
    below = ndtr(edges / (255.0 * scale))
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def _headline(opened: ImageRelease, failed: list[Check], unchecked: list[Check]) -> str:
    if failed:
        return f"The release is not what its certificate says: {failed[0].name} ({failed[0].detail})."
    if unchecked:
        return f"Not all of it was checked: {unchecked[0].name} ({unchecked[0].detail})."
    return (
        "The release is what its certificate says: unflagged patches are unchanged, flagged ones carry noise of the "
        "stated scale. What a single image gives away was never certified."
    )
