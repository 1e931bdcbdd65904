"""``protect``: write a version of a table that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

import json
import math
import secrets
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.funnel import Funnel, funnel
from tacit.lift.joint import Joint
from tacit.lift.measures import risk
from tacit.tables.drawing import new_key
from tacit.tables.rewriting import rewrite
from tacit.tables.writing import suffix_for, whole_directory, write_table
from tacit.workflows import findings, learning
from tacit.workflows.auditing import curve_points, suggestion
from tacit.workflows.certifying import REPORT, Written, certificate_of, file_sha256
from tacit.workflows.estimates import FILE as ESTIMATES
from tacit.workflows.learned_release import MODEL, LearnedRelease, learned_release
from tacit.workflows.planning import REPLACEMENTS, TOLERANCE, Plan, Replacement, plan, plan_by_rules
from tacit.workflows.question import Bins, Names, ask
from tacit.workflows.results import RENDERERS, Certificate, CurvePoint, ProtectResult, RiskHistogram, plain
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted, Progress, checked_epsilon, checked_loss, counted, silent

# What scikit-learn and JAX both take for a seed.
SEED_BITS = 31


def protect(
    source: Any,
    *,
    secret: Names = None,
    epsilon: float | None = None,
    out: str | Path,
    released: Names = None,
    drop: Names = None,
    bins: Bins | None = None,
    weight: str | None = None,
    keep_ids: Names = None,
    keep_secret: bool = False,
    delta: float = 0.0,
    epsilon_max: float = math.inf,
    replacement: Replacement = "resample",
    rules: str | Path | None = None,
    max_loss: float = 0.1,
    overwrite: bool = False,
    estimator: str = "counts",
    model: str | Path | None = None,
    fresh: bool = False,
    random_state: int | None = None,
    engine: str = "duckdb",
    progress: Progress = silent,
) -> ProtectResult:
    """Write a release of ``source`` to the directory ``out``.

    Parameters
    ----------
    source, secret, released, drop, bins, weight, keep_ids, engine
        As in ``audit``.
    epsilon : float
        Bound on the absolute log-lift, in nats.
    delta : float
        Probability mass that may lie outside epsilon; ``epsilon_max`` is then the bound that may never be broken.
    replacement : {"resample", "uniform", "merge", "suppress"}
        What takes the place of a merged value: a value drawn in proportion to the merged ones (keeps every
        column's marginal), or uniformly; the most frequent merged value; nothing.
    rules : path, optional
        ``private/rules.json`` of an earlier release: treat this batch alike. Values it does not know are risky, and
        values that exceed epsilon in this batch are merged besides.
    keep_secret : bool
        Leave the secret in the file. Whoever reads the file then reads the secret.
    max_loss : float
        Tolerated loss, for the suggestion that comes with a poor release.
    overwrite : bool
        Replace an existing release; nothing else is ever replaced.
    estimator : str
        "counts" counts, and certifies every record. Any other ("auto", "linear", "trees", "net", "neural") learns
        which records are risky, from columns that are not cut unless ``bins`` says so.
    model : path, optional
        A saved model instead of learning one, such as ``private/model.tacit`` of an earlier release.
    fresh : bool
        Your word that the saved model was learned from none of these records, so that its verdict means something.
    random_state : int, optional
        For a release that can be made again; without it the draws, and the seed of the learning, come from the
        system's secure source.

    Returns
    -------
    ProtectResult

    Raises
    ------
    NotCertifiedError
        If the rules of an earlier batch do not keep this one within epsilon, or a leak was detected that the estimator
        cannot find in any record. Nothing is written then.
    DataError
        If there are too few records to learn from. Nothing is written then.

    Guarantees
    ----------
    The directory appears whole or not at all. The certificate's attained epsilon is computed on the joint of
    secret and output, and the release is written only if it is within what was claimed. Rows whose value is not
    merged are unchanged and in their place. With a learned estimator the certificate's attained epsilon is that of the
    merged records alone, counted; of all others it says what is estimated, and that this certifies nothing pointwise.
    Estimates are published with two digits, and in full in ``private/`` alone.
    """
    checked_loss(max_loss)
    choice = learning.choice_of(estimator, model, weight=weight, fresh=fresh)
    if rules is None:
        _check_bounds(epsilon, delta, epsilon_max, replacement)
    elif secret or released or bins or delta or epsilon is not None or choice is not None:
        raise ArgumentError(
            "the rules settle secret, released, bins, epsilon, delta and estimator: leave those out with --rules"
        )
    if choice is not None and delta > 0:
        raise ArgumentError("a learned estimate cannot vouch for a delta yet: leave out --delta, or count")
    earlier = Rules.load(rules) if rules is not None else None
    question = ask(
        source,
        secret=earlier.secret if earlier else secret,
        released=earlier.released if earlier else released,
        drop=drop,
        bins={made.column: made.edges for made in earlier.cuts} if earlier else bins,
        weight=weight,
        keep_ids=earlier.released if earlier else keep_ids,
        engine=engine,
    )
    _check_target(Path(out), question.original.path, overwrite)
    found = counted(question if choice is None else question.uncut(), progress=progress)
    planned: CountedRelease | LearnedRelease
    if choice is not None:
        assert epsilon is not None
        learned = learning.learned(found, choice, random_state=_seed(random_state), progress=progress)
        planned = learned_release(learned, epsilon, replacement)
    else:
        progress("choosing what to merge", None)
        planned = CountedRelease(found, _plan(found, earlier, epsilon, delta, epsilon_max, replacement))
    with whole_directory(Path(out), overwrite=overwrite) as directory:
        data_file = _write_data(found, planned.rules, directory, keep_secret, random_state, progress)
        progress("certifying", None)
        written = Written(directory / data_file, secrets.token_bytes(32), keep_secret, random_state)
        certificate = planned.certificate(written)
        result = ProtectResult(
            out=str(out),
            data_file=data_file,
            certificate=certificate,
            headline=planned.headline(certificate),
            diagnosis=planned.diagnosis(certificate, max_loss),
            curve=planned.curve,
            before=planned.before,
            after=planned.after,
            notes=(*found.question.notes, *planned.remarks()),
        )
        result = _write_papers(result, planned.rules, written.salt, directory)
    return result


def _seed(random_state: int | None) -> int:
    """The seed of the learning: one that can be guessed would let anybody try secrets out on published estimates."""
    return secrets.randbits(SEED_BITS) if random_state is None else random_state


def _plan(
    found: Counted,
    earlier: Rules | None,
    epsilon: float | None,
    delta: float,
    epsilon_max: float,
    replacement: Replacement,
) -> Plan:
    if earlier is not None:
        return plan_by_rules(found, earlier)
    assert epsilon is not None
    return plan(found, epsilon, delta, epsilon_max, replacement)


def _check_bounds(epsilon: float | None, delta: float, epsilon_max: float, replacement: str) -> None:
    if epsilon is None:
        raise ArgumentError("say how much may be learned: epsilon, in nats (--epsilon 0.5), or give --rules")
    checked_epsilon(epsilon)
    checked_epsilon(epsilon_max, name="epsilon_max")
    if epsilon_max < epsilon:
        raise ArgumentError(
            f"epsilon_max ({epsilon_max:g}) is the looser bound; it cannot be below epsilon ({epsilon:g})"
        )
    if not 0 <= delta < 1:
        raise ArgumentError(f"delta is a probability, 0 or more and below 1; got {delta}")
    if replacement not in REPLACEMENTS:
        raise ArgumentError(f"no replacement '{replacement}'; choose one of {', '.join(REPLACEMENTS)}")


def _check_target(out: Path, source: Path | None, overwrite: bool) -> None:
    """Never put a release over anything but a release, and never over the table it is made from."""
    target = out.resolve()
    if source is not None and source.resolve().is_relative_to(target):
        raise ArgumentError(f"{out} holds the original {source.name}: choose another directory for the release")
    if not overwrite or not target.is_dir() or not any(target.iterdir()):
        return
    if not (target / "certificate.json").is_file():
        raise ArgumentError(f"{out} is not a release of Tacit, so it is not overwritten: choose another directory")


def _write_data(
    found: Counted, rules: Rules, directory: Path, keep_secret: bool, random_state: int | None, progress: Progress
) -> str:
    progress("writing the release", None)
    question = found.question
    kept = {*question.released, *(question.secret if keep_secret else ())}
    release = rewrite(
        question.table.select([c.name for c in question.table.columns if c.name in kept]),
        rules.symbols,
        merged=rules.merged,
        replacement=rules.replacement,
        key=new_key(random_state),
    )
    data_file = "data" + suffix_for(question.original)
    write_table(release, directory / data_file, like=question.original)
    return data_file


def _write_papers(result: ProtectResult, rules: Rules, salt: bytes, directory: Path) -> ProtectResult:
    """Write everything beside the data; the certificate last of what is public, with the report's fingerprint."""
    if "page" in RENDERERS:
        page = directory / REPORT
        page.write_text(RENDERERS["page"](result), "utf-8")
        output = {**result.certificate.output, "report_sha256": file_sha256(page)}
        result = replace(result, certificate=replace(result.certificate, output=output))
    text = json.dumps(plain(result.certificate), indent=2, ensure_ascii=False, allow_nan=False)
    (directory / "certificate.json").write_text(text + "\n", "utf-8")
    private = directory / "private"
    private.mkdir(mode=0o700, exist_ok=True)
    (private / "rules.json").write_text(rules.to_json(), "utf-8")
    (private / "salt.txt").write_text(salt.hex() + "\n", "utf-8")
    lines = [
        "Only the owner of the data may see this folder: rules.json lists which values were merged.",
        "salt.txt opens the fingerprint of the original in certificate.json.",
        "Do not publish them. The next batch is treated alike with: tacit protect TABLE --rules private/rules.json",
    ]
    if (private / MODEL).exists():
        lines.append(
            f"{MODEL} is what was learned from the records. It scores values that were never seen, too: "
            f"tacit protect TABLE --model private/{MODEL} --secret ... --epsilon ..."
        )
        lines.append(
            f"{ESTIMATES} has the estimates in full. Digits are a fingerprint of the secrets: do not publish it."
        )
    (private / "README.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return result


@dataclass(frozen=True)
class CountedRelease:
    """What a release will be, before a row is written, where everything was counted."""

    found: Counted
    plan: Plan

    @property
    def rules(self) -> Rules:
        """What is merged, and what takes its place."""
        return self.plan.rules

    @cached_property
    def funnel(self) -> Funnel:
        """The trade-off of the plain watchdog."""
        return funnel(self.found.joint)

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """What other epsilons would cost."""
        return curve_points(self.funnel)

    @cached_property
    def before(self) -> RiskHistogram:
        """Risks of the table."""
        return findings.risk_histogram(self.found.joint)

    @property
    def after(self) -> RiskHistogram:
        """Risks of the release."""
        return findings.risk_histogram(self.plan.output, beside=self.before)

    def certificate(self, written: Written) -> Certificate:
        """The certificate of the release once its data has been written."""
        return certificate_of(self.found, self.plan, written)

    def headline(self, certificate: Certificate) -> str:
        """What came of it, in one sentence."""
        return _headline(certificate)

    def diagnosis(self, certificate: Certificate, max_loss: float) -> str | None:
        """What to do when little or nothing of the table came through."""
        return _diagnosis(self.found, certificate, self.funnel, max_loss)

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        rules, plain_attains = self.rules, self.plan.made_by.get("plain_watchdog_attains", 0.0)
        if rules.delta > 0 or plain_attains <= rules.epsilon + TOLERANCE:
            return []
        return [
            f"the risky values alone still tilt towards a secret: the plain watchdog would leak {plain_attains:.4g} "
            "nats. Some safe values were merged with them (camouflage), which brings the release within epsilon"
        ]


def _headline(certificate: Certificate) -> str:
    kept = 1 - certificate.mechanism["records_merged"]
    cost = f"{kept:.1%} of the records are not merged, {certificate.utility.nmil:.1%} of the information is lost."
    if certificate.delta == 0:
        attained, asked = f"{certificate.attained_epsilon:.4g} nats", f"{certificate.epsilon:g} nats"
        return f"The release leaks at most {attained} ({asked} were asked): {cost}"
    return (
        f"The release leaks at most {certificate.epsilon:g} nats except with probability "
        f"{certificate.attained_delta:.3g} ({certificate.delta:g} allowed), and {certificate.breach_share:.1%} of the "
        f"records exceed it for some secret: {cost}"
    )


def _diagnosis(found: Counted, certificate: Certificate, curve: Funnel, max_loss: float) -> str | None:
    """What to do when little or nothing of the table came through."""
    merged = certificate.mechanism["records_merged"]
    if merged < 0.9:
        return None
    groups = findings.column_groups(found.symbols)
    gains = []
    for group in groups:
        if len(groups) == 1:
            break
        without = Joint.from_counts(np.stack([np.bincount(group.others, weights=row) for row in found.table]))
        gains.append((float(without.marginal[risk(without) <= certificate.epsilon].sum()), group.name))
    start = "Every record was" if merged > 1 - 1e-12 else f"{merged:.1%} of the records were"
    text = f"{start} merged: at epsilon {certificate.epsilon:g} nats hardly any value is safe on its own."
    if gains and max(gains)[0] > 1 - merged + 0.01:
        share, name = max(gains)
        text += f" Leaving out column '{name}' makes {share:.1%} of the records safe (--drop {name})."
    per_value = found.counts.records.sum() / found.joint.shape[1]
    if per_value < 20:
        text += f" There are only {per_value:.1f} records a value: cut columns more coarsely (--bins)."
    hint = suggestion(curve, max_loss=max_loss)
    if hint.epsilon is not None and hint.epsilon > certificate.epsilon:
        text += f" {hint.sentence}"
    return text
