"""``attack``: train adversaries on the original and let them guess the secret from the release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.document import Progress, silent
from tacit.errors import DataError
from tacit.learn import binomial_limits
from tacit.learn.arrays import Floats
from tacit.lenses.bench.answers import told_apart
from tacit.lenses.bench.families import switched_on
from tacit.lenses.bench.trying import BenchRecords, benched_beliefs
from tacit.lenses.bench.weighing import chance_by_fold, weighed
from tacit.lenses.table.answers.attack import CHANCE, NOTHING_TO_FIND, AttackResult, AttackVerdict, somebody_who_knows
from tacit.lenses.table.answers.linkage import found_words
from tacit.lenses.table.certifying import given_joint
from tacit.lenses.table.families import LINKAGE, table_families, table_records
from tacit.lenses.table.linkage.adversary import linked
from tacit.lenses.table.linkage.levels import fittings_of
from tacit.lenses.table.linkage.results import LinkageFinding
from tacit.lenses.table.middle import in_two
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.tabulating import Counted
from tacit.lenses.table.verify import TableRelease, compare, open_release, output_joints, question_of
from tacit.lift import SLACK, Vector, guessing_bound, guessing_probability
from tacit.release.bounds import inside_parts
from tacit.release.certificate import CountedCertificate, best_guesses
from tacit.release.levels import LEVELS
from tacit.requests import AttackRequest

_NOTES = (
    "An adversary that fails proves nothing; the certificate does.",
    "'before' sees the original columns; 'retrained' learned from released records and their secrets.",
)
_NUMBERS = ("For a number, the guess is which side of its middle it is on.",)


def attack_table(request: AttackRequest, *, progress: Progress = silent) -> AttackResult:
    """Measure how well trained adversaries guess the secret before and after; ``tacit.attack`` says how.

    Guarantees
    ----------
    None: an adversary that fails proves nothing. ``optimal_after`` is the best that any adversary who sees one row and
    knows nothing else can do on this table; where it exceeds what the trained ones reach, the verdict goes by it.
    """
    families = switched_on(table_families(request.random_state), tuple(request.without or ()), besides=(LINKAGE,))
    release = in_two(open_release(request.release), request.against, engine=request.engine)
    certificate = release.certificate
    question = question_of(release, request.against, engine=request.engine)
    original = question.original
    if original.row_count() != release.data.row_count():
        raise DataError(
            f"{original.name} has {original.row_count():,} records, the release {release.data.row_count():,}: it is "
            "not the original of this release"
        )
    progress("comparing row by row", None)
    rows = compare(release, question)
    progress("training adversaries", None)
    seed = request.random_state
    records = table_records(release, question, request.records, group=request.group, random_state=seed)
    readers = [each for each in families if each is not LINKAGE]
    run, beliefs = benched_beliefs(readers, records, progress=progress)
    scores = [each.score for each in run.families]
    progress("looking for people", None)
    findings = _linked(release, question, request) if LINKAGE in families else ()
    joint = rows.original.joint
    prior, (before, after) = float(joint.prior.max()), best_guesses(scores)
    bound, best = _promised(certificate, rows.original), guessing_probability(output_joints(release, rows)[0])
    chance = _Chance.of(beliefs, records, seed)
    exact = release.code is not None if certificate.in_cells else release.rules is not None
    reached = _Reached(prior, after, max(each.surely for each in run.families), best, exact=exact)
    return AttackResult(
        release=str(request.release),
        against=original.name,
        trained_on=run.trained_on,
        tested_on=run.tested_on,
        prior_guess=prior,
        best_before=before,
        best_after=after,
        gain_before=before - prior,
        gain_after=after - prior,
        guessing_bound=bound,
        optimal_before=_possible_before(certificate, rows.original),
        optimal_after=best,
        adversaries=tuple(scores),
        families=run.families,
        verdict=_verdict(reached, chance, bound=bound, findings=findings),
        headline=_headline(reached, before, chance, findings),
        weighed=tuple(weighed(name, views, records.secret) for name, views in beliefs.items()),
        chance_before=chance.before,
        chance_after=chance.after,
        notes=_notes(request, certificate, bound),
        known=certificate.known,
        linkage=findings,
    )


def _linked(release: TableRelease, question: TableQuestion, request: AttackRequest) -> tuple[LinkageFinding, ...]:
    fittings = None if release.code is None else fittings_of(release.code)
    return linked(question, release.data, tuple(request.known or ()), fittings=fittings)


def _notes(request: AttackRequest, certificate: CountedCertificate, bound: float | None) -> tuple[str, ...]:
    apart = told_apart(tuple(request.without or ()), request.group, "rows")
    return (*apart, *_NOTES, _of_whom(certificate, bound), *_NUMBERS[: certificate.thresholds is not None])


def _possible_before(certificate: CountedCertificate, counted: Counted) -> float:
    """How often the best guess from the original table is right; ``counted`` may be cells, which no longer show it."""
    right = {each.name: each.before for each in certificate.measures}.get("guessing_probability")
    if certificate.thresholds is not None:
        uncoded = given_joint(counted)
        right = None if uncoded is None else guessing_probability(uncoded)
    return guessing_probability(counted.joint) if right is None else right


def _promised(certificate: CountedCertificate, counted: Counted) -> float | None:
    """How often any adversary may be right by the certificate; None if the parts of what is known cannot be found.

    A claim for somebody who knows some columns bounds what a row adds to them, not what they reveal themselves: the
    bound is taken inside each part of what is known, as the release writes it.
    """
    code = counted.question.code
    if certificate.known and (code is None or code.known != certificate.known):
        return None
    parts = counted.parts if certificate.known else None
    return sum(
        weight * _bound(certificate, inside.sum(axis=1)) for weight, inside in inside_parts(counted.joint, parts)
    )


def _bound(certificate: CountedCertificate, prior: Vector) -> float:
    """How often anybody for whom the secret has this prior may be right by the certificate."""
    if certificate.thresholds is not None and (len(prior) > 2 or prior.min() < certificate.thresholds):
        return 1.0
    low = math.inf if math.isinf(certificate.bounds.low) else None
    return guessing_bound(prior, certificate.attained_epsilon, epsilon_low=low)


def _of_whom(certificate: CountedCertificate, bound: float | None) -> str:
    """Which adversary the promise is about, or why there is none."""
    if not certificate.known:
        return "The promise is about somebody who sees one row and knows nothing else about the person."
    who = f"The promise is about {somebody_who_knows(certificate.known)}"
    if bound is None:
        return (
            f"{who}. Working out how often they may be right takes the certified {LEVELS}: no promise was put to the "
            f"test."
        )
    return f"{who}, sees one row and knows nothing else about the person."


@dataclass(frozen=True)
class _Reached:
    """How often the secret is guessed right: without looking, by the best trained adversary, surely, and at best.

    ``exact``: the best possible follows from the rules of the release, not from what happened to be drawn.
    """

    prior: float
    trained: float
    surely: float
    possible: float
    exact: bool


@dataclass(frozen=True)
class _Chance:
    """How often chance alone would do as well as the adversaries, on the original and on the release."""

    before: float
    after: float

    @classmethod
    def of(cls, beliefs: Mapping[str, Floats], records: BenchRecords, random_state: int) -> _Chance:
        views = ([view for each in beliefs.values() for view in each[side]] for side in (slice(1), slice(1, None)))
        before, after = (chance_by_fold(each, records.secret, records.fold, random_state) for each in views)
        return cls(before, after)


def _verdict(
    reached: _Reached, chance: _Chance, *, bound: float | None, findings: Sequence[LinkageFinding]
) -> AttackVerdict:
    """The verdict, by the exact best guess where that is more than what trained adversaries surely reach.

    Guarantees
    ----------
    Adversaries that fail on the original too have tested nothing: then no verdict says that they fail on the release.
    Without a ``bound`` no promise is kept or broken.
    """
    if bound is not None and (reached.surely > bound or (reached.exact and reached.possible > bound + SLACK)):
        return "promise broken"
    if any(map(_finds_people, findings)):
        return "people are found"
    beaten = max(reached.surely, reached.possible) > reached.prior + SLACK or chance.after <= CHANCE
    if beaten and (reached.exact or min(chance.before, chance.after) <= CHANCE):
        return "better than the prior" if bound is None else "within the promise"
    return "not detectably better than the prior" if chance.before <= CHANCE else NOTHING_TO_FIND


def _finds_people(finding: LinkageFinding) -> bool:
    """Whether somebody learns something new from rows that fit one person, and is surely right about most of them."""
    single = round(finding.after.found * finding.people)
    right = round(finding.after.found_rightly * finding.people)
    return bool(finding.columns) and single > 0 and binomial_limits(right, single)[0] > 0.5


def _headline(reached: _Reached, before: float, chance: _Chance, findings: Sequence[LinkageFinding]) -> str:
    words = (
        f"The best adversary guesses {reached.trained:.1%} of secrets right from the release, {before:.1%} from the "
        f"original; always guessing the commonest is right {reached.prior:.1%} of the time. On the release the best "
        f"possible guess is right {reached.possible:.1%} of the time"
    )
    if min(chance.before, chance.after) > CHANCE:
        words += "; even on the original no adversary surely beats chance, so the release was not put to the test"
    # What is read about people who are found is the answer; findings without any stand below.
    return f"{words}.{''.join(f' {found_words(each)}' for each in findings if _finds_people(each))}"
