"""The further settings of releases of images, posts and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.requests.settings import Amount, Flag, Kind, Name, Names, OneOf, Request, setting
from tacit.requests.table import IMAGES, TEXT, VECTORS


@dataclass(frozen=True)
class Coding(Request):
    """Images, posts and vectors in codes, with a ceiling for every adversary."""

    group: str | None = setting(
        Name(),
        "Images, posts and vectors: the column that names each one's owner. Everything of one person is then coded "
        "together, and the claim is about people.",
        lenses=(*IMAGES, *TEXT, *VECTORS),
    )
    ceiling: float | None = setting(
        Amount(0, 1),
        "Images, posts and vectors: how often any adversary may guess the secret right, at most.  [default: no limit; "
        "the answer states the ceiling reached]",
        lenses=(*IMAGES, *TEXT, *VECTORS),
        metavar="0.6",
    )


@dataclass(frozen=True)
class PatchNoise(Request):
    """Noise on the patches of images that give a label away."""

    patch: int | None = setting(
        Amount(1, whole=True),
        "Images: side of the square patches in pixels.  [default: about 8 patches per side]",
        lenses=IMAGES,
        metavar="32|16|8|4|2",
    )
    scale: float = setting(
        Amount(0),
        "Images: standard deviation of the noise; 1 is the full range of a pixel.",
        default=1.0,
        lenses=IMAGES,
    )
    order: Literal["given", "leak"] = setting(
        OneOf(("given", "leak")),
        "Images: treat patches row by row (given), or the most telling first (leak).",
        default="given",
        lenses=IMAGES,
    )
    keep_label: Sequence[str] | str | None = setting(Names(), "Images: also release this other label.", lenses=IMAGES)
    keep_names: bool = setting(
        Flag(), "Images: keep the files' names and order, which may reveal the secret.", default=False, lenses=IMAGES
    )


@dataclass(frozen=True)
class WordMask(Request):
    """Masks on the words of posts that give a secret away."""

    keep: Sequence[str] | str | None = setting(
        Names(), "Posts: also release this other column, unchanged.", lenses=TEXT
    )
    mask: str = setting(Kind(), "Posts: what replaces a hidden word.", default="▇", lenses=TEXT)
    generalise: bool = setting(
        Flag(), "Posts: write hidden hashtags as #tag and mentions as @someone.", default=False, lenses=TEXT
    )
    rare: Literal["keep", "mask"] = setting(
        OneOf(("keep", "mask")), "Posts: what to do with words too rare to judge.", default="keep", lenses=TEXT
    )
    bound: Literal["post", "term"] = setting(
        OneOf(("post", "term")),
        "Posts: whether epsilon bounds all that a post shows (post), or each word given those before it (term).",
        default="post",
        lenses=TEXT,
    )
    min_count: int = setting(
        Amount(1, whole=True), "Posts: leave out words that fewer posts have.", default=5, lenses=TEXT
    )
    keep_order: bool = setting(
        Flag(), "Posts: keep the order of the rows, which may reveal the secret.", default=False, lenses=TEXT
    )
