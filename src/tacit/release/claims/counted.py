"""The claim about a table, and what it rests on."""

from __future__ import annotations

import math

from tacit.errors import Sentence, sentence, together
from tacit.lift import confident
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import CountedCertificate
from tacit.release.claims.chance import NOTHING_DRAWN
from tacit.release.claims.dispatch import assumptions_in_words, claim_in_words
from tacit.release.claims.factors import bounded, factor_down, factor_up
from tacit.release.whole_file import WholeFile


@claim_in_words.register
def _(certificate: CountedCertificate) -> str:
    return together((promise_in_words(certificate, log_lift=True), file_sentence(certificate.file)))


def promise_in_words(certificate: CountedCertificate, *, log_lift: bool = False) -> Sentence:
    """The claim about a table, row by row, in factors; with ``log_lift``, in nats as well.

    A claim for somebody who knows some columns also says what somebody who knows nothing learns, as counted.
    """
    bounds = certificate.bounds
    named = ", ".join(certificate.secret)
    if certificate.secret_values:
        named = f"{named} among {', '.join(certificate.secret_values)} and the rest"
    start = "Seeing a record of this release "
    if certificate.known:
        start = (
            f"To somebody who knows {', '.join(certificate.known)} about a person, as this release writes it, its "
            "record "
        )
    # Among people with the same known values, a share is a share of those people.
    what = start + _changes(named, bounds, of="those people" if certificate.known else "all", log_lift=log_lift)
    for each in certificate.further:
        what += "; it " + _changes(", ".join(each.secret), each.bounds, log_lift=log_lift)
    return together((what + _except(bounds, log_lift=log_lift) + ".", _knowing_nothing(certificate)))


def attained_in_words(certificate: CountedCertificate) -> Sentence:
    """The most that a release changes any belief, as counted, next to what was asked: for a headline.

    Guarantees
    ----------
    Factors are rounded up. Where each side has its own bound the bounds are shown: what is attained covers both sides.
    """
    bounds, named = certificate.bounds, ", ".join(certificate.secret)
    who = f"To somebody who knows {', '.join(certificate.known)}, a record" if certificate.known else "A record"
    what = (
        f"value of {named}"
        if bounds.thresholds is None
        else f"side of a threshold of {named} that covers {bounds.thresholds:.6g} of all"
    )
    attained, allowed = factor_up(certificate.attained_epsilon), factor_up(bounds.high)
    both = "" if math.isinf(bounds.low) else ", or as unlikely"
    if bounds.delta > 0 or not (bounds.symmetric or math.isinf(bounds.low)):
        attained = allowed
    if not (bounds.symmetric or math.isinf(bounds.low)):
        both = f", or {factor_up(bounds.low)} times as unlikely"
    words = f"{who} of the release makes no {what} more than {attained} times as likely{both}"
    if attained == "1":
        words = f"{who} of the release makes no {what} likelier" + (" or less likely" if both else "")
    if bounds.delta > 0:
        excess = "with probability" if bounds.delta_kind == "mass" else "for an excess of probability of"
        return Sentence(f"{words}, except {excess} {certificate.attained_delta:.3g} ({bounds.delta:g} allowed)")
    return Sentence(words if attained == allowed else f"{words} (at most {allowed} was asked for)")


def _knowing_nothing(certificate: CountedCertificate) -> str:
    """What a record tells somebody who knows nothing about the person, where the claim is for somebody who does.

    It follows from two measures of the release, which are counted on all cells together and verified like the rest.
    For a number with thresholds these measures are about its groups, and say nothing about this claim.
    """
    after = {each.name: each.after for each in certificate.measures}
    risk, upwards = after.get("risk"), after.get("pointwise_maximal_leakage")
    if not certificate.known or certificate.thresholds is not None or risk is None or upwards is None:
        return ""
    start, up = "To somebody who knows nothing about the person, the same record", factor_up(upwards)
    if math.isinf(certificate.bounds.low):
        return f"{start} makes no value likelier by more than a factor of {up}, as counted."
    if math.isinf(risk):
        return f"{start} makes no value likelier by more than a factor of {up}, and may rule one out, as counted."
    return f"{start} changes that probability by a factor between {factor_down(risk)} and {up}, as counted."


def _except(bounds: LiftBounds, *, log_lift: bool) -> str:
    """How much may exceed the bounds."""
    if bounds.delta == 0:
        return ""
    if bounds.delta_kind == "egamma":
        return f", up to an excess of probability of {bounds.delta:g} in all"
    most = sentence("by at most {epsilon}", epsilon=bounded(bounds.epsilon_max))
    if not log_lift:
        most = sentence("up to a factor of {}", factor_up(bounds.epsilon_max))
    return sentence(
        ", except for pairs of total probability {delta:g}, which may exceed it {ceiling}",
        delta=bounds.delta,
        ceiling="without a bound" if math.isinf(bounds.epsilon_max) else most,
    )


def file_sentence(file: WholeFile) -> str:
    """The reading of the whole file in plain words."""
    if file.holds:
        people = "person" if file.smallest == 1 else "people"
        return (
            f"Read as a whole file it HOLDS: every released value belongs to {file.smallest:,} {people} or more "
            f"({file.least:,} required)."
        )
    values = "1 released value belongs" if file.values_below == 1 else f"{file.values_below:,} released values belong"
    return (
        f"Read as a whole file it DOES NOT HOLD: {values} to fewer than {file.least:,} people ({file.people_below:,} "
        "in all); somebody who knows such a person finds the row."
    )


def _changes(named: str, bounds: LiftBounds, *, of: str = "all", log_lift: bool) -> Sentence:
    low, high = bounds.low, bounds.high
    what, events = "any value of {named}", "values"
    if bounds.thresholds is not None:
        share = f"{bounds.thresholds:.6g}"
        named, events = f"'{named} is at most t' or '{named} is more than t'", "such events"
        what = f"any event {{named}} that covers at least {share} of {of}"
    words, aside = f"changes the probability of {what} by a factor between {{down}} and {{up}}", ""
    nats = "|log-lift| at most {high}" if low == high else "log-lift between -{low} and {high}"
    if math.isinf(low):
        words = f"makes {what.replace('any', 'no', 1)} likelier by more than a factor of {{up}}"
        nats = "log-lift at most {high}"
        aside = f"; it may make {events} less likely without a bound"
    words += (f" ({nats})" if log_lift else "") + aside
    factors = {"down": factor_down(low), "up": factor_up(high)}
    return sentence(words, named=named, **factors, low=bounded(low), high=bounded(high))


@assumptions_in_words.register
def _(certificate: CountedCertificate) -> tuple[str, ...]:
    confidence = certificate.readings[1].confidence
    outside = (
        "the claim is an estimate"
        if confidence is None
        else "there is a proof, if the records are a random sample of them: "
        f"{confident(confidence)} confidence, asked once"
    )
    texts = [
        f"The table is the population: probabilities are its shares. For people outside it {outside}.",
        _row_by_row(certificate),
        _IN_CELLS if certificate.in_cells else _BY_VALUE,
        _ONE_ROW_PER_PERSON,
        "Other releases about the same people, and columns from elsewhere, are not taken into account.",
    ]
    if certificate.mechanism.mixes:
        texts.append(
            "A released value occurs in the table, but stands for a mixture of values: a record that carries it may "
            "have had another. Columns keep their values, not their exact shares."
        )
    if not certificate.randomness.startswith(NOTHING_DRAWN):
        texts.append(
            "The bound is about the draw of the replacements. Anyone who counts this one release together with the "
            "secrets finds chance deviations from it, as in any sample."
        )
    hidden = {*certificate.secret, *(name for each in certificate.also for name in each.secret)}
    cut = [group_cut.column for group_cut in certificate.cuts if group_cut.column in hidden]
    if certificate.thresholds is not None:
        texts.append(_THRESHOLDS)
        cut = [column for column in cut if column not in certificate.secret]
    if cut:
        texts.append(f"The secret {', '.join(cut)} was cut into groups: the claim is about which group a record is in.")
    if certificate.mechanism.weight is not None:
        texts.append("Probabilities are shares of the total weight.")
    if certificate.delta > 0:
        texts.append(_DELTA[certificate.bounds.delta_kind])
    if certificate.also:
        texts.append("Each secret is bounded separately; their combination is bounded only if it is named as well.")
    if not hidden <= set(certificate.left_out):
        texts.append("THE SECRET ITSELF IS IN THE FILE, as asked: the claim is only about the other columns.")
    return (*texts, _to_check(certificate))


def _to_check(certificate: CountedCertificate) -> str:
    """What a verification of such a release can check, and what it cannot."""
    if not certificate.randomness.startswith(NOTHING_DRAWN):
        return (
            "Checking it takes the original and the owner's rules, key and salt: every row is then drawn again. "
            "Without them no draw is checked; and nobody can see whether the key is one of many that were tried."
        )
    if certificate.in_cells:
        return "Checking it takes only the original: every row is made again from it and the published levels."
    if certificate.mechanism.mixes:
        return "Checking it takes the original and the owner's rules: every row is then made again."
    return (
        "Checking it takes the original: kept values are unchanged, and merged ones look alike. With the owner's rules "
        "every row is made again."
    )


def _row_by_row(certificate: CountedCertificate) -> str:
    """What the adversary knows and sees when the claim is read row by row."""
    known = ""
    if certificate.known:
        them = "it" if len(certificate.known) == 1 else "them"
        known = f"; about the person it knows {', '.join(certificate.known)}, as the release writes {them}"
    return (
        "Row by row: the adversary knows those shares and how the release was made, and sees one record of it"
        f"{known}; it knows nothing else about the person."
    )


_ONE_ROW_PER_PERSON = (
    "Each row counts as one person. If several rows are about one person, fewer people share a value than is stated, "
    "and what those rows reveal together is not bounded."
)
_THRESHOLDS = (
    "Every threshold of a number is bounded, one event at a time: how probable it is to be at most t, and to be more. "
    "Narrower events are not bounded: a single value, a range between two thresholds, or a tail that covers less than "
    "the share asked for. Measures and risks are those of groups of the number, and nothing is claimed about them."
)
_BY_VALUE = (
    "The whole file: the adversary sees all of it and looks for a person whose released values it knows. The number of "
    "original records that share each released value is counted; what somebody learns by combining several rows with "
    "what they know is not bounded."
)
_IN_CELLS = (
    "The whole file: the adversary sees all of it and looks for a person whose released columns it knows, however "
    "finely. Each cell that may be the person's keeps the bound, and so does any mean of them. Not bounded: what "
    "somebody learns by combining a cell with what is known about the person, unless those columns were named as "
    "known; and what the choice of the cuts, which looked at the secrets, reveals about all of them together."
)

_DELTA = {
    "mass": (
        "With delta above zero the bound may fail with that probability over pairs of secret and record; the "
        "share of records that breach it for some secret can be much larger and is given as breach_share. Merging "
        "values later may raise delta."
    ),
    "egamma": (
        "Delta is the total by which probabilities exceed what epsilon allows, on both sides (E-gamma). Nothing done "
        "to the release later can raise it. The share of records that breach epsilon for some secret, by however "
        "little, is given as breach_share."
    ),
}
