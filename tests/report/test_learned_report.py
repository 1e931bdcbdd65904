"""What was learned, as text, JSON and page: estimates are called estimates, counted numbers plug-in."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import sample_results as samples
from tacit.document import Calibration, CalibrationPoint, Nats, converted
from tacit.errors import Wording, sentence
from tacit.report import to_html, to_json, to_text
from tacit.report.charts import draw

INF = math.inf
LN2 = math.log(2)
SVG = "{http://www.w3.org/2000/svg}"
POINTWISE = "certifies nothing pointwise"


def test_an_audit_says_which_numbers_are_estimates_and_which_are_plug_in():
    result = samples.learned_audit_result()
    told, page, found = to_text(result, width=100, full=True), to_html(result), json.loads(to_json(result))
    for form in (one_line(told), page):
        assert POINTWISE in form
        assert "plug-in" in form
        assert "estimate" in form
    assert found["learned"]["kind"] == "estimate"
    assert found["learned"]["information"]["kind"] == "estimate"
    assert {measure["kind"] for measure in found["measures"]} == {"plug-in"}
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    labels = [(heading, re.search(r'class="kind ([a-z-]+)"', heading)) for heading in headings]
    kinds = [label[1] for heading, label in labels if label and not heading.startswith("Who could be found?")]
    assert kinds == ["estimate"] * 4 + ["plug-in"] * 4
    # People who are alone are counted, and need no estimate of anything.
    assert [label[1] for heading, label in labels if label and heading.startswith("Who could be found?")] == ["exact"]


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_an_audit_tells_candidates_interval_calibration_and_who_says_most():
    result = samples.learned_audit_result()
    told, page = one_line(to_text(result, width=100, full=True)), to_html(result)
    for said in ("boosted trees", "0.531", "the prior alone", "0.0811 to 0.0931", "In 5 of 5 groups of records"):
        assert said in told
        assert said in page
    assert "zip +1.90, age +0.310" in told
    assert "Says most</dt><dd>zip</dd>" in page


def test_bits_change_every_learned_quantity_and_no_share():
    nats, bits = (
        samples.learned_audit_result().learned,
        converted(samples.learned_audit_result(), Wording(bits=True)).learned,
    )
    assert bits.information.value == pytest.approx(nats.information.value / LN2)
    assert bits.candidates[0].log_loss == pytest.approx(nats.candidates[0].log_loss / LN2)
    assert bits.candidates[0].weight == nats.candidates[0].weight
    assert bits.calibration[1].low == pytest.approx(nats.calibration[1].low / LN2)
    assert bits.riskiest[0].high == pytest.approx(nats.riskiest[0].high / LN2)
    assert bits.riskiest[0].contributions[0] == ("zip", pytest.approx(1.9 / LN2))
    assert bits.safe_shares[0].surely == nats.safe_shares[0].surely
    assert bits.largest_risk == pytest.approx(nats.largest_risk / LN2)


def test_the_reason_is_told_in_the_unit_that_was_asked_for():
    reason = sentence("trees: log-loss {a} a record, beside {b}", a=Nats(0.5312, 4), b=Nats(0.6931, 4))
    result = replace(samples.learned_audit_result(), learned=replace(samples.learned_findings(), reason=reason))
    for form in (one_line(to_text(result, bits=True, width=100, full=True)), to_html(result, bits=True)):
        assert "log-loss 0.7664 bits a record, beside 0.9999 bits" in form
    assert "log-loss 0.5312 nats a record, beside 0.6931 nats" in one_line(to_text(result, width=100, full=True))
    assert json.loads(to_json(result))["learned"]["reason"] == str(reason)


def test_rows_unchanged_are_an_expectation_where_replacements_are_drawn():
    result = samples.protect_result()
    drawn = replace(result.certificate.mechanism, replacement="resample")
    merged = replace(result.certificate.mechanism, replacement="merge")
    for mechanism, said in ((drawn, True), (merged, False)):
        release = replace(result, certificate=replace(result.certificate, mechanism=mechanism))
        for form in (one_line(to_text(release, width=100, full=True)), to_html(release)):
            assert ("of rows and about" in form) is said


def chart(*points: CalibrationPoint, width: float = 600) -> ET.Element:
    return ET.fromstring(draw(Calibration(points, ["a", "b"]), width=width))


def test_points_and_limits_of_the_calibration_lie_on_one_scale_with_the_diagonal():
    points = (CalibrationPoint(-0.5, -0.4, -0.8, -0.1, 50, "a"), CalibrationPoint(0.5, 0.25, 0.0, 0.45, 50, "b"))
    picture = chart(*points)
    (diagonal,) = [
        e for e in picture.iter(f"{SVG}line") if e.get("class") == "mark line" and e.get("y1") != e.get("y2")
    ]
    x1, y1, x2, y2 = (float(diagonal.attrib[name]) for name in ("x1", "y1", "x2", "y2"))
    dots = list(picture.iter(f"{SVG}circle"))
    across = [float(dot.attrib["cx"]) for dot in dots]
    per_nat = across[1] - across[0]
    # Where the diagonal passes a point's place its height is the height of a right prediction.
    rise = (y2 - y1) / (x2 - x1)
    for dot, point in zip(dots, points, strict=True):
        right = y1 + rise * (float(dot.attrib["cx"]) - x1)
        assert float(dot.attrib["cy"]) - right == pytest.approx(
            rise * per_nat * (point.observed - point.predicted), abs=0.05
        )
    upright = [e for e in picture.iter(f"{SVG}line") if e.get("class") == "limits" and e.get("x1") == e.get("x2")]
    lengths = [abs(float(e.attrib["y1"]) - float(e.attrib["y2"])) for e in upright]
    assert lengths == pytest.approx([-rise * per_nat * (p.high - p.low) for p in points], abs=0.05)


def test_a_group_without_the_secret_is_drawn_at_the_floor_and_its_limit_runs_out_of_the_picture():
    picture = chart(CalibrationPoint(-1.0, -INF, -INF, -0.2, 30, "a"), CalibrationPoint(0.1, 0.1, 0.0, 0.2, 30, "a"))
    assert len(list(picture.iter(f"{SVG}circle"))) == 1
    assert [e.get("class") for e in picture.iter(f"{SVG}path")] == ["point"]
    caps = [e for e in picture.iter(f"{SVG}line") if e.get("class") == "limits" and e.get("y1") == e.get("y2")]
    assert len(caps) == 3


@pytest.mark.parametrize("width", [360, 860])
def test_the_calibration_fits_the_page_and_names_its_axes(width):
    picture = chart(*samples.learned_findings().calibration, width=width)
    assert float(picture.attrib["width"]) <= width
    words = {element.text for element in picture.iter(f"{SVG}text")}
    assert {"Predicted log-lift (nats)", "Observed log-lift (nats)"} <= words


def test_only_the_commonest_secrets_are_drawn_and_the_page_says_how_many_more_there_are():
    found = samples.learned_findings()
    more = tuple(replace(found.calibration[1], secret=name) for name in ("Asian-Pac-Islander", "Other"))
    page = to_html(
        replace(samples.learned_audit_result(), learned=replace(found, calibration=found.calibration + more))
    )
    assert "1 more secret is in the table" in page
