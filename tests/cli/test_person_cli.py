"""``tacit person``: exit codes, pure JSON, masked values from end to end, help that a stranger can read."""

from __future__ import annotations

import csv
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sizes import few, many
from tacit.cli.person_commands import person
from tacit.errors import ArgumentError
from tacit.person import read_case
from tacit.person.actions import ACTIONS, action
from tacit.person.actions.asking import Records
from tacit.person.inquiry import narrowed

Run = Callable[..., tuple[int, str, str]]
COMMANDS = ("audit", "release", "dip", "remove", "decoy", "verify-next", "population")
LIMITED = ("dip", "audit", "release", "remove", "decoy", "population")
# What these say depends on every adversary; of the others one will do.
LADDERS = ("audit", "verify-next")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return tacit_command


@pytest.fixture
def case(run: Run) -> str:
    assert run("person", "init", "mine")[0] == 0
    return "mine/case.yaml"


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, ...], tuple[int, str, str]]:
    """What commands have answered about the new case."""
    return {}


@pytest.fixture
def told(run: Run, case: str, answers: dict[tuple[str, ...], tuple[int, str, str]]) -> Run:
    """A command that writes nothing about the new case, which is the same in every folder: it runs once for all."""

    def call(command: str, *words: str) -> tuple[int, str, str]:
        asked = (command, *words)
        if asked not in answers:
            answers[asked] = run("person", command, case, *words)
        return answers[asked]

    return call


# A new case


def test_init_writes_a_case_that_can_be_audited_and_says_how(run: Run, told: Run) -> None:
    code, out, err = run("person", "init", "another")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "Now: tacit person audit another/case.yaml"
    assert all(Path(line).is_file() for line in out.splitlines()[:-1])
    code, out, err = told("audit")
    assert (code, err) == (0, "")
    assert "The ladder" in out


def test_init_overwrites_nothing(run: Run, case: str) -> None:
    before = Path(case).read_bytes()
    code, out, err = run("person", "init", "mine")
    assert (code, out) == (2, "")
    assert err.startswith("tacit: ")
    assert Path(case).read_bytes() == before


# Answers


@pytest.mark.parametrize("command", few(LIMITED))
def test_the_exit_code_is_1_exactly_above_the_limit(run: Run, case: str, told: Run, command: str) -> None:
    words = ("person", command, case, "--adversary", "looks up")
    leakage = json.loads(told(command, "--adversary", "looks up", "--format", "json")[1])["leakage"]
    assert 0 < leakage < 1
    assert run(*words, "--fail-above", repr(leakage), "--quiet")[0] == 0
    code, out, _ = run(*words, "--fail-above", repr(leakage * 0.999))
    assert code == 1
    assert "ABOVE THE LIMIT" in out


def test_a_page_is_written_beside_the_answer(run: Run, case: str) -> None:
    one = ("--adversary", "looks up")
    code, out, err = run("person", "audit", case, *one, "--report", "audit.html", "--fail-above", "0.01")
    assert (code, err) == (1, "")
    assert "LEAKAGE" in out
    assert "The ladder" in Path("audit.html").read_text("utf-8")


@pytest.mark.long
def test_one_adversary_of_many(told: Run) -> None:
    whole = json.loads(told("audit", "--format", "json")[1])
    name = whole["rungs"][1]["adversary"]
    found = json.loads(told("audit", "--adversary", name, "--format", "json")[1])
    assert [rung["adversary"] for rung in found["rungs"]] == [name]
    assert found["leakage"] == whole["rungs"][1]["leakage"]


def test_a_query_from_the_command_line_takes_the_place_of_those_of_the_case(run: Run, case: str) -> None:
    code, out, _ = run("person", "dip", case, "--query", "email=alice@archer.example", "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert {dip["query"] for dip in found["dips"]} == {"query 1"}
    assert max(dip["leakage"] for dip in found["dips"]) > 0.5


def test_records_from_the_command_line_are_options_of_one_release(run: Run, case: str) -> None:
    words = ["--record", "name=Alice Archer,phone=020 7946 0018@0.5", "--record", "employer=Northgate Mills"]
    code, out, _ = run("person", "release", case, *words, "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert [option["option"] for option in found["options"]] == ["record 1", "record 2"]
    assert {option["slot"] for option in found["options"]} == {"release"}


@pytest.mark.long
def test_at_most_bounds_the_requests(run: Run, case: str) -> None:
    words = ("person", "remove", case, "--adversary", "looks up", "--format", "json")
    assert len(json.loads(run(*words, "--at-most", "1")[1])["steps"]) == 1
    assert json.loads(run(*words, "--budget", "0")[1])["steps"] == []


def test_decoys_are_false_in_allowed_labels_alone(run: Run, case: str) -> None:
    found = json.loads(run("person", "decoy", case, "--allow", "phone", "--budget", "4", "--format", "json")[1])
    assert {label for record in found["records"] for label, _ in record["false"]} == {"phone"}
    assert found["budget"] == 4


@pytest.mark.parametrize("name", few(["rows.csv", "rows.parquet"]))
def test_a_population_writes_one_row_per_person(run: Run, case: str, name: str) -> None:
    code, out, err = run("person", "population", case, "--adversary", "looks up", "-o", name, "--format", "json")
    assert (code, err) == (0, "")
    if name.endswith(".csv"):
        assert len(Path(name).read_text("utf-8").splitlines()) == json.loads(out)["persons"] + 1
    assert Path(name).stat().st_size > 0


# Values stay masked


def values_of(folder: Path) -> set[str]:
    """Every value of a person in the case and its sources, as written and as Tacit brings them to one form."""
    found = {value for _, value in read_case(folder / "case.yaml").reference.facts}
    rows = list(csv.reader((folder / "shop.csv").read_text("utf-8").splitlines()))[1:]
    found |= {cell for row in rows for cell in row}
    found |= set(re.findall(r'": "([^"]+)"', (folder / "broker.jsonl").read_text("utf-8")))
    forms = found | {value.casefold() for value in found} | {re.sub(r"\D", "", value) for value in found}
    return {value for value in forms if len(value) >= 6 and value.casefold() not in ("broker", "person")}


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


# Of every action, without the command line, it is tried in tests/person.
@pytest.mark.parametrize("command", few(COMMANDS))
def test_json_is_one_object_and_no_value_of_anybody_is_shown_unless_asked(
    run: Run, case: str, told: Run, command: str
) -> None:
    words = () if command in LADDERS else ("--adversary", "looks up")[: many(2, 0)]
    text = told(command, *words)
    in_json = run("person", command, case, *words, "--format", "json", "--report", "page.html")
    assert [code for code, _, _ in (text, in_json)] == [0, 0]
    assert [err for _, _, err in (text, in_json)] == ["", ""]
    assert json.loads(in_json[1], parse_constant=refuse)["result"].startswith("Person")
    kept = values_of(Path("mine"))
    assert len(kept) > 20
    for told in (*text[1:], *in_json[1:], Path("page.html").read_text("utf-8")):
        assert [value for value in kept if value in told] == []


@pytest.mark.parametrize("command", few(["audit", "dip", "verify-next"]))
def test_values_are_shown_to_whoever_asks(told: Run, command: str) -> None:
    words = () if command in LADDERS else ("--adversary", "looks up")[: many(2, 0)]
    masked, shown = told(command, *words)[1], told(command, *words, "--show-values")[1]
    assert "•••" in masked
    assert "•••" not in shown
    assert "1984-03-12" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["dip", "mine/case.yaml", "--query", "sesame"],
        ["dip", "mine/case.yaml", "--query", "name=sesame,=sesame"],
        ["dip", "mine/case.yaml", "--query", "name=sesame@7"],
        ["dip", "mine/case.yaml", "--query", "name=sesame,name=sesame"],
        ["dip", "mine/case.yaml", "--query", "nmae=sesame"],
        ["release", "mine/case.yaml", "--record", "name=sesame,phone="],
    ],
)
def test_a_refusal_names_labels_and_places_and_no_value(run: Run, case: str, words: list[str]) -> None:
    code, out, err = run("person", *words)
    assert (code, out) == (2, "")
    assert "sesame" not in err
    assert "Traceback" not in err


# Refusals


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["audit"], 2, "CASE.yaml"),
        (["audit", "mine/case.yaml", "--fail-above", "1.5"], 2, "--fail-above"),
        (["audit", "mine/case.yaml", "--bits"], 2, "--bits"),
        (["audit", "mine/case.yaml", "--report", "page.txt"], 2, ".html"),
        (["audit", "mine/case.yaml", "--adversary", "look up"], 2, "did you mean 'looks up'?"),
        (["dip", "mine/case.yaml", "--query", "nmae=x"], 2, "did you mean 'name'?"),
        (["population", "mine/case.yaml", "-o", "rows.xlsx"], 2, ".parquet"),
        (["verify-next", "mine/case.yaml", "--fail-above", "0.5"], 2, "--fail-above"),
        (["init", "mine", "--fail-above", "0.5"], 2, "--fail-above"),
        (["remove", "mine/case.yaml", "--at-most", "0"], 2, "--at-most"),
        (["audit", "nowhere.yaml"], 3, "nowhere.yaml"),
        (["audit", "broken.yaml"], 3, "broken.yaml"),
        (["audit", "mine/orphan.yaml"], 3, "nowhere.csv"),
    ],
)
def test_a_refusal_is_clear_and_has_the_right_exit_code(
    run: Run, case: str, words: list[str], code: int, message: str
) -> None:
    Path("broken.yaml").write_text("person: [name: {\n", "utf-8")
    orphan = "person: {name: Alice}\nsources:\n  - {name: shop, path: nowhere.csv}\n"
    Path("mine/orphan.yaml").write_text(orphan, "utf-8")
    found, out, err = run("person", *words)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
    if err.startswith("tacit: "):
        assert err.count("\n") == 1
    assert not Path("page.txt").exists()


# Words on the command line


def parsed(*values: str) -> list[Any]:
    return [list(record) for record in Records().from_text("query", values)]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("name=Alice", [("name", "Alice", 1.0)]),
        ("name=Alice, phone=555@0.6", [("name", "Alice", 1.0), ("phone", "555", 0.6)]),
        ("email=a@b.org", [("email", "a@b.org", 1.0)]),
        ("email=a@b.org@0.25", [("email", "a@b.org", 0.25)]),
        ('"town=Rye, NY",zip=10580', [("town", "Rye, NY", 1.0), ("zip", "10580", 1.0)]),
        ("url=x?a=b", [("url", "x?a=b", 1.0)]),
        ("handle=@0.6", [("handle", "@0.6", 1.0)]),
    ],
)
def test_a_record_is_read_from_words(written: str, read: list[tuple[str, str, float]]) -> None:
    assert parsed(written) == [read]


@pytest.mark.parametrize("written", ["", "name", "=x", "name=", "name=x@1.5", "name=x@nan", "a=1,a=1"])
def test_words_that_are_no_record_are_refused(written: str) -> None:
    with pytest.raises(ArgumentError, match="query cannot be used"):
        parsed(written)


def test_records_are_named_by_their_option_and_place() -> None:
    assert [r.name for r in Records().from_text("record", ["a=1", "b=2"])] == ["record 1", "record 2"]


def test_a_narrowed_case_keeps_the_order_of_its_adversaries(run: Run, case: str) -> None:
    names = [spec.name for spec in read_case(case).adversaries]
    some = narrowed(case, adversary=names[:0:-1])
    assert [spec.name for spec in some.adversaries] == names[1:]
    whole = read_case(case)
    assert narrowed(whole) is whole
    with pytest.raises(ArgumentError, match="no adversary 'nobody'"):
        narrowed(case, adversary="nobody")


# Actions


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_a_file_and_a_line_and_its_command_has_exactly_its_settings(name: str) -> None:
    found = action(name)
    parameters = inspect.signature(found.run).parameters
    # What all verbs have in common, where and how tables are read, is no parameter of its own.
    assert len(set(parameters) - {"engine", "memory", "remote"}) <= 8
    assert [*parameters] == ["case", *found.settings, "progress"]
    options = {each.name for each in person.commands[name.replace("_", "-")].params}
    assert options == {"case", *found.settings, "report", "format_", "quiet"}
    assert all(set(example) <= set(found.settings) for example in found.examples)


# Help


@pytest.mark.parametrize("command", [None, "init", *COMMANDS])
def test_help_fits_a_screen_has_examples_and_says_the_exit_codes(run: Run, command: str | None) -> None:
    code, out, _ = run("person", *([command] if command else []), "--help")
    assert code == 0
    assert "Usage: tacit person" in out
    assert f"tacit person {command or 'audit'} " in out.split("Options:")[0].split("\n", 2)[2]
    assert "Exit codes: 0 done" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_list_of_commands_is_not_cut(run: Run) -> None:
    listed = run("person", "--help")[1].split("Commands:")[1]
    assert "..." not in listed
    assert set(re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE)) == set(person.commands)


def test_the_first_help_knows_of_persons(run: Run) -> None:
    assert "tacit person audit" in run("--help")[1]


def test_help_of_decoys_says_opt_in_and_what_it_is_not_for(run: Run) -> None:
    told = " ".join(run("person", "decoy", "--help")[1].split())
    assert "opt-in" in told
    assert "False data to banks, insurers or authorities is not what it is for" in told


def test_help_loads_no_numpy() -> None:
    code = (
        "import sys\nfrom tacit.cli import main\n"
        "for command in ([], ['audit'], ['population']):\n"
        "    sys.argv = ['tacit', 'person', *command, '--help']\n"
        "    try:\n        main()\n    except SystemExit as stop:\n        assert stop.code == 0\n"
        "    assert not {'numpy', 'rich', 'duckdb', 'yaml'} & set(sys.modules), (command, sorted(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
