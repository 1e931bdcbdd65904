"""The claim about images, posts or vectors in codes, and what it rests on."""

from __future__ import annotations

import math

from tacit.errors import sentence
from tacit.lift import confident
from tacit.release.certificate import CodedCertificate
from tacit.release.claims.dispatch import assumptions_in_words, claim_in_words
from tacit.release.claims.factors import bounded, factor_down, factor_up
from tacit.release.claims.media import reading_in_words


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
        epsilon=bounded(c.epsilon),
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
