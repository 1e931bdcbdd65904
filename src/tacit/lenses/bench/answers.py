"""The answer of ``attack``: which family reads the release and, for images and posts, what was left unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from tacit import document as doc
from tacit.errors import Command, Sentence, Setting, sentence
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.bench.trying import FOLDS, BenchRun, TriedFamily
from tacit.lenses.glossary import DEFINITIONS
from tacit.release.certificate import AdversaryScore, best_guesses
from tacit.release.claims import share_up
from tacit.report.result import Result

BenchVerdict = Literal[
    "promise broken",
    "parts are untouched",
    "still better than the prior",
    "within the promise",
    "not detectably better than the prior",
    "nothing to be found, even in the original",
]
UNTOUCHED: BenchVerdict = "parts are untouched"
LOST: tuple[BenchVerdict, ...] = ("promise broken", UNTOUCHED, "still better than the prior")
_NOTES = (
    "A failed attack proves nothing: others may see what these do not.",
    "'before' sees the originals; 'after' learned from originals and sees the release; 'retrained' learned from "
    "released ones and their secrets.",
)


class Attacked(Protocol):
    """What every answer of ``attack`` says about itself."""

    @property
    def release(self) -> str: ...
    @property
    def against(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def headline(self) -> str: ...


def attack_document(
    result: Attacked, tiles: doc.Tiles, shown: Iterable[doc.Section], folded: Iterable[doc.Section]
) -> doc.Document:
    """An answer of ``attack``, laid out: the tiles, what is shown, what is folded."""
    return doc.Document(
        kind="attack",
        name=sentence("Tacit attack on {}", doc.FilePath(result.release)),
        badge=doc.badge(result.verdict),
        headline=result.headline,
        opening=(tiles,),
        sections=(*shown, *(replace(section, folded=True) for section in folded)),
        reading=DEFINITIONS,
        footer=(sentence("{} against {}", doc.FilePath(result.release), doc.FilePath(result.against)),),
    )


def untouched_words(untouched: int, records: int, unit: str, *, parts: Sequence[tuple[int, int]] = ()) -> Sentence:
    """How many records are released unchanged; ``parts`` are the same counts in each third that was treated."""
    words = sentence("{} of {} {unit} are released unchanged", doc.Count(untouched), doc.Count(records), unit=unit)
    thirds = ", ".join(f"{left:,} of {of:,}" for left, of in parts)
    return words + (f" (by third: {thirds})." if parts else ".")


@dataclass(frozen=True)
class BenchResult(Result):
    """Which family of adversaries reads a release of images or posts.

    ``untouched`` of the ``records`` are released unchanged; ``untouched_parts`` counts them in each third that was
    treated separately, where that is known. ``run`` is what the families guess. ``ceiling`` is what a coded
    release claims about every adversary.

    Guarantees
    ----------
    None about the release: an adversary that fails proves nothing. The verdict is bad if a record is untouched, or if a
    family surely guesses more than the claimed ceiling or, where none is claimed, than the commonest secret's share.
    """

    release: str
    against: str
    medium: Literal["images", "posts", "vectors"]
    secret: str
    records: int
    ceiling: float | None
    untouched: int
    untouched_parts: tuple[tuple[int, int], ...]
    run: BenchRun
    without: tuple[str, ...]
    group: str | None
    notes: tuple[str, ...] = ()
    verdict: BenchVerdict = field(init=False)
    headline: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", _verdict(self))
        object.__setattr__(self, "headline", _headline(self))

    @property
    def line(self) -> float:
        """The share of right guesses that no family may surely exceed."""
        return self.run.prior if self.ceiling is None else self.ceiling

    @property
    def readers(self) -> tuple[TriedFamily, ...]:
        """The families that surely guess more than they may, the best first."""
        over = [each for each in self.run.families if each.surely > self.line]
        return tuple(sorted(over, key=lambda each: -each.surely))

    @property
    def lost(self) -> bool:
        """Whether the release fails."""
        return self.verdict in LOST

    def document(self) -> doc.Document:
        """What was left, the best family, what to do next; folded, every family and its limits."""
        folded = (self._guesses(), self._families(), *self._notes_of_trial())
        return attack_document(self, self._tiles(), (self._next(),), folded)

    def _tiles(self) -> doc.Tiles:
        before, after = best_guesses([each.score for each in self.run.families])
        worst = max(each.worst for each in self.run.families)
        tiles = [
            *guess_tiles(self.run.prior, before, after, worst),
            ("Released unchanged", doc.Count(self.untouched), f"of {self.records:,} {self.medium}"),
        ]
        if self.ceiling is not None:
            tiles.append(("Promise", share_up(self.ceiling), "nobody is right more often, by the certificate"))
        return doc.Tiles(tuple(tiles))

    def _next(self) -> doc.Section:
        verify = sentence("Check the claim: {}", Command("verify", doc.FilePath(self.release), against="ORIGINAL"))
        if self.lost:
            words = "Do not publish it. {setting} makes a release with a ceiling for every adversary."
            items = [sentence(words, setting=Setting("mechanism", "code"))] if self.ceiling is None else []
            items = items or [Sentence("Do not publish it.")]
        else:
            items = [Sentence("No family here gives a reason not to publish it; but a failed attack proves nothing.")]
        return doc.Section("What to do next", (doc.Bullets((*items, verify)),))

    def _guesses(self) -> doc.Section:
        scores = [each.score for each in self.run.families]
        prior, of = self.run.prior, self.run.tested_on
        return guesses_section(scores, of, self.medium[:-1], prior=prior, promise=self.ceiling)

    def _families(self) -> doc.Section:
        return families_section(self.run.families)

    def _notes_of_trial(self) -> tuple[doc.Section, ...]:
        return tuple(doc.notes_section([*told_apart(self.without, self.group, self.medium), *self.notes, *_NOTES]))


def guess_tiles(
    prior: float, before: float, after: float, worst: float | None
) -> list[tuple[doc.Text, doc.Text, doc.Text]]:
    """How often the secret is guessed right: without looking, before, after, and in the worst third."""
    tiles: list[tuple[doc.Text, doc.Text, doc.Text]] = [
        ("Guessing the prior", doc.Share(prior), "right: the commonest secret, without looking"),
        ("Best family before", doc.Share(before), "right, from the originals"),
        ("Best family after", doc.Share(after), "right, from the release; lower is safer"),
    ]
    if worst is not None:
        tiles.append(("Worst third", doc.Share(worst), "right, by the family that does best there"))
    return tiles


def guesses_section(
    scores: Sequence[AdversaryScore], tested_on: int, unit: str, *, prior: float, promise: float | None
) -> doc.Section:
    """What every family guesses right, next to the prior and the promise."""
    marks = [("prior", prior), *([] if promise is None else [("promise", promise)])]
    about = sentence(
        "Each learned from two thirds of {} and guessed the other, {} times over. Limits are exact, 95%, as if "
        "records were independent. Retrained: it learned from the release and the secrets, the strongest case.",
        doc.Count(tested_on, unit),
        FOLDS,
    )
    blocks = (doc.Paragraph(about), guesses_right(scores, marks=marks))
    return doc.Section("How often is the secret guessed right? Higher is riskier.", blocks)


def families_section(families: Sequence[TriedFamily]) -> doc.Section:
    """What each family reads, and in which third it reads best."""
    rows = [
        (
            doc.Cell(each.score.name, style="bold"),
            doc.Cell(doc.Share(each.worst), small=doc.Interval.shares(*each.worst_interval)),
            doc.Share(each.surely),
            each.limits,
        )
        for each in families
    ]
    words = (
        "Worst third: the third of the release that the family reads best. Surely: what is left when limits are "
        "widened for everything tried; the verdict rests on it."
    )
    table = doc.TableBlock(("Family", ">Worst third", ">Surely", "What it reads"), rows)
    return doc.Section("The families, and what each cannot see", (doc.Paragraph(words), table))


def told_apart(without: Sequence[str], group: str | None, unit: str) -> list[str]:
    """Which families were switched off, and whose records were kept together."""
    notes = [] if group is None else [f"all {unit} of one {group} are on one side of every split"]
    return [*notes, *([f"switched off: {', '.join(without)}"] if without else [])]


def _verdict(result: BenchResult) -> BenchVerdict:
    """The worst verdict that the numbers call for."""
    if result.ceiling is not None and result.readers:
        return "promise broken"
    if result.untouched:
        return UNTOUCHED
    if result.ceiling is not None:
        return "within the promise"
    if result.readers:
        return "still better than the prior"
    tested = any(each.score.before_interval[0] > result.run.prior for each in result.run.families)
    return "not detectably better than the prior" if tested else "nothing to be found, even in the original"


def _headline(result: BenchResult) -> str:
    """The untouched records, the best family, and what it may not exceed."""
    best = max(result.run.families, key=lambda each: max(each.score.after, each.score.retrained))
    before, after = best_guesses([each.score for each in result.run.families])
    words = sentence(
        "The best family ({name}) guesses '{secret}' right {after} of the time from the release, {worst} in its best "
        "third; {before} from the originals, {prior} without looking",
        name=best.score.name,
        secret=result.secret,
        after=doc.Share(after),
        worst=doc.Share(best.worst),
        before=doc.Share(before),
        prior=doc.Share(result.run.prior),
    )
    if result.ceiling is not None:
        words += f"; the release claims at most {share_up(result.ceiling)}"
    left = untouched_words(result.untouched, result.records, result.medium, parts=result.untouched_parts)
    return (left + " " + words if result.untouched else words) + "."
