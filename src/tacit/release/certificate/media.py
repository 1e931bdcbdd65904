"""The certificates of noised images and masked posts, which rest on learned estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, Literal

from tacit.document import Information
from tacit.document.quantities import NATS
from tacit.release.certificate.parts import AdversaryScore, Certificate
from tacit.release.kept import CodedUse, ImageLikeness

Grid = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class HeatMap:
    """What each patch adds about the secret, in nats, averaged over held-out images; rows from the top.

    ``mean`` is the mean over images of the largest absolute conditional density over secrets. ``by_secret`` is, among
    the images of each secret, the mean conditional density of that secret, with its sign: above zero the patch speaks
    for what is true. Both are averages over ``orders`` random orders of the patches.
    """

    mean: Annotated[Grid, NATS]
    by_secret: Annotated[Mapping[str, Grid], NATS]
    orders: int


@dataclass(frozen=True)
class PatchDelta:
    """What the repaired bound would say about the noise of patches, were the estimated densities right.

    ``largest`` is the largest excess probability of a patch beyond epsilon, ``total`` that of all patches together
    beyond ``total_epsilon``. Either is vacuous if publishing the label itself would keep to it. ``floor`` is what no
    scale of noise removes, added up: the fact the noise itself reveals something. ``rarest`` is the share of the
    rarest label.
    """

    largest: float
    largest_vacuous: bool
    total: float
    total_epsilon: Information
    vacuous: bool
    floor: float
    diameter: float
    rarest: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(getattr(self, field.name)) for field in fields(self)):
            raise ValueError("the numbers of the bound are finite")


@dataclass(frozen=True, kw_only=True)
class ImageCertificate(Certificate):
    """What is claimed about a release of images.

    ``adversaries`` guessed the label of ``tested_on`` held-out images; always guessing the commonest label is right
    ``prior`` of the time.

    Guarantees
    ----------
    Pixels of unflagged patches are those of the original (PNG and npz), and those of flagged patches carry Gaussian
    noise of the stated scale. What a single image gives away is estimated, and not certified: ``certified_epsilon`` is
    None.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "report.html", "flags.npz", "names.csv")

    secret: str
    scale: float
    patch: int
    patches: int
    order: str
    flagged_share: float
    flagged_images: float
    delta: PatchDelta
    prior: float
    tested_on: int
    adversaries: tuple[AdversaryScore, ...]
    verdict_after: Literal["not detectably better than the prior", "still better than the prior"]
    heat: HeatMap
    mean_square: float
    kept_labels: tuple[str, ...]
    names: Literal["numbers in random order", "kept"]
    height: int
    width: int
    channels: int
    lossy: bool
    likeness: ImageLikeness | None = None
    use: CodedUse | None = None
    certified_epsilon: None = None
    kind: Literal["images"] = "images"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = (self.scale, self.flagged_share, self.flagged_images, self.mean_square, self.prior)
        if not all(math.isfinite(number) and number >= 0 for number in numbers) or self.scale == 0:
            raise ValueError("shares, scale and change are finite numbers")
        if not self.adversaries or self.tested_on < 1 or self.patch < 1 or self.input.salted_sha256 is None:
            raise ValueError("there is no adversary, patch or fingerprint")


@dataclass(frozen=True, kw_only=True)
class TextCertificate(Certificate):
    """What can honestly be said about masked posts: what was done, and what adversaries still guess.

    It is not a counted claim. ``adversaries`` were trained on two thirds of the posts and tested on the others, in
    three rounds; ``prior_right`` is how often the commonest secret is right among those tested.

    Guarantees
    ----------
    By the model in ``private/``, and by nothing else, the estimated risk of what is shown of every post is at most
    epsilon (``bound`` "post"), or no shown term moves a secret by more (``bound`` "term"). A learned estimate
    certifies nothing pointwise.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "model.tacit", "terms.json", "order.npz")

    bound: Literal["post", "term"]
    secret: str
    text: str
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    mask: str
    generalise: bool
    rare: Literal["keep", "mask"]
    min_count: int
    order: Literal["random", "kept"]
    words_masked: float
    posts_touched: float
    terms_masked: int
    words_unknown: float
    prior_right: float
    prior_interval: tuple[float, float]
    trained_on: int
    tested_on: int
    adversaries: tuple[AdversaryScore, ...]
    use: CodedUse | None = None
    kind: Literal["text"] = "text"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = [self.words_masked, self.posts_touched, self.prior_right]
        numbers += [right for each in self.adversaries for right in (each.before, each.after, each.retrained)]
        if not self.adversaries or not all(0 <= number <= 1 for number in numbers):
            raise ValueError("adversaries are missing, or shares are out of range")
