"""``protect`` and ``verify`` for posts in codes: each becomes the words of one of a few topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.document import Progress
from tacit.errors import Command, DataError
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.coded.answers import CodedProtectResult, ShownCode
from tacit.lenses.coded.certifying import CodedAbout
from tacit.lenses.coded.checking import CodedAgain, Originals, check_of_bytes, verified_code
from tacit.lenses.coded.coding import asked_bound, coded, one_use
from tacit.lenses.coded.parts import Units, dealt, units_of
from tacit.lenses.coded.projecting import topical
from tacit.lenses.coded.releasing import release_in_codes
from tacit.lenses.coded.saving import KeptCode
from tacit.lenses.text.posts import MISSING, ROWS_AT_ONCE, Bags, Posts, Vocabulary, bags_by, bags_of, read_posts
from tacit.lenses.text.words import URL, terms
from tacit.lenses.text.worth import topic_worth
from tacit.lenses.worth import check_of_worth
from tacit.loading import file_sha256
from tacit.release.certificate import CertifiedInput, CertifiedOutput, CodedCertificate
from tacit.release.checks import Check, CheckedRelease
from tacit.release.directory import ReleaseDraft, refuse_target
from tacit.release.kept import TopicWorth
from tacit.release.keys import seed_or_secure
from tacit.requests import Bound, Coding, Making, Question
from tacit.tables.drawing import new_key
from tacit.tables.sources import open_table
from tacit.tables.writing import suffix_for, write_table

_DIRECTIONS = 100
# A word in more posts than this tells no topic; nor does one in hardly any.
_MOST, _FEWEST = 0.2, 20
# Words that a topic is written with.
_WORDS = 8
# A topic that stands for several is written with the words of this many, each with more than this share of its people.
_TOGETHER, _PART = 3, 0.1
# Words in fewer posts than this are not small words, however little they tell; and only this many are examined.
_COMMON, _LOOKED_AT = 0.003, 2_000
# Other words stand next to small words as often as anywhere: by how much that may differ.
_ANYWHERE = 4.5
# With fewer posts, small words cannot be told from others.
_LEAST_TO_KNOW = 2_000
TOPIC = "topic"
NO_WORD = "(no word of its own)"
# Stands between the words of several topics that are released as one.
BETWEEN = "/"


@dataclass(frozen=True, eq=False)
class TopicWords:
    """The words that topics are made of, and how much each weighs."""

    vocabulary: Vocabulary
    weights: Floats

    def bags(self, texts: Sequence[str]) -> Any:
        """Posts as weighed bags of these words, each of length 1: a long post weighs no more than a short one."""
        from sklearn.preprocessing import normalize

        return normalize(bags_by(texts, self.vocabulary).multiply(self.weights[None, :]).tocsr())


@dataclass(frozen=True, eq=False)
class OwnCodes:
    """The code of every unit before the draw, how many codes there are, and the channel that draws."""

    own: Codes
    codes: int
    channel: Floats | None


def protect_coded_posts(
    question: Question, bound: Bound, making: Making, coding: Coding, *, out: Path, progress: Progress
) -> CodedProtectResult:
    """Write the words of a topic for every post, or every author; the requests say what each setting means.

    Guarantees
    ----------
    The directory appears whole or not at all. No released text is an original's: each is a few words that at least
    ``least`` of the first part used. The claim is proved on posts that the code was not made from; see
    :class:`CodedCertificate`.
    """
    seed = seed_or_secure(making.random_state)
    progress("reading posts", None)
    posts = read_posts(question.source, text=question.text or "", secret=question.one_secret(), engine=question.engine)
    about = CodedAbout("posts", posts.secret, posts.text, coding.group, one_use(question))
    refuse_target(out, original=posts.table.path, overwrite=making.overwrite)
    limits, key, units = asked_bound(bound, coding), new_key(making.random_state), post_units(posts, about)
    parts = dealt(units, _contents(posts), key)
    design = parts.design
    words = _topic_words(posts.texts, design[units.of_record], bound.least)
    bags = words.bags(posts.texts)
    projection = topical(bags[np.flatnonzero(design[units.of_record])], most=_DIRECTIONS, random_state=seed)
    records = coded(units, parts, projection, bags, limits, key=key, random_state=seed, progress=progress)
    plan = records.proved.plan
    own = OwnCodes(plan.book.codes(records.vectors), len(plan.book), plan.channel)
    topics = _written(bags, words.vocabulary.terms, units, design, own, bound.least)

    def write(draft: ReleaseDraft, codes: Codes) -> tuple[CertifiedInput, CertifiedOutput]:
        file, table = "data" + suffix_for(posts.table), posts.table
        _write(posts, codes, [topics[at] for at in codes.tolist()], draft.place / file)
        source = CertifiedInput(Path(table.name).name, table.format, len(posts.texts), draft.salted(table.sha256()))
        return source, CertifiedOutput(file, len(units), file_sha256(draft.place / file))

    terms = np.frombuffer("\n".join(words.vocabulary.terms).encode(), dtype=np.uint8)
    return release_in_codes(
        records,
        about,
        limits,
        making,
        out=out,
        key=key,
        write=write,
        show=lambda code, people: ShownCode(code, people, topics[code]),
        progress=progress,
        worth={"topics": _worth(bags, words.vocabulary, topics, records.released, units, design)},
        kept={"terms": terms, "posts": words.vocabulary.posts, "weights": words.weights},
    )


def _contents(posts: Posts) -> list[bytes]:
    """What each post says, without its addresses: two that differ only in case, signs or a link are copies."""
    return [" ".join(term for term in terms(text) if term != URL).encode() for text in posts.texts]


def post_units(posts: Posts, about: CodedAbout) -> Units:
    named = [name for name in (about.group, about.use) if name is not None]
    posts.table.require(named)
    values: dict[str, list[str]] = {name: [] for name in named}
    for batch in posts.table.batches(named, ROWS_AT_ONCE) if named else ():
        for name in named:
            values[name] += [MISSING if each is None else str(each) for each in batch.column(name).to_pylist()]
    use = None if about.use is None else np.unique(np.array(values[about.use]), return_inverse=True)[1]
    group = None if about.group is None else values[about.group]
    return units_of(posts.codes, posts.secrets, group=group, named=about.group, use=use)


def _topic_words(texts: Sequence[str], design: Flags, least: int) -> TopicWords:
    """The words of the first part that tell topics, weighed by how rare they are."""
    part = [texts[at] for at in np.flatnonzero(design).tolist()]
    fewest = max(least, min(_FEWEST, len(part) // 100))
    bags = bags_of(part, min_count=fewest)
    whole, small = bags.vocabulary, small_words(bags)
    topical_ones = [
        at
        for at, term in enumerate(whole.terms)
        if whole.posts[at] <= _MOST * len(part) and _is_word(term) and at not in small
    ]
    if len(topical_ones) < 2:
        words = (
            f"fewer than two words are used by {fewest:,} or more of the {len(part):,} posts that make the code and "
            f"by no more than {_MOST:.0%} of them: there are no topics to tell"
        )
        raise DataError(words)
    vocabulary = Vocabulary(tuple(whole.terms[at] for at in topical_ones), whole.posts[topical_ones])
    return TopicWords(vocabulary, np.log((1 + len(part)) / (1 + vocabulary.posts)) + 1.0)


def _is_word(term: str) -> bool:
    """Whether a term can tell a topic: no mention, number or address, and not a single letter of an alphabet."""
    sign = term[0]
    return sign not in "@<" and any(each.isalpha() for each in term) and (len(term) > 1 or sign > "\u02ff")


def small_words(bags: Bags) -> set[int]:
    """The small words of any language (the, und, pour): many posts have them, next to any other words.

    For each common word: how much more or less often other common words stand in its posts than in all, in mean
    square, less what chance gives. If that is next to nothing, the word tells no topic; the more posts have it, the
    more it may differ.
    """
    n = bags.presence.shape[0]
    posts = bags.vocabulary.posts
    common = np.argsort(-posts, kind="stable")[:_LOOKED_AT]
    common = common[posts[common] >= max(_COMMON * n, 1)]
    if len(common) < 2 or n < _LEAST_TO_KNOW:
        return set()
    own = bags.presence[:, common]
    together, share = np.asarray((own.T @ own).todense()), posts[common] / n
    expected = n * np.outer(share, share)
    apart = (together / expected - 1) ** 2 - 1 / expected
    np.fill_diagonal(apart, 0.0)
    differs = (apart @ share) / (share.sum() - share) / np.sqrt(share)
    return set(common[differs < _ANYWHERE].tolist())


def _written(
    bags: Any, terms: Sequence[str], units: Units, design: Flags, coding: OwnCodes, least: int
) -> tuple[str, ...]:
    """What is written for each topic: the words of the first part that set it apart, each used by enough people."""
    from scipy import sparse

    of_unit = sparse.csr_array(_each_once(units.of_record, len(units)) @ bags)[np.flatnonzero(design)]
    sizes = np.bincount(units.of_record, minlength=len(units))[design]
    own = coding.own[design]
    # The mean bag of each unit, added up by code.
    summed = np.asarray((_each_once(own, coding.codes) / sizes[None, :] @ of_unit).todense())
    count = np.bincount(own, minlength=coding.codes).astype(np.float64)
    means, anywhere = summed / np.where(count > 0, count, 1.0)[:, None], summed.sum(axis=0) / count.sum()
    used = np.asarray((of_unit > 0).sum(axis=0)).ravel()
    # How much of a word a topic has, times the log of how many times as much as others: a common word sets none apart.
    more = np.log(np.maximum(means, 1e-300) / np.maximum(anywhere, 1e-300))
    above = np.where((used >= least) & (means > anywhere), means * more, -np.inf)
    top = np.argsort(-above, axis=1, kind="stable")[:, :_WORDS]
    words_of_code = [[terms[at] for at in row.tolist() if above[code, at] > 0] for code, row in enumerate(top)]
    flow = count[:, None] * (np.eye(coding.codes) if coding.channel is None else coding.channel)
    return tuple(_phrase(flow[:, code], words_of_code) for code in range(coding.codes))


def _phrase(people: Floats, words_of_code: Sequence[Sequence[str]]) -> str:
    """The words of a released topic: those of the topics that it stands for, the one with most people first."""
    most = np.argsort(-people, kind="stable")[:_TOGETHER]
    kept = [code for code in most.tolist() if people[code] > _PART * people.sum()]
    words = [" ".join(words_of_code[code][: max(_WORDS // len(kept), 3)]) for code in kept]
    return f" {BETWEEN} ".join(each for each in words if each) or NO_WORD


def _worth(
    bags: Any, vocabulary: Vocabulary, topics: Sequence[str], released: Codes, units: Units, design: Flags
) -> TopicWorth:
    """What the released topics are worth to a reader."""
    used = set(released.tolist())
    # A topic that stands for several may name a word of each of them.
    places = [
        [vocabulary.places[word] for word in dict.fromkeys(topic.split(" ")) if word != BETWEEN]
        if at in used and topic != NO_WORD
        else []
        for at, topic in enumerate(topics)
    ]
    return topic_worth(bags, places, released[units.of_record], design[units.of_record])


def _each_once(groups: Codes, count: int) -> Any:
    """A sparse matrix of ones that adds up the rows of each group."""
    from scipy import sparse

    return sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(count, len(groups)))


def _names(posts: Posts) -> tuple[str, str]:
    """The columns of a release: the number of a topic, and its words."""
    return (TOPIC if posts.text != TOPIC else f"{TOPIC} number"), posts.text


def _write(posts: Posts, codes: Codes, words: Sequence[str], file: Path) -> None:
    import pyarrow as pa

    columns = pa.array(codes, pa.int64()), pa.array(words, pa.string())
    write_table(open_table(pa.table(columns, names=_names(posts))), file, like=posts.table)


def verify_coded_posts(
    directory: Path,
    certificate: CodedCertificate,
    *,
    against: Any,
    engine: str,
    progress: Progress,
) -> CheckedRelease:
    """Check posts in codes: given the originals and the owner's folder, every code is made again."""

    def read(kept: KeptCode) -> Originals:
        posts = read_posts(against, text=certificate.column or "", secret=certificate.secret, engine=engine)
        units = post_units(posts, CodedAbout("posts", certificate.secret, certificate.column, certificate.group))
        terms = tuple(bytes(kept.arrays["terms"]).decode().split("\n"))
        vocabulary = Vocabulary(terms, kept.arrays["posts"])
        bags = TopicWords(vocabulary, kept.arrays["weights"]).bags(posts.texts)
        data = open_table(directory / certificate.output.file)
        batches = list(data.batches(data.names, ROWS_AT_ONCE))
        codes: Codes = np.array([at for batch in batches for at in batch.column(0).to_pylist()], dtype=np.int64)
        written = [text for batch in batches for text in batch.column(1).to_pylist()]

        def shown(again: CodedAgain) -> Iterator[Check]:
            own = OwnCodes(again.own, len(kept.book), kept.channel)
            topics = _written(bags, terms, units, kept.parts.design, own, certificate.least)
            alike = written == [topics[at] for at in codes.tolist()]
            yield Check("what topics are written as", alike, "as made again" if alike else "other words")
            worth = _worth(bags, vocabulary, topics, again.released, units, kept.parts.design)
            yield check_of_worth("coherence and words kept", worth, certificate.topics)

        digest = None if posts.table.path is None else posts.table.sha256()
        more = None if tuple(data.names) == _names(posts) else f"columns {', '.join(data.names)}"
        file = certificate.output.file
        plain = check_of_bytes(directory, lambda place: _write(posts, codes, written, place / file), more=more)
        return Originals(digest, units, _contents(posts), units.means(kept.projection(bags)), codes, plain, shown)

    command = Command("verify", "RELEASE", against="POSTS")
    return verified_code(directory, certificate, command, None if against is None else read, progress=progress)
