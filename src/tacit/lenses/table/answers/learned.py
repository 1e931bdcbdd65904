"""What an audit says about learned log-lift: every number is an estimate, and every section says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit import document as doc
from tacit.errors import sentence
from tacit.lenses.glossary import DIRECTION, ESTIMATE
from tacit.lenses.histograms import histogram_numbers
from tacit.lenses.table.answers.cards import risky_cards
from tacit.lenses.table.answers.trade_off import EPSILON
from tacit.lenses.table.results import LearnedFindings, LearnedRiskyValue


def learned_sections(
    findings: LearnedFindings, beside: doc.RiskHistogram, *, counted: Mapping[float, float], secrets: Sequence[str]
) -> tuple[doc.Section, ...]:
    """The learned answer, next to the counted histogram and shares; ``secrets`` has the commonest first."""
    calibration = (_calibration(findings, secrets),) if findings.calibration else ()
    return (_leaks(findings), *calibration, _risks(findings, beside, counted), _riskiest(findings))


def _leaks(findings: LearnedFindings) -> doc.Section:
    blocks: list[doc.Block] = [doc.Paragraph(f"{ESTIMATE} {DIRECTION}"), _tiles(findings)]
    if findings.reason:
        blocks.append(doc.Paragraph(findings.reason, "note", label="Why this estimator"))
    if findings.candidates:
        loss = sentence(">Loss on held-out records\n({} per record; lower is better)", doc.UNIT)
        columns = ("Tried", loss, ">Weight")
        prior = (doc.Cell("the prior alone", style="quiet"), doc.Nats(findings.prior_log_loss, unit=False), "")
        rows = [(c.title, doc.Nats(c.log_loss, unit=False), doc.Number(c.weight)) for c in findings.candidates]
        blocks.append(doc.TableBlock(columns, [*rows, prior]))
    return doc.Section("Learned: what leaks", blocks, kind="estimate")


def _tiles(findings: LearnedFindings) -> doc.Tiles:
    interval = doc.Interval.nats(findings.information.low, findings.information.high, "95% interval")
    whole = sentence("{}, of {}", interval, doc.Nats(findings.prior_log_loss, unit=False))
    learned = "learned elsewhere"
    if findings.trained_on:
        learned = sentence("learned from {}", doc.Count(findings.trained_on, "record"))
    tiles = [
        doc.Tile("Information", doc.Nats(findings.information.value), whole),
        doc.Tile(
            "Shuffled secrets reach", doc.Nats(findings.null_high), sentence("p {}", doc.Chance(findings.p_value))
        ),
        doc.Tile(
            "Largest risk",
            doc.Nats(findings.largest_risk),
            "of a released value, by the final model, which protect uses",
        ),
        doc.Tile("Estimator", doc.DataValue(findings.estimator, 32), learned),
        doc.Tile("Distinct values", doc.Count(findings.n_values), resolution(findings)),
    ]
    if findings.model_path:
        tiles.append(doc.Tile("Model", doc.FilePath(findings.model_path), "private", where="terminal"))
    return doc.Tiles(tiles)


def resolution(findings: LearnedFindings) -> str:
    """How finely the released columns were taken."""
    return f"{doc.listed(findings.cut, limit=6)} cut as you asked, all else uncut" if findings.cut else "uncut"


def _calibration(findings: LearnedFindings, secrets: Sequence[str]) -> doc.Section:
    points = findings.calibration
    chart = doc.Calibration(points, secrets)
    hidden = len({point.secret for point in points}) - len(chart.drawn)
    within = sum(point.low <= point.predicted <= point.high for point in points)
    verdict = (
        f"In {within} of {len(points)} groups of records the predicted log-lift lies within the 95% limits of the one "
        "observed among records that the model had not seen."
    )
    words = (
        "Records are grouped by the log-lift predicted for a secret by models that had not seen them, next to the "
        "log-lift observed in the group, with exact binomial 95% limits. On the diagonal the prediction is right."
    )
    blocks: list[doc.Block] = [
        doc.Paragraph(words, where="page"),
        doc.Figure(chart, (_calibration_table(points),)),
        doc.Paragraph(verdict),
    ]
    if hidden > 0:
        more = f"{hidden} more {'secrets are' if hidden > 1 else 'secret is'} in the table."
        blocks.append(doc.Paragraph(more, where="page"))
    return doc.Section("Is the estimate right?", blocks, kind="estimate")


def _calibration_table(points: Sequence[doc.CalibrationPoint]) -> doc.TableBlock:
    predicted = sentence(">Predicted ({})", doc.UNIT)
    rows = [
        (
            "all" if p.secret is None else doc.DataValue(p.secret, 40),
            doc.Nats(p.predicted, "signed", unit=False),
            doc.Nats(p.observed, "signed", unit=False),
            doc.Interval.nats(p.low, p.high),
            doc.Count(p.records),
        )
        for p in points
    ]
    return doc.TableBlock(("Secret", predicted, ">Observed", ">95% limits", ">Records"), rows, where="page")


def _risks(findings: LearnedFindings, beside: doc.RiskHistogram, counted: Mapping[float, float]) -> doc.Section:
    by = "models that had not seen the record" if findings.trained_on else "the saved model"
    words = (
        f"Learned risks are by {by}, the columns {resolution(findings)}. Counted ones are for the cut columns in the "
        "sections below: with few records per value they are mostly noise, and biased upwards."
    )
    layers = (
        doc.Layer("learned (estimate)", findings.risk_histogram),
        doc.Layer("counted (plug-in)", beside, "outline"),
    )
    names = (EPSILON, ">Records within\n(estimate)", ">Whole interval within\n(95%, estimate)", ">Counted\n(plug-in)")
    rows = [
        (
            doc.Nats(s.epsilon, "setting", unit=False),
            doc.Cell(doc.Share(s.records), style="big"),
            doc.Share(s.surely),
            doc.Share(counted.get(s.epsilon)),
        )
        for s in findings.safe_shares
    ]
    figure = doc.Figure(doc.Histogram(layers), histogram_numbers(layers))
    blocks = (doc.Paragraph(words), figure, doc.TableBlock(names, rows))
    return doc.Section("How risky are the records, learned and counted?", blocks, kind="estimate")


def _riskiest(findings: LearnedFindings) -> doc.Section:
    blocks: list[doc.Block] = [doc.Paragraph("No value carries any risk.")]
    if findings.riskiest:
        words = (
            "Bars: what each column adds, measured by how much the log-lift falls when its cell is redrawn from the "
            "whole column. To the right it speaks for the secret, to the left against it."
        )
        facts = [_risky_facts(value) for value in findings.riskiest]
        cards = risky_cards(findings.riskiest, facts, terms="what each column adds")
        blocks = [doc.Paragraph(words, where="page"), cards]
    if findings.notes:
        blocks.append(doc.Bullets(findings.notes))
    return doc.Section("The riskiest values", blocks, kind="estimate")


def _risky_facts(value: LearnedRiskyValue) -> tuple[tuple[str, doc.Text], ...]:
    lift, interval = doc.Nats(value.log_lift, "signed", unit=False), doc.Interval.nats(value.low, value.high)
    return (
        ("Risk", doc.Nats(value.risk)),
        ("Log-lift, 95% interval", sentence("{} ({})", lift, interval)),
        ("Records", doc.Count(value.records)),
        ("Secret", doc.DataValue(value.secret, 32)),
        ("Prior → posterior", sentence("{} → {}", doc.Share(value.prior), doc.Share(value.posterior))),
        ("Says most", doc.DataValue(value.says_most, 24)),
    )
