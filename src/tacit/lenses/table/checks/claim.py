"""The lines of a verification about the claims of a counted release: every number is computed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.proving import prove_again
from tacit.document import Nats, listed
from tacit.errors import Sentence, sentence
from tacit.lenses.table.certifying import given_joint, measures_of, utility_of
from tacit.lenses.table.mechanisms import CellProof, merged_facts, proof_of
from tacit.lenses.table.tabulating import Counted
from tacit.lift import AGREEMENT, SLACK, Joint, Mask, agree, confident, nmil, watchdog_bound_exact
from tacit.release.bounds import Attained
from tacit.release.certificate import IN_CELLS, MIXTURE, CountedCertificate, MeasureChange
from tacit.release.checks import Check, close
from tacit.release.claims import population_sentence, sample_proof, sample_sentence
from tacit.release.codec import text_of
from tacit.release.rules import ReleaseRules


def checks_of_claim(
    certificate: CountedCertificate,
    counted: Counted,
    outputs: Sequence[Joint],
    merged: Mask,
    design: CellCode | None = None,
) -> list[Check]:
    """The bounds, on the joints of secret and output, and every number that follows from them."""
    bounds, output, mixes = certificate.bounds, outputs[0], certificate.mechanism.mixes
    attained = counted.attained(output, bounds)
    lowest, highest = (Nats(side, 6) for side in bounds.ceiling)
    low, high = Nats(attained.low, 6), Nats(attained.high, 6)
    words = "recomputed -{low} to {high}, allowed -{lowest} to {highest}"
    sides = sentence(words, low=low, high=high, lowest=lowest, highest=highest)
    merged_share = float(counted.joint.marginal[merged].sum())
    # The loss of a mixture can be computed only from its rules; cells have a line of their own.
    in_cells = certificate.mechanism.replacement == IN_CELLS
    loss = (
        [] if mixes or in_cells else [close("loss of utility", nmil(counted.joint, merged), certificate.utility.nmil)]
    )
    known = () if counted.question.code is None else counted.question.code.known
    return [
        Check(
            "what may be known",
            known == certificate.known,
            f"the cells are inside {listed(known)}" if known else "nothing",
        ),
        close("attained epsilon", attained.epsilon, certificate.attained_epsilon),
        Check("epsilon is kept", attained.holds(bounds, slack=SLACK), sides),
        close("delta", attained.delta, certificate.attained_delta),
        close("records that breach epsilon", attained.breach_share, certificate.breach_share),
        close(f"records {'mixed' if mixes else 'merged'}", merged_share, certificate.mechanism.records_merged),
        *loss,
        *_checks_of_measures(certificate, counted, output),
        *_checks_of_further(certificate, outputs[1:], counted),
        *_checks_of_readings(certificate, counted, merged, design),
    ]


def _checks_of_measures(certificate: CountedCertificate, counted: Counted, output: Joint) -> list[Check]:
    known = bool(certificate.known)
    right = {m.name: m for m in measures_of(certificate.bounds, given_joint(counted), output, known=known)}
    claimed = {m.name: m for m in certificate.measures}
    wrong = [m.title for name, m in right.items() if name not in claimed or not _alike(m, claimed[name])]
    # A measure that is unknown, or stated twice, was not recomputed.
    wrong += [m.name for m in certificate.measures if m.name not in right or m is not claimed[m.name]]
    promised = {name: m.promise for name, m in claimed.items() if m.promise is not None and name in right}
    over = [right[name].title for name, promise in promised.items() if right[name].after > promise + AGREEMENT]
    agreed = f"differ: {', '.join(wrong)}" if wrong else f"{len(right)} recomputed"
    return [
        Check("measures before and after", not wrong, agreed),
        Check("promises", not over, f"exceeded: {', '.join(over)}" if over else "all kept"),
    ]


def _alike(own: MeasureChange, claimed: MeasureChange) -> bool:
    words = [(m.title, m.unit, m.kind, m.promise is None) for m in (own, claimed)]
    if (own.before is None) != (claimed.before is None):
        return False
    numbers = [(m.before or 0.0, m.after, m.promise or 0.0) for m in (own, claimed)]
    return words[0] == words[1] and all(agree(*pair) for pair in zip(*numbers, strict=True))


def recomputed(attained: float, allowed: float) -> Sentence:
    """What was found, and what is allowed."""
    return sentence("recomputed {attained}, allowed {allowed}", attained=Nats(attained, 6), allowed=Nats(allowed, 6))


def _checks_of_further(certificate: CountedCertificate, outputs: Sequence[Joint], counted: Counted) -> list[Check]:
    checks = []
    for claimed, limits, output in zip(certificate.also, certificate.further, outputs, strict=False):
        attained = Attained.of(output, limits.bounds, counted.parts)
        right = agree(attained.epsilon, claimed.attained_epsilon) and attained.holds(limits.bounds, slack=SLACK)
        detail = recomputed(attained.epsilon, limits.epsilon)
        checks.append(Check(f"epsilon of {', '.join(limits.secret)}", right, detail))
    return checks


def _checks_of_readings(
    certificate: CountedCertificate, counted: Counted, merged: Mask, design: CellCode | None
) -> list[Check]:
    """What the records prove is proved again: the counts settle which record goes to which half."""
    bounds, (here, there) = certificate.bounds, certificate.readings
    right = here.sentence == population_sentence(certificate.attained_epsilon, bounds)
    right = right and there.sentence == sample_sentence(there, bounds)
    checks = [Check("readings", right, "say what the numbers say" if right else "do not say what the numbers say")]
    if there.confidence is None:
        return checks
    if certificate.in_cells:
        return [*checks, _check_of_cells(certificate, counted, design, there.confidence)]
    proof = proof_of(counted.table, bounds, there.confidence)
    same = there.proof == sample_proof(proof) and bool((proof.merged == merged).all())
    again = f"{proof.passed:,} of {proof.candidates:,} releases proved again, {confident(there.confidence)} confidence"
    return [*checks, Check("proof from the records", same, again if same else "the records do not prove this again")]


def _check_of_cells(
    certificate: CountedCertificate, counted: Counted, design: CellCode | None, confidence: float
) -> Check:
    """The grown tree is proved again, and must give exactly the cells of the release."""
    name, question = "proof from the records", counted.question
    if design is None:
        return Check(name, None, "needs private/rules.json")
    bounds = certificate.bounds
    request = CodeRequest(
        columns=certificate.released,
        claims=(
            CodeClaim(certificate.secret, bounds.low, bounds.high, floor=bounds.thresholds),
            *(CodeClaim(each.secret, each.epsilon, each.epsilon) for each in certificate.further),
        ),
        least=certificate.file.least,
        known=certificate.known,
    )
    proved = prove_again(question.to_bound(), design, request, confidence=confidence)
    same = certificate.readings[1].proof == sample_proof(CellProof.of(proved))
    same = same and question.code is not None and text_of(proved.code) == text_of(question.code)
    passed, questions = proved.proof.passed, proved.proof.questions
    again = f"{passed:,} of {questions:,} questions passed again, {confident(confidence)} confidence"
    return Check(name, same, again if same else "the records do not prove this again")


def checks_of_utility(
    certificate: CountedCertificate, counted: Counted, rules: ReleaseRules, merged: Mask
) -> list[Check]:
    """What the honest reader keeps, and how much was merged, computed again."""
    utility, mechanism = utility_of(counted, rules), certificate.mechanism
    wrong = [
        field.name
        for field in fields(utility)
        if not agree(getattr(utility, field.name), getattr(certificate.utility, field.name))
    ]
    facts = merged_facts(counted, merged)
    wrong += [name for name in ("values", "values_merged") if getattr(mechanism, name) != facts[name]]
    plain = mechanism.plain_watchdog_attains
    if plain is not None and not agree(watchdog_bound_exact(counted.joint, certificate.epsilon), plain):
        wrong.append("plain_watchdog_attains")
    # The loss of other mechanisms is not recomputed, but a mixture's lies between the least loss and that of one set.
    if not (mechanism.loss_bound or 0.0) <= utility.nmil + AGREEMENT:
        wrong.append("loss_bound")
    mixture = mechanism.replacement == MIXTURE and not certificate.in_cells
    if mixture and not utility.nmil <= (mechanism.watchdog_nmil or 0.0) + AGREEMENT:
        wrong.append("watchdog_nmil")
    named = ", ".join(name.replace("_", " ") for name in wrong)
    detail = f"differ: {named}" if wrong else f"{len(fields(utility)) + 2} numbers recomputed"
    return [Check("what is kept and merged", not wrong, detail)]
