"""What is asked of a release: the bound, how it is made, and the ledger that it is entered in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests.names import MECHANISMS, MEDIA
from tacit.requests.settings import Amount, AnyPath, File, Flag, Further, OneOf, Request, setting
from tacit.requests.table import TABLE, TEXT
from tacit.requests.weights import ColumnWeights

NATS = Amount(0, 100)


@dataclass(frozen=True)
class Bound(Request):
    """How much a release may give away about a secret, on either side, and how often that may fail.

    None means not given: the other side's epsilon then counts for both sides, and delta is 0.
    """

    epsilon: float | None = setting(
        NATS, "Bound on the absolute log-lift, in nats: a factor of e^epsilon either way.", metavar="NATS"
    )
    epsilon_high: float | None = setting(
        NATS,
        "Bound on how much likelier a secret may become. Given alone, it is the only bound (pointwise maximal "
        "leakage).",
        lenses=TABLE,
        metavar="NATS",
    )
    epsilon_low: float | None = setting(
        NATS, "Bound on how much less likely a secret may become.", lenses=TABLE, metavar="NATS"
    )
    also: Mapping[str | Sequence[str], float] | None = setting(
        Further(), "A further secret, or a combination of columns, with its own epsilon. Repeatable.", lenses=TABLE
    )
    thresholds: float | None = setting(
        Amount(0, 0.5),
        "For a secret that is a number: bound every event 'at most t' and 'more than t' that covers at least this "
        "share of the records, instead of groups of its values.",
        lenses=TABLE,
        metavar="0.1",
    )
    least: int = setting(
        Amount(1, whole=True),
        "Fewest people who may share a released value, all columns taken together; or a picture or topic.",
        default=10,
    )
    confidence: float | None = setting(
        Amount(0, 1),
        "Prove the bound, with this probability, for the population that the records were drawn from. Codes of images "
        "and posts are always proved.  [default: 0.95 for those]",
        metavar="0.95",
    )
    delta: float | None = setting(Amount(0, 1), "How much may exceed the bound.  [default: 0]", lenses=TABLE)
    delta_kind: Literal["mass", "egamma"] | None = setting(
        OneOf(("mass", "egamma")),
        "What delta counts: the probability of pairs beyond epsilon (mass, the default), or their total excess "
        "(egamma), which nothing done later can raise.",
        lenses=TABLE,
    )
    epsilon_max: float | None = setting(
        Amount(0), "Bound that must always hold when delta > 0.", lenses=TABLE, metavar="NATS"
    )

    def one_epsilon(self, what: str) -> float:
        """The bound of images or posts, which have no other; if it is missing, the error says ``what`` it bounds."""
        if self.epsilon is None:
            words = "say how much {what}: {epsilon}, in nats"
            raise ArgumentError(sentence(words, what=what, epsilon=Setting("epsilon", 0.5)))
        return self.epsilon


@dataclass(frozen=True)
class Making(Request):
    """How a release is made."""

    mechanism: str | None = setting(
        OneOf(("auto", *MECHANISMS, *MEDIA)),
        "; ".join(f"{name} {choice.does}" for name, choice in MECHANISMS.items())
        + ". auto, the default, is cells; or watchdog, where a replacement is named. For images and posts: "
        + "; ".join(f"{name} {does}" for name, does in MEDIA.items())
        + ". auto is code.",
    )
    effort: Literal["low", "normal", "high"] | None = setting(
        OneOf(("low", "normal", "high")), "How hard to look for the best mechanism.  [default: normal]", lenses=TABLE
    )
    replacement: Literal["resample", "uniform", "merge", "suppress"] | None = setting(
        OneOf(("resample", "uniform", "merge", "suppress")),
        "Merge one set of values (watchdog), and replace each by a draw like the merged ones (resample) or a uniform "
        "draw, by the commonest of them (merge), or by nothing (suppress).",
        lenses=TABLE,
    )
    recode: Literal["local", "global"] = setting(
        OneOf(("local", "global")),
        "Cells: give each cell its own ranges, which keeps most (local), or each column the same ranges in every "
        "record, which is easier to analyse (global).",
        default="local",
        lenses=TABLE,
    )
    write: Literal["text", "means"] = setting(
        OneOf(("text", "means")),
        "Cells: write a range of numbers in words, such as 30 to 39 (text), or as the mean of the records in it, "
        "without its outliers, which keeps the column numeric (means).",
        default="text",
        lenses=TABLE,
    )
    prefer: Mapping[str, float] | None = setting(
        ColumnWeights(),
        "Cells: how much keeping a column matters. Columns not named have 1; a column with 0 goes first. Repeatable.",
        lenses=TABLE,
    )
    rules: AnyPath | None = setting(
        File(), "Treat this batch by the rules of an earlier release, its private/rules.json.", lenses=TABLE
    )
    keep_secret: bool = setting(
        Flag(), "Leave the secret column in the release.", default=False, lenses=(*TABLE, *TEXT)
    )
    max_loss: float = setting(
        Amount(0, 1),
        "The loss you would tolerate; only the advice depends on it.",
        default=0.1,
        lenses=TABLE,
        metavar="SHARE",
    )
    parts: bool = setting(
        Flag(),
        "Have the workers of Spark write the released table themselves, as a folder of Parquet parts. They and the "
        "driver must share the folder of the release.",
        default=False,
        lenses=TABLE,
    )
    overwrite: bool = setting(Flag(), "Replace an existing release; nothing else is ever replaced.", default=False)
    random_state: int | None = setting(
        Amount(0, 2**32 - 1, whole=True), "Make draws and learning repeatable: for tests, not for publishing."
    )


@dataclass(frozen=True)
class Ledgered(Request):
    """A release counted together with the owner's earlier ones."""

    ledger: AnyPath | None = setting(
        File(),
        "Count this release together with the earlier ones in this file, and add it there. Keep the file to yourself.",
        lenses=TABLE,
    )
    people: Literal["same", "other"] = setting(
        OneOf(("same", "other")),
        "Whether the ledger's earlier releases are about the same people, or about none of them.",
        default="same",
        lenses=TABLE,
    )
    budget: float | None = setting(
        Amount(0),
        "Write nothing if all releases in the ledger together would exceed this many nats.",
        lenses=TABLE,
        metavar="NATS",
    )
