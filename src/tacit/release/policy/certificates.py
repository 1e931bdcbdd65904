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
    lines = [_of_secret(certificate, rule, policy.weight) for rule in asked_of_secrets(policy)]
    rest = (_least(certificate, policy), *_known(certificate, policy), _columns(certificate, policy))
    return (*lines, *rest, *_making(certificate, policy))


def _of_secret(certificate: CountedCertificate, rule: AskedOfSecret, weight: str | None) -> PolicyCheck:
    """The strictest of the claims that imply what is asked, compared with it."""
    claims, why = list(_claims(certificate, rule)), None
    if not claims:
        why = _unclaimed(certificate, rule)
    elif certificate.delta > 0:
        why = f"the bound may fail with a delta of {certificate.delta:g}, which no policy allows"
    elif certificate.mechanism.weight != weight:
        why = "the certificate weighs records by another column than the policy does"
    if why is not None:
        return PolicyCheck(rule.name, False, why, "epsilon")
    low, high = min(low for low, _ in claims), min(high for _, high in claims)
    passed = certificate.holds and low <= rule.bounds.low and high <= rule.bounds.high
    return PolicyCheck(rule.name, passed, beside(low, high, rule.bounds), "epsilon")


def _claims(certificate: CountedCertificate, rule: AskedOfSecret) -> Iterator[tuple[float, float]]:
    """Both sides of every claim that implies a bound on a secret: as claimed, or as attained where that is less."""
    wanted, bounds, attained = set(rule.secret), certificate.bounds, certificate.attained_epsilon
    fine = all(_fine_enough(group_cut, rule) for group_cut in certificate.cuts if group_cut.column in wanted)
    if certificate.thresholds is not None:
        floor = rule.bounds.thresholds
        fine_enough = certificate.secret == rule.secret and floor is not None and certificate.thresholds <= floor
    else:
        fine_enough = fine and wanted <= {*certificate.secret}
    named = not certificate.secret_values or (
        rule.secret == certificate.secret and rule.values and {*rule.values} <= {*certificate.secret_values}
    )
    if fine_enough and named:
        low = min(bounds.low, attained) if math.isfinite(bounds.low) else bounds.low
        yield low, min(bounds.high, attained)
    for each in certificate.also:
        if fine and wanted <= {*each.secret}:
            side = min(each.epsilon, each.attained_epsilon)
            yield side, side


def _fine_enough(group_cut: Cut, rule: AskedOfSecret) -> bool:
    """Whether the bounded groups are those that are asked for, or finer ones."""
    wish = rule.groups.get(group_cut.column)
    if wish is None:
        return False
    return len(group_cut.labels) >= wish if isinstance(wish, int) else {*map(float, wish)} <= {*group_cut.edges}


def _unclaimed(certificate: CountedCertificate, rule: AskedOfSecret) -> str:
    """Why no claim implies a bound on a secret, and what a policy can say. Edges may be values: they are not shown."""
    if certificate.thresholds is not None and certificate.secret == rule.secret:
        floor = certificate.thresholds
        return f"only its thresholds with {floor:g} of all on either side are bounded, but the policy asks for more"
    cut = [each for each in certificate.cuts if each.column in rule.secret]
    if certificate.secret_values and certificate.secret == rule.secret:
        values = ", ".join(f'"{each}"' for each in certificate.secret_values)
        return (
            "the certificate is only about some of its values; if no others are secret, the policy should say "
            f"secret = {{{rule.secret[0]} = [{values}]}}"
        )
    if not cut:
        return "the certificate bounds nothing that implies a bound on it"
    groups = listed(f"{each.column} was cut into {len(each.labels)} groups" for each in cut)
    if any(each.column in rule.groups for each in cut):
        return f"{groups}, which are not those of the policy ('bins'), or finer"
    return (
        f"{groups}, and a bound on the groups implies none on the values: if the groups are what is secret, say 'bins'"
    )


def beside(low: float, high: float, bounds: LiftBounds) -> Sentence:
    """How much is told about a secret, and how much is allowed."""
    if math.isinf(low) and math.isfinite(bounds.low):
        return sentence("some released values rule a secret out, but only {may} is allowed", may=Nats(bounds.low, 6))
    if math.isfinite(bounds.low) and not bounds.symmetric:
        words = "{low} downwards and {high} upwards, where {may_low} and {may_high} are allowed"
        sides = {"low": Nats(low, 4, rounded="up"), "high": Nats(high, 4, rounded="up")}
        return sentence(words, **sides, may_low=Nats(bounds.low, 6), may_high=Nats(bounds.high, 6))
    words = "{told}, where {may} is allowed" if bounds.symmetric else "{told} upwards, where {may} is allowed"
    worst = max(low, high) if bounds.symmetric else high
    return sentence(words, told=Nats(worst, 4, rounded="up"), may=Nats(bounds.high, 6))


def _least(certificate: CountedCertificate, policy: Policy) -> PolicyCheck:
    file = certificate.file
    detail = f"{file.smallest:,} at least, {policy.least:,} required"
    return PolicyCheck("people who share a value", file.smallest >= policy.least, detail, "least")


def _known(certificate: CountedCertificate, policy: Policy) -> tuple[PolicyCheck, ...]:
    known = policy.known or ()
    if policy.secret is None or (not known and not certificate.known):
        return ()
    lost = [name for name in known if name not in certificate.released]
    if lost:
        return (not_bounded(lost),)
    same = {*known} == {*certificate.known}
    words = "the bound allows for {claimed}; {asked} may be known"
    claimed, may_be_known = (listed(each) if each else "nothing" for each in (certificate.known, known))
    return (PolicyCheck("what may be known", same, sentence(words, claimed=claimed, asked=may_be_known), "known"),)


def not_bounded(lost: Sequence[str]) -> PolicyCheck:
    """The line of columns that may be known and are not released: no claim is about them and the release together."""
    are, they_tell = ("is", "it tells") if len(lost) == 1 else ("are", "they tell")
    detail = (
        f"{listed(lost)} may be known and {are} not released: what {they_tell} together with the release is not bounded"
    )
    return PolicyCheck("what may be known", False, detail, "known")


def _columns(certificate: CountedCertificate, policy: Policy) -> PolicyCheck:
    """No column is released that must not be; a secret that stays in the file counts as released."""
    hidden = {name for rule in asked_of_secrets(policy) for name in rule.secret}
    own = {*certificate.secret, *(name for each in certificate.also for name in each.secret)}
    columns = [*certificate.released, *(own - {*certificate.left_out})]
    allowed = {*(policy.released or columns)} - hidden - {*(policy.drop or ())}
    beyond = sorted({*columns} - allowed)
    detail = f"{len(columns):,} columns, all of which may be" if not beyond else f"{listed(beyond)} may not be"
    return PolicyCheck("released columns", not beyond, detail, "columns")


def _making(certificate: CountedCertificate, policy: Policy) -> Iterator[PolicyCheck]:
    """How it was made, and how surely it is proved."""
    proved, level = certificate.readings[1].confidence, policy.confidence
    if level is not None:
        detail = "nothing is proved" if proved is None else f"proved with {confident(proved)}"
        passed = proved is not None and proved >= level
        yield PolicyCheck("level of confidence", passed, f"{detail}; {confident(level)} is asked for", "confidence")
    if policy.mechanisms is not None:
        # Camouflage is a step of the watchdog.
        name = "watchdog" if certificate.mechanism.name == "camouflage" else certificate.mechanism.name
        detail = f"made by '{name}'; allowed: {', '.join(policy.mechanisms)}"
        yield PolicyCheck("mechanism", name in policy.mechanisms, detail, "mechanism")
