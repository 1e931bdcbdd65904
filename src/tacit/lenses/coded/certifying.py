"""The certificate of a coded release, from the records in codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit import __version__
from tacit.document import Share
from tacit.errors import Sentence, sentence
from tacit.lenses.coded.coding import CodedRecords, adversary_scores, use_score
from tacit.lenses.coded.parts import share_drawn
from tacit.lenses.coded.planning import CodedBound
from tacit.release.certificate import AdversaryScore, CertifiedInput, CertifiedOutput, CodedCertificate, best_guesses
from tacit.release.claims import randomness_of, share_up, worded
from tacit.release.published import DECIMALS, coarse_limits


@dataclass(frozen=True)
class CodedAbout:
    """What a coded release is about: its medium, and the names of the columns involved."""

    medium: Literal["images", "posts", "vectors"]
    secret: str
    column: str | None = None
    group: str | None = None
    use: str | None = None


def coded_certificate(
    records: CodedRecords,
    about: CodedAbout,
    bound: CodedBound,
    *,
    input: CertifiedInput,
    output: CertifiedOutput,
    repeatable: bool,
) -> CodedCertificate:
    """What is claimed about records in codes."""
    proved = records.proved.evidence
    own = records.proved.plan.book.codes(records.vectors)
    return worded(
        CodedCertificate(
            claim="",
            assumptions=(),
            epsilon=proved.epsilon if bound.epsilon is None else bound.epsilon,
            epsilon_asked=bound.epsilon is not None,
            medium=about.medium,
            secret=about.secret,
            column=about.column,
            group=about.group,
            units=len(records.units),
            codes=proved.codes,
            least=bound.least,
            smallest=proved.smallest,
            mixed=share_drawn(own, records.proved.plan.channel),
            confidence=1 - bound.beta,
            ceiling=proved.ceiling if bound.ceiling is None else bound.ceiling,
            ceiling_asked=bound.ceiling is not None,
            attained_epsilon=proved.epsilon,
            guessed=proved.guessed,
            prior=proved.prior,
            designed_on=int(records.parts.design.sum()),
            proved_on=proved.proved_on,
            tried=records.proved.tried,
            told=share_told(records),
            order="shuffled",
            use=None if about.use is None else use_score(records, about.use),
            adversaries=tuple(_published(each) for each in adversary_scores(records)),
            input=input,
            output=output,
            randomness=randomness_of(drawn=True, repeatable=repeatable),
            tacit_version=__version__,
        )
    )


def _published(score: AdversaryScore) -> AdversaryScore:
    """Rounded to the digits that may be published."""
    parts: list[Any] = []
    for right, limits in score.guesses:
        parts += [round(right, DECIMALS), coarse_limits(*limits)]
    return AdversaryScore(score.name, *parts)


def share_told(records: CodedRecords) -> float:
    """The share of the variance of held-out units' vectors that their codes' means tell; below 0 counts as none."""
    apart = records.parts.apart
    middle = records.vectors[records.parts.design].mean(axis=0)
    left = ((records.vectors[apart] - records.shown(records.vectors)[records.released[apart]]) ** 2).sum()
    return float(1 - left / max(float(((records.vectors[apart] - middle) ** 2).sum()), np.finfo(np.float64).tiny))


def headline(certificate: CodedCertificate) -> Sentence:
    """The release in a sentence or two."""
    c = certificate
    before, _ = best_guesses(c.adversaries)
    words = (
        "Nobody who sees one released {unit}, however trained, guesses '{secret}' right more than {ceiling} of the "
        "time ({sure} confidence); always guessing the commonest is right {prior} of the time, and a simple reader of "
        "the originals {before}."
    )
    text = sentence(
        words,
        unit=c.medium.removesuffix("s"),
        secret=c.secret,
        ceiling=share_up(c.ceiling),
        sure=Share(c.confidence),
        prior=Share(c.prior),
        before=Share(before),
    )
    if c.use is None:
        return text
    kept = " A reader tells '{use}' right {after} of the time from the release, {raw} from the originals."
    return Sentence(text + sentence(kept, use=c.use.column, after=Share(c.use.after), raw=Share(c.use.before)))
