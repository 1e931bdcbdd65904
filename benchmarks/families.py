"""What families of adversaries read from releases of images and posts: noise, masks and codes.

    TACIT_DATA=... python benchmarks/families.py [noise] [faces] [masks] [manner] [posts]

``noise``: GENKI-4K, noise on patches. ``faces``: the same in codes. ``masks``: 12,000 tweets of two parties, masked.
``manner``: the same tweets, with most of one party's in a style of their own (lower case, ending in " ."), the case of
an author who is known by style. ``posts``: 20,000 tweets in codes.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tacit
from codes import faces_npz, shared


def tweets(folder: Path, most: int, *, manner: bool = False) -> Path:
    """Some tweets, at random; with ``manner`` four in five of one party's are in lower case and end in " ."."""
    path = folder / f"posts-{most}-{manner}.csv"
    text = gzip.decompress(shared("tweets/congress_office_tweets_party.csv.gz").read_bytes()).decode()
    (folder / "all.csv").write_text(text)
    frame = pd.read_csv(folder / "all.csv", usecols=["party", "text"]).sample(most, random_state=0)
    if manner:
        other = (frame.party == "R") & (np.random.default_rng(0).random(len(frame)) < 0.8)
        frame.loc[other, "text"] = frame.loc[other, "text"].str.lower().str.rstrip(".!") + " ."
    frame.to_csv(path, index=False)
    return path


def told(name: str, families: Any, *, prior: float, more: str, start: float) -> None:
    """Print what every family guesses: before, after, retrained, and in its best third."""
    print(f"{name}: commonest {prior:.3f}{more}; {time.process_time() - start:.0f} CPU-s")
    for each in families:
        print(f"  {each.name:<12} {each.before:.3f} {each.after:.3f} {each.retrained:.3f}  worst {each.worst or 0:.3f}")
    sys.stdout.flush()


def estimated(name: str, source: Path, folder: Path, **asked: Any) -> None:
    """A release with noise or masks: what its certificate says about the families."""
    start = time.process_time()
    c: Any = tacit.protect(source, out=folder / name.replace(" ", "-"), random_state=0, **asked).certificate
    share = f", {c.flagged_share:.1%} of patches noised" if c.of_images else f", {c.words_masked:.1%} of words masked"
    told(name, c.adversaries, prior=c.prior if c.of_images else c.prior_right, more=share, start=start)


def coded(name: str, source: Path, folder: Path, **asked: Any) -> None:
    """A release in codes: what families read from it, next to its ceiling."""
    start = time.process_time()
    out = folder / name.replace(" ", "-")
    c: Any = tacit.protect(source, out=out, random_state=0, **asked).certificate
    found: Any = tacit.attack(out, against=source)
    more = f", ceiling {c.ceiling:.3f}, {c.codes} codes, {found.verdict}"
    told(name, [each.score for each in found.run.families], prior=c.prior, more=more, start=start)


def main(wanted: list[str]) -> None:
    """Run what was named, or all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not wanted or "noise" in wanted:
            source = faces_npz(folder)
            for epsilon in (0.5, 0.1):
                estimated(
                    f"noise {epsilon}", source, folder, secret="smile", mechanism="noise", epsilon=epsilon, patch=8
                )
        if not wanted or "faces" in wanted:
            coded("faces 0.60", faces_npz(folder), folder, secret="smile", use="turn", ceiling=0.6)
        for kind in ("masks", "manner"):
            if not wanted or kind in wanted:
                source = tweets(folder, 12_000, manner=kind == "manner")
                estimated(kind, source, folder, text="text", secret="party", mechanism="mask", epsilon=0.3)
        if not wanted or "posts" in wanted:
            coded("posts 0.63", tweets(folder, 20_000), folder, text="text", secret="party", ceiling=0.63)


if __name__ == "__main__":
    main(sys.argv[1:])
