"""What an audit says of the log-lift that was learned: each number an estimate, and each section says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit import document as doc
from tacit.errors import Sentence, sentence
from tacit.lenses.glossary import DIRECTION, ESTIMATE
from tacit.lenses.histograms import histogram_numbers, quantiles_told
from tacit.lenses.table.answers.cards import risky_cards
from tacit.lenses.table.answers.trade_off import EPSILON
from tacit.lenses.table.results import LearnedFindings, LearnedSafeShare, SafeShare


def safe_tile(shares: Sequence[SafeShare | LearnedSafeShare], *, learned: bool) -> list[doc.Tile]:
    """The safe share to headline: the one nearest to 1 nat, the epsilon of the papers."""
    nearest = min(shares, key=lambda s: abs(s.epsilon - 1.0), default=None)
    if nearest is None:
        return []
    name = sentence(
        "Safe at epsilon {epsilon}{by}",
        epsilon=doc.Nats(nearest.epsilon, "setting", unit=False),
        by=", estimated" if learned else "",
    )
    safe = doc.Share(nearest.records, "estimate" if learned else "plug-in")
    return [doc.Tile(name, safe, "of records; higher is safer")]


def learned_sections(
    found: LearnedFindings, beside: doc.RiskHistogram, *, counted: Mapping[float, float], secrets: Sequence[str]
) -> tuple[doc.Section, ...]:
    """The learned answer, beside the counted histogram and the counted shares; ``secrets`` the commonest first."""
    calibration = (_calibration(found, secrets),) if found.calibration else ()
    return (_leaks(found), *calibration, _risks(found, beside, counted), _riskiest(found))


def _leaks(found: LearnedFindings) -> doc.Section:
    blocks: list[doc.Block] = [doc.Paragraph(f"{ESTIMATE} {DIRECTION}"), _facts(found), _tiles(found)]
    if found.reason:
        blocks.append(doc.Paragraph(found.reason, "note", label="Why this estimator:", where="page"))
    if found.candidates:
        loss = sentence("Loss on records apart\n({unit} a record; lower is better)", unit=doc.UNIT)
        columns = ("Tried", doc.TableColumn(loss, numeric=True), ">Weight")
        prior = (doc.Cell("the prior alone", style="quiet"), doc.Nats(found.prior_log_loss, unit=False), "")
        rows = [(c.title, doc.Nats(c.log_loss, unit=False), doc.Number(c.weight)) for c in found.candidates]
        blocks.append(doc.TableBlock(columns, [*rows, prior]))
    return doc.Section("Learned: what leaks", blocks, kind="estimate")


def _interval(found: LearnedFindings) -> Sentence:
    return sentence(
        "95% interval {interval} of {whole}",
        interval=doc.Interval.nats(found.information.low, found.information.high, kind="estimate"),
        whole=doc.Nats(found.prior_log_loss, unit=False),
    )


def _facts(found: LearnedFindings) -> doc.Facts:
    told: dict[str, doc.Text] = {
        "Estimator": found.estimator,
        "Why": found.reason,
        "Learned from": sentence(
            "{records} with {values} distinct values, {fine}",
            records=doc.Count(found.trained_on, "record"),
            values=doc.Count(found.n_values),
            fine=resolution(found),
        )
        if found.trained_on
        else sentence(
            "nothing here: {values} distinct values, {fine}, were scored by a model learned elsewhere",
            values=doc.Count(found.n_values),
            fine=resolution(found),
        ),
        "Information": sentence(
            "{value} ({interval}); shuffled secrets reach {null}; p {p}",
            value=doc.Nats(found.information.value, kind="estimate"),
            interval=_interval(found),
            null=doc.Nats(found.null_high, unit=False),
            p=doc.Chance(found.p_value),
        ),
        "Largest risk": sentence(
            "{risk}, by the final model, which protect goes by", risk=doc.Nats(found.largest_risk, kind="estimate")
        ),
        "Model": sentence("{path} (private)", path=doc.FilePath(found.model_path)) if found.model_path else "",
    }
    return doc.Facts([(name, value) for name, value in told.items() if value], where="terminal")


def _tiles(found: LearnedFindings) -> doc.Tiles:
    learned = sentence("learned from {records}", records=doc.Count(found.trained_on, "record"))
    return doc.Tiles(
        (
            doc.Tile("Information", doc.Nats(found.information.value, kind="estimate"), _interval(found)),
            doc.Tile(
                "Shuffled secrets reach", doc.Nats(found.null_high), sentence("p {p}", p=doc.Chance(found.p_value))
            ),
            doc.Tile(
                "Largest risk", doc.Nats(found.largest_risk, kind="estimate"), "of a released value, by the final model"
            ),
            doc.Tile(
                "Estimator", doc.DataValue(found.estimator, 32), learned if found.trained_on else "learned elsewhere"
            ),
        )
    )


def resolution(found: LearnedFindings) -> str:
    """How finely the released columns were looked at."""
    return f"{doc.listed(found.cut, limit=6)} cut as you asked, all else uncut" if found.cut else "uncut"


def _calibration(found: LearnedFindings, secrets: Sequence[str]) -> doc.Section:
    points = found.calibration
    chart = doc.Calibration(points, secrets)
    hidden = len({point.secret for point in points}) - len(chart.drawn)
    within = sum(point.low <= point.predicted <= point.high for point in points)
    told = (
        f"In {within} of {len(points)} groups of records the predicted log-lift lies within the 95% limits of the one "
        "observed among records that the model had not seen."
    )
    words = (
        "Records are grouped by the log-lift predicted for a secret, by models that had not seen them; beside it "
        "stands the log-lift observed in the group, with exact binomial 95% limits. On the diagonal the "
        "prediction is right."
    )
    blocks: list[doc.Block] = [
        doc.Paragraph(words, where="page"),
        doc.Figure(chart, (_calibration_table(points),)),
        doc.Paragraph(told),
    ]
    if hidden > 0:
        more = f"{hidden} more {'secrets are' if hidden > 1 else 'secret is'} in the table."
        blocks.append(doc.Paragraph(more, where="page"))
    return doc.Section("Is the estimate right?", blocks, kind="estimate")


def _calibration_table(points: Sequence[doc.CalibrationPoint]) -> doc.TableBlock:
    predicted = sentence(">Predicted ({unit})", unit=doc.UNIT)
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


def _risks(found: LearnedFindings, beside: doc.RiskHistogram, counted: Mapping[float, float]) -> doc.Section:
    by = "models that had not seen the record" if found.trained_on else "the saved model"
    words = (
        f"Learned risks are by {by}, the columns {resolution(found)}. Counted ones are of the cut columns of the "
        "sections below: with few records a value they are mostly noise, and biased upwards."
    )
    layers = (
        doc.Layer("learned (estimate)", found.risk_histogram),
        doc.Layer("counted (plug-in)", beside, "outline"),
    )
    names = (EPSILON, ">Records within\n(estimate)", ">Surely within\n(whole 95% interval)", ">Counted\n(plug-in)")
    rows = [
        (
            doc.Nats(s.epsilon, "setting", unit=False),
            doc.Cell(doc.Share(s.records), style="big"),
            doc.Share(s.surely),
            doc.Share(counted.get(s.epsilon)),
        )
        for s in found.safe_shares
    ]
    quantiles = sentence(
        "Quantiles of the estimated risk of a record, by {by}, {unit}: {told}.",
        by="models that had not seen it" if found.trained_on else "the saved model",
        unit=doc.UNIT,
        told=quantiles_told(found.risk_histogram.quantiles),
    )
    blocks = (
        doc.Paragraph(words),
        doc.Figure(doc.Histogram(layers), histogram_numbers(layers)),
        doc.TableBlock(names, rows),
        doc.Paragraph(quantiles, where="terminal"),
    )
    return doc.Section("How risky are the records, learned and counted?", blocks, kind="estimate")


def _riskiest(found: LearnedFindings) -> doc.Section:
    blocks: list[doc.Block] = [doc.Paragraph("No value carries any risk.")]
    if found.riskiest:
        words = (
            "Bars: what each column adds, by how much the log-lift falls when its cell is redrawn from the whole "
            "column. To the right it speaks for the secret, to the left against it."
        )
        facts = [
            (
                ("Risk", doc.Nats(v.risk, kind="estimate")),
                (
                    "Log-lift, 95% interval",
                    sentence(
                        "{lift} ({interval})",
                        lift=doc.Nats(v.log_lift, "signed", unit=False),
                        interval=doc.Interval.nats(v.low, v.high),
                    ),
                ),
                ("Records", doc.Count(v.records)),
                ("Secret", doc.DataValue(v.secret, 32)),
                ("Prior → posterior", sentence("{a} → {b}", a=doc.Share(v.prior), b=doc.Share(v.posterior))),
                ("Says most", doc.DataValue(v.says_most, 24)),
            )
            for v in found.riskiest
        ]
        blocks = [
            doc.Paragraph(words, where="page"),
            risky_cards(found.riskiest, facts, terms="what each column adds"),
        ]
    if found.notes:
        blocks.append(doc.Bullets(found.notes))
    return doc.Section("The riskiest values", blocks, kind="estimate")
