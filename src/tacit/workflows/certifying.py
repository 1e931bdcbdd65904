"""Certificates: what is claimed of a release, in words and numbers, and what the claim rests on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit import __version__
from tacit.lift.bounds import guessing_bound, promises
from tacit.lift.joint import Joint, Mask, Vector
from tacit.lift.measures import entropy
from tacit.lift.registry import MEASURES
from tacit.tables.cutting import Cut
from tacit.tables.symbols import Symbols
from tacit.workflows.estimates import VERDICTS
from tacit.workflows.planning import BY_RULES, TOLERANCE, Plan
from tacit.workflows.results import Certificate, MeasureChange, Utility
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import LARGEST_EPSILON, Counted

REPORT = "report.html"
# The sentence that every form of a learned release must say.
NOTHING_POINTWISE = "A learned estimate certifies nothing pointwise."
NO_LEAK_DETECTED = "No leak was detected by the estimator, which is no proof that there is none."
_NOT_TESTED = "Whether the saved model is right about these records was not tested."
NOTHING_DRAWN = "None: the mechanism is deterministic."
_HOW = {
    "resample": "replaced by draws from their own pool",
    "uniform": "replaced by uniform draws from their own pool",
    "merge": "replaced by the most frequent of them",
    "suppress": "suppressed",
}


@dataclass(frozen=True)
class Written:
    """A release's data on its way to a certificate: the file, the salt of fingerprints, what was asked of it."""

    data: Path
    salt: bytes
    keep_secret: bool
    random_state: int | None


def certificate_of(found: Counted, plan: Plan, written: Written) -> Certificate:
    """The certificate of a counted release whose data has been written."""
    rules = plan.rules
    facts = facts_of(found, rules, plan.merged, written)
    bound = rules.epsilon if rules.delta == 0 else rules.epsilon_max
    promised = promised_by(found.joint, bound)
    return Certificate(
        **facts,
        claim=claim_of(secret=rules.secret, epsilon=rules.epsilon, delta=rules.delta, epsilon_max=rules.epsilon_max),
        holds=plan.attained <= bound + TOLERANCE,
        attained_epsilon=plan.attained,
        attained_delta=plan.mass_outside(rules.epsilon),
        breach_share=plan.breach_share(rules.epsilon),
        mechanism=plan.made_by | merged_facts(found, plan.merged),
        assumptions=assumptions_of(
            secret=facts["secret"],
            cuts=facts["cuts"],
            left_out=facts["left_out"],
            weight=found.question.weight,
            delta=rules.delta,
            randomness=facts["randomness"],
        ),
        measures=tuple(
            MeasureChange(
                m.name,
                m.title,
                float(m.function(found.joint)),
                float(m.function(plan.output)),
                promised.get(m.name),
                m.unit,
            )
            for m in MEASURES.values()
        ),
    )


def promised_by(joint: Joint, bound: float) -> dict[str, float]:
    """What a bound on log-lift promises of each measure that it promises anything of."""
    # The measures of an order are shown at order 2.
    promised = {p.measure: p.bound for p in promises(bound) if p.order in (None, 2.0)}
    return {**promised, "guessing_probability": guessing_bound(joint.prior, bound)}


def facts_of(found: Counted, rules: Rules, merged: Mask, written: Written) -> dict[str, Any]:
    """What certificates of every kind say alike."""
    question = found.question
    shown = {*question.released, *(question.secret if written.keep_secret else ())}
    records = int(found.counts.records.sum())
    return {
        "epsilon": rules.epsilon,
        "delta": rules.delta,
        "epsilon_max": rules.epsilon_max,
        "secret": question.secret,
        "released": question.released,
        "utility": utility_of(found, rules, merged),
        "cuts": tuple(made.to_dict() for made in question.cuts),
        "left_out": tuple(c.name for c in question.original.columns if c.name not in shown),
        "input": {
            "name": Path(question.original.name).name,
            "format": question.original.format,
            "records": records,
            "salted_sha256": salted(question.original.sha256(), written.salt),
        },
        "output": {"file": written.data.name, "records": records, "sha256": file_sha256(written.data)},
        "randomness": randomness_of(drawn=drawn_by(rules), repeatable=written.random_state is not None),
        "tacit_version": __version__,
    }


def merged_facts(found: Counted, merged: Mask) -> dict[str, Any]:
    """How much was merged."""
    return {
        "weight": found.question.weight,
        "values": found.joint.shape[1],
        "values_merged": int(merged.sum()),
        "records_merged": float(found.joint.marginal[merged].sum()),
    }


def file_sha256(path: Path) -> str:
    """Fingerprint of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def salted(sha256: str | None, salt: bytes) -> str | None:
    """The fingerprint of the original as it may be published.

    The plain one would let anybody who knows all but a few bits of the original, such as the secrets of a small table,
    try them all; the salt stays with the owner.
    """
    return None if sha256 is None else hashlib.sha256(salt + bytes.fromhex(sha256)).hexdigest()


def claim_of(*, secret: tuple[str, ...], epsilon: float, delta: float, epsilon_max: float) -> str:
    """The claim in one sentence."""
    factor = math.exp(epsilon)
    what = (
        f"Seeing a record of this release changes the probability of any value of {', '.join(secret)} by a factor "
        f"between {1 / factor:.3g} and {factor:.3g} (|log-lift| at most {epsilon:g} nats)"
    )
    if delta == 0:
        return what + "."
    ceiling = "without a bound" if math.isinf(epsilon_max) else f"by at most {epsilon_max:g} nats"
    return f"{what}, except for pairs of total probability {delta:g}, which may exceed it {ceiling}."


def claim_of_learned(*, secret: tuple[str, ...], epsilon: float, attained: float, mechanism: Mapping[str, Any]) -> str:
    """The claim of a learned release: what is certain of the merged records, and what is only estimated of the rest."""
    merged, risky, by = (mechanism[name] for name in ("records_merged", "records_risky", "estimator"))
    # Rounded up, so that the sentence never claims more than was counted.
    bound = math.ceil(attained * 1e4) / 1e4
    factor = math.exp(bound)
    if merged == 0:
        certain = f"No record was judged risky by {by}."
    else:
        besides = f", and others beside them ({merged:.1%} in all)," if merged > risky + 1e-12 else ""
        certain = (
            f"The {risky:.1%} of the records judged risky by {by}{besides} were "
            f"{_HOW[mechanism['replacement']]}: seeing such a record changes the probability of any value of "
            f"{', '.join(secret)} by a factor between {1 / factor:.3g} and {factor:.3g} (|log-lift| at most "
            f"{bound:g} nats, counted on this table, exact)."
        )
    rest = (
        f"{'All' if merged == 0 else 'The other'} records are released as they are: for them {epsilon:g} nats is an "
        f"estimate by {by}, not a guarantee."
        if merged < 1 - 1e-12
        else "No record is released as it was."
    )
    tested = {"no leak detected": f"{NO_LEAK_DETECTED} ", "cannot tell": f"{_NOT_TESTED} "}
    return f"{certain} {rest} {tested.get(str(mechanism['verdict']), '')}{NOTHING_POINTWISE}"


def assumptions_of(
    *,
    secret: Sequence[str],
    cuts: Sequence[Mapping[str, Any]],
    left_out: Sequence[str],
    weight: str | None,
    delta: float,
    randomness: str,
) -> tuple[str, ...]:
    """What a claim rests on, in sentences: a function of what else the certificate says, so that it can be checked."""
    texts = [
        "The table is the population: probabilities are its shares. For people outside it the claim is an estimate.",
        "The adversary knows those shares and how the release was made, and sees one record of it; it knows nothing "
        "else about the person.",
        "Rows of the same person, other releases of the same people, and columns from elsewhere are not counted in.",
    ]
    if not randomness.startswith(NOTHING_DRAWN):
        texts.append(
            "The bound is about the draw of the replacements. Whoever recounts this one release beside the secrets "
            "finds chance deviations from it, as in any sample."
        )
    cut = [str(made["column"]) for made in cuts if made["column"] in secret]
    if cut:
        texts.append(f"The secret {', '.join(cut)} was cut into groups: the claim is about which group a record is in.")
    if weight is not None:
        texts.append("Probabilities are shares of the total weight.")
    if delta > 0:
        texts.append(
            "With delta above zero the bound may fail with that probability over pairs of secret and record; the "
            "share of records that breach it for some secret can be much larger and is given as breach_share. Later "
            "merging of values may raise delta."
        )
    if not set(secret) <= set(left_out):
        texts.append("THE SECRET ITSELF IS IN THE FILE, as asked: the claim is about the other columns alone.")
    return tuple(texts)


def assumption_of_learned(estimator: str, exceeding: float) -> str:
    """What a learned claim rests on besides."""
    return (
        f"Which records are risky was judged by {estimator}. {NOTHING_POINTWISE} A kept record may be riskier than "
        f"epsilon: of up to {exceeding:.0%} of the kept records the 95% interval reaches beyond it."
    )


def drawn_by(rules: Rules) -> bool:
    """Whether replacements are drawn, and not all the same."""
    return rules.replacement is not None and int(np.count_nonzero(rules.replacement)) > 1


def randomness_of(*, drawn: bool, repeatable: bool, learned_here: bool = False) -> str:
    """Where the chance in a release came from."""
    drew = NOTHING_DRAWN
    if drawn and not repeatable:
        drew = "Drawn with a 256-bit key from the system's secure source; the key was not kept."
    elif drawn:
        drew = (
            "WARNING: a random_state was given, so the draws can be made again by whoever knows or guesses it. "
            "Use it for tests, not for publishing."
        )
    if not learned_here:
        return drew
    if not repeatable:
        return f"{drew} Learned with a seed from the system's secure source, which is not published."
    return (
        f"{drew} WARNING: what was learned can be learned again with the random_state that was given, and the "
        "published estimates then tell guesses of the secrets apart. Use it for tests, not for publishing."
    )


def utility_of(found: Counted, rules: Rules, merged: Mask) -> Utility:
    """What the honest reader keeps; rows and cells unchanged are expected shares where replacements are drawn."""
    joint = found.joint
    whole = entropy(joint.marginal)
    pooled = float(joint.marginal[merged].sum())
    lost = pooled * entropy(joint.marginal[merged] / pooled) if pooled > 0 else 0.0
    rows, cells = _unchanged(found, rules, merged)
    return Utility(
        mutual_information=whole - lost,
        entropy=whole,
        nmil=lost / whole if whole > 0 else 0.0,
        rows_unchanged=rows,
        cells_unchanged=cells,
    )


def _unchanged(found: Counted, rules: Rules, merged: Mask) -> tuple[float, float]:
    """Expected share of rows, and of released cells, that the mechanism leaves as they were."""
    p = found.joint.marginal
    kept = float(p[~merged].sum())
    if not merged.any():
        return 1.0, 1.0
    columns = len(found.symbols.columns)
    same_cells = sum(_agreement(found.symbols, p * merged, rules, j) for j in range(columns))
    same_row = float(p[merged & found.symbols.all_missing].sum())
    if rules.replacement is not None:
        position = found.symbols.positions_in(rules.symbols)
        known = merged & (position >= 0)
        same_row = float((p[known] * rules.replacement[position[known]]).sum())
    return kept + same_row, kept + same_cells / columns


def _agreement(symbols: Symbols, weight: Vector, rules: Rules, column: int) -> float:
    """Probability that a merged row keeps its value of one column."""
    here: dict[Any, float] = dict(_by_level(symbols, weight, column))
    if rules.replacement is None:
        return here.get(None, 0.0)
    return sum(here.get(level, 0.0) * mass for level, mass in _by_level(rules.symbols, rules.replacement, column))


def _by_level(symbols: Symbols, weight: Vector, column: int) -> list[tuple[Any, float]]:
    levels = symbols.levels[column]
    mass = np.bincount(symbols.codes[:, column], weights=weight, minlength=len(levels))
    return list(zip(levels, mass.tolist(), strict=True))


def certificate_from(data: dict[str, Any]) -> Certificate:
    """A certificate from the JSON that ``protect`` wrote.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError, OverflowError
        If a field that ``verify`` reads is missing, or is of another type than protect writes.
    """
    _check_fields(data)
    numbers: dict[str, float | None] = {
        key: float(data[key]) for key in ("epsilon", "delta", "epsilon_max", "attained_epsilon")
    }
    for key in ("attained_delta", "breach_share", "estimated_epsilon", "estimated_exceeding"):
        numbers[key] = _number(data.get(key))
    made = Certificate(**{**data, **numbers})
    _check_kind(made)
    return replace(
        made,
        secret=tuple(made.secret),
        released=tuple(made.released),
        assumptions=tuple(made.assumptions),
        measures=tuple(
            MeasureChange(
                m["name"],
                m["title"],
                float(m["before"]),
                float(m["after"]),
                _number(m["promise"]),
                m.get("unit", "nats"),
                m.get("kind", "plug-in"),
            )
            for m in data["measures"]
        ),
        utility=Utility(**data["utility"]),
        cuts=tuple(made.cuts),
        left_out=tuple(made.left_out),
    )


def _check_fields(data: dict[str, Any]) -> None:
    """What verify will ask for must be there, and of its type."""
    mechanism, output, source = data["mechanism"], data["output"], data["input"]
    texts = [data["claim"], data["randomness"], data["tacit_version"], mechanism["replacement"], mechanism["method"]]
    texts += [output["file"], output["sha256"], *data["secret"], *data["released"], *data["left_out"]]
    texts += [*data["assumptions"], source["name"], source["format"]]
    optional = (mechanism["weight"], source["salted_sha256"], output.get("report_sha256"))
    texts += [value for value in optional if value is not None]
    wholes = [mechanism["values"], mechanism["values_merged"], output["records"], source["records"]]
    shares = [mechanism["records_merged"], *(data["utility"][f.name] for f in fields(Utility))]
    lists = [data[name] for name in ("secret", "released", "left_out", "assumptions", "cuts", "measures")]
    if not (all(isinstance(text, str) for text in texts) and all(isinstance(items, list) for items in lists)):
        raise TypeError("a field that should be text or a list is not")
    if not all(type(number) is int for number in wholes) or not all(type(s) in (int, float) for s in shares):
        raise TypeError("a field that should be a number is not")
    if Path(output["file"]).name != output["file"] or not data["secret"] or not data["released"]:
        raise ValueError("the data is not a file of the release, or has no secret or nothing released")
    if not isinstance(data["holds"], bool) or mechanism["name"] != "watchdog" or data.get("format_version", 1) != 1:
        raise ValueError("not a watchdog's certificate of format 1 that says whether it holds")
    float(mechanism.get("plain_watchdog_attains", 0.0))
    for made_cut in data["cuts"]:
        Cut.from_dict(made_cut)


def _check_kind(made: Certificate) -> None:
    """A counted claim needs its counted numbers, a learned one its estimates: neither may pass for the other."""
    if made.kind == "counted":
        needed = (made.attained_delta, made.breach_share)
        if made.mechanism["replacement"] not in (*_HOW, BY_RULES):
            raise ValueError("a replacement that is not known")
        if (made.estimated_epsilon, made.estimated_exceeding) != (None, None):
            raise ValueError("a counted claim with estimates")
    elif made.kind == "learned":
        needed = (made.estimated_epsilon, made.estimated_exceeding)
        by, verdict, digest = (made.mechanism[name] for name in ("estimator", "verdict", "salted_model_sha256"))
        if not (isinstance(by, str) and isinstance(digest, str) and verdict in VERDICTS):
            raise ValueError("a learned claim names its estimator, its model and a verdict")
        if made.delta != 0 or not math.isinf(made.epsilon_max) or made.mechanism["replacement"] not in _HOW:
            raise ValueError("a learned claim has no delta, and a replacement that is known")
        numbers = (made.epsilon, made.attained_epsilon, *needed, float(made.mechanism["records_risky"]))
        # e to the power of more than this is no number.
        if None in needed or not all(0 <= (number or 0.0) < 700 for number in numbers):
            raise ValueError("a learned claim has numbers, and they are finite")
        made.mechanism["learned_from"]
    else:
        raise ValueError(f"no kind of claim is called {made.kind!r}")
    if made.epsilon > LARGEST_EPSILON or None in needed:
        raise ValueError(f"a {made.kind} claim without its numbers")


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
