"""The certificate of a release of a table: its facts, its numbers and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import __version__
from tacit.lenses.table.mechanisms import Plan
from tacit.lenses.table.tabulating import Counted
from tacit.lift import MEASURES
from tacit.release.certificate import (
    CertifiedInput,
    CertifiedOutput,
    CountedCertificate,
    FurtherClaim,
    MeasureChange,
    Utility,
)
from tacit.release.claims import randomness_of, readings_of, worded
from tacit.release.directory import ReleaseDraft
from tacit.release.keys import file_sha256
from tacit.release.rules import ReleaseRules


@dataclass(frozen=True)
class WrittenData:
    """A release's data on its way to a certificate: the draft and the file in it, and what was asked of it."""

    draft: ReleaseDraft
    file: str
    keep_secret: bool
    random_state: int | None


def certificate_of(counted: Counted, plan: Plan, written: WrittenData) -> CountedCertificate:
    """The certificate of a counted release whose data has been written."""
    bounds, attained = plan.rules.bounds, plan.attained
    return worded(
        CountedCertificate(
            **facts_of(counted, plan.rules, written, learned_here=False),
            epsilon_low=bounds.low,
            epsilon_high=bounds.high,
            delta=bounds.delta,
            delta_kind=bounds.delta_kind,
            epsilon_max=bounds.epsilon_max,
            holds=attained.holds(bounds),
            attained_epsilon=attained.epsilon,
            attained_delta=attained.delta,
            breach_share=attained.breach_share,
            mechanism=plan.mechanism,
            measures=measures_of(counted, plan),
            also=tuple(
                FurtherClaim(each.secret, each.epsilon, reached.epsilon)
                for each, reached in zip(plan.rules.also, plan.attained_also, strict=True)
            ),
            readings=readings_of(attained.epsilon, bounds, plan.proof),
        )
    )


def measures_of(counted: Counted, plan: Plan) -> tuple[MeasureChange, ...]:
    """Every measure before and after, and what the bounds promise of it."""
    promised = plan.rules.bounds.promised(counted.joint)
    return tuple(
        MeasureChange(
            m.name,
            m.title,
            before=float(m.function(counted.joint)),
            after=float(m.function(plan.output)),
            promise=promised.get(m.name),
            unit=m.unit,
        )
        for m in MEASURES.values()
    )


def facts_of(counted: Counted, rules: ReleaseRules, written: WrittenData, *, learned_here: bool) -> dict[str, Any]:
    """What certificates of tables say alike; the words follow from the numbers."""
    question, draft = counted.question, written.draft
    shown = {*question.released, *(question.hidden if written.keep_secret else ())}
    records = int(counted.counts.records.sum())
    repeatable = written.random_state is not None
    return {
        "claim": "",
        "assumptions": (),
        "epsilon": rules.bounds.epsilon,
        "secret": question.secret,
        "released": question.released,
        "utility": utility_of(counted, rules),
        "cuts": question.cuts,
        "left_out": tuple(name for name in question.original.names if name not in shown),
        "input": CertifiedInput(
            name=Path(question.original.name).name,
            format=question.original.format,
            records=records,
            salted_sha256=draft.salted(question.original.sha256()),
        ),
        "output": CertifiedOutput(written.file, records, file_sha256(draft.place / written.file)),
        "randomness": randomness_of(drawn=rules.treatment.drawn, repeatable=repeatable, learned_here=learned_here),
        "tacit_version": __version__,
    }


def utility_of(counted: Counted, rules: ReleaseRules) -> Utility:
    """What the honest reader keeps; rows and cells unchanged are expected shares where replacements are drawn."""
    return rules.treatment.kept(counted.joint.marginal, counted.symbols, rules.symbols)
