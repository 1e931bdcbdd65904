"""How the numbers of a chart are written, by its unit."""

from __future__ import annotations

from tacit.document.quantities import number, part, percent, setting, share, signed, signed_part


def written(value: float, unit: str, *, with_unit: bool = False, sign: bool = False) -> str:
    """A value with or without its unit and its sign."""
    if unit == "probability":
        return share(value)
    if unit == "part":
        return signed_part(value) if sign else part(value)
    shown = signed(value) if sign else number(value)
    return f"{shown} {unit}" if with_unit and unit in ("nats", "bits") and "∞" not in shown else shown


def ticked(value: float, unit: str) -> str:
    """The label of a tick."""
    return percent(value) if unit == "probability" else setting(value)
