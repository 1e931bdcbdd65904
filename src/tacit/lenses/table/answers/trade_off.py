"""What every epsilon costs if one set of values is merged, as blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit import document as doc
from tacit.errors import sentence

# How many points of a curve the terminal shows.
_SHOWN = 8
EPSILON = sentence(">Epsilon ({})", doc.UNIT)


def by_epsilon(curve: Sequence[doc.CurvePoint]) -> tuple[doc.CurvePoint, ...]:
    """The trade-off from the strictest epsilon to the loosest."""
    return tuple(sorted(curve, key=lambda point: (point.epsilon, point.attained)))


def place_of(curve: Sequence[doc.CurvePoint], epsilon: float | None) -> int | None:
    """Which point of a curve sorted by epsilon is in force at ``epsilon``: the loosest that is not beyond it.

    Nothing changes between two neighbouring points, so an epsilon between them has the smaller one's release.
    """
    if epsilon is None:
        return None
    within = [k for k, point in enumerate(curve) if point.epsilon <= epsilon * (1 + 1e-9)]
    return within[-1] if within else None


def trade_off(
    curve: Sequence[doc.CurvePoint],
    *,
    epsilon: float | None,
    mark: doc.CurvePoint | tuple[float, float] | None = None,
    label: str = "suggested",
) -> doc.Block:
    """The curve with its slider and its numbers; the point in force at ``epsilon`` is marked.

    ``mark`` is an epsilon attained and its loss; by default those of the point in force.
    """
    if not curve:
        return doc.Paragraph("The trade-off was not computed.", "note")
    points = by_epsilon(curve)
    place = place_of(points, epsilon)
    if mark is None and place is not None:
        mark = points[place]
    attained, loss = (mark.attained, mark.nmil) if isinstance(mark, doc.CurvePoint) else mark or (None, None)
    return doc.Figure(doc.TradeOff(points, attained, loss, label, place), (curve_table(points, place),))


def curve_table(points: Sequence[doc.CurvePoint], place: int | None) -> doc.TableBlock:
    """The numbers of a trade-off; the terminal shows a few of them."""
    rows = [
        doc.Row(
            (
                doc.Nats(p.epsilon, "setting", unit=False),
                doc.Nats(p.attained, unit=False),
                doc.Share(p.nmil),
                doc.Share(p.records_kept),
                doc.Nats(p.utility, unit=False),
                doc.Nats(p.leakage, unit=False),
            ),
            chosen=k == place,
        )
        for k, p in enumerate(points)
    ]
    utility = doc.TableColumn(">Utility kept", where="page")
    columns = (EPSILON, ">Attained", ">Loss (NMIL)", ">Records kept\nas they are", utility, ">Leakage left")
    return doc.TableBlock(columns, rows, shown=_thinned(len(points), place))


def _thinned(n: int, place: int | None) -> list[int]:
    """A few of ``n`` points, so that the table stays readable; always with the ends and the one at ``place``."""
    step = max(1, math.ceil((n - 1) / (_SHOWN - 1)))
    return [k for k in range(n) if k % step == 0 or k in (n - 1, place)]
