"""Results as text, JSON and HTML: right numbers, nothing unescaped, nothing loaded."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

import sample_results as samples
import tacit
from tacit import AuditResult
from tacit.document import (
    Bar,
    BarRow,
    Bars,
    Histogram,
    KeptByEpsilon,
    LadderStep,
    Layer,
    LiftFactor,
    Line,
    Nats,
    RiskHistogram,
    SignedBar,
    SignedBars,
    Strip,
    TradeOff,
    badge,
    printable,
    quantities as numbers,
)
from tacit.errors import Wording, sentence
from tacit.lenses.adversaries import guesses_right
from tacit.lenses.facts import SecretValue
from tacit.lenses.table.answers.trade_off import by_epsilon, place_of
from tacit.lenses.table.ladder.results import Ladder
from tacit.lenses.table.results import ColumnLeak, ColumnRole, RiskyValue, Suggestion
from tacit.release.claims import factors
from tacit.report import Result, fragment, show, to_html, to_json, to_text, write_report
from tacit.report.charts import draw

INF = math.inf
LN2 = math.log(2)
BITS = Wording(bits=True)
SCRIPT = "<script>alert(1)</script>"
EVERY: dict[str, Callable[[], Result]] = {
    "audit": samples.audit_result,
    "protect": samples.protect_result,
    "verify": samples.verify_result,
    "attack": samples.attack_result,
    "check": samples.check_result,
    "learned audit": samples.learned_audit_result,
}

every_result = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY.keys())


def hostile_ladder(names: Sequence[str]) -> Ladder:
    """One rung, whose records hold markup."""
    rows = (tuple(SCRIPT if k % 2 else "x" * 500 for k in range(len(names))),)
    made = samples.ladder()
    rung = replace(made.rungs[0], columns=tuple((name, 0.0) for name in names), rows=rows)
    return replace(made, columns=tuple(names), before=rows, original=rung, rungs=(rung,), epsilon=0.1)


def hostile_audit() -> AuditResult:
    """Forty columns, fifteen secrets, everything infinite, one point of the curve, markup in every string from data."""
    audit = samples.audit_result()
    names = [SCRIPT, "ü" * 60, "日本語の列", "a'b\"c&d", "\x1b[31mred", "\u202eesrever"]
    names += [f"column_{k}" for k in range(34)]
    risky = RiskyValue(
        values={name: SCRIPT if k == 0 else "x" * 500 if k == 1 else None for k, name in enumerate(names)},
        records=3.5,
        secret=SCRIPT,
        prior=1e-9,
        posterior=1.0,
        log_lift=INF,
        risk=INF,
        contributions=tuple((name, (-1) ** k * 0.3 / (k + 1)) for k, name in enumerate(names)),
        p_chance=1e-30,
        why=f"{SCRIPT} is why",
    )
    return replace(
        audit,
        source=replace(audit.source, name=SCRIPT, sha256=None),
        headline=f"{SCRIPT} gives it away",
        columns=tuple(ColumnRole(name, "released", None, (SCRIPT,)) for name in names),
        secrets=tuple(SecretValue(SCRIPT if k == 0 else "long " * 30, k, 2.0 ** -(k + 1)) for k in range(15)),
        measures=tuple(replace(m, value=INF, ceiling=INF, null_low=INF, null_high=INF) for m in audit.measures),
        risk_histogram=RiskHistogram((0.0, 1.0), (0.0,), 1.0, {"50%": INF}),
        riskiest=(risky, replace(risky, contributions=((SCRIPT, INF), ("b", -INF), ("c", 0.0)))),
        column_leaks=tuple(
            ColumnLeak(n, 3e-9 * (k + 1), 1e-8, "leak", 0.0, 0.0, INF, 0.5) for k, n in enumerate(names)
        ),
        curve=audit.curve[:1],
        ladder=hostile_ladder(names),
        suggestion=Suggestion(0.1, None, None, f"No epsilon keeps {SCRIPT}.", SCRIPT),
        notes=(SCRIPT,),
        scores_path=SCRIPT,
    )


def empty_audit() -> AuditResult:
    """Two columns and nothing found."""
    audit = samples.audit_result()
    histogram = RiskHistogram((0.0,), (), 0.0, {})
    return replace(
        audit,
        columns=audit.columns[:2],
        measures=(),
        safe_shares=(),
        riskiest=(),
        column_leaks=(),
        curve=(),
        ladder=samples.no_rungs(),
        notes=(),
        risk_histogram=histogram,
        scores_path=None,
    )


def refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not strict JSON")


def pictures(page: str) -> list[ET.Element]:
    return [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", page, flags=re.S)]


def marks(picture: str, tag: str, class_: str) -> list[ET.Element]:
    found = ET.fromstring(picture).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    return [element for element in found if element.get("class") == class_]


def size(element: ET.Element, name: str) -> float:
    return float(element.attrib[name])


class Balance(HTMLParser):
    """Fails on a tag that is closed out of order or never."""

    void = frozenset({"meta", "input", "br", "img", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


# Numbers


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.11234, "0.112"),
        (0.99951, "1.00"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (0.0, "0"),
        (-0.25, "−0.250"),
        (3.24e-5, "3.2×10⁻⁵"),
        (INF, "∞"),
        (-INF, "−∞"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_a_number_has_three_significant_digits(value, written):
    assert numbers.number(value) == written


def test_a_setting_has_no_zeros_that_say_nothing():
    assert [numbers.setting(v) for v in (0.5, 1.0, 20.0, 6e-7, INF)] == ["0.5", "1", "20", "6×10⁻⁷", "∞"]


@given(st.floats(min_value=0, max_value=1))
def test_only_nothing_is_zero_percent_and_only_all_is_hundred_percent(part):
    assert (numbers.share(part) in ("0%", "0.00%", "0.0%")) == (part < 1e-12)
    assert (numbers.share(part) in ("100%", "100.0%")) == (part > 1 - 1e-12)


def test_a_p_value_is_never_written_as_zero():
    assert [numbers.chance(p) for p in (0.0, 1e-30, 0.001, 0.0421, 0.38, 1.0)] == [
        "<0.001",
        "<0.001",
        "0.001",
        "0.042",
        "0.38",
        "1.00",
    ]


def test_bits_are_nats_over_ln_2_in_every_information_quantity_and_in_no_share():
    nats, bits = samples.audit_result(), numbers.converted(samples.audit_result(), BITS)
    assert bits.measures[0].value == pytest.approx(nats.measures[0].value / LN2)
    assert bits.measures[0].null_high == pytest.approx(nats.measures[0].null_high / LN2)
    assert bits.measures[0].p_value == nats.measures[0].p_value
    assert bits.measures[4].value == INF
    assert [m.unit for m in bits.measures] == ["bits", "bits", "bits", "probability", "bits"]
    assert bits.measures[3] == nats.measures[3]
    assert bits.risk_histogram.edges == pytest.approx([e / LN2 for e in nats.risk_histogram.edges])
    assert bits.risk_histogram.shares == nats.risk_histogram.shares
    assert bits.risk_histogram.quantiles["90%"] == pytest.approx(nats.risk_histogram.quantiles["90%"] / LN2)
    assert bits.safe_shares[1].epsilon == pytest.approx(0.5 / LN2)
    assert bits.safe_shares[1].records == nats.safe_shares[1].records
    assert bits.riskiest[1].contributions[0] == ("zip", pytest.approx(1.31 / LN2))
    assert (bits.riskiest[1].prior, bits.riskiest[1].values) == (nats.riskiest[1].prior, nats.riskiest[1].values)
    assert bits.column_leaks[0].left_out == pytest.approx(nats.column_leaks[0].left_out / LN2)
    assert bits.curve[4].attained == pytest.approx(nats.curve[4].attained / LN2)
    assert bits.curve[4].nmil == nats.curve[4].nmil
    assert bits.suggestion.epsilon == pytest.approx(0.5 / LN2)
    assert "0.162 bits" in bits.headline
    assert "nats" not in bits.suggestion.sentence
    certificate = numbers.converted(samples.protect_result(), BITS).certificate
    assert certificate.attained_epsilon == pytest.approx(0.46 / LN2)
    assert certificate.measures[3] == samples.certificate().measures[3]
    assert certificate.utility.entropy == pytest.approx(2.91 / LN2)
    assert certificate.utility.nmil == 0.24


@pytest.mark.parametrize(
    ("nats", "bits", "told"),
    [(1.0, False, "1 nat"), (2.0, False, "2 nats"), (1.5, False, "1.5 nats"), (math.log(2), True, "1 bit")],
)
def test_one_unit_is_not_several(nats: float, bits: bool, told: str) -> None:
    assert Nats(nats, "setting").told(Wording(bits=bits)) == told


def test_bits_convert_quantities_and_never_the_name_of_a_column():
    named = sentence("The column '{name}' says {leak}.", name="5 nats", leak=Nats(0.5, 4))
    result = replace(samples.audit_result(), headline=named, notes=("column '5 nats' was cut",))
    for form in (to_text(result, bits=True, width=200, full=True), to_html(result, bits=True).replace("&#39;", "'")):
        assert "The column '5 nats' says 0.7213 bits." in form
        assert "column '5 nats' was cut" in form
    assert "5 nats" in json.loads(to_json(result, bits=True))["notes"][0]


@given(st.floats(min_value=1e-6, max_value=90), st.sampled_from([3, 4, 6]), st.booleans())
def test_a_bound_in_a_sentence_never_says_more_than_was_proved_in_either_unit(nats, digits, bits):
    value = nats / LN2 if bits else nats
    up, down = (float(Nats(nats, digits, unit=False, rounded=way).told(Wording(bits=bits))) for way in ("up", "down"))
    assert down <= value * (1 + 1e-11)
    assert up >= value * (1 - 1e-11)
    assert up - down <= 2 * 10 ** (math.floor(math.log10(value)) - min(digits, 4 if bits else 6) + 1)


# Words


def test_a_value_cannot_steer_the_terminal_or_turn_the_line_around():
    assert printable("\x1b[2J\u202egnp.exe\nnext") == "�[2J�gnp.exe next"


def test_a_verdict_never_heard_of_counts_as_doubt():
    assert badge("splendid").tone == "doubt"


def test_a_result_of_another_kind_is_refused_by_name():
    with pytest.raises(TypeError, match="no report for Result"):
        to_text(Result())


def test_an_epsilon_between_two_points_of_the_curve_has_the_release_of_the_smaller():
    curve = by_epsilon(samples.CURVE[::-1])
    assert [place_of(curve, epsilon) for epsilon in (None, 0.01, 0.05, 0.6, 9.0)] == [None, None, 0, 4, 9]


# JSON


@every_result
@pytest.mark.parametrize("bits", [False, True])
def test_json_is_one_strict_object_that_says_its_unit(make, bits):
    found = json.loads(to_json(make(), bits=bits), parse_constant=refuse)
    assert list(found)[:2] == ["result", "unit"]
    assert found["result"] == type(make()).__name__
    assert found["unit"] == ("bits" if bits else "nats")


def test_json_writes_infinity_as_a_word():
    found = json.loads(to_json(samples.audit_result()), parse_constant=refuse)
    assert found["measures"][4]["value"] == "inf"
    assert found["riskiest"][0]["log_lift"] == "-inf"


# Text


@every_result
@pytest.mark.parametrize("width", [80, 120])
def test_text_begins_with_the_answer_has_no_colour_codes_and_fits(make, width):
    told = to_text(make(), width=width)
    answer = make().document().badge
    assert told.startswith(f"{answer.symbol} {answer.words.upper()}  ")
    assert "\x1b" not in told
    assert max(len(line) for line in told.splitlines()) <= width


@pytest.mark.parametrize("verb", ["audit", "learned audit", "protect", "attack"])
def test_the_first_answer_has_forty_lines_and_all_else_is_one_setting_away(verb):
    result = EVERY[verb]()
    first, full = (to_text(result, width=80, full=all_of_it) for all_of_it in (False, True))
    assert len(first.splitlines()) <= 40
    assert "full=True" in first
    assert len(full.splitlines()) > len(first.splitlines()) + 20


def test_a_word_of_a_table_is_not_broken_where_numbers_take_the_room():
    text = to_text(samples.attack_result(), width=80, full=True)
    assert "logistic\n" in text or "logistic " in text
    assert not re.search(r"^\S{1,2}$", text, re.MULTILINE)


def test_text_says_unit_direction_null_band_and_what_infinity_means():
    told = to_text(samples.audit_result(), width=100, full=True)
    assert "Higher is riskier" in told
    assert "0.0102–0.0144" in told
    assert "0.112 nats" in told
    assert "85.5%–85.9%" in told
    assert "rules a secret out, or gives it away" in told
    assert samples.SHA in told


def test_a_number_that_does_not_survive_the_null_is_called_chance() -> None:
    audit = samples.audit_result()
    quiet = [replace(leak, alone=0.0123456, alone_null=0.02) for leak in audit.column_leaks]
    measures = [replace(each, value=each.null_high / 2) for each in audit.measures]
    told = to_text(replace(audit, column_leaks=tuple(quiet), measures=tuple(measures)), width=120, full=True)
    assert "0.0123" not in told
    assert told.count("(chance)") == len(measures)


def test_text_in_bits_names_no_nats():
    told = to_text(samples.audit_result(), bits=True, width=100, full=True)
    assert "nats" not in told
    assert "0.162 bits" in told


def test_a_terminal_gets_colour_and_the_symbol_stays():
    console = Console(file=StringIO(), force_terminal=True, color_system="truecolor", width=100)
    show(samples.audit_result(), console)
    assert "\x1b[1;31m✗ LEAK" in console.file.getvalue()


@every_result
def test_what_is_piped_is_the_plain_text(make, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    show(make())
    assert capsys.readouterr().out == to_text(make(), width=90)


@pytest.mark.parametrize("make", [hostile_audit, empty_audit])
def test_text_of_odd_audits_is_safe_and_fits(make):
    told = to_text(make(), width=80)
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert max(len(line) for line in told.splitlines()) <= 80


def test_the_column_that_leaks_most_is_shown_first_when_the_list_is_cut():
    text = to_text(hostile_audit(), width=120, full=True)
    table = text[text.index("Others", text.index("Every column, in nats (")) :]
    assert "column_33" in table.splitlines()[3]


def test_the_first_answer_names_only_columns_that_survive_chance_and_folds_the_rest():
    text = to_text(samples.audit_result(), width=80)
    first = text.split("What gives it away")[1].split("What to do")[0]
    assert first.index("zip") < first.index("job") < first.index("of the uncertainty about race")
    assert "nearly every value differs: age.\nNo leak by itself: sex" in first
    assert "What leaks" not in text.split("There is more")[0]
    assert "full=True" in text
    page = to_html(samples.audit_result())
    assert page.index("What to do") < page.index("<details") < page.index("What leaks")


def test_a_printed_result_and_a_notebook_cell_use_this_room():
    assert str(samples.verify_result()).startswith("✗ BROKEN")
    assert samples.verify_result()._repr_html_() == fragment(samples.verify_result())


# HTML


@pytest.mark.parametrize("make", [*EVERY.values(), hostile_audit, empty_audit])
def test_a_page_is_balanced_loads_nothing_and_its_pictures_are_xml(make):
    page = to_html(make())
    balance = Balance()
    balance.feed(page)
    assert balance.open == []
    assert set(re.findall(r"https?://[^\s\"<]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|url\(|\ssrc=|\shref=|<iframe|<img", page)
    for picture in pictures(page):
        assert picture.get("role") == "img"
        assert picture.get("aria-label")
    assert "nan" not in re.sub(r"[a-z]+nan|nan[a-z]+", "", page.lower())


def test_nothing_from_the_data_is_markup():
    for page in (to_html(hostile_audit()), fragment(hostile_audit())):
        assert page.count("<script>") == 1
        assert SCRIPT not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "\x1b" not in page


def test_a_long_value_is_cut_and_whole_on_hover():
    page = to_html(hostile_audit())
    assert f'title="{"x" * 500}"' in page
    assert f">{'x' * 500}<" not in page


def test_an_audit_page_says_version_hash_file_and_shuffles():
    page = to_html(samples.audit_result())
    for said in (f"Tacit {tacit.__version__}", samples.SHA, "people.parquet", "999 shuffles", "How to read this page"):
        assert said in page


def test_the_page_of_a_release_is_public_and_keeps_the_owners_words_out():
    protect = samples.protect_result()
    owned = replace(protect.certificate, input=replace(protect.certificate.input, name="/home/owner/people.parquet"))
    page = to_html(replace(protect, certificate=owned))
    assert "7255" not in page
    assert ">people.parquet<" in page
    assert "private/" not in page
    assert "/home/owner" not in page
    assert samples.certificate().claim in page
    assert samples.SHA in page


def test_a_promise_met_to_the_last_bit_is_kept():
    protect = samples.protect_result()
    change = replace(protect.certificate.measures[0], after=0.5 + 1e-13, promise=0.5)
    page = to_html(replace(protect, certificate=replace(protect.certificate, measures=(change,))))
    assert "beyond</span>" not in page
    page = to_html(replace(protect, certificate=replace(protect.certificate, measures=(replace(change, after=0.51),))))
    assert "beyond</span>" in page


def test_a_page_in_bits_names_no_nats_but_the_fixed_one():
    page = to_html(samples.audit_result(), bits=True).replace("at epsilon 1 nat<", "")
    assert "nats" not in page
    assert "Epsilon (bits)" in page
    assert ">1.44<" in page


def test_write_report_writes_the_page(tmp_path):
    path = write_report(samples.attack_result(), tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == to_html(samples.attack_result())


def test_protect_from_its_own_module_writes_the_report_like_the_front_door(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("secret,x\n" + "".join(f"{k % 2},{k % 3}\n" for k in range(60)))
    code = (
        "from tacit.verbs.protect import protect\n"
        f"protect({str(table)!r}, secret='secret', epsilon=0.5, out={str(tmp_path / 'out')!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert "How to read this page" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_importing_the_room_loads_neither_rich_nor_jinja():
    code = "import sys, tacit.report; sys.exit(bool({'rich', 'jinja2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Charts: a wrong scale must fail


def test_the_heights_of_the_risk_histogram_are_proportional_to_the_shares():
    picture = draw(Histogram([Layer("t", samples.BEFORE)]), width=700)
    heights = [size(bar, "height") for bar in marks(picture, "rect", "bar") if size(bar, "height") != 10]
    scale = heights[0] / samples.BEFORE.shares[0]
    assert heights == pytest.approx([scale * share for share in samples.BEFORE.shares], abs=0.02)
    infinite = [bar for bar in marks(picture, "rect", "bar infinite") if size(bar, "height") != 10]
    assert [size(bar, "height") for bar in infinite] == pytest.approx([scale * 0.041], abs=0.02)
    floors = {round(size(bar, "y") + size(bar, "height"), 1) for bar in infinite}
    assert len(floors) == 1


def test_the_lines_of_the_histogram_stand_at_their_epsilon():
    lines = (Line(0.5, "a"), Line(2.0, "b"), Line(9.0, "off"))
    picture = draw(Histogram([Layer("t", samples.BEFORE)], lines), width=700)
    at = [size(line, "x1") for line in marks(picture, "line", "mark line")]
    bars = [size(bar, "x") - 0.5 for bar in marks(picture, "rect", "bar") if size(bar, "height") != 10]
    assert at == pytest.approx([bars[2], bars[8]], abs=0.02)


def test_the_lengths_of_column_bars_are_proportional_to_the_leaks():
    leaks = samples.audit_result().column_leaks
    rows = [
        BarRow(leak.name, (Bar("alone", leak.alone, null=leak.alone_null), Bar("added", leak.given_others)))
        for leak in leaks
    ]
    picture = draw(Bars("Leaks", "Leak", rows, series=("alone", "added"), null_label="chance"), width=700)
    alone = [size(bar, "width") for bar in marks(picture, "rect", "bar")][1:]
    added = [size(bar, "width") for bar in marks(picture, "rect", "bar second")][1:]
    scale = alone[0] / leaks[0].alone
    assert alone == pytest.approx([scale * leak.alone for leak in leaks], abs=0.02)
    assert added == pytest.approx([scale * leak.given_others for leak in leaks], abs=0.02)


def test_the_points_of_the_trade_off_lie_on_straight_scales():
    curve = samples.CURVE
    picture = draw(TradeOff(curve, 0.46, 0.24, "here"), width=700)
    dots = marks(picture, "circle", "point")
    at = {int(dot.attrib["data-k"]): (size(dot, "cx"), size(dot, "cy")) for dot in dots}
    slope_x = (at[8][0] - at[0][0]) / (curve[8].attained - curve[0].attained)
    slope_y = (at[8][1] - at[0][1]) / (curve[8].nmil - curve[0].nmil)
    assert slope_x > 0 > slope_y
    for k in range(9):
        assert at[k][0] == pytest.approx(at[0][0] + slope_x * (curve[k].attained - curve[0].attained), abs=0.02)
        assert at[k][1] == pytest.approx(at[0][1] + slope_y * (curve[k].nmil - curve[0].nmil), abs=0.02)
    assert at[9][0] > at[8][0]
    (mark,) = marks(picture, "circle", "point chosen")
    assert (size(mark, "cx"), size(mark, "cy")) == pytest.approx(at[4])


def test_what_releases_keep_lies_on_straight_scales_and_every_point_says_its_numbers():
    ladder = samples.ladder()
    steps = [LadderStep(rung.epsilon, rung.kept, "0", "7") for rung in ladder.rungs]
    picture = draw(KeptByEpsilon(steps, 1), width=700)
    dots = {int(dot.attrib["data-k"]): dot for dot in marks(picture, "circle", "point")}
    at = {k: (size(dot, "cx"), size(dot, "cy")) for k, dot in dots.items()}
    part = (0.5 - 0.1) / (2.0 - 0.1), (0.76 - 0.31) / (0.92 - 0.31)
    for axis in (0, 1):
        assert at[1][axis] == pytest.approx(at[0][axis] + part[axis] * (at[2][axis] - at[0][axis]), abs=0.02)
    assert at[0][0] < at[2][0]
    assert at[0][1] > at[2][1]
    assert "epsilon 0.5 nats keeps 76.0%; of 1,000 people 0 could be found" in picture
    (mark,) = marks(picture, "circle", "point chosen")
    assert (size(mark, "cx"), size(mark, "cy")) == pytest.approx(at[1])


def test_without_a_script_the_records_of_the_suggested_release_stand_beside_the_originals():
    page = to_html(samples.audit_result())
    assert re.findall(r'<td title="[^"]*">(.*?)</td>', page) == [
        cell for row in samples.ladder().before for cell in row
    ]
    after = [cell for row in samples.ladder().rungs[1].rows for cell in row]
    assert re.findall(r'<td data-row="\d" title="[^"]*">(.*?)</td>', page) == after


def test_accuracies_and_their_limits_are_drawn_on_one_scale_from_zero_to_one():
    attack = samples.attack_result()
    picture = draw(guesses_right(attack.adversaries, marks=(("prior", 0.41), ("promise", 0.676))).chart, width=700)
    before = [size(bar, "width") for bar in marks(picture, "rect", "bar")][1:]
    retrained = [size(bar, "width") for bar in marks(picture, "rect", "bar third")][1:]
    scale = before[0] / attack.adversaries[0].before
    assert before == pytest.approx([scale * a.before for a in attack.adversaries], abs=0.02)
    assert retrained == pytest.approx([scale * a.retrained for a in attack.adversaries], abs=0.02)
    start = size(marks(picture, "rect", "bar")[1], "x")
    lines = [size(line, "x1") for line in marks(picture, "line", "mark line")]
    assert lines == pytest.approx([start + scale * 0.41, start + scale * 0.676], abs=0.02)


def test_contributions_point_to_their_sign_and_the_rest_is_added_up():
    terms = [("a", 0.4), ("b", -0.2), ("c", 0.1), ("d", 0.05), ("e", 0.05)]
    picture = draw(SignedBars("Terms", [SignedBar(*term) for term in terms], limit=3, width=330))
    toward, away = marks(picture, "rect", "bar toward"), marks(picture, "rect", "bar away")
    assert [size(bar, "width") / size(toward[0], "width") for bar in toward] == pytest.approx([1, 0.25, 0.25], abs=0.01)
    assert size(away[0], "width") / size(toward[0], "width") == pytest.approx(0.5, abs=0.01)
    assert size(away[0], "x") + size(away[0], "width") == pytest.approx(size(toward[0], "x"), abs=0.02)
    assert "2 others" in picture


def test_a_measure_lies_outside_its_band_by_as_much_as_the_numbers_say():
    measure = samples.measure_findings()[0]
    strip = Strip("t", measure.value, measure.null_low, measure.null_high, badge("leak"))
    picture = draw(strip)
    (band,), (dot,), (axis,) = (
        marks(picture, "rect", "null"),
        marks(picture, "circle", "dot bad"),
        marks(picture, "line", "axis"),
    )
    zero = size(axis, "x1")
    assert (size(dot, "cx") - zero) / (size(band, "x") - zero) == pytest.approx(0.1123 / 0.0102, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 0.7, 1.0, 1.5, 2.0, 5.0, 9.0])
def test_a_factor_that_is_promised_is_rounded_up_and_reads_as_in_the_claim_of_the_release(epsilon: float) -> None:
    told = LiftFactor(epsilon, "up").told(Wording())
    assert math.exp(epsilon) <= float(told.replace(",", "")) < 1.01 * math.exp(epsilon)
    assert epsilon == 9.0 or float(told) == float(factors.factor_up(epsilon))


def test_an_audit_rounds_every_factor_that_it_promises_up() -> None:
    # e^0.7 is 2.0138 and e^1.5 is 4.4817: rounded to the nearest, both would promise too much.
    audit = samples.audit_result()
    rungs = [replace(rung, epsilon=epsilon) for rung, epsilon in zip(audit.ladder.rungs, (0.7, 1.5, 2.0), strict=True)]
    audit = replace(audit, ladder=replace(audit.ladder, rungs=tuple(rungs), epsilon=1.5))
    text, page = to_text(audit, full=True), to_html(audit)
    assert "no secret becomes more than 4.49 times as likely" in " ".join(text.split())
    for shown in (text, page):
        assert "2.02" in shown
        assert "2.01" not in shown
        assert "4.48" not in shown


def test_a_long_headline_is_no_wall_of_bold_words() -> None:
    result = samples.protect_result()
    assert "<h1>" in to_html(result)
    assert "<h1 class=long>" in to_html(replace(result, headline="It keeps much of every column. " * 8))


def test_the_slider_names_its_stops_and_the_records_say_how_many_columns_they_have() -> None:
    audit = samples.audit_result()
    stops = "".join(f"<span>{rung.epsilon:g}</span>" for rung in audit.ladder.rungs)
    assert f'<div class="stops" aria-hidden="true">{stops}</div>' in to_html(audit)
    assert f"records in {len(audit.ladder.columns)} columns, unchanged" in to_html(audit)


# In a browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def opened(page: str, directory: Path) -> tuple[str, str]:
    """The page's elements after its script ran, and what the browser said on its console."""
    (directory / "page.html").write_text(page, encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
    command += ["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"]
    command += [f"--user-data-dir={directory / 'profile'}", "--dump-dom", (directory / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


@pytest.mark.browser
@in_a_browser
def test_the_slider_runs_in_a_browser_and_the_console_is_silent(tmp_path):
    page = to_html(samples.audit_result()).replace('value="1" step', 'value="2" step')
    elements, console = opened(page, tmp_path)
    assert console == ""
    said = re.findall(r'<b data-field="\d">(.*?)</b>', elements)
    assert said == ["2", "7.39", "92.0%", "0", "31"]
    assert re.search(r'class="slider" data-points="[^"]*" data-rows="[^"]*" data-what="kept">', elements)
    assert re.search(r'class="point here"[^>]*data-k="2"|data-k="2"[^>]*class="point here"', elements)
    records = re.findall(r'<td data-row="\d" title="[^"]*">(.*?)</td>', elements)
    assert records == [cell for row in samples.ladder().rungs[2].rows for cell in row]


@pytest.mark.browser
@in_a_browser
def test_the_policy_of_the_page_stops_requests_and_foreign_scripts(tmp_path):
    foreign = '<img src="http://127.0.0.1:9/x.png"><script>document.title = "owned"</script></main>'
    elements, console = opened(to_html(samples.verify_result()).replace("</main>", foreign), tmp_path)
    assert "<title>owned" not in elements
    assert console.count("Content Security Policy") >= 2


def test_an_audit_says_that_its_numbers_are_plug_in() -> None:
    result = samples.audit_result()
    assert "plug-in" in to_text(result, full=True)
    assert "plug-in" in to_html(result)
    assert all(measure["kind"] == "plug-in" for measure in json.loads(to_json(result))["measures"])


def test_the_promise_of_an_attack_says_for_whom_it_holds_and_when_it_says_nothing():
    """Whoever knows more of a person may be right more often than the promise."""
    result = samples.attack_result()
    told = " ".join(to_text(result, width=200).split())
    assert (
        "Promise 67.6% (somebody who sees one row and knows nothing else about the person can be right no more" in told
    )
    assert "nothing is promised about guesses" in to_text(replace(result, guessing_bound=1.0), width=200)
