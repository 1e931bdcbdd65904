"""What a release of a table will be, before a row is written, and what is said about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tacit import __version__
from tacit.document import CurvePoint, Nats, RiskHistogram
from tacit.errors import NotCertifiedError, Sentence, Setting, sentence, together
from tacit.lenses.table import findings
from tacit.lenses.table.certifying.facts import (
    channel_made,
    facts_of,
    given_joint,
    measures_of,
    utility_of,
    whole_file_of,
)
from tacit.lenses.table.checks.rows import rows_that_differ, written_as_counted
from tacit.lenses.table.correcting import corrected_column
from tacit.lenses.table.kept.tables import kept_of_tables
from tacit.lenses.table.mechanisms import Plan, enough
from tacit.lenses.table.mechanisms.merged_set import affordable, curve_points
from tacit.lenses.table.reading.countable import CountableValues, countable_values
from tacit.lenses.table.results import CorrectedColumn
from tacit.lenses.table.tabulating import Counted
from tacit.lift import SLACK, Funnel, Joint, funnel, risk
from tacit.release.bounds import Attained
from tacit.release.certificate import MIXTURE, CountedCertificate, FurtherClaim
from tacit.release.channel import PublishedChannel
from tacit.release.claims import attained_in_words, file_sentence, readings_of, worded
from tacit.release.directory import ReleaseDraft
from tacit.release.kept import ReaderKeeps
from tacit.release.ledger.file import Entry, Original, People, SecretLeak
from tacit.release.ledger.together import Secret
from tacit.release.levels import PublishedCode
from tacit.release.rules import ReleaseRules
from tacit.requests import Making
from tacit.tables.table import Table

# Corrected counts are shown for at most this many columns, each with at most this many values.
FEW_COLUMNS, FEW_VALUES = 8, 12
# With fewer records than this, few assignments of the secrets fit the measures of a table.
FEW_RECORDS = 200
# A bound on the loss below this share is not worth a sentence.
WORTH_TELLING = 5e-4


@dataclass(frozen=True)
class CountedRelease:
    """What a release will be, before a row is written; everything in it was counted."""

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
        """The joint of the secret and the original table; None if it was not counted."""
        return given_joint(self.counted)

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """What other epsilons would cost with one merged set; empty for other mechanisms, whose costs differ."""
        return curve_points(self.funnel) if self.plan.mechanism.name == "watchdog" else ()

    @cached_property
    def before(self) -> RiskHistogram | None:
        """Risks of the original table; None if it was not counted."""
        return None if self.given is None else findings.risk_histogram(self.given)

    @property
    def after(self) -> RiskHistogram:
        """Risks of the release."""
        return findings.risk_histogram(self.plan.output, beside=self.before)

    @cached_property
    def channel(self) -> PublishedChannel | None:
        """The published channel, if something is drawn."""
        return channel_made(self.counted, self.rules, self.least)

    @property
    def countable(self) -> tuple[CountableValues, ...]:
        """Which values a reader of a release in cells can count; empty if it is drawn or has none."""
        code = self.rules.code
        if code is None or self.rules.treatment.drawn:
            return ()
        return countable_values(PublishedCode.of(code).code, self.counted.symbols, self.counted.people[:-1])

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
        if written_as_counted(self.counted, written, self.rules):
            return
        differ = rows_that_differ(self.counted, written, self.rules, self.key)
        if differ or not self.counted.comes_out_again():
            rows = f"{differ:,} {'row differs' if differ == 1 else 'rows differ'}"
            how = rows if differ else "read again, the source counts differently"
            raise NotCertifiedError(
                f"what was written is not what was counted ({how}): the source changes each time it is read, or the "
                "disk is at fault. Nothing was released"
            )

    def keeps(self, written: Table, certificate: CountedCertificate) -> ReaderKeeps:
        """What readers of the written file keep of the original table."""
        question = self.counted.question
        return kept_of_tables(
            question.original,
            written,
            released=question.released,
            use=question.use or None,
            released_entropy=certificate.utility.mutual_information if self.rules.treatment.drawn else None,
            whole=self.counted.given_entropy if question.weight is None else None,
            weight=question.weight,
        )

    def entry(self, relation: People, out: Path) -> Entry:
        """What a ledger records about the release, except for what it says together with others."""
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
        """The outcome in one sentence."""
        utility = certificate.utility
        same = f"{max(0.0, 1 - certificate.mechanism.records_merged):.1%} of the records are not merged"
        if certificate.mechanism.mixes:
            same = f"{utility.rows_unchanged:.1%} of the records stay unchanged"
        shortfall = "" if certificate.file.holds else f" {file_sentence(certificate.file)}"
        cost = f"{same}, {utility.nmil:.1%} of the information is lost.{shortfall}"
        if certificate.delta > 0:
            cost = f"{certificate.breach_share:.1%} of the records exceed it for some secret, {cost}"
        return sentence("{}: {}", attained_in_words(certificate), cost)

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
            words = "There are only {per_value:.1f} records per value: cut columns more coarsely ({bins})."
            texts.append(sentence(words, per_value=per_value, bins=Setting("bins")))
        hint = affordable(self.funnel, max_loss=max_loss)
        if hint is not None and hint[0] > certificate.epsilon and not certificate.mechanism.mixes:
            texts.append(hint[1])
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
            f"the table has {self.counted.n_records:,} records: anyone who knows who is in it can test guesses of the "
            "secrets on the measures before and after, and rule many out. Publish the data without certificate.json "
            "and report.html"
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
