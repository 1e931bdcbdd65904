"""Rules: what a release merged, saved so that the next batch is treated alike. Only the owner may see them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.errors import SourceError
from tacit.lift.joint import Mask, Vector
from tacit.tables.cutting import Cut
from tacit.tables.symbols import Symbols

FORMAT = "tacit rules"
VERSION = 1


@dataclass(frozen=True)
class Rules:
    """Which released values are merged, and what takes their place.

    ``replacement`` is a distribution over ``symbols``, or None where merged rows are suppressed (all missing).
    """

    secret: tuple[str, ...]
    released: tuple[str, ...]
    cuts: tuple[Cut, ...]
    symbols: Symbols
    merged: Mask
    replacement: Vector | None
    epsilon: float
    delta: float
    epsilon_max: float

    def to_json(self) -> str:
        """The rules as JSON text."""
        return json.dumps(
            {
                "format": FORMAT,
                "version": VERSION,
                "secret": self.secret,
                "released": self.released,
                "cuts": [made.to_dict() for made in self.cuts],
                "symbols": self.symbols.to_dict(),
                "merged": np.flatnonzero(self.merged).tolist(),
                "replacement": None if self.replacement is None else _sparse(self.replacement),
                "epsilon": self.epsilon,
                "delta": self.delta,
                "epsilon_max": "inf" if np.isinf(self.epsilon_max) else self.epsilon_max,
            },
            allow_nan=False,
        )

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Read rules that ``protect`` wrote."""
        try:
            data: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise SourceError(f"cannot read the rules {path}: {error.strerror}") from error
        except ValueError as error:
            raise SourceError(f"{path} is not a rules file: it is not JSON ({error})") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise SourceError(f"{path} is not a rules file; protect writes one to private/rules.json of a release")
        if data.get("version") != VERSION:
            raise SourceError(f"{path} has rules of version {data.get('version')}; this Tacit reads version {VERSION}")
        try:
            return cls._from_dict(data)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise SourceError(f"{path} is damaged ({type(error).__name__}: {error}); make the rules anew") from error

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Rules:
        symbols = Symbols.from_dict(data["symbols"])
        size = len(symbols.codes)
        merged = np.zeros(size, dtype=bool)
        merged[_places(data["merged"], size)] = True
        replacement = None
        if data["replacement"] is not None:
            replacement = np.zeros(size)
            replacement[_places(data["replacement"]["at"], size)] = data["replacement"]["p"]
            if not ((replacement >= 0).all() and abs(replacement.sum() - 1) < 1e-6):
                raise ValueError("the replacement is no distribution")
        if not (0 <= data["epsilon"] <= float(data["epsilon_max"]) and 0 <= data["delta"] < 1):
            raise ValueError("the bounds are out of range")
        return cls(
            secret=tuple(data["secret"]),
            released=tuple(data["released"]),
            cuts=tuple(Cut.from_dict(made) for made in data["cuts"]),
            symbols=symbols,
            merged=merged,
            replacement=replacement,
            epsilon=float(data["epsilon"]),
            delta=float(data["delta"]),
            epsilon_max=float(data["epsilon_max"]),
        )


def _places(places: list[int], size: int) -> list[int]:
    if not all(isinstance(place, int) and 0 <= place < size for place in places):
        raise ValueError("a value that is not among the symbols")
    return places


def _sparse(values: Vector) -> dict[str, list[float]]:
    at = np.flatnonzero(values)
    return {"at": at.tolist(), "p": values[at].tolist()}
