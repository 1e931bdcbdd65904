"""Claims in words: what a certificate says, what it rests on and how to read it. All of it follows from its numbers."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import singledispatch
from typing import Protocol, TypeVar

from tacit.document import Nats
from tacit.errors import Sentence, sentence, together
from tacit.lift import at_least, at_most, confident
from tacit.loading import ImageReading
from tacit.release.bounds import LiftBounds
from tacit.release.certificate import (
    Certificate,
    CertifiedInput,
    CodedCertificate,
    CountedCertificate,
    ImageCertificate,
    PatchDelta,
    Reading,
    SampleProof,
    TextCertificate,
    best_guesses,
)
from tacit.release.whole_file import WholeFile

C = TypeVar("C", bound=Certificate)

# e to a larger power overflows a float.
_LARGEST_POWER = 700.0
# What every claim that rests on a learned estimate must say.
NOTHING_POINTWISE = "A learned estimate certifies nothing pointwise."
NOTHING_DRAWN = "None: the mechanism is deterministic."
NOT_PROVED = (
    "If the table is a sample, nothing is proved about the population it was drawn from: counted shares err, and in "
    "simulations 10 to 88% of such claims were false for it. A release with a confidence asks for a proof."
)
OF_A_SINGLE_POST = (
    "a learned estimate certifies nothing pointwise: for a single post it may be wrong, and a better adversary may come"
)


def worded(certificate: C) -> C:
    """The certificate with the claim and the assumptions that its numbers call for."""
    return replace(certificate, claim=claim_in_words(certificate), assumptions=assumptions_in_words(certificate))


@singledispatch
def claim_in_words(certificate: Certificate) -> str:
    """What is claimed, from nothing but the numbers of a certificate."""
    raise TypeError(f"no claim of {type(certificate).__name__}")


@singledispatch
def assumptions_in_words(certificate: Certificate) -> tuple[str, ...]:
    """What a claim rests on, in sentences: a function of the rest of the certificate, so that it can be checked."""
    raise TypeError(f"no assumptions of {type(certificate).__name__}")


# ---- tables -------------------------------------------------------------------------------------------------------


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
    return Sentence(words if attained == allowed else f"{words} (at most {allowed} was asked)")


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
    most = sentence("by at most {epsilon}", epsilon=_bound(bounds.epsilon_max))
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


def _bound(nats: float) -> Nats:
    """A bound as a claim states it: rounded up, so that it never claims more than was proved, in any unit."""
    return Nats(nats, 6, rounded="up")


def factor_up(nats: float) -> str:
    """e to the power of ``nats``, rounded up."""
    return at_most(_factor(nats))


def factor_down(nats: float) -> str:
    """e to the power of ``-nats``, rounded down."""
    return at_least(_factor(-nats))


def _factor(nats: float) -> float:
    # A certificate may have been written by somebody else, with any number in it.
    return math.exp(nats) if nats < _LARGEST_POWER else math.inf


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
    return sentence(words, named=named, **factors, low=_bound(low), high=_bound(high))


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


class SampleEvidence(Protocol):
    """What a proof from a sample says about itself."""

    @property
    def beta(self) -> float:
        """The probability with which it may be false."""
        ...


def readings_of(attained: float, bounds: LiftBounds, proof: SampleEvidence | None) -> tuple[Reading, Reading]:
    """The two readings of a counted claim: about the table itself, and about the people it may be a sample of."""
    here = Reading("population", population_sentence(attained, bounds), 1.0)
    if proof is None:
        return here, Reading("sample", NOT_PROVED, None)
    there = Reading("sample", "", 1 - proof.beta, sample_proof(proof))
    return here, replace(there, sentence=sample_sentence(there, bounds))


def sample_proof(proof: SampleEvidence) -> SampleProof:
    """What a certificate says about a proof."""
    return SampleProof(**{each.name: getattr(proof, each.name) for each in fields(SampleProof)})


def population_sentence(attained: float, bounds: LiftBounds) -> str:
    """The first reading in plain words."""
    start = "If this table is everyone the claim is about, it is exact"
    if bounds.delta > 0:
        return f"{start}, and so is its delta: both were computed on the joint of secret and output."
    side = "above" if math.isinf(bounds.low) else "beyond"
    # Rounded up, so that the sentence never claims more than was counted; the slack absorbs rounding of sums.
    bound = math.ceil(attained * 1e4 - 1e-4) / 1e4
    what = "the secret" if bounds.thresholds is None else "such an event"
    words = "{start}: no log-lift of {what} is {side} {bound}."
    return sentence(words, start=start, what=what, side=side, bound=_bound(bound))


def sample_sentence(reading: Reading, bounds: LiftBounds) -> str:
    """The second reading in plain words."""
    if reading.proof is None:
        return NOT_PROVED
    below = sentence("below -{low} or ", low=_bound(bounds.low))
    of_values = bounds.thresholds is None
    return sentence(
        "If the records are a random sample{all_values}, then with {sure} confidence no log-lift of {what} "
        "of the people they were drawn from is {below}above {high}. {proof.records_to_choose:,} records, dealt without "
        "looking at them, chose which values or cells to keep, and the other {proof.records_to_prove:,} proved it; "
        "released values that were never seen count as merged.{unseen}",
        all_values=", and contain every value that the secret has" if of_values else "",
        what="such a release" if of_values else "an event that covers the share asked for, at any threshold, in a cell",
        unseen=" Nothing is proved about a value of the secret that no record has." if of_values else "",
        sure=confident(reading.confidence or 0.0),
        below="" if math.isinf(bounds.low) else below,
        high=_bound(bounds.high),
        proof=reading.proof,
    )


# ---- images and text ----------------------------------------------------------------------------------------------


@claim_in_words.register
def _(certificate: ImageCertificate) -> str:
    """What was done is certain, what it hides is estimated."""
    kept = "all others are unchanged" + (", except for what JPEG changes" if certificate.lossy else "")
    return sentence(
        "Patches of {claim.patch}x{claim.patch} pixels that were estimated to add more than {epsilon} about "
        "'{claim.secret}', given what was released of the image before them, carry Gaussian noise with a standard "
        "deviation of {claim.scale:g} of the full range of a pixel ({claim.flagged_share:.1%} of all patches); {kept}. "
        "{nothing}",
        claim=certificate,
        epsilon=Nats(certificate.epsilon, 6),
        kept=kept,
        nothing=NOTHING_POINTWISE,
    )


@assumptions_in_words.register
def _(certificate: ImageCertificate) -> tuple[str, ...]:
    delta = certificate.delta
    return (
        f"Nothing is certified about a single image: which patches say something about '{certificate.secret}' was "
        "learned, and an adversary that sees what the model did not is not bound by it.",
        sentence(
            "If the learned densities were right, the repaired bound would give a delta of at most {delta.largest:.3g} "
            "per patch beyond {epsilon} (diameter {delta.diameter:g}){worth}; and for all {patches:,} patches together "
            "{delta.total:.3g} beyond {beyond}{in_total}.",
            delta=delta,
            patches=certificate.patches,
            epsilon=Nats(certificate.epsilon, 6),
            worth=_worth(delta.largest_vacuous),
            beyond=Nats(delta.total_epsilon, 6),
            in_total=_worth(delta.vacuous),
        ),
        _floor(delta),
        "The shares of noised patches are counted over all images, where the bound asks for them given what was "
        "released before.",
        "Each image was judged by a model that had not seen it. Labels, and names and order of the files, are not part "
        "of the estimate.",
        *reading_in_words(certificate.input),
    )


def reading_in_words(source: CertifiedInput) -> tuple[str, ...]:
    """What was done to image files before anything else: every claim is about what was read, not about what was not."""
    read, lines = source.reading or ImageReading(), list[str]()
    if read.resize is not None:
        lines.append(
            f"{read.resized:,} of {source.records:,} images were brought to {read.resize} pixels first: scaled, and "
            "cropped where their proportions differed. All statements are about the result."
        )
    if read.left_out:
        lines.append(
            f"Files that could not be read were left out, {read.left_out:,} in all: none of them is released, and "
            "nothing is said about them."
        )
    return tuple(lines)


def _floor(delta: PatchDelta) -> str:
    if delta.floor == 0:
        return "The fact that a patch was noised reveals no more than epsilon about any label, counted over all images."
    return (
        f"No noise, however strong, brings the sum of the patches' deltas below {delta.floor:.3g}: that a patch "
        "was noised reveals something."
    )


def _worth(is_vacuous: bool) -> str:
    return ", which is vacuous: publishing the label itself would raise no belief beyond it" if is_vacuous else ""


_ORDERS = {
    "random": "the posts stand in a random order",
    "kept": "the posts keep the order of the original: a table sorted by the secret, or by date, reveals it",
}


@claim_in_words.register
def _(certificate: TextCertificate) -> str:
    before, after = best_guesses(certificate.adversaries)
    what = "what is shown of a post says at most" if certificate.bound == "post" else "no shown word adds more than"
    return sentence(
        "Words were masked until, by a learned estimate, {what} {epsilon} about '{claim.secret}'. This certifies "
        "nothing. The best of {n} adversaries guesses it right in {after:.1%} of {claim.tested_on:,} held-out posts, "
        "{before:.1%} before; without reading them, in {claim.prior_right:.1%}.",
        claim=certificate,
        what=what,
        epsilon=Nats(certificate.epsilon, 6),
        n=len(certificate.adversaries),
        after=after,
        before=before,
    )


@assumptions_in_words.register
def _(certificate: TextCertificate) -> tuple[str, ...]:
    unknown = "masked" if certificate.rare == "mask" else "shown"
    lines = [
        OF_A_SINGLE_POST,
        "a mask shows that something was masked, and where; the retrained adversary has learned from the masks",
        f"words in fewer than {certificate.min_count} posts are {unknown}; nothing is estimated about them",
        "how a post is written (length, punctuation, order of the words) is unchanged",
        _ORDERS[certificate.order],
        "posts are assumed to be independent; several posts by one author say more together than each alone",
        "anyone who knows a post, or finds it in public, learns the author, whatever was masked",
    ]
    others = [name for name in certificate.kept if name not in (certificate.text, certificate.secret)]
    if others:
        lines.append(f"column{'s' * (len(others) > 1)} {', '.join(others)}: released unchanged, and not examined")
    if certificate.secret in certificate.kept:
        lines.append("the secret itself is in the file: anyone who reads the file reads the secret")
    return tuple(lines)


@claim_in_words.register
def _(certificate: CodedCertificate) -> str:
    c = certificate
    what, whose = c.medium, c.medium.removesuffix("s")
    unit = whose if c.group is None else f"person ({c.group}) with all {what}"
    factor = sentence(
        ", and it changes the probability of any value of '{secret}' by a factor between {down} and {up} (|log-lift| "
        "at most {epsilon})",
        secret=c.secret,
        down=factor_down(c.epsilon),
        up=factor_up(c.epsilon),
        epsilon=_bound(c.epsilon),
    )
    return sentence(
        "Every {unit} was replaced by one of {c.codes:,} codes, each shared by {c.smallest:,} or more of {c.units:,}. "
        "With {sure} confidence, nobody who sees one of them, however trained, guesses '{c.secret}' right more often "
        "than {ceiling} of the time (always guessing the commonest: {c.prior:.1%}){factor}.",
        c=c,
        unit=unit,
        sure=confident(c.confidence),
        ceiling=share_up(c.ceiling),
        factor=factor if c.epsilon_asked else "",
    )


def share_up(share: float) -> str:
    """A share in percent, rounded up, so that the sentence never claims more than was proved."""
    return f"{math.ceil(share * 1000 - 1e-9) / 10:.1f}%"


@assumptions_in_words.register
def _(certificate: CodedCertificate) -> tuple[str, ...]:
    c = certificate
    what, whose = c.medium, c.medium.removesuffix("s")
    unit = whose if c.group is None else "person"
    lines = [
        f"The code was made from {c.designed_on:,} of them, which the key dealt; that it was made from only these is "
        f"the owner's word. It was proved on {c.proved_on:,} others, which are assumed to be a random sample of the "
        "people the claim is about; it is proved once, and chance may make it false as often as the confidence allows.",
        "Codes were tried in an order that the first part fixed, and the last before one failed was taken; the "
        "confidence allows for that.",
    ]
    if c.copies:
        lines.append(
            f"{c.copies:,} are copies of others: they are released, but made no code and do not count among those who "
            "share a code. All was proved with them and without them, and the weaker is claimed. Near copies do count."
        )
    if not c.ceiling_asked:
        lines.append(f"No ceiling was asked for: the one claimed allows for the {c.tried:,} codes that were tried.")
    if not c.epsilon_asked:
        lines.append(
            "No epsilon was asked for: the ceiling is about all codes together, and a code that few have may reveal "
            "their secret almost surely."
        )
    if c.group is None:
        lines.append(
            f"Each {whose} is treated separately, as independent of the others. Anyone who knows that several are one "
            f"person's adds up what each says (m of them: up to m times epsilon); and {what} of one person in both "
            "parts would break the proof. If a column says whose they are, name it as group."
        )
    if c.mixed > 0:
        lines.append(f"The code of {c.mixed:.1%} was drawn among several, so it may not be the nearest one.")
    lines.append(
        f"What a code shows is made from at least {c.least:,} of the first part together. It is true of the code and "
        f"need not be true of the {unit}."
    )
    lines += reading_in_words(c.input)
    lines.append("They stand in an order drawn with the key, so it reveals nothing.")
    lines.append(
        "Not taken into account: what somebody already knows about a person, such as which row is theirs; and other "
        "releases."
    )
    return tuple(lines)


# ---- chance -------------------------------------------------------------------------------------------------------


def randomness_of(*, drawn: bool, repeatable: bool, learned_here: bool = False) -> str:
    """Where the randomness of a release came from."""
    drew = NOTHING_DRAWN
    if drawn and not repeatable:
        # What is learned cannot be drawn again exactly: its numbers differ from machine to machine.
        kept = "the key was not kept" if learned_here else "the certificate commits to the key, and the owner keeps it"
        drew = f"Drawn with a 256-bit key from the system's secure source; {kept}."
    elif drawn:
        drew = (
            "WARNING: a random_state was given, so anyone who knows or guesses it can repeat the draws. Use it for "
            "tests, not for publishing."
        )
    if not learned_here:
        return drew
    if not repeatable:
        return f"{drew} Learned with a seed from the system's secure source, which is not published."
    return (
        f"{drew} WARNING: what was learned can be learned again with the random_state that was given, and the "
        "published estimates then tell right guesses of the secrets from wrong ones. Use it for tests, not for "
        "publishing."
    )
