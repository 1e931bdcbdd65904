"""What a release will do to a table, exactly, before a single row is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.codes.code import CellCode
from tacit.codes.proving import ProvedCode
from tacit.document import Nats
from tacit.errors import NotCertifiedError, Setting, sentence
from tacit.lenses.table.tabulating import Counted
from tacit.lift import CertifiedPartition, Joint, Mask, Matrix
from tacit.release.bounds import Attained, FurtherSecret
from tacit.release.certificate import CountedMechanism
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging, Mixing


@dataclass(frozen=True)
class CellProof:
    """What a confidence in cells rests on: which records chose, which proved, and how many questions they answered."""

    beta: float
    records_to_choose: int
    records_to_prove: int
    candidates: int
    passed: int
    kept: int
    design: CellCode

    @classmethod
    def of(cls, proved: ProvedCode) -> CellProof:
        """From a proof; cells that the table itself does not allow are merged afterwards, and the proof covers them."""
        proof = proved.proof
        return cls(
            beta=proof.beta,
            records_to_choose=proof.records_to_choose,
            records_to_prove=proof.records_to_prove,
            candidates=proof.questions,
            passed=proof.passed,
            kept=len(proved.code.tree.leaves),
            design=proved.design,
        )


Proof = CertifiedPartition | CellProof
# A joint, and how far below and above 0 its log-lifts may lie.
Claim = tuple[Joint, float, float]


@dataclass(frozen=True)
class Candidate:
    """A treatment that a mechanism offers, and the share of the information that it loses.

    ``made_by`` says how it came about, ``beside`` what is reported with whichever candidate is chosen in the end.
    ``proof`` is what a confidence rests on.
    """

    treatment: Merging | Mixing
    loss: float
    made_by: dict[str, Any]
    beside: dict[str, Any] = field(default_factory=dict)
    proof: Proof | None = None


@dataclass(frozen=True)
class Plan:
    """Rules applied to a counted table: what comes out, exactly, before a single row is written.

    ``output`` is the joint of secret and output, ``further`` those of the further secrets; ``attained`` is what the
    release attains for the secret, ``mechanism`` says how the rules came about, and ``proof`` is what a confidence
    rests on.
    """

    rules: ReleaseRules
    output: Joint
    further: tuple[Joint, ...]
    attained: Attained
    mechanism: CountedMechanism
    proof: Proof | None = None

    @cached_property
    def attained_also(self) -> tuple[Attained, ...]:
        """What it attains for each further secret."""
        parts = self.rules.parts
        pairs = zip(self.further, self.rules.also, strict=True)
        return tuple(Attained.of(joint, each.bounds, parts) for joint, each in pairs)


def applied(counted: Counted, rules: ReleaseRules, made_by: dict[str, Any], proof: Proof | None = None) -> Plan:
    """The plan of these rules for this table, if it keeps all bounds."""
    output, *further = outputs_of(counted, rules)
    touched = rules.treatment.touched(counted.symbols.positions_in(rules.symbols))
    mechanism = CountedMechanism(**made_by, **merged_facts(counted, touched))
    attained = counted.attained(output, rules.bounds)
    planned = Plan(rules, output, tuple(further), attained, mechanism, proof)
    if not attained.holds(rules.bounds):
        raise NotCertifiedError(
            sentence(
                "the release would leak {attained}, and a mass of {delta:.4g} would exceed epsilon "
                "{epsilon}: nothing was written. Choose a larger epsilon, or coarser columns ({bins})",
                attained=Nats(attained.epsilon, 4),
                delta=attained.delta,
                epsilon=Nats(rules.bounds.epsilon, 6, unit=False),
                bins=Setting("bins"),
            )
        )
    for each, reached in zip(rules.also, planned.attained_also, strict=True):
        if not reached.holds(each.bounds):
            words = "the release would leak {reached} about {secret}, more than {allowed}: nothing was written"
            secret, allowed = ", ".join(each.secret), Nats(each.epsilon, 6, unit=False)
            raise NotCertifiedError(sentence(words, reached=Nats(reached.epsilon, 4), secret=secret, allowed=allowed))
    return planned


def outputs_of(counted: Counted, rules: ReleaseRules) -> list[Joint]:
    """The joints of each secret and the output if the table is treated by the rules."""
    return [
        Joint(output[:, output.sum(axis=0) > 0], secrets=joint.secrets, total=joint.total)
        for joint, output in zip((counted.joint, *counted.further), pushed(counted, rules), strict=True)
    ]


def pushed(counted: Counted, rules: ReleaseRules) -> list[Matrix]:
    """P(s, y) for each secret; a wholly missing value and a suppressed one look the same, and are one output."""
    position = counted.symbols.positions_in(rules.symbols)
    missing = np.flatnonzero(rules.symbols.all_missing)
    outputs = [rules.treatment.push(joint.matrix, position) for joint in (counted.joint, *counted.further)]
    for output in outputs:
        output[:, -1] += output[:, missing].sum(axis=1)
        output[:, missing] = 0.0
    return outputs


def claims_of(counted: Counted, sides: tuple[float, float], also: Sequence[FurtherSecret]) -> list[Claim]:
    """Every joint with the bounds on its log-lifts; ``sides`` are those of the first."""
    further = zip(counted.further, also, strict=True)
    return [(counted.joint, *sides), *((joint, each.epsilon, each.epsilon) for joint, each in further)]


def merged_facts(counted: Counted, merged: Mask) -> dict[str, Any]:
    """How much of a table is merged."""
    return {
        "weight": counted.question.weight,
        "values": counted.joint.shape[1],
        "values_merged": int(merged.sum()),
        "records_merged": float(counted.joint.marginal[merged].sum()),
    }
