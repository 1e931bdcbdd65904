"""What a release promises, how it was made and what to do next, as its answer puts it."""

from __future__ import annotations

import math

from tacit import document as doc
from tacit.errors import Command, Part, Sentence, Setting, sentence, together
from tacit.release import certificate as papers
from tacit.release.certificate import CountedCertificate
from tacit.release.claims import factor_up, file_sentence, promise_in_words
from tacit.release.whole_file import ROW_BY_ROW, WholeFile
from tacit.tables.formats import many_tables

# A bound on the loss below this share is shown as 0%, which says nothing.
_WORTH_TELLING = 5e-4


def verdict_of(certificate: CountedCertificate) -> doc.Badge:
    """Whether the claim holds, and for the whole file too."""
    if certificate.holds and not certificate.file.holds:
        return doc.badge(ROW_BY_ROW)
    return doc.badge("holds" if certificate.holds else "does not hold")


def promise(certificate: CountedCertificate) -> doc.Paragraph:
    """The promise in the reader's words, for the terminal; the page has the claim."""
    words = together((promise_in_words(certificate), file_sentence(certificate.file)))
    return doc.Paragraph(words, label="Promise", where="terminal")


def not_promised(certificate: CountedCertificate) -> Sentence:
    """About whom, and against whom, nothing is promised: the first things that the claim rests on."""
    sample = (
        "It is about the people in this table, one row for each; it proves nothing about others ({confidence} asks for "
        "a proof)."
    )
    if certificate.readings[1].confidence is not None:
        sample = (
            "It is about the people in this table, one row for each, and proved for the population they were drawn "
            "from at random."
        )
    known = "" if certificate.known else " Anyone who knows something about a person may learn more: name it ({known})."
    return sentence(sample + known, confidence=Setting("confidence", 0.95), known=Setting("known"))


def setting(value: float) -> doc.Nats:
    """A bound as it was chosen."""
    return doc.Nats(value, "setting")


def is_on_curve(certificate: CountedCertificate) -> bool:
    """Whether the release is a point of the plain watchdog's trade-off."""
    proved = any(reading.name == "sample" and reading.confidence for reading in certificate.readings)
    return not (certificate.mechanism.name != "watchdog" or proved or certificate.delta > 0)


def _claimed(certificate: CountedCertificate) -> str:
    """The bounds of the two sides, if they differ."""
    high, low = certificate.bounds.high, certificate.bounds.low
    if low == high:
        return "smaller is stricter"
    if math.isinf(low):
        return sentence("{} upwards, no bound downwards", setting(high))
    return sentence("{} upwards and {} downwards", setting(high), setting(low))


def epsilon_tiles(certificate: CountedCertificate) -> list[doc.Tile]:
    """What was asked, and what is attained."""
    tiles = [
        doc.Tile("Epsilon claimed", setting(certificate.epsilon), _claimed(certificate)),
        doc.Tile("Epsilon attained", doc.Nats(certificate.attained_epsilon), "lower is safer"),
    ]
    for each in certificate.also:
        claimed = sentence("attained, {} claimed", setting(each.epsilon))
        tiles.append(doc.Tile(f"Epsilon of {doc.listed(each.secret)}", doc.Nats(each.attained_epsilon), claimed))
    if certificate.delta > 0 or certificate.attained_delta > 0:
        mass = certificate.delta_kind == "mass"
        kind = "probability of pairs beyond epsilon" if mass else "excess of probability, E-gamma"
        allowed = sentence("attained, of {} allowed; {}", doc.Number(certificate.delta, "setting"), kind)
        never = "for some secret, by however little"
        if math.isfinite(certificate.epsilon_max):
            never = sentence("never beyond {}", setting(certificate.epsilon_max))
        tiles.append(doc.Tile("Delta", doc.Number(certificate.attained_delta), allowed))
        tiles.append(doc.Tile("Records beyond epsilon", doc.Share(certificate.breach_share), never))
    return [*tiles, _shared(certificate.file)]


def _shared(file: WholeFile) -> doc.Tile:
    """How many people share a released value."""
    wish = sentence("fewest; {} asked", doc.Count(file.least))
    if not file.holds:
        values = doc.Count(file.values_below, "value")
        wish = sentence("fewest; {} asked, {} below", doc.Count(file.least), values)
    return doc.Tile("People per value", doc.Count(file.smallest), wish)


def mechanism_words(certificate: CountedCertificate) -> Sentence:
    """Which rung of the ladder it is, and what it gains over the watchdog."""
    made_by = certificate.mechanism
    if certificate.in_cells:
        return sentence(
            "{name}: records are in {cells}, and each is written as the ranges and groups of its cell{mixed}.",
            name=made_by.name,
            cells=doc.Count(made_by.values, "cell"),
            mixed=", or sometimes those of another" if made_by.mixes else "; nothing is drawn",
        )
    if made_by.name == "watchdog":
        return Sentence("watchdog: one set of values is merged")
    mixed = "values are mixed" if made_by.mixes else "one set of values is merged"
    what = "several sets of values are merged" if made_by.name == "subsets" else mixed
    gain = Sentence("")
    if made_by.watchdog_nmil is not None:
        gain = sentence(". One merged set, the watchdog, would lose {}", doc.Share(made_by.watchdog_nmil))
        if (made_by.loss_bound or 0.0) >= _WORTH_TELLING:
            gain += sentence("; no mechanism loses less than {}", doc.Share(made_by.loss_bound))
    return sentence("{}: {}{}", made_by.name, what, gain)


def unchanged_words(certificate: CountedCertificate) -> Sentence:
    """How many rows and cells stay unchanged; if replacements are drawn, how many are expected to."""
    about = "" if certificate.mechanism.replacement in ("merge", "suppress") else "about "
    rows, cells = doc.Share(certificate.utility.rows_unchanged), doc.Share(certificate.utility.cells_unchanged)
    return sentence("{about}{rows} of rows and {about}{cells} of cells", about=about, rows=rows, cells=cells)


def together_words(composition: papers.LedgerComposition) -> Sentence:
    """What all releases of a ledger together say about each secret, in short."""
    bounds = [
        sentence(
            "{} at most {} times as likely ({})",
            doc.listed(each.secret),
            factor_up(each.epsilon),
            doc.Nats(each.epsilon),
        )
        if math.isfinite(each.epsilon)
        else f"no bound on {doc.listed(each.secret)}"
        for each in composition.secrets
    ]
    how = "counted, exact" if composition.exact else "by bound"
    releases = doc.Count(composition.releases, "release")
    return sentence("{} in the ledger: {} ({})", releases, together(bounds, "; "), how)


def _not_to_publish(certificate: CountedCertificate) -> Sentence:
    """What to do with a file in which people can be found."""
    words = "Do not publish {file}: somebody who has all of it and knows a person's values finds the row. {way}"
    way = sentence("Use {cells}, the default, or leave columns out.", cells=Setting("mechanism", "cells"))
    if certificate.in_cells:
        way = sentence("Make new cells for these records, without {rules}.", rules=Setting("rules"))
    return sentence(words, file=certificate.output.file, way=way)


def next_section(certificate: CountedCertificate, *, out: str | None, original: str | None) -> doc.Section:
    """What to do with a release, and the commands for it, ready to copy; only for the terminal.

    Guarantees
    ----------
    Only a release whose claim holds for every record and for the whole file is to be published.
    """
    release: Part = doc.FilePath(out) if out else doc.Code("RELEASE")
    table = "TABLE" if original is None else original
    published = ["certificate.json", "report.html"]
    if certificate.in_cells:
        published.insert(0, "levels.json")
    if certificate.output.channel_sha256 is not None:
        published.insert(0, "channel.json")
    files = doc.listed([certificate.output.file, *published])
    items = [
        sentence("Check it: {}", Command("verify", release, against=table)),
        sentence("Try to break it: {}", Command("attack", release, against=table)),
        f"Publish {files}. Keep private/ to yourself." if certificate.file.holds else _not_to_publish(certificate),
    ]
    if many_tables(certificate.input.format):
        items.append(
            f"Excel does not open {certificate.output.file}; Python and R do. Save the original as CSV first, and the "
            "release is CSV, which every program reads."
        )
    return doc.Section("What to do next", (doc.Bullets(items),), where="terminal")
