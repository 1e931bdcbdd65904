"""``attack`` for posts: can any family of adversaries read a release of them?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.learn.arrays import Codes
from tacit.lenses.bench.answers import BenchResult
from tacit.lenses.bench.families import switched_on
from tacit.lenses.bench.releases import attacked, kept_order, lacking, not_its_originals, places_of
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.text.coding import post_units
from tacit.lenses.text.families import ReadPosts, text_families, untouched_posts
from tacit.lenses.text.posts import ROWS_AT_ONCE, Posts, read_posts
from tacit.lenses.text.protect import ORDER
from tacit.lenses.text.verify import order_of
from tacit.release.certificate import CodedCertificate, TextCertificate
from tacit.requests import AttackRequest
from tacit.tables.sources import open_table
from tacit.tables.table import Table


@dataclass(frozen=True, eq=False)
class MatchedPosts:
    """Posts and what was released for them, in the order of the originals.

    ``place`` is where each stands in the release; posts alike in ``together`` are one person's.
    """

    before: list[str]
    after: list[str]
    secret: Codes
    place: Codes
    together: Any


def attack_text(
    certificate: TextCertificate | CodedCertificate, request: AttackRequest, *, progress: Progress
) -> BenchResult:
    """Try every family on a release of posts, in codes or masked; ``tacit.attack`` says how.

    Raises
    ------
    SourceError
        If posts in codes lack the owner's folder: only it says which released post is which original.
    """
    masked = isinstance(certificate, TextCertificate)
    families = switched_on(text_families(masked=masked), tuple(request.without or ()))
    progress("reading posts", None)
    column = certificate.text if isinstance(certificate, TextCertificate) else certificate.column or ""
    posts = read_posts(request.against, text=column, secret=certificate.secret, engine=request.engine)
    data = open_table(Path(request.release) / certificate.output.file)
    shown = _column(data, column)
    matched = (_masked if masked else _coded)(posts, shown, certificate, request)
    mask = certificate.mask if isinstance(certificate, TextCertificate) else None

    def read(rows: Codes) -> tuple[ReadPosts, ReadPosts]:
        before, after = ([texts[at] for at in rows] for texts in (matched.before, matched.after))
        return ReadPosts(before, rows, mask), ReadPosts(after, matched.place[rows], mask)

    return attacked(
        certificate,
        request,
        families,
        read,
        medium="posts",
        against=posts.table.name,
        secret=matched.secret,
        together=matched.together,
        untouched=untouched_posts(matched.before, matched.after),
        progress=progress,
    )


def _column(table: Table, name: str) -> list[str]:
    return [
        "" if value is None else str(value)
        for batch in table.batches([name], ROWS_AT_ONCE)
        for value in batch.column(0).to_pylist()
    ]


def _masked(posts: Posts, shown: list[str], certificate: Any, request: AttackRequest) -> MatchedPosts:
    order = order_of(Path(request.release), certificate)
    if order is None:
        raise lacking(ORDER, "posts")
    if not len(shown) == len(posts.texts) == len(order):
        raise not_its_originals(posts.table.name, "posts")
    place = np.argsort(order)
    after = [shown[at] for at in place]
    return MatchedPosts(list(posts.texts), after, posts.codes, place, _together(posts, request))


def _coded(posts: Posts, shown: list[str], certificate: Any, request: AttackRequest) -> MatchedPosts:
    order = kept_order(request, "posts")
    units = post_units(posts, CodedAbout("posts", certificate.secret, certificate.column, certificate.group))
    place = places_of(order, len(units))
    if place is None or len(shown) != len(units):
        raise not_its_originals(posts.table.name, "posts")
    before: list[list[str]] = [[] for _ in range(len(units))]
    for unit, text in zip(units.of_record.tolist(), posts.texts, strict=True):
        before[unit].append(text)
    together = _together(posts, request) if certificate.group is None else np.arange(len(units))
    return MatchedPosts(
        ["\n".join(texts) for texts in before], [shown[at] for at in place], units.secret, place, together
    )


def _together(posts: Posts, request: AttackRequest) -> Any:
    """Which posts stay on one side of a split: those of one person, or, if nobody says whose they are, copies."""
    if request.group is None:
        return np.unique([post.strip() for post in posts.texts], return_inverse=True)[1]
    posts.table.require([request.group])
    return np.unique(_column(posts.table, request.group), return_inverse=True)[1]
