"""What a release of images or posts is worth to its reader: measured, put into words, and measured again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from tacit import document as doc
from tacit.errors import Sentence, sentence
from tacit.learn.arrays import Codes
from tacit.lenses.bench.families import Family
from tacit.lenses.bench.trying import BenchRecords, benched
from tacit.release.checks import Check
from tacit.release.kept import CodedUse, ImageLikeness, TopicWorth
from tacit.release.published import DECIMALS

# Measured again, a number may differ in the last published digit, which was rounded.
_RELATIVE, _ABSOLUTE = 0.01, 0.02


def use_told(column: str, use: Codes, family: Family, records: BenchRecords) -> CodedUse:
    """How well a reader predicts another label: one family of the bench, trained on originals and on the release."""
    run = benched([family], replace(records, secret=use))
    score = run.families[0].score
    before, after, prior = (round(share, DECIMALS) for share in (score.before, score.retrained, run.prior))
    return CodedUse(column, before, after, prior, run.tested_on)


def use_tile(use: CodedUse) -> doc.Tile:
    """How well the use is predicted, next to what the originals allow."""
    beside = sentence("{} from the originals, {} without looking", doc.Share(use.before), doc.Share(use.prior))
    return doc.Tile(f"{use.column} predicted right", doc.Share(use.after), beside)


def kept_section(
    *,
    likeness: ImageLikeness | None = None,
    topics: TopicWorth | None = None,
    words_masked: float | None = None,
) -> Sequence[doc.Section]:
    """What a reader keeps: for each number, a sentence that says what it means."""
    lines: list[str] = []
    if likeness is not None:
        lines.append(likeness_words(likeness))
    if words_masked is not None:
        words = "{kept} of the words are shown as they were written; the others are masked."
        lines.append(sentence(words, kept=doc.Share(1 - words_masked)))
    if topics is not None:
        words = (
            "Two words of a topic have a coherence of {told} (NPMI): 0 if they share a post as often as chance would "
            "have it, 1 if always, −1 if never; the same words dealt to topics at random have {chance}. Of those words "
            "of a post that tell topics apart, {kept} are among the words of its topic."
        )
        coherence, chance = coherence_words(topics)
        lines.append(sentence(words, told=coherence, chance=chance, kept=doc.Share(topics.words_kept)))
    blocks = tuple(doc.Paragraph(line) for line in lines)
    return (doc.Section("What a reader keeps", blocks, kind="estimate"),) if blocks else ()


def coherence_words(topics: TopicWorth) -> tuple[str, str]:
    """The coherence of the topics and that of the same words by chance, as text."""
    coherence, chance = (f"{each:.2f}".replace("-", "−") for each in (topics.coherence, topics.coherence_by_chance))
    return coherence, chance


def likeness_words(likeness: ImageLikeness) -> Sentence:
    """PSNR and SSIM in a sentence that says what they mean."""
    psnr = "infinite" if math.isinf(likeness.psnr) else f"{likeness.psnr:.1f} dB"
    words = (
        "Released images are like their originals with a PSNR of {psnr} and an SSIM of {ssim:.2f} (on {compared:,}). "
        "As a rule of thumb nobody sees a difference above 40 dB, and at 20 dB the likeness is coarse; SSIM is 1 for "
        "the same picture and about 0 for one that has nothing in common with it."
    )
    return sentence(words, psnr=psnr, ssim=likeness.ssim, compared=likeness.compared)


def check_of_worth(name: str, measured: Any, certified: Any) -> Check:
    """Whether numbers measured again equal those of the certificate, except for their last digit."""
    alike = type(measured) is type(certified) and all(
        math.isclose(getattr(measured, each.name), getattr(certified, each.name), rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        for each in fields(measured)
    )
    return Check(name, alike, "measured again" if alike else "measured again, and not as certified")
