"""What a release keeps for its reader, as a certificate states it: of the original table, of images and of posts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tacit.document import Information

# Where nobody says which columns are of use, each is predicted in turn, if there are at most this many.
MOST_IN_TURN = 8

Uses = Literal["named", "in turn", "too many columns"]


def _share(*numbers: float) -> None:
    if not all(0 <= number <= 1 for number in numbers):
        raise ValueError("a share is between 0 and 1")


@dataclass(frozen=True)
class ColumnKept:
    """What a reader of the release keeps of one column.

    ``kept`` is the share of the column's information that the released row tells, less what it would tell by chance.
    ``shift`` is how far the shares that a reader works out for its values are from the true ones (total variation).
    """

    name: str
    kept: float
    shift: float

    def __post_init__(self) -> None:
        _share(self.kept, self.shift)


@dataclass(frozen=True)
class InformationKept:
    """What the released rows tell about the original rows: ``told`` out of ``entropy``.

    ``kind`` "exact": for the whole table, counted, or known from the channel. "plug-in": for the rows examined; for a
    drawn release it is then an upper bound.
    """

    told: Information
    entropy: Information
    kind: Literal["exact", "plug-in"]

    def __post_init__(self) -> None:
        if not (0 <= self.told < math.inf and 0 <= self.entropy < math.inf):
            raise ValueError("information is a finite number")

    @property
    def share(self) -> float:
        """The share that is kept; all of it where there was nothing to keep."""
        return min(1.0, self.told / self.entropy) if self.entropy > 0 else 1.0


@dataclass(frozen=True)
class AssociationChange:
    """How far Cramér's V of two columns moved, over ``pairs`` pairs; ``worst`` are the two that moved most."""

    mean: float
    largest: float
    pairs: int
    worst: tuple[str, str]

    def __post_init__(self) -> None:
        _share(self.mean, self.largest)


@dataclass(frozen=True)
class UseScore:
    """How well a column is predicted in held-out original records.

    Models were trained on other original records (``original``), and on the same records as released (``release``);
    the best score is given. ``baseline`` needs no model. ``predicted`` says what about the column was. Where models
    learned from rows that were filled in, ``release`` is a mean over several fillings, and ``release_low`` and
    ``release_high`` are the lowest and the highest score that any model had in any of them; else they are None.
    """

    name: str
    measure: Literal["AUC", "accuracy"]
    predicted: Literal["value", "above the middle", "commonest values"]
    original: float
    release: float
    baseline: float
    release_low: float | None = None
    release_high: float | None = None

    def __post_init__(self) -> None:
        ends = (self.release_low, self.release_high)
        _share(self.original, self.release, self.baseline, *(each for each in ends if each is not None))


@dataclass(frozen=True)
class ReaderKeeps:
    """What a reader of the release keeps, measured on ``rows_used`` records of the original table.

    ``uses`` says which columns have a score: those that were named, each in turn, or none because there are too many.
    Numbers have four decimals.
    """

    columns: tuple[ColumnKept, ...]
    information: InformationKept
    association_error: AssociationChange | None
    use: tuple[UseScore, ...]
    uses: Uses
    rows_used: int

    def __post_init__(self) -> None:
        if not self.columns or self.rows_used < 1:
            raise ValueError("there is no column, or no row was used")

    @property
    def mean_kept(self) -> float:
        """What is kept of a column, on average."""
        return sum(column.kept for column in self.columns) / len(self.columns)

    @property
    def mean_shift(self) -> float:
        """How far the shares of a column moved, on average."""
        return sum(column.shift for column in self.columns) / len(self.columns)

    @property
    def largest_shift(self) -> ColumnKept:
        """The column whose shares are off most."""
        return max(self.columns, key=lambda column: column.shift)


@dataclass(frozen=True)
class CodedUse:
    """How well a reader predicts another label from a released code: on ``tested_on`` records, trained on others.

    ``before`` is the same reader with the original vectors, ``prior`` that of always guessing the commonest.
    """

    column: str
    before: float
    after: float
    prior: float
    tested_on: int

    def __post_init__(self) -> None:
        if not all(0 <= share <= 1 for share in (self.before, self.after, self.prior)) or self.tested_on < 1:
            raise ValueError("shares are out of range")


@dataclass(frozen=True)
class ImageLikeness:
    """How much released images look like the originals: ``psnr`` in decibels, mean ``ssim``, on so many images."""

    psnr: float
    ssim: float
    compared: int

    def __post_init__(self) -> None:
        if math.isnan(self.psnr) or not -1 <= self.ssim <= 1 or self.compared < 1:
            raise ValueError("likeness is out of range")


@dataclass(frozen=True)
class TopicWorth:
    """What topics are worth to a reader.

    ``coherence`` is the mean NPMI of two words of a topic in the posts that made the topics, from -1 to 1;
    ``coherence_by_chance`` that of the same words dealt to topics at random. ``words_kept``, measured on the other
    posts, is the share of a post's own words that its topic is written with, counting only words that tell topics.
    """

    coherence: float
    coherence_by_chance: float
    words_kept: float

    def __post_init__(self) -> None:
        if not all(-1 <= each <= 1 for each in (self.coherence, self.coherence_by_chance)) or not (
            0 <= self.words_kept <= 1
        ):
            raise ValueError("coherence or words kept are out of range")
