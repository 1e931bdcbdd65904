"""How exposed is every person of a reference table?

The case names the table (population: …). It shows quantiles and a histogram of the leakage under each adversary, and
k-anonymity. The limit is about the most exposed person.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.errors import ArgumentError, DataError
from tacit.person.actions.asking import Adversaries, Examples, FailAbove, Memory, Remote, ask, limited
from tacit.person.answers import PersonPopulationResult
from tacit.person.answers.results import PopulationRung
from tacit.person.answers.words import check_limit, counted, level, listed
from tacit.requests.settings import File

if TYPE_CHECKING:
    from tacit.person.case.model import Case
    from tacit.person.inquiry import CaseLike, Inquiry
    from tacit.person.link.attributes import IntArray
    from tacit.person.link.populations import Population
    from tacit.person.link.references import References
    from tacit.person.resolve.adversaries import Adversary

EXAMPLES: Examples = ({}, {"out": "rows.parquet"})
QUANTILES = {"0%": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99, "100%": 1.0}
CROWD_QUANTILES = {"0%": 0.0, "10%": 0.1, "50%": 0.5, "90%": 0.9, "100%": 1.0}
BINS = 20


@limited
def person_population(
    case: "CaseLike",
    *,
    out: Annotated[
        str | Path | None,
        ask(
            File(),
            "Write one row per person here: leakage under each adversary, k, top source. Keep it to yourself.",
            short="-o",
            metavar="rows.parquet|rows.csv",
        ),
    ] = None,
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonPopulationResult:
    """The leakage of every person in a reference table under every adversary, and their k-anonymity.

    The ``population`` of the case names the table of references. ``out`` (.csv or .parquet) gets a row per person: id,
    leakage under each adversary, k, l, top source; it is for the owner only. The result holds no values.

    Guarantees
    ----------
    Every person's leakage is what the audit of that person says. If too many records are only nearly a person's to
    examine them all, ``notes`` says for how many people the leakage is a lower bound, and what it is at most. Rows stay
    in the engine, which uses the disk beyond its memory limit. The file appears whole or not at all.
    """
    from tacit.person.inquiry import narrowed, opened, references_of, source_facts
    from tacit.person.link import class_diversity, class_sizes
    from tacit.person.link.populations import write_persons
    from tacit.person.sources.places import files_at
    from tacit.tables.writing import refuse_source, whole_file

    check_limit(fail_above)
    target = _checked_target(out)
    narrow_case = narrowed(case, adversary=adversary, remote=remote)
    spec = narrow_case.population
    if spec is None:
        raise DataError(f"{narrow_case.path} has no 'population': name the table of references (references, person)")
    for place in (narrow_case.path, spec.references, *(source.path for source in narrow_case.sources)):
        for path in files_at(place):
            refuse_source(path, target, "rows")
    narrow_case, knowing = _without_truth(narrow_case)
    inquiry = opened(narrow_case, progress=progress, everybody=True)
    inquiry.progress("reading references", None)
    people = references_of(inquiry, spec)
    if not people.count:
        raise DataError(f"{spec.references} has no person: a population has at least one")
    measured = {one.name: _measured(inquiry, one, people, fail_above) for one in narrow_case.adversaries}
    rungs = tuple(rung for _, rung in measured.values())
    k = class_sizes(people, spec.quasi_identifiers) if spec.quasi_identifiers else None
    crowded = bool(spec.quasi_identifiers and spec.sensitive)
    diversity = class_diversity(people, spec.quasi_identifiers, spec.sensitive) if crowded else None
    if target is not None:
        inquiry.progress("writing rows", None)
        results = {name: result for name, (result, _) in measured.items()}
        with whole_file(target, for_owner=True) as draft:
            write_persons(draft, people, results, k=k, l=diversity)
    top = max(rungs, key=lambda rung: (rung.mean, rung.quantiles["100%"]))
    return PersonPopulationResult(
        case=str(narrow_case.path),
        persons=people.count,
        sources=source_facts(inquiry.pool),
        rungs=rungs,
        quasi_identifiers=spec.quasi_identifiers,
        k_quantiles=None if k is None else _crowd_quantiles(k),
        unique=None if k is None else int((k == 1).sum()),
        sensitive=spec.sensitive if crowded else (),
        l_quantiles=None if diversity is None else _crowd_quantiles(diversity),
        top_sources=measured[top.adversary][0].top_sources(),
        rows=str(target) if target is not None else None,
        fail_above=fail_above,
        headline=_headline(people.count, top, fail_above),
        notes=(*inquiry.notes, *knowing, *_unsettled(measured, people), *_lacking(people, spec.quasi_identifiers)),
    )


def _without_truth(case: "Case") -> "tuple[Case, list[str]]":
    """The case without adversaries who know its person, and a note that names them."""
    from tacit.person.link.brought import TrueClusters

    knowing = [one for one in case.adversaries if any(isinstance(step, TrueClusters) for step in one.steps)]
    if not knowing:
        return case, []
    others = tuple(one for one in case.adversaries if one not in knowing)
    if not others:
        raise DataError(f"{case.path}: every adversary knows the person of the case: a population needs another")
    names = listed([one.name for one in knowing])
    return replace(case, adversaries=others), [f"{names} knows the person of the case, and is not tried on everybody"]


def _checked_target(out: str | Path | None) -> Path | None:
    if out is None or Path(out).suffix.lower() in (".csv", ".parquet"):
        return None if out is None else Path(out)
    raise ArgumentError(f"cannot write rows to {out}: name a file that ends in .csv or .parquet")


def _measured(
    inquiry: "Inquiry", spec: "Adversary", people: "References", fail_above: float | None
) -> "tuple[Population, PopulationRung]":
    """For one adversary: every person's leakage, in a table, and a summary."""
    from tacit.person.inquiry import does
    from tacit.person.link.populations import population

    start = time.perf_counter()
    pool = inquiry.pool
    work = inquiry.bench.grouped(spec)
    result = population(
        work.doubted,
        work.cluster,
        people,
        inquiry.labels,
        beta=inquiry.case.beta,
        merge=spec.merge,
        base=pool.attributes if spec.keep_base else None,
        kept=work.kept(),
        meant=inquiry.bench.meant,
        sources=[(source.name, source.records) for source in pool.sources],
        progress=lambda what, share: inquiry.progress(f"{spec.name}: {what}", share),
    )
    rung = PopulationRung(
        adversary=spec.name,
        does=does(spec),
        quantiles=dict(zip(QUANTILES, result.quantiles(list(QUANTILES.values())), strict=True)),
        mean=result.mean(),
        mean_recall=result.mean("recall"),
        above=result.above(fail_above) if fail_above is not None else None,
        bins=result.bins(BINS),
        cost=spec.cost_of(pool.n_records),
        seconds=time.perf_counter() - start,
        entities=work.entities,
    )
    return result, rung


def _crowd_quantiles(sizes: "IntArray") -> Mapping[str, float]:
    import numpy as np

    quantiles = np.quantile(sizes, list(CROWD_QUANTILES.values()), method="inverted_cdf")
    return dict(zip(CROWD_QUANTILES, quantiles.tolist(), strict=True))


def _unsettled(measured: "Mapping[str, tuple[Population, PopulationRung]]", people: "References") -> list[str]:
    """Notes about people of whom a record that was not examined might give away more."""
    notes = []
    for name, (result, _) in measured.items():
        left, most = result.unsettled()
        if left:
            notes.append(
                f"adversary '{name}': for {left:,} of {counted(people.count, 'person')}, records that hold none of "
                "their values, but some that are near, were not all looked at: their leakage is at least what is "
                f"shown, and at most {level(most)}"
            )
    return notes


def _lacking(people: "References", quasi_identifiers: tuple[str, ...]) -> list[str]:
    """Notes about people without a quasi-identifier: they form one crowd, and its k says little."""
    notes = []
    for label in quasi_identifiers:
        if missing := people.lacking(label):
            verb = "has" if missing == 1 else "have"
            notes.append(f"{counted(missing, 'person')} {verb} no {label}: for k that counts as a value they share")
    return notes


def _headline(persons: int, top: PopulationRung, fail_above: float | None) -> str:
    median, worst = top.quantiles["50%"], top.quantiles["100%"]
    words = (
        f"Under {top.adversary} the leakage of {counted(persons, 'person')} has a median of {level(median)} and "
        f"reaches {level(worst)}"
    )
    if fail_above is None:
        return f"{words}."
    assert top.above is not None
    verb = "is" if top.above == 1 else "are"
    return f"{words}; {counted(top.above, 'person')} {verb} above the limit of {fail_above:g}."
