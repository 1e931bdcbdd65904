"""``protect``: write a version of a table that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.funnel import Funnel, funnel
from tacit.lift.joint import Joint
from tacit.lift.measures import risk
from tacit.lift.optimal import Effort
from tacit.tables.drawing import new_key
from tacit.tables.writing import suffix_for, whole_directory, write_table
from tacit.workflows import findings, learning
from tacit.workflows.auditing import curve_points, suggestion
from tacit.workflows.bounds import TOLERANCE, DeltaKind, asked_bounds, further_secrets
from tacit.workflows.certifying import REPORT, Written, certificate_of, file_sha256, mixes
from tacit.workflows.estimates import FILE as ESTIMATES
from tacit.workflows.learned_release import MODEL, LearnedRelease, learned_release
from tacit.workflows.ledger import Ledger
from tacit.workflows.ledger_file import People
from tacit.workflows.planning import MIXTURE, Asked, Mechanism, Plan, enough, plan, plan_by_rules
from tacit.workflows.question import Bins, Names, ask
from tacit.workflows.results import RENDERERS, Certificate, CurvePoint, ProtectResult, RiskHistogram, plain
from tacit.workflows.rules import Rules
from tacit.workflows.tabulating import Counted, Progress, checked_loss, counted, silent
from tacit.workflows.treatment import Replacement

# With fewer records than this the measures of a table fit few assignments of the secrets.
FEW_RECORDS = 200
# A bound on the loss below this share says nothing worth a sentence.
WORTH_TELLING = 5e-4
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
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    delta: float = 0.0,
    delta_kind: DeltaKind = "mass",
    epsilon_max: float = math.inf,
    also: Mapping[str | Sequence[str], float] | None = None,
    mechanism: Mechanism = "auto",
    effort: Effort = "normal",
    replacement: Replacement | None = None,
    confidence: float | None = None,
    rules: str | Path | None = None,
    max_loss: float = 0.1,
    overwrite: bool = False,
    estimator: str = "counts",
    model: str | Path | None = None,
    fresh: bool = False,
    random_state: int | None = None,
    ledger: str | Path | None = None,
    relation: People = "same people",
    budget: float | None = None,
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
    epsilon_low, epsilon_high : float, optional
        Bounds on each side instead: how much less likely, and how much likelier, a secret may become. With
        ``epsilon_high`` alone only that side is bounded (pointwise maximal leakage).
    delta : float
        How much may lie outside epsilon. With ``delta_kind`` "mass" it is the probability of pairs of secret and output
        beyond epsilon, and ``epsilon_max`` the bound that may never be broken; with "egamma" it is the total excess of
        probability, which no later processing can raise.
    also : mapping, optional
        Further secrets, each with its own epsilon: ``{"sex": 0.3, ("race", "sex"): 0.8}``; a tuple of columns is their
        combination.
    mechanism : {"auto", "watchdog", "subsets", "optimal"}
        "watchdog" merges one set of values; "subsets" several; "optimal" mixes values as little as the bounds allow.
        "auto" takes whichever loses least, and "watchdog" if a replacement is named.
    effort : {"low", "normal", "high"}
        How hard to look for the best mechanism.
    replacement : {"resample", "uniform", "merge", "suppress"}, optional
        What takes the place of a merged value: a value drawn in proportion to the merged ones (keeps every
        column's marginal; the default), or uniformly; the most frequent merged value; nothing.
    confidence : float, optional
        Prove the bounds for the people the records were drawn from, with this probability: half of the records choose
        what to merge, the other half proves it.
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
    ledger : path, optional
        A private file that composes this release with earlier ones; it is made if it is not there.
    relation : {"same people", "other people"}
        Whether the ledger's earlier releases are of the same people, or of none of them.
    budget : float, optional
        The most that all releases of the ledger together may say of any secret that one of them was about, in nats.

    Returns
    -------
    ProtectResult

    Raises
    ------
    NotCertifiedError
        If the rules of an earlier batch do not keep this one within epsilon, the records are too few for the confidence
        asked, a leak was detected that the estimator cannot find in any record, or all releases of the ledger together
        would pass the budget. Nothing is written then.
    DataError
        If there are too few records to learn from. Nothing is written then.

    Guarantees
    ----------
    The directory appears whole or not at all. The certificate's attained epsilon is computed on the joint of
    secret and output, and the release is written only if it is within what was claimed. Rows whose value is neither
    merged nor mixed are unchanged and in their place, and every released value is one of the table's. With a learned
    estimator the certificate's attained epsilon is that of the merged records alone, counted; of all others it says
    what is estimated, and that this certifies nothing pointwise. Estimates are published with two digits, and in full
    in ``private/`` alone.
    """
    checked_loss(max_loss)
    choice = learning.choice_of(estimator, model, weight=weight, fresh=fresh)
    asked, earlier = None, None
    if rules is None:
        bounds = asked_bounds(
            epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high, delta=delta, delta_kind=delta_kind,
            epsilon_max=epsilon_max,
        )  # fmt: skip
        asked = Asked(bounds, further_secrets(also), mechanism, effort, replacement, confidence)
        _refuse_with_learning(asked, choice)
    else:
        _refuse_with_rules(
            secret, released, bins, delta, epsilon, epsilon_low, epsilon_high, also, confidence, choice, replacement,
            mechanism != "auto", effort != "normal", delta_kind != "mass", math.isfinite(epsilon_max),
        )  # fmt: skip
        earlier = Rules.load(rules)
    book = Ledger.asked(
        ledger, relation=relation, budget=budget, out=Path(out), repeatable=random_state is not None,
        learned=choice is not None, keep_secret=keep_secret,
    )  # fmt: skip
    further = earlier.also if earlier is not None else asked.also if asked is not None else ()
    question = ask(
        source,
        secret=earlier.secret if earlier else secret,
        released=earlier.released if earlier else released,
        drop=drop,
        bins={made.column: made.edges for made in earlier.cuts} if earlier else bins,
        weight=weight,
        keep_ids=earlier.released if earlier else keep_ids,
        also=[each.secret for each in further],
        engine=engine,
    )
    _check_target(Path(out), question.original.path, overwrite)
    found = counted(question if choice is None else question.uncut(), progress=progress)
    planned = _planned(found, asked, earlier, choice, random_state=random_state, progress=progress)
    own = planned.plan if isinstance(planned, CountedRelease) else None
    with book.page(found, own, out, progress=progress) as page, whole_directory(out, overwrite=overwrite) as directory:
        data_file = _write_data(found, planned.rules, directory, keep_secret, random_state, progress)
        progress("certifying", None)
        written = Written(directory / data_file, secrets.token_bytes(32), keep_secret, random_state)
        certificate = replace(planned.certificate(written), composition=page.composition)
        diagnosis = planned.diagnosis(certificate, max_loss)
        notes = (*found.question.notes, *planned.remarks(), *page.notes)
        result = ProtectResult(
            str(out), data_file, certificate, planned.headline(certificate), diagnosis, planned.curve, planned.before,
            planned.after, notes,
        )  # fmt: skip
        result = _write_papers(result, planned.rules, written.salt, directory)
        page.add(result.certificate)
    return result


def _refuse_with_rules(*settled: Any) -> None:
    """What the rules settle may not be said again."""
    if any(each is not None and each != 0 and each != {} for each in settled):
        raise ArgumentError(
            "the rules settle secret, released, bins, all epsilons, delta, mechanism, replacement, confidence and "
            "estimator: leave those out with --rules"
        )


def _planned(
    found: Counted,
    asked: Asked | None,
    earlier: Rules | None,
    choice: learning.Choice | None,
    *,
    random_state: int | None,
    progress: Progress,
) -> CountedRelease | LearnedRelease:
    """The release by the rules of an earlier one, or as it was asked for, learned or counted."""
    if earlier is not None:
        progress("choosing what to merge", None)
        return CountedRelease(found, plan_by_rules(found, earlier))
    assert asked is not None
    if choice is None:
        progress("choosing what to merge", None)
        return CountedRelease(found, plan(found, asked))
    learned = learning.learned(found, choice, random_state=_seed(random_state), progress=progress)
    return learned_release(learned, asked.bounds.epsilon, asked.replacement or "resample")


def _seed(random_state: int | None) -> int:
    """The seed of the learning: one that can be guessed would let anybody try secrets out on published estimates."""
    return secrets.randbits(SEED_BITS) if random_state is None else random_state


def _refuse_with_learning(asked: Asked, choice: learning.Choice | None) -> None:
    """What a learned estimate cannot vouch for."""
    wants = {
        "--delta": asked.bounds.delta > 0,
        "--epsilon-low and --epsilon-high": not asked.bounds.symmetric,
        "--also": bool(asked.also),
        "--confidence": asked.confidence is not None,
        f"--mechanism {asked.mechanism}": asked.mechanism not in ("auto", "watchdog"),
    }
    for words, wanted in wants.items():
        if wanted and choice is not None:
            raise ArgumentError(f"a learned estimate cannot vouch for that yet: leave out {words}, or count")


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
    kept = {*question.released, *(question.hidden if keep_secret else ())}
    shown = question.table.select([c.name for c in question.table.columns if c.name in kept])
    release = rules.treatment.applied(shown, rules.symbols, new_key(random_state))
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
        bounds, made_by, notes = self.rules.bounds, self.plan.made_by, []
        if made_by["replacement"] == MIXTURE:
            notes.append(_mixture_note(made_by, self.found, self.rules))
        elif bounds.delta == 0 and made_by.get("plain_watchdog_attains", 0.0) > bounds.epsilon + TOLERANCE:
            notes.append(
                f"the risky values alone still tilt towards a secret: the plain watchdog would leak "
                f"{made_by['plain_watchdog_attains']:.4g} nats. Some safe values were merged with them (camouflage), "
                "which brings the release within epsilon"
            )
        if self.plan.proof is not None:
            more = enough(self.found, bounds, 1 - self.plan.proof.beta)
            notes.append(f"the records proved {self.plan.proof.passed:,} nested releases.{more}")
        records = int(self.found.counts.records.sum())
        if records < FEW_RECORDS:
            notes.append(
                f"the table has {records:,} records: whoever knows who is in it can try out secrets on the measures "
                "before and after, and rule many of them out. Publish the data without certificate.json and report.html"
            )
        return notes


def _mixture_note(made_by: Mapping[str, Any], found: Counted, rules: Rules) -> str:
    """Which rung it is, and what it gains over the watchdog."""
    kept = rules.treatment.kept(found.joint.marginal, found.symbols, rules.symbols)
    lost = 1 - kept.information / kept.entropy if kept.entropy > 0 else 0.0
    best = ""
    if made_by["loss_bound"] >= WORTH_TELLING:
        least = "" if made_by["method"] == "exact" else f" than {made_by['loss_bound']:.2%}"
        best = f"; no mechanism loses less{least}"
    stands = "one of several" if rules.treatment.drawn else "all values that were merged with it"
    return (
        f"the mechanism is '{made_by['name']}' (effort {made_by['effort']}): it loses {lost:.2%} of the information "
        f"where one merged set, the watchdog, would lose {made_by['watchdog_nmil']:.2%}{best}. A released value stands "
        f"for {stands}; no column's shares are expected to move by more than {kept.column_shift:.1%}"
    )


def _headline(certificate: Certificate) -> str:
    utility = certificate.utility
    same = (
        f"{utility.rows_unchanged:.1%} of the records stay as they were"
        if mixes(certificate)
        else f"{1 - certificate.mechanism['records_merged']:.1%} of the records are not merged"
    )
    cost = f"{same}, {utility.nmil:.1%} of the information is lost."
    if certificate.delta == 0:
        return f"The release leaks at most {_leaks(certificate)}: {cost}"
    excess = "except with probability" if certificate.delta_kind == "mass" else "but for an excess of probability of"
    return (
        f"The release leaks at most {certificate.epsilon:g} nats {excess} "
        f"{certificate.attained_delta:.3g} ({certificate.delta:g} allowed), and {certificate.breach_share:.1%} of the "
        f"records exceed it for some secret: {cost}"
    )


def _leaks(certificate: Certificate) -> str:
    """What is attained and what was asked, of the sides that are bounded."""
    low, high, attained = certificate.epsilon_low, certificate.epsilon_high, certificate.attained_epsilon
    if low == high:
        return f"{attained:.4g} nats ({high:g} nats were asked)"
    if math.isinf(low):
        return f"{attained:.4g} nats upwards ({high:g} nats were asked, and no bound downwards)"
    return f"{attained:.4g} nats ({high:g} nats were asked upwards, {low:g} nats downwards)"


def _diagnosis(found: Counted, certificate: Certificate, curve: Funnel, max_loss: float) -> str | None:
    """What to do when little or nothing of the table came through."""
    merged = certificate.mechanism["records_merged"]
    if merged < 0.9 or certificate.utility.nmil < 0.5:
        return None
    groups = findings.column_groups(found.symbols)
    gains = []
    for group in groups:
        if len(groups) == 1 or certificate.also:
            break
        without = Joint.from_counts(np.stack([np.bincount(group.others, weights=row) for row in found.table]))
        gains.append((float(without.marginal[risk(without) <= certificate.epsilon].sum()), group.name))
    start = "Every record was merged" if merged > 1 - 1e-12 else f"{merged:.1%} of the records were merged"
    if mixes(certificate):
        start = f"{certificate.utility.nmil:.1%} of the information is lost"
    bound = "these epsilons" if certificate.also else f"epsilon {certificate.epsilon:g} nats"
    text = f"{start}: at {bound} hardly any value is safe on its own."
    if gains and max(gains)[0] > 1 - merged + 0.01:
        share, name = max(gains)
        text += f" Leaving out column '{name}' makes {share:.1%} of the records safe (--drop {name})."
    per_value = found.counts.records.sum() / found.joint.shape[1]
    if per_value < 20:
        text += f" There are only {per_value:.1f} records a value: cut columns more coarsely (--bins)."
    hint = suggestion(curve, max_loss=max_loss)
    if hint.epsilon is not None and hint.epsilon > certificate.epsilon and not mixes(certificate):
        text += f" {hint.sentence}"
    return text
