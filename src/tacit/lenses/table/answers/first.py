"""The first answer of an audit: who is at risk, what gives it away, what to do. Short, and before any measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tacit import document as doc
from tacit.errors import Command, Sentence, Setting, sentence, together
from tacit.lenses.table.answers.ladder import people
from tacit.lenses.table.ladder.advice import changed, chosen, cure_of, kept_of_all, secrets_released
from tacit.lenses.table.ladder.fixes import FixEffect
from tacit.lenses.table.learned.surviving import swamps
from tacit.lenses.table.linkage.results import FoundBy, PeopleFound
from tacit.lenses.table.results import ColumnLeak
from tacit.lenses.table.roles.names import secret_in

if TYPE_CHECKING:
    from tacit.lenses.table.answers.audit import AuditResult

# The first answer has forty lines, which leaves room for this many columns, changes and levels of a cure.
_COLUMNS_TOLD = 5
_QUIET_TOLD = 4
_CHANGES_TOLD = 3
_LEVELS_TOLD = 3
OF = 1_000


def of_thousand(part: float, whole: float) -> str:
    """People out of 1,000, or out of all if there are fewer; somebody is never rounded down to nobody."""
    if whole < OF:
        return f"{round(part)} of {round(whole)}"
    people = OF * part / whole
    return f"fewer than 1 of {OF:,}" if 0 < people < 1 else f"{round(people):,} of {OF:,}"


# ---- who is at risk ----


def who_section(audit: AuditResult) -> doc.Section:
    """How many people could be found, and whose secret could be guessed, against guessing without the table."""
    items = [*_who_is_found(audit.found)] if audit.found else []
    items.append(_guessed(audit))
    return doc.Section("Who is at risk", (doc.Bullets(items),))


def _who_is_found(counted: PeopleFound) -> Iterator[Sentence]:
    by = {each.why: each for each in counted.sets}
    everything = by.get("what may be known", counted.everything)
    people, alone = everything.sizes.people, everything.sizes.unique
    what = "in what may be known about them" if everything.why == "what may be known" else "in the released columns"
    if not alone:
        words = f"Nobody could be found: the same values {what} are shared by {{}} or more."
        yield sentence(words, doc.Count(everything.sizes.smallest, "person", "people"))
        return
    verb = "is" if alone == 1 and people < OF else "are"
    words = (
        f"{of_thousand(alone, people)} people {verb} alone with their values {what}: anyone who knows them finds the "
    )
    words += "record"
    few = next((by[why] for why in ("few columns", "one column") if why in by), None)
    if few is not None and few.sizes.unique and everything is counted.everything:
        words += f"; {_named(few)} alone would do for {of_thousand(few.sizes.unique, people)}"
    yield Sentence(f"{words}.")


def _known(audit: AuditResult) -> list[str]:
    """The released columns that somebody may know."""
    sets = audit.found.sets if audit.found else ()
    return [name for each in sets if each.why == "what may be known" for name in each.columns]


def _named(reader: FoundBy) -> str:
    *first, last = (f"'{doc.shorten(name, 24)}'" for name in reader.columns)
    return f"{', '.join(first)} and {last}" if first else last


def _guessed(audit: AuditResult) -> Sentence:
    """Guesses by somebody who learned from other records, so that chance does not count."""
    secret, ladder = doc.listed(audit.names("secret")), audit.ladder
    # The ladder starts from the file itself; what is examined may be at coarser levels.
    more = round((audit.fixes or ladder.original).guessed)
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
    """The columns that give away more by themselves than chance would show, the loudest first."""
    real = [leak for leak in leaks if leak.alone_verdict == "leak"]
    return sorted(real, key=lambda leak: leak.alone_null - leak.alone)


def what_section(audit: AuditResult) -> doc.Section:
    """The columns whose share survives chance, in order; the others in one line. The page has them in a table."""
    whole = next((m.ceiling for m in audit.measures if m.name == "mutual_information"), 0.0) or 1.0
    real = surviving(audit.column_leaks)
    shares = [
        (doc.DataValue(leak.name, 32), doc.Share(max(0.0, leak.alone - leak.alone_null) / whole)) for leak in real
    ]
    secret = doc.shorten(doc.listed(audit.names("secret")), 24)
    blocks: list[doc.Block] = []
    if real:
        head = sentence(">Share of the uncertainty about {}\nby itself, beyond chance", secret)
        rows = [(doc.Cell(name, style="bold"), part) for name, part in shares]
        blocks.append(doc.TableBlock(("Column", head), rows, where="page"))
        named = together([sentence("{} {}", *each) for each in shares[:_COLUMNS_TOLD]], ", ")
        rest = len(real) - _COLUMNS_TOLD
        words = "{named} of the uncertainty about {secret}, each on its own and beyond chance{rest}."
        less = f"; {rest} more show less" if rest > 0 else ""
        blocks.append(doc.Paragraph(sentence(words, named=named, secret=secret, rest=less), where="terminal"))
        rough = [leak for leak in real if swamps(leak.alone_null, leak.alone, whole)][:_COLUMNS_TOLD]
        if rough:
            chance = [
                sentence("{} {}", doc.DataValue(leak.name, 32), doc.Share(leak.alone_null / whole)) for leak in rough
            ]
            words = "Rough, because chance alone shows much of it; shuffled secrets show up to: {}."
            blocks.append(doc.Paragraph(sentence(words, together(chance, ", "))))
    unclear = [leak.name for leak in audit.column_leaks if leak.alone_verdict == "cannot tell"]
    quiet = [leak.name for leak in audit.column_leaks if leak not in real and leak.name not in unclear]
    if unclear:
        names = doc.listed(unclear, limit=_QUIET_TOLD)
        blocks.append(doc.Paragraph(f"Counting cannot tell, because nearly every value differs: {names}."))
    if quiet:
        by = "No leak by itself" if real else "No column on its own gives away more than chance would show"
        blocks.append(doc.Paragraph(f"{by}: {doc.listed(quiet, limit=_QUIET_TOLD)}."))
    return doc.Section("What gives it away", blocks)


# ---- what to do ----


def do_section(audit: AuditResult) -> doc.Section:
    """Released columns that look secret; what to leave out or tell more coarsely; the command."""
    warned = [*_warnings(audit)]
    return doc.Section("What to do", [*warned, *_changes(audit, few=bool(warned))])


def _warnings(audit: AuditResult) -> Iterator[doc.Block]:
    """A warning about released columns that are named like secrets: nothing hides them."""
    named = {name: secret_in(name) or "" for name in secrets_released(audit)}
    if not named:
        return
    several = len(named) > 1
    words = f"{{names}} {'are' if several else 'is'} named like {{what}} and released: everybody will read "
    words += f"{'them' if several else 'it'}. Leave out: {{drop}}"
    quoted = doc.listed([f"'{doc.shorten(name, 32)}'" for name in named], limit=_QUIET_TOLD)
    kinds = " or ".join(dict.fromkeys(named.values()))
    text = sentence(words, names=quoted, what=kinds, drop=Setting("drop", [*named]))
    yield doc.Paragraph(text, "warning")


def _changes(audit: AuditResult, *, few: bool) -> Iterator[doc.Block]:
    """What changing a single column would do, next to the original table; and the levels that hide most people.

    ``few``: list fewer changes, because a warning comes before them and the first answer has to be short.
    """
    fixes = audit.fixes
    best = chosen(fixes)[: _CHANGES_TOLD - 2 * few] if fixes is not None else []
    if fixes is not None and best:
        heads = (f"Change (people of {OF:,})", ">Found", ">Guessed", ">Kept")
        unchanged = doc.Row(("no change", people(fixes.found), people(fixes.guessed), doc.Share(1.0)))
        rows = [
            (
                sentence("{}", fix.setting),
                people(fix.found),
                people(fix.guessed),
                doc.Share(kept_of_all(audit, fix)),
            )
            for fix in best
        ]
        yield doc.TableBlock(heads, [unchanged, *rows])
        words = (
            "Found: nobody else has their values. Guessed: at least this many more than without the table. Kept: of "
            "the columns. Each line on its own"
        )
        if fixes.sampled is not None:
            words += ", estimated from {sampled}" + (
                " (Found: counted on all)" if fixes.counted else ", among which more people are alone than among all"
            )
        words += "."
        sampled = doc.Count(fixes.sampled or 0, "record")
        yield doc.Paragraph(sentence(words, sampled=sampled), "note")
        yield doc.Paragraph(sentence("{}", _again(audit, best[0])), label="See what remains")
    cure = cure_of(audit)
    short = len(best) + 2 * few < _CHANGES_TOLD
    if cure is not None and audit.found is not None and short and len(cure.levels) <= _LEVELS_TOLD:
        words = "{left} people stay alone with {levels}"
        left = of_thousand(cure.unique, audit.found.everything.sizes.people)
        yield doc.Paragraph(sentence(words, levels=Setting("levels", dict(cure.levels)), left=left))
    if not best:
        yield doc.Paragraph("No change to one column does much. What a release would do is shown below.")


def _again(audit: AuditResult, fix: FixEffect) -> Command:
    """The same audit with one change."""
    # A frame has no bytes to hash, and no name that could be typed in a command.
    source = doc.FilePath(audit.source.name) if audit.source.sha256 else "TABLE"
    return Command("audit", source, **changed(audit, fix))
