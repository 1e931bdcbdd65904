"""``person release`` and ``person dip``: what a release would add, and what a query brings up."""

from __future__ import annotations

from tacit.errors import DataError
from tacit.person.adversaries import Cluster
from tacit.person.records import Record
from tacit.person.releases import BestRelease, best_release
from tacit.person.what_if import WhatIf
from tacit.workflows.person_actions import SAME
from tacit.workflows.person_auditing import CaseLike, case_of, known_of
from tacit.workflows.person_case_model import Case, Slot
from tacit.workflows.person_engine import renumbered
from tacit.workflows.person_findings import Names, finding
from tacit.workflows.person_masking import showing
from tacit.workflows.person_near import Near, near, numbered
from tacit.workflows.person_results import Dipped, PersonDipResult, PersonReleaseResult, ReleaseOption, ReleasePlan
from tacit.workflows.person_sources import read_sources
from tacit.workflows.person_words import checked_limit, counted, level, listed, share, verdict
from tacit.workflows.tabulating import Progress, silent


def person_release(
    case: CaseLike, *, limit: float | None = None, show_values: bool = False, progress: Progress | None = None
) -> PersonReleaseResult:
    """What each option of each pending release would add to the leakage, and the best choice of all together.

    Parameters
    ----------
    case : path or Case
        Its ``releases`` are asked about.
    limit : float, optional
        A leakage that should not be exceeded after the best choice.
    show_values : bool
        For symmetry; this result holds names of options, labels and records, and no values.
    progress : callable, optional

    Returns
    -------
    PersonReleaseResult

    Guarantees
    ----------
    Every leakage is of all records with the release, everything resolved again; see ``notes`` where a very large table
    was not looked at whole.
    """
    checked_limit(limit)
    given, tell = case_of(case), progress or silent
    if not given.releases:
        raise DataError(f"{given.path} has no 'releases': name what is to be released, with one option or more each")
    evidence, known = read_sources(given, progress=tell), known_of(given)
    more = numbered([option for slot in given.releases for option in slot.options], evidence)
    slots = _slots(given.releases, more)
    held = near(evidence, given.adversaries, known, more=more, progress=tell)
    hands, plans = [], []
    for place, spec in enumerate(given.adversaries):
        tell(f"{spec.name}: releases", place / len(given.adversaries))
        hands.append(held.what_if(place))
        plans.append(best_release(hands[-1], known.reference, held.adversaries[place], slots, known.labels))
    names = [spec.name for spec in given.adversaries]
    best = tuple(_plan(name, plan, given.releases) for name, plan in zip(names, plans, strict=True))
    return PersonReleaseResult(
        case=str(given.path),
        before={name: plan.before for name, plan in zip(names, plans, strict=True)},
        options=tuple(_options(given, slots, plans, hands, held)),
        best=best,
        limit=limit,
        headline=_release_headline(best, limit),
        notes=(*given.notes, *evidence.notes, *held.notes, *_unseen(given, "a release")),
    )


def _slots(releases: tuple[Slot, ...], more: list[Record]) -> list[list[Record]]:
    left = iter(more)
    return [[next(left) for _ in slot.options] for slot in releases]


def _options(
    case: Case, slots: list[list[Record]], plans: list[BestRelease], hands: list[WhatIf], held: Near
) -> list[ReleaseOption]:
    names = [spec.name for spec in case.adversaries]
    called = Names(held.works[0].evidence, held.known)
    found = []
    for at, slot in enumerate(case.releases):
        for which, option in enumerate(slot.options):
            values = [next(o for o in plan.options if (o.slot, o.option) == (at, which)) for plan in plans]
            joined = [hands[place].dip(slots[at][which]).members for place in range(len(names))]
            # Shown under the adversary to whom it gives most, and of equals the one that joins most.
            worst = max(range(len(names)), key=lambda place: (round(values[place].alone, 12), len(joined[place])))
            rids = [held.rids[member] for member in joined[worst] if member < len(held.rids)]
            named = called.all(rids)
            found.append(
                ReleaseOption(
                    slot=slot.name,
                    option=option.name,
                    labels=tuple(dict.fromkeys(attribute.label for attribute in option)),
                    after={name: value.alone for name, value in zip(names, values, strict=True)},
                    added={name: value.added for name, value in zip(names, values, strict=True)},
                    joins=tuple(named[rid] for rid in rids),
                )
            )
    return found


def _plan(adversary: str, plan: BestRelease, releases: tuple[Slot, ...]) -> ReleasePlan:
    return ReleasePlan(
        adversary=adversary,
        choices={slot.name: slot.options[choice].name for slot, choice in zip(releases, plan.choices, strict=True)},
        before=plan.before,
        after=plan.after,
        worst=plan.worst,
        plans=plan.plans,
        searched=plan.searched,
    )


def _release_headline(best: tuple[ReleasePlan, ...], limit: float | None) -> str:
    top = max(best, key=lambda plan: (plan.after, plan.worst))
    chosen = listed([f"'{option}' for '{slot}'" for slot, option in top.choices.items()])
    if top.worst - top.after <= SAME:
        how = "stays at" if abs(top.after - top.before) <= SAME else f"goes from {level(top.before)} to"
        return (
            f"No choice leaks less than another: the leakage under {top.adversary} {how} {level(top.after)} with each; "
            f"{chosen} gives out least{verdict(top.after, limit)}."
        )
    least = "the least" if top.searched == "exact" else "the least found"
    return (
        f"Choose {chosen}: the leakage under {top.adversary} goes from {level(top.before)} to {level(top.after)}, "
        f"{least}; the worst choice makes it {level(top.worst)}{verdict(top.after, limit)}."
    )


def _unseen(case: Case, what: str) -> list[str]:
    """Where clusters come from elsewhere, nobody can say what a new record would be joined with."""
    from tacit.workflows.person_case_model import ClustersStep

    names = [s.name for s in case.adversaries if any(isinstance(step, ClustersStep) for step in s.steps)]
    if not names:
        return []
    return [
        f"the clusters of {listed(names)} were made without {what}, which stays alone there: with it they may join "
        "more, and the leakage may be larger"
    ]


def person_dip(
    case: CaseLike, *, limit: float | None = None, show_values: bool = False, progress: Progress | None = None
) -> PersonDipResult:
    """What an adversary gets who starts from each query of a case: everything that resolves with it.

    Parameters
    ----------
    case : path or Case
        Its ``queries`` are asked.
    limit : float, optional
        A leakage that should not be exceeded.
    show_values : bool
        Values stand in the result as they are; otherwise masked.
    progress : callable, optional

    Returns
    -------
    PersonDipResult
        The leakage is of what comes up together with the query, which the adversary knew already.
    """
    checked_limit(limit)
    given, tell, shown = case_of(case), progress or silent, showing(show_values)
    if not given.queries:
        raise DataError(f"{given.path} has no 'queries': name what an adversary may start from, such as a name")
    evidence, known = read_sources(given, progress=tell), known_of(given)
    more = numbered(given.queries, evidence)
    held = near(evidence, given.adversaries, known, more=more, progress=tell)
    beside, dips, brought = known.comparer(), [], {}
    for place, spec in enumerate(given.adversaries):
        tell(f"{spec.name}: queries", place / len(given.adversaries))
        hands = held.what_if(place)
        for query, asked in zip(given.queries, more, strict=True):
            found = hands.dip(asked)
            names = Names(evidence, known, {evidence.n_records: (f"query '{query.name}'", "the query")})
            cluster = _with_numbers(found, held)
            value = known.measure(beside, cluster.record)
            written = finding(spec.name, value.value, cluster, known, names, shown)
            dips.append(Dipped(query.name, spec.name, value.value, value.precision, value.recall, written))
            brought[query.name, spec.name] = len(cluster.members) - 1
    top = max(dips, key=lambda one: one.leakage)
    return PersonDipResult(
        case=str(given.path),
        dips=tuple(dips),
        limit=limit,
        values_shown=show_values,
        headline=_dip_headline(top, brought[top.query, top.adversary], limit),
        notes=(*given.notes, *evidence.notes, *held.notes, *_unseen(given, "a query")),
    )


def _with_numbers(cluster: Cluster, held: Near) -> Cluster:
    """A cluster over records in memory with the records' numbers; the query has the number after the last."""
    return renumbered(cluster, [held.number(place) for place in range(len(held.rids) + 1)])


def _dip_headline(top: Dipped, records: int, limit: float | None) -> str:
    if not records:
        return f"No query brings up any record: the adversary learns nothing new{verdict(top.leakage, limit)}."
    return (
        f"Starting from '{top.query}', {top.adversary} brings up {counted(records, 'record')}: a leakage of "
        f"{level(top.leakage)}, {share(top.recall)} of what matters is known and {share(top.precision)} of what is "
        f"held is right{verdict(top.leakage, limit)}."
    )
