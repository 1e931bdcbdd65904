"""Sentences are told to each reader in their own words, and what came from the data is never touched."""

from __future__ import annotations

import copy
import pickle

import pytest

from tacit.cli.wording import COMMAND_LINE
from tacit.errors import ArgumentError, Command, Sentence, Setting, sentence, together


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
