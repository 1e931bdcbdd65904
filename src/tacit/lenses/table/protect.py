"""``protect``: write a version of a table that keeps the secret, with a certificate of what remains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tacit import __version__
from tacit.document import CurvePoint, Nats, Progress, RiskHistogram, silent
from tacit.errors import ArgumentError, NotCertifiedError, Sentence, Setting, SourceError, sentence, together
from tacit.lenses.table import findings
from tacit.lenses.table.answers.release import ProtectResult
from tacit.lenses.table.audit import curve_points, suggestion
from tacit.lenses.table.certifying import (
    channel_made,
    facts_of,
    given_joint,
    measures_of,
    utility_of,
    whole_file_of,
)
from tacit.lenses.table.checks.rows import rows_that_differ
from tacit.lenses.table.coding import FOR_CELLS, goal_of_rules, in_cells, question_of_rules, refuse_without_cells
from tacit.lenses.table.correcting import corrected_column
from tacit.lenses.table.kept.tables import kept_of_tables
from tacit.lenses.table.learned.learning import EstimatorChoice, choice_of
from tacit.lenses.table.mechanisms import Plan, ReleaseGoal, enough, plan_by_goal, plan_by_rules
from tacit.lenses.table.question import ask
from tacit.lenses.table.results import CorrectedColumn
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import SLACK, Funnel, Joint, funnel, risk
from tacit.release.bounds import Attained, asked_bounds, further_secrets
from tacit.release.certificate import MIXTURE, CountedCertificate, FurtherClaim
from tacit.release.channel import PublishedChannel
from tacit.release.claims import file_sentence, readings_of, worded
from tacit.release.codec import text_of
from tacit.release.directory import KEY, ReleaseDraft, new_release, refuse_target
from tacit.release.kept import ReaderKeeps
from tacit.release.ledger.book import Ledger
from tacit.release.ledger.file import Entry, Original, People, SecretLeak
from tacit.release.ledger.together import Secret
from tacit.release.levels import LEVELS, PublishedCode
from tacit.release.rules import RULES, ReleaseRules
from tacit.requests import Bound, Learning, Ledgered, Making, Question, Request, given
from tacit.requests.names import MECHANISMS
from tacit.tables.drawing import new_key
from tacit.tables.sources import open_table
from tacit.tables.table import Table
from tacit.tables.writing import at, suffix_for, write_table

# Corrected counts are shown of so many columns, each with so few values.
FEW_COLUMNS, FEW_VALUES = 8, 12
# With fewer records than this the measures of a table fit few assignments of the secrets.
FEW_RECORDS = 200
# A bound on the loss below this share says nothing worth a sentence.
WORTH_TELLING = 5e-4
_EXCESS = {"mass": "except with probability", "egamma": "but for an excess of probability of"}
_README = (
    "Only the owner of the data may see this folder. Do not publish what is in it.",
    f"{RULES} lists which values were merged: the next batch is treated alike if protect is given it as its rules.",
    "salt.txt opens the fingerprint of the original in certificate.json.",
    f"{KEY}, where there is one, is the key of the draws: whoever has it and the release can undo many of them.",
)


def protect_table(
    question: Question,
    bound: Bound,
    making: Making,
    learning: Learning,
    ledgered: Ledgered,
    *,
    out: Path,
    progress: Progress = silent,
) -> ProtectResult:
    """Write a release of a table to the directory ``out``; ``tacit.protect`` says what is guaranteed."""
    # Before a row is read: draws that fit the secrets would have to be searched for among keys.
    key = new_key(making.random_state)
    earlier = None
    if making.rules is None:
        goal = _goal(bound, making)
        refuse_without_cells(goal, [question, making])
    else:
        earlier = ReleaseRules.load(making.rules)
        _refuse_with_rules([question, bound, making, learning], in_cells=earlier.code is not None)
        goal, question = goal_of_rules(earlier, bound.least), question_of_rules(question, earlier)
    choice = _guide(question, learning, goal)
    book = Ledger.asked(ledgered, making, out=out)
    further, cuts = [each.secret for each in goal.also], earlier.cuts if earlier else ()
    original = open_table(question.source, engine=question.engine).pinned()
    fingerprint = original.sha256()
    question = replace(question, source=original)
    asked = ask(question, also=further, cuts=cuts, in_cells=goal.coded, thresholds=goal.bounds.thresholds)
    refuse_target(out, original=asked.original.path, overwrite=making.overwrite)
    proof = None
    if goal.coded:
        asked, proof = in_cells(asked, goal, making, earlier, choice, progress)
    table = counted(asked, progress=progress)
    progress("choosing what to merge", None)
    by_goal = earlier is None or goal.coded
    plan = plan_by_goal(table, goal, proof) if by_goal or earlier is None else plan_by_rules(table, earlier)
    release = CellRelease if goal.coded else CountedRelease
    return _released(release(table, plan, goal.least, key, fingerprint), book, making, out, progress)


def _goal(bound: Bound, making: Making) -> ReleaseGoal:
    """What was asked of the release, with what stands for all that was not said."""
    bounds = asked_bounds(bound)
    mechanism = making.mechanism or "auto"
    if mechanism == "auto":
        mechanism = next(iter(MECHANISMS)) if making.replacement is None else "watchdog"
    return ReleaseGoal(
        bounds,
        further_secrets(bound.also),
        mechanism=mechanism,
        effort=making.effort or "normal",
        replacement=making.replacement,
        confidence=bound.confidence,
        least=bound.least,
    )


def _guide(question: Question, learning: Learning, goal: ReleaseGoal) -> EstimatorChoice | None:
    """What proposes the cuts of cells, if not the counts; it certifies nothing, so nothing else may rest on it."""
    choice = choice_of(learning.estimator, learning.model, weight=question.weight, fresh=learning.fresh)
    if choice is None or (goal.coded and goal.confidence is None):
        return choice
    name, value = ("estimator", choice.estimator) if choice.model is None else ("model", str(choice.model))
    words = "what was learned proposes the cuts of cells and nothing else: leave out {name}, or {other}"
    other = Setting("mechanism", goal.mechanism) if not goal.coded else Setting("confidence")
    raise ArgumentError(sentence(words, name=Setting(name, value), other=other))


def _released(planned: CountedRelease, book: Ledger, making: Making, out: Path, progress: Progress) -> ProtectResult:
    """Write a planned release, and enter it in the ledger."""
    question = planned.counted.question
    entry = planned.entry(book.relation, out) if book.path else None
    with book.page(entry, question.original) as page, new_release(out, overwrite=making.overwrite) as draft:
        progress("writing the release", None)
        data_file = _write_data(planned, draft, making)
        at("data written")
        if planned.channel is not None:
            draft.channel.write_text(text_of(planned.channel), "utf-8")
        progress("reading what was written", None)
        written = open_table(draft.place / data_file, engine=question.original.engine.name)
        planned.refuse_miswritten(written)
        progress("certifying", None)
        certificate = planned.certificate(draft, data_file, making)
        progress("measuring what readers keep", None)
        keeps = planned.keeps(written, certificate)
        certificate = replace(certificate, keeps=keeps, composition=page.composition)
        result = ProtectResult(
            out=str(out),
            data_file=data_file,
            certificate=certificate,
            headline=planned.headline(certificate),
            diagnosis=planned.diagnosis(certificate, making.max_loss),
            curve=planned.curve,
            before=planned.before,
            after=planned.after,
            notes=(*question.notes, *planned.remarks(), *page.notes),
            corrected=planned.corrected(written),
            levels=() if planned.rules.code is None else PublishedCode.of(planned.rules.code).columns,
        )
        draft.keep(RULES, text_of(planned.rules))
        if certificate.output.key_sha256 is not None:
            draft.keep(KEY, planned.key.hex() + "\n")
        if planned.rules.code is not None:
            draft.publish(LEVELS, text_of(PublishedCode.of(planned.rules.code)))
        result.write_report(draft.report)
        certificate = draft.sealed(certificate, _README)
        if question.original.sha256() != planned.fingerprint:
            raise SourceError(f"{question.original.name} changed while it was read: nothing was released; run again")
        page.add(certificate)
    return replace(result, certificate=certificate)


# What the rules of an earlier release settle.
_SETTLED = (
    *(
        "secret",
        "released",
        "bins",
        "thresholds",
        "epsilon",
        "epsilon_low",
        "epsilon_high",
        "delta",
        "delta_kind",
        "epsilon_max",
    ),
    *("also", "mechanism", "effort", "replacement", "confidence", "estimator", "model", *FOR_CELLS),
)


def _refuse_with_rules(requests: Sequence[Request], *, in_cells: bool) -> None:
    """What the rules settle may not be said again, whatever is said: an epsilon of 0 is one, too."""
    words = (
        "the rules settle secret, released, bins, all epsilons, delta, mechanism, replacement, confidence, estimator "
        "and all that is said of cells: leave out {name} with {rules}"
    )
    settled = {*_SETTLED, "least"} if in_cells else {*_SETTLED}
    for name, value in given(requests).items():
        if name in settled and value not in ({}, ()):
            raise ArgumentError(sentence(words, name=Setting(name), rules=Setting("rules")))


def _write_data(planned: CountedRelease, draft: ReleaseDraft, making: Making) -> str:
    """Write the released data, and give the name of its file."""
    question, rules = planned.counted.question, planned.rules
    kept = {*question.released, *(question.hidden if making.keep_secret else ())}
    shown = question.table.select([name for name in question.table.names if name in kept])
    data_file = "data" + suffix_for(question.original)
    write_table(rules.applied(shown, planned.key), draft.place / data_file, like=question.original)
    return data_file


@dataclass(frozen=True)
class CountedRelease:
    """What a release will be, before a row is written, where everything was counted."""

    counted: Counted
    plan: Plan
    least: int
    key: bytes
    fingerprint: str | None

    @property
    def rules(self) -> ReleaseRules:
        """What is merged, and what takes its place."""
        return self.plan.rules

    @cached_property
    def funnel(self) -> Funnel:
        """The trade-off of the plain watchdog."""
        return funnel(self.counted.joint)

    @cached_property
    def given(self) -> Joint | None:
        """The joint of the secret and the table as it was given; None where it was not counted."""
        return given_joint(self.counted)

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """What other epsilons would cost."""
        return curve_points(self.funnel)

    @cached_property
    def before(self) -> RiskHistogram | None:
        """Risks of the table as it was given; None where it was not counted."""
        return None if self.given is None else findings.risk_histogram(self.given)

    @property
    def after(self) -> RiskHistogram:
        """Risks of the release."""
        return findings.risk_histogram(self.plan.output, beside=self.before)

    @cached_property
    def channel(self) -> PublishedChannel | None:
        """The channel that is published, where something is drawn."""
        return channel_made(self.counted, self.rules, self.least)

    def corrected(self, written: Table) -> tuple[CorrectedColumn, ...]:
        """The counts of columns with few values, as a reader of the released data corrects them."""
        columns = () if self.channel is None else self.channel.columns
        few = [each for each in columns if 0 < each.inputs <= FEW_VALUES][:FEW_COLUMNS]
        return tuple(corrected_column(each, written) for each in few)

    def certificate(self, draft: ReleaseDraft, data_file: str, making: Making) -> CountedCertificate:
        """The certificate of the release once its data has been written."""
        plan, bounds, attained = self.plan, self.rules.bounds, self.plan.attained
        return worded(
            CountedCertificate(
                **facts_of(self.counted, self.rules, draft, data_file, making, self.key, self.fingerprint),
                epsilon_low=bounds.low,
                epsilon_high=bounds.high,
                delta=bounds.delta,
                delta_kind=bounds.delta_kind,
                epsilon_max=bounds.epsilon_max,
                holds=attained.holds(bounds),
                attained_epsilon=attained.epsilon,
                attained_delta=attained.delta,
                breach_share=attained.breach_share,
                mechanism=plan.mechanism,
                measures=measures_of(bounds, self.given, plan.output, known=bool(self.counted.question.known)),
                also=tuple(
                    FurtherClaim(each.secret, each.epsilon, reached.epsilon)
                    for each, reached in zip(self.rules.also, plan.attained_also, strict=True)
                ),
                readings=readings_of(attained.epsilon, bounds, plan.proof),
                file=whole_file_of(self.counted, self.rules, self.least),
            )
        )

    def refuse_miswritten(self, written: Table) -> None:
        """Refuse a file that is not, row by row, what the rules make of the original."""
        differ = rows_that_differ(self.counted, written, self.rules, self.key)
        if differ or not self.counted.comes_out_again():
            raise NotCertifiedError(
                f"what was written is not what was counted ({differ:,} rows differ): the source is not the same each "
                "time it is read, or the disk is at fault. Nothing was released"
            )

    def keeps(self, written: Table, certificate: CountedCertificate) -> ReaderKeeps:
        """What readers of the file that was written keep of the table as it was given."""
        question = self.counted.question
        return kept_of_tables(
            question.original,
            written,
            released=question.released,
            use=question.use or None,
            told=certificate.utility.mutual_information if self.rules.treatment.drawn else None,
            whole=self.counted.given_entropy if question.weight is None else None,
            weight=question.weight,
        )

    def entry(self, relation: People, out: Path) -> Entry:
        """What a ledger keeps of the release, but for what it says together with others."""
        plan, rules, question = self.plan, self.rules, self.counted.question
        leaks: dict[Secret, SecretLeak] = {}
        secrets = [(rules.secret, rules.bounds), *((each.secret, each.bounds) for each in rules.also)]
        for (columns, bounds), output in zip(secrets, (plan.output, *plan.further), strict=True):
            values = rules.secret_values if columns == rules.secret else ()
            secret, attained = Secret.of(columns, rules.cuts, values), Attained.of(output, bounds)
            one_sided = math.isinf(bounds.low) and (secret not in leaks or leaks[secret].one_sided)
            leaks[secret] = SecretLeak(secret, attained.low, attained.high, one_sided, float(output.prior.min()))
        return Entry(
            release=str(out.resolve()),
            output_sha256="",
            original=Original.of(question.original, self.counted.n_records),
            weight=question.weight,
            attained=tuple(leaks.values()),
            beta=0.0 if plan.proof is None else plan.proof.beta,
            relation=relation,
            rules=rules,
            mechanism=plan.mechanism.name,
            tacit_version=__version__,
        )

    def headline(self, certificate: CountedCertificate) -> str:
        """What came of it, in one sentence."""
        utility = certificate.utility
        same = f"{max(0.0, 1 - certificate.mechanism.records_merged):.1%} of the records are not merged"
        if certificate.mechanism.mixes:
            same = f"{utility.rows_unchanged:.1%} of the records stay as they were"
        found = "" if certificate.file.holds else f" {file_sentence(certificate.file)}"
        cost = f"{same}, {utility.nmil:.1%} of the information is lost.{found}"
        if certificate.delta == 0:
            return sentence("The release leaks at most {leaks}: {cost}", leaks=_leaks(certificate), cost=cost)
        return sentence(
            "The release leaks at most {epsilon} {excess} {attained:.3g} ({delta:g} allowed), and {breach:.1%} of the "
            "records exceed it for some secret: {cost}",
            epsilon=Nats(certificate.epsilon, 6, rounded="up"),
            excess=_EXCESS[certificate.delta_kind],
            attained=certificate.attained_delta,
            delta=certificate.delta,
            breach=certificate.breach_share,
            cost=cost,
        )

    def diagnosis(self, certificate: CountedCertificate, max_loss: float) -> Sentence | None:
        """What to do when little or nothing of the table came through."""
        merged = certificate.mechanism.records_merged
        if merged < 0.9 or certificate.utility.nmil < 0.5:
            return None
        groups = findings.column_groups(self.counted.symbols)
        gains = []
        for group in groups if len(groups) > 1 and not certificate.also else ():
            without = group.joint_without(self.counted.table)
            gains.append((float(without.marginal[risk(without) <= certificate.epsilon].sum()), group.name))
        start = "Every record was merged" if merged > 1 - 1e-12 else f"{merged:.1%} of the records were merged"
        if certificate.mechanism.mixes:
            start = f"{certificate.utility.nmil:.1%} of the information is lost"
        bound = sentence("epsilon {epsilon}", epsilon=Nats(certificate.epsilon, 6))
        words = "{start}: at {bound} hardly any value is safe on its own."
        texts: list[str] = [sentence(words, start=start, bound="these epsilons" if certificate.also else bound)]
        if gains and max(gains)[0] > 1 - merged + 0.01:
            share, name = max(gains)
            words = "Leaving out column '{name}' makes {share:.1%} of the records safe ({drop})."
            texts.append(sentence(words, name=name, share=share, drop=Setting("drop", name)))
        per_value = self.counted.n_records / self.counted.joint.shape[1]
        if per_value < 20:
            words = "There are only {per_value:.1f} records a value: cut columns more coarsely ({bins})."
            texts.append(sentence(words, per_value=per_value, bins=Setting("bins")))
        hint = suggestion(self.funnel, max_loss=max_loss)
        if hint.epsilon is not None and hint.epsilon > certificate.epsilon and not certificate.mechanism.mixes:
            texts.append(hint.sentence)
        return together(texts)

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        bounds, mechanism, notes = self.rules.bounds, self.plan.mechanism, []
        plainly = mechanism.plain_watchdog_attains or 0.0
        if mechanism.replacement == MIXTURE:
            notes.append(self._mixture_note())
        elif bounds.delta == 0 and plainly > bounds.epsilon + SLACK:
            words = (
                "the risky values alone still tilt towards a secret: the plain watchdog would leak {plainly}. Some "
                "safe values were merged with them (camouflage), which brings the release within epsilon"
            )
            notes.append(sentence(words, plainly=Nats(plainly, 4)))
        if self.plan.proof is not None:
            more = enough(self.counted, bounds, 1 - self.plan.proof.beta)
            notes.append(f"the records proved {self.plan.proof.passed:,} nested releases. {more}".rstrip())
        if self.counted.n_records < FEW_RECORDS:
            notes.append(self._few_note())
        return notes

    def _few_note(self) -> str:
        return (
            f"the table has {self.counted.n_records:,} records: whoever knows who is in it can try out secrets on the "
            "measures before and after, and rule many of them out. Publish the data without certificate.json and "
            "report.html"
        )

    def _mixture_note(self) -> str:
        """Which rung it is, and what it gains over the watchdog."""
        mechanism, utility = self.plan.mechanism, utility_of(self.counted, self.rules)
        least = mechanism.loss_bound or 0.0
        best = ""
        if least >= WORTH_TELLING:
            best = "; no mechanism loses less" + ("" if mechanism.method == "exact" else f" than {least:.2%}")
        stands = "one of several" if self.rules.treatment.drawn else "all values that were merged with it"
        return (
            f"the mechanism is '{mechanism.name}' (effort {mechanism.effort}): it loses {utility.nmil:.2%} of the "
            f"information where one merged set, the watchdog, would lose {mechanism.watchdog_nmil:.2%}{best}. A "
            f"released value stands for {stands}; no column's shares are expected to move by more than "
            f"{utility.column_shift:.1%}"
        )


class CellRelease(CountedRelease):
    """A release in cells: what it keeps is of the table as it was given."""

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """Cells at other epsilons would have to be searched for."""
        return ()

    def headline(self, certificate: CountedCertificate) -> str:
        """What came of it, in one sentence."""
        kept = 1 - certificate.utility.nmil
        shared = f"each shared by {certificate.file.smallest:,} people or more"
        if certificate.mechanism.mixes:
            # In the file a cell may stand less often: what is counted is who has it before it is mixed.
            shared = f"each that of {certificate.file.smallest:,} people or more before they were mixed"
        cost = (
            f"its {certificate.mechanism.values:,} cells, {shared}, keep {kept:.1%} of the information in the table as "
            "it was given."
        )
        if certificate.mechanism.values == 1:
            cost = "its one cell holds everybody, so that it tells nothing: no cut of a column is within the bound."
        elif not certificate.file.holds:
            cost = f"it keeps {kept:.1%} of the information in the table as given. {file_sentence(certificate.file)}"
        if certificate.delta == 0:
            return sentence("The release leaks at most {leaks}: {cost}", leaks=_leaks(certificate), cost=cost)
        words = "The release leaks at most {epsilon} {excess} {attained:.3g} ({delta:g} allowed): {cost}"
        epsilon, excess = Nats(certificate.epsilon, 6, rounded="up"), _EXCESS[certificate.delta_kind]
        attained, delta = certificate.attained_delta, certificate.delta
        return sentence(words, epsilon=epsilon, excess=excess, attained=attained, delta=delta, cost=cost)

    def remarks(self) -> list[str]:
        """What else the owner should know."""
        notes = [self._few_note()] if self.counted.n_records < FEW_RECORDS else []
        code, question = self.rules.code, self.counted.question
        told = {} if code is None else dict(zip(code.columns, code.written, strict=True))
        for name in question.use:
            if len({*told.get(name, ("", "any"))}) == 1:
                words = (
                    "column '{name}' is to be of use and is told nowhere, so that nothing can be learned of it: name "
                    "the values that are secret ({secret}), or bound one side alone ({high})"
                )
                named = Setting("secret", {question.secret[0]: ("VALUE",)})
                notes.append(sentence(words, name=name, secret=named, high=Setting("epsilon_high")))
        proof = self.plan.proof
        if proof is not None:
            notes.append(
                f"{proof.records_to_choose:,} records chose the cells and {proof.records_to_prove:,} proved them: of "
                f"{proof.candidates:,} questions {proof.passed:,} passed"
            )
        return notes

    def diagnosis(self, certificate: CountedCertificate, max_loss: float) -> Sentence | None:
        """What to do when hardly anything of the table came through."""
        if certificate.mechanism.values > 1:
            return None
        words = "No cut of any column keeps {bound} with {least} people on both sides: nothing of the table is told."
        bound, least = Nats(certificate.epsilon, 6), self.least
        return sentence(words, bound=bound, least=least)


def _leaks(certificate: CountedCertificate) -> Sentence:
    """What is attained and what was asked, of the sides that are bounded."""
    low, high = certificate.epsilon_low, certificate.epsilon_high
    at = "" if certificate.thresholds is None else f" at any threshold of {certificate.secret[0]}"
    words = "{attained}{at} ({high} were asked upwards, {low} downwards)"
    if low == high:
        words = "{attained}{at} ({high} were asked)"
    elif math.isinf(low):
        words = "{attained} upwards{at} ({high} were asked, and no bound downwards)"
    attained = Nats(certificate.attained_epsilon, 4, rounded="up")
    return sentence(words, attained=attained, at=at, high=Nats(high, 6), low=Nats(low, 6))
