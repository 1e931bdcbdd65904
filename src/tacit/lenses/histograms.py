"""Histograms of risks: how every lens makes them, and shows their numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.document import UNIT, Block, Layer, Nats, Paragraph, RiskHistogram, Share, TableBlock
from tacit.errors import sentence, together
from tacit.lift import Vector

# Every audit states the share of records that is safe at each of these bounds.
EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
HISTOGRAM_BINS = 24
MOST_BINS = 72
QUANTILES = (0.5, 0.9, 0.95, 0.99)


def histogram_of(risks: Vector, share: Vector, *, beside: RiskHistogram | None = None) -> RiskHistogram:
    """Shares of records by risk, in the bins of another histogram where these, or a few more like them, suffice."""
    finite = np.isfinite(risks)
    top = float(risks[finite].max(initial=0.0)) or 1.0
    step = _round_up(top / HISTOGRAM_BINS)
    if beside is not None and len(beside.edges) > 1 and top <= MOST_BINS * beside.edges[1]:
        step, top = beside.edges[1], max(top, beside.edges[-1])
    edges = step * np.arange(int(np.ceil(top / step - 1e-9)) + 1)
    shares, _ = np.histogram(np.minimum(risks[finite], edges[-1]), bins=edges, weights=share[finite])
    order = np.argsort(risks, kind="stable")
    reached = np.cumsum(share[order])
    quantiles = {
        f"{q:.0%}": float(risks[order][min(int(np.searchsorted(reached, q - 1e-12)), len(order) - 1)])
        for q in QUANTILES
    }
    return RiskHistogram(
        edges=tuple(float(edge) for edge in edges),
        shares=tuple(float(value) for value in shares),
        infinite_share=float(share[~finite].sum()),
        quantiles=quantiles | {"100%": float(risks.max())},
    )


def _round_up(step: float) -> float:
    """The next of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(next(nice * power for nice in (1, 2, 2.5, 5, 10) if nice * power >= step * (1 - 1e-9)))


def histogram_numbers(layers: Sequence[Layer]) -> tuple[Block, ...]:
    """The shares of a histogram, for the page, and its quantiles."""
    blocks: list[Block] = []
    columns = (sentence("Risk ({unit})", unit=UNIT), ">Share of records")
    for layer in layers:
        histogram = layer.histogram
        bins = zip(histogram.edges, histogram.edges[1:], histogram.shares, strict=False)
        shares = [
            (sentence("{low} to {high}", low=_edge(low), high=_edge(high)), Share(part)) for low, high, part in bins
        ]
        table = TableBlock(columns, [*shares, ("∞", Share(histogram.infinite_share))], where="page")
        named = Paragraph(layer.label.capitalize(), "lead", where="page")
        blocks += [named, table] if len(layers) > 1 else [table]
        if histogram.quantiles:
            each = [sentence("{} {}", name, Nats(value, unit=False)) for name, value in histogram.quantiles.items()]
            words = sentence("Quantiles of the risk in {}, {}: {}.", UNIT, layer.label, together(each, ", "))
            blocks.append(Paragraph(words))
    return tuple(blocks)


def _edge(value: float) -> Nats:
    return Nats(value, "setting", unit=False)
