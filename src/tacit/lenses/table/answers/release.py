"""The answer of ``protect``: a release that was written, and its certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit import document as doc
from tacit.errors import Sentence, sentence, together
from tacit.lenses.glossary import DEFINITIONS, DIRECTION, ESTIMATE, INFINITE
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.papers import Rows, Sections, assumptions, certificate_section, claim
from tacit.lenses.table.answers.trade_off import trade_off
from tacit.release.certificate import (
    CountedCertificate,
    LearnedCertificate,
    LearnedMechanism,
    LedgerComposition,
    MeasureChange,
    TableCertificate,
)
from tacit.report.result import Result

# A bound on the loss below this share is shown as 0%, which says nothing.
_WORTH_TELLING = 5e-4
# A measure may meet its promise to the last bit; rounding must not call that a breach.
_SLACK = 1e-9


@dataclass(frozen=True)
class ProtectResult(Result):
    """A release that was written, and its certificate."""

    out: str
    data_file: str
    certificate: TableCertificate
    headline: str
    diagnosis: str | None
    curve: tuple[doc.CurvePoint, ...]
    before: doc.RiskHistogram
    after: doc.RiskHistogram
    notes: tuple[str, ...]

    def document(self) -> doc.Document:
        """The claim, what it costs and what it rests on.

        Guarantees
        ----------
        The page is part of the release: it shows the certificate, the headline, the curve and shares of records (not
        those that were learned). The notes, the diagnosis and the path are the owner's, and for the terminal alone.
        """
        return doc.Document(
            kind="release",
            name=sentence("Tacit release of {file}", file=doc.FilePath(self.data_file)),
            badge=verdict_of(self.certificate),
            headline=self.headline,
            opening=(
                claim(self.certificate),
                *_owners(self),
                _tiles(self.certificate),
            ),
            sections=[section for write in SECTIONS for section in write(self)],
            reading=DEFINITIONS,
            footer=(doc.FilePath(self.data_file),),
        )

    @property
    def learned(self) -> bool:
        """Whether an estimator judged which records are risky."""
        return self.certificate.kind == "learned"


def verdict_of(certificate: TableCertificate) -> doc.Badge:
    """Whether the claim holds, of all records or of some."""
    if certificate.holds and certificate.kind == "learned" and certificate.mechanism.records_merged < 1:
        return doc.badge("certified in part")
    return doc.badge("holds" if certificate.holds else "does not hold")


# ---- what a certificate says in words ------------------------------------------------------------------------------


def _setting(value: float) -> doc.Nats:
    return doc.Nats(value, "setting")


def _on_curve(certificate: TableCertificate) -> bool:
    """Whether the release is a point of the plain watchdog's trade-off."""
    proved = any(reading.name == "sample" and reading.confidence for reading in certificate.readings)
    return not (certificate.mechanism.name != "watchdog" or proved or certificate.delta > 0)


def _claimed(certificate: TableCertificate) -> Sentence:
    """The bound, or those of the two sides where they differ."""
    high, low = certificate.bounds.high, certificate.bounds.low
    if low == high:
        return sentence("{epsilon}", epsilon=_setting(certificate.epsilon))
    if math.isinf(low):
        return sentence("{high} upwards, no bound downwards", high=_setting(high))
    return sentence("{high} upwards and {low} downwards", high=_setting(high), low=_setting(low))


def _attained(claimed: doc.Text, attained: float) -> Sentence:
    return sentence("{claimed} claimed, {attained} attained", claimed=claimed, attained=doc.Nats(attained))


def _ceiling(certificate: CountedCertificate) -> Sentence:
    """What may never be exceeded, whatever delta; nothing where there is no such bound."""
    if math.isinf(certificate.epsilon_max):
        return Sentence("")
    return sentence("never beyond {epsilon}", epsilon=_setting(certificate.epsilon_max))


def _mechanism(certificate: TableCertificate) -> Sentence:
    """Which rung of the ladder it is, and what it gains over the watchdog."""
    made_by = certificate.mechanism
    if made_by.name == "watchdog" or isinstance(made_by, LearnedMechanism):
        return Sentence("watchdog: one set of values is merged")
    what = "several sets of values are merged" if made_by.name == "subsets" else "values are mixed"
    gain = Sentence("")
    if made_by.watchdog_nmil is not None:
        gain = sentence(". One merged set, the watchdog, would lose {share}", share=doc.Share(made_by.watchdog_nmil))
        if (made_by.loss_bound or 0.0) >= _WORTH_TELLING:
            gain += sentence("; no mechanism loses less than {share}", share=doc.Share(made_by.loss_bound))
    return sentence("{name}: {what}{gain}", name=made_by.name, what=what, gain=gain)


def _unchanged(certificate: TableCertificate) -> Sentence:
    """How many rows and cells stay as they were; where replacements are drawn, what is expected of the draw."""
    about = "" if certificate.mechanism.replacement in ("merge", "suppress") else "about "
    return sentence(
        "{about}{rows} of rows and {about}{cells} of cells",
        about=about,
        rows=doc.Share(certificate.utility.rows_unchanged),
        cells=doc.Share(certificate.utility.cells_unchanged),
    )


def _together(composition: LedgerComposition) -> Sentence:
    """What all releases of a ledger say together of each secret, in short."""
    told = [
        sentence("{nats} of {secret}", nats=doc.Nats(each.epsilon), secret=doc.listed(each.secret))
        if math.isfinite(each.epsilon)
        else f"no bound of {doc.listed(each.secret)}"
        for each in composition.secrets
    ]
    return sentence(
        "{releases} in the ledger: {told} ({how})",
        releases=doc.Count(composition.releases, "release"),
        told=together(told, "; "),
        how="counted, exact" if composition.exact else "by bound",
    )


def _epsilons(certificate: TableCertificate) -> Rows:
    """What was asked, what is certain and, of a learned release, what is estimated."""
    if isinstance(certificate, CountedCertificate):
        rows: Rows = [("Epsilon", _attained(_claimed(certificate), certificate.attained_epsilon))]
        for each in certificate.also:
            rows.append((f"… of {doc.listed(each.secret)}", _attained(_setting(each.epsilon), each.attained_epsilon)))
        return rows
    merged = sentence(
        "{share} of all: {attained}, counted, exact",
        share=doc.Share(certificate.mechanism.records_merged),
        attained=doc.Nats(certificate.attained_epsilon, kind="exact"),
    )
    kept = sentence(
        "{estimated} at most by the estimate of {by}; of {share} of them the 95% interval reaches beyond epsilon",
        estimated=doc.Nats(certificate.estimated_epsilon, kind="estimate"),
        by=certificate.mechanism.estimator,
        share=doc.Share(certificate.estimated_exceeding),
    )
    asked = sentence("{epsilon} asked; lower is safer", epsilon=_setting(certificate.epsilon))
    return [("Epsilon", asked), ("Merged records", merged), ("Kept records", kept)]


def _delta(certificate: CountedCertificate) -> Sentence:
    return sentence(
        "{delta} allowed ({kind}), {attained} attained; {breach} of records carry a value beyond epsilon",
        delta=doc.Number(certificate.delta, "setting"),
        kind="probability of pairs beyond epsilon"
        if certificate.delta_kind == "mass"
        else "excess of probability, E-gamma",
        attained=doc.Number(certificate.attained_delta),
        breach=doc.Share(certificate.breach_share),
    )


# ---- the document --------------------------------------------------------------------------------------------------


def _owners(result: ProtectResult) -> tuple[doc.Block, ...]:
    """What the owner is told before anything else, in the terminal alone."""
    certificate, utility = result.certificate, result.certificate.utility
    data = sentence("{out} (data in {file})", out=doc.FilePath(result.out), file=result.data_file)
    rows: Rows = [
        ("Release", data),
        ("Secret", doc.listed(certificate.secret)),
        ("Released", doc.listed(certificate.released)),
        *_epsilons(certificate),
    ]
    if isinstance(certificate, CountedCertificate) and certificate.delta > 0:
        rows.append(("Delta", together((_delta(certificate), _ceiling(certificate)), "; ")))
    rows += [
        ("Mechanism", _mechanism(certificate)),
        ("Loss (NMIL)", sentence("{loss} of the information; lower is better", loss=doc.Share(utility.nmil))),
        ("Kept", sentence("{kept} unchanged", kept=_unchanged(certificate))),
    ]
    if certificate.left_out:
        rows.append(("Left out", doc.listed(certificate.left_out)))
    if certificate.composition is not None:
        rows.append(("Together", _together(certificate.composition)))
    why = (doc.Paragraph(result.diagnosis, "warning", label="Why", where="terminal"),) if result.diagnosis else ()
    return (*why, doc.Facts(rows, where="terminal"))


def _tiles(certificate: TableCertificate) -> doc.Tiles:
    utility = certificate.utility
    if isinstance(certificate, LearnedCertificate):
        made_by = certificate.mechanism
        merged = sentence("exact; {share} of records", share=doc.Share(made_by.records_merged))
        kept = sentence("by {by}; no guarantee", by=doc.DataValue(made_by.estimator, 32))
        tiles = [
            doc.Tile("Epsilon asked", _setting(certificate.epsilon), "smaller is stricter"),
            doc.Tile("Merged records, counted", doc.Nats(certificate.attained_epsilon, kind="exact"), merged),
            doc.Tile("Kept records, estimated", doc.Nats(certificate.estimated_epsilon, kind="estimate"), kept),
            doc.Tile(
                "May exceed epsilon",
                doc.Share(certificate.estimated_exceeding),
                "of kept records, by their 95% interval",
            ),
        ]
    else:
        one_bound = certificate.epsilon_low == certificate.epsilon_high
        note = "smaller is stricter" if one_bound else _claimed(certificate)
        tiles = [
            doc.Tile("Epsilon claimed", _setting(certificate.epsilon), note),
            doc.Tile("Epsilon attained", doc.Nats(certificate.attained_epsilon), "lower is safer"),
        ]
        for each in certificate.also:
            name = f"Epsilon of {doc.listed(each.secret, limit=3)}"
            claimed = sentence("attained, {epsilon} claimed", epsilon=_setting(each.epsilon))
            tiles.append(doc.Tile(name, doc.Nats(each.attained_epsilon), claimed))
    if isinstance(certificate, CountedCertificate) and certificate.delta > 0:
        allowed = sentence("attained, of {delta} allowed", delta=doc.Number(certificate.delta, "setting"))
        beyond = _ceiling(certificate) or "for some secret, by however little"
        tiles.append(doc.Tile("Delta", doc.Number(certificate.attained_delta), allowed))
        tiles.append(doc.Tile("Records beyond epsilon", doc.Share(certificate.breach_share), beyond))
    cells = sentence("expected; {share} of cells", share=doc.Share(utility.cells_unchanged))
    tiles.append(doc.Tile("Loss (NMIL)", doc.Share(utility.nmil), "of the information; lower is better"))
    return doc.Tiles([*tiles, doc.Tile("Rows unchanged", doc.Share(utility.rows_unchanged), cells)])


def _changes(result: ProtectResult) -> Sections:
    """Every measure before and after, with what is promised of it."""
    measures = result.certificate.measures
    if result.learned:
        table = doc.TableBlock(("Measure", ">Before", ">After", "Kind"), [(*_change(m), m.kind) for m in measures])
        blocks = (doc.Paragraph(f"{ESTIMATE} {DIRECTION}"), table)
        return (doc.Section("What leaks, before and after", blocks, kind="estimate"),)
    columns = ("Measure", ">Before", ">After", ">Epsilon promises\nat most", "Kept?")
    rows = [(*_change(m), doc.measured(m.promise, m.unit, with_unit=False), _kept(m)) for m in measures]
    infinite = any(math.isinf(m.before) or math.isinf(m.after) for m in measures)
    blocks = (
        doc.Paragraph(f"{DIRECTION} The promise is what epsilon implies for the measure, whatever the data."),
        doc.TableBlock(columns, rows),
        *((doc.Paragraph(INFINITE, "note"),) if infinite else ()),
    )
    return (doc.Section("What leaks, before and after", blocks, kind="plug-in"),)


def _change(m: MeasureChange) -> tuple[doc.Cell, ...]:
    return (
        doc.Cell(m.title, style="bold"),
        doc.Cell(doc.measured(m.before, m.unit, with_unit=False)),
        doc.Cell(doc.measured(m.after, m.unit), style="big"),
    )


def _kept(m: MeasureChange) -> doc.Badge | doc.Cell:
    if m.promise is None:
        return doc.Cell("no promise", style="quiet")
    return doc.badge("within" if m.after <= m.promise * (1 + _SLACK) + 1e-12 else "beyond")


def _risks(result: ProtectResult) -> Sections:
    if result.learned:
        # What was learned of few records, told finely enough, is a fingerprint of their secrets.
        told = (
            "Estimates have two digits here, and neither the estimated risks of the records nor what other epsilons "
            "would cost are shown: more of them would tell guesses of the secrets apart. The owner has them in full."
        )
        return (doc.Section("", (doc.Paragraph(told, "note"),), where="page"),)
    layers = (doc.Layer("before", result.before), doc.Layer("after", result.after, "outline"))
    epsilon = result.certificate.epsilon
    line = doc.Line(epsilon, sentence("epsilon {epsilon}", epsilon=doc.Nats(epsilon, "setting", unit=False)))
    figure = doc.Figure(doc.Histogram(layers, (line,)), histogram_numbers(layers))
    title = "How risky are the records, before and after?"
    return (doc.Section(title, (figure,), kind="plug-in", where="page"),)


def _cost(result: ProtectResult) -> Sections:
    certificate, utility = result.certificate, result.certificate.utility
    told = sentence(
        "The release keeps {kept} of {whole} of information about the original values; {unchanged} are unchanged, and "
        "no column's shares are expected to move by more than {shift}.",
        kept=doc.Nats(utility.mutual_information, unit=False),
        whole=doc.Nats(utility.entropy),
        unchanged=_unchanged(certificate),
        shift=doc.Share(utility.column_shift),
    )
    on_curve = result.learned or _on_curve(certificate)
    curve = "" if on_curve else " The curve is that of one merged set, the plain watchdog."
    mark = (certificate.attained_epsilon, certificate.utility.nmil)
    epsilon = certificate.epsilon if on_curve else None
    who = "a release" if on_curve else "the plain watchdog"
    blocks: list[doc.Block] = [
        doc.Paragraph(told, where="page"),
        doc.Paragraph(
            sentence("{by}.{curve}", by=_mechanism(certificate), curve=curve), label="Mechanism", where="page"
        ),
        trade_off(result.curve, epsilon=epsilon, mark=mark, label="this release", who=who),
    ]
    if not result.learned:
        title = "What it costs, and what another epsilon would cost"
        if not on_curve:
            title = "What it costs, and what one merged set, the plain watchdog, would cost instead"
        return (doc.Section(title, blocks),)
    public = doc.Section("What it costs the honest reader", blocks[:2], where="page")
    owners = doc.Section("What another epsilon would cost", blocks[2:], kind="estimate", where="terminal")
    return (public, owners)


def _readings(result: ProtectResult) -> Sections:
    readings = result.certificate.readings
    if not readings:
        return ()
    items = [
        doc.Definition("This table is the population", reading.sentence, "exact")
        if reading.name == "population"
        else doc.Definition(
            "This table is a sample", reading.sentence, "proved" if reading.confidence else "not proved"
        )
        for reading in readings
    ]
    return (doc.Section("Two ways to read the claim", (doc.Definitions(items),)),)


def _assumptions(result: ProtectResult) -> Sections:
    return assumptions(result.certificate)


def _certificate(result: ProtectResult) -> Sections:
    """The certificate, field by field: what is public of the release."""
    c = result.certificate
    rows: Rows = [("secret", doc.listed(c.secret, limit=60)), ("released", doc.listed(c.released, limit=60))]
    if c.left_out:
        rows.append(("left out", doc.listed(c.left_out, limit=60)))
    for cut in c.cuts:
        name = sentence("cut: {column}", column=doc.DataValue(cut.column, 24))
        rows.append((name, f"at {doc.listed([f'{edge:g}' for edge in cut.edges], limit=40)}"))
    kind = ": counted for merged records, estimated for all others" if result.learned else ""
    rows += [("holds", verdict_of(c)), ("kind", f"{c.kind}{kind}")]
    rows += [(name[:1].lower() + name[1:] if isinstance(name, str) else name, told) for name, told in _epsilons(c)]
    if isinstance(c, CountedCertificate):
        rows.append(("delta", _delta(c)))
        if math.isfinite(c.epsilon_max):
            rows.append(("epsilon max", _setting(c.epsilon_max)))
    if c.composition:
        rows.append(("together", _together(c.composition)))
    check = "Anyone with the original table can check the claim: Tacit verifies this release against it."
    return certificate_section(c, rows, "mechanism", check=check)


def _notes(result: ProtectResult) -> Sections:
    return tuple(doc.notes_section(result.notes, where="terminal"))


# The order of the answer. A new section is a function and a line here.
SECTIONS = (_changes, _risks, _cost, _readings, _assumptions, _certificate, _notes)
