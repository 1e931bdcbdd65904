"""``audit`` of images: what do they give away about a label, in which patches, and is it real?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.document import LiftFactor, Progress, Share
from tacit.errors import DataError, Sentence, sentence
from tacit.learn import binomial_limits, evidence_apart, fold_of_each
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.adversaries import fano_note
from tacit.lenses.bench.trying import FOLDS, first_of_each
from tacit.lenses.facts import secret_values
from tacit.lenses.images.answers.audit import ImageAuditResult
from tacit.lenses.images.files import FORMATS
from tacit.lenses.images.images import Images, open_images, patches, suggested_patch
from tacit.lenses.images.results import Guess, ImageFacts, PatchFindings, PatchPlace, ShownImage
from tacit.lenses.trimming import trim_at
from tacit.lift import LEVEL, Verdict
from tacit.loading import ImageReading
from tacit.release.certificate import CertifiedInput, Grid, HeatMap
from tacit.requests import Look, Question

EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8)
# Images with a rarer label could not be on every side of a split.
LEAST_OF_A_LABEL = 6
MOST_LABELS = 20
SHOWN_IMAGES = 6
LEAKING_SHOWN = 5
# Orders of the patches that a heat map is averaged over; each costs one sweep.
ORDERS = 4
# Heat maps are drawn from at most this many images.
MOST_DRAWN = 1_000


@dataclass(frozen=True)
class ImageCollection:
    """Images with the label that is their secret, and a split of them into thirds."""

    images: Images
    secret: str
    secrets: NDArray[np.str_]
    codes: Codes
    fold: Codes
    notes: tuple[str, ...]

    @property
    def labels(self) -> NDArray[np.str_]:
        """The secret of every image."""
        return np.asarray(self.secrets[self.codes])

    @property
    def prior(self) -> Floats:
        """The share of each secret."""
        return np.asarray(np.bincount(self.codes, minlength=len(self.secrets)) / len(self.codes))

    def facts(self) -> ImageFacts:
        """The images, for a result."""
        images = self.images
        kinds = sorted({FORMATS.get(Path(name).suffix.lower(), "PNG").lower() for name in images.names})
        format = "npz" if images.npz else " and ".join(kinds)
        return ImageFacts(images.source.name, format, len(images), images.height, images.width, images.channels)


def certified_input(collection: ImageCollection, salted: str | None) -> CertifiedInput:
    """The images as a certificate names them."""
    facts, reading = collection.facts(), collection.images.reading
    return CertifiedInput(
        facts.name, facts.format, facts.images, salted, None if reading == ImageReading() else reading
    )


def audit_images(question: Question, look: Look, *, progress: Progress) -> ImageAuditResult:
    """Measure what images give away about a label, patch by patch; the requests say what each setting means.

    A model learns log-lift from two thirds of the images; every number is about the others.

    Guarantees
    ----------
    Those of :class:`ImageAuditResult`: the verdict errs in at most 5% of collections without a leak; nothing is
    certified about a single image.
    """
    random_state = look.random_state
    collection = ask_images(question, random_state=random_state)
    test = collection.fold == 0
    shown = chosen_images(collection, np.flatnonzero(test))
    by_size, heats = [], []
    for size in checked_sizes(collection.images, look.patch):
        progress(f"learning patches of {size}", None)
        findings, heat = _findings_of(collection, size, test, shown, random_state)
        by_size.append(findings)
        heats.append(heat)
    progress("training an adversary", None)
    adversary = adversary_guess(collection, test)
    best = min(by_size, key=lambda each: each.p_value)
    verdict = _verdict([each.verdict for each in by_size], min(1.0, best.p_value * len(by_size)))
    sheet = tuple(
        ShownImage(str(collection.labels[at]), collection.images.pixels[at], tuple(heat[k] for heat in heats))
        for k, at in enumerate(shown)
    )
    return ImageAuditResult(
        source=collection.facts(),
        secret=collection.secret,
        secrets=secret_values(collection.secrets, np.bincount(collection.codes)),
        trained_on=int((~test).sum()),
        held_out=int(test.sum()),
        verdict=verdict,
        headline=_headline(collection, verdict, by_size, adversary),
        prior_guess=float(collection.prior.max()),
        adversary=adversary,
        patches=tuple(by_size),
        notes=(*_fano(collection, by_size, adversary), *collection.notes, *_cautions(by_size)),
        random_state=random_state,
        tacit_version=__version__,
        sheet=sheet,
        labels=None if question.labels is None else str(question.labels),
    )


def ask_images(question: Question, *, random_state: int) -> ImageCollection:
    """Open the images and check that the question can be asked of them."""
    source, secret = question.source, question.one_secret()
    images = source
    if not isinstance(source, Images):
        how: dict[str, Any] = {"resize": question.resize, "skip_unreadable": question.skip_unreadable}
        images = open_images(source, labels=question.labels, **how)
    column = images.label(secret)
    missing = int((column == "").sum())
    if missing:
        raise DataError(f"{missing:,} images have no '{secret}': label them, or take them out")
    secrets, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(secrets) < 2:
        raise DataError(f"every image has the same '{secret}': there is nothing to learn")
    if len(secrets) > MOST_LABELS:
        raise DataError(f"'{secret}' has {len(secrets):,} different labels; at most {MOST_LABELS} can be told apart")
    if counts.min() < LEAST_OF_A_LABEL:
        rare = secrets[int(counts.argmin())]
        raise DataError(
            f"'{secret}' is {rare} in {counts.min()} images only; {LEAST_OF_A_LABEL} are needed: add some, or merge it"
        )
    rng = np.random.default_rng(random_state)
    fold = fold_of_each(codes.astype(np.int64), FOLDS, rng)
    first = first_alike(images)
    copies = len(images) - len(np.unique(first))
    notes = images.notes
    if copies:
        # A copy on the other side of the split would be recognised, and everything would look like a leak.
        fold = fold[first]
        notes = (*notes, f"{copies:,} images are copies of others; copies are kept on one side of every split")
    return ImageCollection(images, secret, secrets, codes.astype(np.int64), fold, notes)


def first_alike(images: Images) -> Codes:
    """For every image the first one with the same pixels."""
    return first_of_each(image.tobytes() for image in images.pixels)


def checked_sizes(images: Images, patch: int | Sequence[int] | None) -> tuple[int, ...]:
    """The patch sizes asked for, largest first, each of which divides the images."""
    wanted = [patch] if isinstance(patch, (int, np.integer)) else list(patch or [])
    if not wanted:
        wanted = [suggested_patch(images.height, images.width)]
    for size in wanted:
        patches(images.height, images.width, size)
    return tuple(sorted(set(wanted), reverse=True))


def prefix_estimator(images: Images, size: int, random_state: int | None, *, prior: Floats) -> Any:
    """An estimator of log-lift over patches of one size, trimmed as in the tide paper, not yet fitted."""
    from tacit.learn import PrefixLogLift

    groups = patches(images.height, images.width, size, channels=images.channels)
    return PrefixLogLift(groups=groups, clip=trim_at(prior), random_state=random_state)


def _findings_of(
    collection: ImageCollection, size: int, test: Flags, shown: Codes, random_state: int
) -> tuple[PatchFindings, Floats]:
    """What patches of one size give away, and the heat of the images that are shown."""
    images = collection.images
    matrix = images.matrix()
    model = prefix_estimator(images, size, random_state, prior=collection.prior).fit(
        matrix[~test], collection.labels[~test]
    )
    lift, codes = model.log_lift(matrix[test]), collection.codes[test]
    evidence = evidence_apart(lift, codes, np.zeros(len(codes), np.int64), random_state=random_state)
    right = int(((lift + np.log(model.prior_)).argmax(axis=1) == codes).sum())
    rows = drawn_from(np.flatnonzero(test), random_state)
    heat = heat_map(images, size, collection, rows, model.feature_log_lift(matrix[rows], orders=ORDERS))
    densities = np.abs(model.feature_log_lift(matrix[rows])).max(axis=2)
    own = np.abs(model.feature_log_lift(matrix[shown], orders=ORDERS)).max(axis=2)
    findings = PatchFindings(
        size=size,
        patches=densities.shape[1],
        **vars(evidence),
        guess=guess_of(right, len(codes)),
        heat=heat,
        leaking_most=_leaking_most(heat.mean),
        flagged=tuple((epsilon, float((densities > epsilon).mean())) for epsilon in EPSILONS),
    )
    return findings, own.reshape(len(shown), images.height // size, images.width // size)


def drawn_from(rows: Codes, random_state: int) -> Codes:
    """The images that heat maps are drawn from, chosen at random: files are often sorted by their label."""
    return np.sort(np.random.default_rng([random_state, 2]).permutation(rows)[:MOST_DRAWN])


def heat_map(images: Images, size: int, collection: ImageCollection, rows: Codes, density: Floats) -> HeatMap:
    """The mean over images of what each patch adds; ``density`` is (images, patches, secrets)."""
    shape = images.height // size, images.width // size
    codes = collection.codes[rows]
    by_secret = {
        str(label): grid_of(density[codes == s, :, s].mean(axis=0), shape)
        for s, label in enumerate(collection.secrets)
        if (codes == s).any()
    }
    return HeatMap(grid_of(np.abs(density).max(axis=2).mean(axis=0), shape), by_secret, ORDERS)


def grid_of(values: Floats, shape: tuple[int, int]) -> Grid:
    """A row of patches as a grid, rows from the top."""
    return tuple(tuple(float(v) for v in row) for row in values.reshape(shape))


def guess_of(right: int, of: int) -> Guess:
    """A share of right guesses with its limits."""
    low, high = binomial_limits(right, of)
    return Guess(right / of, low, high, of)


def adversary_guess(collection: ImageCollection, test: Flags) -> Guess:
    """How often an adversary trained on the other images guesses the secret of those held out."""
    from tacit.lenses.images.hog import HogClassifier

    pixels, labels = collection.images.pixels, collection.labels
    guesses = HogClassifier().fit(pixels[~test], labels[~test]).predict(pixels[test])
    return guess_of(int((guesses == labels[test]).sum()), len(guesses))


def _leaking_most(mean: Grid) -> tuple[PatchPlace, ...]:
    places = [PatchPlace(r + 1, c + 1, value) for r, row in enumerate(mean) for c, value in enumerate(row)]
    return tuple(sorted(places, key=lambda place: -place.mean)[:LEAKING_SHOWN])


def chosen_images(collection: ImageCollection, rows: Codes) -> Codes:
    """A few images for the contact sheet, the secrets in turn."""
    by_secret = [rows[collection.codes[rows] == s] for s in range(len(collection.secrets))]
    turns = [each[k] for k in range(SHOWN_IMAGES) for each in by_secret if k < len(each)]
    return np.array(turns[:SHOWN_IMAGES], dtype=np.int64)


def _verdict(verdicts: Sequence[Verdict], p_value: float) -> Verdict:
    if p_value <= LEVEL and "leak" in verdicts:
        return "leak"
    return "cannot tell" if "cannot tell" in verdicts else "no leak detected"


def _headline(
    collection: ImageCollection, verdict: Verdict, by_size: Sequence[PatchFindings], adversary: Guess
) -> Sentence:
    best = max(by_size, key=lambda each: each.information.value)
    guessed = sentence(
        "an adversary guesses {right} right where always guessing the commonest is right {prior} of the time",
        right=Share(adversary.right),
        prior=Share(float(collection.prior.max())),
    )
    if verdict == "leak":
        top = best.leaking_most[0]
        return sentence(
            "The images give away '{secret}': an image makes its own label {times} times as likely on average "
            "(estimate), and {guessed}. Among patches of {size} pixels, the one in row {row}, column {column} "
            "says most.",
            secret=collection.secret,
            times=LiftFactor(best.information.value),
            guessed=guessed,
            size=best.size,
            row=top.row,
            column=top.column,
        )
    words = "Cannot tell: {images:,} images are too few to tell a leak about '{secret}' from chance."
    if verdict == "no leak detected":
        words = "No leak about '{secret}' detected in {images:,} images; {guessed}."
    return sentence(words, secret=collection.secret, images=len(collection.images), guessed=guessed)


def _fano(collection: ImageCollection, by_size: Sequence[PatchFindings], adversary: Guess) -> tuple[str, ...]:
    """A note if the adversary proves more than was estimated."""
    most = max(each.information.high for each in by_size)
    return fano_note(most, adversary.low, prior=collection.prior)


def _cautions(by_size: Sequence[PatchFindings]) -> tuple[str, ...]:
    notes = [
        "all numbers are estimates: a learned density certifies nothing about a single image",
        "what patches add was averaged over a few random orders of them; with other seeds it moves a little",
    ]
    if any(each.information.value < 0 for each in by_size):
        notes.append(
            "a mean log-lift below zero means that the model learned nothing that held for images it had not seen"
        )
    return tuple(notes)
