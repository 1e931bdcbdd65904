"""What a release will do to a table, exactly, before a single row is written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from tacit.errors import ArgumentError, NotCertifiedError
from tacit.lift.bounds import watchdog_bound_exact
from tacit.lift.egamma import egamma_partition
from tacit.lift.gatekeeping import CertifiedPartition, certified_partition
from tacit.lift.joint import Joint, Mask, Matrix
from tacit.lift.measures import log_lift
from tacit.lift.mechanisms import watchdog
from tacit.lift.mixture import MixtureChannel
from tacit.lift.optimal import EFFORTS, Effort, Rung, optimal
from tacit.lift.partition import nmil
from tacit.lift.region import Region
from tacit.lift.rounding import confident
from tacit.lift.subsets import cover_set
from tacit.workflows.bounds import Attained, Bounds, FurtherSecret
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted
from tacit.workflows.treatment import REPLACEMENTS, Merging, Mixing, Places, Replacement, Treatment

Mechanism = Literal["auto", "watchdog", "subsets", "optimal"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)

BY_RULES = "as in the rules"
MIXTURE = "mixture"
# Values added to a merged set one by one; a set that needs more than this is merged whole, which always suffices.
MOST_STEPS = 2_000
# A mixture is worth its chance only if it loses less by this, as a share of the information.
WORTH = 1e-6
# Where too few records prove what was asked, epsilons this much larger each are tried for a hint.
STEP, LARGEST_HINT, WORTH_KEEPING, WORTH_TELLING = 1.15, 2.0, 0.1, 0.01
# How many times as many records are tried for the number that would do.
FACTORS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)


@dataclass(frozen=True)
class Asked:
    """What is asked of a release: bounds, how to reach them, and whether they are to hold beyond the table."""

    bounds: Bounds
    also: tuple[FurtherSecret, ...] = ()
    mechanism: Mechanism = "auto"
    effort: Effort = "normal"
    replacement: Replacement | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ArgumentError(f"no mechanism '{self.mechanism}'; choose one of {', '.join(MECHANISMS)}")
        if self.effort not in EFFORTS:
            raise ArgumentError(f"no effort '{self.effort}'; choose one of {', '.join(EFFORTS)}")
        if self.replacement not in (None, *REPLACEMENTS):
            raise ArgumentError(f"no replacement '{self.replacement}'; choose one of {', '.join(REPLACEMENTS)}")
        if self.confidence is not None and not 0.5 <= self.confidence < 1:
            raise ArgumentError(f"confidence is a probability, 0.5 or more and below 1; got {self.confidence}")
        mixes = self.mechanism in ("subsets", "optimal")
        if mixes and self.replacement is not None:
            raise ArgumentError(
                f"--replacement says what takes the place of one merged set; the mechanism '{self.mechanism}' has its "
                "own: leave out one of the two"
            )
        for name, given in (("delta", self.bounds.delta > 0), ("confidence", self.confidence is not None)):
            if given and mixes:
                raise ArgumentError(f"--{name} takes one merged set: leave it out, or --mechanism {self.mechanism}")
            if given and self.also:
                raise ArgumentError(f"--{name} takes one secret: leave it out, or --also")
        if self.confidence is not None and self.bounds.delta > 0:
            raise ArgumentError(
                "--confidence proves a bound without a delta: leave out one of the two (tacit.certify_delta certifies "
                "the mass of a fixed mechanism)"
            )

    @property
    def merges(self) -> bool:
        """Whether only one merged set will do."""
        return self.mechanism == "watchdog" or self.replacement is not None


@dataclass(frozen=True)
class Plan:
    """Rules applied to a counted table: what comes out, exactly, before a single row is written.

    ``output`` is the joint of secret and output, ``further`` those of the further secrets; ``touched`` are the values
    of the table that are not always released as they are. ``proof`` is what a confidence rests on.
    """

    rules: Rules
    touched: Mask
    output: Joint
    further: tuple[Joint, ...]
    made_by: dict[str, Any]
    proof: CertifiedPartition | None = None

    @property
    def attained(self) -> Attained:
        """What the release attains of the secret."""
        return Attained.of(self.output, self.rules.bounds)

    @property
    def attained_also(self) -> tuple[Attained, ...]:
        """What it attains of each further secret."""
        return tuple(Attained.of(joint, each.bounds) for joint, each in zip(self.further, self.rules.also, strict=True))


@dataclass(frozen=True)
class _Choice:
    """A treatment and how it came about."""

    treatment: Treatment
    made_by: dict[str, Any]
    proof: CertifiedPartition | None = None


def plan(found: Counted, asked: Asked) -> Plan:
    """The release that loses least, of those that were asked for.

    Raises
    ------
    NotCertifiedError
        If the records are too few to prove what was asked, or a release would break its bounds.
    """
    if asked.confidence is not None:
        choice = _proved(found, asked, asked.confidence)
    elif asked.bounds.delta > 0:
        choice = _relaxed(found, asked)
        if not asked.merges:
            # A mixture that never passes epsilon may lose less than a merged set that sometimes does.
            strict = _best(found, replace(asked, bounds=Bounds.within(asked.bounds.epsilon)))
            choice = min((choice, strict), key=lambda each: _information_lost(found, each.treatment))
    else:
        choice = _best(found, asked)
    rules = Rules(
        secret=found.question.secret,
        released=found.question.released,
        cuts=found.question.cuts,
        symbols=found.symbols,
        treatment=choice.treatment,
        bounds=asked.bounds,
        also=asked.also,
    )
    return _applied(found, rules, choice.made_by, choice.proof)


def _information_lost(found: Counted, treatment: Treatment) -> float:
    return treatment.loss(found.joint.marginal, np.arange(len(found.symbols)), found.symbols)


def _claims(found: Counted, bounds: Bounds, also: Sequence[FurtherSecret]) -> list[tuple[Joint, float, float]]:
    """Every joint with what must hold of each of its log-lifts."""
    further = zip(found.further, also, strict=True)
    return [(found.joint, *bounds.ceiling), *((joint, each.epsilon, each.epsilon) for joint, each in further)]


def _best(found: Counted, asked: Asked) -> _Choice:
    """One merged set or, where that loses less and may be, a mixture."""
    merged, method = _one_set(found, asked)
    single = nmil(found.joint, merged)
    facts = {"method": method, "effort": asked.effort, "watchdog_nmil": single, **_plain(found, asked.bounds)}
    if asked.merges:
        return _merging(found, asked, merged, facts)
    channel = _optimal(found, asked, "subsets" if asked.mechanism == "subsets" else "optimal")
    facts |= {"loss_bound": channel.loss_bound}
    if channel.nmil >= single - WORTH:
        return _merging(found, asked, merged, facts)
    treatment = Mixing.of(channel.sparse, channel.labels)
    return _Choice(treatment, {**facts, "name": channel.rung, "replacement": MIXTURE, "method": channel.proof})


def _optimal(found: Counted, asked: Asked, rung: Rung) -> MixtureChannel:
    bounds = asked.bounds
    return optimal(
        found.joint,
        bounds.epsilon,
        epsilon_low=bounds.low,
        epsilon_high=bounds.high,
        also=[(joint, each.epsilon) for joint, each in zip(found.further, asked.also, strict=True)],
        effort=asked.effort,
        rung=rung,
    )


def _one_set(found: Counted, asked: Asked) -> tuple[Mask, str]:
    """The merged set of the watchdog or, where that is out of bounds, with camouflage; and how it was found."""
    if asked.bounds.symmetric and not asked.also:
        chosen = watchdog(found.joint, asked.bounds.epsilon, method="auto").partition
        return np.array(chosen.merged), chosen.method
    channel = _optimal(found, asked, "camouflage")
    output = channel.sparse.indices
    return np.asarray((np.bincount(output) > 1)[output]), channel.rung


def _plain(found: Counted, bounds: Bounds) -> dict[str, Any]:
    """What the risky values alone, merged, would leak."""
    return {"plain_watchdog_attains": watchdog_bound_exact(found.joint, bounds.epsilon)} if bounds.symmetric else {}


def _merging(found: Counted, asked: Asked, merged: Mask, facts: dict[str, Any]) -> _Choice:
    how: Replacement = asked.replacement or "resample"
    if how == "suppress" and merged.any():
        merged = _with_missing(found, merged, _claims(found, asked.bounds, asked.also))
    return _Choice(Merging.of(found.joint.marginal, merged, how), {"name": "watchdog", "replacement": how, **facts})


def _with_missing(found: Counted, merged: Mask, claims: Sequence[tuple[Joint, float, float]]) -> Mask:
    """The merged set with the wholly missing value, which nobody could tell from a suppressed one."""
    missing = found.symbols.all_missing
    if not (missing & ~merged).any():
        return merged
    # The set has changed under its makers' hands, so it is made to keep its bounds outright.
    region = Region.of(claims)
    return cover_set(region, merged | missing | ~region.safe, most=MOST_STEPS)


def _relaxed(found: Counted, asked: Asked) -> _Choice:
    """The least that must be merged where the bound may fail by delta."""
    bounds = asked.bounds
    if bounds.delta_kind == "egamma":
        chosen = egamma_partition(found.joint, bounds.epsilon, bounds.delta)
    else:
        made = watchdog(found.joint, bounds.epsilon, delta=bounds.delta, epsilon_max=bounds.epsilon_max, method="auto")
        chosen = made.partition
    facts = {"method": chosen.method, **_plain(found, bounds)}
    return _merging(found, asked, np.array(chosen.merged), facts)


def dealer(table: Matrix) -> np.random.Generator:
    """Deals records to halves, always the same way for the same counts: nobody can deal again until it pleases."""
    whole = np.ascontiguousarray(table, dtype="<i8")
    seed = hashlib.sha256(repr(whole.shape).encode() + whole.tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed))


def proof_of(table: Matrix, bounds: Bounds, confidence: float) -> CertifiedPartition:
    """What the records of a table prove of the people they were drawn from."""
    return certified_partition(
        table,
        epsilon=bounds.epsilon,
        rng=dealer(table),
        beta=1 - confidence,
        epsilon_low=bounds.low,
        epsilon_high=bounds.high,
        on_table=True,
    )


def _proved(found: Counted, asked: Asked, confidence: float) -> _Choice:
    """The largest release that half of the records chose and the other half proves to be within bounds."""
    if found.question.weight is not None:
        raise ArgumentError("--confidence counts records, and weighted ones prove nothing: leave out --weight")
    bounds = asked.bounds
    proof = proof_of(found.table, bounds, confidence)
    if proof.keeps_nothing:
        raise NotCertifiedError(_too_few(found, bounds, confidence))
    merged = np.array(proof.merged)
    if asked.replacement == "suppress" and (found.symbols.all_missing & ~merged).any():
        raise ArgumentError(
            "suppressed records could not be told from those that are wholly missing, whose values are kept: choose "
            "another --replacement"
        )
    choice = _merging(found, asked, merged, {"method": "split and prove", **_plain(found, bounds)})
    return replace(choice, proof=proof)


def _too_few(found: Counted, bounds: Bounds, confidence: float) -> str:
    """Why nothing was written, what these records would prove, and how many would do."""
    text = (
        f"{int(found.table.sum()):,} records do not prove {bounds.epsilon:g} nats with {confident(confidence)} "
        "confidence for any release that keeps a value, so nothing was written."
    )
    hint = ""
    upwards = _share_kept(found, proof_of(found.table, Bounds(np.inf, bounds.high), confidence))
    if np.isfinite(bounds.low) and upwards >= WORTH_TELLING:
        hint = (
            f" They can certify {bounds.high:g} nats of how much likelier a secret may become, and nothing of how much "
            f"less likely, keeping {upwards:.1%} of the records (--epsilon-high)."
        )
    wider = bounds
    while bounds.symmetric and wider.epsilon <= LARGEST_HINT:
        wider = Bounds.within(float(f"{wider.epsilon * STEP + 1e-3:.2g}"))
        kept = _share_kept(found, proof_of(found.table, wider, confidence))
        if kept >= WORTH_KEEPING:
            hint += f" They can certify {wider.epsilon:g} nats both ways, keeping {kept:.1%} of them (--epsilon)."
            break
    return text + hint + enough(found, bounds, confidence)


def _share_kept(found: Counted, proof: CertifiedPartition) -> float:
    return 1 - float(found.joint.marginal[proof.merged].sum())


def enough(found: Counted, bounds: Bounds, confidence: float) -> str:
    """How many records like these would keep half of what looks safe, in a sentence: an estimate, not a promise.

    The records are counted several times over, and what they would prove then is what more of them might.
    """
    safe = ~bounds.beyond(log_lift(found.joint)).any(axis=0)
    wanted, records = float(found.joint.marginal[safe].sum()) / 2, int(found.table.sum())
    if wanted == 0:
        return " No value of the table is within that bound by itself, so no number of records would do."
    for factor in FACTORS:
        kept = _share_kept(found, proof_of(found.table * factor, bounds, confidence))
        if kept >= wanted:
            return (
                f" About {records * factor:,} records like these would keep {kept:.0%} of the records."
                if factor > 1
                else ""
            )
    return f" Even {records * FACTORS[-1]:,} records like these would keep less than {wanted:.0%} of the records."


def plan_by_rules(found: Counted, rules: Rules) -> Plan:
    """What an earlier release did, and besides it what is too risky in this table."""
    if rules.bounds.delta > 0:
        try:
            return _by_rules(found, rules, rules.bounds.ceiling)
        except NotCertifiedError:
            # This batch spends more than delta where it may exceed epsilon; then it may not.
            pass
    return _by_rules(found, rules, (rules.bounds.low, rules.bounds.high))


def _by_rules(found: Counted, rules: Rules, sides: tuple[float, float]) -> Plan:
    position = found.symbols.positions_in(rules.symbols)
    claims = [(found.joint, *sides), *_claims(found, rules.bounds, rules.also)[1:]]
    if isinstance(rules.treatment, Merging):
        treatment, besides = _merged_besides(found, rules.treatment, position, claims)
    else:
        assert isinstance(rules.treatment, Mixing)
        treatment, besides = _mixed_besides(found, rules, rules.treatment, position, sides)
    made_by = {
        "name": "watchdog" if isinstance(treatment, Merging) else "optimal",
        "replacement": BY_RULES,
        "method": "rules of an earlier release",
        "values_merged_besides": besides,
    }
    return _applied(found, replace(rules, treatment=treatment), made_by)


def _merged_besides(
    found: Counted, treatment: Merging, position: Places, claims: Sequence[tuple[Joint, float, float]]
) -> tuple[Treatment, int]:
    alike, region = treatment.touched(position), Region.of(claims)
    needed = cover_set(region, alike | ~region.safe, most=MOST_STEPS)
    if treatment.replacement is None and needed.any():
        needed = _with_missing(found, needed, claims)
    merged = treatment.merged.copy()
    merged[position[needed & (position >= 0)]] = True
    return Merging(merged, treatment.replacement), int((needed & ~alike).sum())


def _mixed_besides(
    found: Counted, rules: Rules, treatment: Mixing, position: Places, sides: tuple[float, float]
) -> tuple[Treatment, int]:
    """Outputs that are out of bounds in this batch are merged into one, with others that hide them."""
    missing = len(rules.symbols)
    outputs = [_pushed(joint, treatment, position, rules) for joint in (found.joint, *found.further)]
    occurs = np.flatnonzero(outputs[0].sum(axis=0) > 0)
    bounds = [sides, *((each.epsilon, each.epsilon) for each in rules.also)]
    region = Region.of([(Joint(each[:, occurs]), *bound) for each, bound in zip(outputs, bounds, strict=True)])
    merged = cover_set(region, ~region.safe, most=MOST_STEPS)
    if not merged.any():
        return treatment, 0
    places = occurs[merged]
    into = missing if missing in places else int(places[np.argmax(region.marginal[merged])])
    gone = {*places.tolist(), *(np.flatnonzero(rules.symbols.all_missing).tolist() if into == missing else ())}
    return treatment.joined(np.array(sorted(gone)), into), len(places)


def _pushed(joint: Joint, treatment: Treatment, position: Places, rules: Rules) -> Matrix:
    """P(s, y); a wholly missing value and a suppressed one look the same, and are one output."""
    output = treatment.push(joint.matrix, position)
    gone = np.flatnonzero(rules.symbols.all_missing)
    output[:, -1] += output[:, gone].sum(axis=1)
    output[:, gone] = 0.0
    return output


def outputs_of(found: Counted, rules: Rules) -> list[Joint]:
    """The joints of each secret and the output, were the table treated by the rules."""
    position = found.symbols.positions_in(rules.symbols)
    outputs = []
    for joint in (found.joint, *found.further):
        output = _pushed(joint, rules.treatment, position, rules)
        outputs.append(Joint(output[:, output.sum(axis=0) > 0], secrets=joint.secrets, total=joint.total))
    return outputs


def _applied(found: Counted, rules: Rules, made_by: dict[str, Any], proof: CertifiedPartition | None = None) -> Plan:
    """The plan of these rules for this table, if it keeps all bounds."""
    outputs = outputs_of(found, rules)
    touched = rules.treatment.touched(found.symbols.positions_in(rules.symbols))
    made = Plan(rules, touched, outputs[0], tuple(outputs[1:]), made_by, proof)
    attained = made.attained
    if not attained.holds(rules.bounds):
        raise NotCertifiedError(
            f"the release would leak {attained.epsilon:.4g} nats, and a mass of {attained.delta:.4g} would exceed "
            f"epsilon {rules.bounds.epsilon:g}: nothing was written. Choose a larger epsilon, or coarser columns "
            "(--bins)"
        )
    for each, reached in zip(rules.also, made.attained_also, strict=True):
        if not reached.holds(each.bounds):
            raise NotCertifiedError(
                f"the release would leak {reached.epsilon:.4g} nats of {', '.join(each.secret)}, more than "
                f"{each.epsilon:g}: nothing was written"
            )
    return made
