"""A hospital, made up and seeded: its wards, ages and stays tell the illness; its dates and postcodes tell people."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SECRET = "illness"
RELEASED = ("admission", "discharge", "age", "sex", "postcode", "ward", "insurance")
# What a neighbour may know of a patient.
NEIGHBOUR = ("admission", "discharge", "age", "sex", "postcode")

_FIRST_DAY = dt.date(2024, 1, 1)
_DAYS = 366
_INSURANCES = ("AOK", "TK", "Barmer", "DAK", "private", "self-paid")


class _Illness(NamedTuple):
    """How one illness shows: its share of the stays, of women, the ages (mean, spread, least, most), days, wards."""

    share: float
    women: float
    age: tuple[float, float, int, int]
    days: float
    wards: dict[str, float]
    winter: float = 0.0
    city: float = 0.0


_ILLNESSES: dict[str, _Illness] = {
    "B20": _Illness(0.02, 0.25, (42, 11, 18, 80), 8.0, {"internal": 0.7, "lung": 0.2, "intensive": 0.1}, city=1.5),
    "C50": _Illness(0.06, 0.99, (62, 13, 25, 95), 5.0, {"gynaecology": 0.7, "surgery": 0.2, "internal": 0.1}),
    "C61": _Illness(0.06, 0.00, (69, 8, 45, 95), 6.0, {"urology": 0.8, "surgery": 0.1, "internal": 0.1}),
    "E11": _Illness(0.11, 0.46, (64, 14, 18, 98), 7.0, {"internal": 0.85, "surgery": 0.1, "intensive": 0.05}),
    "F32": _Illness(0.06, 0.62, (45, 15, 16, 90), 24.0, {"psychiatry": 0.9, "internal": 0.1}, winter=0.3, city=0.4),
    "G40": _Illness(0.05, 0.48, (40, 22, 1, 95), 4.0, {"neurology": 0.85, "intensive": 0.05, "internal": 0.1}),
    "I21": _Illness(0.13, 0.33, (68, 12, 28, 99), 7.0, {"cardiology": 0.75, "intensive": 0.15, "internal": 0.1}),
    "I63": _Illness(0.12, 0.47, (73, 12, 25, 100), 10.0, {"neurology": 0.75, "intensive": 0.15, "internal": 0.1}),
    "J18": _Illness(0.13, 0.45, (66, 20, 0, 100), 8.0, {"lung": 0.7, "internal": 0.2, "intensive": 0.1}, winter=0.8),
    "K35": _Illness(0.09, 0.46, (30, 18, 3, 90), 4.0, {"surgery": 0.95, "intensive": 0.05}),
    "O80": _Illness(0.07, 1.00, (31, 5, 16, 50), 3.0, {"obstetrics": 0.98, "gynaecology": 0.02}),
    "S72": _Illness(0.10, 0.70, (80, 11, 20, 102), 13.0, {"surgery": 0.9, "intensive": 0.05, "internal": 0.05}),
}


def hospital(n: int = 20_000, *, random_state: int = 0, missing: float = 0.0) -> dict[str, list[Any]]:
    """The stays of a year, one a row, in no order: dates as dates, the age as a number, all else as text.

    The ward follows the illness. Childbirth (O80) is of women from 16 to 50 alone, cancer of the prostate (C61) of men
    alone. Postcodes have five digits, many with a zero in front. Of the cells of ``postcode`` and ``insurance`` a share
    of ``missing`` is None.
    """
    rng = np.random.default_rng(random_state)
    codes = list(_ILLNESSES)
    illness = rng.choice(len(codes), size=n, p=[_ILLNESSES[code].share for code in codes])
    columns: dict[str, NDArray[Any]] = {
        SECRET: np.array(codes, dtype=object)[illness],
        "admission": np.zeros(n, np.int64),
        "discharge": np.zeros(n, np.int64),
        "age": np.zeros(n, np.int64),
        "sex": np.empty(n, dtype=object),
        "postcode": np.empty(n, dtype=object),
        "ward": np.empty(n, dtype=object),
        "insurance": np.empty(n, dtype=object),
    }
    for at, code in enumerate(codes):
        here = np.flatnonzero(illness == at)
        for name, values in _stays(_ILLNESSES[code], len(here), rng).items():
            columns[name][here] = values
    told = {name: values.tolist() for name, values in columns.items()}
    for name in ("admission", "discharge"):
        told[name] = [_FIRST_DAY + dt.timedelta(days=int(day)) for day in told[name]]
    for name in ("postcode", "insurance"):
        gone = rng.random(n) < missing
        told[name] = [None if absent else value for value, absent in zip(told[name], gone, strict=True)]
    return told


def _stays(ill: _Illness, n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """So many stays for one illness."""
    admission = _days(ill, n, rng)
    mean, spread, least, most = ill.age
    age = np.clip(np.round(rng.normal(mean, spread, n)), least, most).astype(np.int64)
    wards = np.array(list(ill.wards), dtype=object)
    # In the city code 01067 to 01328, around it the rest; few people are of the far postcodes.
    places = np.array(
        [f"{code:05d}" for code in (*range(1067, 1329, 9), *range(1445, 4800, 61), *range(10115, 10400, 57))]
    )
    weights = 1.0 / (1 + np.arange(len(places)))
    weights[:30] *= 1 + ill.city
    private = np.where(age > 60, 0.14, 0.09)
    public = np.array(_INSURANCES[:4], dtype=object)[rng.choice(4, size=n, p=[0.42, 0.28, 0.18, 0.12])]
    paid = rng.random(n)
    return {
        "admission": admission,
        "discharge": admission + rng.geometric(1 / ill.days, n),
        "age": age,
        "sex": np.where(rng.random(n) < ill.women, "f", "m").astype(object),
        "postcode": places[rng.choice(len(places), size=n, p=weights / weights.sum())].astype(object),
        "ward": wards[rng.choice(len(wards), size=n, p=list(ill.wards.values()))],
        "insurance": np.where(paid < private, "private", np.where(paid < private + 0.02, "self-paid", public)),
    }


def _days(ill: _Illness, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Days of admission, more of them in winter for an illness of the winter."""
    season = 1 + ill.winter * np.cos(2 * np.pi * np.arange(_DAYS) / _DAYS)
    return rng.choice(_DAYS, size=n, p=season / season.sum())
