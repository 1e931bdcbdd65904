"""A result as one self-contained HTML page: no network, no file beside it, readable without JavaScript."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tacit import __version__
from tacit.report import charts, image_report, numbers, person_report, text_report, words
from tacit.report.calibration import calibration_chart, drawn
from tacit.report.charts import Layer
from tacit.workflows.image_results import ImageAuditResult, ImageProtectResult
from tacit.workflows.results import (
    AttackResult,
    AuditResult,
    CurvePoint,
    LearnedFindings,
    ProtectResult,
    Result,
    SafeShare,
    VerifyResult,
)
from tacit.workflows.text_results import TextAuditResult, TextExplanation, TextProtectResult

_WIDE, _NARROW = 860, 360
_COLUMNS_DRAWN = 25


def to_html(result: Result, *, bits: bool = False) -> str:
    """The result as a whole page that opens from a file.

    Guarantees
    ----------
    The page loads nothing: its policy forbids every request, and only the one script written here may run. The page of
    a :class:`~tacit.workflows.results.ProtectResult` is part of the release: of the result it shows the certificate,
    the headline, the curve and shares of records (not those that were learned), never the notes, the diagnosis or the
    path, which are the owner's.
    """
    context = _context(result, bits=bits)
    digest = base64.b64encode(hashlib.sha256(context["script"].encode()).digest()).decode()
    return _environment().get_template("page.html").render(**context, script_hash=digest)


def fragment(result: Result, *, bits: bool = False) -> str:
    """The result as one element with its own style, for a notebook."""
    return _environment().get_template("fragment.html").render(**_context(result, bits=bits))


def write_report(result: Result, path: str | Path, *, bits: bool = False) -> Path:
    """Write the page of :func:`to_html` to ``path`` and return it.

    Guarantees
    ----------
    The page appears whole or not at all; one that was there stays until then.
    """
    target = Path(path)
    page = to_html(result, bits=bits)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.draft")
    try:
        draft.write_text(page, encoding="utf-8")
        os.replace(draft, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        draft.unlink(missing_ok=True)
    return target


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("tacit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formats: dict[str, Callable[..., object]] = {
        "number": numbers.number,
        "quantity": numbers.quantity,
        "with_unit": numbers.with_unit,
        "setting": numbers.setting,
        "signed": numbers.signed,
        "share": numbers.share,
        "count": numbers.count,
        "chance": numbers.chance,
        "badge": words.badge,
        "check_badge": words.badge_of_check,
        "printable": words.printable,
        "short": _short,
        "file_name": _file_name,
    }
    environment.filters.update(formats)
    environment.globals.update(band=numbers.band, interval=numbers.interval, words=words)
    return environment


def _short(value: Any, length: int = 40) -> Markup:
    """A data value that fits, with the whole of it on hover."""
    whole, shown = words.printable(value), words.shorten(value, length)
    if shown == whole:
        return Markup.escape(whole)
    return Markup('<span title="{}">{}</span>').format(whole, shown)


def _file_name(path: str) -> str:
    """The last part of a path: a page that is passed on should not tell the folders of the machine it was made on."""
    return words.printable(path).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _context(result: Result, *, bits: bool) -> dict[str, Any]:
    shown, unit = numbers.in_bits(result) if bits else result, numbers.unit_name(bits)
    badge = words.badge_of_result(result)
    context: dict[str, Any] = {"r": shown, "unit": unit, "badge": badge, "version": __version__}
    # Both are our own files, written into <style> and <script>, where escaping would break them.
    context |= {"style": Markup(_source("style.css")), "script": Markup(_source("slider.js"))}
    if isinstance(shown, ImageAuditResult | ImageProtectResult):
        return context | image_report.page_of(shown, unit, _both)
    if isinstance(shown, TextAuditResult | TextProtectResult | TextExplanation):
        return context | text_report.page_of(shown, unit, _both)
    if isinstance(shown, words.PERSON_RESULTS):
        return context | person_report.page_of(shown, _both)
    if isinstance(shown, AuditResult):
        return context | {"body": "audit.html", "kind": "audit"} | _audit(shown, unit)
    if isinstance(shown, ProtectResult):
        return context | {"body": "protect.html", "kind": "release"} | _protect(shown, unit)
    if isinstance(shown, VerifyResult):
        return context | {"body": "verify.html", "kind": "verification"}
    assert isinstance(shown, AttackResult)
    drawn = _both(lambda width: charts.accuracy_bars(shown, width=width))
    return context | {"body": "attack.html", "kind": "attack", "accuracy_chart": drawn}


def _both(draw: Callable[[float], Markup]) -> Markup:
    """A chart drawn for a wide and for a narrow page; the style sheet shows one of them."""
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(draw(_WIDE), draw(_NARROW))


def _audit(result: AuditResult, unit: str) -> dict[str, Any]:
    curve = words.by_epsilon(result.curve)
    place = words.place_of(curve, result.suggestion.epsilon)
    mark = None if place is None else (curve[place].attained, curve[place].nmil)
    lines = _histogram_lines(result)
    layers = [Layer("this table", result.risk_histogram)]
    leaks = words.by_leak(result.column_leaks)
    roles: dict[str, list[str]] = {}
    for column in result.columns:
        roles.setdefault(column.role, []).append(column.name)
    return {
        "roles": roles,
        "strips": [charts.measure_strip(m) for m in result.measures],
        "risk_chart": _both(lambda width: charts.risk_histogram(layers, lines=lines, unit=unit, width=width)),
        "curve": curve,
        "curve_chart": _curve_chart(curve, mark, label="suggested", unit=unit),
        "slider": _slider(curve, place),
        "place": place,
        "column_chart": _both(lambda width: charts.column_bars(leaks[:_COLUMNS_DRAWN], unit=unit, width=width)),
        "leaks": leaks,
        "columns_left": len(leaks) - _COLUMNS_DRAWN,
        "prior_chart": _both(lambda width: charts.prior_bars(result.secrets, width=width)),
        "term_charts": [charts.contributions(v.contributions, unit=unit, width=330) for v in result.riskiest],
        "safe_at": _safe_at(result, 1.0 if unit == "nats" else 1 / math.log(2)),
        "learned": None if result.learned is None else _learned(result, result.learned, unit),
    }


def _learned(result: AuditResult, found: LearnedFindings, unit: str) -> dict[str, Any]:
    """What the page draws of the learned findings."""
    by_prior = [s.label for s in sorted(result.secrets, key=lambda s: -s.prior)]
    layers = [
        Layer("learned (estimate)", found.risk_histogram),
        Layer("counted (plug-in)", result.risk_histogram, "outline"),
    ]
    near = 1.0 if unit == "nats" else 1 / math.log(2)
    hidden = len({point.secret for point in found.calibration}) - len(drawn(found.calibration, by_prior))
    return {
        "risk_chart": _both(lambda width: charts.risk_histogram(layers, lines=[], unit=unit, width=width)),
        "calibration_chart": _both(
            lambda width: calibration_chart(found.calibration, secrets=by_prior, unit=unit, width=width)
        )
        if found.calibration
        else None,
        "hidden_secrets": hidden,
        "counted_shares": {s.epsilon: s.records for s in result.safe_shares},
        "term_charts": [charts.contributions(v.contributions, unit=unit, width=330) for v in found.riskiest],
        "safe_at": min(found.safe_shares, key=lambda s: abs(s.epsilon - near), default=None),
    }


def _histogram_lines(result: AuditResult) -> list[tuple[float, str]]:
    """At most four epsilons that lie on the axis of the histogram, each with the share of records within it."""
    high = max(result.risk_histogram.edges, default=0.0)
    shown = [s for s in result.safe_shares if s.epsilon <= high]
    step = max(1, math.ceil(len(shown) / 4))
    return [(s.epsilon, f"ε {numbers.setting(s.epsilon)}: {numbers.share(s.records)}") for s in shown[::-step][::-1]]


def _safe_at(result: AuditResult, epsilon: float) -> SafeShare | None:
    """The safe share to headline: the one nearest to 1 nat, the epsilon of the papers."""
    return min(result.safe_shares, key=lambda s: abs(s.epsilon - epsilon), default=None)


def _protect(result: ProtectResult, unit: str) -> dict[str, Any]:
    certificate, estimated = result.certificate, result.certificate.kind == "learned"
    # What was learned of few records, told finely enough, is a fingerprint of their secrets.
    curve = () if estimated else words.by_epsilon(result.curve)
    place = words.place_of(curve, certificate.epsilon) if words.on_curve(certificate) else None
    mark = (certificate.attained_epsilon, certificate.utility.nmil)
    lines = [(certificate.epsilon, f"epsilon {numbers.setting(certificate.epsilon)}")]
    layers = [Layer("before", result.before), Layer("after", result.after, "outline")]
    return {
        "c": certificate,
        "estimated": estimated,
        # A measure may meet its promise to the last bit; rounding must not call that a breach.
        "kept": [m.promise is None or m.after <= m.promise * (1 + 1e-9) + 1e-12 for m in certificate.measures],
        "risk_chart": _both(lambda width: charts.risk_histogram(layers, lines=lines, unit=unit, width=width)),
        "curve": curve,
        "curve_chart": _curve_chart(curve, mark, label="this release", unit=unit),
        "slider": _slider(curve, place),
        "place": place,
        "fields": [
            *_scalars("mechanism", certificate.mechanism),
            *_scalars("input", certificate.input),
            *_scalars("output", certificate.output),
        ],
    }


def _scalars(prefix: str, mapping: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The plain entries of a mapping in words; nested ones stay in the certificate, they may be long."""
    shown = []
    for key, value in mapping.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            continue
        if isinstance(value, str):
            written = _file_name(value) if key in ("name", "file") else value
        else:
            written = numbers.count(value) if isinstance(value, int) else numbers.setting(value)
        shown.append((f"{prefix}: {key.replace('_', ' ')}", written))
    return shown


def _curve_chart(
    curve: Sequence[CurvePoint], mark: tuple[float, float] | None, *, label: str, unit: str
) -> Markup | None:
    if not curve:
        return None
    return _both(lambda width: charts.trade_off(curve, mark=mark, label=label, unit=unit, width=width))


def _slider(curve: Sequence[CurvePoint], place: int | None) -> dict[str, Any]:
    """What the slider reads: for each point its numbers as written elsewhere, so the script formats nothing."""
    points = [
        [
            numbers.setting(p.epsilon),
            numbers.number(p.attained),
            numbers.share(p.nmil),
            numbers.share(p.records_kept),
            numbers.number(p.leakage),
        ]
        for p in curve
    ]
    start = len(points) // 2 if place is None else place
    return {"points": json.dumps(points), "start": start, "last": len(points) - 1}
