"""``protect`` for text: mask the words that give a secret away, and say what adversaries still guess."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import __version__
from tacit.document import Progress, Share, silent
from tacit.errors import ArgumentError, Setting, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.bench.answers import UNTOUCHED, untouched_words
from tacit.lenses.bench.trying import BenchRecords, BenchRun, benched, folds_of, spread
from tacit.lenses.histograms import histogram_of
from tacit.lenses.ordering import released_order
from tacit.lenses.text.answers.release import TextProtectResult
from tacit.lenses.text.audit import ReadCorpus, read_corpus, riskiest
from tacit.lenses.text.families import ReadPosts, text_families, untouched_posts
from tacit.lenses.text.masking import MaskedPosts, Masking, mask_posts, refuse_mask_in_posts
from tacit.lenses.text.posts import ROWS_AT_ONCE, Posts, read_posts
from tacit.lenses.text.worth import use_of_posts
from tacit.lift import guessing_bound
from tacit.loading import file_sha256
from tacit.release.certificate import AdversaryScore, CertifiedInput, CertifiedOutput, TextCertificate, best_guesses
from tacit.release.claims import randomness_of, worded
from tacit.release.directory import ReleaseDraft, new_release, refuse_target
from tacit.release.keys import seed_or_secure
from tacit.release.published import DECIMALS, coarse_limits
from tacit.requests import Bound, Making, Question, WordMask
from tacit.tables.sources import open_table
from tacit.tables.writing import suffix_for, write_table

if TYPE_CHECKING:
    import pyarrow as pa

MODEL = "model.tacit"
TERMS = "terms.json"
ORDER = "order.npz"
EXAMPLES = 8
MOST_LISTED = 30
_README = (
    "Only the owner of the posts may see this folder. Do not publish what is in it.",
    f"{TERMS} lists which words were masked and how often, and the seed of the adversaries.",
    f"{ORDER} says which original each released post is.",
    f"{MODEL} is what was learned from the posts; explain_text also reads other posts with it.",
    "salt.txt opens the fingerprint of the original in certificate.json.",
)


def protect_text(
    question: Question, bound: Bound, making: Making, mask: WordMask, *, out: Path, progress: Progress
) -> TextProtectResult:
    """Write the posts with the words that give the secret away masked; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. Every released text is the original except for masked words. By the
    estimate in ``private/``, what is shown of every post says at most epsilon (or every shown word does). That
    certifies nothing: what families of adversaries, trained on two thirds of the posts, still guess about the others
    is in the certificate, with exact binomial limits.
    """
    epsilon, masking = bound.one_epsilon("a post may say"), Masking(mask.mask, mask.generalise, mask.rare)
    progress("reading posts", None)
    posts = read_posts(question.source, text=question.text or "", secret=question.one_secret(), engine=question.engine)
    kept = _kept(posts, tuple(mask.keep or ()), making.keep_secret)
    refuse_target(out, original=posts.table.path, overwrite=making.overwrite)
    refuse_mask_in_posts(posts, masking)
    seed = seed_or_secure(making.random_state)
    corpus = read_corpus(posts, min_count=mask.min_count, random_state=seed, progress=progress, scored=False)
    progress("masking", None)
    masked = mask_posts(posts, corpus.model, masking, epsilon=epsilon, bound=mask.bound)
    progress("training adversaries", None)
    order = released_order(len(posts.texts), keep=mask.keep_order, random_state=making.random_state)
    tried = tried_on(posts, masked.texts, corpus.rows, order, masking=masking, seed=seed, progress=progress)
    with new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the release", None)
        data_file = "data" + suffix_for(posts.table)
        released = _with_text(posts, masked.texts, kept).take(order)
        write_table(open_table(released), draft.place / data_file, like=posts.table)
        output = CertifiedOutput(data_file, len(posts.texts), file_sha256(draft.place / data_file))
        certificate = worded(
            TextCertificate(
                claim="",
                assumptions=(),
                epsilon=epsilon,
                **_masked(corpus, masked, mask, kept),
                **published(tried),
                input=_input(posts, draft),
                output=output,
                randomness=randomness_of(drawn=False, repeatable=making.random_state is not None, learned_here=True),
                tacit_version=__version__,
            )
        )
        certificate = replace(
            certificate, use=use_of_posts(question, posts, masked.texts, corpus.rows, mask.mask, seed)
        )
        result = _result(corpus, masked, certificate, str(out))
        _keep(draft, corpus, masked, seed)
        np.savez_compressed(draft.private / ORDER, order=order)
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, _README)
    return replace(result, certificate=certificate)


def tried_on(
    posts: Posts,
    masked: Sequence[str],
    rows: Codes,
    order: Codes,
    *,
    masking: Masking,
    seed: int,
    progress: Progress = silent,
) -> BenchRun:
    """What every family of adversaries guesses, clean and masked, on the posts that are not copies.

    ``order`` says which original each released post is.
    """
    tried = rows[spread(len(rows), len(rows))]
    codes, place = posts.codes[tried], np.argsort(order)[tried]
    clean = ReadPosts([posts.texts[at] for at in tried], tried, masking.mask)
    shown = ReadPosts([masked[at] for at in tried], place, masking.mask)
    fold = folds_of(codes, together=tried, random_state=seed)
    return benched(text_families(masked=True), BenchRecords(clean, shown, codes, fold), progress=progress)


def _kept(posts: Posts, keep: tuple[str, ...], keep_secret: bool) -> tuple[str, ...]:
    posts.table.require(keep)
    if posts.secret in keep:
        words = "column '{secret}' is the secret: to leave it in the release say {keep_secret}"
        raise ArgumentError(sentence(words, secret=posts.secret, keep_secret=Setting("keep_secret", True)))
    wanted = {posts.text, *keep, *((posts.secret,) if keep_secret else ())}
    return tuple(name for name in posts.table.names if name in wanted)


def _with_text(posts: Posts, texts: Sequence[str], kept: Sequence[str]) -> pa.Table:
    """The kept columns in order, the text replaced; a missing text stays missing."""
    import pyarrow as pa

    table = pa.concat_tables(list(posts.table.batches(kept, ROWS_AT_ONCE)))
    shown = [None if gone else post for post, gone in zip(texts, posts.missing.tolist(), strict=True)]
    column = pa.array(shown, type=pa.string())
    return table.set_column(table.schema.get_field_index(posts.text), posts.text, column)


def _masked(corpus: ReadCorpus, masked: MaskedPosts, mask: WordMask, kept: tuple[str, ...]) -> dict[str, Any]:
    """What was asked and what was masked, in the fields of a certificate."""
    posts, words = corpus.posts, max(1, masked.words)
    return {
        "bound": mask.bound,
        "secret": posts.secret,
        "text": posts.text,
        "kept": kept,
        "left_out": tuple(name for name in posts.table.names if name not in kept),
        "mask": mask.mask,
        "generalise": mask.generalise,
        "rare": mask.rare,
        "min_count": mask.min_count,
        "order": "kept" if mask.keep_order else "random",
        "words_masked": masked.words_masked / words,
        "posts_touched": float(masked.touched.mean()),
        "terms_masked": int((masked.times > 0).sum()),
        "words_unknown": masked.words_unknown / words,
    }


def _input(posts: Posts, draft: ReleaseDraft) -> CertifiedInput:
    table = posts.table
    return CertifiedInput(Path(table.name).name, table.format, len(posts.texts), draft.salted(table.sha256()))


def published(tried: BenchRun) -> dict[str, Any]:
    """What adversaries guess, and what guessing without reading gets right, rounded as it may be published."""
    return {
        "prior_right": round(tried.prior, DECIMALS),
        "prior_interval": coarse_limits(*tried.prior_interval),
        "trained_on": tried.trained_on,
        "tested_on": tried.tested_on,
        "adversaries": tuple(
            replace(
                AdversaryScore(a.name, *(part for right, limits in a.guesses for part in _rounded(right, limits))),
                worst=None if a.worst is None else round(a.worst, DECIMALS),
            )
            for a in (each.score for each in tried.families)
        ),
    }


def is_read(certificate: TextCertificate) -> bool:
    """Whether a family surely guesses more than somebody who does not read."""
    lows = [low for a in certificate.adversaries for low in (a.after_interval[0], a.retrained_interval[0])]
    return max(lows) > certificate.prior_interval[1]


def _rounded(right: float, limits: tuple[float, float]) -> tuple[Any, Any]:
    return round(right, DECIMALS), coarse_limits(*limits)


def _result(corpus: ReadCorpus, masked: MaskedPosts, certificate: TextCertificate, out: str) -> TextProtectResult:
    rows, model = corpus.rows, corpus.model
    even = np.full(len(rows), 1 / len(rows))
    lift = model.terms.log_lift(corpus.bags.presence)
    before = histogram_of(np.abs(lift).max(axis=1), even)
    after = histogram_of(np.abs(masked.shown[rows]).max(axis=1), even, beside=before)
    clean, best = best_guesses(certificate.adversaries)
    left = untouched_posts(corpus.posts.texts, masked.texts)
    verdict = "still better than the prior" if is_read(certificate) else "estimated, not certified"
    headline = sentence(
        "{masked} of the words are masked: the best adversary guesses {secret} right in {best} of posts, {clean} "
        "before; without reading, in {prior}.",
        masked=Share(certificate.words_masked),
        secret=certificate.secret,
        best=Share(best),
        clean=Share(clean),
        prior=Share(certificate.prior_right),
    )
    headline += _at_odds(certificate, model.terms.prior_)
    if left:
        verdict, headline = UNTOUCHED, untouched_words(left, len(masked.texts), "posts") + " " + headline
    return TextProtectResult(
        out=out,
        data_file=certificate.output.file,
        certificate=certificate,
        verdict=verdict,
        headline=headline,
        before=before,
        after=after,
        masked=_listed(corpus, masked)[:MOST_LISTED],
        examples=tuple((post, masked.texts[at]) for at, post in riskiest(corpus, lift, EXAMPLES)),
        notes=_notes(corpus, masked, certificate),
    )


def _at_odds(certificate: TextCertificate, prior: Floats) -> str:
    """A sentence if adversaries surely guess more than the estimate allows for a shown post."""
    if certificate.bound != "post":
        return ""
    most = guessing_bound(prior, certificate.epsilon)
    lows = [low for a in certificate.adversaries for low in (a.after_interval[0], a.retrained_interval[0])]
    if max(lows) <= most:
        return ""
    words = " The estimate behind the masks is wrong: by it nobody would be right more often than {most}."
    return sentence(words, most=Share(most))


def _listed(corpus: ReadCorpus, masked: MaskedPosts) -> tuple[tuple[str, int, int], ...]:
    """The masked terms, the most often masked first: in how many posts each was masked, and how many hold it."""
    words, times = corpus.model.vocabulary, masked.times
    order = np.argsort(-times, kind="stable")[: int((times > 0).sum())]
    return tuple((words.terms[at], int(times[at]), int(words.posts[at])) for at in order)


def _notes(corpus: ReadCorpus, masked: MaskedPosts, certificate: TextCertificate) -> tuple[str, ...]:
    notes: list[str] = []
    mask_rare = Setting("rare", "mask")
    best = max(certificate.adversaries, key=lambda a: a.retrained)
    gain, left = best.before - certificate.prior_right, best.retrained - certificate.prior_right
    if best.retrained_interval[0] > certificate.prior_interval[1] and left > 0.02:
        words = (
            "an adversary who learns from masked posts is still {left} better than guessing ({gain} before): "
            "a smaller epsilon, {mask_rare} or a coarser mask hides more"
        )
        notes.append(sentence(words, left=Share(left), gain=Share(gain), mask_rare=mask_rare))
    if certificate.words_masked > 0.5:
        notes.append("more than half of the words are masked: hardly anything is left to read; try a larger epsilon")
    if masked.words_unknown and certificate.rare == "keep":
        words = "{unknown} of the words are too rare to judge and are shown ({mask_rare})"
        notes.append(sentence(words, unknown=Share(certificate.words_unknown), mask_rare=mask_rare))
    kept_order, secret_kept = certificate.order == "kept", certificate.secret in certificate.kept
    if kept_order and not secret_kept and order_tells(corpus.posts.codes):
        words = (
            "posts next to each other have the same secret far more, or far less, often than by chance: the order, "
            "which was kept, reveals it; leave out {setting}"
        )
        notes.append(sentence(words, setting=Setting("keep_order")))
    copies = len(corpus.posts.texts) - len(corpus.rows)
    if copies:
        notes.append(f"{copies:,} posts are copies of others; they were masked, but not learned from")
    return tuple(notes)


def order_tells(codes: Codes) -> bool:
    """Whether neighbours agree in the secret far more, or far less, often than in 199 random orders."""
    if len(codes) < 3:
        return False
    rng = np.random.default_rng(0)
    drawn = np.array([_agreeing(rng.permutation(codes)) for _ in range(199)], dtype=np.float64)
    return bool(abs(_agreeing(codes) - drawn.mean()) > 5 * max(float(drawn.std()), 0.5))


def _agreeing(codes: Codes) -> int:
    return int((codes[1:] == codes[:-1]).sum())


def _keep(draft: ReleaseDraft, corpus: ReadCorpus, masked: MaskedPosts, seed: int) -> None:
    """The owner's papers: the model, and which words were masked how often."""
    corpus.model.save(draft.private / MODEL)
    listed = [
        {"term": term, "masked_in_posts": times, "posts": posts} for term, times, posts in _listed(corpus, masked)
    ]
    draft.keep(TERMS, json.dumps({"random_state": seed, "masked": listed}, indent=1, ensure_ascii=False) + "\n")
