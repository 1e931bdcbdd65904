"""What a red team found false in the person lens, and what must not become false again."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.stats import binom

from sizes import few
from tacit.errors import DataError
from tacit.person import (
    Adversary,
    Correlated,
    Label,
    Labels,
    Record,
    Reference,
    Resolve,
    Rules,
    WhatIf,
    components,
    contributions,
    fix_point,
    leakage,
    person_audit,
    person_decoy,
    person_dip,
    person_release,
    read_case,
    record_leakage,
)
from tacit.person.inquiry import loading
from tacit.person.resolve import grouping

Rows = Sequence[Mapping[str, Any]]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tacit_command: Run) -> Run:
    return tacit_command


def write_case(folder: Path, said: Mapping[str, Any], rows: Rows, **about: Any) -> Path:
    """A case with one source, as JSONL."""
    (folder / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    case = {**said, "sources": [{"name": "s", "path": "s.jsonl", **about}]}
    path = folder / "case.yaml"
    path.write_text(yaml.safe_dump(case, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("keep_base", [False, True])
@pytest.mark.parametrize("rules", [Rules([]), Rules([["zip", "town"]])])
def test_a_label_that_weighs_nothing_by_itself_leaks_what_it_shares_in_what_ifs_too(
    rules: Rules, keep_base: bool
) -> None:
    labels = Labels({"zip": Label(weight=0)}, correlated=[Correlated(("zip", "address"), 2)])
    reference = Reference([("zip", "111"), ("address", "Mill Lane"), ("name", "Ann")])
    records = [Record([("zip", "111")])]
    adversary = Adversary("reads", [Resolve(rules)], keep_base=keep_base)
    right = leakage(records, reference, adversary, labels=labels)
    held = WhatIf([], reference, adversary, labels)
    assert right == pytest.approx(2 * 2 / (2 + 4))
    assert WhatIf(records, reference, adversary, labels).leakage == pytest.approx(right)
    assert held.with_record(records[0]) == pytest.approx(right)


@pytest.mark.parametrize("between", few([[], ["normalise"]]))
def test_what_a_second_resolution_joins_with_a_release_is_loaded_from_a_large_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: list[str]
) -> None:
    # The release joins row 1 by e; only together do they have the a and the b of row 2.
    case = write_case(
        tmp_path,
        {
            "person": {"e": "1", "s": "S"},
            "labels": {"b": {"normalise": "text"}},
            "adversaries": [
                {
                    "name": "E",
                    "steps": [{"resolve": {"rules": [["e"]]}}, *between, {"resolve": {"rules": [["a", "b"]]}}],
                }
            ],
            "releases": [
                {"name": "r", "options": [{"name": "o", "attributes": {"e": "1", "b": "x" if not between else "X"}}]}
            ],
        },
        [
            {"e": "1", "a": "zz", "b": None, "t": None},
            {"e": None, "a": "zz", "b": "x", "t": "w"},
            {"e": "3", "a": "q", "b": "q", "t": "q"},
        ],
    )
    whole = person_release(case)
    monkeypatch.setattr(loading, "MOST_WHOLE", 0)
    some = person_release(case)
    assert len(whole.options[0].joins) == 2
    assert some.options == whole.options


def _expected(n: int, worth: Callable[[int], float]) -> float:
    """The expectation of a function of how many of n values held with confidence 0.7 are present."""
    return float(sum(binom.pmf(k, n, 0.7) * worth(k) for k in range(n + 1)))


@pytest.mark.parametrize("n", few([700, 3, 2000]))
def test_thousands_of_doubtful_values_of_one_fact_neither_underflow_nor_take_forever(n: int) -> None:
    # All values are half right, so that only their number counts: 0.3 ** 700 is less than a number can hold.
    labels = Labels({"name": Label(similarity=lambda held, true: 0.5)})
    record = Record([("name", f"v{at}", 0.7) for at in range(n)])
    reference = Reference([("name", "true")])

    def worth(k: int) -> float:
        return 1 / (k + 1) if k else 0.0

    whole = _expected(n, worth)
    assert record_leakage(record, reference, labels=labels) == pytest.approx(whole, rel=1e-12)
    each = contributions(record, reference, labels)
    assert each == pytest.approx(np.full(n, whole - _expected(n - 1, worth)), abs=1e-12 * whole)


@pytest.mark.parametrize("n", few([700, 3, 2000]))
def test_thousands_of_doubtful_values_of_correlated_labels_do_not_underflow(n: int) -> None:
    labels = Labels(correlated=[Correlated(("phone", "address"), 2.0)])
    record = Record([*(("phone", f"v{at}", 0.7) for at in range(n)), ("address", "true")])
    reference = Reference([("address", "true"), ("name", "Ann")])

    def worth(k: int) -> float:
        return 2 * 3 / (k + 1 + 2 + 2 * (k > 0) + 4)

    whole = _expected(n, worth)
    assert record_leakage(record, reference, labels=labels) == pytest.approx(whole, rel=1e-12)
    each = contributions(record, reference, labels)
    assert each[:n] == pytest.approx(np.full(n, whole - _expected(n - 1, worth)), abs=1e-12 * whole)


def test_what_each_value_adds_is_the_leakage_with_it_less_the_leakage_without_it() -> None:
    chance = random.Random(7)
    for _ in range(60):
        labels = Labels(
            {
                "a": Label(
                    weight=chance.choice([0, 1, 5, 1e-3, 1e3]),
                    similarity=(lambda held, true: sum(map(ord, held)) % 7 / 8) if chance.random() < 0.7 else None,
                    single=chance.random() < 0.3,
                ),
                "b": Label(single=chance.random() < 0.3, weight=chance.choice([0, 2])),
            },
            correlated=[Correlated(("a", "b"), chance.choice([0, 1, 3]))] if chance.random() < 0.5 else (),
        )
        facts = {(label, "".join(chance.choices("uvwxyz", k=2))) for label in chance.choices("abc", k=12)}
        record = Record([(*fact, chance.choice([0, 0.2, 0.5, 0.9, 1])) for fact in sorted(facts)])
        reference = Reference({(label, "".join(chance.choices("uvwxyz", k=2))) for label in chance.choices("abc", k=4)})
        whole = record_leakage(record, reference, labels=labels)
        left = [record_leakage(record.without(one), reference, labels=labels) for one in record]
        assert contributions(record, reference, labels) == pytest.approx(whole - np.array(left), abs=1e-11)


def test_a_cluster_of_many_values_is_put_together_in_about_linear_time() -> None:
    # Which members say what was looked for in every member for every value: 10^8 looks for 10^4 of both.
    records = [Record([("mail", "hot"), ("name", f"n{at}")]) for at in range(20_000)]
    joins = Adversary("joins", [Resolve(Rules([["mail"]]))])
    start = time.process_time()
    (cluster,) = joins.holdings(records).clusters
    assert time.process_time() - start < 10
    assert cluster.sources["name", "n7"] == (7,)
    assert len(cluster.sources["mail", "hot"]) == 20_000


def test_a_record_with_very_many_keys_is_found_by_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    # 200 names, cards and phones are eight million keys of a rule with all three.
    many = Record([(label, f"{label}{at}") for label in ("name", "card", "phone") for at in range(200)])
    other = Record([("name", "name1"), ("card", "card2"), ("phone", "phone3")])
    near = Record([("name", "name1"), ("card", "card2"), ("phone", "none")])
    rules = Rules([["name", "card", "phone"]])
    start = time.process_time()
    for find in (components, fix_point):
        assert find([many, near, other], rules) == [frozenset({0, 2}), frozenset({1})]
    held = WhatIf([many, near, other], Reference([("name", "name1")]), Adversary("E", [Resolve(rules)]))
    assert held.without([0]) > 0
    assert time.process_time() - start < 10
    # And whatever counts as very many, nothing changes.
    chance = random.Random(3)
    for _ in range(200):
        some = [
            Record({(label, chance.choice("uvwxyz")) for label in chance.choices("abc", k=6)})
            for _ in range(chance.randint(1, 6))
        ]
        rules = Rules(chance.sample([["a"], ["a", "b"], ["b", "c"], ["a", "b", "c"]], 2))
        monkeypatch.setattr(grouping, "MOST_KEYS", 4096)
        plain = components(some, rules)
        monkeypatch.setattr(grouping, "MOST_KEYS", chance.choice([0, 1, 2]))
        assert components(some, rules) == plain


def test_a_leakage_however_small_is_found_by_the_audit(tmp_path: Path) -> None:
    case = write_case(
        tmp_path,
        {"person": {"a": "A", "b": "B"}, "labels": {"a": {"weight": 1e-9}, "b": {"weight": 1e9}}},
        [{"a": "A"}, {"a": "x"}],
    )
    result = person_audit(case)
    assert result.leakage == pytest.approx(2e-18, rel=1e-12)
    assert result.findings[-1].members == ("s 1",)
    assert "No record" not in result.headline


def test_a_person_of_whom_nothing_weighs_anything_is_refused(tmp_path: Path) -> None:
    said: dict[str, Any] = {"person": {"a": "A"}, "labels": {"a": {"weight": 0}}}
    with pytest.raises(DataError, match="line 2: everything about the person weighs 0"):
        read_case(write_case(tmp_path, said, [{"a": "A", "b": "B"}]))
    said["correlated"] = [{"labels": ["a", "b"], "shared": 1}]
    assert person_audit(write_case(tmp_path, said, [{"a": "A", "b": "B"}])).leakage > 0


DECOYS: dict[str, Any] = {
    "person": {"name": "Ann", "zip": "01234", "card": "4000"},
    "adversaries": [{"name": "E", "steps": [{"resolve": {"rules": [["name"]]}}], "keep_base": False}],
    "decoys": {"budget": 4, "labels": ["name", "card"]},
}


def test_a_plan_of_decoys_says_what_leaks_if_they_are_believed_otherwise_than_planned(tmp_path: Path) -> None:
    truth = {"name": ["Ann"], "card": ["4000"]}
    plan = person_decoy(write_case(tmp_path, DECOYS, [truth], confidence=0.3), show_values=True)
    (decoy,) = plan.records
    row = {"name": [value for _, value in decoy.links], "card": [value for _, value in decoy.false]}
    leaks = []
    for believed in (1.0, 0.3):
        rows = [{**truth, "score": 0.3}, {**row, "score": believed}]
        case = write_case(tmp_path, {**DECOYS, "decoys": None}, rows, confidence={"column": "score"})
        leaks.append(person_audit(case).leakage)
    assert max(leaks) > plan.after["E"] + 0.01
    (note,) = [note for note in plan.notes if "believed as a whole" in note]
    assert f"could be {max(leaks):.2f}" in note
    sure = person_decoy(write_case(tmp_path, DECOYS, [truth]))
    assert not any("believed" in note for note in sure.notes)


def test_a_case_of_precision_alone_is_audited_though_no_decoys_can_be_planned_for_it(tmp_path: Path, run: Run) -> None:
    case = write_case(tmp_path, {**DECOYS, "beta": 0}, [{"name": "Ann", "card": "1"}])
    code, out, _ = run("person", "audit", str(case), "--format", "json")
    assert code == 0
    assert json.loads(out)["leakage"] == pytest.approx(0.5)


# ---------------------------------------------------------------------------------------- values that escape


@pytest.mark.parametrize(
    "called", few(["ann.tell@x.org", "ANN.TELL@X.ORG", "user ann.tell@x.org", "ann.tell＠x.org"], 2)
)
def test_a_record_is_not_called_by_a_value_of_the_person_that_it_does_not_hold_itself(
    tmp_path: Path, called: str
) -> None:
    case = write_case(
        tmp_path,
        {
            "person": {"mail": "ann.tell@x.org", "zip": "01234"},
            "labels": {"mail": {"normalise": "email"}},
            "adversaries": [{"name": "E", "steps": [{"resolve": {"rules": [["zip"]]}}]}],
            "releases": [{"name": "r", "options": [{"name": "o", "attributes": {"zip": "01234"}}]}],
            "queries": [{"name": "q", "attributes": {"zip": "01234"}}],
        },
        [{"mail": called, "zip": "01234"}],
        id="mail",
    )
    for run in (person_audit, person_release, person_dip):
        result: Any = run(case)
        assert "tell" not in repr(result).casefold()
        shown = result.as_text(full=True)
        assert "tell" not in shown.casefold()
        assert "s row 1" in shown


# ------------------------------------------------------------------------------------ files that are not well


@pytest.mark.parametrize(
    "person",
    ["{name: &a [*a]}", "{name: &a [Ann, [*a]]}", "&a {name: Ann, more: *a}"],
)
def test_an_alias_inside_what_it_names_is_refused_with_its_line(tmp_path: Path, person: str) -> None:
    (tmp_path / "s.csv").write_text("name\nAnn\n")
    path = tmp_path / "case.yaml"
    path.write_text(f"sources: [{{name: s, path: s.csv}}]\nperson: {person}\n")
    with pytest.raises(DataError, match="line 2: an alias stands inside what it names"):
        read_case(path)


def test_aliases_of_aliases_do_not_hang_the_reader(tmp_path: Path) -> None:
    lines = ["person:", "  l0: &l0 [a, b, c, d, e, f, g, h, i]"]
    lines += [f"  l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 9)}]" for at in range(1, 12)]
    path = tmp_path / "case.yaml"
    path.write_text("\n".join([*lines, "sources: []"]))
    with pytest.raises(DataError, match="aliases repeat one another"):
        read_case(path)


def test_a_long_chain_of_aliases_is_refused_and_an_ordinary_alias_is_not(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("name\nAnn\n")
    path = tmp_path / "case.yaml"
    chain = "".join(f"  l{at}: &l{at} [*l{at - 1}]\n" for at in range(1, 3000))
    path.write_text(f"person:\n  l0: &l0 [a]\n{chain}sources: [{{name: s, path: s.csv}}]\n")
    with pytest.raises(DataError, match="nest too deeply"):
        read_case(path)
    path.write_text("person: {name: &n Ann, alias: *n}\nsources: [{name: s, path: s.csv}]\n")
    assert read_case(path).reference.facts == (("name", "Ann"), ("alias", "Ann"))


def test_half_a_character_is_refused_with_its_line_wherever_it_stands(tmp_path: Path, run: Run) -> None:
    half = "\\ud800"
    (tmp_path / "s.csv").write_text("name\nAnn\n")
    path = tmp_path / "case.yaml"
    path.write_text(f'sources: [{{name: s, path: s.csv}}]\nperson: {{name: "{half}Ann"}}\n')
    with pytest.raises(DataError, match="line 2: half a character"):
        read_case(path)
    files = {
        "features": f'{{"FEATURES": []}}\n{{"FEATURES": [{{"NAME_FULL": "{half}Ann"}}]}}\n',
        "breaches": f'[{{"Name": "{half}", "DataClasses": ["Names"]}}]',
    }
    for kind, text in files.items():
        (tmp_path / kind).write_text(text)
        path.write_text(f"person: {{name: Ann}}\nsources: [{{name: s, path: {kind}, format: {kind}}}]\n")
        code, _, said = run("person", "audit", str(path))
        assert code == 3
        assert "half a character" in said
        assert "Ann" not in said


def test_what_the_engine_spills_is_nobody_elses_to_read_and_goes_when_the_process_is_told_to(tmp_path: Path) -> None:
    # The process spills by itself, so that the test needs no large table, and then waits to be told.
    code = (
        "import sys, time\n"
        "from tacit.cli.interrupts import prompt\n"
        "from tacit.tables.engines.duckdb import connect\n"
        "with prompt():\n"
        "    held = connect(memory='40MB')\n"
        "    held.execute('CREATE TEMP TABLE t AS SELECT range AS a, hash(range)::VARCHAR AS b FROM range(3000000)')\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (spill,) = tmp_path.iterdir()
    assert any(spill.iterdir())
    assert stat.S_IMODE(spill.stat().st_mode) == 0o700
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (143, "tacit: interrupted; nothing was written\n")
    assert not any(tmp_path.iterdir())


def test_a_page_that_does_not_fit_on_the_disk_leaves_the_old_one_and_nothing_else(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = write_case(tmp_path, {"person": {"name": "Ann"}, "adversaries": [{"name": "E"}]}, [{"name": "Ann"}])
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "page.html").write_text("old")

    def full(self: Path, text: str, **words: Any) -> int:
        self.write_bytes(text[:100].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    code, _, said = run("person", "audit", str(case), "--report", str(pages / "page.html"))
    assert code == 3
    assert f"{pages / 'page.html'}: No space left" in said
    assert [each.name for each in pages.iterdir()] == ["page.html"]
    assert (pages / "page.html").read_text() == "old"
