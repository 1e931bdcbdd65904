"""``protect`` for images: noise on the patches that give a label away, and a certificate that says what it is worth."""

from __future__ import annotations

import csv
import json
import secrets as secure
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.errors import ArgumentError, ColumnError
from tacit.learn.evidence import binomial_limits
from tacit.media.images import Images, image_file, patch_masks, pixels_of, reordered, write_images
from tacit.tables.writing import os_errors, whole_directory
from tacit.workflows.certifying import REPORT, file_sha256, salted
from tacit.workflows.claims import randomness_of
from tacit.workflows.image_auditing import (
    FOLDS,
    ORDERS,
    SHOWN_IMAGES,
    Asked,
    ask_images,
    checked_scale,
    checked_sizes,
    chosen_images,
    drawn_from,
    guess_of,
    heat_map,
    prefix_estimator,
    seed_or,
)
from tacit.workflows.image_claims import assumptions_of_images, claim_of_images, fingerprint, patch_delta, published
from tacit.workflows.image_results import (
    KIND,
    HeatMap,
    ImageAdversary,
    ImageCertificate,
    ImageProtectResult,
    PatchDelta,
    Pixels,
    ShownImage,
)
from tacit.workflows.results import RENDERERS, plain
from tacit.workflows.tabulating import Progress, checked_epsilon, silent

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

FLAGS, NAMES, SALT = "flags.npz", "names.csv", "salt.txt"
NO_BETTER, BETTER = "not detectably better than the prior", "still better than the prior"
CONFIDENCE = 0.95


def protect_images(
    source: str | Path | Images,
    *,
    secret: str,
    epsilon: float,
    out: str | Path,
    labels: str | Path | None = None,
    patch: int | None = None,
    scale: float = 1.0,
    order: str = "given",
    keep_labels: Sequence[str] = (),
    keep_names: bool = False,
    overwrite: bool = False,
    random_state: int | None = None,
    progress: Progress = silent,
) -> ImageProtectResult:
    """Write images with noise on the patches that give a label away.

    Each third of the images is judged by a model that learned from the other two. Patch by patch, one that would add
    more than ``epsilon`` about the secret, given what was released of its image before, gets Gaussian noise.

    Parameters
    ----------
    source, labels, secret
        As in ``audit_images``.
    epsilon : float
        In nats: what one patch may add before it is noised.
    out : path
        Directory of the release.
    patch : int, optional
        Side of the square patches; by default about eight patches a side.
    scale : float
        Standard deviation of the noise; 1 is the full range of a pixel.
    order : {"given", "leak"}
        Patches row by row, or those that say most by themselves first.
    keep_labels : list of str
        Other labels to be released beside the images.
    keep_names : bool
        Keep names and order of the files. By default they are numbers in random order, for names and order may tell
        the secret; ``private/names.csv`` has both.
    overwrite : bool
        Replace an existing release; nothing else is ever replaced.
    random_state : int, optional
        For a release that can be made again; without it noise, order and seed come from the system's secure source.

    Guarantees
    ----------
    The directory appears whole or not at all. Unflagged patches are unchanged (PNG and npz). No original is in the
    public part, nor a label that was not asked for. What a single image still gives away is not certified.
    """
    checked_scale(scale)
    checked_epsilon(epsilon)
    if order not in ("given", "leak"):
        raise ArgumentError(f"order is 'given' or 'leak'; got {order!r}")
    seed = seed_or(random_state)
    asked = ask_images(source, labels=labels, secret=secret, random_state=seed)
    size = checked_sizes(asked.images, patch)[0]
    _check_labels(asked, keep_labels)
    _check_target(Path(out), asked.images.source, overwrite)
    treated = _treated(asked, size, epsilon, scale, order, seed, secure_noise=random_state is None, progress=progress)
    adversaries = _adversaries(asked, treated.pixels, progress)
    place = _places(len(asked.images), keep_names, random_state)
    released = reordered(replace(asked.images, pixels=treated.pixels), place, rename=not keep_names)
    with whole_directory(out, overwrite=overwrite) as directory:
        progress("writing the images", None)
        with os_errors(directory):
            write_images(released, directory, keep=keep_labels)
            salt = secure.token_bytes(32)
            certificate = _certificate(
                asked, treated, adversaries, directory, salt, epsilon=epsilon, scale=scale, size=size, order=order,
                keep_labels=tuple(keep_labels), keep_names=keep_names, repeatable=random_state is not None,
            )  # fmt: skip
            result = ImageProtectResult(
                out=str(out),
                source=asked.facts(),
                certificate=certificate,
                headline=_headline(certificate),
                notes=(*asked.notes, *_notes(asked, certificate)),
                sheet=_public_sheet(released, treated.flags[place]),
            )
            return _write_papers(result, asked, treated, released, place, salt, directory)


@dataclass(frozen=True)
class Treated:
    """The obfuscated images in the order of the originals, which patches were noised, and what each would add."""

    pixels: Pixels
    flags: Mask
    heat: HeatMap
    delta: PatchDelta
    size: int
    shown: NDArray[np.int64]
    shown_heat: Floats


def _treated(
    asked: Asked, size: int, epsilon: float, scale: float, order: str, seed: int, *, secure_noise: bool,
    progress: Progress,
) -> Treated:  # fmt: skip
    """Every third of the images, treated by what was learned from the other two."""
    from tacit.learn.obfuscator import FeatureObfuscator

    images, matrix = asked.images, asked.images.matrix()
    m = (images.height // size) * (images.width // size)
    pixels, flags = images.pixels.copy(), np.zeros((len(images), m), dtype=bool)
    drawn = drawn_from(np.arange(len(images)), seed)
    density = np.zeros((len(drawn), m, len(asked.secrets)))
    truncated = 0.0
    for k in range(FOLDS):
        progress(f"learning from two thirds, treating the other ({k + 1} of {FOLDS})", k / FOLDS)
        rows = np.flatnonzero(asked.fold == k)
        others = asked.fold != k
        tool = FeatureObfuscator(
            prefix_estimator(images, size, seed + k), epsilon=epsilon, scale=scale, order=order,
            random_state=None if secure_noise else seed + k,
        )  # fmt: skip
        tool.fit(matrix[others], asked.labels[others])
        done = tool.obfuscate(matrix[rows])
        flags[rows] = done.flags
        # The tool brings numbers into the range it learned from. What a pixel can be is known: there is noise alone.
        noise, raw = tool.noise_[float(scale)], matrix[rows]
        moved = noise.to_grid(raw) - noise.to_grid(raw.clip(tool.low_, tool.high_))
        pixels[rows] = pixels_of(done.values + moved, images.pixels[rows].shape)
        columns = images.channels * size**2
        truncated = columns * noise.truncated
        mine = np.flatnonzero(asked.fold[drawn] == k)
        density[mine] = tool.estimator_.feature_log_lift(matrix[drawn[mine]], orders=ORDERS)
    mask = patch_masks(images.height, images.width, size, flags)
    mask = mask if images.channels == 1 else mask[..., None]
    # Whatever rounding may do, a patch that was not flagged is the original's.
    pixels = np.where(mask, pixels, images.pixels)
    shown = np.searchsorted(drawn, chosen_images(asked, drawn))
    heat = np.abs(density[shown]).max(axis=2).reshape(len(shown), images.height // size, images.width // size)
    diameter = float(size * np.sqrt(images.channels))
    return Treated(
        pixels=pixels,
        flags=flags,
        heat=heat_map(images, size, asked, drawn, density),
        delta=patch_delta(flags, asked.codes, epsilon=epsilon, scale=scale, diameter=diameter, truncated=truncated),
        size=size,
        shown=drawn[shown],
        shown_heat=heat,
    )


def _adversaries(asked: Asked, treated: Pixels, progress: Progress) -> tuple[ImageAdversary, ...]:
    """Adversaries that learn from two thirds and guess the other: before, after, and retrained on the release."""
    from tacit.media.hog import HogClassifier, PixelClassifier

    makers: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("HOG and SVM", HogClassifier),
        ("pixels, linear", PixelClassifier),
    )
    original, train, test = asked.images.pixels, asked.fold != 0, asked.fold == 0
    truth, n = asked.labels[test], int(test.sum())
    found = []
    for name, make in makers:
        progress(f"training {name}", None)
        clean = make().fit(original[train], asked.labels[train])
        again = make().fit(treated[train], asked.labels[train])
        guesses = clean.predict(original[test]), clean.predict(treated[test]), again.predict(treated[test])
        before, after, retrained = (guess_of(int((guess == truth).sum()), n) for guess in guesses)
        found.append(ImageAdversary(name, before, after, retrained, float(asked.prior.max())))
    return tuple(found)


def verdict_of(adversaries: Sequence[ImageAdversary]) -> str:
    """Whether any adversary is still better than the prior; with several, each needs more evidence."""
    level = 1 - (1 - CONFIDENCE) / (2 * len(adversaries))
    for each in adversaries:
        for guess in (each.after, each.retrained):
            if binomial_limits(round(guess.right * guess.of), guess.of, confidence=level)[0] > each.prior:
                return BETTER
    return NO_BETTER


def _places(n: int, keep_names: bool, random_state: int | None) -> NDArray[np.int64]:
    """Which original each released image is: as they were, or in an order that tells nothing."""
    if keep_names:
        return np.arange(n)
    if random_state is not None:
        return np.random.default_rng([random_state, 1]).permutation(n)
    order = list(range(n))
    secure.SystemRandom().shuffle(order)
    return np.array(order, dtype=np.int64)


def _certificate(
    asked: Asked, treated: Treated, adversaries: tuple[ImageAdversary, ...], directory: Path, salt: bytes, *,
    epsilon: float, scale: float, size: int, order: str, keep_labels: tuple[str, ...], keep_names: bool,
    repeatable: bool,
) -> ImageCertificate:  # fmt: skip
    images, flags = asked.images, treated.flags
    data_file = image_file(images)
    difference = treated.pixels.astype(np.float64) - images.pixels
    return ImageCertificate(
        claim=claim_of_images(
            secret=asked.secret, epsilon=epsilon, scale=scale, patch=size, flagged=float(flags.mean()),
            lossy=images.lossy,
        ),
        secret=asked.secret,
        epsilon=epsilon,
        scale=scale,
        patch=size,
        patches=flags.shape[1],
        order=order,
        flagged_share=float(flags.mean()),
        flagged_images=float(flags.any(axis=1).mean()),
        delta=treated.delta,
        adversaries=adversaries,
        verdict_after=verdict_of(adversaries),  # type: ignore[arg-type]
        heat=published(treated.heat),
        mean_square=float((difference**2).mean()),
        kept_labels=keep_labels,
        names="kept" if keep_names else "numbers in random order",
        assumptions=assumptions_of_images(
            secret=asked.secret, delta=treated.delta, patches=flags.shape[1], epsilon=epsilon
        ),
        input={**plain(asked.facts()), "salted_sha256": salted(images.sha256(), salt)},
        output={
            "file": data_file,
            "images": len(images),
            "sha256": fingerprint(directory, data_file),
            "lossy": images.lossy,
        },
        randomness=randomness_of(drawn=True, repeatable=repeatable, learned_here=True),
        tacit_version=__version__,
    )  # fmt: skip


def _headline(certificate: ImageCertificate) -> str:
    after = max(certificate.adversaries, key=lambda a: max(a.after.right, a.retrained.right))
    before = max(each.before.right for each in certificate.adversaries)
    best = max(after.after.right, after.retrained.right)
    return (
        f"Noise was put on {certificate.flagged_share:.1%} of the patches. The best adversary guesses "
        f"'{certificate.secret}' right {best:.1%} of the time, {before:.1%} before; always the commonest is right "
        f"{after.prior:.1%} of the time."
    )


def _notes(asked: Asked, certificate: ImageCertificate) -> tuple[str, ...]:
    notes = ["an adversary that fails proves nothing, and of a single image nothing is certified"]
    if certificate.flagged_images < 1:
        notes.append(f"{1 - certificate.flagged_images:.1%} of the images have no noised patch: they are the originals")
    if certificate.verdict_after == BETTER:
        notes.append(
            "an adversary is still better than the prior: lower --epsilon, choose another --patch, or raise --scale"
        )
    kinds = sorted({Path(name).suffix.lower() for name in asked.images.names})
    if not asked.images.npz and len(kinds) > 1:
        notes.append(f"files stay of their kind ({', '.join(kinds)}): make sure that the kind does not tell the secret")
    if certificate.names == "kept":
        notes.append("names and order of the files were kept: make sure that they do not tell the secret")
    if certificate.output["lossy"]:
        notes.append("JPEG changes pixels: unflagged patches are alike, not byte-identical; PNG and npz keep them")
    if certificate.kept_labels:
        kept = ", ".join(certificate.kept_labels)
        notes.append(f"labels {kept} were released as they are: what they say about the secret was not looked at")
    return tuple(notes)


def _public_sheet(released: Images, flags: Mask) -> tuple[ShownImage, ...]:
    """The first noised images of the release, without their secret; one without noise is its original: not shown."""
    noised = np.flatnonzero(flags.any(axis=1))[: 2 * SHOWN_IMAGES]
    return tuple(ShownImage(None, None, obfuscated=released.pixels[k]) for k in noised)


def _write_papers(
    result: ImageProtectResult, asked: Asked, treated: Treated, released: Images, place: NDArray[np.int64],
    salt: bytes, directory: Path,
) -> ImageProtectResult:  # fmt: skip
    """Report, certificate and the owner's folder."""
    private = directory / "private"
    private.mkdir(mode=0o700)
    if "page" in RENDERERS:
        page = directory / REPORT
        page.write_text(RENDERERS["page"](result), "utf-8")
        output = {**result.certificate.output, "report_sha256": file_sha256(page)}
        result = replace(result, certificate=replace(result.certificate, output=output))
        sheet = tuple(
            ShownImage(str(asked.labels[at]), asked.images.pixels[at], (heat,), treated.pixels[at])
            for at, heat in zip(treated.shown, treated.shown_heat, strict=True)
        )
        own = replace(result, sheet=sheet, private=True)
        (private / REPORT).write_text(RENDERERS["page"](own), "utf-8")
    text = json.dumps(plain(result.certificate), indent=2, ensure_ascii=False, allow_nan=False)
    (directory / "certificate.json").write_text(text + "\n", "utf-8")
    np.savez_compressed(private / FLAGS, flags=treated.flags[place], patch=np.array(treated.size))
    with (private / NAMES).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["released", "original"])
        writer.writerows((name, asked.images.names[at]) for name, at in zip(released.names, place, strict=True))
    (private / SALT).write_text(salt.hex() + "\n", "utf-8")
    lines = (
        "Only the owner of the images may see this folder. Do not publish it.",
        f"{REPORT} shows originals beside their heat maps; {NAMES} says which original each released image is;",
        f"{FLAGS} has which patches were noised; {SALT} opens the fingerprint of the originals in certificate.json.",
    )
    (private / "README.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return result


def _check_labels(asked: Asked, keep: Sequence[str]) -> None:
    for column in keep:
        if column not in asked.images.labels:
            raise ColumnError(column, tuple(asked.images.labels))
        if column == asked.secret:
            raise ArgumentError(f"'{column}' is the secret: it cannot be kept in the release")


def _check_target(out: Path, source: Path, overwrite: bool) -> None:
    """Never put a release over anything but a release of images, and never over its originals."""
    target = out.resolve()
    if source.resolve().is_relative_to(target):
        raise ArgumentError(f"{out} holds the original {source.name}: choose another directory for the release")
    if not overwrite or not target.is_dir() or not any(target.iterdir()):
        return
    if not (target / "certificate.json").is_file():
        raise ArgumentError(f"{out} is not a release of Tacit, so it is not overwritten: choose another directory")


__all__ = ["FLAGS", "KIND", "NAMES", "SALT", "protect_images", "verdict_of"]
