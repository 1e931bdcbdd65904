"""The answer of ``attack``: would an adversary still win?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tacit import document as doc
from tacit.errors import Command, Setting, sentence
from tacit.lenses.bench.answers import attack_document, families_section, guess_tiles, guesses_section
from tacit.lenses.bench.trying import TriedFamily
from tacit.lenses.bench.weighing import WeighedAdversary, best_auc_after
from tacit.lenses.table.answers.linkage import found_words, linkage_sections
from tacit.lenses.table.linkage.results import LinkageFinding
from tacit.release.certificate import AdversaryScore
from tacit.report.result import Result

AttackVerdict = Literal[
    "not detectably better than the prior",
    "within the promise",
    "better than the prior",
    "promise broken",
    "people are found",
    "nothing to be found, even in the original",
]
NOTHING_TO_FIND: AttackVerdict = "nothing to be found, even in the original"
# A result that chance reaches more often than this counts as nothing found.
CHANCE = 0.05
# The verdicts by which a release fails.
LOST: tuple[AttackVerdict, ...] = ("promise broken", "people are found")

_FAILED = (
    "No adversary here gives a reason not to publish it. But a failed attack proves nothing; the certificate does."
)
_NEXT: Mapping[AttackVerdict, str] = {
    "not detectably better than the prior": _FAILED,
    "within the promise": _FAILED,
    "better than the prior": "No promise was put to the test.",
    "promise broken": "Do not publish it.",
    "people are found": "Do not publish it.",
    NOTHING_TO_FIND: "It was not put to the test: where the original reveals nothing, no release can reveal less.",
}


def somebody_who_knows(known: Sequence[str]) -> str:
    """The adversary of a claim for somebody who knows some columns."""
    return (
        f"somebody who knows {doc.listed(known, limit=6)} as the release writes {'it' if len(known) == 1 else 'them'}"
    )


@dataclass(frozen=True)
class AttackResult(Result):
    """Would an adversary still win?

    ``guessing_bound`` is what the certificate promises for every record against somebody who knows ``known`` about the
    person as the release writes it; None if that could not be computed: then the verdict does not mention a promise.
    ``optimal_after`` is exact: the verdict never says that less is possible.
    ``linkage`` is what somebody finds who knows some true values of a person and has the whole file, which no bound on
    single rows covers. ``weighed`` says how well secrets are ranked and weighed, which may reveal much about a secret
    whose commonest value is guessed anyway; ``chance_before`` and ``chance_after`` are how often, at most, chance alone
    would do as well as the best adversary, by any of these figures.
    """

    release: str
    against: str
    trained_on: int
    tested_on: int
    prior_guess: float
    best_before: float
    best_after: float
    gain_before: float
    gain_after: float
    guessing_bound: float | None
    optimal_before: float
    optimal_after: float
    adversaries: tuple[AdversaryScore, ...]
    verdict: AttackVerdict
    headline: str
    notes: Sequence[str] = ()
    linkage: tuple[LinkageFinding, ...] = ()
    weighed: tuple[WeighedAdversary, ...] = ()
    chance_before: float = 1.0
    chance_after: float = 1.0
    known: tuple[str, ...] = ()
    families: tuple[TriedFamily, ...] = ()

    @property
    def lost(self) -> bool:
        """Whether the release fails."""
        return self.verdict in LOST

    def document(self) -> doc.Document:
        """What was promised, how often it was reached and who is found; folded, how each adversary did."""
        return attack_document(self, self._tiles(), (*self._people(), self._next()), self._folded())

    def _people(self) -> tuple[doc.Section, ...]:
        """Who is found by somebody who knows some columns, in a sentence each."""
        # Somebody who knows every column has nothing left to read.
        items = [found_words(each) for each in self.linkage if each.columns]
        return (doc.Section("Who is found", (doc.Bullets(items),)),) if items else ()

    def _next(self) -> doc.Section:
        """What the verdict leads to."""
        # A frame has no name that could be typed in a command.
        against = "TABLE" if self.against.startswith("the ") else self.against
        verify = Command("verify", doc.FilePath(self.release), against=against)
        items = [sentence("{} {}", _NEXT[self.verdict], sentence("Check the claim: {}", verify))]
        if self.lost:
            words = "Then make another, with a smaller {}, a larger {} or fewer columns ({})."
            items.append(sentence(words, *map(Setting, ("epsilon", "least", "drop"))))
        return doc.Section("What to do next", (doc.Bullets(items),))

    def _folded(self) -> Iterator[doc.Section]:
        yield self._guesses()
        if self.families:
            yield families_section(self.families)
        yield from self._weighing()
        yield from linkage_sections(self.linkage)
        yield from doc.notes_section(self.notes)

    def _tiles(self) -> doc.Tiles:
        possible = sentence(
            "from a row of the release, for anyone who knows every share of the table; {} from the original",
            doc.Share(self.optimal_before),
        )
        worst = max((each.worst for each in self.families), default=None)
        return doc.Tiles(
            (
                *guess_tiles(self.prior_guess, self.best_before, self.best_after, worst),
                ("Best possible", doc.Share(self.optimal_after), possible),
                *self._promise(),
                *self._ranked(),
            )
        )

    def _promise(self) -> tuple[tuple[str, doc.Share, str], ...]:
        """The bound, and for whom it holds: anyone who knows more about a person may guess better."""
        if self.guessing_bound is None:
            return ()
        who = "somebody who sees one row and knows nothing else about the person"
        if self.known:
            who = somebody_who_knows(self.known)
        words = f"{who} can be right no more often"
        if self.guessing_bound >= 1:
            words = "nothing is promised about guesses: the epsilon allows them all"
        return (("Promise", doc.Share(self.guessing_bound), words),)

    def _ranked(self) -> tuple[doc.Tile, ...]:
        """How well secrets are ranked; the page shows it first if it tells the release from chance."""
        if not self.weighed:
            return ()
        before, after = max(each.before.auc for each in self.weighed), best_auc_after(self.weighed)
        words = "of pairs ranked right; 50% is chance"
        beside = [
            words if share <= CHANCE else f"chance alone does as well up to {share:.0%} of the time"
            for share in (self.chance_before, self.chance_after)
        ]
        where: Literal["terminal"] | None = None if self.chance_after <= CHANCE else "terminal"
        names = ("Ranks before (AUC)", "Ranks after (AUC)")
        shares = map(doc.Share, (before, after))
        return tuple(doc.Tile(*each, where) for each in zip(names, shares, beside, strict=True))

    def _weighing(self) -> tuple[doc.Section, ...]:
        """A table of how well each adversary ranks and weighs."""
        if not self.weighed:
            return ()
        figures = [f">{figure}\n{view}" for figure in ("AUC", "Held") for view in ("before", "after")]
        rows = []
        for each in self.weighed:
            after = max((each.after, each.retrained), key=lambda view: view.auc)
            ranks = [
                doc.Cell(doc.Share(w.auc), small=doc.Interval.shares(*w.auc_interval)) for w in (each.before, after)
            ]
            gains = [
                doc.Number(math.exp(w.gain))
                for w in (each.before, max((each.after, each.retrained), key=lambda v: v.gain))
            ]
            rows.append((doc.DataValue(each.name, 40), *ranks, *gains))
        words = sentence(
            "AUC: given two people, one of whom has a secret, how often that one is ranked likelier to have it; 50% is "
            "chance. Held: the probability given to the true secret, as a multiple of its share, on average; below 1 "
            "is worse than the share. After is the better of plain and retrained. Chance alone does as well as the "
            "best of them at most {} of the time before, and {} after.",
            doc.Share(self.chance_before),
            doc.Share(self.chance_after),
        )
        title = "How well are secrets ranked and weighed? Higher is riskier."
        return (doc.Section(title, (doc.Paragraph(words), doc.TableBlock(("Adversary", *figures), rows))),)

    def _guesses(self) -> doc.Section:
        prior, promise = self.prior_guess, self.guessing_bound
        return guesses_section(self.adversaries, self.tested_on, "record", prior=prior, promise=promise)
