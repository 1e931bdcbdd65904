"""``person population``: how exposed every person of a table is, at once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import ArgumentError, DataError
from tacit.person.values import SUPPRESSED
from tacit.workflows.person_auditing import CaseLike, case_of
from tacit.workflows.person_case_model import (
    AdversarySpec,
    Case,
    ClustersStep,
    NormaliseStep,
    PopulationSpec,
    ResolveStep,
    SplinkStep,
)
from tacit.workflows.person_crowd import references_of
from tacit.workflows.person_engine import grouped
from tacit.workflows.person_findings import source_facts
from tacit.workflows.person_results import PersonPopulationResult, PopulationRung
from tacit.workflows.person_sources import Evidence, read_sources
from tacit.workflows.person_steps import stepped
from tacit.workflows.person_words import checked_limit, counted, does, level, listed
from tacit.workflows.tabulating import Progress, silent

if TYPE_CHECKING:
    from tacit.tables.populations import Population, References

QUANTILES = {"0%": 0.0, "25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99, "100%": 1.0}
BINS = 20


def person_population(
    case: CaseLike,
    *,
    out: str | Path | None = None,
    limit: float | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> PersonPopulationResult:
    """The leakage of every person of a reference table under every adversary, with k beside it.

    Parameters
    ----------
    case : path or Case
        Its ``population`` names the table of references.
    out : path, optional
        Where to write a row a person (.csv or .parquet): id, leakage under each adversary, k, l, top source. For the
        owner alone.
    limit : float, optional
        A leakage that should not be exceeded; persons above it are counted.
    show_values : bool
        For symmetry; this result holds no values.
    progress : callable, optional

    Returns
    -------
    PersonPopulationResult

    Guarantees
    ----------
    Rows stay in the engine, which uses the disk beyond its limit of memory. The file appears whole or not at all.

    Notes
    -----
    Values are right or wrong here, each label has one weight, and beta is 1: similarity, suppressed values, priors and
    correlated labels are for the audit of one person. ``notes`` says what of the case was left out.
    """
    from tacit.tables import populations
    from tacit.tables.writing import whole_file

    checked_limit(limit)
    target = _checked_target(out)
    given, tell = case_of(case), progress or silent
    spec = given.population
    if spec is None:
        raise DataError(f"{given.path} has no 'population': name the table of references (references, person)")
    evidence = read_sources(given, progress=tell)
    tell("reading references", None)
    known = references_of(given, spec, evidence)
    if not known.count:
        raise DataError(f"{spec.references} has no person: a population has one at least")
    found: dict[str, Population] = {}
    rungs = []
    for adversary in given.adversaries:
        found[adversary.name], rung = _measured(given, adversary, evidence, known, limit, tell)
        rungs.append(rung)
    k = populations.class_sizes(known, spec.quasi_identifiers) if spec.quasi_identifiers else None
    wanted = bool(spec.quasi_identifiers and spec.sensitive)
    diversity = populations.class_diversity(known, spec.quasi_identifiers, spec.sensitive) if wanted else None
    if target is not None:
        tell("writing rows", None)
        with whole_file(target) as draft:
            populations.write_persons(draft, known, found, k=k, l=diversity)
    top = max(rungs, key=lambda rung: (rung.mean, rung.quantiles["100%"]))
    return PersonPopulationResult(
        case=str(given.path),
        persons=known.count,
        sources=source_facts(evidence),
        rungs=tuple(rungs),
        quasi_identifiers=spec.quasi_identifiers,
        k_quantiles=None if k is None else _crowd_quantiles(k),
        unique=None if k is None else int((k == 1).sum()),
        sensitive=spec.sensitive if wanted else (),
        l_quantiles=None if diversity is None else _crowd_quantiles(diversity),
        top_sources=found[top.adversary].top_sources(),
        rows=str(target) if target is not None else None,
        limit=limit,
        headline=_headline(known.count, top, limit),
        notes=(*given.notes, *evidence.notes, *_simplified(given), *_suppressed(evidence), *_unknown(known, spec)),
    )


def _checked_target(out: str | Path | None) -> Path | None:
    if out is None:
        return None
    path = Path(out)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise ArgumentError(f"cannot write rows to {path}: name a file that ends in .csv or .parquet")
    return path


def _measured(
    case: Case,
    spec: AdversarySpec,
    evidence: Evidence,
    known: References,
    limit: float | None,
    progress: Progress,
) -> tuple[Population, PopulationRung]:
    """One adversary: every person's leakage, in a table, and what there is to say of all."""
    from tacit.tables import populations

    start = time.perf_counter()
    work = grouped(evidence, spec, case.labels, progress=progress)
    # Against references values are compared in the form that is meant, whatever the adversary makes of them.
    held = stepped(work.held, NormaliseStep(), case.labels)
    base = stepped(evidence.attributes, NormaliseStep(), case.labels) if spec.keep_base else None
    found = populations.population(
        held,
        work.cluster,
        known,
        {label: case.labels[label].weight for label in case.labels},
        merge=spec.merge,
        single=[label for label in case.labels if case.labels[label].single],
        base=base,
        sources=[(source.name, source.records) for source in evidence.sources],
        progress=lambda what, share: progress(f"{spec.name}: {what}", share),
    )
    rung = PopulationRung(
        adversary=spec.name,
        does=does(spec),
        quantiles=dict(zip(QUANTILES, found.quantiles(list(QUANTILES.values())), strict=True)),
        mean=found.mean(),
        mean_recall=found.mean("recall"),
        above=found.above(limit) if limit is not None else None,
        bins=found.bins(BINS),
        cost=work.adversary(()).cost_of(evidence.n_records),
        seconds=time.perf_counter() - start,
        entities=work.entities,
    )
    return found, rung


def _crowd_quantiles(k: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Mapping[str, float]:
    shares = {"0%": 0.0, "10%": 0.1, "50%": 0.5, "90%": 0.9, "100%": 1.0}
    return {
        name: float(value)
        for name, value in zip(shares, np.quantile(k, list(shares.values()), method="inverted_cdf"), strict=True)
    }


def _simplified(case: Case) -> list[str]:
    """What the case says of labels that a whole population is not asked for."""
    labels = case.labels
    left = {
        "similarity": [label for label in labels if labels[label].similarity is not None],
        "prior": [label for label in labels if labels[label].prior is not None],
    }
    notes = [
        f"a population is measured without the {what} of {listed(sorted(names))}; audit a person for that"
        for what, names in left.items()
        if names
    ]
    if labels.correlated:
        notes.append("a population is measured without correlated labels; audit a person for that")
    if case.beta != 1:
        notes.append("a population is measured with beta 1, whatever the case says")
    return [*notes, *_uneven(case)]


def _uneven(case: Case) -> list[str]:
    """Adversaries that merge values without normalising them hold some twice, which a population counts once."""
    labels = {label for label in case.labels if case.labels[label].normalise or case.labels[label].synonyms}
    found = []
    for spec in case.adversaries:
        joins = any(isinstance(step, ResolveStep | ClustersStep | SplinkStep) for step in spec.steps)
        done = [step.labels for step in spec.steps if isinstance(step, NormaliseStep)]
        if joins and labels and None not in done and not labels <= {label for some in done for label in some or ()}:
            found.append(spec.name)
    if not found:
        return []
    return [
        f"{listed(found)} merges without normalising: values that mean the same count once in a population, and each "
        "by itself in an audit; so the leakage may be larger here, and smaller where votes decide"
    ]


def _unknown(known: References, spec: PopulationSpec) -> list[str]:
    """Persons of whom a quasi-identifier is not known: they stand in one crowd, and its k says little."""
    store, notes = known.store, []
    for label in spec.quasi_identifiers:
        asked = f"SELECT count(DISTINCT person) AS n FROM {known.facts} WHERE label = {store.text(label)}"
        missing = known.count - store.ask(asked).column("n")[0].as_py()
        if missing:
            verb = "has" if missing == 1 else "have"
            notes.append(f"{counted(missing, 'person')} {verb} no {label}: for k that counts as a value they share")
    return notes


def _suppressed(evidence: Evidence) -> list[str]:
    """Whether there are values such as 11* or >=50, which are right for nobody here."""
    held = evidence.attributes
    form = held.store.text(SUPPRESSED)
    some = f"SELECT 1 AS x FROM {held.name} WHERE regexp_matches(value, {form}) LIMIT 1"
    if not held.store.ask(some).num_rows:
        return []
    return [
        "some values are suppressed (11*, >=50): a population counts them as wrong, and the leakage may be larger than "
        "it says; audit a person for that"
    ]


def _headline(persons: int, top: PopulationRung, limit: float | None) -> str:
    median, worst = top.quantiles["50%"], top.quantiles["100%"]
    words = (
        f"Under {top.adversary} the leakage of {counted(persons, 'person')} has a median of {level(median)} and "
        f"reaches {level(worst)}"
    )
    if limit is None:
        return f"{words}."
    assert top.above is not None
    verb = "is" if top.above == 1 else "are"
    return f"{words}; {counted(top.above, 'person')} {verb} above the limit of {limit:g}."
