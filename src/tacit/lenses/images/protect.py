"""``protect`` for images: noise on the patches that give a label away, and a certificate that says what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from tacit import __version__
from tacit.document import Progress, Share
from tacit.errors import ArgumentError, Setting, sentence
from tacit.learn import binomial_limits
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.bench.answers import untouched_words
from tacit.lenses.bench.trying import FOLDS, BenchRecords, BenchRun, benched, spread
from tacit.lenses.images.answers.release import ImageProtectResult
from tacit.lenses.images.audit import (
    ORDERS,
    SHOWN_IMAGES,
    ImageCollection,
    ask_images,
    certified_input,
    checked_sizes,
    chosen_images,
    drawn_from,
    heat_map,
    prefix_estimator,
)
from tacit.lenses.images.claims import patch_delta, published
from tacit.lenses.images.families import ReadImages, image_families
from tacit.lenses.images.files import Pixels
from tacit.lenses.images.images import (
    Images,
    image_file,
    open_pixels,
    patch_masks,
    pixels_of,
    reordered,
    write_csv,
    write_images,
)
from tacit.lenses.images.results import ShownImage
from tacit.lenses.images.worth import worth_of_images
from tacit.lenses.ordering import released_order
from tacit.lift import Mask
from tacit.release.certificate import (
    AdversaryScore,
    CertifiedOutput,
    HeatMap,
    ImageCertificate,
    PatchDelta,
    best_guesses,
)
from tacit.release.claims import randomness_of, worded
from tacit.release.directory import REPORT, SALT, ReleaseDraft, new_release, refuse_target
from tacit.release.keys import files_sha256, seed_or_secure
from tacit.requests import Bound, Making, PatchNoise, Question

FLAGS, NAMES = "flags.npz", "names.csv"
AfterVerdict = Literal["not detectably better than the prior", "still better than the prior"]
BETTER: Literal["still better than the prior"] = "still better than the prior"
CONFIDENCE = 0.95
_README = (
    "Only the owner of the images may see this folder. Do not publish it.",
    f"{REPORT} shows originals next to their heat maps; {NAMES} says which original each released image is;",
    f"{FLAGS} says which patches were noised; {SALT} opens the fingerprint of the originals in certificate.json.",
)


def protect_images(
    question: Question, bound: Bound, making: Making, noise: PatchNoise, *, out: Path, progress: Progress
) -> ImageProtectResult:
    """Write images with noise on the patches that give a label away; the requests say what each setting means.

    Each third of the images is judged by a model that learned from the other two. Patch by patch: one that would add
    more than ``epsilon`` about the secret, given what was released of its image before it, gets Gaussian noise.

    Guarantees
    ----------
    The directory appears whole or not at all. Unflagged patches are unchanged (PNG and npz): an image without a flagged
    one is released as it was. No label is released that was not asked for. What a single image still gives away is not
    certified.
    """
    epsilon = bound.one_epsilon("one patch may add")
    if not (np.isfinite(noise.scale) and noise.scale > 0):
        words = "scale is the standard deviation of noise, in full pixel ranges, above 0; got {scale}"
        raise ArgumentError(sentence(words, scale=noise.scale))
    seed, keep = seed_or_secure(making.random_state), tuple(noise.keep_label or ())
    collection = ask_images(question, random_state=seed)
    size, repeatable = checked_sizes(collection.images, noise.patch)[0], making.random_state is not None
    for column in keep:
        collection.images.label(column)
        if column == collection.secret:
            raise ArgumentError(f"'{column}' is the secret: it cannot be kept in the release")
    refuse_target(out, original=collection.images.source, overwrite=making.overwrite)
    treated = _treated(collection, noise, epsilon, size, seed=seed, repeatable=repeatable, progress=progress)
    place = released_order(len(collection.images), keep=noise.keep_names, random_state=making.random_state)
    released = reordered(replace(collection.images, pixels=treated.pixels), place, rename=not noise.keep_names)
    with new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the images", None)
        write_images(released, draft.place, keep=keep)
        written = treated.pixels
        if collection.images.lossy:
            written = open_pixels(draft.place / image_file(collection.images)).pixels[np.argsort(place)]
        tried = benched_images(
            collection.images.pixels, written, collection.codes, collection.fold, place, size, progress
        )
        certificate = _certificate(collection, treated, noise, tried, draft, epsilon, size, repeatable)
        certificate = replace(certificate, **worth_of_images(question, collection, treated.pixels, size))
        result = ImageProtectResult(
            out=str(out),
            source=collection.facts(),
            certificate=certificate,
            headline=_headline(certificate, collection, treated),
            notes=(*collection.notes, *_notes(collection, certificate)),
            sheet=_public_sheet(released, treated.flags[place]),
        )
        _keep(draft, result, collection, treated, [*zip(released.names, place.tolist(), strict=True)])
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, _README)
    return replace(result, certificate=certificate)


@dataclass(frozen=True)
class Treated:
    """The obfuscated images in the order of the originals, which patches were noised, and what each would add."""

    pixels: Pixels
    flags: Mask
    heat: HeatMap
    delta: PatchDelta
    shown: Codes
    shown_heat: Floats


def _treated(
    collection: ImageCollection,
    noise: PatchNoise,
    epsilon: float,
    size: int,
    *,
    seed: int,
    repeatable: bool,
    progress: Progress,
) -> Treated:
    """Every third of the images, treated with what was learned from the other two."""
    from tacit.learn import FeatureObfuscator

    images, matrix = collection.images, collection.images.matrix()
    columns, m = images.channels * size**2, (images.height // size) * (images.width // size)
    pixels, flags = images.pixels.copy(), np.zeros((len(images), m), dtype=bool)
    drawn = drawn_from(np.arange(len(images)), seed)
    density = np.zeros((len(drawn), m, len(collection.secrets)))
    for k in range(FOLDS):
        progress(f"learning from two thirds, treating the other ({k + 1} of {FOLDS})", k / FOLDS)
        rows = np.flatnonzero(collection.fold == k)
        others = collection.fold != k
        tool = FeatureObfuscator(
            prefix_estimator(images, size, seed + k, prior=collection.prior),
            epsilon=epsilon,
            scale=noise.scale,
            order=noise.order,
            random_state=seed + k if repeatable else None,
        )
        tool.fit(matrix[others], secret=collection.labels[others])
        done = tool.obfuscate(matrix[rows])
        flags[rows] = done.flags
        # The tool also cuts values to the range it learned from. A pixel's range is known: undo all but the noise.
        grid, raw = tool.noise_[float(noise.scale)], matrix[rows]
        moved = grid.to_grid(raw) - grid.to_grid(raw.clip(tool.low_, tool.high_))
        pixels[rows] = pixels_of(done.values + moved, images.pixels[rows].shape)
        mine = np.flatnonzero(collection.fold[drawn] == k)
        density[mine] = tool.estimator_.feature_log_lift(matrix[drawn[mine]], orders=ORDERS)
    # Whatever rounding does, an unflagged patch must equal the original's.
    pixels = np.where(patch_masks(images, size, flags), pixels, images.pixels)
    shown = np.searchsorted(drawn, chosen_images(collection, drawn))
    heat = np.abs(density[shown]).max(axis=2).reshape(len(shown), images.height // size, images.width // size)
    return Treated(
        pixels=pixels,
        flags=flags,
        heat=heat_map(images, size, collection, drawn, density),
        delta=patch_delta(flags, collection.codes, epsilon=epsilon, scale=noise.scale, columns=columns),
        shown=drawn[shown],
        shown_heat=heat,
    )


def benched_images(
    before: Pixels, after: Pixels, codes: Codes, fold: Codes, order: Codes, patch: int, progress: Progress
) -> BenchRun:
    """Families of adversaries that learn from two thirds and guess the other third: before, after, and retrained.

    All arrays are in the order of the originals; ``order`` says which original each released image is.
    """
    rows = spread(len(before), len(before))
    records = BenchRecords(
        ReadImages(before[rows], rows, patch),
        ReadImages(after[rows], np.argsort(order)[rows], patch),
        codes[rows],
        fold[rows],
    )
    return benched(image_families(), records, progress=progress)


def by_part(untouched: Mask, part: Codes) -> tuple[tuple[int, int], ...]:
    """How many images are untouched, and how many there are, in each third that was treated separately."""
    masks = [part == k for k in np.unique(part).tolist()]
    return tuple((int(untouched[mask].sum()), int(mask.sum())) for mask in masks)


def verdict_after(adversaries: Sequence[AdversaryScore], *, prior: float, tested_on: int) -> AfterVerdict:
    """Whether any adversary still beats the prior, on all images or on a third; each look needs more evidence."""
    level = 1 - (1 - CONFIDENCE) / (2 * (1 + FOLDS) * len(adversaries))
    looks = [(right, tested_on) for each in adversaries for right in (each.after, each.retrained)]
    looks += [(each.worst, tested_on // FOLDS) for each in adversaries if each.worst is not None]
    surely = (binomial_limits(round(right * of), of, confidence=level)[0] for right, of in looks)
    return BETTER if any(share > prior for share in surely) else "not detectably better than the prior"


def _certificate(
    collection: ImageCollection,
    treated: Treated,
    noise: PatchNoise,
    tried: BenchRun,
    draft: ReleaseDraft,
    epsilon: float,
    size: int,
    repeatable: bool,
) -> ImageCertificate:
    images, flags, facts = collection.images, treated.flags, collection.facts()
    data_file, prior, tested_on = image_file(images), float(collection.prior.max()), tried.tested_on
    adversaries = tuple(each.score for each in tried.families)
    difference = treated.pixels.astype(np.float64) - images.pixels
    return worded(
        ImageCertificate(
            claim="",
            assumptions=(),
            secret=collection.secret,
            epsilon=epsilon,
            scale=noise.scale,
            patch=size,
            patches=flags.shape[1],
            order=noise.order,
            flagged_share=float(flags.mean()),
            flagged_images=float(flags.any(axis=1).mean()),
            delta=treated.delta,
            prior=prior,
            tested_on=tested_on,
            adversaries=adversaries,
            verdict_after=verdict_after(adversaries, prior=prior, tested_on=tested_on),
            heat=published(treated.heat),
            mean_square=float((difference**2).mean()),
            kept_labels=tuple(noise.keep_label or ()),
            names="kept" if noise.keep_names else "numbers in random order",
            height=facts.height,
            width=facts.width,
            channels=facts.channels,
            lossy=images.lossy,
            input=certified_input(collection, draft.salted(images.sha256())),
            output=CertifiedOutput(data_file, len(images), files_sha256(draft.place, data_file)),
            randomness=randomness_of(drawn=True, repeatable=repeatable, learned_here=True),
            tacit_version=__version__,
        )
    )


def _headline(certificate: ImageCertificate, collection: ImageCollection, treated: Treated) -> str:
    before, best = best_guesses(certificate.adversaries)
    words = sentence(
        "Noise was put on {noised} of the patches. The best adversary guesses '{secret}' right {best} of the time, "
        "{before} before; always guessing the commonest is right {prior} of the time.",
        noised=Share(certificate.flagged_share),
        secret=certificate.secret,
        best=Share(best),
        before=Share(before),
        prior=Share(certificate.prior),
    )
    untouched = np.asarray(~treated.flags.any(axis=1))
    left = int(untouched.sum())
    if not left:
        return words
    return untouched_words(left, len(untouched), "images", parts=by_part(untouched, collection.fold)) + " " + words


def _notes(collection: ImageCollection, certificate: ImageCertificate) -> tuple[str, ...]:
    notes: list[str] = ["a failed attack proves nothing, and nothing is certified about a single image"]
    if certificate.verdict_after == BETTER:
        settings = {name: Setting(name) for name in ("epsilon", "patch", "scale")}
        words = "an adversary is still better than the prior: lower {epsilon}, choose another {patch}, or raise {scale}"
        notes.append(sentence(words, **settings))
    kinds = sorted({Path(name).suffix.lower() for name in collection.images.names})
    if not collection.images.npz and len(kinds) > 1:
        notes.append(
            f"files keep their format ({', '.join(kinds)}): make sure that the format does not reveal the secret"
        )
    if certificate.names == "kept":
        notes.append("names and order of the files were kept: make sure that they do not reveal the secret")
    if certificate.lossy:
        notes.append("JPEG changes pixels: unflagged patches are alike, not byte-identical; PNG and npz keep them")
    if certificate.kept_labels:
        kept = ", ".join(certificate.kept_labels)
        notes.append(f"labels {kept} were released unchanged: what they say about the secret was not examined")
    return tuple(notes)


def _public_sheet(released: Images, flags: Mask) -> tuple[ShownImage, ...]:
    """The first noised images of the release, without their secret. One without noise is an original: never shown."""
    noised = np.flatnonzero(flags.any(axis=1))[: 2 * SHOWN_IMAGES]
    return tuple(ShownImage(None, None, obfuscated=released.pixels[k]) for k in noised)


def _keep(
    draft: ReleaseDraft,
    result: ImageProtectResult,
    collection: ImageCollection,
    treated: Treated,
    names: Sequence[tuple[str, int]],
) -> None:
    """The owner's papers: a page with originals, which original each released image is, and the noised patches."""
    sheet = tuple(
        ShownImage(str(collection.labels[at]), collection.images.pixels[at], (heat,), treated.pixels[at])
        for at, heat in zip(treated.shown, treated.shown_heat, strict=True)
    )
    replace(result, sheet=sheet, private=True).write_report(draft.private / REPORT)
    places = [at for _, at in names]
    patch, fold = np.array(result.certificate.patch), collection.fold[places]
    np.savez_compressed(draft.private / FLAGS, flags=treated.flags[places], patch=patch, fold=fold)
    write_csv(
        draft.private / NAMES, ["released", "original"], ((name, collection.images.names[at]) for name, at in names)
    )
