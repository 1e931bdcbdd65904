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
from tacit.media.images import Images, open_images, open_pixels, patch_masks
from tacit.workflows.certifying import REPORT, file_sha256, salted
from tacit.workflows.image_claims import LABELS, assumptions_of_images, claim_of_images, fingerprint, judged
from tacit.workflows.image_protecting import FLAGS, NAMES, SALT, verdict_of
from tacit.workflows.image_results import KIND, Guess, ImageAdversary, PatchDelta
from tacit.workflows.results import Check, VerifyResult
from tacit.workflows.tabulating import Progress, silent

# Noise of the right scale gives a larger sum of squares about once in two million releases.
TOO_FAR = 5.0
NOTES = (
    "that the right patches were chosen cannot be checked: it was learned, and certifies nothing of a single image",
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
    stray = (directory / LABELS).exists() and not paper["kept_labels"]
    checks.append(Check("no other labels", not stray, f"{LABELS} was not certified" if stray else "as certified"))
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
    changed = int((released.pixels != before)[~mask].sum())
    share = float(flags.mean())
    checks = [
        Check(
            "share of noised patches",
            math.isclose(share, paper["flagged_share"], abs_tol=1e-12),
            f"{share:.2%} by private/{FLAGS}",
        )
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
    return [*checks, _check_of_noise(before[mask], released.pixels[mask], paper["scale"])]


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
