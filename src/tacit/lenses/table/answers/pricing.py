"""What each value of a secret costs, as a section of an audit."""

from __future__ import annotations

from tacit import document as doc
from tacit.errors import Sentence, Setting, sentence
from tacit.lenses.table.results import SecretPrice, SecretPrices

_TOLD = 12
_COLUMNS_NAMED = 4


def prices_section(prices: SecretPrices) -> doc.Section:
    """A proposal to name only some values, and what each would cost by itself."""
    columns = (
        "Secret alone",
        ">Prior",
        ">Largest\nlog-lift",
        doc.TableColumn("where", least=12),
        ">Kept per column\non average",
        "Cannot be shown",
    )
    table = doc.TableBlock(columns, [_row(each) for each in prices.prices], shown=range(_TOLD), more="values")
    words = (
        "Each row: if this value were the only secret, and all others one class. Kept: the share of a column's entropy "
        "that its cells could tell within {epsilon} on both sides, each column on its own, numbers in tenths. The "
        "largest log-lift is that of a value of one column that at least {least} records have."
    )
    note = sentence(words, epsilon=doc.Nats(prices.epsilon, "setting"), least=doc.Count(prices.least))
    blocks = (doc.Paragraph(_proposal(prices), "lead"), table, doc.Paragraph(note, "note"))
    return doc.Section("What each value of the secret costs", blocks, kind="plug-in")


def _proposal(prices: SecretPrices) -> Sentence:
    kept = prices.together.values()
    words = (
        "{secret} has {values} values, and a release keeps all of them secret: within {epsilon}, that leaves {kept} of "
        "a column on average. If only some must not be learned, name them ({named}): all others then count as one."
    )
    if len(prices.prices) < prices.n_values:
        words += f" The {len(prices.prices)} commonest are listed."
    return sentence(
        words,
        secret=doc.shorten(prices.column, 24),
        values=doc.Count(prices.n_values),
        epsilon=doc.Nats(prices.epsilon, "setting"),
        kept=doc.Share(sum(kept) / len(kept)),
        named=Setting("secret", {prices.column: ("VALUE", "VALUE")}),
    )


def _row(price: SecretPrice) -> tuple[doc.InCell, ...]:
    where = f"{doc.shorten(price.column, 20)} = {doc.shorten(price.value, 20)}"
    return (
        doc.DataValue(price.label, 24),
        doc.Share(price.prior),
        doc.Nats(price.log_lift, "signed", unit=False),
        where,
        doc.Share(price.mean_kept),
        doc.listed([doc.shorten(name, 24) for name in price.forbids], limit=_COLUMNS_NAMED),
    )
