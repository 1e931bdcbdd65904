"""The answer of ``protect`` about posts: masked posts that were written, and what is said about them."""

from __future__ import annotations

from dataclasses import dataclass

from tacit import document as doc
from tacit.errors import sentence, together
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.papers import Rows, Sections, assumptions, certificate_section, claim, notes
from tacit.lenses.released import ReleasedTable
from tacit.lenses.text.answers.shared import OF_A_POST
from tacit.lenses.worth import kept_section, use_tile
from tacit.release.certificate import TextCertificate, best_guesses

# Terms masked most often that the terminal names.
_MOST_NAMED = 8
_ORDER = {"random": "rows in random order", "kept": "rows in their order"}


@dataclass(frozen=True)
class TextProtectResult(ReleasedTable):
    """Posts that were masked and written, and what is said about them. ``masked`` are the terms masked most often."""

    certificate: TextCertificate
    verdict: str
    headline: str
    before: doc.RiskHistogram
    after: doc.RiskHistogram
    masked: tuple[tuple[str, int, int], ...]
    examples: tuple[tuple[doc.ReadPost, str], ...]
    notes: tuple[str, ...]

    def document(self) -> doc.Document:
        """How much is masked, what adversaries still guess, and what it rests on.

        Guarantees
        ----------
        The page shows the certificate and the headline: no post, no term, and nothing that was learned about either.
        Notes, path and terms are only for the terminal.
        """
        return doc.Document(
            kind="release of text",
            name=sentence("Tacit release of text: {}", doc.FilePath(self.data_file)),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(claim(self.certificate), _tiles(self)),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=OF_A_POST,
            footer=(doc.FilePath(self.data_file),),
        )


def _rare(certificate: TextCertificate) -> str:
    return "masked" if certificate.rare == "mask" else "shown"


def _tiles(result: TextProtectResult) -> doc.Tiles:
    c = result.certificate
    before, after = best_guesses(c.adversaries)
    often = [sentence("{} ({})", doc.DataValue(term, 40), doc.Count(n)) for term, n, _ in result.masked[:_MOST_NAMED]]
    terms = sentence("different ones, all in private/; most often {}", together(often, ", ") or "none")
    return doc.Tiles(
        (
            result.place_tile(f"data in {result.data_file}, {_ORDER[c.order]}"),
            doc.Tile(
                "Words masked", doc.Share(c.words_masked), sentence("in {} of the posts", doc.Share(c.posts_touched))
            ),
            doc.Tile("Terms masked", doc.Count(c.terms_masked), terms, where="terminal"),
            doc.Tile("Too rare to judge", doc.Share(c.words_unknown), f"of the words, {_rare(c)}"),
            doc.Tile("Left out", doc.listed(c.left_out) or "nothing", where="terminal"),
            doc.Tile("Best adversary before", doc.Share(before), "of secrets right"),
            doc.Tile("Best adversary after", doc.Share(after), "clean-trained or retrained; lower is safer"),
            doc.Tile("Guessing the prior", doc.Share(c.prior_right), "right without reading"),
            *([] if c.use is None else [use_tile(c.use)]),
        )
    )


def _guesses(result: TextProtectResult) -> Sections:
    c = result.certificate
    about = sentence(
        "Trained on {} posts, tested on the others, three times over: {} in all; copies left out. Without reading {} "
        "are right ({}). The limits are exact, 95%. After: an adversary that learned from posts as they were. "
        "Retrained: one that learned from masked posts and their secrets, the strongest case.",
        doc.Count(c.trained_on),
        doc.Count(c.tested_on),
        doc.Share(c.prior_right),
        doc.Interval.shares(*c.prior_interval),
    )
    figure = guesses_right(c.adversaries, marks=[("prior", c.prior_right)])
    return (doc.Section("How often is the secret guessed right?", (doc.Paragraph(about), figure)),)


def _worth(result: TextProtectResult) -> Sections:
    return kept_section(words_masked=result.certificate.words_masked)


def _certificate(result: TextProtectResult) -> Sections:
    c = result.certificate
    what = "what is shown of a post" if c.bound == "post" else "one shown word after those before it"
    epsilon = sentence("{} for {}, by the estimate", doc.Nats(c.epsilon, "setting"), what)
    kinds = "; hidden hashtags become #tag, mentions @someone" if c.generalise else ""
    rare = sentence("in fewer than {} posts, {} of all: {}", c.min_count, doc.Share(c.words_unknown), _rare(c))
    rows: Rows = [
        ("kind", "text: an estimate and a test of adversaries; no counted claim"),
        ("secret", doc.DataValue(c.secret, 60)),
        ("released", doc.listed(c.kept, limit=40)),
        *([("left out", doc.listed(c.left_out, limit=40))] if c.left_out else []),
        ("epsilon", epsilon),
        ("mask", f"{c.mask}{kinds}; every address is written <url>"),
        ("rare words", rare),
        ("order", _ORDER[c.order]),
    ]
    check = "Anyone with the original posts can check what can be checked: Tacit verifies this release against them."
    return certificate_section(c, rows, check=check)


SECTIONS = (_guesses, _worth, assumptions, _certificate, notes)
