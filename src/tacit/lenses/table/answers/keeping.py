"""How an answer shows what a reader of the release keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from tacit import document as doc
from tacit.codes.scales.calendar import spoken
from tacit.errors import Sentence, Setting, sentence, together
from tacit.lenses.table.reading.countable import CountableValues
from tacit.release.kept import MOST_IN_TURN, ReaderKeeps, UseScore
from tacit.release.levels import ColumnLevels

# Columns of a wide table that the terminal lists at first, and if all are asked for; and that the page draws.
_FIRST, _LISTED, _DRAWN = 7, 20, 40
_EXAMPLES = 3
_PREDICTED = {"value": "", "above the middle": "is it above the middle?", "commonest values": "which of the commonest?"}


def keeping_words(keeps: ReaderKeeps) -> Sentence:
    """What is kept in one sentence, for a headline."""
    best, least = (pick(keeps.columns, key=lambda each: each.kept) for pick in (max, min))
    if len(keeps.columns) == 1 or best.kept == least.kept:
        return sentence("A reader keeps {} of each column.", doc.Share(best.kept))
    return sentence(
        "A reader keeps {} of a column on average: most of {} ({}), least of {} ({}).",
        doc.Share(keeps.mean_kept),
        doc.DataValue(best.name, 40),
        doc.Share(best.kept),
        doc.DataValue(least.name, 40),
        doc.Share(least.kept),
    )


def keeping_section(
    keeps: ReaderKeeps, nowhere: Sequence[str] = (), countable: Sequence[CountableValues] = ()
) -> doc.Section:
    """What a reader keeps of each column, and how well the columns named as a use are predicted.

    ``nowhere`` are columns that read the same in every row: they tell nothing by themselves. ``countable`` says of how
    many values of each column a reader of cells gets an estimate.
    """
    named = _uses(keeps) if keeps.uses == "named" else ()
    words = () if len(keeps.columns) <= _FIRST else (doc.Paragraph(keeping_words(keeps)),)
    warning = (
        f"Not shown, the same in every row: {doc.listed(nowhere, limit=_FIRST)}. What is kept of them comes "
        "from other columns."
    )
    empty = doc.Paragraph(warning, "warning")
    blocks = (*words, *((empty,) if nowhere else ()), _columns(keeps, countable), *named)
    return doc.Section("What a reader keeps", blocks, kind="plug-in")


def using_section(keeps: ReaderKeeps) -> doc.Section:
    """How it was measured; how well columns predict each other; what became of rows and associations."""
    method = sentence(
        "The share of an original column's information that a released row shows, minus chance, in {}. Columns are "
        "taken coarsely, numbers in tenths.",
        doc.Count(keeps.rows_used, "record"),
    )
    used = _uses(keeps) if keeps.uses != "named" else ()
    blocks = (doc.Paragraph(method, "note"), *used, doc.Facts(list(_facts(keeps))))
    return doc.Section("What it can be used for", blocks, kind="plug-in")


def telling_section(columns: Sequence[ColumnLevels], *, mixed: bool) -> doc.Section:
    """How a release in cells tells each column: how many levels it has, what some look like, how to read them."""
    rows = [
        (doc.DataValue(each.column, 40), doc.Count(len(each.levels)), doc.listed(_examples(each), limit=_EXAMPLES))
        for each in columns
    ]
    table = doc.TableBlock(("Column", ">Levels", "Such as"), rows, shown=range(min(len(rows), _LISTED)), more="columns")
    words = "Levels you did not set were found from the values; levels.json lists all. Set others with {levels}."
    note = doc.Paragraph(sentence(words, levels=Setting("levels")), "note")
    return doc.Section("How columns are written", (table, note, *(() if mixed else (_reading(columns),))), kind="exact")


def _reading(columns: Sequence[ColumnLevels]) -> doc.Paragraph:
    """How a reader should count and train; the first thing that comes to mind, grouping the file, is wrong."""
    name = json.dumps(max(columns, key=lambda each: len(each.levels)).column)
    words = (
        "Do not group the file by a column, and do not train a model on its words: the rows that state a value are not "
        "a fair sample of it. {counts} says how many there are of each in the directory {release}, or between which "
        "bounds; {filled} gives rows to train on."
    )
    counts, filled = (doc.Code(f'tacit.read("release").{call}({name})') for call in ("counts", "filled"))
    return doc.Paragraph(sentence(words, counts=counts, filled=filled, release=doc.Code("release")), label="Reading it")


def _examples(column: ColumnLevels) -> list[str]:
    """Levels that tell something, spread over all of them."""
    names = [str(level) for level in column.levels]
    if column.meanings:
        pairs = zip(column.levels, column.meanings, strict=True)
        names = ["missing" if level is None else f"{level:g} ({meaning})" for level, meaning in pairs]
    telling = [level for level in names if level != "any"] or ["any"]
    return [doc.shorten(spoken(level), 30) for level in telling[:: max(1, len(telling) // _EXAMPLES)]][:_EXAMPLES]


def _columns(keeps: ReaderKeeps, countable: Sequence[CountableValues]) -> doc.Figure:
    bars = [doc.BarRow(each.name, (doc.Bar("", each.kept),)) for each in keeps.columns[:_DRAWN]]
    counted = {each.column: _can_be_counted(each) for each in countable}
    rows = [
        (
            doc.DataValue(each.name, 40),
            doc.Cell(doc.Share(each.kept), style="big"),
            doc.Share(each.shift),
            *([counted.get(each.name, "")] if counted else []),
        )
        for each in keeps.columns
    ]
    # A column that the user named is listed even if the table is wide.
    named = {score.name for score in keeps.use} if keeps.uses == "named" else set()
    first = sorted(range(len(rows)), key=lambda at: keeps.columns[at].name not in named)[:_FIRST]
    heads = ("Column", ">Kept", ">Shares off by", *([">Can be counted"] if counted else []))
    table = doc.TableBlock(heads, rows, shown=sorted(first), more="columns")
    chart = doc.Bars("Kept of each column", "Kept; higher is better", bars, unit="probability", whole=True)
    words = (
        "Shares off by: if every row is divided among the values that it allows. Can be counted: for how many values a "
        "reader gets an estimate; for the others, only bounds."
    )
    return doc.Figure(chart, (table, *([doc.Paragraph(words, "note")] if counted else [])))


def _can_be_counted(column: CountableValues) -> doc.Text:
    if column.values < 2:
        return "not shown"
    return sentence("{} of {}", doc.Count(column.estimated), doc.Count(column.values))


def _uses(keeps: ReaderKeeps) -> tuple[doc.Block, ...]:
    """The scores, or why there are none."""
    if not keeps.use:
        if keeps.uses == "named":
            return (_useless(sentence("what you named with {use}", use=Setting("use"))),)
        if keeps.uses != "too many columns":
            return ()
        words = "What the release predicts was not tried, because it has more than {} columns: name some with {use}."
        return (doc.Paragraph(sentence(words, MOST_IN_TURN, use=Setting("use")), "note"),)
    words = (
        "Models trained on the release are judged on other, original records, next to models trained on the originals; "
        "the best of each is shown. AUC: how often it ranks two records correctly, one of each kind. Accuracy: how "
        "often it is right."
    )
    columns = ("Predicted", "Measure", ">Without a model", ">From the originals", ">From the release")
    table, note = doc.TableBlock(columns, [_use(score) for score in keeps.use]), doc.Paragraph(words, "note")
    named = keeps.use if keeps.uses == "named" else ()
    lost = [score for score in named if score.release <= score.baseline]
    return (table, *_range(named), *([_useless(doc.listed(each.name for each in lost), lost)] if lost else []), note)


def _range(scores: Sequence[UseScore]) -> Iterator[doc.Paragraph]:
    """How far the scores of single readers are apart."""
    ranges = [score for score in scores if score.release_low is not None and score.release_high is not None]
    if not ranges:
        return
    several = len(ranges) > 1
    ends = []
    for score in ranges:
        of = sentence(" for {}", doc.DataValue(score.name, 40)) if several else ""
        low, high = (_shown(score, each) for each in (score.release_low, score.release_high))
        ends.append(sentence("{} to {}{}", low, high, of))
    words = "From the release: a mean, as every reader fills it in by chance before training. Single models scored {}."
    yield doc.Paragraph(sentence(words, together(ends, ", ")))
    unsure = [score.name for score in ranges if (score.release_low or 0) <= score.baseline < score.release]
    if unsure:
        words = "Some models of {} learned nothing, or what is false: do not rely on a model of this release alone."
        yield doc.Paragraph(sentence(words, doc.listed(unsure)), "warning")


def _useless(what: doc.Text, scores: Sequence[UseScore] = ()) -> doc.Paragraph:
    """What to do if the release cannot be used as was wished."""
    words = "The release does not help to predict {what}: a larger {epsilon} or fewer columns ({drop}) keep more of it."
    if any(score.measure == "AUC" and score.release < score.baseline for score in scores):
        words += (
            " An AUC below 0.5 ranks people the wrong way round: the cells tell {what} of some people and hide it of "
            "others, and what goes with it there does not go with it in the original records."
        )
    text = sentence(words, what=what, epsilon=Setting("epsilon"), drop=Setting("drop"))
    return doc.Paragraph(text, "warning")


def _use(score: UseScore) -> tuple[doc.InCell, ...]:
    shown = [_shown(score, each) for each in (score.baseline, score.original, score.release)]
    name = doc.Cell(doc.DataValue(score.name, 40), small=_PREDICTED[score.predicted])
    return (name, score.measure, *shown[:2], doc.Cell(shown[2], style="big"))


def _shown(score: UseScore, number: float | None) -> doc.Number | doc.Share:
    return doc.Number(number, "part") if score.measure == "AUC" else doc.Share(number)


def _facts(keeps: ReaderKeeps) -> Iterable[tuple[doc.Text, doc.InCell]]:
    """Rows, shares and associations."""
    rows = keeps.information
    yield (
        "Information of the rows",
        sentence(
            "{} kept: {} of {} ({})",
            doc.Share(rows.share),
            doc.Nats(rows.told, unit=False),
            doc.Nats(rows.entropy),
            rows.kind,
        ),
    )
    most = keeps.largest_shift
    moved = sentence("off by {} on average, by {} at most", doc.Share(keeps.mean_shift), doc.Share(most.shift))
    if most.shift > 0:
        moved += sentence(" ({})", doc.DataValue(most.name, 40))
    yield "Shares, if every row is divided among the values that it allows", moved
    if keeps.association_error is not None:
        moved_by = keeps.association_error
        worst = sentence(" ({} and {})", *(doc.DataValue(name, 40) for name in moved_by.worst))
        yield (
            "Associations moved (Cramér's V)",
            sentence(
                "by {} on average, by {} at most{}",
                doc.Number(moved_by.mean),
                doc.Number(moved_by.largest),
                worst if moved_by.largest > 0 else "",
            ),
        )
