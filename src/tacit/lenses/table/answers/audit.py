"""The answer of ``audit``: what a table gives away about a secret."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tacit import document as doc
from tacit.errors import Command, Sentence, sentence
from tacit.lenses.facts import SecretValue, SourceFacts
from tacit.lenses.glossary import DEFINITIONS, DIRECTION, INFINITE, OWNER_ONLY, PLUG_IN
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.table.answers.cards import risky_cards
from tacit.lenses.table.answers.first import do_section, what_section, who_section
from tacit.lenses.table.answers.ladder import cost_section, epsilons_section
from tacit.lenses.table.answers.learned import learned_sections
from tacit.lenses.table.answers.people import people_section
from tacit.lenses.table.answers.pricing import prices_section
from tacit.lenses.table.answers.trade_off import EPSILON
from tacit.lenses.table.ladder.advice import advised
from tacit.lenses.table.ladder.fixes import FixEffects
from tacit.lenses.table.ladder.results import Ladder
from tacit.lenses.table.linkage.results import PeopleFound
from tacit.lenses.table.results import (
    ColumnLeak,
    ColumnRole,
    FirstAnswer,
    LearnedFindings,
    MeasureFinding,
    RiskyValue,
    SafeShare,
    SecretPrices,
    Suggestion,
)
from tacit.lift import Verdict
from tacit.report.json import plain
from tacit.report.result import Result

# How many columns the first line names.
_NAMED = 5
_COLUMNS_DRAWN = 25
_COLUMNS_TOLD = 20
_LINES_DRAWN = 4
_SKIPPING = (
    "Tools that skip zero cells ignore secrets that never occur with a value, and call it safe; but such a secret has "
    "been ruled out."
)


@dataclass(frozen=True)
class AuditResult(Result):
    """What a table gives away about a secret.

    ``verdict`` and ``headline`` are those of ``answer``, the number that survives chance: counted, or learned where
    counting is swamped by chance or an estimator was asked for (``learned``); all else is counted (plug-in). ``found``
    is about the original table: who is alone in it, and could be found. ``prices`` are given if a secret has so many
    values that perhaps only a few of them matter. ``ladder`` is what ``protect`` would give at a few epsilons,
    ``curve`` what one merged set, the papers' watchdog, would cost; ``fixes`` what leaving out some columns, or telling
    them more coarsely, would change. ``asked`` is what the user said about the table.
    """

    source: SourceFacts
    columns: tuple[ColumnRole, ...]
    secrets: tuple[SecretValue, ...]
    n_values: int
    verdict: Verdict
    headline: str
    measures: tuple[MeasureFinding, ...]
    shuffles: int
    risk_histogram: doc.RiskHistogram
    safe_shares: tuple[SafeShare, ...]
    riskiest: tuple[RiskyValue, ...]
    column_leaks: tuple[ColumnLeak, ...]
    curve: tuple[doc.CurvePoint, ...]
    ladder: Ladder
    suggestion: Suggestion
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    scores_path: str | None = None
    learned: LearnedFindings | None = None
    found: PeopleFound | None = None
    prices: SecretPrices | None = None
    answer: FirstAnswer | None = None
    fixes: FixEffects | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def largest_risk(self) -> float:
        """The risk of the riskiest record: learned if anything was learned, else counted."""
        return self.risk_histogram.quantiles["100%"] if self.learned is None else self.learned.largest_risk

    def document(self) -> doc.Document:
        """The learned answer first, where there is one; then what was counted."""
        return doc.Document(
            kind="audit",
            name=sentence("Tacit audit of {}", doc.FilePath(self.source.name)),
            badge=doc.badge(self.verdict),
            headline=self.headline,
            opening=(
                *((doc.Paragraph(self.answer.basis),) if self.answer and self.answer.basis else ()),
                doc.Paragraph(_about(self), "note"),
            ),
            sections=[
                *(section for write in SECTIONS for section in write(self)),
                *(replace(section, folded=True) for write in FOLDED for section in write(self)),
            ],
            reading=DEFINITIONS,
            footer=(OWNER_ONLY,),
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole result in strict JSON types, with the advice: the settings of audits worth running next."""
        return {**super().to_dict(), "advice": plain(list(advised(self)))}

    def names(self, role: str) -> list[str]:
        """The columns in one role."""
        return [column.name for column in self.columns if column.role == role]


Sections = Sequence[doc.Section]


def _about(audit: AuditResult) -> Sentence:
    """What was asked, in a line."""
    names = {role: audit.names(role) for role in ("secret", "released", "dropped", "weight")}
    words = "{records} of {name}. Secret: {secret}. Released: {released}."
    words += " Left out: {dropped}." if names["dropped"] else ""
    words += " Weight: {weight}." if names["weight"] else ""
    named = {role: doc.listed(columns, limit=_NAMED) for role, columns in names.items()}
    source = audit.source
    return sentence(words, records=doc.Count(source.records, "record"), name=doc.FilePath(source.name), **named)


def _who(audit: AuditResult) -> Sections:
    return (who_section(audit),)


def _what(audit: AuditResult) -> Sections:
    return (what_section(audit),) if audit.column_leaks else ()


def _do(audit: AuditResult) -> Sections:
    return (do_section(audit),)


def _learned(audit: AuditResult) -> Sections:
    if audit.learned is None:
        return ()
    counted = {s.epsilon: s.records for s in audit.safe_shares}
    secrets = [s.label for s in sorted(audit.secrets, key=lambda s: -s.prior)]
    return learned_sections(audit.learned, audit.risk_histogram, counted=counted, secrets=secrets)


def _measures(audit: AuditResult) -> Sections:
    strip, ceiling = doc.TableColumn("Value and null band", "page"), doc.TableColumn(">At most", "page")
    columns = ("Measure", ">Value", strip, doc.TableColumn(">Shuffled", "terminal"), ceiling, ">p", "Verdict")
    rows = [
        doc.Row(
            (
                doc.Cell(m.title, style="bold"),
                _measured(m),
                doc.Cell(
                    doc.Strip(m.title, m.value, m.null_low, m.null_high, doc.badge(m.verdict), m.unit),
                    small=sentence("shuffled: {}", _band(m)),
                ),
                _band(m),
                doc.measured(m.ceiling, m.unit, with_unit=False),
                doc.Chance(m.p_value),
                doc.badge(m.verdict),
            ),
            note=m.meaning,
        )
        for m in audit.measures
    ]
    band = sentence(
        "{} The band holds 5% to 95% of what {} of the secret give: a value inside it cannot be told from chance. p: "
        "the share of shuffles at least as large. {}",
        DIRECTION,
        doc.Count(audit.shuffles, "shuffle"),
        INFINITE if any(math.isinf(m.value) for m in audit.measures) else "",
    )
    blocks: list[doc.Block] = [
        doc.Paragraph(PLUG_IN),
        doc.TableBlock(columns, rows, look="measures"),
        doc.Paragraph(band, "note"),
    ]
    if audit.measures:
        explained = sentence("{} explains a measure.", Command("explain", audit.measures[0].name))
        blocks.append(doc.Paragraph(explained, "note", where="terminal"))
        largest = "At most: the largest value the measure can take for this secret."
        blocks.append(doc.Paragraph(largest, "note", where="page"))
    return (doc.Section("Counted: what leaks" if audit.learned else "What leaks", blocks, kind="plug-in"),)


def _measured(m: MeasureFinding) -> doc.Cell:
    """The value of a measure, marked as chance if it is inside the null band."""
    value = doc.measured(m.value, m.unit)
    return doc.Cell(value, style="big") if m.value > m.null_high else doc.Cell(value, "chance", style="quiet")


def _band(m: MeasureFinding) -> doc.Interval:
    low, high = (doc.measured(end, m.unit, with_unit=False) for end in (m.null_low, m.null_high))
    return doc.Interval(low, high, "–")


def _risks(audit: AuditResult) -> Sections:
    histogram = audit.risk_histogram
    layers = (doc.Layer("this table", histogram),)
    figure = doc.Figure(doc.Histogram(layers, _lines(audit)), histogram_numbers(layers))
    columns = (EPSILON, ">Records within", ">Values within", ">Records, if zero\ncells are skipped")
    rows = [
        (
            doc.Nats(s.epsilon, "setting", unit=False),
            doc.Share(s.records),
            doc.Share(s.values),
            doc.Cell(
                doc.Share(s.records_skipping_zero_cells),
                style="bad" if s.records_skipping_zero_cells > s.records else "",
            ),
        )
        for s in audit.safe_shares
    ]
    words = "Every record has the risk of its released value. The lines say how many records are within an epsilon."
    table = doc.TableBlock(columns, rows)
    blocks = (doc.Paragraph(words, where="page"), figure, table, doc.Paragraph(_SKIPPING, "note"))
    return (doc.Section("How risky are the records?", blocks, kind="plug-in"),)


def _lines(audit: AuditResult) -> list[doc.Line]:
    """A few epsilons that lie on the axis of the histogram, each with the share of records within it."""
    high = max(audit.risk_histogram.edges, default=0.0)
    shown = [s for s in audit.safe_shares if s.epsilon <= high]
    step = max(1, math.ceil(len(shown) / _LINES_DRAWN))
    return [
        doc.Line(s.epsilon, sentence("ε {}: {}", doc.Nats(s.epsilon, "setting", unit=False), doc.Share(s.records)))
        for s in shown[::-step][::-1]
    ]


def _people(audit: AuditResult) -> Sections:
    return () if audit.found is None else (people_section(audit.found),)


def _prices(audit: AuditResult) -> Sections:
    return () if audit.prices is None else (prices_section(audit.prices),)


def _cost(audit: AuditResult) -> Sections:
    return (cost_section(audit.ladder, audit.suggestion),)


def _epsilons(audit: AuditResult) -> Sections:
    return (epsilons_section(audit.ladder),) if audit.ladder.rungs else ()


def _column_leaks(audit: AuditResult) -> Sections:
    if not audit.column_leaks:
        return ()
    # What leaks most comes first, so that a shortened list never hides it.
    leaks = sorted(audit.column_leaks, key=lambda leak: -max(leak.alone, leak.given_others))
    rest = len(leaks) - _COLUMNS_DRAWN
    words = (
        "Alone: what the column says on its own. Added to the others: what it still adds once all other released "
        "columns are known. Whatever does not pass its mark cannot be told from chance."
    )
    if rest > 0:
        words += f" {rest} more columns are in the table."
    figure = doc.Figure(_column_chart(leaks[:_COLUMNS_DRAWN]), (_column_table(leaks),), open=rest > 0)
    title = sentence("Every column, in {}", doc.UNIT)
    return (doc.Section(title, (doc.Paragraph(f"{words} {DIRECTION}"), figure), kind="plug-in"),)


def _column_chart(leaks: Sequence[ColumnLeak]) -> doc.Bars:
    alone, added = "alone", "added to the others"
    return doc.Bars(
        "Leak of each column",
        sentence("Mutual information ({}); higher is riskier", doc.UNIT),
        [
            doc.BarRow(
                leak.name,
                (
                    doc.Bar(alone, leak.alone, null=leak.alone_null),
                    doc.Bar(added, leak.given_others, null=leak.given_others_null),
                ),
                badge=doc.badge(leak.alone_verdict),
            )
            for leak in leaks
        ],
        series=(alone, added),
        null_label="95% of shuffles stay below",
    )


def _column_table(leaks: Sequence[ColumnLeak]) -> doc.TableBlock:
    safe = doc.TableColumn(">Records safe without it, at epsilon 1 nat", where="page")
    adds, without = ">Adds to\nothers", ">Others\nwithout it"
    columns = ("Column", ">Alone", ">Shuffled", adds, ">Shuffled", without, safe, "Verdict, alone")
    rows = [
        (
            doc.DataValue(c.name, 24),
            _beyond_chance(c.alone, c.alone_null),
            sentence("≤{}", doc.Nats(c.alone_null, unit=False)),
            _beyond_chance(c.given_others, c.given_others_null),
            sentence("≤{}", doc.Nats(c.given_others_null, unit=False)),
            doc.Nats(c.left_out, unit=False),
            doc.Share(c.safe_share_without),
            doc.badge(c.alone_verdict),
        )
        for c in leaks
    ]
    return doc.TableBlock(columns, rows, shown=range(_COLUMNS_TOLD), more="columns")


def _beyond_chance(value: float, null: float) -> doc.Cell:
    """A number that survives the null; one that does not is noise, whatever its digits."""
    return doc.Cell(doc.Nats(value, unit=False)) if value > null else doc.Cell("chance", style="quiet")


def _riskiest(audit: AuditResult) -> Sections:
    if not audit.riskiest:
        return (doc.Section("The riskiest values", (doc.Paragraph("No value carries any risk."),), kind="plug-in"),)
    facts = [
        (
            ("Risk", doc.Nats(v.risk)),
            ("Records", doc.Count(v.records)),
            ("Secret", doc.DataValue(v.secret, 32)),
            ("Prior → posterior", sentence("{} → {}", doc.Share(v.prior), doc.Share(v.posterior))),
            ("Log-lift", doc.Nats(v.log_lift, "signed", unit=False)),
            ("Chance p", doc.Chance(v.p_chance)),
        )
        for v in audit.riskiest
    ]
    words = (
        "Bars: which column says it. To the right, a column speaks for the secret; to the left, against it. They add "
        "up to the log-lift. Chance p: how often a shuffled secret gives a count as extreme."
    )
    blocks = (doc.Paragraph(words, where="page"), risky_cards(audit.riskiest, facts, terms="log-lift by column"))
    return (doc.Section("The riskiest values", blocks, kind="plug-in"),)


def _prior(audit: AuditResult) -> Sections:
    chart = doc.Bars(
        "Prior of the secret",
        "Share of records (prior)",
        [doc.BarRow(s.label, (doc.Bar("", s.prior),)) for s in audit.secrets],
        unit="probability",
    )
    rows = [(doc.DataValue(s.label, 60), doc.Count(s.weight), doc.Share(s.prior)) for s in audit.secrets]
    figure = doc.Figure(chart, (doc.TableBlock(("Secret", ">Weight", ">Prior"), rows),))
    return (doc.Section("The secret before any release", (figure,), where="page"),)


def _roles(audit: AuditResult) -> Sections:
    columns = ("Column", "Role", ">Distinct", "Cut")
    rows = [
        (doc.DataValue(c.name, 40), c.role, doc.Count(c.distinct), doc.listed(c.cut, limit=20) if c.cut else "")
        for c in audit.columns
    ]
    return (doc.Section("Columns and their roles", (doc.TableBlock(columns, rows),), where="page"),)


def _notes(audit: AuditResult) -> Sections:
    made_from = (sentence("{} behind the null bands", doc.Count(audit.shuffles, "shuffle")), *audit.source.hashed)
    return tuple(doc.notes_section((*audit.notes, *made_from)))


def _written(audit: AuditResult) -> Sections:
    if not audit.scores_path:
        return ()
    rows = (("Risk of every record", sentence("{} (private)", doc.FilePath(audit.scores_path))),)
    return (doc.Section("", (doc.Facts(rows),), where="terminal"),)


# The order of the answer, and of what is folded. A new section is a function and a line here.
SECTIONS = (_who, _what, _do, _cost, _written)
FOLDED = (_learned, _measures, _risks, _people, _column_leaks, _riskiest, _epsilons, _prices, _prior, _roles, _notes)
