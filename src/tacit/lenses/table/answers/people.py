"""Who could be found, as a section of an audit."""

from __future__ import annotations

from tacit import document as doc
from tacit.document.quantities import count
from tacit.errors import Setting, sentence
from tacit.lenses.table.linkage.results import FoundBy, PeopleFound

_WORDS = (
    "Alone: nobody else has the same values, so anyone who knows them finds the record. Smallest: people in the "
    "smallest group (k-anonymity k). Secrets: the fewest different ones in a group (l-diversity l). Secret revealed: "
    "everybody with the same values has the same secret, so anyone who finds the group knows it. Counted on the "
    "original table; a record counts as one person."
)
_COLUMNS_NAMED = 4


def people_section(counted: PeopleFound) -> doc.Section:
    """How many people are alone in all released columns and in some of them, and what would hide them."""
    blocks: list[doc.Block] = [doc.Paragraph(counted.headline, "lead"), _sets(counted), doc.Paragraph(_WORDS, "note")]
    if counted.cures:
        blocks.append(_cures(counted))
    return doc.Section("Who could be found?", blocks, kind="exact")


def _sets(counted: PeopleFound) -> doc.TableBlock:
    columns = (
        doc.TableColumn("Whoever knows", least=16),
        ">People\nalone",
        ">In groups\nunder " + count(counted.least),
        ">Smallest\n(k)",
        ">Secrets\n(l)",
        ">Secret\ntold",
        ">Largest\nlift",
    )
    return doc.TableBlock(columns, [_row(each) for each in counted.sets])


def _row(each: FoundBy) -> tuple[doc.InCell, ...]:
    sizes = each.sizes
    people = max(sizes.people, 1)
    return (
        doc.Cell(_named(each), style="bold"),
        doc.Cell(doc.Share(each.unique_share), style="bad" if sizes.unique else ""),
        doc.Share(sizes.few / people),
        doc.Count(sizes.smallest),
        doc.Count(sizes.fewest_secrets),
        doc.Share(None if sizes.one_secret is None else sizes.one_secret / people),
        doc.Number(sizes.largest_lift),
    )


def _named(each: FoundBy) -> str:
    if each.why == "all released columns":
        return each.why if len(each.columns) > 1 else doc.shorten(each.columns[0], 24)
    return doc.listed([doc.shorten(name, 24) for name in each.columns], limit=_COLUMNS_NAMED)


def _cures(counted: PeopleFound) -> doc.TableBlock:
    columns = ("Coarser levels, each with those above", ">People\nalone", ">Smallest\ngroup (k)")
    people = max(counted.everything.sizes.people, 1)
    rows = [
        (
            sentence("{}", Setting("levels", dict(cure.added))),
            doc.Cell(doc.Share(cure.unique / people), style="bad" if cure.unique else ""),
            doc.Count(cure.smallest),
        )
        for cure in counted.cures
    ]
    return doc.TableBlock(columns, rows)
