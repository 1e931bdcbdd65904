"""Certificates: what is claimed of a release, in words and numbers, and what the claim rests on."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tacit import __version__
from tacit.lift.joint import Mask
from tacit.lift.registry import MEASURES
from tacit.tables.cutting import Cut
from tacit.workflows.bounds import Bounds, FurtherSecret
from tacit.workflows.claims import HOW, assumptions_of, claim_of, randomness_of, readings_of
from tacit.workflows.estimates import VERDICTS
from tacit.workflows.ledger import composition_from
from tacit.workflows.planning import BY_RULES, MIXTURE, Plan
from tacit.workflows.results import Certificate, FurtherClaim, MeasureChange, Reading, Utility
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import LARGEST_EPSILON, Counted
from tacit.workflows.treatment import Mixing

REPORT = "report.html"
FORMAT = 2
RUNGS = ("watchdog", "camouflage", "subsets", "optimal")


@dataclass(frozen=True)
class Written:
    """A release's data on its way to a certificate: the file, the salt of fingerprints, what was asked of it."""

    data: Path
    salt: bytes
    keep_secret: bool
    random_state: int | None


def certificate_of(found: Counted, plan: Plan, written: Written) -> Certificate:
    """The certificate of a counted release whose data has been written."""
    rules, attained = plan.rules, plan.attained
    facts = facts_of(found, rules, written)
    promised = rules.bounds.promised(found.joint)
    readings = readings_of(attained.epsilon, rules.bounds, plan.proof)
    also = tuple(
        FurtherClaim(each.secret, each.epsilon, reached.epsilon)
        for each, reached in zip(rules.also, plan.attained_also, strict=True)
    )
    return Certificate(
        **facts,
        claim=claim_of(secret=rules.secret, bounds=rules.bounds, also=rules.also),
        holds=attained.holds(rules.bounds),
        attained_epsilon=attained.epsilon,
        attained_delta=attained.delta,
        breach_share=attained.breach_share,
        mechanism=plan.made_by | merged_facts(found, plan.touched),
        assumptions=assumptions_of(
            secret=facts["secret"],
            cuts=facts["cuts"],
            left_out=facts["left_out"],
            weight=found.question.weight,
            bounds=rules.bounds,
            randomness=facts["randomness"],
            also=rules.also,
            mixture=isinstance(rules.treatment, Mixing),
            confidence=readings[1].confidence,
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
        also=also,
        readings=readings,
    )


def facts_of(found: Counted, rules: Rules, written: Written) -> dict[str, Any]:
    """What certificates of every kind say alike."""
    question = found.question
    shown = {*question.released, *(question.hidden if written.keep_secret else ())}
    records = int(found.counts.records.sum())
    return {
        "epsilon": rules.bounds.epsilon,
        "epsilon_low": rules.bounds.low,
        "epsilon_high": rules.bounds.high,
        "delta": rules.bounds.delta,
        "delta_kind": rules.bounds.delta_kind,
        "epsilon_max": rules.bounds.epsilon_max,
        "secret": question.secret,
        "released": question.released,
        "utility": utility_of(found, rules),
        "cuts": tuple(made.to_dict() for made in question.cuts),
        "left_out": tuple(c.name for c in question.original.columns if c.name not in shown),
        "input": {
            "name": Path(question.original.name).name,
            "format": question.original.format,
            "records": records,
            "salted_sha256": salted(question.original.sha256(), written.salt),
        },
        "output": {"file": written.data.name, "records": records, "sha256": file_sha256(written.data)},
        "randomness": randomness_of(drawn=rules.treatment.drawn, repeatable=written.random_state is not None),
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


def utility_of(found: Counted, rules: Rules) -> Utility:
    """What the honest reader keeps; rows and cells unchanged are expected shares where replacements are drawn."""
    kept = rules.treatment.kept(found.joint.marginal, found.symbols, rules.symbols)
    return Utility(
        mutual_information=kept.information,
        entropy=kept.entropy,
        nmil=1 - kept.information / kept.entropy if kept.entropy > 0 else 0.0,
        rows_unchanged=kept.rows,
        cells_unchanged=kept.cells,
        column_shift=kept.column_shift,
    )


def certificate_from(data: dict[str, Any]) -> Certificate:
    """A certificate from the JSON that ``protect`` wrote.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError, OverflowError
        If a field that ``verify`` reads is missing, or is of another type than protect writes.
    """
    _check_fields(data)
    numbers: dict[str, float | None] = {
        key: float(data[key])
        for key in ("epsilon", "epsilon_low", "epsilon_high", "delta", "epsilon_max", "attained_epsilon")
    }
    for key in ("attained_delta", "breach_share", "estimated_epsilon", "estimated_exceeding"):
        numbers[key] = _number(data.get(key))
    made = Certificate(**{**data, **numbers})
    made = replace(
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
        also=tuple(
            FurtherClaim(tuple(each["secret"]), float(each["epsilon"]), float(each["attained_epsilon"]))
            for each in data["also"]
        ),
        readings=tuple(Reading(**each) for each in data["readings"]),
        composition=composition_from(data.get("composition")),
    )
    _check_kind(made)
    return made


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
    if not isinstance(data["holds"], bool) or mechanism["name"] not in RUNGS or data["format_version"] != FORMAT:
        raise ValueError(f"not a certificate of format {FORMAT} that says by which mechanism, and whether it holds")
    for name in ("plain_watchdog_attains", "watchdog_nmil", "loss_bound"):
        float(mechanism.get(name, 0.0))
    for made_cut in data["cuts"]:
        Cut.from_dict(made_cut)


def _check_kind(made: Certificate) -> None:
    """A counted claim needs its counted numbers, a learned one its estimates: neither may pass for the other."""
    if bounds_of(made).epsilon != made.epsilon:
        raise ValueError("epsilon is not the larger of its two sides")
    if made.kind == "counted":
        needed = (made.attained_delta, made.breach_share)
        if made.mechanism["replacement"] not in (*HOW, BY_RULES, MIXTURE):
            raise ValueError("a replacement that is not known")
        if made.mechanism["replacement"] == MIXTURE and "watchdog_nmil" not in made.mechanism:
            raise ValueError("a mixture says what one merged set would lose")
        names = tuple(reading.name for reading in made.readings)
        plainly = len(names) == 2 and made.readings[0] == Reading("population", made.readings[0].sentence, 1.0)
        if names != ("population", "sample") or not plainly or not _may_be_read(made.readings[1]):
            raise ValueError("a counted claim has two readings, of the table as population and as sample")
        if (made.estimated_epsilon, made.estimated_exceeding) != (None, None):
            raise ValueError("a counted claim with estimates")
    elif made.kind == "learned":
        needed = (made.estimated_epsilon, made.estimated_exceeding)
        by, verdict, digest = (made.mechanism[name] for name in ("estimator", "verdict", "salted_model_sha256"))
        if not (isinstance(by, str) and isinstance(digest, str) and verdict in VERDICTS):
            raise ValueError("a learned claim names its estimator, its model and a verdict")
        plainly = made.delta == 0 and math.isinf(made.epsilon_max) and made.epsilon_low == made.epsilon_high
        if not plainly or made.also or made.readings or made.mechanism["replacement"] not in HOW:
            raise ValueError("a learned claim has one secret, one epsilon, no delta, and a replacement that is known")
        numbers = (made.epsilon, made.attained_epsilon, *needed, float(made.mechanism["records_risky"]))
        # e to the power of more than this is no number.
        if None in needed or not all(0 <= (number or 0.0) < 700 for number in numbers):
            raise ValueError("a learned claim has numbers, and they are finite")
        made.mechanism["learned_from"]
    else:
        raise ValueError(f"no kind of claim is called {made.kind!r}")
    if made.epsilon > LARGEST_EPSILON or None in needed:
        raise ValueError(f"a {made.kind} claim without its numbers")


def _may_be_read(reading: Reading) -> bool:
    """Whether a second reading has either all of its numbers or none."""
    numbers = (
        reading.records_to_choose, reading.records_to_prove, reading.candidates, reading.passed, reading.kept
    )  # fmt: skip
    if reading.confidence is None:
        return numbers == (None,) * len(numbers)
    return 0 < reading.confidence < 1 and all(type(number) is int for number in numbers)


def bounds_of(certificate: Certificate) -> Bounds:
    """What a certificate claims, as bounds; a ValueError if it is out of range."""
    return Bounds.from_dict(
        {
            "epsilon_low": certificate.epsilon_low,
            "epsilon_high": certificate.epsilon_high,
            "delta": certificate.delta,
            "delta_kind": certificate.delta_kind,
            "epsilon_max": certificate.epsilon_max,
        }
    )


def further_of(certificate: Certificate) -> tuple[FurtherSecret, ...]:
    """The further secrets that a certificate claims something of."""
    return tuple(FurtherSecret(each.secret, each.epsilon) for each in certificate.also)


def mixes(certificate: Certificate) -> bool:
    """Whether a certificate is of a mixture, or of a batch treated by the rules of one."""
    how, name = certificate.mechanism["replacement"], certificate.mechanism["name"]
    return bool(how == MIXTURE or (how == BY_RULES and name != "watchdog"))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
