"""Odd arguments: the commands as they are, with options whose values nobody thought of."""

from __future__ import annotations

from random import Random
from typing import Any

import click

from fuzzing.targets import Words

NUMBERS = (
    *("-1", "0", "1", "1e-9", "0.5", "1e308", "1e999", "-0.0", "nan", "inf", "-inf", "1_000", "٣", "0x10", "1.5", "99"),
    *(str(2**31), str(2**32), str(2**40), str(2**64), "1e400", "1" * 400, "1e-400"),
)
TEXTS = (
    *(
        "",
        " ",
        "\n",
        "\0",
        "\udcff",
        "a\nb",
        "'",
        '"',
        '""',
        '"a',
        ",",
        ",,",
        "=",
        "==",
        "a=",
        "=1",
        "%",
        "*",
        "--",
        "-",
    ),
    *("[" * 100_000, "x" * 70_000, "é\u202e", "<b>", "DROP TABLE people", "age;age", "../..", "{}", "{0}", "\\", "👩‍⚕️"),
)
COLUMNS = ("illness", "age", "ward", "born", "income", "district", "Age", "age,ward", "illness=asthma", "age,age")
LEVELS = (
    *("age=5", "income=5", "income=0", "income=-1", "income=1e-300", "income=1,2,3", "income=3,2", "income=nan"),
    *("born=month", "born=day", "born=prefix", "born=prefix:3", "born=prefix:-1", "born=prefix:1e9", "age=a<b"),
    *("age=18-39<40-59<60+", "age=p.csv", "age=nothing.csv", "age=whole", "age=any", "age=<", "age=", "nobody=5"),
)
# No devices: as root, what writes over one would take it from the machine. A pipe in the folder stands for them.
PATHS = ("p.csv", "r", "tacit.toml", "m.tacit", "case.yaml", ".", "/", "pipe", "nothing", "nothing/x", "new.tacit")
PATHS += ("new.html", "new.csv", "new.parquet", "p.csv::x", "ftp://x/p.csv", "x" * 300, "y/" * 3000, "~", "p.csv/")
PAIRS = ("name=A", "name=A,phone=1@0.5", "name=A@2", "name", "@", "=@", "nobody=1", "name=A@nan", "phone=,,", "name=\0")
# Java takes seconds to start, and nets seconds to learn: they have tests of their own.
SLOW = ("spark", "auto", "neural", "net", "trees")
BASES: tuple[tuple[Words, Words], ...] = (
    (("audit",), ("audit", "p.csv", "--secret", "illness", "--released", "age")),
    (("protect",), ("protect", "p.csv", "--secret", "illness", "--released", "age", "--epsilon", "1", "-o", "out")),
    (("verify",), ("verify", "r", "--against", "p.csv")),
    (("attack",), ("attack", "r", "--against", "p.csv")),
    (("check",), ("check", "r", "p.csv", "--policy", "tacit.toml")),
    (("explain-text",), ("explain-text", "--model", "m.tacit")),
    (("explain",), ("explain", "epsilon")),
    *(
        (("person", action), ("person", action, "case.yaml"))
        for action in ("audit", "release", "dip", "remove", "decoy", "verify-next", "population", "init")
    ),
)
WEIGHTS = (6, 8, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5)


def odd_words(rng: Random) -> Words:
    """A command that works, with one to four things odd about it."""
    path, base = rng.choices(BASES, WEIGHTS)[0]
    words = list(base)
    for _ in range(1 + min(int(rng.expovariate(1.2)), 3)):
        way = rng.random()
        if way < 0.85 or len(words) <= len(path):
            words += _option(_command(path), rng)
        elif way < 0.95:
            words[rng.randrange(len(path), len(words))] = _value(None, rng)
        else:
            del words[rng.randrange(len(words))]
    return tuple(words)


def _command(path: Words) -> click.Command:
    from tacit.cli.commands import tacit

    found: Any = tacit
    for name in path:
        found = found.commands[name]
    return found


def _option(command: click.Command, rng: Random) -> list[str]:
    options = [each for each in command.params if isinstance(each, click.Option)]
    if not options:
        return [_value(None, rng)]
    option = rng.choice(options)
    name = rng.choice(option.opts)
    return [name] if option.is_flag and rng.random() < 0.95 else [name, _value(option, rng)]


def _value(option: click.Option | None, rng: Random) -> str:
    if option is not None and isinstance(option.type, click.Choice) and rng.random() < 0.8:
        return rng.choice([str(each) for each in option.type.choices if each not in SLOW])
    likely = _likely(option)
    pool = likely if likely and rng.random() < 0.6 else rng.choice((NUMBERS, TEXTS, COLUMNS, PATHS, LEVELS, PAIRS))
    value = rng.choice(pool)
    if option is not None and rng.random() < 0.1:
        value += rng.choice(("=", ",", ":")) + rng.choice(rng.choice((NUMBERS, TEXTS, COLUMNS)))
    return value


def _likely(option: click.Option | None) -> tuple[str, ...]:
    """Values of the kind that the option takes."""
    if option is None:
        return PATHS
    shown = f"{option.metavar or ''} {option.name}"
    if any(word in shown for word in ("levels",)):
        return LEVELS
    if any(word in shown for word in ("FILE", "labels", "report", "out", "rules", "ORIGINAL", "TABLE")):
        return PATHS
    if "LABEL=" in shown:
        return PAIRS
    return COLUMNS if "COL" in shown else NUMBERS
