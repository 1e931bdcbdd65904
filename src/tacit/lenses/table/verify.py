"""``verify`` of a table: is the claim of a release true? Recomputed from the released data and the original."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tacit.codes.code import CellCode
from tacit.codes.coding import sample_in_cells
from tacit.document import Nats, Progress, silent
from tacit.errors import ArgumentError, Command, UnknownValueError, sentence
from tacit.lenses.table.certifying import channel_made
from tacit.lenses.table.checks.claim import checks_of_claim, checks_of_utility
from tacit.lenses.table.checks.parts import NOT_CHECKED, check_of_ends, check_of_parts
from tacit.lenses.table.checks.people import check_of_people
from tacit.lenses.table.checks.reader import checks_of_reader
from tacit.lenses.table.checks.rows import RowComparison, check_of_merging, check_of_rows_made_again, made_again
from tacit.lenses.table.kept.tables import MOST_ROWS
from tacit.lenses.table.mechanisms import outputs_of
from tacit.lenses.table.question import TableQuestion, ask
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift import TOLERANCE, Joint, crosstab
from tacit.loading import file_sha256
from tacit.release import checks as release_checks
from tacit.release.certificate import IN_CELLS, NOT_MADE_AGAIN, AnyCertificate, CountedCertificate, read_certificate
from tacit.release.channel import PublishedChannel
from tacit.release.checks import RECOMPUTED, Check, CheckedRelease, checked, plainly_written, same, sha256_as_written
from tacit.release.claims import NOTHING_DRAWN, attained_in_words, file_sentence
from tacit.release.codec import text_of
from tacit.release.directory import CHANNEL, KEY, PRIVATE, SALT
from tacit.release.keys import committed, secret_bytes_in
from tacit.release.levels import LEVELS, PublishedCode, read_code
from tacit.release.rules import RULES, ReleaseRules
from tacit.release.treatment import Merging, Mixing
from tacit.requests import Question
from tacit.tables.counting import counted_whole
from tacit.tables.formats import written_as
from tacit.tables.sources import open_table
from tacit.tables.table import Table

_NEEDS_RULES = f"needs {PRIVATE}/{RULES}"


@dataclass(frozen=True)
class TableRelease:
    """A release that was read: its certificate, its data and, for the owner, its rules and its salt."""

    directory: Path
    certificate: CountedCertificate
    data: Table
    rules: ReleaseRules | None
    salt: bytes | None
    key: bytes | None
    code: CellCode | None = None

    @property
    def drawn(self) -> bool:
        """Whether anything in it was drawn at random."""
        if self.rules is not None:
            return self.rules.treatment.drawn
        return not self.certificate.randomness.startswith(NOTHING_DRAWN)


def open_release(directory: str | Path, *, certificate: AnyCertificate | None = None) -> TableRelease:
    """Read the release of a table that ``protect`` wrote; ``certificate`` is its own, if that was read before.

    Its data is a file on this machine, which an engine's workers may not see, so DuckDB reads it.
    """
    folder = Path(directory)
    certificate = read_certificate(folder) if certificate is None else certificate
    if not isinstance(certificate, CountedCertificate):
        raise ArgumentError(
            f"{folder} is a release of {certificate.kind}, which this does not support yet: its adversaries were "
            "trained when it was made, see its report.html"
        )
    data, rules = open_table(folder / certificate.output.file), folder / PRIVATE / RULES
    loaded = ReleaseRules.load(rules) if rules.exists() else None
    salt, key = (secret_bytes_in(folder / PRIVATE / name) for name in (SALT, KEY))
    return TableRelease(folder, certificate, data, loaded, salt, key, read_code(folder))


def verify_table(
    directory: str | Path,
    certificate: CountedCertificate,
    *,
    against: Any = None,
    engine: str = "duckdb",
    progress: Progress = silent,
) -> CheckedRelease:
    """Check the claim of the release of a table; ``tacit.verify`` says what is guaranteed."""
    release = open_release(directory, certificate=certificate)
    checks = _checks_of_papers(release)
    if against is not None:
        progress("counting the original", None)
        checks += _checks_against(release, against, engine, progress)
    else:
        command = Command("verify", "RELEASE", against="TABLE")
        checks.append(Check(RECOMPUTED, None, sentence("needs the original: {command}", command=command)))
    outcome = checked(
        certificate,
        checks,
        holds=_headline(certificate),
        broken="The claim is broken",
        unsure="Not all of the claim was checked",
        notes=_notes(release, against is not None),
    )
    return replace(outcome, whole_file=certificate.file.holds)


def _headline(certificate: CountedCertificate) -> str:
    """The headline if everything holds."""
    start = "The claim holds" if certificate.file.holds else "The claim holds row by row"
    what, file = attained_in_words(certificate), file_sentence(certificate.file)
    words = "{start}, recomputed from the original and the release. {what}. {file}"
    return sentence(words, start=start, what=what, file=file)


def _notes(release: TableRelease, against: bool) -> tuple[str, ...]:
    """What the release states that could not be checked, though nothing speaks against it."""
    certificate, notes = release.certificate, [*release_checks.notes_on_files(release.directory, release.certificate)]
    notes.append(f"taken from the certificate unchecked: {', '.join(NOT_MADE_AGAIN)}")
    if release.drawn:
        notes.append(
            "taken from the certificate: that the key came from the system's secure source, and is not one of many "
            "that were tried"
        )
    if certificate.output.parts:
        notes.append(NOT_CHECKED)
    if certificate.mechanism.loss_bound is not None:
        notes.append("what the watchdog and the best mechanism would lose was not computed again")
    if certificate.composition is not None:
        notes.append("what this and earlier releases say together was not checked: that takes the owner's ledger")
    if certificate.keeps is not None and certificate.keeps.use:
        notes.append("how well the release predicts columns was not computed again: that takes other models")
    if against and release.rules is None and certificate.mechanism.replacement != IN_CELLS:
        notes.append(f"rows and cells unchanged were not checked: that takes {PRIVATE}/{RULES}")
        if certificate.output.channel_sha256 is not None:
            notes.append(f"whether {CHANNEL} is what was done was not checked: that takes {PRIVATE}/{RULES}")
    return tuple(notes)


def _checks_of_papers(release: TableRelease) -> list[Check]:
    certificate, data = release.certificate, release.data
    attained, bound = Nats(certificate.attained_epsilon, 6), Nats(certificate.epsilon, 6)
    agreed = sentence("attained {attained} of {bound}", attained=attained, bound=bound)
    checks = release_checks.checks_of_papers(release.directory, certificate, drawn=release.drawn, learned_here=False)
    hidden = {*certificate.secret, *(name for each in certificate.also for name in each.secret)}
    expected = {*certificate.released, *(hidden - set(certificate.left_out))}
    checks += [
        same("number of records", data.row_count(), certificate.output.records, what="records"),
        Check("columns", expected == set(data.names), f"the file holds {', '.join(data.names)}"),
        Check("certificate agrees with itself", certificate.holds and _within(certificate), agreed),
    ]
    output, only = certificate.output, "a release has one if something was drawn, and only then"
    for name, there in (("channel is published", output.channel_sha256), ("key is committed to", output.key_sha256)):
        if release.drawn != (there is not None):
            checks.append(Check(name, False, only))
    return [*checks, *_checks_of_bytes(release)]


def _checks_of_bytes(release: TableRelease) -> list[Check]:
    """Whether levels and channel are written as Tacit writes them."""
    papers = {} if release.code is None else {LEVELS: text_of(PublishedCode.of(release.code))}
    if (release.directory / CHANNEL).exists():
        papers[CHANNEL] = text_of(PublishedChannel.load(release.directory / CHANNEL))
    return plainly_written(release.directory, papers)


def _within(certificate: CountedCertificate) -> bool:
    """Whether what the certificate attains is within what it claims."""
    within = certificate.attained_epsilon <= certificate.epsilon
    relaxed = certificate.delta > 0 and certificate.attained_delta <= certificate.delta * (1 + TOLERANCE)
    return (within or relaxed) and all(each.attained_epsilon <= each.epsilon for each in certificate.also)


def question_of(release: TableRelease, against: Any, *, engine: str = "duckdb") -> TableQuestion:
    """The question that a release answered, asked again of a table, which is written in the cells of the release."""
    certificate, code = release.certificate, release.code
    secret, released, weight = certificate.secret, certificate.released, certificate.mechanism.weight
    also = [each.secret for each in certificate.also]
    keep = tuple(dict.fromkeys([*secret, *(name for each in also for name in each), *released]))
    named = {secret[0]: certificate.secret_values} if certificate.secret_values else secret
    question = Question(against, secret=named, released=released, weight=weight, keep_id=keep, engine=engine)
    if code is None:
        return ask(question, also=also, cuts=certificate.cuts)
    table_question = ask(question, also=also, cuts=certificate.cuts, in_cells=True, thresholds=certificate.thresholds)
    counted_whole(table_question.table, [*table_question.hidden, *table_question.released], look=MOST_ROWS)
    return table_question.coded(code)


def compare(release: TableRelease, question: TableQuestion) -> RowComparison:
    """Count the original, and set the release against it."""
    return RowComparison(counted(question), release.data, release.certificate, release.rules)


def output_joints(release: TableRelease, rows: RowComparison) -> list[Joint]:
    """The joint of each secret and the output; without the rules, only of the first secret, as the rows show it.

    Outputs of merged records are then counted as one: they do not depend on the value, so they all share one lift.
    The outputs of a mixture are counted as drawn, which chance puts a little off what the rules call for.
    """
    if release.certificate.mechanism.replacement == IN_CELLS:
        return [rows.original.joint, *rows.original.further]
    if release.rules is not None:
        return outputs_of(rows.original, release.rules)
    pairs = rows.pairs
    if release.certificate.mechanism.mixes:
        return [Joint.from_counts(crosstab(pairs.secret, pairs.output, pairs.records))]
    return [rows.original.joint.pooled(rows.merged)]


def _checks_against(release: TableRelease, against: Any, engine: str, progress: Progress) -> list[Check]:
    certificate = release.certificate
    try:
        question = question_of(release, against, engine=engine)
    except UnknownValueError as error:
        return [Check("levels of the original", False, str(error))]
    original, claimed = question.original, certificate.input
    checks = []
    # A frame has no fingerprint; a certified file has one.
    printed = claimed.salted_sha256 is not None or written_as(claimed.format).name == claimed.format
    sha256 = original.sha256() if release.salt is not None and printed else None
    if sha256 is not None:
        why = "the certificate has none"
        checks.append(release_checks.check_of_original(sha256, certificate, release.salt, why=why))
    checks.append(same("records of the original", original.row_count(), claimed.records, what="records"))
    left_out = tuple(name for name in original.names if name not in release.data.names)
    checks.append(Check("columns left out", left_out == certificate.left_out, f"the original has {len(left_out)} more"))
    shown = [name for name in original.names if name in release.data.names]
    if list(release.data.names) != shown:
        checks.append(Check("columns in the order of the original", False, "it would be somebody's choice"))
    if original.row_count() != claimed.records or release.data.row_count() != claimed.records:
        return checks
    checks += _checks_of_rules(release)
    if not checks[-1].passed:
        return checks
    progress("comparing row by row", None)
    rows = compare(release, question)
    if certificate.mechanism.replacement == IN_CELLS:
        # Everything in the rules of such a release is published.
        design = None if release.rules is None else release.rules.design
        release = replace(release, rules=rules_in_cells(certificate, rows.original, design))
    again = _is_made_again(release, rows)
    if again and release.rules is not None and release.rules.as_coded and certificate.mechanism.weight is None:
        # The file holds the cells that were counted, and nothing else.
        release.data.remembered.append(rows.original.counts.by(certificate.released))
        _remember_sample(release, rows)
    whole = [check_of_people(certificate, release.rules, rows), *_checks_of_channel(release, rows)]
    whole += checks_of_reader(certificate, rows.original, release.data)
    if certificate.output.parts:
        ends = check_of_ends(certificate.output, question.original)
        plainly = [ends, check_of_parts(release.directory, certificate.output, release.data)]
    else:
        plainly = [_written_plainly(release, rows, again=again)]
    return [*checks, *plainly, *_checks_of_rows(release, rows, again=again), *whole]


def _remember_sample(release: TableRelease, rows: RowComparison) -> None:
    """Keep the sample of the release that is compared with one of the original: its cells, which the file holds."""
    question, data = rows.original.question, release.data
    step, texts = data.step_for(MOST_ROWS), all(data[name].dtype == "String" for name in release.certificate.released)
    if step == 1 or question.code is None or question.cuts or not texts:
        return
    sample = question.original.sample(question.released, MOST_ROWS)
    in_cells = sample_in_cells(sample, question.code, question.original)
    if in_cells is not None:
        data.remember_sample(step, in_cells)


def _is_made_again(release: TableRelease, rows: RowComparison) -> bool:
    """Whether treating the original by the rules and writing it as ``protect`` does gives the file, byte for byte."""
    if release.rules is None or (release.drawn and release.key is None) or release.certificate.output.parts:
        return False
    return _sha256(release, rows, made_again(rows.original, release.data, release.rules, release.key)) == file_sha256(
        release.directory / release.certificate.output.file
    )


def _sha256(release: TableRelease, rows: RowComparison, source: Table) -> str:
    """The SHA-256 of the file that ``protect`` would have written for these rows."""
    data, original = release.data, rows.original.question.original
    like = original if original.format == data.format else data
    return sha256_as_written(source, like, release.certificate.output.file)


def _checks_of_rows(release: TableRelease, rows: RowComparison, *, again: bool) -> list[Check]:
    """What became of every row, and the claims about it; ``again`` says that making the file again gave the same."""
    if release.rules is not None:
        key = [_check_of_key(release)] if release.drawn else []
        right = all(each.passed for each in key)
        line = [check_of_rows_made_again(rows, release.rules, release.key, same=again)] if right else []
        row_checks = [*key, *line]
    elif release.drawn:
        needs = f"one draw does not show how it was made: needs {PRIVATE}/{RULES}, {KEY} and {SALT}"
        row_checks = [Check("every row is as the rules make it", None, needs)]
    else:
        row_checks = [check_of_merging(rows)]
    return [*row_checks, *_checks_of_claims(release, rows)]


def _check_of_key(release: TableRelease) -> Check:
    """Whether the owner's key is the one that the certificate committed to."""
    name = "key is the one committed to"
    if release.key is None or release.salt is None:
        return Check(name, None, f"needs {PRIVATE}/{KEY} and {PRIVATE}/{SALT}")
    return same(name, committed(release.key, release.salt), release.certificate.output.key_sha256, what="SHA-256")


def _checks_of_channel(release: TableRelease, rows: RowComparison) -> list[Check]:
    """Whether the published channel is what the rules did to this table."""
    path, rules = release.directory / CHANNEL, release.rules
    if rules is None or not path.exists():
        return []
    right = channel_made(rows.original, rules, release.certificate.file.least)
    alike = right is not None and right.agrees(PublishedChannel.load(path))
    return [Check("channel is that of the rules", alike, "computed again" if alike else "a different one comes out")]


def _checks_of_claims(release: TableRelease, rows: RowComparison) -> list[Check]:
    """What is claimed, computed again."""
    certificate = release.certificate
    design = None if release.rules is None else release.rules.design
    claims = checks_of_claim(certificate, rows.original, output_joints(release, rows), rows.merged, design)
    if release.rules is not None:
        return [*claims, *checks_of_utility(certificate, rows.original, release.rules, rows.merged)]
    if certificate.mechanism.mixes or certificate.also:
        unsure = f"the rows do not show how values were mixed; {_NEEDS_RULES}"
        return [Check(check.name, None, unsure) for check in claims]
    if int(rows.merged.sum()) != certificate.mechanism.values_merged:
        # A failure may then be due to our guess at which values were merged, not to the release.
        unsure = f"the rows do not show which values were merged; {_NEEDS_RULES}"
        return [check if check.passed else Check(check.name, None, unsure) for check in claims]
    return claims


def rules_in_cells(certificate: CountedCertificate, original: Counted, design: CellCode | None) -> ReleaseRules:
    """The rules of a release in cells, from what is published; only the ``design`` is the owner's."""
    return ReleaseRules(
        secret=certificate.secret,
        released=certificate.released,
        cuts=certificate.cuts,
        symbols=original.symbols,
        treatment=Merging(np.zeros(original.joint.shape[1], dtype=bool), None),
        bounds=certificate.bounds,
        also=certificate.further,
        secret_values=certificate.secret_values,
        least=certificate.file.least,
        code=original.question.code,
        design=design,
    )


def _written_plainly(release: TableRelease, rows: RowComparison, *, again: bool) -> Check:
    """A file can say things between its cells (spaces, quotes, metadata): its rows, written again, must be its bytes.

    The rows come from the original, treated as ``protect`` does (``again`` says that this gave the file), or else from
    the file: how Parquet stores texts depends on where they come from.
    """
    name, data, sha256 = "file is written plainly", release.data, release.certificate.output.sha256
    certified = again and file_sha256(release.directory / release.certificate.output.file) == sha256
    if certified or _sha256(release, rows, data) == sha256:
        return Check(name, True, "every byte is as protect writes it")
    if written_as(data.format).bytes_vary or data.codec is not None:
        why = "this version of Tacit writes other bytes"
        return Check(name, None, why if release.rules is not None else f"{why}; {_NEEDS_RULES}")
    return Check(name, False, "its bytes say more than its cells")


def _published_form(code: CellCode | None) -> str | None:
    """A code in the form in which it is published."""
    return None if code is None else text_of(code.as_told())


def _checks_of_rules(release: TableRelease) -> list[Check]:
    rules, certificate = release.rules, release.certificate
    if rules is None:
        return []
    pairs = (
        (rules.secret, certificate.secret),
        (rules.released, certificate.released),
        (rules.bounds, certificate.bounds),
        (rules.also, certificate.further),
        (isinstance(rules.treatment, Mixing), certificate.mechanism.mixes),
        (_published_form(rules.code), _published_form(release.code)),
        (rules.weight, certificate.mechanism.weight),
    )
    alike = all(ours == certified for ours, certified in pairs)
    detail = "secret, released, bounds, levels and mechanism agree" if alike else "they differ"
    return [Check("rules belong to the certificate", alike, detail)]
