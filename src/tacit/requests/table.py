"""What is asked of a source: the question, how it is looked at, and what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests.levels import Levels
from tacit.requests.names import ENGINES, ESTIMATORS
from tacit.requests.secrets import SecretNames
from tacit.requests.settings import (
    Amount,
    AnyPath,
    Bins,
    File,
    Flag,
    Kind,
    Name,
    Names,
    Numbers,
    OneOf,
    PixelSize,
    Request,
    setting,
)

TABLE, IMAGES, TEXT, VECTORS = ("table",), ("images",), ("text",), ("vectors",)

# Pairs of roles that no column may have at once.
_APART = (
    *(("secret", "released"), ("released", "drop"), ("secret", "drop")),
    *(("secret", "known"), ("secret", "use")),
)


def engine_setting() -> Any:
    """Where tables are counted."""
    return setting(
        OneOf(tuple(ENGINES)), "Table engine.", default=next(iter(ENGINES)), lenses=(*TABLE, *TEXT, *VECTORS)
    )


def memory_setting() -> Any:
    """How much memory the engine may use."""
    words = "The most memory the table engine may use.  [default: a share of the machine's]"
    return setting(Kind(), words, lenses=(*TABLE, *TEXT, *VECTORS), metavar="4GB")


def encoding_setting() -> Any:
    """How the text of a file is encoded."""
    words = "Encoding of a CSV or JSON file, such as latin-1 or utf-16.  [default: detected]"
    return setting(Kind(), words, lenses=(*TABLE, *TEXT), metavar="NAME")


def remote_setting() -> Any:
    """Whether files elsewhere may be fetched."""
    words = "Fetch a file at an S3 or https address; nothing is fetched otherwise."
    return setting(Flag(), words, default=False, lenses=(*TABLE, *TEXT))


def labels_setting() -> Any:
    """The labels of a folder of images."""
    words = "Images: the CSV with the file names and their labels. For an npy: the table with its labels."
    return setting(File(), words, lenses=(*IMAGES, *VECTORS), metavar="labels.csv")


@dataclass(frozen=True)
class Question(Request):
    """A source, its secret, and what the adversary sees.

    ``source`` is a path, a frame or an opened table. Columns that are not named are released. With ``text`` the
    question is about the words of posts; a folder of images (with ``labels``) or an npz is asked about its labels.
    """

    source: Any = None
    secret: Sequence[str] | Mapping[str, Sequence[str]] | str | None = setting(
        SecretNames(),
        "Column(s) that must not be learned. With values (illness=B20,F32), only these are secret, and all other "
        "values of the column count as one.",
    )
    released: Sequence[str] | str | None = setting(
        Names(), "Column(s) the adversary sees.  [default: all others]", lenses=TABLE
    )
    drop: Sequence[str] | str | None = setting(Names(), "Column(s) to leave out.", lenses=TABLE)
    known: Sequence[str] | str | None = setting(
        Names(),
        "Column(s) whose true values somebody may already know about a person, such as age or sex. The bound is on "
        "what the release adds to them. They must be released: for a column left out, nothing bounds what it adds.",
        lenses=TABLE,
    )
    use: Sequence[str] | str | None = setting(
        Names(),
        "Column(s) that readers want to predict or count. What helps to predict them is kept first, and the answer "
        "says how well the release predicts them. They need not be released. For images and posts, another label.",
    )
    bins: Mapping[str, int | Sequence[float]] | None = setting(
        Bins(), "Cut a column of numbers into groups of equal size, or at these edges. Repeatable.", lenses=TABLE
    )
    levels: Mapping[str, float | str | AnyPath | Sequence[float] | Sequence[str]] | None = setting(
        Levels(),
        "How a released column may be cut: by a step (5), at edges (18,30,65), anywhere (any), by day to year, by "
        "prefix or prefix:3, in an order (low<high), by a hierarchy (FILE.csv), into groups of its values (values), or "
        "not at all (whole). Repeatable.  [default: detected from the column]",
        lenses=TABLE,
    )
    weight: str | None = setting(Name(), "Column with the weight of each record.", lenses=TABLE)
    keep_id: Sequence[str] | str | None = setting(
        Names(), "Release a column even though it differs in every row.", lenses=TABLE
    )
    text: str | None = setting(Name(), "Posts: the column that holds their text.", lenses=TEXT)
    vector: str | None = setting(
        Name(), "Vectors: the column, or the array of an npz, that holds them (embeddings).", lenses=VECTORS
    )
    labels: AnyPath | None = labels_setting()
    resize: str | int | Sequence[int] | None = setting(
        PixelSize(),
        "Images: resize all to this size. They are scaled, and cropped where their proportions differ.  [default: they "
        "have one size]",
        lenses=IMAGES,
    )
    skip_unreadable: bool = setting(
        Flag(), "Images: skip files that cannot be read, and list them.", default=False, lenses=IMAGES
    )
    engine: str = engine_setting()
    memory: str | None = memory_setting()
    encoding: str | None = encoding_setting()
    remote: bool = remote_setting()
    # The secret values of the column, if not all of them are; given as part of ``secret``.
    secret_values: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check every value, and that no column has two roles."""
        super().__post_init__()
        if isinstance(self.secret, Mapping):
            ((column, values),) = self.secret.items()
            object.__setattr__(self, "secret", (column,))
            object.__setattr__(self, "secret_values", tuple(values))
        for one, other in _APART:
            both = set(getattr(self, one) or ()) & set(getattr(self, other) or ())
            if both:
                raise ArgumentError(
                    sentence(
                        "column '{name}' is named in both {one} and {other}: a column has one role",
                        name=min(both),
                        one=Setting(one),
                        other=Setting(other),
                    )
                )

    def one_secret(self) -> str:
        """The secret of images or posts: they have one."""
        if self.secret is None or len(self.secret) != 1:
            raise ArgumentError(sentence("name one secret: {secret}", secret=Setting("secret", "COLUMN")))
        return str(next(iter(self.secret)))


@dataclass(frozen=True)
class Learning(Request):
    """How log-lift is found: counted, or learned from the records (an estimate, which certifies nothing pointwise)."""

    estimator: str = setting(
        OneOf(tuple(ESTIMATORS)),
        "How log-lift is found: counted, or learned from the records, with no column cut unless you ask. What is "
        "learned is an estimate: audit shows it, and no certificate rests on it.",
        default="counts",
        lenses=TABLE,
    )
    model: AnyPath | None = setting(
        File(), "Use a saved model instead of learning one.", lenses=TABLE, metavar="FILE.tacit"
    )
    fresh: bool = setting(
        Flag(),
        "You vouch that none of these records was used to train the saved model. Without this there is no verdict.",
        default=False,
        lenses=TABLE,
    )


@dataclass(frozen=True)
class Look(Request):
    """How closely a source is examined, and where the findings are written."""

    epsilon: float | None = setting(Amount(0, 100), "Exit 1 if any record is riskier than this many nats.")
    max_loss: float = setting(
        Amount(0, 1),
        "Suggest the strictest epsilon that loses no more than this share of a column, on average.",
        default=0.1,
        lenses=TABLE,
        metavar="SHARE",
    )
    scores: AnyPath | None = setting(
        File(), "Write the table here, with every record's risk.", lenses=TABLE, short="-o"
    )
    shuffles: int | None = setting(
        Amount(19, 100_000, whole=True),
        "Number of shuffled tables behind the null bands.  [default: 19-199]",
        lenses=TABLE,
    )
    save_model: AnyPath | None = setting(
        File(),
        "Save what was learned, for later use. Keep it to yourself: it holds facts about the records.",
        lenses=(*TABLE, *TEXT),
        metavar="FILE.tacit",
    )
    patch: Sequence[int] | int | None = setting(
        Numbers(),
        "Images: side of the square patches in pixels. Repeatable.  [default: about 8 patches per side]",
        lenses=IMAGES,
        metavar="32|16|8|4|2",
    )
    top: int = setting(Amount(1, whole=True), "Posts: number of terms listed for each secret.", default=30, lenses=TEXT)
    min_count: int = setting(
        Amount(1, whole=True), "Posts: leave out words that fewer posts have.", default=5, lenses=TEXT
    )
    random_state: int = setting(
        Amount(0, 2**32 - 1, whole=True), "Random seed of the shuffles and the learning.", default=0
    )
