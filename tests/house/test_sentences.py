"""Sentences are told to each reader in their own words, and what came from the data is never touched."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import tacit as package
from tacit.cli.commands import tacit
from tacit.cli.wording import COMMAND_LINE, option
from tacit.errors import ArgumentError, Command, Sentence, Setting, sentence, together

SOURCE = Path(package.__file__).parent


def test_a_setting_is_python_in_the_string_and_an_option_on_the_command_line() -> None:
    said = sentence(
        "leave it out ({drop}), or cut it ({bins})", drop=Setting("drop", "id"), bins=Setting("bins", {"age": 10})
    )
    assert said == "leave it out (drop='id'), or cut it (bins={'age': 10})"
    assert said.told(COMMAND_LINE) == "leave it out (--drop id), or cut it (--bins age=10)"


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (Setting("epsilon_low"), "--epsilon-low"),
        (Setting("overwrite", True), "--overwrite"),
        (Setting("released", ["a", "b"]), "--released a,b"),
        (Setting("bins", {"age": [18.0, 30.0]}), "--bins age=18,30"),
        (Setting("drop", "my id"), "--drop 'my id'"),
        (Command("verify", "RELEASE", against="TABLE"), "tacit verify RELEASE --against TABLE"),
    ],
)
def test_the_command_line_spells_every_kind_of_setting(setting: Setting | Command, shown: str) -> None:
    assert setting.told(COMMAND_LINE) == shown


def test_words_of_the_data_are_never_read_again() -> None:
    said = sentence("column '{name}' is odd; {way}", name="{way} --drop 5 nats", way=Setting("drop"))
    assert said.told(COMMAND_LINE) == "column '{way} --drop 5 nats' is odd; --drop"


def test_sentences_join_copy_and_pickle_with_their_parts() -> None:
    said = "Try " + together([sentence("{a}", a=Setting("fresh", True)), "", "now {not a field}"], by=", ") + "."
    for each in (said, copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert isinstance(each, Sentence)
        assert each.told(COMMAND_LINE) == "Try --fresh, now {not a field}."


def test_an_error_is_told_in_the_words_of_the_shell() -> None:
    error = ArgumentError(sentence("say so ({fresh})", fresh=Setting("fresh", True)))
    assert str(error) == "say so (fresh=True)"
    assert error.told(COMMAND_LINE) == "say so (--fresh)"


def test_no_message_that_is_put_together_has_two_spaces_between_words() -> None:
    two = re.compile(r'[a-z;:,]  "$|\+ "  [a-z]|[a-z]:  \{', re.MULTILINE)
    found = {path.name: two.findall(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}
    assert not {name: each for name, each in found.items() if each}


def named_in_sentences() -> Iterator[tuple[str, str, list[str]]]:
    """Where a setting or a command is named in the source, and which."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if node.func.id in ("Setting", "Command") and isinstance(first, ast.Constant):
                    settings = [each.arg for each in node.keywords if each.arg is not None]
                    yield f"{path.name}:{node.lineno}", str(first.value), settings if node.func.id == "Command" else []


def options_of(command: click.Command) -> dict[str, set[str]]:
    """The options of a command, and of those below it, by the words that call them."""
    if not isinstance(command, click.Group):
        return {"": {name for each in command.params for name in each.opts}}
    return {
        f"{name} {below}".strip(): options
        for name, inner in command.commands.items()
        for below, options in options_of(inner).items()
    }


def test_every_setting_and_command_that_a_sentence_names_is_one_of_the_command_line() -> None:
    commands = options_of(tacit)
    every = set().union(*commands.values())
    named = [*named_in_sentences()]
    assert len(named) > 100
    for where, name, settings in named:
        if name in commands:
            assert {option(each) for each in settings} <= commands[name], where
        else:
            assert option(name) in every, where
