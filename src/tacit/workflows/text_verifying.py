"""``verify`` for masked posts: what can be checked of them, and what cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import ArgumentError, SourceError
from tacit.media.text import ROWS_AT_ONCE, Posts, bags_by_terms, read_posts
from tacit.tables.engines import batches
from tacit.tables.sources import open_table
from tacit.tables.table import Table
from tacit.workflows.bounds import TOLERANCE
from tacit.workflows.certifying import REPORT, file_sha256, salted
from tacit.workflows.results import Adversary, Check, VerifyResult
from tacit.workflows.tabulating import Progress, silent
from tacit.workflows.text_masking import Differences, Masking, differences
from tacit.workflows.text_models import TextModel
from tacit.workflows.text_protecting import (
    MODEL,
    NOTHING_POINTWISE,
    TERMS,
    assumptions_of_text,
    claim_in_words,
    published,
    published_prior,
    tried_on,
)
from tacit.workflows.text_results import TextCertificate

_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


def is_text_release(directory: str | Path) -> bool:
    """Whether a directory's certificate is of masked posts."""
    try:
        return bool(json.loads((Path(directory) / "certificate.json").read_text("utf-8"))["kind"] == "text")
    except (OSError, *_DAMAGE):
        return False


def refuse_text_release(directory: str | Path) -> None:
    """For what is not for text yet."""
    if is_text_release(directory):
        raise ArgumentError(
            f"{directory} holds masked posts, and this is not for text yet: what adversaries guess is in its "
            "certificate, and tacit verify --against POSTS trains them again"
        )


def verify_text(
    release: str | Path, *, against: Any = None, engine: str = "duckdb", progress: Progress = silent
) -> VerifyResult:
    """Check what can be checked of masked posts.

    Guarantees
    ----------
    "holds" means: the files are those that were fingerprinted, the words of the claim are those that its numbers call
    for, every released text is the original's but for masked words and addresses, and, with ``private/``, the estimate
    and the adversaries' numbers came out again. That no other adversary guesses better cannot be checked by anyone.
    """
    folder = Path(release)
    certificate = _certificate(folder / "certificate.json")
    data = open_table(folder / str(certificate.output["file"]), engine=engine)
    checks = list(_checks_of_papers(folder, certificate, data))
    if against is None:
        checks.append(Check("texts compared", None, "needs the original: tacit verify RELEASE --against POSTS"))
    else:
        progress("comparing the posts", None)
        checks += _checks_against(folder, certificate, data, against, engine, progress)
    failed = [check for check in checks if check.passed is False]
    unchecked = [check for check in checks if check.passed is None]
    if failed:
        headline = f"What is said of the release is not true: {failed[0].name} ({failed[0].detail})."
    elif unchecked:
        headline = f"Not everything was checked: {unchecked[0].name} ({unchecked[0].detail})."
    else:
        headline = "What can be checked is as it was said. Nothing is certified: the masks rest on an estimate."
    return VerifyResult(
        release=str(release),
        against=None if against is None else getattr(against, "name", str(against)),
        verdict="broken" if failed else "not checked" if unchecked else "holds",
        headline=headline,
        checks=tuple(checks),
        notes=(
            "that no other adversary guesses better cannot be checked",
            "what the manner of writing, or a post found in public, gives away cannot be checked",
            NOTHING_POINTWISE,
        ),
    )


def _certificate(path: Path) -> TextCertificate:
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format_version"] != 1 or set(data) != {field.name for field in fields(TextCertificate)}:
            raise ValueError("not the fields of format 1")
        adversaries = tuple(Adversary(**{key: _tuple(value) for key, value in a.items()}) for a in data["adversaries"])
        lists = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
        made = TextCertificate(**{**data, **lists, "adversaries": adversaries})
        Masking(made.mask, made.generalise, made.rare)  # type: ignore[arg-type]
        numbers = [made.epsilon, made.words_masked, made.posts_touched, made.prior_right]
        numbers += [value for a in adversaries for value in (a.before, a.after, a.retrained)]
        if not adversaries or not all(isinstance(value, (int, float)) and value >= 0 for value in numbers):
            raise ValueError("numbers are missing")
        if Path(made.output["file"]).name != made.output["file"]:
            raise ValueError("the data is not a file of the release")
        return made
    except _DAMAGE as error:
        raise SourceError(
            f"{path} is damaged or not a certificate of Tacit ({type(error).__name__}: {error})"
        ) from error


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _checks_of_papers(folder: Path, certificate: TextCertificate, data: Table) -> Iterator[Check]:
    digest = file_sha256(folder / str(certificate.output["file"]))
    yield Check("released data is the data fingerprinted", digest == certificate.output["sha256"], f"SHA-256 {digest}")
    page, told = folder / REPORT, certificate.output.get("report_sha256")
    if told is None or not page.exists():
        yield Check("report", None, f"{REPORT} is not there, or has no fingerprint")
    else:
        yield Check("report", file_sha256(page) == told, f"{REPORT} is the one fingerprinted")
    rows = data.row_count()
    yield Check("number of posts", rows == certificate.output["records"], f"{rows:,} posts")
    yield Check("columns", data.names == certificate.kept, f"the file holds {', '.join(data.names)}")
    claim = claim_in_words(certificate)
    same = claim == certificate.claim and assumptions_of_text(certificate) == certificate.assumptions
    yield Check("claim in words", same, "says what the numbers say" if same else claim)


def _checks_against(
    folder: Path, certificate: TextCertificate, data: Table, against: Any, engine: str, progress: Progress
) -> Iterator[Check]:
    posts = read_posts(against, text=certificate.text, secret=certificate.secret, engine=engine)
    yield _same_original(folder, certificate, posts)
    released = _columns(data, [certificate.text])[certificate.text]
    if len(released) != len(posts.texts):
        yield Check("texts compared", False, f"{len(released):,} released posts, {len(posts.texts):,} originals")
        return
    texts = ["" if post is None else str(post) for post in released]
    masking = Masking(certificate.mask, certificate.generalise, certificate.rare)  # type: ignore[arg-type]
    found = differences(posts.texts, texts, masking)
    first = f"; the first is post {found.wrong[0] + 1:,}" if found.wrong else ""
    yield Check(
        "texts are the originals but for masked words",
        not found.wrong,
        f"{len(found.wrong):,} of {len(texts):,} posts differ otherwise{first}",
    )
    others = [name for name in certificate.kept if name != certificate.text]
    if others:
        yield Check("kept columns", _columns(data, others) == _columns(posts.table, others), f"{', '.join(others)}")
    if found.wrong:
        return
    yield _masked_shares(certificate, found, len(texts))
    yield from _checks_of_estimate(folder, certificate, posts, texts, found, masking, progress)


def _same_original(folder: Path, certificate: TextCertificate, posts: Posts) -> Check:
    told, salt = certificate.input["salted_sha256"], folder / "private" / "salt.txt"
    if told is None or posts.table.path is None or not salt.exists():
        return Check("original is the one masked", None, "needs the file it was made from, and private/salt.txt")
    digest = salted(posts.table.sha256(), bytes.fromhex(salt.read_text("ascii").strip()))
    return Check("original is the one masked", digest == told, "salted SHA-256 of the file")


def _columns(table: Table, names: list[str]) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {name: [] for name in names}
    for batch in batches(table, names, ROWS_AT_ONCE):
        for name in names:
            out[name] += [None if value is None else str(value) for value in batch.column(name).to_pylist()]
    return out


def _masked_shares(certificate: TextCertificate, found: Differences, posts: int) -> Check:
    words, touched = found.words_masked / max(1, found.words), found.posts_touched / max(1, posts)
    same = abs(words - certificate.words_masked) < 1e-9 and abs(touched - certificate.posts_touched) < 1e-9
    return Check("how much was masked", same, f"{words:.2%} of the words, in {touched:.2%} of the posts")


def _checks_of_estimate(
    folder: Path,
    certificate: TextCertificate,
    posts: Posts,
    texts: list[str],
    found: Differences,
    masking: Masking,
    progress: Progress,
) -> Iterator[Check]:
    private = folder / "private"
    if not (private / MODEL).exists() or not (private / TERMS).exists():
        yield Check("estimate and adversaries", None, f"needs private/{MODEL} and private/{TERMS}")
        return
    model = TextModel.load(private / MODEL)
    bags = bags_by_terms(found.shown, model.vocabulary)
    if certificate.bound == "post":
        largest = float(np.abs(model.terms.log_lift(bags)).max())
    else:
        largest = float(np.abs(model.terms.term_log_lift(bags)).max(initial=0.0))
    what = "post" if certificate.bound == "post" else "word"
    yield Check(
        "estimate",
        largest <= certificate.epsilon + TOLERANCE,
        f"at most {largest:.4g} nats a {what}, by private/{MODEL}",
    )
    progress("training adversaries", None)
    try:
        seed = int(json.loads((private / TERMS).read_text("utf-8"))["seed"])
    except _DAMAGE as error:
        raise SourceError(f"{private / TERMS} is damaged: it should hold what protect wrote") from error
    rows = np.flatnonzero(posts.first).tolist()
    again = tried_on(posts, texts, rows, masking=masking, min_count=certificate.min_count, seed=seed)
    same = published(again) == certificate.adversaries and published_prior(again) == (
        certificate.prior_right, tuple(certificate.prior_interval), certificate.trained_on, certificate.tested_on,
    )  # fmt: skip
    best = max(max(a.after, a.retrained) for a in again.adversaries)
    yield Check("adversaries trained again", same, f"the best guesses {best:.1%} right")
