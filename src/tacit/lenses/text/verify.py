"""``verify`` for masked posts: what can be checked about them, and what cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Nats, Progress, Share
from tacit.errors import Command, SourceError, sentence
from tacit.learn.arrays import Codes
from tacit.lenses.bench.fitness import broken_words, check_of_readers, check_of_untouched
from tacit.lenses.text.families import untouched_posts
from tacit.lenses.text.masking import Differences, Masking, differences
from tacit.lenses.text.models import TextModel
from tacit.lenses.text.posts import ROWS_AT_ONCE, Posts, bags_by_terms, read_posts
from tacit.lenses.text.protect import MODEL, ORDER, TERMS, is_read, published, tried_on
from tacit.lift import SLACK
from tacit.loading import arrays_in
from tacit.release.certificate import TextCertificate, best_guesses
from tacit.release.checks import (
    Check,
    CheckedRelease,
    check_of_original,
    checked,
    checks_of_papers,
    close,
    notes_on_files,
    same,
    sha256_as_written,
)
from tacit.release.claims import OF_A_SINGLE_POST
from tacit.release.codec import json_in
from tacit.release.directory import PRIVATE, SALT
from tacit.release.keys import secret_bytes_in
from tacit.tables.formats import written_as
from tacit.tables.sources import open_table
from tacit.tables.table import Table


def verify_text(
    directory: str | Path,
    certificate: TextCertificate,
    *,
    against: Any,
    engine: str,
    progress: Progress,
) -> CheckedRelease:
    """Check what is said about masked posts.

    Guarantees
    ----------
    The verdict is "holds" only if every line was checked: the data is the data fingerprinted, the words are those that
    the numbers call for, every released text is the original except for masked words and links, none is the unchanged
    original, the estimate and the adversaries' numbers came out again (which takes ``private/``), and no adversary
    surely guesses more than without reading. That no other adversary guesses better cannot be checked by anyone.
    """
    folder = Path(directory)
    data = open_table(folder / certificate.output.file)
    checks = [
        *checks_of_papers(folder, certificate, drawn=False, learned_here=True),
        same("number of posts", data.row_count(), certificate.output.records, what="posts"),
        Check("columns", data.names == certificate.kept, f"the file holds {', '.join(data.names)}"),
    ]
    if against is None:
        command = Command("verify", "RELEASE", against="POSTS")
        checks.append(Check("texts compared", None, sentence("needs the original: {command}", command=command)))
    else:
        progress("comparing the posts", None)
        posts = read_posts(against, text=certificate.text, secret=certificate.secret, engine=engine)
        checks += _checks_against(folder, certificate, data, posts, progress)
    _, best = best_guesses(certificate.adversaries)
    checks.append(check_of_readers(best, certificate.prior_right, read=is_read(certificate)))
    return checked(
        certificate,
        checks,
        holds="What can be checked is as stated, and no family of adversaries reads the secret. Nothing is "
        "certified: the masks rest on an estimate.",
        broken=broken_words(checks, "What is stated about the release is not true"),
        unsure="Not everything was checked",
        notes=(
            "that no other adversary guesses better cannot be checked",
            "what the style of a post gives away, or its original if it is public, cannot be checked",
            *notes_on_files(folder, certificate),
            OF_A_SINGLE_POST,
        ),
    )


def _checks_against(
    folder: Path, certificate: TextCertificate, data: Table, posts: Posts, progress: Progress
) -> Iterator[Check]:
    salt = secret_bytes_in(folder / PRIVATE / SALT)
    digest = None if posts.table.path is None else posts.table.sha256()
    why = f"needs the file it was made from, and {PRIVATE}/{SALT}"
    yield check_of_original(digest, certificate, salt, why=why)
    released = _columns(data, [certificate.text])[certificate.text]
    if not len(released) == len(posts.texts) == certificate.output.records:
        yield Check("texts compared", False, f"{len(released):,} released posts, {len(posts.texts):,} originals")
        return
    order = order_of(folder, certificate)
    if order is None:
        yield Check("texts compared", None, f"needs {PRIVATE}/{ORDER}: the posts are in random order")
        return
    place = np.argsort(order)
    yield _written_plainly(data, posts.table, certificate)
    texts = ["" if released[at] is None else str(released[at]) for at in place]
    yield check_of_untouched(untouched_posts(posts.texts, texts), len(texts), "posts")
    masking = Masking(certificate.mask, certificate.generalise, certificate.rare)
    changes = differences(posts.texts, texts, masking)
    first = f"; the first is post {changes.wrong[0] + 1:,}" if changes.wrong else ""
    yield Check(
        "texts are the originals except for masked words",
        not changes.wrong,
        f"{len(changes.wrong):,} of {len(texts):,} posts differ otherwise{first}",
    )
    others = [name for name in certificate.kept if name != certificate.text]
    if others:
        shown, originals = _columns(data, others), _columns(posts.table, others)
        alike = all([shown[name][at] for at in place] == originals[name] for name in others)
        yield Check("kept columns", alike, f"{', '.join(others)}")
    if changes.wrong:
        return
    yield close("words masked", changes.words_masked / max(1, changes.words), certificate.words_masked)
    yield close("posts touched", changes.posts_touched / max(1, len(texts)), certificate.posts_touched)
    private = folder / PRIVATE
    if not (private / MODEL).exists() or not (private / TERMS).exists():
        yield Check("estimate and adversaries", None, f"needs {PRIVATE}/{MODEL} and {PRIVATE}/{TERMS}")
        return
    yield _check_of_estimate(private, certificate, changes)
    progress("training adversaries", None)
    yield _check_of_adversaries(private, certificate, posts, texts, order, masking)


def order_of(folder: Path, certificate: TextCertificate) -> Codes | None:
    """Which original each released post is, by the owner's papers; None if nothing says so."""
    if certificate.order == "kept":
        return np.arange(certificate.output.records)
    if not (folder / PRIVATE / ORDER).exists():
        return None
    order = np.asarray(arrays_in(folder / PRIVATE / ORDER, "order").get("order", ()))
    if order.dtype.kind != "i" or sorted(order.tolist()) != list(range(certificate.output.records)):
        raise SourceError(f"{folder / PRIVATE / ORDER} is damaged: it should hold what protect wrote")
    return order.astype(np.int64)


def _written_plainly(data: Table, original: Table, certificate: TextCertificate) -> Check:
    """Whether a file says nothing between its cells (spaces, quotes, metadata): rows written again are its bytes."""
    name, like = "file is written plainly", original if original.format == data.format else data
    if sha256_as_written(data, like, certificate.output.file) == certificate.output.sha256:
        return Check(name, True, "every byte is as protect writes it")
    if written_as(data.format).bytes_vary:
        return Check(name, None, "this version of Tacit writes other bytes")
    return Check(name, False, "its bytes say more than its cells")


def _columns(table: Table, names: list[str]) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {name: [] for name in names}
    for batch in table.batches(names, ROWS_AT_ONCE):
        for name in names:
            out[name] += [None if value is None else str(value) for value in batch.column(name).to_pylist()]
    return out


def _check_of_estimate(private: Path, certificate: TextCertificate, changes: Differences) -> Check:
    model = TextModel.load(private / MODEL)
    bags = bags_by_terms(changes.shown, model.vocabulary)
    if certificate.bound == "post":
        largest, what = float(np.abs(model.terms.log_lift(bags)).max()), "post"
    else:
        largest, what = float(np.abs(model.terms.term_log_lift(bags)).max(initial=0.0)), "word"
    words = "at most {largest} per {what}, by {folder}/{model}"
    detail = sentence(words, largest=Nats(largest, 4, rounded="up"), what=what, folder=PRIVATE, model=MODEL)
    return Check("estimate", largest <= certificate.epsilon + SLACK, detail)


def _check_of_adversaries(
    private: Path, certificate: TextCertificate, posts: Posts, texts: list[str], order: Codes, masking: Masking
) -> Check:
    try:
        seed = int(json_in(private / TERMS, "list of masked terms")["random_state"])
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{private / TERMS} is damaged: it should hold what protect wrote") from error
    again = published(tried_on(posts, texts, np.flatnonzero(posts.first), order, masking=masking, seed=seed))
    alike = all(getattr(certificate, name) == value for name, value in again.items())
    _, best = best_guesses(again["adversaries"])
    return Check("adversaries trained again", alike, sentence("the best guesses {share} right", share=Share(best)))
