"""Results about a person as text, JSON and pages: right numbers, nothing unescaped, drawings to scale."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

import sample_persons as samples
import tacit
from sizes import many
from tacit.document import (
    Change,
    Changes,
    CostCurve,
    CostPoint,
    Figure,
    Panel,
    Panels,
    RemovalCurve,
    RemovalStage,
    SignedBar,
    SignedBars,
    TermBars,
    quantities as numbers,
)
from tacit.person import PersonAuditResult, PersonDecoyResult, PersonReleaseResult, PersonVerifyResult
from tacit.person.answers.merging import merge_graph, source_of, wires
from tacit.person.answers.presenting import ladder
from tacit.person.answers.results import Finding, Held, Join, Missing, SourceShare
from tacit.report import Result, fragment, show, to_html, to_json, to_text
from tacit.report.charts import draw
from tacit.report.charts.leakage.merge_graph import _lanes
from tacit.report.charts.svg import text_width
from test_report import Balance, in_a_browser, marks, opened, pictures, refuse, size

INF = math.inf
SCRIPT = "<script>alert(1)</script>"
BOLD = "<b>shop</b>"
every_result = pytest.mark.parametrize("make", samples.EVERY.values(), ids=samples.EVERY.keys())


def hostile_audit() -> PersonAuditResult:
    """Markup and steering characters in every string that comes from files, forty records, infinite costs."""
    audit = samples.audit_result()
    members = tuple(f"{BOLD} {k}" for k in range(20)) + tuple(f"\x1b[2J {k}" for k in range(20))
    finding = Finding(
        adversary=SCRIPT,
        leakage=1.0,
        held=(
            Held(SCRIPT, "x" * 300, "correct", 1.0, 1e9, 1.0, 1.0, (BOLD, "\u202eesrever")),
            Held("日本語の列" * 9, SCRIPT, "wrong", 0.0, 0.0, 0.0, -1e-9, ()),
        ),
        missing=(Missing(SCRIPT, BOLD, INF),),
        members=members,
        joins=tuple(Join(members[0], other, (SCRIPT, "b")) for other in members[1:]),
        bits=INF,
    )
    return replace(
        audit,
        case=f"/home/owner/{SCRIPT}.yaml",
        labels=(SCRIPT,),
        sources=tuple(replace(source, name=BOLD, path=f"/secret/folder/{BOLD}") for source in audit.sources),
        rungs=tuple(
            replace(r, adversary=SCRIPT if k == 3 else r.adversary, does=SCRIPT, cost=INF)
            for k, r in enumerate(audit.rungs)
        ),
        findings=(finding, replace(finding, adversary="looks", members=members[:3], joins=finding.joins[:2])),
        strongest=SCRIPT,
        source_shares=(SourceShare(BOLD, 3, 0.0, 1.0), SourceShare(SCRIPT, 0, 1.0, -INF)),
        actions=tuple(replace(a, what=SCRIPT, why=BOLD, cost=INF) for a in audit.actions),
        headline=f"{SCRIPT} tells",
        notes=(SCRIPT,),
    )


def bare_audit() -> PersonAuditResult:
    """One adversary that finds nothing."""
    audit = samples.audit_result()
    nothing = replace(audit.rungs[0], leakage=0.0, precision=0.0, recall=0.0, merged=0)
    return replace(
        audit,
        sources=(),
        rungs=(nothing,),
        strongest="looks",
        findings=(Finding("looks", 0.0, (), (), (), (), None),),
        source_shares=(),
        actions=(),
        notes=(),
        fail_above=None,
    )


ODD = {"hostile": hostile_audit, "bare": bare_audit}
every_and_odd = pytest.mark.parametrize(
    "make", [*samples.EVERY.values(), *ODD.values()], ids=[*samples.EVERY.keys(), *ODD.keys()]
)


# Numbers and badges


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.8341, "0.834"),
        (1.0, "1"),
        (0.0, "0"),
        (0.99996, ">0.999"),
        (-0.031, "−0.031"),
        (1e-5, "1.0×10⁻⁵"),
        (None, "–"),
        (math.nan, "–"),
        (INF, "∞"),
        (-INF, "−∞"),
    ],
)
def test_a_leakage_has_three_decimals(value, written):
    assert numbers.part(value) == written


@given(st.floats(min_value=0, max_value=1))
def test_only_nothing_is_zero_and_only_all_is_one(leakage):
    assert (numbers.part(leakage) in ("0", "0.000")) == (leakage < 1e-12)
    assert (numbers.part(leakage) in ("1", "1.000")) == (leakage > 1 - 1e-12)


@pytest.mark.parametrize(
    ("make", "limit", "tone", "said"),
    [
        (samples.audit_result, 0.6, "bad", "leakage 0.834, above the limit of 0.6"),
        (samples.audit_result, 0.834, "good", "leakage 0.834, within the limit of 0.834"),
        (samples.audit_result, None, "doubt", "leakage 0.834"),
        (samples.release_result, 0.5, "bad", "leakage 0.831 at best, above the limit of 0.5"),
        (samples.remove_result, 0.66, "good", "expected leakage 0.651, within the limit of 0.66"),
        (samples.population_result, None, "doubt", "largest leakage 0.980"),
    ],
)
def test_only_a_limit_makes_a_leakage_good_or_bad(make, limit, tone, said):
    badge = replace(make(), fail_above=limit).verdict()
    assert (badge.tone, badge.words) == (tone, said)


def test_decoys_that_do_not_help_are_not_recommended_whatever_the_limit():
    decoy = samples.decoy_result()
    assert replace(decoy, fail_above=0.99).verdict().words == "decoys not recommended"
    helps = replace(decoy, recommended=True, after={"looks": 0.2, "joins": 0.3, "detective": 0.4}, fail_above=0.5)
    assert helps.verdict().words == "leakage 0.400 with decoys, within the limit of 0.5"


# JSON


@every_and_odd
def test_json_is_one_strict_object_that_begins_with_the_answer(make):
    result = make()
    found = json.loads(to_json(result), parse_constant=refuse)
    assert found["result"] == type(result).__name__
    assert "unit" not in found
    if not isinstance(result, PersonVerifyResult):
        assert list(found)[1] == "leakage"
        assert found["leakage"] == result.leakage
    assert found["headline"] == result.headline


def test_json_writes_infinity_as_a_word():
    found = json.loads(to_json(hostile_audit()), parse_constant=refuse)
    assert found["rungs"][0]["cost"] == "inf"
    assert found["source_shares"][1]["contribution"] == "-inf"


# Text


@every_and_odd
@pytest.mark.parametrize("width", [80, 120])
def test_text_begins_with_the_answer_steers_nothing_and_fits(make, width):
    told = to_text(make(), width=width)
    badge = make().document().badge
    assert told.startswith(f"{badge.symbol} {badge.words.upper()}  ")
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert max(len(line) for line in told.splitlines()) <= width


def rows_of(told: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading, split where two spaces or more part the columns."""
    lines = told.split(heading, 1)[1].split("───\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


def test_the_ladder_has_a_row_for_every_adversary():
    rows = rows_of(to_text(samples.audit_result(), width=200), "The ladder")
    assert rows[1] == [
        "joins",
        "normalises; resolves by name and phone, or e-mail",
        "0.701",
        "0.742",
        "0.664",
        "0.664",
        "25",
    ]
    assert [row[0] for row in rows[:4]] == ["looks", "joins", "detective", "all clusters"]


def test_the_winning_record_says_what_is_right_wrong_and_missing():
    told = to_text(samples.audit_result(), width=120)
    rows = rows_of(told, "The record that leaks most, under 'detective'")
    assert ["card", "4•••", "● right", "0.9", "+0.244", "shop"] in rows
    assert ["income", "•••", "◐ near (credit 0.620)", "0.7", "+0.009", "broker"] in rows
    assert ["zip", "1•••", "◌ covers", "0.5", "+0.021", "broker"] in rows
    assert ["phone", "0•••", "○ wrong", "0.8", "−0.031", "broker"] in rows
    assert "Missing  passport C•••, employer H•••" in told
    assert "41.7 bits" in told


def test_the_trace_says_which_records_joined_by_which_labels():
    told = to_text(samples.audit_result(), width=120)
    assert "• shop 17 — broker 3: name, phone\n" in told
    assert "• broker 88 — voter roll 40112: name, birth date, zip\n" in told


def test_sources_come_with_what_adds_most_first_and_a_hiding_one_is_explained():
    told = to_text(samples.audit_result(), width=120)
    rows = rows_of(told, "What each source adds")
    assert [row[0] for row in rows[:4]] == ["shop", "voter roll", "breach 2019", "broker"]
    assert rows[3] == ["broker", "8,310", "0.861", "−0.027", "0%"]
    assert "misleads the adversary" in told


def test_a_long_trace_is_cut_and_says_how_much_is_left():
    told = to_text(hostile_audit(), width=100)
    assert "27 more joins" in told


def test_a_release_shows_every_option_under_every_adversary():
    rows = rows_of(to_text(samples.release_result(), width=160), "Leakage after each option")
    assert ["new shop", "new card", "joins", "0.782", "+0.081", "shop 17"] in rows
    assert ["detective", "0.831", "−0.003"] in rows
    assert len(rows) == 10


def test_a_removal_starts_from_now_and_says_what_is_expected():
    rows = rows_of(to_text(samples.remove_result(), width=120), "Ask for removal")
    assert rows == [
        ["now", "0.834", "0.834"],
        ["1.", "shop", "1,204", "5", "50.0%", "0.512", "0.673"],
        ["2.", "voter roll", "52,000", "8", "10.0%", "0.377", "0.651"],
        ["3.", "breach 2019", "14", "1", "0%", "0.377", "0.651"],
    ]


def test_no_removal_is_said_in_words():
    assert "No removal within the budget" in to_text(replace(samples.remove_result(), steps=()), width=100)


@every_result
def test_decoys_alone_warn_of_banks_and_authorities(make):
    result = make()
    for told in (to_text(result, width=200), to_html(result)):
        assert ("not for banks, insurers or authorities" in told) == isinstance(result, PersonDecoyResult)


def test_what_to_verify_is_marked():
    rows = rows_of(to_text(samples.verify_result(), width=120), "What the adversary should verify next")
    assert rows[0] == ["card", "4•••", "shop 17", "0.9", "0.1", "0.021", "0.210", "◀ next"]
    assert len(rows[2]) == 7


def test_a_population_shows_quantiles_and_those_above_the_limit():
    told = to_text(samples.population_result(), width=120)
    assert rows_of(told, "by quantile")[1] == [
        "detective",
        "0.170",
        "0.550",
        "0.710",
        "0.830",
        "0.980",
        "0.560",
        "0.470",
        "4,105",
    ]
    assert "Above 0.6" in told
    assert "Above" not in to_text(replace(samples.population_result(), fail_above=None), width=120)


def test_a_name_longer_than_the_line_loses_no_letter():
    audit, name = samples.audit_result(), "shop_" * 25
    longer = replace(audit, actions=[replace(audit.actions[0], what=f"have '{name}' remove its records")])
    assert name in "".join(to_text(longer, width=80).split())


def test_a_terminal_gets_colour_and_the_symbols_stay():
    console = Console(file=StringIO(), force_terminal=True, color_system="truecolor", width=100)
    show(samples.audit_result(), console)
    told = console.file.getvalue()
    assert "\x1b[1;31m✗ LEAKAGE 0.834" in told
    assert "\x1b[31m● right" in told
    assert "\x1b[36m○ wrong" in told


def test_masked_values_are_said_to_be_masked_and_shown_ones_to_be_shown():
    audit = samples.audit_result()
    assert "masked" in to_text(audit)
    assert "Values are masked" in to_html(audit)
    assert "for your eyes only" in to_text(replace(audit, values_shown=True))
    assert "for your eyes only" in to_html(replace(audit, values_shown=True))


def test_a_result_prints_itself_and_shows_itself_in_a_notebook():
    assert str(samples.audit_result()).startswith("✗ LEAKAGE")
    assert samples.dip_result()._repr_html_() == fragment(samples.dip_result())


# Pages


@every_and_odd
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
    assert not re.search(r' (?:[xydr]|x[12]|y[12]|cx|cy|width|height)="[^"]*(?:nan|inf)', page)
    assert "nan" not in re.sub(r"[a-z]+nan|nan[a-z]+", "", page.lower())


def test_nothing_from_the_files_is_markup():
    for page in (to_html(hostile_audit()), fragment(hostile_audit())):
        assert page.count("<script>") == 1
        assert SCRIPT not in page
        assert BOLD not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "\x1b" not in page
        assert "\u202e" not in page


def test_a_page_does_not_tell_the_folders_of_the_machine():
    assert "/secret/folder" not in to_html(hostile_audit())
    assert "/home/owner" not in to_html(hostile_audit())


@every_result
def test_every_page_explains_its_terms(make):
    page = to_html(make()).split("How to read this page")[1]
    for term in ("leakage", "precision", "recall", "adversary", "confidence", "weight", "contribution"):
        assert f"<dt>{term}</dt>" in page


def test_the_audit_page_has_ladder_record_graph_shares_and_actions():
    page = to_html(samples.audit_result())
    for said in (
        "The ladder",
        "And what it costs",
        "The record that leaks most, under &#39;detective&#39;",
        "What gives away, and what",
        "How the record came to be",
        "What each source adds",
        "What to do first",
        f"Tacit {tacit.__version__}",
        "9f2c" * 16,
    ):
        assert said in page
    assert "shop 17 — broker 3: name, phone" in page


def test_costs_that_do_not_differ_are_no_axis():
    audit = samples.audit_result()
    free = replace(audit, rungs=tuple(replace(rung, cost=0.0) for rung in audit.rungs))
    assert "And what it costs" not in to_html(free)
    assert "And what it costs" not in to_html(hostile_audit())


def test_a_share_of_the_file_reads_as_one_in_every_tile_and_leakage_as_a_number() -> None:
    audit = replace(bare_audit(), together=1.0)
    top = max(audit.rungs, key=lambda rung: rung.leakage)
    audit = replace(audit, strongest=top.adversary, rungs=(replace(top, best_recall=1.0, precision=0.5, leakage=0.75),))
    values = re.findall(r"<dt>(\w+)</dt><dd>([^<]+)<", to_html(audit))
    assert dict(values).items() >= {
        ("Recall", "100%"),
        ("Leakage", "0.750"),
        ("Precision", "50.0%"),
        ("Together", "100%"),
    }


# Charts: a wrong scale must fail


def points(rungs=samples.RUNGS) -> list[CostPoint]:
    return [CostPoint(r.adversary, r.cost, r.leakage, r.precision, r.recall) for r in rungs]


def test_the_bars_of_the_ladder_are_proportional_to_the_three_numbers():
    picture = draw(
        ladder([(r.adversary, "", r.leakage, r.precision, r.recall) for r in samples.RUNGS], limit=0.6), width=700
    )
    scale = size(marks(picture, "rect", "bar")[1], "width") / 0.412
    for class_, name in (("bar", "leakage"), ("bar second", "precision"), ("bar third", "recall")):
        drawn = [size(bar, "width") for bar in marks(picture, "rect", class_)][1:]
        assert drawn == pytest.approx([scale * getattr(rung, name) for rung in samples.RUNGS], abs=0.02)
    (limit,) = marks(picture, "line", "mark line")
    assert size(limit, "x1") == pytest.approx(size(marks(picture, "rect", "bar")[1], "x") + 0.6 * scale, abs=0.02)


def test_costs_and_leakages_lie_on_straight_scales_and_the_line_is_the_most_for_the_cost():
    picture = draw(CostCurve(points()), width=700)
    dots = [dot for dot in marks(picture, "circle", "point") if size(dot, "r") == 5.5]
    at = [(size(dot, "cx"), size(dot, "cy")) for dot in dots]
    across = (at[3][0] - at[0][0]) / 1_250
    up = (at[2][1] - at[0][1]) / (0.834 - 0.412)
    assert across > 0 > up
    for (x, y), rung in zip(at, samples.RUNGS, strict=True):
        assert x == pytest.approx(at[0][0] + across * rung.cost, abs=0.02)
        assert y == pytest.approx(at[0][1] + up * (rung.leakage - 0.412), abs=0.02)
    corners = re.findall(r"[ML]([\d.]+) ([\d.]+)", marks(picture, "path", "curve")[0].attrib["d"])
    heights = [float(y) for _, y in corners]
    # The dearest adversary learns less than a cheaper one, so the line stays where it was.
    assert heights[-1] == pytest.approx(at[2][1], abs=0.02)
    assert heights == sorted(heights, reverse=True)


def test_costs_of_many_sizes_keep_their_order():
    wide = [replace(rung, cost=cost) for rung, cost in zip(samples.RUNGS, (0.0, 1.0, 1e3, 1e7), strict=True)]
    picture = draw(CostCurve(points(wide), 0.5), width=700)
    at = [size(dot, "cx") for dot in marks(picture, "circle", "point") if size(dot, "r") == 5.5]
    assert all(later - sooner > 15 for sooner, later in pairwise(at))
    assert "stretched" in picture


def test_signed_bars_point_to_their_sign_from_one_zero():
    rows = [SignedBar("a", 0.4), SignedBar("b", 0.1), SignedBar("c", -0.2)]
    picture = draw(SignedBars("t", rows, unit="part"), width=600)
    toward, (away,) = marks(picture, "rect", "bar toward"), marks(picture, "rect", "bar away")
    assert size(toward[1], "width") / size(toward[0], "width") == pytest.approx(0.25, abs=0.01)
    assert size(away, "width") / size(toward[0], "width") == pytest.approx(0.5, abs=0.01)
    assert size(away, "x") + size(away, "width") == pytest.approx(size(toward[0], "x"), abs=0.02)


def test_before_and_after_lie_on_one_scale_and_a_rise_is_no_fall():
    rows = [Change("a", 0.8, 0.2), Change("b", 0.5, 0.6), Change("c", 0.4, 0.4)]
    picture = draw(Changes(rows), width=600)
    was = [size(dot, "cx") for dot in marks(picture, "circle", "was")]
    falls, rises = marks(picture, "circle", "becomes falls"), marks(picture, "circle", "becomes rises")
    scale = (was[0] - was[2]) / 0.4
    assert was[1] == pytest.approx(was[2] + 0.1 * scale, abs=0.02)
    assert [size(dot, "cx") for dot in falls] == pytest.approx([was[0] - 0.6 * scale], abs=0.02)
    assert [size(dot, "cx") for dot in rises] == pytest.approx([was[1] + 0.1 * scale], abs=0.02)
    assert "as before" in picture


def test_the_removal_curve_falls_as_the_numbers_say():
    remove = samples.remove_result()
    picture = draw(
        RemovalCurve(remove.before, [RemovalStage(s.source, s.if_removed, s.expected) for s in remove.steps], 0.6),
        width=700,
    )
    (now,) = marks(picture, "circle", "was")
    removed, expected = marks(picture, "circle", "point"), marks(picture, "circle", "point third")
    scale = (size(removed[0], "cy") - size(now, "cy")) / (0.834 - 0.512)
    assert scale > 0
    for drawn, name in ((removed, "if_removed"), (expected, "expected")):
        for dot, step in zip(drawn, remove.steps, strict=True):
            assert size(dot, "cy") == pytest.approx(size(now, "cy") + scale * (0.834 - getattr(step, name)), abs=0.02)


def test_the_histograms_of_all_adversaries_share_one_scale():
    rungs = samples.population_result().rungs
    picture = draw(Panels([Panel(r.adversary, r.bins, r.quantiles["50%"]) for r in rungs], 0.6), width=700)
    heights = [size(bar, "height") for bar in marks(picture, "rect", "bar")]
    shares = [found / sum(rung.bins) for rung in rungs for found in rung.bins]
    scale = heights[8] / shares[8]
    assert heights == pytest.approx([scale * part for part in shares], abs=0.02)


def test_the_options_of_a_release_are_drawn_beside_where_it_stands():
    release: PersonReleaseResult = samples.release_result()
    section = next(each for each in release.document().sections if str(each.title).startswith("Leakage after"))
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    picture = draw(figure.chart, width=700)
    bars = marks(picture, "rect", "bar")
    afters = [value for option in release.options for value in option.after.values()]
    scale = size(bars[0], "width") / afters[0]
    assert [size(bar, "width") for bar in bars] == pytest.approx([scale * value for value in afters], abs=0.02)
    before = marks(picture, "line", "null-mark line")[1]
    assert size(before, "x1") == pytest.approx(size(bars[0], "x") + scale * 0.701, abs=0.02)


# The merge graph


def test_every_record_is_a_node_under_its_source_and_every_join_on_a_wire():
    sources = [source.name for source in samples.SOURCES]
    picture = draw(merge_graph(samples.FINDING, sources), width=800)
    assert len(marks(picture, "rect", "node")) == 7
    assert len(marks(picture, "rect", "group")) == 4
    # Joins with a record and their labels in common are one wire: three records by e-mail, three by name and phone.
    assert len(re.findall(r'class="joint', picture)) == 3 + 3 + 2 + 2
    assert "name, birth date, zip" in picture


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["a", "b"])), max_size=20))
def test_wires_join_exactly_the_records_that_the_joins_do(pairs):
    joins = [Join(f"s {x}", f"s {y}", (label,)) for x, y, label in pairs if x != y]
    drawn = {(frozenset((wire.records[0], other)), wire.labels) for wire in wires(joins) for other in wire.records[1:]}
    assert drawn == {(frozenset((join.left, join.right)), join.labels) for join in joins}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(["a", "b"])), max_size=20))
def test_no_two_wires_that_meet_share_a_lane(pairs):
    joins = [Join(f"s {x}", f"s {y}", (label,)) for x, y, label in pairs if x != y]
    drawn = wires(joins)
    rows = {f"s {k}": 10.0 * k for k in range(10)}
    lanes = _lanes(drawn, rows)
    for k, wire in enumerate(drawn):
        for other, lane in zip(drawn[:k], lanes[:k], strict=True):
            if lane == lanes[k]:
                ends = [sorted(rows[record] for record in each.records) for each in (wire, other)]
                assert ends[0][-1] < ends[1][0] or ends[1][-1] < ends[0][0]


def test_a_record_belongs_to_the_source_with_the_longest_name_that_fits():
    sources = ["breach", "breach 2019", "shop"]
    assert source_of("breach 2019 2", sources) == "breach 2019"
    assert source_of("breach 7", sources) == "breach"
    assert source_of("shopping 3", sources) == "shopping"
    assert source_of("query", ()) == "query"


def test_too_many_records_are_a_list():
    many = hostile_audit().findings[0]
    assert merge_graph(many, ()) is None
    page = to_html(hostile_audit())
    assert "The 39 joins of 40 records, too many to draw" in page


# In a browser


@pytest.mark.browser
@in_a_browser
@pytest.mark.parametrize("name", ["hostile", *samples.EVERY][: many(1, 99)])
def test_the_page_opens_in_a_browser_and_the_console_is_silent(name, tmp_path):
    make = {**samples.EVERY, **ODD}[name]
    result: Result = make()
    elements, console = opened(to_html(result), tmp_path)
    assert console == ""
    assert "How to read this page" in elements
    assert elements.count("<script>") == 1


def test_titles_of_axes_are_not_cut_on_a_narrow_page() -> None:
    terms = TermBars([], ["north", "south"])
    bars = ladder([("reads", "cost 0", 0.5, 1.0, 0.4)], limit=None)
    for chart in (terms, bars):
        titles = re.findall(r'class="axis-title"[^>]*>([^<]*)<', str(draw(chart, width=360)))
        assert titles
        assert all("…" not in title.replace(" … ", "") and text_width(title) <= 360 for title in titles)
