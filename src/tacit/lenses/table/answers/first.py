"""The first answer of an audit: who is at risk, what gives it away, what to do. Short, and before any measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tacit import document as doc
from tacit.errors import Sentence, Setting, sentence
from tacit.lenses.table.linkage.results import FoundBy, PeopleFound
from tacit.lenses.table.results import ColumnLeak, FirstAnswer
from tacit.lenses.table.roles.names import secret_in

if TYPE_CHECKING:
    from tacit.lenses.table.answers.audit import AuditResult

_COLUMNS_TOLD = 8
_CHANGES_TOLD = 5
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
    if audit.answer is not None:
        items.append(_guessed(audit.answer, audit))
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


def _named(found: FoundBy) -> str:
    *first, last = (f"'{doc.shorten(name, 24)}'" for name in found.columns)
    return f"{', '.join(first)} and {last}" if first else last


def _guessed(answer: FirstAnswer, audit: AuditResult) -> Sentence:
    secret, people = doc.listed(audit.names("secret")), audit.source.records
    with_, without = answer.guessed, answer.prior_guess
    if with_ is None:
        return Sentence(f"Whether {secret} could be guessed from the released columns cannot be told yet.")
    before = of_thousand(without * people, people)
    if with_ <= without or of_thousand(with_ * people, people) == before:
        return Sentence(
            f"Guessing {secret} from the released columns is right for no more than without them: {before}."
        )
    right = of_thousand(with_ * people, people)
    return Sentence(
        f"The {secret} of {right} could be guessed right from the released columns; without them, of {before}."
    )


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
    quiet = [leak.name for leak in audit.column_leaks if leak not in loud]
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
    for name in audit.names("released"):
        what = secret_in(name)
        if what is not None:
            words = (
                "'{name}' is named like {what} and is released: everybody will read it. Leave it out ({drop}), or ask "
            )
            words += "about it, too ({ask})."
            text = sentence(
                words,
                name=doc.DataValue(name, 32),
                what=what,
                drop=Setting("drop", name),
                ask=Setting("secret", name),
            )
            yield doc.Paragraph(text, "warning")


def _changes(audit: AuditResult) -> Iterator[doc.Block]:
    """The loudest column left out, and the levels that would hide most people."""
    items = []
    loud, whole = surviving(audit.column_leaks), audit.answer.counted if audit.answer else 0.0
    if loud and len(audit.column_leaks) > 1:
        left = loud[0].left_out / max(loud[0].left_out + loud[0].given_others, 1e-300) * whole
        words = "Leave out '{name}' ({drop}): of the {before} that were counted, {after} stay."
        drop = Setting("drop", loud[0].name)
        name = doc.DataValue(loud[0].name, 24)
        items.append(sentence(words, name=name, drop=drop, before=doc.Share(whole), after=doc.Share(left)))
    if audit.found is not None and audit.found.cures:
        cure, people = audit.found.cures[-1], audit.found.everything.sizes.people
        words = "Tell less of each value ({levels}): {left} people stay alone."
        levels = Setting("levels", dict(cure.levels))
        items.append(sentence(words, levels=levels, left=of_thousand(cure.unique, people)))
    if items:
        yield doc.Bullets(items)
