"""What the page asks are the fields of the requests, and the command beside an answer asks the same."""

from __future__ import annotations

import shlex
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given, strategies as st

from served_page import Page
from tacit.cli.commands import tacit as command
from tacit.cli.wording import COMMAND_LINE
from tacit.errors import TacitError
from tacit.requests import Question, settings_of
from tacit.requests.verbs import AUDIT, PROTECT
from tacit.web.asking import verbs

NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8).map(str.strip).filter(bool)
SEVERAL = st.lists(NAMES, min_size=1, max_size=3, unique=True)
NUMBERS = st.floats(0, 100, allow_nan=False)
SETTINGS = st.fixed_dictionaries(
    {"secret": SEVERAL, "epsilon": NUMBERS, "out": st.just("release")},
    optional={
        "known": SEVERAL,
        "least": st.integers(1, 1000),
        "prefer": st.dictionaries(NAMES.filter(lambda name: "=" not in name), NUMBERS, min_size=1, max_size=2),
        "bins": st.dictionaries(NAMES, st.integers(2, 100), min_size=1, max_size=2),
        "also": st.dictionaries(NAMES.filter(lambda n: not set(',"=') & set(n)), NUMBERS, min_size=1, max_size=2),
        "levels": st.dictionaries(
            NAMES, st.sampled_from(["month", "prefix:3", "a<b c", 5, [65], [1.5, 2]]), min_size=1, max_size=2
        ),
        "keep_secret": st.booleans(),
        "mechanism": st.sampled_from(["cells", "watchdog"]),
        "memory": st.just("4GB"),
        "mask": NAMES.filter(lambda text: not text.startswith("-")),
    },
)


@pytest.fixture(scope="module")
def page(shared: Page) -> Page:
    return shared


def typed(line: str) -> dict[str, Any]:
    """What the command line makes of a command."""
    words = shlex.split(line)
    assert words[0] == "tacit"
    chosen: click.Command = command
    place = 1
    while isinstance(chosen, click.Group):
        chosen, place = chosen.commands[words[place]], place + 1
    # A command remembers the names of its help option from the first context it is given.
    whole = click.Context(command, **command.context_settings)
    return chosen.make_context("tacit", words[place:], parent=whole).params


@given(SETTINGS)
@example({"secret": ["0", "="], "epsilon": 0.0, "out": "release"})
@example({"secret": ['a"b,c', "d"], "epsilon": 1e-9, "out": "release"})
def test_the_command_of_a_request_asks_the_same(sent: dict[str, Any]) -> None:
    verb = verbs()["protect"]
    said = verb.read({"source": "-my people.csv", **sent})
    read = typed(verb.command(said, COMMAND_LINE))
    expected = {name: value for name, value in said.items() if value is not False and name != "source"}
    assert str(read.pop("source")) == "./-my people.csv"
    assert {name: read[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("audit", {"source": "faces", "labels": "l.csv", "secret": ["smile"], "patch": [8, 16]}),
        ("person/dip", {"case": "c.yaml", "query": ['name=A B,"town=Rye, NY"', "phone=555@0.6"]}),
        ("person/audit", {"case": "c.yaml", "adversary": ["joins, looks", "reads"], "fail_above": 0.123456789}),
        ("person/decoy", {"case": "c.yaml", "allow": ["phone", "e-mail"], "show_values": True}),
        ("attack", {"release": "r", "against": "p.csv", "known": ["a,b", "c"]}),
        ("verify", {"release": "r", "against": "p.csv"}),
        ("check", {"source": "p.csv", "policy": "mine.toml"}),
    ],
)
def test_the_command_of_any_verb_asks_the_same(verb: str, request_: dict[str, Any]) -> None:
    said = verbs()[verb].read(request_)
    read = typed(verbs()[verb].command(said, COMMAND_LINE))
    for name, value in said.items():
        # Some commands take several sources.
        assert read[name] in (value, str(value), Path(str(value)), (str(value),)), name


def test_a_post_is_piped_into_its_command() -> None:
    verb = verbs()["explain-text"]
    line = verb.command(verb.read({"model": "w.tacit", "text": "it's $me", "epsilon": 0.5}), COMMAND_LINE)
    post, _, rest = line.partition(" | ")
    assert shlex.split(post) == ["printf", "%s", "it's $me"]
    assert rest == "tacit explain-text --model w.tacit --whole --epsilon 0.5"


def test_every_setting_of_the_requests_is_a_field_and_no_other() -> None:
    for name, requests in (("audit", AUDIT), ("protect", PROTECT)):
        fields = {field for request in requests for field in settings_of(request)}
        assert set(verbs()[name].settings) - {"out"} == fields
    assert verbs()["audit"].settings["secret"].help == settings_of(Question)["secret"].help


@pytest.mark.parametrize("name", verbs())
def test_every_verb_has_a_schema_for_a_form(name: str) -> None:
    schema = verbs()[name].schema()
    assert set(schema["required"]) <= set(schema["properties"])
    assert all(each["description"] for each in schema["properties"].values())
    assert schema["description"]


def test_schemas_are_served_and_an_unknown_verb_is_named_none(page: Page) -> None:
    assert page.script.get("/api/schema/person/verify-next").json() == verbs()["person/verify-next"].schema()
    answer = page.script.get("/api/schema/sniff")
    assert answer.status_code == 404
    assert "audit" in answer.json()["message"]


@pytest.mark.parametrize(
    ("verb", "request_", "status", "message"),
    [
        ("audit", {"source": "p.csv", "epsilon": -1}, 400, "--epsilon -1 cannot be used: it must be between 0 and 100"),
        ("audit", {"source": "p.csv", "secret": ["a", "a"]}, 400, "column 'a' is named twice"),
        ("audit", {"source": "p.csv", "secrte": "race"}, 422, "secrte: extra inputs are not permitted"),
        ("audit", {"secret": "race"}, 422, "source: field required"),
        ("audit", {"source": None}, 422, "source: field required"),
        ("verify", {"release": None}, 422, "release: field required"),
        ("person/audit", {"case": None}, 422, "case: field required"),
        ("explain-text", {"model": "x", "text": None}, 422, "text: field required"),
        ("protect", {"source": "p.csv", "secret": "race", "out": None}, 422, "out: field required"),
        ("audit", {"source": "p.csv", "secrte": None}, 422, "secrte: extra inputs are not permitted"),
        ("audit", {"source": "p.csv", "secret": {"a": 1}}, 400, "the values of a column are texts"),
        ("audit", {"source": "p.csv", "secret": {"illness": None}}, 400, "the values of a column are texts"),
        ("audit", {"source": 5}, 400, "--source 5 cannot be used: it must be a path"),
        ("protect", {"source": "p.csv", "secret": "race"}, 422, "out: field required"),
        ("protect", {"source": "p.csv", "out": "people.csv"}, 400, "there is a file of that name"),
        ("audit", {"source": "p.csv", "scores": "people.csv"}, 400, "there is a file of that name"),
        ("attack", {"release": "r"}, 422, "against: field required"),
        ("person/dip", {"case": "c.yaml", "query": [{}]}, 400, "number 1 has no values"),
        ("explain-text", {"model": "m.tacit"}, 422, "text: field required"),
        ("audit", [], 422, "the request: input should be"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once_in_the_words_of_the_command_line(
    page: Page, verb: str, request_: Any, status: int, message: str
) -> None:
    answer = page.script.post(f"/api/{verb}", json=request_)
    assert (answer.status_code, answer.json()["code"]) == (status, 2), answer.text
    assert message in answer.json()["message"]
    assert page.script.get("/api/jobs").json() == []


@pytest.mark.parametrize("name", verbs())
def test_odd_values_of_any_field_are_read_or_refused_in_words(name: str) -> None:
    odd = (0, -1.5, True, "", "x", [], {}, [None], [[1]], [{}], {"a": 1}, {"a": None}, {"a": {"b": []}}, {"a": [None]})
    verb = verbs()[name]
    for field, value in product(verb.fields, odd):
        with suppress(TacitError):
            needed = dict.fromkeys((verb.subject, *verb.required), "x")
            verb.command(verb.read({**needed, field: value}), COMMAND_LINE)


def test_no_refusal_tells_a_value_of_a_person(page: Page) -> None:
    answer = page.script.post("/api/person/dip", json={"case": "c.yaml", "query": [{"name": "Alice", "phone": ""}]})
    assert answer.status_code == 400
    assert "Alice" not in answer.text


def test_records_are_typed_or_objects() -> None:
    dip = verbs()["person/dip"]
    typed_, given_ = (
        dip.read({"case": "c.yaml", "query": query})["query"]
        for query in (["name=Al,phone=555"], [{"name": "Al", "phone": "555"}])
    )
    assert typed_ == given_


def test_infinity_and_combinations_are_read_as_they_are_written_in_json() -> None:
    said = verbs()["protect"].read(
        {"source": "p.csv", "out": "r", "epsilon_max": "inf", "also": {"race,sex": 0.5}, "secret": {"ill": ["B20"]}}
    )
    assert said["epsilon_max"] == float("inf")
    assert said["also"] == {("race", "sex"): 0.5}
    assert said["secret"] == {"ill": ("B20",)}
