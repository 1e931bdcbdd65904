"""The first answer of an audit: who is at risk, what gives it away, what to do. Short, and before any measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tacit import document as doc
from tacit.errors import Command, Sentence, Setting, sentence
from tacit.lenses.table.answers.advice import changed, chosen, cure_of, secrets_released
from tacit.lenses.table.answers.ladder import people
from tacit.lenses.table.ladder.fixes import FixEffect
from tacit.lenses.table.linkage.results import FoundBy, PeopleFound
from tacit.lenses.table.results import ColumnLeak
from tacit.lenses.table.roles.names import secret_in

if TYPE_CHECKING:
    from tacit.lenses.table.answers.audit import AuditResult

_COLUMNS_TOLD = 8
OF = 1_000


def of_thousand(part: float, whole: float) -> str:
    """People of 1,000, or of all where there are fewer; never nobody where there is somebody."""
    if whole < OF:
        return f"{round(part)} of {round(whole)}"
    people = OF * part / whole
    return f"fewer than 1 of {OF:,}" if 0 < people < 1 else f"{round(people):,} of {OF:,}"


# ---- who is at risk ----


def who_section(audit: AuditResult) -> doc.Section:
    """How many people could be found, and whose secret could be guessed, against guessing without the table."""
    items = [*_found(audit.found)] if audit.found else []
    items.append(_guessed(audit))
    return doc.Section("Who is at risk", (doc.Bullets(items),))


def _found(found: PeopleFound) -> Iterator[Sentence]:
    by = {each.why: each for each in found.sets}
    everything = by.get("what may be known", found.everything)
    people, alone = everything.sizes.people, everything.sizes.unique
    what = "in what may be known of them" if everything.why == "what may be known" else "in the released columns"
    if not alone:
        words = f"Nobody could be found: the same values {what} are shared by {{}} or more."
        yield sentence(words, doc.Count(everything.sizes.smallest, "person", "people"))
        return
    verb = "is" if alone == 1 and people < OF else "are"
    words = f"{of_thousand(alone, people)} people {verb} alone with their values {what}: whoever knows them finds the "
    words += "record."
    few = next((by[why] for why in ("few columns", "one column") if why in by), None)
    if few is not None and few.sizes.unique and everything is found.everything:
        words += f" {_named(few)} alone would do for {of_thousand(few.sizes.unique, people)}."
    yield Sentence(words)


def _known(audit: AuditResult) -> list[str]:
    """The released columns that somebody may know."""
    sets = audit.found.sets if audit.found else ()
    return [name for each in sets if each.why == "what may be known" for name in each.columns]


def _named(found: FoundBy) -> str:
    *first, last = (f"'{doc.shorten(name, 24)}'" for name in found.columns)
    return f"{', '.join(first)} and {last}" if first else last


def _guessed(audit: AuditResult) -> Sentence:
    """Guesses by somebody who learned from other records, so that what is chance does not count."""
    secret, ladder = doc.listed(audit.names("secret")), audit.ladder
    more = round(ladder.original.guessed)
    without = f"without them ({round(ladder.prior):,} of {OF:,})"
    if _known(audit):
        without = "from what may be known alone"
    if more < 1:
        words = f"No model that was tried guesses anybody's {secret} better from the released columns than {without}."
        return Sentence(words)
    guessed = f"the {secret} of at least {more:,} more could be guessed right"
    return Sentence(f"Of {OF:,} people, {guessed} from the released columns than {without}.")


# ---- what gives it away ----


def surviving(leaks: Sequence[ColumnLeak]) -> list[ColumnLeak]:
    """The columns that give away more by themselves than chance shows, the loudest first."""
    real = [leak for leak in leaks if leak.alone_verdict == "leak"]
    return sorted(real, key=lambda leak: leak.alone_null - leak.alone)


def what_section(audit: AuditResult) -> doc.Section:
    """The columns whose share survives chance, in order; the others in one line."""
    loud = surviving(audit.column_leaks)
    whole = next((m.ceiling for m in audit.measures if m.name == "mutual_information"), 0.0) or 1.0
    secret = doc.listed(audit.names("secret"))
    blocks: list[doc.Block] = []
    if loud:
        head = sentence(">Share of the uncertainty about {}\nby itself, beyond chance", doc.shorten(secret, 24))
        rows = [
            (
                doc.Cell(doc.DataValue(leak.name, 32), style="bold"),
                doc.Share(max(0.0, leak.alone - leak.alone_null) / whole),
            )
            for leak in loud
        ]
        blocks.append(doc.TableBlock(("Column", head), rows, shown=range(_COLUMNS_TOLD), more="columns"))
    unclear = [leak.name for leak in audit.column_leaks if leak.alone_verdict == "cannot tell"]
    quiet = [leak.name for leak in audit.column_leaks if leak not in loud and leak.name not in unclear]
    if unclear:
        names = doc.listed(unclear, limit=_COLUMNS_TOLD)
        blocks.append(doc.Paragraph(f"Cannot be told by counting, as nearly every value differs: {names}."))
    if quiet:
        by = "By themselves, no leak was detected in" if loud else "No column gives anything away by itself"
        names = doc.listed(quiet, limit=_COLUMNS_TOLD)
        blocks.append(doc.Paragraph(f"{by}: {names}." if loud else f"{by} that chance would not show: {names}."))
    return doc.Section("What gives it away", blocks)


# ---- what to do ----


def do_section(audit: AuditResult) -> doc.Section:
    """Columns that are released and look secret; what to leave out or to tell more coarsely; the command."""
    return doc.Section("What to do", [*_warnings(audit), *_changes(audit)])


def _warnings(audit: AuditResult) -> Iterator[doc.Block]:
    """A released column that is named like a secret is not hidden by anything."""
    for name in secrets_released(audit):
        words = "'{name}' is named like {what} and is released: everybody will read it. Leave it out ({drop}), or ask "
        words += "about it, too ({ask})."
        told = {"what": secret_in(name), "drop": Setting("drop", name), "ask": Setting("secret", name)}
        yield doc.Paragraph(sentence(words, name=doc.DataValue(name, 32), **told), "warning")


def _changes(audit: AuditResult) -> Iterator[doc.Block]:
    """What each change of one column would do, beside the table as it is; and the levels that hide most people."""
    fixes, columns = audit.fixes, len(audit.names("released"))
    best = chosen(fixes) if fixes is not None else []
    if fixes is not None and best:
        heads = ("Change", f">Found\nof {OF:,}", f">Guessed\nof {OF:,}", ">Kept of\nthe columns")
        as_it_is = doc.Row(("as it is", people(fixes.found), people(fixes.guessed), doc.Share(1.0)))
        rows = [
            (
                sentence("{}", fix.setting),
                people(fix.found),
                people(fix.guessed),
                doc.Share(1 - (1 - fix.kept) / columns),
            )
            for fix in best
        ]
        yield doc.TableBlock(heads, [as_it_is, *rows])
        words = "Found: people whose values nobody else has. Guessed: secrets that are guessed right beyond guessing "
        words += "without the table, at least so many. Each line by itself{sample}. See what stays: {again}"
        sample = "" if fixes.sampled is None else f", estimated from {fixes.sampled:,} records"
        yield doc.Paragraph(sentence(words, again=_again(audit, best[0]), sample=sample), "note")
    cure = cure_of(audit)
    if cure is not None and audit.found is not None:
        words = "To hide people, tell less of several columns: {left} people stay alone with {levels}"
        left = of_thousand(cure.unique, audit.found.everything.sizes.people)
        yield doc.Paragraph(sentence(words, levels=Setting("levels", dict(cure.levels)), left=left))
    if not best:
        yield doc.Paragraph("No change of one column does much. What a release would do is told below.")


def _again(audit: AuditResult, fix: FixEffect) -> Command:
    """The same audit with one change."""
    # A frame has no bytes to hash, and no name to type.
    source = doc.FilePath(audit.source.name) if audit.source.sha256 else "TABLE"
    return Command("audit", source, **changed(audit, fix))
