"""All of the tide paper: the theorems, Gaussian records, faces (Table 1, Figure 1) and posts (Figure 3).

Faces take a quarter of an hour, so an interrupted run continues with the cells it had; a complete run makes all of
them. Where data are missing, earlier results obtained with them stay; without any, the items are not available.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.paper import Say, load, save
from experiments.tide.data import made_posts, read_tweets
from experiments.tide.faces import faces
from experiments.tide.gaussian import gaussian
from experiments.tide.posts import posts
from experiments.tide.theorems import theorems
from tacit.errors import SourceError

RESULTS = Path(__file__).parent / "results.json"
# The cells of faces until all are there.
UNFINISHED = RESULTS.with_name("unfinished.json")


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """All results; a quick run leaves the faces out and makes up its posts."""
    made: dict[str, Any] = {"theorems": theorems(100 if quick else 4_000), "gaussian": gaussian(quick=quick, say=say)}
    if quick:
        return made | {"faces": None, "posts": posts(made_posts(), quick=True, say=say)}
    kept: dict[str, Any] = dict(load(RESULTS)) if RESULTS.exists() else {}
    try:
        begun = load(UNFINISHED) if UNFINISHED.exists() else {}
        made["faces"] = faces(dict(begun), lambda told: save(told, UNFINISHED), say)
    except SourceError as problem:
        say(str(problem))
        made["faces"] = kept.get("faces")
    try:
        made["posts"] = posts(read_tweets(), quick=False, say=say)
    except SourceError as problem:
        say(str(problem))
        made["posts"] = kept.get("posts")
    UNFINISHED.unlink(missing_ok=True)
    return made
