"""Every person of a reference table at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tacit import document as doc
from tacit.document.quantities import setting
from tacit.errors import Setting, sentence
from tacit.person.answers.presenting import PersonResult, chosen, leak, records_tile, source_table
from tacit.person.answers.results import PersonSource, PopulationRung

_TOLD = ("0%", "50%", "90%", "99%", "100%")
_K = (
    "k",
    "How many people in the table, including this person, have the same values of the quasi-identifiers. 1: nobody "
    "else has them.",
)


@dataclass(frozen=True)
class PersonPopulationResult(PersonResult):
    """Every person of a reference table at once: quantiles, and one row per person in ``rows``.

    The file has one row per person: the person's id, the leakage under each adversary, k (how many people in the table
    share the quasi-identifiers), l (how many different sensitive values those have) and the source that gives away
    most.
    """

    kind: ClassVar[str] = "population"
    about: ClassVar[str] = "Tacit on a population"
    told: ClassVar[str] = "largest leakage {}"
    reading: ClassVar[Sequence[tuple[str, str]]] = (_K,)

    case: str
    persons: int
    sources: tuple[PersonSource, ...]
    rungs: tuple[PopulationRung, ...]
    quasi_identifiers: tuple[str, ...]
    k_quantiles: Mapping[str, float] | None
    unique: int | None
    sensitive: tuple[str, ...]
    l_quantiles: Mapping[str, float] | None
    top_sources: Mapping[str, int]
    rows: str | None
    fail_above: float | None
    headline: str
    notes: tuple[str, ...]

    @property
    def leakage(self) -> float:
        """The largest leakage of any person under any adversary."""
        return max(rung.quantiles["100%"] for rung in self.rungs)

    def sections(self) -> list[doc.Section]:
        """How exposed the people are, which source gives away most, and k-anonymity."""
        return [section for write in SECTIONS for section in write(self)]

    def tiles(self) -> list[tuple[doc.Text, ...]]:
        """The most exposed person, and how many are too exposed or unique."""
        top = max(self.rungs, key=lambda rung: rung.quantiles["100%"])
        tiles: list[tuple[doc.Text, ...]] = [
            ("Persons", doc.Count(self.persons)),
            records_tile(self.sources),
            ("Largest leakage", leak(self.leakage), f"under '{top.adversary}'"),
            ("Mean leakage", leak(top.mean), sentence("mean recall {}", leak(top.mean_recall))),
        ]
        if self.fail_above is not None and top.above is not None:
            share = doc.Share(top.above / self.persons if self.persons else 0.0)
            tiles.append((f"Above {setting(self.fail_above)}", doc.Count(top.above), sentence("{} of persons", share)))
        if self.unique is not None:
            tiles.append(("Unique", doc.Count(self.unique), "nobody else shares all their values (k = 1)"))
        return tiles


def _exposed(result: PersonPopulationResult) -> Sequence[doc.Section]:
    rungs, limit = result.rungs, result.fail_above
    panels = doc.Panels([doc.Panel(r.adversary, r.bins, r.quantiles.get("50%")) for r in rungs], limit)
    dashed = "" if limit is None else f", the dashed one the limit of {setting(limit)}"
    words = doc.Paragraph(f"The leakage of every person. The dark line is the median{dashed}.", where="page")
    figure = doc.Figure(panels, (_bins(rungs),))
    blocks = (words, figure, _quantiles(result), _costs(rungs), source_table(result.sources))
    return (doc.Section("Leakage of the persons, by quantile. Higher is riskier.", blocks),)


def _bins(rungs: Sequence[PopulationRung]) -> doc.TableBlock:
    n = len(rungs[0].bins)
    columns = ("Leakage", *(sentence(">{}", doc.DataValue(r.adversary, 24)) for r in rungs))
    rows = [(f"{setting(k / n)} to {setting((k + 1) / n)}", *(doc.Count(r.bins[k]) for r in rungs)) for k in range(n)]
    return doc.TableBlock(columns, rows, where="page")


def _quantiles(result: PersonPopulationResult) -> doc.TableBlock:
    limit = result.fail_above
    names = [name for name in result.rungs[0].quantiles if all(name in r.quantiles for r in result.rungs)]
    above = [] if limit is None else [f">Above {setting(limit)}"]
    quantiles = [doc.TableColumn(f">{name}", where=None if name in _TOLD else "page") for name in names]
    columns = ("Adversary", *quantiles, ">Mean", ">Recall,\nmean", *above)
    rows = [
        (
            doc.Cell(doc.DataValue(r.adversary, 28), style="bold"),
            *(leak(r.quantiles[name]) for name in names),
            leak(r.mean),
            leak(r.mean_recall),
            *(doc.Count(r.above) for _ in above),
        )
        for r in result.rungs
    ]
    return doc.TableBlock(columns, rows)


def _costs(rungs: Sequence[PopulationRung]) -> doc.TableBlock:
    columns = ("Adversary", "What it does", ">Entities", ">Cost", ">Seconds")
    rows = [
        (doc.DataValue(r.adversary, 28), r.does, doc.Count(r.entities), chosen(r.cost), doc.Number(r.seconds))
        for r in rungs
    ]
    return doc.TableBlock(columns, rows)


def _tops(result: PersonPopulationResult) -> Sequence[doc.Section]:
    if not result.top_sources:
        return ()
    ordered = sorted(result.top_sources.items(), key=lambda item: -item[1])
    chart = doc.Bars(
        "Share of people about whom it gives away most",
        "Share of people about whom it gives away most",
        [doc.BarRow(source, (doc.Bar("", persons / max(1, result.persons)),)) for source, persons in ordered],
        unit="probability",
    )
    in_words = doc.listed([f"{doc.shorten(name, 24)} {persons:,}" for name, persons in ordered])
    blocks = (doc.Figure(chart), doc.Paragraph(f"{in_words} (source, and of how many persons)", where="terminal"))
    return (doc.Section("Which source gives most away", blocks),)


def _anonymity(result: PersonPopulationResult) -> Sequence[doc.Section]:
    if result.k_quantiles is None:
        return ()
    words = (
        f"k: how many persons share the values of {doc.listed(result.quasi_identifiers)}. A large k hides a person "
        "among others; it says nothing about what the records hold."
    )
    rows: list[tuple[doc.Text, ...]] = [("k", *(doc.Count(value) for value in result.k_quantiles.values()))]
    if result.l_quantiles is not None:
        words += (
            f" l: how many different values of {doc.listed(result.sensitive)} those persons have: 1 gives the "
            "value away without telling them apart."
        )
        rows.append(("l", *(doc.Count(value) for value in result.l_quantiles.values())))
    columns = ("Quantile", *(f">{name}" for name in result.k_quantiles))
    title = "For comparison: k-anonymity" + (" and l-diversity" if result.l_quantiles is not None else "")
    return (doc.Section(title, (doc.Paragraph(words), doc.TableBlock(columns, rows))),)


def _rows(result: PersonPopulationResult) -> Sequence[doc.Section]:
    hint = sentence("{} writes one row per person.", Setting("out", "rows.parquet"))
    if not result.rows:
        return (doc.Section("", (doc.Paragraph(hint, "note"),), where="terminal"),)
    words = sentence("One row per person: {}. It names people: for your eyes only.", doc.FilePath(result.rows))
    return (doc.Section("", (doc.Paragraph(words),)),)


# The order of the answer. A new section is a function and a line here.
SECTIONS = (_exposed, _tops, _anonymity, _rows)
