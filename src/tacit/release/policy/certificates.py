"""A certificate compared with a policy: is what it claims at least as strict as what is asked?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tacit.document import Nats, listed
from tacit.errors import Sentence, sentence
from tacit.lift import confident
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import AnyCertificate, CountedCertificate
from tacit.release.policy.lines import AskedOfSecret, PolicyCheck, asked_of_secrets
from tacit.requests.policy import Policy
from tacit.tables.cutting import Cut


def checks_of_certificate(certificate: AnyCertificate, policy: Policy) -> tuple[PolicyCheck, ...]:
    """What a policy asks, compared with what a release claims; whether the claim is true is for ``verify`` to say.

    Guarantees
    ----------
    Every line passes only if the claim, were it true, implies what the policy asks. A bound on a secret implies one on
    each of its columns, and on classes of its values: groups of a number, or its thresholds. A bound on groups implies
    one on wider groups whose edges are among its own, but none on the values, or on thresholds. A bound on thresholds
    implies only one on thresholds with a larger share on either side. A bound given what may be known implies none
    given anything else, and none where something may be known that is not released.
    """
    if not isinstance(certificate, CountedCertificate):
        why = f"a release of {certificate.kind} certifies nothing about a single record"
        return (PolicyCheck("bound", False, why, "epsilon"),)
    lines = [_of_secret(certificate, asked, policy.weight) for asked in asked_of_secrets(policy)]
    rest = (_least(certificate, policy), *_known(certificate, policy), _columns(certificate, policy))
    return (*lines, *rest, *_made(certificate, policy))


def _of_secret(certificate: CountedCertificate, asked: AskedOfSecret, weight: str | None) -> PolicyCheck:
    """The strictest of the claims that imply what is asked, compared with it."""
    claims, why = list(_claims(certificate, asked)), None
    if not claims:
        why = _unclaimed(certificate, asked)
    elif certificate.delta > 0:
        why = f"the bound may fail with a delta of {certificate.delta:g}, which no policy allows"
    elif certificate.mechanism.weight != weight:
        why = "the certificate weighs records by another column than the policy does"
    if why is not None:
        return PolicyCheck(asked.name, False, why, "epsilon")
    low, high = min(low for low, _ in claims), min(high for _, high in claims)
    passed = certificate.holds and low <= asked.bounds.low and high <= asked.bounds.high
    return PolicyCheck(asked.name, passed, beside(low, high, asked.bounds), "epsilon")


def _claims(certificate: CountedCertificate, asked: AskedOfSecret) -> Iterator[tuple[float, float]]:
    """Both sides of every claim that implies a bound on a secret: as claimed, or as attained where that is less."""
    wanted, bounds, attained = set(asked.secret), certificate.bounds, certificate.attained_epsilon
    fine = all(_fine_enough(made, asked) for made in certificate.cuts if made.column in wanted)
    if certificate.thresholds is not None:
        floor = asked.bounds.thresholds
        fine_enough = certificate.secret == asked.secret and floor is not None and certificate.thresholds <= floor
    else:
        fine_enough = fine and wanted <= {*certificate.secret}
    named = not certificate.secret_values or (
        asked.secret == certificate.secret and asked.values and {*asked.values} <= {*certificate.secret_values}
    )
    if fine_enough and named:
        low = min(bounds.low, attained) if math.isfinite(bounds.low) else bounds.low
        yield low, min(bounds.high, attained)
    for each in certificate.also:
        if fine and wanted <= {*each.secret}:
            side = min(each.epsilon, each.attained_epsilon)
            yield side, side


def _fine_enough(made: Cut, asked: AskedOfSecret) -> bool:
    """Whether the bounded groups are those that are asked for, or finer ones."""
    wish = asked.groups.get(made.column)
    if wish is None:
        return False
    return len(made.labels) >= wish if isinstance(wish, int) else {*map(float, wish)} <= {*made.edges}


def _unclaimed(certificate: CountedCertificate, asked: AskedOfSecret) -> str:
    """Why no claim implies a bound on a secret, and what a policy can say. Edges may be values: they are not shown."""
    if certificate.thresholds is not None and certificate.secret == asked.secret:
        floor = certificate.thresholds
        return f"only its thresholds with {floor:g} of all on either side are bounded, but the policy asks for more"
    cut = [made for made in certificate.cuts if made.column in asked.secret]
    if not cut:
        return "the certificate bounds nothing that implies a bound on it"
    told = listed(f"{made.column} was cut into {len(made.labels)} groups" for made in cut)
    if any(made.column in asked.groups for made in cut):
        return f"{told}, which are not those of the policy ('bins'), or finer"
    return f"{told}, and a bound on the groups implies none on the values: if the groups are what is secret, say 'bins'"


def beside(low: float, high: float, asked: LiftBounds) -> Sentence:
    """How much is told about a secret, and how much is allowed."""
    if math.isinf(low) and math.isfinite(asked.low):
        return sentence("some released values rule a secret out, but only {may} is allowed", may=Nats(asked.low, 6))
    if math.isfinite(asked.low) and not asked.symmetric:
        words = "{low} downwards and {high} upwards, where {may_low} and {may_high} are allowed"
        sides = {"low": Nats(low, 4, rounded="up"), "high": Nats(high, 4, rounded="up")}
        return sentence(words, **sides, may_low=Nats(asked.low, 6), may_high=Nats(asked.high, 6))
    words = "{told}, where {may} is allowed" if asked.symmetric else "{told} upwards, where {may} is allowed"
    worst = max(low, high) if asked.symmetric else high
    return sentence(words, told=Nats(worst, 4, rounded="up"), may=Nats(asked.high, 6))


def _least(certificate: CountedCertificate, policy: Policy) -> PolicyCheck:
    file = certificate.file
    told = f"{file.smallest:,} at least, {policy.least:,} required"
    return PolicyCheck("people who share a value", file.smallest >= policy.least, told, "least")


def _known(certificate: CountedCertificate, policy: Policy) -> tuple[PolicyCheck, ...]:
    asked = policy.known or ()
    if policy.secret is None or (not asked and not certificate.known):
        return ()
    lost = [name for name in asked if name not in certificate.released]
    if lost:
        return (not_bounded(lost),)
    same = {*asked} == {*certificate.known}
    words = "the bound allows for {claimed}; {asked} may be known"
    claimed, told = (listed(each) if each else "nothing" for each in (certificate.known, asked))
    return (PolicyCheck("what may be known", same, sentence(words, claimed=claimed, asked=told), "known"),)


def not_bounded(lost: Sequence[str]) -> PolicyCheck:
    """The line of columns that may be known and are not released: no claim is about them and the release together."""
    are, they_tell = ("is", "it tells") if len(lost) == 1 else ("are", "they tell")
    told = (
        f"{listed(lost)} may be known and {are} not released: what {they_tell} together with the release is not bounded"
    )
    return PolicyCheck("what may be known", False, told, "known")


def _columns(certificate: CountedCertificate, policy: Policy) -> PolicyCheck:
    """No column is released that must not be; a secret that stays in the file counts as released."""
    hidden = {name for asked in asked_of_secrets(policy) for name in asked.secret}
    own = {*certificate.secret, *(name for each in certificate.also for name in each.secret)}
    told = [*certificate.released, *(own - {*certificate.left_out})]
    allowed = {*(policy.released or told)} - hidden - {*(policy.drop or ())}
    beyond = sorted({*told} - allowed)
    detail = f"{len(told):,} columns, all of which may be" if not beyond else f"{listed(beyond)} may not be"
    return PolicyCheck("released columns", not beyond, detail, "columns")


def _made(certificate: CountedCertificate, policy: Policy) -> Iterator[PolicyCheck]:
    """How it was made, and how surely it is proved."""
    proved, asked = certificate.readings[1].confidence, policy.confidence
    if asked is not None:
        told = "nothing is proved" if proved is None else f"proved with {confident(proved)}"
        passed = proved is not None and proved >= asked
        yield PolicyCheck("level of confidence", passed, f"{told}; {confident(asked)} is asked for", "confidence")
    if policy.mechanisms is not None:
        # Camouflage is a step of the watchdog.
        name = "watchdog" if certificate.mechanism.name == "camouflage" else certificate.mechanism.name
        told = f"made by '{name}'; allowed: {', '.join(policy.mechanisms)}"
        yield PolicyCheck("mechanism", name in policy.mechanisms, told, "mechanism")
