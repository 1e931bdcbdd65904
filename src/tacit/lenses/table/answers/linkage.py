"""What somebody finds by linking a release to what they know, as sections of an attack."""

from __future__ import annotations

from collections.abc import Sequence

from tacit import document as doc
from tacit.document.quantities import share
from tacit.errors import sentence
from tacit.lenses.table.linkage.results import LinkageFinding, LinkageScore

_WORDS = (
    "Somebody knows a person's true values in some columns, has the whole file, and looks for the rows that fit. "
    "Found: exactly one row fits. Right: all of that row is true of the person. The other columns are then read off "
    "the rows that fit, and the secret is guessed from people with such values."
)
_COLUMNS_TOLD = 12


def linkage_sections(findings: Sequence[LinkageFinding]) -> Sequence[doc.Section]:
    """One section: for each set of known columns, who is found, what is read, and how well the secret is guessed."""
    if not findings:
        return ()
    blocks: list[doc.Block] = [doc.Paragraph(_WORDS)]
    for finding in findings:
        blocks += [doc.Heading(sentence("Whoever knows {}", doc.listed(finding.known))), _scores(finding)]
        if finding.columns:
            blocks.append(_columns(finding))
    first = findings[0]
    looked = sentence(
        "{} people were looked for; what values say about the secret was learned from {} others. Before: in the "
        "original.",
        doc.Count(first.people),
        doc.Count(first.learned_from),
    )
    return (doc.Section("How people were looked for. Higher is riskier.", (*blocks, doc.Paragraph(looked, "note"))),)


def found_words(finding: LinkageFinding) -> str:
    """Who is found, and the column that is read best beyond what is known."""
    after = finding.after
    words = (
        f"Anyone who knows {doc.listed(finding.known, limit=6)} finds {share(after.found)} of the people in the release"
    )
    if after.found:
        words += f", {share(after.found_right)} of those correctly"
    if not finding.columns:
        return f"{words}."
    best = max(finding.columns, key=lambda column: column.after - column.knowing)
    return f"{words}, and reads {best.name} right for {share(best.after)} ({share(best.knowing)} without it)."


def _scores(finding: LinkageFinding) -> doc.TableBlock:
    columns = ("With", ">Found", ">Of those\nright", ">Rows that fit,\non average", ">Nothing\nfits", ">Secret\nright")
    nothing = ("",) * 4
    rows = [
        ("nothing: the prior", *nothing, doc.Share(finding.prior_guess)),
        ("what is known alone", *nothing, doc.Share(finding.knowing)),
        *([_score("the original", finding.before)] if finding.before is not None else []),
        _score("the release", finding.after),
    ]
    return doc.TableBlock(columns, rows)


def _score(name: str, score: LinkageScore) -> tuple[doc.InCell, ...]:
    return (
        doc.Cell(name, style="bold"),
        doc.Share(score.found),
        doc.Share(score.found_right),
        doc.Number(score.candidates),
        doc.Share(score.nobody),
        doc.Share(score.secret_right),
    )


def _columns(finding: LinkageFinding) -> doc.TableBlock:
    columns = (
        "Column read",
        ">Known\nalone",
        ">Original",
        ">Release",
        ">Rows of the release\nagree on a value",
        ">Of those\nright",
    )
    rows = [
        (
            doc.DataValue(column.name, 24),
            doc.Share(column.knowing),
            doc.Share(column.before),
            doc.Share(column.after),
            doc.Share(column.agreed),
            doc.Share(column.agreed_right),
        )
        for column in finding.columns
    ]
    return doc.TableBlock(columns, rows, shown=range(_COLUMNS_TOLD), more="columns")
