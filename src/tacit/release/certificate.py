"""Certificates: what is claimed about a release, and what the claim rests on. One type for each kind of claim.

One strict codec reads every certificate: it is complete and of its kind, or it is refused. What must hold between its
numbers is checked where it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from tacit.document import Information
from tacit.document.quantities import NATS
from tacit.errors import SourceError
from tacit.loading import ImageReading, checked_path
from tacit.release.bounds import LARGEST_EPSILON, DeltaKind, FurtherSecret, LiftBounds
from tacit.release.codec import Damaged, decoded, json_in
from tacit.release.kept import CodedUse, ImageLikeness, ReaderKeeps, TopicWorth
from tacit.release.whole_file import WholeFile
from tacit.requests.names import MECHANISMS
from tacit.tables.cutting import Cut

CERTIFICATE = "certificate.json"
FORMAT = 3
BY_RULES, MIXTURE, IN_CELLS = "as in the rules", "mixture", "cells"
# What made a release: a mechanism that can be chosen, or a step on the way to one.
MADE_BY = (*MECHANISMS, "camouflage")

# What verify takes from a table's certificate without recomputing it: it says so, and no claim rests on it.
NOT_MADE_AGAIN = (
    *("input.name", "input.format", "tacit_version", "mechanism.method", "mechanism.effort"),
    *("mechanism.watchdog_nmil", "mechanism.loss_bound", "mechanism.values_merged_besides", "composition"),
)

Replacement = Literal["resample", "uniform", "merge", "suppress"]
Grid = tuple[tuple[float, ...], ...]


# ---- parts that every certificate has -----------------------------------------------------------------------------


@dataclass(frozen=True)
class CertifiedInput:
    """What a release was made from. The fingerprint is salted; None for a frame. Only images have a ``reading``."""

    name: str
    format: str
    records: int
    salted_sha256: str | None
    reading: ImageReading | None = None


@dataclass(frozen=True)
class CertifiedOutput:
    """The released data: its file, or folder of images, and the fingerprints of it and of what is published with it.

    Only a table in which something was drawn has a channel, and a ``key_sha256``: that of salt and key, which commits
    to the draws.
    """

    file: str
    records: int
    sha256: str
    report_sha256: str | None = None
    levels_sha256: str | None = None
    channel_sha256: str | None = None
    key_sha256: str | None = None

    def __post_init__(self) -> None:
        papers = (CERTIFICATE, "report.html", "channel.json", "levels.json", "private")
        if Path(self.file).name != self.file or self.file in (".", "..", *papers):
            raise ValueError("the data is not a file of the release")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What every certificate says: a claim, what it rests on, what it is about, and who wrote it.

    ``private_files`` are the names that ``protect`` may write to the owner's folder along with such a certificate.
    """

    private_files: ClassVar[tuple[str, ...]] = ("README.txt", "salt.txt", ".gitignore")

    claim: str
    assumptions: tuple[str, ...]
    epsilon: Information
    input: CertifiedInput
    output: CertifiedOutput
    randomness: str
    tacit_version: str
    format_version: Literal[3] = 3

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < math.inf:
            raise ValueError("epsilon is out of range")

    @property
    def of_images(self) -> bool:
        """Whether images are released: a folder of files, or an npz."""
        return self.output.file in ("images", "images.npz")


@dataclass(frozen=True)
class AdversaryScore:
    """How well one adversary guesses the secret of records it was not trained on.

    An interval holds exact binomial 95% limits. ``retrained`` was trained on the release together with the secrets, the
    strongest case. ``worst`` is the larger of the two in the part of the release that it reads best.
    """

    name: str
    before: float
    before_interval: tuple[float, float]
    after: float
    after_interval: tuple[float, float]
    retrained: float
    retrained_interval: tuple[float, float]
    worst: float | None = None

    @property
    def guesses(self) -> tuple[tuple[float, tuple[float, float]], ...]:
        """What it got right, with limits: before, after and retrained."""
        return (
            (self.before, self.before_interval),
            (self.after, self.after_interval),
            (self.retrained, self.retrained_interval),
        )


def best_guesses(scores: Sequence[AdversaryScore]) -> tuple[float, float]:
    """How often the best adversary is right before, and after, retrained or not."""
    return max(each.before for each in scores), max(max(each.after, each.retrained) for each in scores)


# ---- tables -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureChange:
    """A measure before and after the mechanism, counted (exact for the table), and what epsilon promises for it.

    ``before`` is None where the original table is too large to be counted.
    """

    name: str
    title: str
    before: Information | None
    after: Information
    promise: Information | None
    unit: str = "nats"
    kind: Literal["plug-in"] = "plug-in"


@dataclass(frozen=True)
class Utility:
    """What the honest reader keeps."""

    mutual_information: Information
    entropy: Information
    nmil: float
    rows_unchanged: float
    cells_unchanged: float
    column_shift: float


@dataclass(frozen=True)
class FurtherClaim:
    """What is claimed about a further secret."""

    secret: tuple[str, ...]
    epsilon: Information
    attained_epsilon: Information

    def __post_init__(self) -> None:
        if not (0 <= self.epsilon <= LARGEST_EPSILON and 0 <= self.attained_epsilon <= LARGEST_EPSILON):
            raise ValueError("epsilon is out of range")


@dataclass(frozen=True)
class SampleProof:
    """How a claim was proved for the people that the records were drawn from.

    ``records_to_choose`` and ``records_to_prove`` are the sizes of the two halves; of ``candidates`` nested releases,
    the first ``passed`` were proved and the one that keeps ``kept`` values was made.
    """

    records_to_choose: int
    records_to_prove: int
    candidates: int
    passed: int
    kept: int


@dataclass(frozen=True)
class Reading:
    """What a claim means, and about whom.

    ``population``: the table is everyone, and the claim is exact. ``sample``: the table is a random sample, and the
    claim is about the people it was drawn from; ``confidence`` is the probability with which it is proved, None where
    nothing is.
    """

    name: Literal["population", "sample"]
    sentence: str
    confidence: float | None
    proof: SampleProof | None = None


@dataclass(frozen=True)
class ComposedSecret:
    """What several releases together say about one secret, in nats on either side."""

    secret: tuple[str, ...]
    epsilon_low: Information
    epsilon_high: Information
    epsilon: Information

    def __post_init__(self) -> None:
        sides = (self.epsilon_low, self.epsilon_high)
        if min(sides) < 0 or self.epsilon not in (self.epsilon_high, max(sides)):
            raise ValueError("epsilon is none of its sides")


@dataclass(frozen=True)
class LedgerComposition:
    """What this release and the earlier ones of its ledger say together."""

    releases: int
    exact: bool
    secrets: tuple[ComposedSecret, ...]
    beta: float
    sentence: str

    def __post_init__(self) -> None:
        if self.releases < 1 or not 0 <= self.beta <= 1 or not self.secrets:
            raise ValueError("the composition is out of range")


@dataclass(frozen=True, kw_only=True)
class CountedMechanism:
    """What was done to a table, and to how much of it; numbers that do not apply to a mechanism are None.

    ``values`` is the number of released values, ``values_merged`` how many of them are not always released unchanged,
    ``records_merged`` their share of the records.
    """

    weight: str | None
    values: int
    values_merged: int
    records_merged: float
    name: str
    replacement: Literal["resample", "uniform", "merge", "suppress", "as in the rules", "mixture", "cells"]
    method: str
    effort: str | None = None
    watchdog_nmil: float | None = None
    loss_bound: float | None = None
    plain_watchdog_attains: float | None = None
    values_merged_besides: int | None = None

    def __post_init__(self) -> None:
        if self.name not in MADE_BY:
            raise ValueError(f"no mechanism is called '{self.name}'")
        if self.replacement == MIXTURE and None in (self.watchdog_nmil, self.loss_bound):
            raise ValueError("a mixture says what one merged set would lose, and what any mechanism must")

    @property
    def mixes(self) -> bool:
        """Whether it is a mixture, or a batch treated by the rules of one."""
        return self.replacement == MIXTURE or (self.replacement == BY_RULES and self.name != "watchdog")


@dataclass(frozen=True, kw_only=True)
class CountedCertificate(Certificate):
    """What is claimed about every record of a table, counted.

    Guarantees
    ----------
    ``attained_epsilon`` is the largest absolute log-lift of the joint of secret and output, on the sides that are
    bounded, computed on that joint: the table is the population, its shares the probabilities. ``holds`` is true only
    if every log-lift lies between ``-epsilon_low`` and ``epsilon_high`` (or, with ``delta`` above zero, the delta of
    its kind is at most that), for every further secret too; with ``thresholds`` the log-lifts are those of the events
    "at most t" and "more than t" of a number that cover at least that share of all. That is the reading row by row;
    ``file`` is the other one.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "rules.json", "key.txt")

    secret: tuple[str, ...]
    secret_values: tuple[str, ...] = ()
    thresholds: float | None = None
    released: tuple[str, ...]
    known: tuple[str, ...] = ()
    holds: bool
    attained_epsilon: Information
    measures: tuple[MeasureChange, ...]
    utility: Utility
    cuts: tuple[Cut, ...]
    left_out: tuple[str, ...]
    epsilon_low: Information
    epsilon_high: Information
    delta: float
    delta_kind: DeltaKind
    epsilon_max: Information
    attained_delta: float
    breach_share: float
    mechanism: CountedMechanism
    also: tuple[FurtherClaim, ...] = ()
    readings: tuple[Reading, Reading]
    file: WholeFile
    keeps: ReaderKeeps | None = None
    composition: LedgerComposition | None = None
    kind: Literal["counted"] = "counted"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.secret or not self.released:
            raise ValueError("there is no secret, or nothing released")
        if self.bounds.epsilon != self.epsilon:
            raise ValueError("epsilon is not the larger of its two sides")
        one_number = len(self.secret) == 1 and not self.secret_values and self.mechanism.name == "cells"
        if self.thresholds is not None and not one_number:
            raise ValueError("thresholds are those of one number, in cells")
        # With a delta a value may rule a secret out altogether.
        if not 0 <= self.attained_epsilon <= (math.inf if self.delta > 0 else 700):
            raise ValueError("attained_epsilon is out of range")
        here, there = self.readings
        if here != Reading("population", here.sentence, 1.0) or there.name != "sample":
            raise ValueError("a counted claim has two readings, of the table as population and as sample")
        if (there.confidence is None) != (there.proof is None) or not 0 < (there.confidence or 0.5) < 1:
            raise ValueError("the second reading has a confidence and a proof, or neither")

    @property
    def in_cells(self) -> bool:
        """Whether the table was written in cells."""
        return self.mechanism.name in MECHANISMS and MECHANISMS[self.mechanism.name].coded

    @property
    def bounds(self) -> LiftBounds:
        """What is claimed about the secret."""
        delta = (self.delta, self.delta_kind, self.epsilon_max)
        return LiftBounds(self.epsilon_low, self.epsilon_high, *delta, self.thresholds)

    @property
    def further(self) -> tuple[FurtherSecret, ...]:
        """The further secrets that something is claimed about."""
        return tuple(FurtherSecret(each.secret, each.epsilon) for each in self.also)


# ---- images and text ----------------------------------------------------------------------------------------------


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
    scale of noise removes, added up: the fact that a patch was noised tells something. ``rarest`` is the share of the
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


@dataclass(frozen=True, kw_only=True)
class CodedCertificate(Certificate):
    """What is claimed about images or posts that were released as codes, and proved on a held-out part.

    A unit is a record, or a person with all records, where ``group`` says whose they are. The code was made from
    ``designed_on`` units and proved on ``proved_on`` others. Units that are copies of others are in neither part, and
    the claim is proved with them as well.

    Guarantees
    ----------
    If the units are independent draws from a population, then with probability ``confidence``, over the draw of the
    units that prove: no adversary that sees one released unit guesses the secret of a new one right more often than
    ``ceiling``; and no released code changes the probability of a secret by more than e^``epsilon`` either way.
    ``attained_epsilon`` and ``guessed`` are what was proved and counted for this one. Each code has at least ``least``
    different units of the release.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "key.txt", "code.npz")

    medium: Literal["images", "posts", "vectors"]
    secret: str
    column: str | None
    group: str | None
    units: int
    codes: int
    least: int
    smallest: int
    mixed: float
    confidence: float
    ceiling: float
    ceiling_asked: bool
    epsilon_asked: bool
    attained_epsilon: Information
    guessed: float
    prior: float
    designed_on: int
    proved_on: int
    tried: int
    told: float
    order: Literal["shuffled"]
    use: CodedUse | None
    adversaries: tuple[AdversaryScore, ...]
    likeness: ImageLikeness | None = None
    topics: TopicWorth | None = None
    kind: Literal["coded"] = "coded"

    @property
    def copies(self) -> int:
        """How many units are copies of others: they are released, but are in neither part."""
        return self.units - self.designed_on - self.proved_on

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = (self.mixed, self.ceiling, self.guessed, self.prior)
        if not all(0 <= share <= 1 for share in shares) or not 0 < self.confidence < 1 or not math.isfinite(self.told):
            raise ValueError("shares are out of range")
        if not 0 <= self.attained_epsilon <= self.epsilon:
            raise ValueError("attained_epsilon is beyond epsilon")
        if not (self.epsilon_asked or (self.ceiling_asked and self.attained_epsilon == self.epsilon)):
            raise ValueError("nothing was asked, or epsilon is not the one attained")
        if not 2 <= self.codes <= self.units or not 1 <= self.least <= self.smallest or self.tried < 1:
            raise ValueError("codes are missing, or have too few people")
        if self.copies < 0 or min(self.designed_on, self.proved_on) < 1:
            raise ValueError("the two parts are more than all units")


AnyCertificate = CountedCertificate | ImageCertificate | TextCertificate | CodedCertificate

_KINDS: Mapping[Any, type[AnyCertificate]] = {
    "counted": CountedCertificate,
    "images": ImageCertificate,
    "text": TextCertificate,
    "coded": CodedCertificate,
}


def certificate_from(data: Any) -> AnyCertificate:
    """A certificate from the JSON that ``protect`` wrote; ``Damaged`` names the field that is not as written."""
    if not isinstance(data, dict) or data.get("kind") not in list(_KINDS):
        raise Damaged("kind", f"is none of {', '.join(_KINDS)}")
    if data.get("format_version") != FORMAT:
        version = data.get("format_version")
        raise Damaged("format_version", f"is {version!r}: this Tacit reads certificates of format {FORMAT}")
    certificate = decoded(_KINDS[data["kind"]], data)
    if certificate.epsilon > LARGEST_EPSILON:
        raise Damaged("epsilon", "is out of range")
    return certificate


def read_certificate(directory: Path) -> AnyCertificate:
    """The certificate of a release; a SourceError if there is none, or it is damaged."""
    paper = checked_path(directory) / CERTIFICATE
    if not directory.is_dir():
        way = "unpack it first" if directory.suffix == ".zip" and directory.is_file() else "protect makes one"
        raise SourceError(f"no release at {directory}: it is not a directory; {way}")
    if not paper.is_file():
        raise SourceError(f"{directory} is not a release: it has no {CERTIFICATE}")
    try:
        return certificate_from(json_in(paper, "certificate"))
    except Damaged as error:
        raise SourceError(f"{paper} is damaged or not a certificate of Tacit ({error})") from error
