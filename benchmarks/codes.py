"""Images and posts in codes: the ceiling that is proved, what a reader keeps, and what it costs.

    TACIT_DATA=... python benchmarks/codes.py [faces] [posts] [more] [picture FILE.png]

``faces``: GENKI-4K, secret smile, use turn of the head, on five splits. ``posts``: 75,946 tweets of two parties, on
five splits. ``picture``: originals, their codes and noise, one above the other (not for publishing). ``more``: how many
codes are proved as the number of images grows, on a synthetic enlargement: each face two or four times, with noise and
shifts (the copies count as other people, which they are not: it shows the growth, and proves nothing).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tacit


def shared(name: str) -> Path:
    """A file of the shared data, or a message about what is missing."""
    folder = os.environ.get("TACIT_DATA")
    if folder is None or not Path(folder, name).exists():
        raise SystemExit(f"set TACIT_DATA to the folder that has {name}")
    return Path(folder, name)


def faces_npz(folder: Path, copies: int = 1) -> Path:
    """The faces that were found, with smile and turn; further copies are shifted and noised."""
    with np.load(shared("genki4k/genki4k_face64.npz")) as data:
        found = data["detected"].astype(bool)
        pixels, smile, turn = data["x"][found], data["smile"][found].astype(int), data["pose"][found][:, 0]
    rng = np.random.default_rng(0)
    parts = [pixels]
    for _ in range(copies - 1):
        moved = np.roll(pixels, tuple(rng.integers(-3, 4, 2)), axis=(1, 2)) + rng.normal(0, 12, pixels.shape)
        parts.append(moved.clip(0, 255).astype(np.uint8))
    path = folder / f"faces{copies}.npz"
    person = np.tile(np.arange(len(smile)), copies)
    named = np.where(turn > np.median(turn), "right", "left")
    np.savez(path, x=np.concatenate(parts), smile=np.tile(smile, copies), turn=np.tile(named, copies), person=person)
    return path


def told(name: str, source: Path, folder: Path, *, split: int = 0, **asked: Any) -> None:
    """Make a release, and print what it proves and keeps."""
    start = time.process_time()
    out = folder / f"{name.replace(' ', '-')}-{split}"
    made: Any = tacit.protect(source, out=out, random_state=split, **asked)
    c = made.certificate
    before, after = c.adversaries[0].before, c.adversaries[0].retrained
    use = "" if c.use is None else f", {c.use.column} {c.use.after:.3f} (raw {c.use.before:.3f})"
    print(
        f"{name}, split {split}: {c.codes} codes of {c.smallest} or more, any adversary <= {c.ceiling:.3f} "
        f"({c.confidence:.0%}), prior {c.prior:.3f}, a reader of the originals {before:.3f}, of codes {after:.3f}, "
        f"told {c.told:.3f}{use}; {time.process_time() - start:.0f} CPU-s",
        flush=True,
    )


def picture(folder: Path, file: Path, *, images: int = 500, shown: int = 14) -> None:
    """Some originals, what their codes show, and what noise leaves of them."""
    from PIL import Image

    with np.load(faces_npz(folder)) as data:
        chosen = np.random.default_rng(0).permutation(len(data["x"]))[:images]
        some = {name: values[chosen] for name, values in data.items()}
    np.savez(folder / "some.npz", **some)
    rows = [some["x"][:shown]]
    for mechanism, asked in (("code", {"ceiling": 0.7}), ("noise", {"epsilon": 0.5, "patch": 16, "keep_names": True})):
        out = folder / mechanism
        request: Any = {"secret": "smile", "mechanism": mechanism, "random_state": 0, **asked}
        tacit.protect(folder / "some.npz", out=out, **request)
        with np.load(out / "images.npz") as data:
            released = data["x"]
        if mechanism == "code":
            with np.load(out / "private" / "code.npz") as kept:
                released = released[np.argsort(kept["order"])]
        rows.append(released[:shown])
    Image.fromarray(np.vstack([np.hstack(list(row)) for row in rows])).save(file)


def main(wanted: list[str]) -> None:
    """Run what was named, or all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not wanted or "faces" in wanted:
            source = faces_npz(folder)
            for ceiling in (0.58, 0.60, 0.65):
                told(f"faces {ceiling}", source, folder, secret="smile", use="turn", ceiling=ceiling)
            told("faces epsilon 0.5", source, folder, secret="smile", use="turn", epsilon=0.5)
            for split in range(1, 5):
                told("faces 0.6", source, folder, split=split, secret="smile", use="turn", ceiling=0.6)
        if "picture" in wanted:
            picture(folder, Path(wanted[wanted.index("picture") + 1]))
        if not wanted or "more" in wanted:
            for copies in (2, 4):
                told(f"faces x{copies}", faces_npz(folder, copies), folder, secret="smile", use="turn", ceiling=0.6)
        if not wanted or "posts" in wanted:
            import gzip

            posts = folder / "posts.csv"
            posts.write_bytes(gzip.decompress(shared("tweets/congress_office_tweets_party.csv.gz").read_bytes()))
            for split in range(5):
                told("posts 0.61", posts, folder, split=split, text="text", secret="party", ceiling=0.61)


if __name__ == "__main__":
    main(sys.argv[1:])
