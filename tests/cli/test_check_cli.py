"""``tacit check``: exit codes, and what pipelines read of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from places import ROOT
from tables_of_people import clinic, write_csv
from tacit import CheckResult
from tacit.release.policy.lines import CheckedSource, PolicyCheck

Tacit = Callable[..., tuple[int, str, str]]
POLICY = 'secret = "illness"\nepsilon = {epsilon}\nleast = 5\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    columns = clinic(2_000)
    write_csv(tmp_path / "people.csv", {name: columns[name] for name in ("illness", "age", "district")})
    for name, epsilon in (("tacit.toml", 3.0), ("strict.toml", 0.01)):
        Path(name).write_text(POLICY.format(epsilon=epsilon))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_exit_code_says_whether_it_may_go_on(tacit_command: Tacit) -> None:
    assert tacit_command("check", "people.csv")[0] == 0
    code, out, _ = tacit_command("check", "people.csv", "--policy", "strict.toml")
    assert code == 1
    assert "people.csv does not keep the policy: epsilon of illness" in " ".join(out.split())
    Path("wrong.toml").write_text("epsilonn = 1")
    code, out, err = tacit_command("check", "people.csv", "--policy", "wrong.toml")
    assert (code, out) == (2, "")
    assert "did you mean 'epsilon'?" in err
    assert tacit_command("check", "people.csv", "--policy", "nothing.toml")[0] == 2
    assert tacit_command("check")[0] == 2
    assert tacit_command("check", "nothing.csv")[0] == 3


@pytest.mark.usefixtures("folder")
def test_junit_has_a_suite_for_each_source_and_a_test_for_each_line(tacit_command: Tacit) -> None:
    words = ("check", "people.csv", "./people.csv", "--policy", "strict.toml")
    code, out, _ = tacit_command(*words, "--format", "junit")
    assert code == 1
    root = ElementTree.fromstring(out.encode())
    assert (root.tag, root.attrib["tests"], root.attrib["failures"]) == ("testsuites", "4", "2")
    for suite in root:
        assert (suite.tag, suite.attrib["tests"], suite.attrib["failures"]) == ("testsuite", "2", "1")
        assert [test.tag for test in suite] == ["testcase", "testcase"]
        assert [len(test.findall("failure")) for test in suite] == [1, 0]
        assert "nats, where" in suite[0][0].attrib["message"]
    bits = tacit_command(*words, "--format", "junit", "--bits")[1]
    assert " bits, where" in bits


@pytest.mark.usefixtures("folder")
def test_sarif_has_what_its_schema_requires(tacit_command: Tacit) -> None:
    code, out, _ = tacit_command("check", "people.csv", "--policy", "strict.toml", "--format", "sarif")
    assert code == 1
    checked_sarif(json.loads(out), ["people.csv"])
    assert json.loads(tacit_command("check", "people.csv", "--format", "sarif")[1])["runs"][0]["results"] == []


@pytest.mark.usefixtures("folder")
def test_a_source_that_cannot_be_read_is_an_error_in_a_document_that_has_the_others(tacit_command: Tacit) -> None:
    words = ("check", "people.csv", "nothing.csv", "--format")
    (code, junit, err), (_, sarif, _), (_, answer, _) = (
        tacit_command(*words, each) for each in ("junit", "sarif", "json")
    )
    assert code == 3
    assert err.startswith("tacit: ")
    root = ElementTree.fromstring(junit.encode())
    assert [(suite.attrib["failures"], suite.attrib["errors"]) for suite in root] == [("0", "0"), ("0", "1")]
    assert "nothing.csv" in root[1][0].findall("error")[0].attrib["message"]
    checked_sarif(json.loads(sarif), ["people.csv", "nothing.csv"])
    assert json.loads(sarif)["runs"][0]["invocations"] == [{"executionSuccessful": False}]
    told = json.loads(answer)
    assert told["verdict"] == "error"
    assert "nothing.csv" in told["sources"][1]["checks"][0]["detail"]
    assert all(line["passed"] for line in told["sources"][0]["checks"])


def checked_sarif(log: dict[str, Any], uris: list[str]) -> None:
    """The fields that SARIF 2.1.0 requires, and those that GitHub asks for besides."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "Tacit"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert {each["location"]["uri"] for each in run["artifacts"]} == {*uris}
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] in uris
        assert place["region"]["startLine"] >= 1
        assert result["partialFingerprints"]


def test_odd_names_break_neither_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = PolicyCheck('epsilon of "<&\x00\x1b]]>\ud800', None, "<script>\x08 & 'x'", "epsilon")
    sources = [
        CheckedSource("a b/ü#?.csv", "table", (line,)),
        CheckedSource("out.duckdb::people", "table", (line,)),
        CheckedSource("r", "release", (line,)),
        CheckedSource("/elsewhere/p.csv", "table", (line,)),
    ]
    result = CheckResult.of("tacit.toml", tuple(sources))
    root = ElementTree.fromstring(result.to_junit().encode())
    assert root[0][0].attrib["name"].startswith('epsilon of "<&')
    assert root[0][0][0].attrib["type"] == "not checked"
    uris = ["a%20b/%C3%BC%23%3F.csv", "out.duckdb", "r/certificate.json", "file:///elsewhere/p.csv"]
    checked_sarif(json.loads(result.to_sarif()), uris)


def test_the_json_is_one_object_and_names_the_rules_that_were_checked(folder: Path, tacit_command: Tacit) -> None:
    code, out, _ = tacit_command("check", "people.csv", "--format", "json")
    answer = json.loads(out)
    assert (code, answer["result"], answer["verdict"]) == (0, "CheckResult", "passes")
    assert {each["rule"] for each in answer["sources"][0]["checks"]} == {"epsilon", "least"}
    page = folder / "gate.html"
    assert tacit_command("check", "people.csv", "--report", str(page), "--quiet")[0] == 0
    assert "keeps the policy" in page.read_text("utf-8")


def test_the_hooks_of_pre_commit_call_commands_there_are(folder: Path, tacit_command: Tacit) -> None:
    yaml = pytest.importorskip("yaml")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert {hook["id"] for hook in hooks} == {"tacit-check-tables", "tacit-check-releases"}
    for hook in hooks:
        assert {"id", "name", "entry", "language", "files"} <= set(hook)
        command, *words = hook["entry"].split()
        assert command == "tacit"
        if hook["id"] == "tacit-check-tables":
            assert tacit_command(*words, str(folder / "people.csv"))[0] == 0
