"""Settings are declared once: keywords, options and the schema agree, and a wrong value is refused by its name."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import tacit
import tacit.person
from tacit.cli.commands import tacit as command
from tacit.cli.wording import COMMAND_LINE, option
from tacit.errors import ArgumentError
from tacit.person.actions import ACTIONS
from tacit.requests import Bound, Learning, Look, Making, Question, asked, given, schema, settings_of
from tacit.requests.names import ENGINES, MECHANISMS, MEDIA
from tacit.requests.verbs import ATTACK, AUDIT, CHECK, PROTECT, VERIFY
from tacit.verbs import keywords

VERBS = {"audit": AUDIT, "protect": PROTECT, "verify": VERIFY, "attack": ATTACK, "check": CHECK}


def fields(requests: tuple[type, ...]) -> set[str]:
    return {name for request in requests for name in settings_of(request)}


@pytest.mark.parametrize("verb", ["audit", "protect"])
@pytest.mark.parametrize("lens", ["table", "images", "text", "vectors"])
def test_the_keywords_that_type_checkers_see_are_the_settings_of_each_lens(verb: str, lens: str) -> None:
    twin = set(get_type_hints(getattr(keywords, f"{verb.capitalize()}{lens.capitalize()}")))
    # What chooses the lens is a parameter of the overload; audit refuses a use of images, posts and vectors.
    chooser = {"images": {"labels"}, "text": {"text"}, "vectors": {"vector"}}.get(lens, set())
    refused = {"use"} if verb == "audit" and lens != "table" else set()
    settings = {name for request in VERBS[verb] for name, facts in settings_of(request).items() if lens in facts.lenses}
    assert twin | chooser == settings - refused


@pytest.mark.parametrize("verb", VERBS)
def test_every_setting_is_an_option_of_the_same_name_and_part_of_the_schema(verb: str) -> None:
    options = {word for each in command.commands[verb].params for word in each.opts}
    assert {option(name) for name in fields(VERBS[verb])} <= options
    properties = schema(VERBS[verb])["properties"]
    assert set(properties) == fields(VERBS[verb])
    assert all(properties[name]["description"] for name in properties)


@pytest.mark.parametrize("action", ACTIONS)
def test_every_parameter_of_a_person_action_is_an_option_of_the_same_name(action: str) -> None:
    parameters = set(inspect.signature(getattr(tacit.person, f"person_{action}")).parameters) - {"case", "progress"}
    options = {
        word for each in command.commands["person"].commands[action.replace("_", "-")].params for word in each.opts
    }
    assert {option(name) for name in parameters} <= options
    # What all verbs have in common, where and how tables are read, is no parameter of its own.
    assert len(parameters - {"engine", "memory", "remote"}) <= 6


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_at_most_eight_parameters_of_its_own(verb: str) -> None:
    parameters = inspect.signature(getattr(tacit, verb)).parameters.values()
    assert sum(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters) <= 8


def test_help_names_every_default_that_is_not_nothing() -> None:
    # A command remembers how the first that asked called for help, so ask as the command line does.
    group = click.Context(command, **command.context_settings)
    context = click.Context(command.commands["audit"], parent=group)
    shown = " ".join(command.commands["audit"].get_help(context).split())
    for default in ("[default: counts]", "[default: 0.1]", "[default: duckdb]", "[default: 30]"):
        assert default in shown


@pytest.mark.parametrize(
    ("request_type", "settings", "message"),
    [
        (Question, {"secret": ["race", "race"]}, "column 'race' is named twice"),
        (Question, {"secret": "race", "released": ["age", "race"]}, "named in both secret and released"),
        (Question, {"secret": "race", "known": ["age", "race"]}, "named in both secret and known"),
        (Question, {"secret": "race", "use": "race"}, "named in both secret and use"),
        (Question, {"bins": {"age": -5}}, "between 2 and 100 groups"),
        (Question, {"bins": {"age": [30, 18]}}, "rising order"),
        (Question, {"bins": {"age": [18, math.inf]}}, "rising order"),
        (Question, {"engine": "sqlite"}, "choose one of duckdb, spark"),
        (Question, {"levels": 5}, "it maps columns to their levels"),
        (Question, {"levels": {"age": 0}}, "a step is a number above 0"),
        (Question, {"levels": {"age": True}}, "it must be a step"),
        (Question, {"levels": {"age": []}}, "it must be a step"),
        (Question, {"levels": {"age": [30, 18]}}, "rising order"),
        (Question, {"levels": {"age": [30, "old"]}}, "numbers, or values in their order"),
        (Question, {"levels": {"age": ["old"]}}, "at least two values"),
        (Question, {"levels": {"age": "low<low"}}, "each of them once"),
        (Question, {"levels": {"day": "fortnight"}}, "it must be a step"),
        (Question, {"levels": {"zip": "prefix:0"}}, "it must be a step"),
        (Bound, {"epsilon": -0.1}, "between 0 and 100"),
        (Bound, {"epsilon": math.nan}, "it must be a number"),
        (Bound, {"epsilon": True}, "it must be a number"),
        (Bound, {"also": {"sex": -1}}, "0 or more"),
        (Bound, {"also": {("sex", "sex"): 1}}, "named twice"),
        (Bound, {"least": 0}, "1 or more"),
        (Bound, {"least": 2.5}, "whole number"),
        (Making, {"recode": "both"}, "choose one of local, global"),
        (Making, {"write": "numbers"}, "choose one of text, means"),
        (Making, {"prefer": {"age": -1}}, "0 or more"),
        (Making, {"prefer": {"age": math.inf}}, "a finite number"),
        (Making, {"prefer": {"": 1}}, "an empty column name"),
        (Making, {"prefer": ["age"]}, "maps columns to numbers"),
        (Making, {"keep_secret": "yes"}, "True or False"),
        (Look, {"shuffles": 20.5}, "whole number"),
        (Learning, {"model": 3}, "it must be a path"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_its_name(request_type: Any, settings: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as refusal:
        request_type(**settings)
    assert next(iter(settings)) in str(refusal.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--secret", "race,race"), "column 'race' is named twice"),
        (("--secret", "race", "--secret", "race"), "column 'race' is named twice"),
        (("--secret", "race", "--bins", "age=-5"), "--bins age=-5 cannot be used"),
        (("--secret", "race", "--bins", "age"), "neither COLUMN=10"),
        (("--secret", "race", "--bins", "age=3", "--bins", "age=4"), "cut twice"),
        (("--secret", "race", "--levels", "age"), "it must be COLUMN=LEVELS"),
        (("--secret", "race", "--levels", "age=5", "--levels", "age=10"), "given levels twice"),
        (("--secret", "race", "--levels", "age=old"), "--levels age=old cannot be used"),
        (("--secret", "race", "--epsilon", "much"), "it must be a number"),
        (("--secret", "race", "--drop", "a,,b"), "an empty column name"),
        (("--secret", "race", "--use", "race"), "named in both --secret and --use"),
    ],
)
def test_the_command_line_refuses_the_same_in_its_own_words(
    tacit_command: Any, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    code, out, err = tacit_command("audit", str(tmp_path / "people.csv"), *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert not out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--prefer", "age"), "it must be COLUMN=NUMBER, such as age=2"),
        (("--prefer", "age=much"), "it must be COLUMN=NUMBER, such as age=2"),
        (("--prefer", "age=1", "--prefer", "age=2"), "column 'age' is named twice"),
        (("--least", "0"), "--least 0 cannot be used"),
    ],
)
def test_weights_and_the_fewest_people_are_read_from_the_command_line(
    tacit_command: Any, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    source = (str(tmp_path / "people.csv"), "--secret", "race", "--epsilon", "1", "-o", str(tmp_path / "out"))
    code, _, err = tacit_command("protect", *source, *words)
    assert code == 2
    assert message in " ".join(err.split())


def test_weights_typed_and_weights_given_are_the_same() -> None:
    kind = settings_of(Making)["prefer"].kind
    assert kind.from_text("prefer", ["age=2", "a=b=0.5"]) == Making(prefer={"age": 2, "a=b": 0.5}).prefer


def test_a_column_may_be_known_used_and_released_at_once() -> None:
    question = Question("p.csv", secret="race", released=["age"], known="age", use=["age", "income"], drop="income")
    assert (question.known, question.use) == (("age",), ("age", "income"))


@pytest.mark.parametrize(
    ("typed", "said", "kept"),
    [
        ("5", 5, 5.0),
        ("2.5", 2.5, 2.5),
        ("18,30,65", [18, 30, 65], (18.0, 30.0, 65.0)),
        ("65,", [65], (65.0,)),
        ("month", "month", "month"),
        ("any", "any", "any"),
        ("prefix:3", "prefix:3", "prefix:3"),
        ("low < medium<high", ["low", "medium", "high"], ("low", "medium", "high")),
        ("jobs.csv", Path("jobs.csv"), Path("jobs.csv")),
        ("values", "values", "values"),
        ("whole", "whole", "whole"),
    ],
)
def test_levels_are_the_same_typed_and_in_python(typed: str, said: Any, kept: Any) -> None:
    kind = settings_of(Question)["levels"].kind
    assert kind.from_text("levels", [f"a=b={typed}"]) == {"a=b": kept}
    assert Question("p.csv", levels={"a=b": said}).levels == {"a=b": kept}
    assert Question("p.csv", levels={"a=b": kept}).levels == {"a=b": kept}


def test_an_unknown_setting_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ArgumentError, match="audit has no setting secrte; did you mean secret"):
        tacit.audit("people.csv", secrte="race")  # type: ignore[call-overload]


def test_a_question_and_its_settings_are_the_same() -> None:
    question, look, learning = asked(AUDIT, "p.csv", [], {"secret": "race", "epsilon": 1}, verb="audit")
    assert question == Question("p.csv", secret=("race",))
    again = asked(AUDIT, Question("p.csv", secret="race"), [Look(epsilon=1.0)], {}, verb="audit")
    assert again == (question, look, learning)
    changed = asked(AUDIT, Question("p.csv", secret="race"), [Look(epsilon=1.0)], {"epsilon": 2}, verb="audit")
    assert changed[1].epsilon == 2


def test_a_request_of_another_verb_or_two_of_a_kind_are_refused() -> None:
    with pytest.raises(ArgumentError, match="audit takes no Bound; it takes Question, Look, Learning"):
        tacit.audit("people.csv", Bound(epsilon=1))
    with pytest.raises(ArgumentError, match="was given two of one"):
        tacit.audit(Question("people.csv"), Question("people.csv"))


def test_the_names_to_choose_from_are_those_that_can_be_made() -> None:
    from tacit.lenses.table.mechanisms import mechanism_of
    from tacit.tables.engines import engine_class

    assert all(callable(mechanism_of(name)) for name in MECHANISMS)
    assert [engine_class(name).name for name in ENGINES] == list(ENGINES)
    assert schema([Making])["properties"]["mechanism"]["enum"] == ["auto", *MECHANISMS, *MEDIA]
    assert schema([Question])["properties"]["engine"]["enum"] == list(ENGINES)


def test_settings_that_were_given_are_told_from_defaults() -> None:
    assert given([Bound(epsilon=0.0, delta=0.0), Making()]) == {"epsilon": 0.0, "delta": 0.0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"secret": "s", "patch": 8}, "patch=\\(8,\\) is not for tables"),
        ({"secret": "s", "text": "t", "bins": {"a": 3}}, "is not for posts"),
        ({"secret": ["s", "t"], "text": "x"}, "name one secret"),
    ],
)
def test_settings_of_another_lens_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        tacit.audit("people.csv", **settings)


def test_a_refusal_names_options_on_the_command_line() -> None:
    with pytest.raises(ArgumentError) as refusal:
        tacit.audit("people.csv", secret="s", patch=8)  # type: ignore[call-overload]
    assert "--patch 8 is not for tables" in refusal.value.told(COMMAND_LINE)
