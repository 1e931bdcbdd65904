"""The answer of ``audit`` where no secret was named: what the columns seem to be, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from tacit import document as doc
from tacit.errors import Command, Sentence, Setting, sentence
from tacit.lenses.facts import SourceFacts
from tacit.lenses.glossary import OWNER_ONLY
from tacit.lenses.table.roles.names import PERSONS_NUMBER, personal_in
from tacit.report.result import Result

ColumnKind = Literal["identifier", "date", "place", "number", "category", "text", "constant"]

_TOLD = 40
# How many of the coarser levels are listed, finest first.
_LEVELS = 2
# Why a column of amounts is text; told with what would make it numbers.
AMOUNTS = "amounts written as text"
_SAID: dict[ColumnKind, str] = {"text": "free text", "constant": "one value"}


@dataclass(frozen=True)
class GuessedColumn:
    """What a column seems to be, and why. ``distinct`` and ``missing`` count in the rows that were read.

    ``levels`` are the names of the coarser levels that were found, finest first. ``examples`` are at most three common
    values, each of at least ten records.
    """

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    levels: tuple[str, ...]
    likely_secret: bool
    reason: str
    examples: tuple[str, ...]

    @property
    def guess(self) -> str:
        """The guess as people say it."""
        return "likely secret" if self.likely_secret else _SAID.get(self.kind, self.kind)


@dataclass(frozen=True)
class ColumnsResult(Result):
    """The columns of a table with guessed roles; nothing was measured, and nothing is decided.

    ``proposed_secret`` is the likeliest secret, if there is one; ``proposed_drop`` are columns that identify people or
    cannot be counted; ``proposed_known`` is what a neighbour may know. ``looked_at`` is the number of rows that were
    read, ``command`` the audit to run next; ``written`` is the file ending that a release of the table would have.
    """

    has_unit: ClassVar[bool] = False

    source: SourceFacts
    columns: tuple[GuessedColumn, ...]
    proposed_secret: tuple[str, ...]
    proposed_drop: tuple[str, ...]
    proposed_known: tuple[str, ...]
    command: Sentence
    looked_at: int
    written: str

    def document(self) -> doc.Document:
        """The columns in a table, and the command."""
        size = sentence("{} and {}", doc.Count(self.source.records, "record"), doc.Count(len(self.columns), "column"))
        return doc.Document(
            kind="columns",
            name=sentence("The columns of {}", doc.FilePath(self.source.name)),
            badge=doc.Badge("?", "no secret named", "doubt"),
            headline=sentence("Which of these columns must not be learned? Nothing has been measured yet ({}).", size),
            sections=[
                doc.Section("What the columns seem to be", (self._table(), *self._notes())),
                doc.Section("To go on", self._way()),
            ],
            footer=(doc.FilePath(self.source.name), OWNER_ONLY),
        )

    def _table(self) -> doc.TableBlock:
        examples = doc.TableColumn("Common values", where="page")
        heads = (
            doc.TableColumn("Column", least=8),
            "Guess",
            ">Values",
            ">Missing",
            "Can be cut by",
            "Why",
            examples,
        )
        rows = [
            doc.Row(
                (
                    doc.Cell(doc.DataValue(each.name, 24), style="bold"),
                    doc.Cell(each.guess, style="bad" if each.likely_secret else ""),
                    doc.Count(each.distinct),
                    doc.Share(each.missing / max(self.looked_at, 1)),
                    ", ".join(each.levels[:_LEVELS]) + ("…" if each.levels[_LEVELS:] else ""),
                    each.reason,
                    doc.listed(each.examples),
                )
            )
            for each in self.columns
        ]
        return doc.TableBlock(heads, rows, shown=range(_TOLD), more="columns")

    def _notes(self) -> Sequence[doc.Block]:
        words = "These are guesses, from names and from {}. Check them: only you know what is secret."
        looked = doc.Count(self.looked_at, "row")
        return (doc.Paragraph(sentence(words, looked), "note"),)

    def _of_persons(self) -> list[GuessedColumn]:
        """The columns of people's numbers in which a number occurs more than once."""
        repeating = [each for each in self.columns if 1 < each.distinct < self.looked_at - each.missing]
        return [each for each in repeating if personal_in(each.name) == PERSONS_NUMBER]

    def _way(self) -> Sequence[doc.Block]:
        blocks: list[doc.Block] = []
        if not self.proposed_secret:
            words = "No column is named like a secret. Replace COLUMN by the one that must not be learned:"
            blocks.append(doc.Paragraph(words))
        blocks.append(doc.Paragraph(self.command, "claim"))
        items: list[str] = []
        others = [each.name for each in self.columns if each.likely_secret and each.name not in self.proposed_secret]
        if others:
            words = (
                "{names} may also be secret. Ask about each in turn, or leave it out: what you release is not hidden."
            )
            items.append(sentence(words, names=doc.listed(others)))
        if self.proposed_drop:
            words = "{drop} leaves out what singles out one person, or cannot be counted."
            items.append(sentence(words, drop=Setting("drop", list(self.proposed_drop))))
        amounts = [each.name for each in self.columns if each.reason == AMOUNTS and each.name in self.proposed_drop]
        if amounts:
            words = "To keep {names} instead, write the amounts as plain numbers, 1216.04 for £1,216.04: they are then "
            words += "written in ranges."
            items.append(sentence(words, names=doc.listed(amounts)))
        items.extend(
            several_rows(each.name, each.distinct, self.looked_at - each.missing) for each in self._of_persons()
        )
        if self.proposed_known:
            words = (
                "A neighbour may know {names}. If so, say {known}. Then what a row adds to their knowledge is bounded, "
            )
            words += "but not what they can conclude from that knowledge alone."
            known = Setting("known", list(self.proposed_known))
            items.append(sentence(words, names=doc.listed(self.proposed_known), known=known))
        return (*blocks, doc.Bullets(items)) if items else blocks


def several_rows(column: str, values: int, rows: int) -> str:
    """What it means if a column of people's numbers has fewer values than rows."""
    return (
        f"{doc.shorten(column, 32)} has {values:,} values in {rows:,} rows. If these are the people of the table, "
        "some have several rows, and what is said about people is only true of rows: make one row per person first."
    )


def audit_command(source: str, secret: Sequence[str], drop: Sequence[str]) -> Sentence:
    """The audit to run next, ready to copy."""
    settings = {"secret": list(secret) or ["COLUMN"], **({"drop": list(drop)} if drop else {})}
    return sentence("{}", Command("audit", doc.FilePath(source), **settings))
