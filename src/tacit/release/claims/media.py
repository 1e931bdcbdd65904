"""What is said of noised images and masked posts: what was done is certain, what it hides is estimated."""

from __future__ import annotations

from tacit.document import Nats
from tacit.errors import sentence
from tacit.loading import ImageReading
from tacit.release.certificate import CertifiedInput, ImageCertificate, PatchDelta, TextCertificate, best_guesses
from tacit.release.claims.dispatch import assumptions_in_words, claim_in_words

# What every claim that rests on a learned estimate must say.
NOTHING_POINTWISE = "A learned estimate certifies nothing pointwise."
OF_A_SINGLE_POST = (
    "a learned estimate certifies nothing pointwise: for a single post it may be wrong, and a better adversary may come"
)


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
            f"{read.resized:,} of {source.records:,} images were resized to {read.resize} pixels first: scaled, and "
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
