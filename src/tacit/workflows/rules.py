"""Rules: what a release did to every value, saved so that the next batch is treated alike. They are the owner's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.tables.cutting import Cut
from tacit.tables.symbols import Symbols
from tacit.workflows.bounds import Bounds, FurtherSecret
from tacit.workflows.treatment import Treatment, treatment_from

FORMAT = "tacit rules"
VERSION = 2


@dataclass(frozen=True)
class Rules:
    """What becomes of the released values, and what that keeps within which bounds.

    ``also`` are further secrets that the release keeps, each within its own epsilon.
    """

    secret: tuple[str, ...]
    released: tuple[str, ...]
    cuts: tuple[Cut, ...]
    symbols: Symbols
    treatment: Treatment
    bounds: Bounds
    also: tuple[FurtherSecret, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The rules in JSON types."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "secret": list(self.secret),
            "released": list(self.released),
            "cuts": [made.to_dict() for made in self.cuts],
            "symbols": self.symbols.to_dict(),
            "treatment": self.treatment.to_dict(),
            "bounds": self.bounds.to_dict(),
            "also": [{"secret": list(each.secret), "epsilon": each.epsilon} for each in self.also],
        }

    def to_json(self) -> str:
        """The rules as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

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
            return cls.from_dict(data)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise SourceError(f"{path} is damaged ({type(error).__name__}: {error}); make the rules anew") from error

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Rules:
        """Rules that :meth:`to_dict` wrote; a KeyError, TypeError, IndexError or ValueError if they are damaged."""
        symbols = Symbols.from_dict(data["symbols"])
        return cls(
            secret=tuple(data["secret"]),
            released=tuple(data["released"]),
            cuts=tuple(Cut.from_dict(made) for made in data["cuts"]),
            symbols=symbols,
            treatment=treatment_from(data["treatment"], len(symbols)),
            bounds=Bounds.from_dict(data["bounds"]),
            also=tuple(FurtherSecret(tuple(each["secret"]), float(each["epsilon"])) for each in data["also"]),
        )
