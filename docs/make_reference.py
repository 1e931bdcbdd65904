"""Write the pages that follow from the code: .venv/bin/python docs/make_reference.py

They are docs/reference/cli.md, docs/reference/api.md and docs/glossary.md.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import click

from tacit.cli.commands import tacit as command
from tacit.lift import MEASURES
from tacit.verbs.explain import TERMS

DOCS = Path(__file__).parent
WRITTEN = "<!-- Written by docs/make_reference.py; do not edit by hand. -->\n\n"

ROOMS = {
    "tacit": "The front door: the verbs, and the types and functions that users name.",
    "tacit.requests": "What a verb is asked: the fields are the keywords of the verbs and the options of the commands.",
    "tacit.lift": "Numbers on joints and channels: measures, promises, partitions, mechanisms, proofs, noise. Pure.",
    "tacit.learn": "Estimators of log-lift, to scikit-learn's contract.",
    "tacit.tables": "Files, databases and frames: rows stay in their engine.",
    "tacit.codes": "Codes: records become cells. The scales of columns: their levels, and how a part reads.",
    "tacit.release": "The release: directory, certificate, claims, checks, keys, ledger.",
    "tacit.document": "What a verb says before it is shown: sections and typed quantities.",
    "tacit.report": "A document as terminal text, page, JSON or notebook.",
    "tacit.lenses.table": "What tables answer.",
    "tacit.lenses.images": "What images answer.",
    "tacit.lenses.text": "What posts answer.",
    "tacit.lenses.vectors": "What vectors answer.",
    "tacit.lenses.coded": "What is answered where images, posts or vectors are released in codes.",
    "tacit.person": "The second lens: records, references, leakage, adversaries, plans, case files.",
}
"""The public rooms, each with what is in it; its ``__all__`` says which names."""


def cli_page() -> str:
    """The help of every command, as the command prints it."""
    parts = ["# The command line\n\n", WRITTEN, "The help of every command, as `tacit COMMAND --help` prints it.\n"]
    parts.append(_section("tacit", command, None))
    group = click.Context(command, info_name="tacit", **command.context_settings)
    parts += _sections("tacit", command, group)
    return "".join(parts)


def _sections(title: str, group: click.Group, parent: click.Context) -> list[str]:
    """The commands of a group, each before its own commands."""
    parts = []
    for name, chosen in sorted(group.commands.items()):
        parts.append(_section(f"{title} {name}", chosen, parent))
        if isinstance(chosen, click.Group):
            context = click.Context(chosen, info_name=name, parent=parent, **chosen.context_settings)
            parts += _sections(f"{title} {name}", chosen, context)
    return parts


def _section(title: str, chosen: click.Command, parent: click.Context | None) -> str:
    settings = {**chosen.context_settings, "terminal_width": 100, "max_content_width": 100}
    context = click.Context(chosen, info_name=title.split()[-1], parent=parent, **settings)
    lines = [line.rstrip() for line in chosen.get_help(context).splitlines()]
    return f"\n## {title}\n\n```text\n" + "\n".join(lines) + "\n```\n"


def api_page() -> str:
    """Every public name of every room with the first sentence of its docstring."""
    parts = [
        "# The Python interface\n\n",
        WRITTEN,
        "The front door, `tacit`, has the verbs and the types that most people name; everything else is imported from\n"
        "its room. The docstring of a name (`help(tacit.audit)`) has its parameters and its guarantees;\n"
        "[from Python](../howto/from-python.md) shows them at work.\n",
    ]
    for room, about in ROOMS.items():
        face = import_module(room)
        if not hasattr(face, "__all__"):
            continue
        parts.append(f"\n## {room}\n\n{about}\n\n")
        for name in sorted(face.__all__, key=lambda name: (not name[0].isupper(), name)):
            value = getattr(face, name)
            about_name = _summary(value)
            parts.append(f"- `{_signature(name, value)}`{': ' + about_name if about_name else ''}\n")
    return "".join(parts)


def _signature(name: str, value: object) -> str:
    if not inspect.isfunction(value):
        return name
    shown, star = [], False
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        shown.append(f"{stars}{parameter.name}{default}")
    return f"{name}({', '.join(shown)})"


def _default(value: object) -> str:
    return value.__name__ if inspect.isfunction(value) else repr(value)


def _summary(value: object) -> str:
    """The first paragraph of a docstring; constants and types have none of their own."""
    if not (inspect.isfunction(value) or inspect.isclass(value)):
        return ""
    first = " ".join((inspect.getdoc(value) or "").split("\n\n", 1)[0].split())
    return re.sub(r":(?:func|class|meth|mod):`~?([^`]*)`", r"`\1`", first).replace("``", "`")


MORE_TERMS = {
    "breach_share": (
        "Of a release with delta above 0: the share of records whose released value is outside epsilon for some "
        "secret. It can be far larger than delta."
    ),
    "cut": (
        "A column of numbers replaced by groups with names such as [30, 50). The release holds the groups, not the "
        "numbers. --bins on the command line, bins= in Python."
    ),
    "estimate": (
        "A number that says of what kind it is: exact, estimate, lower bound or upper bound. Only an exact number or "
        "an upper bound may certify anything."
    ),
    "measure": "A function of a joint that is larger when the release says more about the secret. They are below.",
    "merged": "A released value is merged if every record that has it gets a replacement instead.",
    "promise": "What epsilon implies for another measure: an upper bound that is proved, not computed on the table.",
    "random_state": (
        "A seed, as in scikit-learn. In audit and attack it fixes shuffles and splits. In protect it makes the draws "
        "repeatable, and so guessable: leave it out when you publish, and the system's secure source is used."
    ),
    "risky_set": "The released values whose risk is more than epsilon.",
    "rules": (
        "private/rules.json of a release: which values were merged or mixed and what took their place, so that the "
        "next batch can be treated the same way. Only the owner may see it."
    ),
    "zero cell": (
        "A pair of secret and released value that never occurs. Its log-lift is -inf: whoever sees the value knows "
        "that the secret is not this one. Tacit never skips it."
    ),
}
"""Terms of the documentation that `tacit explain` does not have (yet); one that it gets wins over the text here."""


def glossary_page() -> str:
    """Every term of `tacit explain`, those of the documentation, and every measure."""
    terms = MORE_TERMS | TERMS
    parts = [
        "# Glossary\n\n",
        WRITTEN,
        "One word, one meaning: code, command line, documentation and report use exactly these. Most of them are also\n"
        "shown by `tacit explain NAME`.\n\n## Terms\n\n",
    ]
    parts += [f"**{name}**: {terms[name]}\n\n" for name in sorted(terms, key=str.lower)]
    parts.append("## Measures\n\nA higher number is always riskier. One nat is 1.44 bits (`--bits` shows bits).\n")
    for measure in MEASURES.values():
        parts.append(f"\n### {measure.title}\n\n`{measure.name}`, unit: {_unit(measure.unit)}\n\n")
        parts.append(f"```text\n{measure.formula}\n```\n\n{measure.meaning}\n")
    return "".join(parts)


def _unit(unit: str) -> str:
    return "a plain number" if unit == "1" else unit


PAGES = {"reference/cli.md": cli_page, "reference/api.md": api_page, "glossary.md": glossary_page}


def main() -> None:
    """Write the pages."""
    (DOCS / "reference").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
