"""``protect`` for text: mask the words that give a secret away, and say what adversaries still guess."""

from __future__ import annotations

import json
import secrets as secure
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from tacit import __version__
from tacit.errors import ArgumentError, DataError
from tacit.learn.terms import Bound
from tacit.media.text import ROWS_AT_ONCE, Posts, read_posts
from tacit.tables.engines import batches
from tacit.tables.sources import open_table
from tacit.tables.writing import suffix_for, whole_directory, write_table
from tacit.workflows import findings
from tacit.workflows.certifying import REPORT, file_sha256, salted
from tacit.workflows.question import Names, names
from tacit.workflows.results import RENDERERS, plain
from tacit.workflows.tabulating import Progress, checked_epsilon, silent
from tacit.workflows.text_adversaries import Trial, trial
from tacit.workflows.text_auditing import MIN_COUNT, ReadCorpus, read_corpus
from tacit.workflows.text_masking import MASK, MaskedPosts, Masking, Rare, mask_posts, refuse_mask_in_posts
from tacit.workflows.text_results import ReadPost, TextCertificate, TextProtectResult

if TYPE_CHECKING:
    import pyarrow as pa

MODEL = "model.tacit"
TERMS = "terms.json"
EXAMPLES = 8
MOST_LISTED = 30
SEED_BITS = 31
# Digits of published shares: more of them would be a fingerprint of single posts' secrets.
DIGITS = 3
VERDICT = "masked, not certified"

NOTHING_POINTWISE = (
    "a learned estimate certifies nothing pointwise: of a single post it may be wrong, and a better adversary may come"
)


def protect_text(
    source: Any,
    *,
    text: str,
    secret: str,
    epsilon: float,
    out: str | Path,
    bound: Bound = "post",
    keep: Names = None,
    keep_secret: bool = False,
    mask: str = MASK,
    generalise: bool = False,
    rare: Rare = "keep",
    min_count: int = MIN_COUNT,
    overwrite: bool = False,
    random_state: int | None = None,
    engine: str = "duckdb",
    progress: Progress = silent,
) -> TextProtectResult:
    """Write the posts with the words masked that give the secret away.

    Parameters
    ----------
    source, text, secret, min_count, engine
        As in ``audit_text``.
    epsilon : float
        How much what is shown of a post may say about a secret, in nats, by the estimate.
    out : path
        Directory of the release.
    bound : {"post", "term"}
        "post": what is shown of a post may say at most epsilon; "term": one word, after those shown before it (the
        tide paper's rule; several words add up).
    keep : name or names, optional
        Other columns to be released as they are. They are not looked at.
    keep_secret : bool
        Leave the secret in the file.
    mask : str
        What takes the place of a word.
    generalise : bool
        A hidden hashtag becomes ``#tag``, a mention ``@someone``, an address ``<url>``.
    rare : {"keep", "mask"}
        What becomes of words in fewer than ``min_count`` posts, which no estimate knows.
    random_state : int, optional
        Seed of the learning and of the adversaries; by default from the system's secure source.

    Returns
    -------
    TextProtectResult

    Guarantees
    ----------
    The directory appears whole or not at all. Every released text is the original but for masked words. By the
    estimate in ``private/``, what is shown of every post says at most epsilon (or every shown word does). That
    certifies nothing: what two adversaries, trained on 70% of the posts, still guess of the others is in the
    certificate, with exact binomial limits.
    """
    limit, masking = checked_epsilon(epsilon), Masking(mask, generalise, rare)
    for value, allowed, word in ((bound, get_args(Bound), "bound"), (rare, get_args(Rare), "rare")):
        if value not in allowed:
            raise ArgumentError(f"no {word} '{value}': choose {' or '.join(allowed)}")
    progress("reading posts", None)
    posts = read_posts(source, text=text, secret=secret, engine=engine)
    kept = _kept(posts, names(keep), keep_secret)
    _check_target(Path(out), posts.table.path, overwrite)
    refuse_mask_in_posts(posts, masking)
    seed = secure.randbits(SEED_BITS) if random_state is None else random_state
    corpus = read_corpus(posts, min_count=min_count, random_state=seed, progress=progress, seen=False)
    progress("masking", None)
    masked = mask_posts(posts, corpus.model, masking, epsilon=limit, bound=bound)
    progress("training adversaries", None)
    tried = tried_on(posts, masked.texts, corpus.rows.tolist(), masking=masking, min_count=min_count, seed=seed)
    with whole_directory(out, overwrite=overwrite) as directory:
        progress("writing the release", None)
        data_file = "data" + suffix_for(posts.table)
        released = _with_text(posts, masked.texts, kept)
        write_table(open_table(released), directory / data_file, like=posts.table)
        salt = secure.token_bytes(32)
        certificate = _certificate(corpus, masked, masking, tried, kept, limit, bound, min_count)
        certificate = replace(certificate, **_fingerprints(posts, directory / data_file, salt))
        result = _result(corpus, masked, certificate, str(out), data_file)
        result = _write_papers(result, directory, salt)
        _write_private(corpus, masked, seed, salt, directory)
    return result


def tried_on(
    posts: Posts, masked: Sequence[str], rows: Sequence[int], *, masking: Masking, min_count: int, seed: int
) -> Trial:
    """What adversaries guess, clean and masked, on the posts that are not copies."""
    clean, shown = [posts.texts[at] for at in rows], [masked[at] for at in rows]
    codes = posts.codes[np.asarray(rows)]
    found = trial(clean, shown, codes, mask=masking.mask, min_count=min_count, random_state=seed)
    if found.tested_on < 1:
        raise DataError(f"{posts.table.name} has too few different posts to test an adversary on: gather more")
    return found


def _kept(posts: Posts, keep: tuple[str, ...], keep_secret: bool) -> tuple[str, ...]:
    posts.table.require(keep)
    if posts.secret in keep:
        raise ArgumentError(f"column '{posts.secret}' is the secret: to leave it in the release say --keep-secret")
    wanted = {posts.text, *keep, *((posts.secret,) if keep_secret else ())}
    return tuple(name for name in posts.table.names if name in wanted)


def _check_target(out: Path, source: Path | None, overwrite: bool) -> None:
    """Never put a release over anything but a release, and never over the table it is made from."""
    target = out.resolve()
    if source is not None and source.resolve().is_relative_to(target):
        raise ArgumentError(f"{out} holds the original {source.name}: choose another directory for the release")
    if overwrite and target.is_dir() and any(target.iterdir()) and not (target / "certificate.json").is_file():
        raise ArgumentError(f"{out} is not a release of Tacit, so it is not overwritten: choose another directory")


def _with_text(posts: Posts, texts: Sequence[str], kept: Sequence[str]) -> pa.Table:
    """The kept columns in order, the text replaced; a missing text stays missing."""
    import pyarrow as pa

    table = pa.concat_tables(list(batches(posts.table, kept, ROWS_AT_ONCE)))
    shown = [None if gone else post for post, gone in zip(texts, posts.missing.tolist(), strict=True)]
    column = pa.array(shown, type=pa.string())
    return table.set_column(table.schema.get_field_index(posts.text), posts.text, column)


def claim_in_words(certificate: TextCertificate) -> str:
    """What is claimed, from the numbers of a certificate alone."""
    before = max(a.before for a in certificate.adversaries)
    after = max(max(a.after, a.retrained) for a in certificate.adversaries)
    what = "what is shown of a post says at most" if certificate.bound == "post" else "no shown word adds more than"
    return (
        f"Words were masked until, by a learned estimate, {what} {certificate.epsilon:g} nats about "
        f"'{certificate.secret}'. This certifies nothing. The best of {len(certificate.adversaries)} adversaries "
        f"guesses it right in {after:.1%} of {certificate.tested_on:,} posts held out, {before:.1%} before; without "
        f"reading it is {certificate.prior_right:.1%}."
    )


def _certificate(
    corpus: ReadCorpus,
    masked: MaskedPosts,
    masking: Masking,
    tried: Trial,
    kept: tuple[str, ...],
    epsilon: float,
    bound: str,
    min_count: int,
) -> TextCertificate:
    posts = corpus.posts
    made = TextCertificate(
        claim="",
        epsilon=epsilon,
        bound=bound,
        secret=posts.secret,
        text=posts.text,
        kept=kept,
        left_out=tuple(name for name in posts.table.names if name not in kept),
        mask=masking.mask,
        generalise=masking.generalise,
        rare=masking.rare,
        min_count=min_count,
        words_masked=masked.words_masked / max(1, masked.words),
        posts_touched=float(masked.touched.mean()),
        terms_masked=int((masked.times > 0).sum()),
        words_unknown=masked.words_unknown / max(1, masked.words),
        prior_right=round(tried.prior_right, DIGITS),
        prior_interval=_rounded(tried.prior_interval),
        trained_on=tried.trained_on,
        tested_on=tried.tested_on,
        adversaries=published(tried),
        assumptions=(),
        input={},
        output={},
        tacit_version=__version__,
    )
    return replace(made, claim=claim_in_words(made), assumptions=assumptions_of_text(made))


def published(tried: Trial) -> Any:
    """Adversaries with as many digits as may be published."""
    return tuple(
        replace(
            a, before=round(a.before, DIGITS), after=round(a.after, DIGITS), retrained=round(a.retrained, DIGITS),
            before_interval=_rounded(a.before_interval), after_interval=_rounded(a.after_interval),
            retrained_interval=_rounded(a.retrained_interval),
        )
        for a in tried.adversaries
    )  # fmt: skip


def published_prior(tried: Trial) -> tuple[float, tuple[float, float], int, int]:
    """What guessing without reading does, and on how many posts, as published."""
    return round(tried.prior_right, DIGITS), _rounded(tried.prior_interval), tried.trained_on, tried.tested_on


def _rounded(limits: tuple[float, float]) -> tuple[float, float]:
    """Limits rounded outwards."""
    unit = 10.0**-DIGITS
    low, high = float(np.floor(limits[0] / unit) * unit), float(np.ceil(limits[1] / unit) * unit)
    return round(low, DIGITS), round(min(high, 1.0), DIGITS)


def assumptions_of_text(certificate: TextCertificate) -> tuple[str, ...]:
    """What the numbers rest on, from a certificate alone."""
    unknown = "masked" if certificate.rare == "mask" else "shown"
    lines = [
        NOTHING_POINTWISE,
        "a mask shows that something was masked, and where; the retrained adversary has learned from the masks",
        f"words in fewer than {certificate.min_count} posts are {unknown}; of them nothing is estimated",
        "how a post is written (length, punctuation, order of the words) is as it was",
        "the posts stand in the order of the original, which was not looked at: a table sorted by the secret tells it",
        "posts are taken to be independent; several posts of one author say more together than each alone",
        "who knows a post, or finds it in public, reads the author, whatever was masked",
    ]
    others = [name for name in certificate.kept if name not in (certificate.text, certificate.secret)]
    if others:
        lines.append(f"column{'s' * (len(others) > 1)} {', '.join(others)}: released as they are, and not looked at")
    if certificate.secret in certificate.kept:
        lines.append("the secret itself is in the file: whoever reads it reads the secret")
    return tuple(lines)


def _fingerprints(posts: Posts, data: Path, salt: bytes) -> dict[str, Any]:
    records = len(posts.texts)
    return {
        "input": {
            "name": Path(posts.table.name).name,
            "format": posts.table.format,
            "records": records,
            "salted_sha256": salted(posts.table.sha256(), salt),
        },
        "output": {"file": data.name, "records": records, "sha256": file_sha256(data)},
    }


def _result(
    corpus: ReadCorpus, masked: MaskedPosts, certificate: TextCertificate, out: str, data_file: str
) -> TextProtectResult:
    rows, model = corpus.rows, corpus.model
    even = np.full(len(rows), 1 / len(rows))
    lift = model.terms.log_lift(corpus.bags.presence)
    before = findings.histogram_of(np.abs(lift).max(axis=1), even)
    after = findings.histogram_of(np.abs(masked.shown[rows]).max(axis=1), even, beside=before)
    order = np.argsort(-masked.times, kind="stable")[:MOST_LISTED]
    listed = tuple(
        (model.vocabulary.terms[at], int(masked.times[at]), int(model.vocabulary.posts[at]))
        for at in order
        if masked.times[at]
    )
    best = max(max(a.after, a.retrained) for a in certificate.adversaries)
    clean = max(a.before for a in certificate.adversaries)
    lows = [low for a in certificate.adversaries for low in (a.after_interval[0], a.retrained_interval[0])]
    beats = max(lows) > certificate.prior_interval[1]
    return TextProtectResult(
        out=out,
        data_file=data_file,
        certificate=certificate,
        verdict="still better than the prior" if beats else "estimated, not certified",
        headline=(
            f"{certificate.words_masked:.1%} of the words are masked: the best adversary guesses {certificate.secret} "
            f"right in {best:.1%} of posts, {clean:.1%} before; without reading it is {certificate.prior_right:.1%}."
        ),
        before=before,
        after=after,
        masked=listed,
        examples=_examples(corpus, masked, lift),
        notes=_notes(corpus, masked, certificate),
    )


def _examples(corpus: ReadCorpus, masked: MaskedPosts, lift: Any) -> tuple[tuple[ReadPost, str], ...]:
    """Risky posts of every secret, before and after."""
    found = []
    each = max(1, EXAMPLES // lift.shape[1])
    for s in range(lift.shape[1]):
        rows = np.flatnonzero(lift.argmax(axis=1) == s)
        for row in rows[np.argsort(-lift[rows, s], kind="stable")][:each]:
            at = int(corpus.rows[row])
            actual = corpus.posts.secrets[int(corpus.posts.codes[at])]
            found.append((corpus.model.read(corpus.posts.texts[at], actual=actual), masked.texts[at]))
    return tuple(found[:EXAMPLES])


def _notes(corpus: ReadCorpus, masked: MaskedPosts, certificate: TextCertificate) -> tuple[str, ...]:
    notes = []
    best = max(certificate.adversaries, key=lambda a: a.retrained)
    gain, left = best.before - certificate.prior_right, best.retrained - certificate.prior_right
    if best.retrained_interval[0] > certificate.prior_interval[1] and left > 0.02:
        notes.append(
            f"an adversary who learns from masked posts is still {left:.1%} better than guessing ({gain:.1%} before): "
            "a smaller epsilon, --rare mask or a coarser mask hides more"
        )
    if certificate.words_masked > 0.5:
        notes.append("more than half of the words are masked: hardly anything is left to read; try a larger epsilon")
    if masked.words_unknown and certificate.rare == "keep":
        notes.append(
            f"{certificate.words_unknown:.1%} of the words are too rare to be judged and are shown (--rare mask)"
        )
    if certificate.secret not in certificate.kept and order_tells(corpus.posts.codes):
        notes.append(
            "posts next to each other have the same secret far more, or far less, often than by chance: the order "
            "tells it; shuffle the table first"
        )
    copies = len(corpus.posts.texts) - len(corpus.rows)
    if copies:
        notes.append(f"{copies:,} posts are copies of others; they were masked, but not learned from")
    return tuple(notes)


def order_tells(codes: NDArray[np.int64]) -> bool:
    """Whether neighbours agree in the secret more or less often than in 199 random orders, by far."""
    if len(codes) < 3:
        return False
    rng = np.random.default_rng(0)
    drawn = np.array([_agreeing(rng.permutation(codes)) for _ in range(199)], dtype=np.float64)
    return bool(abs(_agreeing(codes) - drawn.mean()) > 5 * max(float(drawn.std()), 0.5))


def _agreeing(codes: NDArray[np.int64]) -> int:
    return int((codes[1:] == codes[:-1]).sum())


def _write_papers(result: TextProtectResult, directory: Path, salt: bytes) -> TextProtectResult:
    """Write what is public beside the data; the certificate last, with the report's fingerprint."""
    if "page" in RENDERERS:
        page = directory / REPORT
        page.write_text(RENDERERS["page"](result), "utf-8")
        output = {**result.certificate.output, "report_sha256": file_sha256(page)}
        result = replace(result, certificate=replace(result.certificate, output=output))
    words = json.dumps(plain(result.certificate), indent=2, ensure_ascii=False, allow_nan=False)
    (directory / "certificate.json").write_text(words + "\n", "utf-8")
    return result


def _write_private(corpus: ReadCorpus, masked: MaskedPosts, seed: int, salt: bytes, directory: Path) -> None:
    private = directory / "private"
    private.mkdir(mode=0o700, exist_ok=True)
    corpus.model.save(private / MODEL)
    order = np.lexsort((np.arange(len(masked.times)), -masked.times))
    vocabulary = corpus.model.vocabulary
    listed = [
        {"term": vocabulary.terms[at], "masked_in_posts": int(masked.times[at]), "posts": int(vocabulary.posts[at])}
        for at in order
        if masked.times[at]
    ]
    told = {"seed": seed, "masked": listed}
    (private / TERMS).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (private / "salt.txt").write_text(salt.hex() + "\n", "utf-8")
    lines = [
        "Only the owner of the posts may see this folder.",
        f"{TERMS} lists which words were masked and how often, and the seed of the adversaries.",
        f"{MODEL} is what was learned from the posts; it reads others too: tacit explain-text --model private/{MODEL}",
        "salt.txt opens the fingerprint of the original in certificate.json. Do not publish them.",
    ]
    (private / "README.txt").write_text("\n".join(lines) + "\n", "utf-8")
