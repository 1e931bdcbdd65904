"""Write the pages that follow from the code: .venv/bin/python docs/make_reference.py

They are docs/reference/cli.md, docs/reference/api.md and docs/glossary.md.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click

import tacit
from tacit.cli.commands import tacit as command
from tacit.workflows.explaining import TERMS

DOCS = Path(__file__).parent
WRITTEN = "<!-- Written by docs/make_reference.py; do not edit by hand. -->\n\n"

GROUPS: dict[str, tuple[str, ...]] = {
    "Workflows": ("audit", "protect", "verify", "attack", "explain", "open_table", "write_report"),
    "Results": ("AuditResult", "ProtectResult", "VerifyResult", "AttackResult", "Certificate", "Estimate"),
    "Joint and channel": ("Joint", "Channel"),
    "Log-lift and risk": (
        "log_lift", "risk", "max_lift", "min_lift", "pointwise_maximal_leakage", "is_private",
    ),
    "Leakage measures": (
        "MEASURES", "mutual_information", "sibson", "arimoto", "maximal_leakage", "guessing_probability", "local_dp",
        "f_information", "e_gamma", "entropy",
    ),
    "What epsilon promises": (
        "promises", "guessing_bound", "watchdog_bound_exact", "watchdog_bound_tight", "watchdog_bound_printed",
    ),
    "Partitions and mechanisms": (
        "critical_epsilons", "partition", "Partition", "nmil", "set_risk", "delta_of", "delta_total", "chain",
        "watchdog", "WatchdogChannel", "funnel", "egamma_partition",
    ),
    "The optimal mechanism": (
        "optimal", "MixtureChannel", "assignment", "linear_reduction", "ReductionChannel", "alpha_lift",
    ),
    "Certificates from samples": (
        "certified_partition", "CertifiedPartition", "certify_counts", "certify_any", "certify_growing",
        "CountCertificate", "certify_delta", "DeltaCertificate", "records_needed", "RecordsNeeded", "split_counts",
    ),
    "Several releases": (
        "compose", "compose_table", "compose_given_secret", "compose_bounds", "Composition", "ReleaseBound",
        "dp_epsilon",
    ),
    "Gaussian obfuscation": (
        "gaussian_delta", "gaussian_scale", "obfuscation_delta", "obfuscation_floor", "obfuscation_scale", "vacuous",
        "compose_deltas", "tail_bound", "e_gamma_of_log_lift", "e_gamma_counts", "e_gamma_scores", "GridGaussian",
        "secure_words",
    ),
    "Learned log-lift": (
        "AutoLogLift", "ClassifierLogLift", "NeuralLogLift", "CountLogLift", "PrefixLogLift", "evidence_of", "Watchdog",
        "FeatureObfuscator", "save_model", "load_model",
    ),
    "Images": ("audit_images", "protect_images", "open_images", "HogClassifier"),
    "Text": (
        "audit_text", "protect_text", "explain_text", "TextAuditResult", "TextProtectResult", "TextCertificate",
        "TextExplanation", "TextModel",
    ),
    "A person: cases": (
        "person_init", "read_case", "Case", "person_audit", "person_release", "person_dip", "person_remove",
        "person_decoy", "person_verify_next", "person_population", "PersonAuditResult", "PersonReleaseResult",
        "PersonDipResult", "PersonRemoveResult", "PersonDecoyResult", "PersonVerifyResult", "PersonPopulationResult",
    ),
    "A person: records and labels": (
        "Record", "Attribute", "Reference", "Label", "Labels", "Correlated", "normaliser", "similarity", "prior_of",
        "shared_weights",
    ),
    "A person: leakage": (
        "record_leakage", "leakage", "record_precision", "record_recall", "correctness", "completeness", "f_beta",
        "contributions", "record_leakages", "leakage_batch",
    ),
    "A person: adversaries": (
        "Adversary", "Cost", "Normalise", "Correct", "Augment", "Generalise", "Resolve", "Rules", "Clusters",
        "exposure", "Exposure", "ladder", "Resolver", "fix_point", "r_swoosh",
    ),
    "A person: what to do": (
        "WhatIf", "incremental_leakage", "best_release", "BestRelease", "dip", "DipResult", "source_contributions",
        "plan_removals", "RemovalPlan", "Offer", "verify_next", "verify_within", "VerificationPlan", "plan_decoys",
        "DecoyPlan", "Decoy", "anonymity_of", "Anonymity", "k_anonymity", "l_diversity",
    ),
    "Errors": (
        "TacitError", "ArgumentError", "ColumnError", "DataError", "SourceError", "EngineError", "NotCertifiedError",
    ),
    "Version": ("__version__",),
}  # fmt: skip
"""Every public name, once. A name that is in no group is listed under "Others", so that none is lost."""

NOT_FUNCTIONS = {
    "MEASURES": "Every measure of a whole release by name: title, unit, formula, meaning, function and ceiling.",
    "__version__": "The version of the package.",
}


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
    """Every public name with the first sentence of its docstring."""
    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in tacit.__all__ if name not in grouped)
    groups = GROUPS | ({"Others": others} if others else {})
    parts = [
        "# The Python names\n\n",
        WRITTEN,
        "Everything is imported from `tacit`. The docstring of a name (`help(tacit.audit)`) has its parameters and\n"
        "its guarantees; [from Python](../howto/from-python.md) shows them at work.\n",
    ]
    for title, names in groups.items():
        parts.append(f"\n## {title}\n\n")
        parts += [f"- `{_signature(name)}`: {_summary(name)}\n" for name in names if name in tacit.__all__]
    return "".join(parts)


def _signature(name: str) -> str:
    value = getattr(tacit, name)
    if not inspect.isfunction(value):
        return name
    shown, star = [], False
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        shown.append(f"{parameter.name}{default}")
    return f"{name}({', '.join(shown)})"


def _default(value: object) -> str:
    return value.__name__ if inspect.isfunction(value) else repr(value)


def _summary(name: str) -> str:
    if name in NOT_FUNCTIONS:
        return NOT_FUNCTIONS[name]
    text = inspect.getdoc(getattr(tacit, name)) or ""
    first = " ".join(text.split("\n\n", 1)[0].split())
    return re.sub(r":func:`([^`]*)`", r"`\1`", first).replace("``", "`")


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
        "next batch can be treated alike. Only the owner may see it."
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
    for measure in tacit.MEASURES.values():
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
