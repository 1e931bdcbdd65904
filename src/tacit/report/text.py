"""A result in the terminal: the answer in the first line, then the facts in the order a stranger needs them."""

from __future__ import annotations

import io
import math
import shutil
from collections.abc import Iterable, Sequence
from functools import singledispatch

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tacit import __version__
from tacit.report import terminal, words
from tacit.report.numbers import (
    band,
    chance,
    count,
    in_bits,
    interval,
    number,
    quantity,
    setting,
    share,
    signed,
    unit_name,
    with_unit,
)
from tacit.report.words import badge, listed, printable, shorten
from tacit.workflows.image_results import ImageAuditResult, ImageProtectResult
from tacit.workflows.person_results import (
    PersonAuditResult,
    PersonDecoyResult,
    PersonDipResult,
    PersonPopulationResult,
    PersonReleaseResult,
    PersonRemoveResult,
    PersonVerifyResult,
)
from tacit.workflows.results import (
    Adversary,
    AttackResult,
    AuditResult,
    Certificate,
    CurvePoint,
    LearnedFindings,
    LearnedRiskyValue,
    MeasureFinding,
    ProtectResult,
    Result,
    RiskyValue,
    VerifyResult,
)
from tacit.workflows.text_results import TextAuditResult, TextExplanation, TextProtectResult

_RISKIEST_SHOWN = 5
_CONTRIBUTIONS_SHOWN = 5
_CURVE_SHOWN = 8
_COLUMNS_SHOWN = 20

Parts = Iterable[RenderableType]


def to_text(result: Result, *, bits: bool = False, width: int | None = None) -> str:
    """The result as plain text without colour codes.

    Parameters
    ----------
    result : Result
        What a workflow found.
    bits : bool
        Give information quantities in bits instead of nats.
    width : int, optional
        Columns to fill; by default those of the terminal, at most 120.
    """
    columns = width or min(shutil.get_terminal_size((100, 24)).columns, 120)
    out = io.StringIO()
    _print(result, Console(file=out, width=columns, color_system=None, legacy_windows=False), bits=bits)
    # Rich pads rows to the width; trailing spaces only make a piped report harder to compare.
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def show(result: Result, console: Console | None = None, *, bits: bool = False) -> None:
    """Print the result to a console: in colour where it is a terminal, as plain text where it is not."""
    out = console or Console()
    if out.is_terminal:
        _print(result, out, bits=bits)
    else:
        out.file.write(to_text(result, bits=bits, width=out.width))


def _print(result: Result, console: Console, *, bits: bool) -> None:
    for part in _parts(in_bits(result) if bits else result, unit_name(bits)):
        console.print(part, highlight=False, markup=False)


@singledispatch
def _parts(result: Result, unit: str) -> Parts:
    # A result without parts below is refused here, by its name.
    words.badge_of_result(result)
    return []


@_parts.register
def _audit(result: AuditResult, unit: str) -> Parts:
    yield terminal.answer(words.badge_of_result(result), result.headline)
    yield _audit_facts(result)
    if result.learned is not None:
        yield from _learned(result, result.learned, unit)
    yield from _measures(result)
    yield from _safe_shares(result, unit)
    yield from _suggestion(result, unit)
    yield from _columns(result, unit)
    yield from _riskiest(result, unit)
    yield from terminal.notes(result.notes)
    scores = [("Risk of every record", f"{printable(result.scores_path)} (private)")] if result.scores_path else []
    yield terminal.facts([*scores, ("Tacit", __version__)])


@_parts.register
def _protect(result: ProtectResult, unit: str) -> Parts:
    certificate = result.certificate
    learned = certificate.kind == "learned"
    yield terminal.answer(words.badge_of_result(result), result.headline)
    yield terminal.line(f"Claim: {printable(certificate.claim)}")
    if result.diagnosis:
        yield terminal.line(f"Why: {printable(result.diagnosis)}", style="yellow")
    yield _protect_facts(result, unit)
    yield from _changes(certificate)
    if not (learned or words.on_curve(certificate)):
        yield terminal.heading("What one merged set, the plain watchdog, would cost instead")
        yield _curve_table(result.curve, unit, None)
    else:
        yield terminal.heading(f"What it costs, and what another epsilon would cost{' (estimate)' if learned else ''}")
        yield _curve_table(result.curve, unit, certificate.epsilon)
    if certificate.readings:
        yield terminal.heading("How to read it")
        yield terminal.bullets(reading.sentence for reading in certificate.readings)
    yield terminal.heading("What the claim rests on")
    yield terminal.bullets(certificate.assumptions)
    yield from terminal.notes(result.notes)


@_parts.register
def _images(result: ImageAuditResult | ImageProtectResult, unit: str) -> Parts:
    from tacit.report import image_report

    return image_report.parts_of(result, unit)


@_parts.register
def _posts(result: TextAuditResult | TextProtectResult | TextExplanation, unit: str) -> Parts:
    from tacit.report import text_report

    return text_report.parts_of(result, unit)


@_parts.register
def _person(
    result: PersonAuditResult
    | PersonReleaseResult
    | PersonDipResult
    | PersonRemoveResult
    | PersonDecoyResult
    | PersonVerifyResult
    | PersonPopulationResult,
    unit: str,
) -> Parts:
    from tacit.report import person_terminal

    return person_terminal.parts_of(result)


@_parts.register
def _verify(result: VerifyResult, unit: str) -> Parts:
    yield terminal.answer(words.badge_of_result(result), result.headline)
    yield terminal.facts(
        [
            ("Release", printable(result.release)),
            ("Against", printable(result.against) if result.against else "nothing: only what the release shows itself"),
        ]
    )
    yield terminal.heading("Checks")
    table = terminal.table("Check", "", "Detail")
    for check in result.checks:
        table.add_row(
            Text(printable(check.name)),
            terminal.mark(words.badge_of_check(check.passed)),
            Text(printable(check.detail)),
        )
    yield table
    if any(check.passed is None for check in result.checks):
        yield terminal.line("A line that could not be checked counts as doubt, never as passed.", style="dim")
    yield from terminal.notes(result.notes)


@_parts.register
def _attack(result: AttackResult, unit: str) -> Parts:
    yield terminal.answer(words.badge_of_result(result), result.headline)
    yield terminal.facts(
        [
            ("Release", f"{printable(result.release)}, against {printable(result.against)}"),
            ("Records", f"trained on {count(result.trained_on)}, tested on {count(result.tested_on)} others"),
            ("Guessing the prior", f"{share(result.prior_guess)} right: the commonest secret, without looking"),
            _bound(result),
            ("Best possible", f"{share(result.optimal_before)} before, {share(result.optimal_after)} after"),
        ]
    )
    yield terminal.heading("How often the secret is guessed right (95% limits); higher is riskier")
    table = terminal.table("Adversary", ">Before", ">After", ">After, retrained\non the release")
    for adversary in result.adversaries:
        table.add_row(Text(printable(adversary.name)), *_accuracies(adversary))
    yield table
    yield from terminal.notes(result.notes)


def _bound(result: AttackResult) -> tuple[str, str]:
    if result.bound_kind == "promise":
        return "Promise", f"no adversary can be right more often than {share(result.guessing_bound)}"
    return "Estimate", f"none should be right more often than {share(result.guessing_bound)}; not promised"


def _audit_facts(result: AuditResult) -> Padding:
    by_role: dict[str, list[str]] = {}
    for column in result.columns:
        by_role.setdefault(column.role, []).append(column.name)
    priors = [f"{shorten(s.label, 24)} {share(s.prior)}" for s in result.secrets]
    rows = [
        ("Table", f"{printable(result.source.name)}: {count(result.source.records)} records ({result.source.format})"),
        ("Secret", f"{listed(by_role.get('secret', []))}; prior: {listed(priors, limit=6)}"),
        ("Released", f"{listed(by_role.get('released', []))} ({count(result.n_values)} distinct values together)"),
    ]
    rows += [(role.capitalize(), listed(by_role[role])) for role in ("dropped", "weight") if role in by_role]
    if result.source.sha256:
        rows.append(("SHA-256", result.source.sha256))
    return terminal.facts(rows)


def _learned(result: AuditResult, learned: LearnedFindings, unit: str) -> Parts:
    yield terminal.heading(f"Learned: an estimate. {words.DIRECTION}")
    yield terminal.line(words.ESTIMATE)
    yield _learned_facts(learned, unit)
    if learned.candidates:
        table = terminal.table("Tried", f">Loss on records apart ({unit} a record)", ">Weight")
        for c in learned.candidates:
            table.add_row(Text(printable(c.title)), number(c.log_loss), number(c.weight))
        table.add_row(Text("the prior alone", style="dim"), number(learned.prior_log_loss), "")
        yield Padding(table, (1, 0, 0, 0))
    yield from _learned_shares(result, learned, unit)
    if learned.calibration:
        yield terminal.line(words.calibrated(learned.calibration))
    yield terminal.heading("The riskiest values (estimate)")
    if not learned.riskiest:
        yield terminal.line("No value carries any risk.")
    for rank, value in enumerate(learned.riskiest[:_RISKIEST_SHOWN], start=1):
        yield _learned_risky(rank, value, unit)
    yield from terminal.notes(learned.notes)
    yield terminal.heading("Counted: plug-in")


def _learned_facts(learned: LearnedFindings, unit: str) -> Padding:
    found, fine = learned.information, words.resolution(learned)
    rows = [
        ("Estimator", printable(learned.estimator)),
        ("Why", printable(learned.reason)),
        ("Learned from", f"{count(learned.trained_on)} records with {count(learned.n_values)} distinct values, {fine}"),
        (
            "Information",
            f"{with_unit(found.value, unit)} (95% interval {interval(found.low, found.high)}) of "
            f"{number(learned.prior_log_loss)}; shuffled secrets reach {number(learned.null_high)}; "
            f"p {chance(learned.p_value)}",
        ),
        ("Largest risk", f"{with_unit(learned.largest_risk, unit)}, by the final model, which protect goes by"),
    ]
    if not learned.trained_on:
        rows[2] = ("Scored", f"{count(learned.n_values)} distinct values, {fine}, by a model learned elsewhere")
    if learned.model_path:
        rows.append(("Model", f"{printable(learned.model_path)} (private)"))
    return terminal.facts([row for row in rows if row[1]])


def _learned_shares(result: AuditResult, learned: LearnedFindings, unit: str) -> Parts:
    counted = {s.epsilon: s.records for s in result.safe_shares}
    table = terminal.table(
        f">Epsilon ({unit})", ">Records within\n(estimate)", ">Surely within\n(95%)", ">Counted\n(plug-in)"
    )
    for s in learned.safe_shares:
        table.add_row(setting(s.epsilon), share(s.records), share(s.surely), share(counted.get(s.epsilon)))
    yield Padding(table, (1, 0, 0, 0))
    quantiles = ", ".join(f"{name}: {number(value)}" for name, value in learned.risk_histogram.quantiles.items())
    by = "the saved model" if not learned.trained_on else "models that had not seen it"
    yield terminal.line(f"Quantiles of the estimated risk of a record, by {by}, {unit}: {quantiles}.")


def _learned_risky(rank: int, value: LearnedRiskyValue, unit: str) -> Padding:
    named = [f"{shorten(name, 24)}={shorten(item, 24)}" for name, item in value.values.items()]
    ordered = sorted(value.contributions, key=lambda term: -abs(term[1]))
    terms = [f"{shorten(name, 24)} {signed(term)}" for name, term in ordered]
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim")
    grid.add_column()
    grid.add_row(f"{rank}.", Text(listed(named), style="bold"))
    grid.add_row("", Text(printable(value.why)))
    facts = (
        f"risk {with_unit(value.risk, unit)} · {count(value.records)} record{'s' * (value.records != 1)} · "
        f"secret {shorten(value.secret, 40)}: log-lift {signed(value.log_lift)} "
        f"(95% interval {interval(value.low, value.high)})"
    )
    grid.add_row("", Text(facts))
    grid.add_row("", Text(f"what each column adds: {listed(terms, limit=_CONTRIBUTIONS_SHOWN)}", style="dim"))
    return Padding(grid, (1 if rank > 1 else 0, 0, 0, 0))


def _measures(result: AuditResult) -> Parts:
    yield terminal.heading(f"What leaks. {words.DIRECTION}")
    yield terminal.line(words.PLUG_IN)
    table = terminal.table("Measure", ">Value", ">Shuffled", ">p", "Verdict")
    for m in result.measures:
        table.add_row(Text(printable(m.title)), *_finding(m), terminal.mark(badge(m.verdict)))
    yield table
    legend = [
        ("Shuffled", f"What the measure gives for shuffled secrets: 5% to 95% of {count(result.shuffles)} shuffles."),
        ("p", "Share of shuffles at least as large as the value; small is not chance."),
    ]
    if any(math.isinf(m.value) for m in result.measures):
        legend.append(("∞", "Some value rules a secret out, or gives it away."))
    if result.measures:
        legend.append(("Meaning", f"tacit explain {printable(result.measures[0].name)}, and so for every measure."))
    yield terminal.facts(legend, style="dim")


def _finding(m: MeasureFinding) -> tuple[str, ...]:
    shuffled = band(m.null_low, m.null_high, unit=m.unit)
    return with_unit(m.value, m.unit), shuffled, chance(m.p_value)


def _safe_shares(result: AuditResult, unit: str) -> Parts:
    yield terminal.heading("How much of the table is safe")
    table = terminal.table(
        f">Epsilon ({unit})", ">Records within", ">Values within", ">Records, if zero\ncells are skipped"
    )
    for s in result.safe_shares:
        table.add_row(setting(s.epsilon), share(s.records), share(s.values), share(s.records_skipping_zero_cells))
    yield table
    yield terminal.line(words.SKIPPING, style="dim")
    histogram = result.risk_histogram
    quantiles = ", ".join(f"{printable(name)}: {number(value)}" for name, value in histogram.quantiles.items())
    if quantiles:
        yield terminal.line(f"Quantiles of the risk of a record, {unit}: {quantiles}.")
    if histogram.infinite_share:
        yield terminal.line(f"Risk is ∞ for {share(histogram.infinite_share)} of records. {words.INFINITE}")


def _suggestion(result: AuditResult, unit: str) -> Parts:
    yield terminal.heading("What a safe release would cost")
    yield terminal.line(printable(result.suggestion.sentence))
    yield _curve_table(result.curve, unit, result.suggestion.epsilon)


def _curve_table(curve: Sequence[CurvePoint], unit: str, chosen: float | None) -> RenderableType:
    if not curve:
        return terminal.line("The trade-off was not computed.", style="dim")
    table = terminal.table(
        f">Epsilon ({unit})", ">Attained", ">Loss (NMIL)", ">Records kept\nas they are", ">Leakage left", ""
    )
    points = words.by_epsilon(curve)
    place = words.place_of(points, chosen)
    for k in _thinned(len(points), place):
        p, mark = points[k], "◀ here" if k == place else ""
        table.add_row(
            setting(p.epsilon), number(p.attained), share(p.nmil), share(p.records_kept), number(p.leakage), mark
        )
    return table


def _thinned(n: int, place: int | None) -> list[int]:
    """So few of ``n`` points that the table is read, always with the ends and the one at ``place``."""
    step = max(1, math.ceil((n - 1) / (_CURVE_SHOWN - 1)))
    return [k for k in range(n) if k % step == 0 or k in (n - 1, place)]


def _columns(result: AuditResult, unit: str) -> Parts:
    if not result.column_leaks:
        return
    yield terminal.heading(f"Which column gives it away, in {unit}. {words.DIRECTION}")
    table = terminal.table(
        "Column", ">Alone", ">Shuffled", ">Adds to\nothers", ">Shuffled", ">Others\nwithout it", "Verdict, alone"
    )
    for c in words.by_leak(result.column_leaks)[:_COLUMNS_SHOWN]:
        table.add_row(
            Text(shorten(c.name, 24)),
            number(c.alone),
            f"≤{number(c.alone_null)}",
            number(c.given_others),
            f"≤{number(c.given_others_null)}",
            number(c.left_out),
            terminal.mark(badge(c.alone_verdict)),
        )
    yield table
    rest = len(result.column_leaks) - _COLUMNS_SHOWN
    if rest > 0:
        yield terminal.line(f"{rest} more columns are in the JSON and in the HTML report.", style="dim")


def _riskiest(result: AuditResult, unit: str) -> Parts:
    yield terminal.heading("The riskiest values")
    if not result.riskiest:
        yield terminal.line("No value carries any risk.")
    for rank, value in enumerate(result.riskiest[:_RISKIEST_SHOWN], start=1):
        yield _risky(rank, value, unit)
    rest = len(result.riskiest) - _RISKIEST_SHOWN
    if rest > 0:
        yield terminal.line(f"{rest} more are in the JSON and in the HTML report.", style="dim")


def _risky(rank: int, value: RiskyValue, unit: str) -> Padding:
    named = [f"{shorten(name, 24)}={shorten(item, 24)}" for name, item in value.values.items()]
    ordered = sorted(value.contributions, key=lambda term: -abs(term[1]))
    terms = [f"{shorten(name, 24)} {signed(term)}" for name, term in ordered]
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim")
    grid.add_column()
    grid.add_row(f"{rank}.", Text(listed(named), style="bold"))
    grid.add_row("", Text(printable(value.why)))
    grid.add_row(
        "",
        Text(
            f"risk {with_unit(value.risk, unit)} · {count(value.records)} records · "
            f"secret {shorten(value.secret, 40)}: prior {share(value.prior)} → posterior {share(value.posterior)} · "
            f"chance p {chance(value.p_chance)}",
        ),
    )
    if terms:
        grid.add_row("", Text(f"log-lift by column: {listed(terms, limit=_CONTRIBUTIONS_SHOWN)}", style="dim"))
    return Padding(grid, (1 if rank > 1 else 0, 0, 0, 0))


def _protect_facts(result: ProtectResult, unit: str) -> Padding:
    certificate, utility = result.certificate, result.certificate.utility
    rows = [
        ("Release", f"{printable(result.out)} (data in {printable(result.data_file)})"),
        ("Secret", listed(certificate.secret)),
        ("Released", listed(certificate.released)),
        *_epsilons(certificate, unit),
    ]
    if certificate.delta > 0:
        rows.append(
            (
                "Delta",
                f"{setting(certificate.delta)} allowed, {number(certificate.attained_delta)} attained; "
                f"{words.ceiling(certificate, unit)}"
                f"{share(certificate.breach_share)} of records carry a value beyond epsilon",
            )
        )
    rows += [
        ("Mechanism", words.mechanism(certificate)),
        ("Loss (NMIL)", f"{share(utility.nmil)} of the information; lower is better"),
        ("Kept", f"{words.unchanged(certificate)} unchanged"),
    ]
    if certificate.left_out:
        rows.append(("Left out", listed(certificate.left_out)))
    if certificate.composition is not None:
        rows.append(("Together", words.together(certificate.composition, unit)))
    return terminal.facts(rows)


def _epsilons(certificate: Certificate, unit: str) -> list[tuple[str, str]]:
    """What was asked, what is certain and, of a learned release, what is estimated."""
    asked, attained = setting(certificate.epsilon), number(certificate.attained_epsilon)
    if certificate.kind == "counted":
        claimed = f"{asked} {unit}" if words.is_symmetric(certificate) else words.sides(certificate, unit)
        rows = [("Epsilon", f"{claimed} claimed, {attained} {unit} attained; lower is safer")]
        for each in certificate.also:
            told = f"{setting(each.epsilon)} {unit} claimed, {number(each.attained_epsilon)} {unit} attained"
            rows.append((f"… of {listed(each.secret)}", told))
        return rows
    merged = share(certificate.mechanism["records_merged"])
    return [
        ("Epsilon", f"{asked} {unit} asked; lower is safer"),
        ("Merged records", f"{merged} of all: {attained} {unit}, counted, exact"),
        (
            "Kept records",
            f"{number(certificate.estimated_epsilon)} {unit} at most by the estimate of "
            f"{printable(certificate.mechanism['estimator'])}; of {share(certificate.estimated_exceeding)} of them the "
            f"95% interval reaches beyond epsilon",
        ),
    ]


def _changes(certificate: Certificate) -> Parts:
    if certificate.kind == "learned":
        yield from _estimated_changes(certificate)
        return
    yield terminal.heading(f"Before and after, plug-in. {words.DIRECTION}")
    table = terminal.table("Measure", ">Before", ">After", ">Epsilon promises\nat most")
    for m in certificate.measures:
        after, promise = with_unit(m.after, m.unit), quantity(m.promise, m.unit)
        table.add_row(Text(printable(m.title)), quantity(m.before, m.unit), after, promise)
    yield table
    if any(math.isinf(m.before) or math.isinf(m.after) for m in certificate.measures):
        yield terminal.line(words.INFINITE, style="dim")


def _estimated_changes(certificate: Certificate) -> Parts:
    yield terminal.heading(f"Before and after, by estimate. {words.DIRECTION}")
    table = terminal.table("Measure", ">Before", ">After", "Kind")
    for m in certificate.measures:
        table.add_row(Text(printable(m.title)), quantity(m.before, m.unit), with_unit(m.after, m.unit), m.kind)
    yield table
    yield terminal.line(words.ESTIMATE)


def _accuracies(adversary: Adversary) -> tuple[str, ...]:
    pairs = (
        (adversary.before, adversary.before_interval),
        (adversary.after, adversary.after_interval),
        (adversary.retrained, adversary.retrained_interval),
    )
    return tuple(f"{share(value)} ({share(low)}–{share(high)})" for value, (low, high) in pairs)
