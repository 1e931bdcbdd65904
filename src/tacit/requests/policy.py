"""A policy: what tables and releases must meet before they may go on, written down once, for a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from tacit.errors import ArgumentError, Setting, SourceError, sentence
from tacit.loading import text_in
from tacit.requests.names import MECHANISMS
from tacit.requests.release import NATS
from tacit.requests.secrets import SecretNames
from tacit.requests.settings import (
    Amount,
    AnyPath,
    Bins,
    Further,
    Kind,
    Name,
    Names,
    OneOf,
    Request,
    cells,
    refused,
    setting,
    settings_of,
)
from tacit.requests.table import TABLE, Question

POLICY = "tacit.toml"
# Roles that a policy gives to columns, as a question does.
_ROLES = ("secret", "released", "drop", "known")


@dataclass(frozen=True)
class SomeOf(Kind):
    """One or more of a few words."""

    words: tuple[str, ...] = ()

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        several = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, (list, tuple)) else ()
        if not several:
            raise refused(name, value, f"name some of {', '.join(self.words)}")
        return tuple(OneOf(self.words).checked(name, each) for each in several)

    def schema(self) -> dict[str, Any]:
        """A list of the words."""
        return {"type": "array", "items": {"enum": list(self.words)}, "minItems": 1}


@dataclass(frozen=True)
class Sections(Kind):
    """What a policy asks differently of some sources: a pattern of file names, and the settings that it changes."""

    def checked(self, name: str, value: Any) -> dict[str, dict[str, Any]]:
        if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
            raise refused(name, None, "it maps patterns of file names, such as 'people*.csv', to settings")
        sections = {str(pattern): dict(section) for pattern, section in value.items()}
        for pattern, section in sections.items():
            _refuse_unknown(section, [each for each in settings_of(Policy) if each != name], f"{name}.{pattern}.")
        return sections

    def schema(self) -> dict[str, Any]:
        """An object of objects."""
        return {"type": "object", "additionalProperties": {"type": "object"}}


@dataclass(frozen=True)
class Policy(Request):
    """What must be met: the bound of each secret, the fewest people, what may be known, and how releases are made.

    Settings mean what they mean for ``audit`` and ``protect``. None means not required. ``tables`` changes some of
    them for sources whose name fits a pattern; the first pattern that fits counts.
    """

    secret: Sequence[str] | Mapping[str, Sequence[str]] | str | None = setting(
        SecretNames(), "Column(s) that must not be learned, or values of one of them.", lenses=TABLE
    )
    epsilon: float | None = setting(NATS, "Bound on the absolute log-lift, in nats.", lenses=TABLE, metavar="NATS")
    epsilon_high: float | None = setting(
        NATS, "Bound on how much likelier a secret may become.", lenses=TABLE, metavar="NATS"
    )
    epsilon_low: float | None = setting(
        NATS, "Bound on how much less likely a secret may become.", lenses=TABLE, metavar="NATS"
    )
    also: Mapping[str | Sequence[str], float] | None = setting(
        Further(), "Further secrets, each with its own epsilon.", lenses=TABLE
    )
    thresholds: float | None = setting(
        Amount(0, 0.5),
        "For a secret that is a number: bound every event 'at most t' and 'more than t' that covers at least this "
        "share of the records, instead of its values.",
        lenses=TABLE,
    )
    bins: Mapping[str, int | Sequence[float]] | None = setting(
        Bins(),
        "For secrets that are numbers: bound groups of their values (this many or more, or those between these edges) "
        "instead of the values.",
        lenses=TABLE,
    )
    least: int = setting(
        Amount(1, whole=True), "Fewest people who may share a released value.", default=10, lenses=TABLE
    )
    known: Sequence[str] | str | None = setting(
        Names(), "Released columns whose true values somebody may know already.", lenses=TABLE
    )
    released: Sequence[str] | str | None = setting(
        Names(), "The only columns that may be released.  [default: all others]", lenses=TABLE
    )
    drop: Sequence[str] | str | None = setting(Names(), "Column(s) that may not be released.", lenses=TABLE)
    weight: str | None = setting(Name(), "The table's column with the weight of each record.", lenses=TABLE)
    confidence: float | None = setting(
        Amount(0, 1), "Releases: the bound must be proved with at least this probability.", lenses=TABLE
    )
    mechanisms: Sequence[str] | str | None = setting(
        SomeOf(tuple(MECHANISMS)), "Releases: the mechanisms allowed.", lenses=TABLE
    )
    tables: Mapping[str, Mapping[str, Any]] | None = setting(
        Sections(), "Different settings for files whose names fit a pattern.", lenses=TABLE
    )

    def __post_init__(self) -> None:
        """Check every value, also of every pattern; that no column has two roles; and that only secrets are cut."""
        super().__post_init__()
        self.question(None)
        several = (self, *(self._changed(pattern) for pattern in self.tables or {}))
        secrets = {name for each in several for name in each.secrets}
        uncut = [name for name in self.bins or {} if name not in secrets]
        if uncut:
            raise refused("bins", None, f"'{uncut[0]}' is not a secret of the policy, and only secrets are cut")

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every column that is secret, alone or in combination."""
        also = (cells(each) if isinstance(each, str) else each for each in self.also or {})
        return tuple(dict.fromkeys([*(self.secret or ()), *(name for each in also for name in each)]))

    def _changed(self, pattern: str) -> Policy:
        return replace(self, tables=None, **(self.tables or {})[pattern])

    def of(self, source: str | None) -> Policy:
        """What is asked of one source, by its name; None is a frame, which has none.

        Raises
        ------
        ArgumentError
            If it bounds what nobody named, or names a secret and no bound.
        """
        own = self
        for pattern in (self.tables or {}) if source is not None else ():
            if _fits(str(source), pattern):
                own = self._changed(pattern)
                break
        bounded = [
            name
            for name in ("epsilon", "epsilon_high", "epsilon_low", "also", "thresholds")
            if getattr(own, name) is not None
        ]
        if own.secret is None and bounded:
            raise ArgumentError(
                f"the policy has '{bounded[0]}' but no 'secret': name the columns that must not be learned"
            )
        if own.secret is not None and own.epsilon is None and own.epsilon_high is None:
            raise ArgumentError(
                "the policy has 'secret' but no bound on it: say how much may be learned (epsilon = 0.5)"
            )
        cut = {name: wish for name, wish in (own.bins or {}).items() if name in own.secrets}
        return replace(own, tables=None, bins=cut or None)

    def question(self, source: Any, **more: Any) -> Question:
        """The question that the policy asks about a table; how a secret is cut is stated where it is counted."""
        return Question(source, weight=self.weight, **{name: getattr(self, name) for name in _ROLES}, **more)


def read_policy(path: AnyPath) -> Policy:
    """The policy in a file.

    Raises
    ------
    ArgumentError
        If the file cannot be read, is not TOML, is empty, or is not a policy; an unknown key is named with the nearest
        known one.
    """
    import tomllib

    try:
        keys = tomllib.loads(text_in(PurePath(path).as_posix(), "policy"))
    except SourceError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise ArgumentError(
                sentence(
                    "no policy {path}: write one, or name another ({way})",
                    path=str(path),
                    way=Setting("policy", "FILE"),
                )
            ) from error
        raise ArgumentError(str(error)) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ArgumentError(f"{path} is not a policy: it is not TOML ({error})") from error
    try:
        if _asks_nothing(keys):
            # An empty file is more likely cut off than meant, and would let everything through.
            raise ArgumentError(
                "it is empty, so it would let almost everything pass: say what must not be learned, and how much may "
                'be (secret = "illness", epsilon = 0.5)'
            )
        _refuse_unknown(keys, [field.name for field in fields(Policy)], "")
        sections = keys.get("tables")
        if isinstance(sections, Mapping):
            sections = {key: _read(each) if isinstance(each, Mapping) else each for key, each in sections.items()}
            keys = {**keys, "tables": sections}
        return Policy(**_read(keys))
    except ArgumentError as error:
        # In plain words: a policy is not written in a shell's options.
        raise ArgumentError(f"{path} is not a policy: {error}") from error


def _asks_nothing(keys: Mapping[str, Any]) -> bool:
    """Whether there is no setting, not even in a section."""
    return all(isinstance(each, Mapping) and _asks_nothing(each) for each in keys.values())


def _read(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of TOML are text: ``"race,sex" = 0.8`` is a combination of columns."""
    also = keys.get("also")
    if not isinstance(also, Mapping):
        return dict(keys)
    return {**keys, "also": {tuple(cells(columns)): epsilon for columns, epsilon in also.items()}}


def _refuse_unknown(keys: Mapping[str, Any], allowed: Sequence[str], at: str) -> None:
    for name in keys:
        if name not in allowed:
            near = get_close_matches(name, allowed, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; it has {', '.join(allowed)}"
            raise ArgumentError(f"a policy has no '{at}{name}'{hint}")


def _fits(source: str, pattern: str) -> bool:
    """Whether a pattern fits the whole path, or its end from the start of a folder or file name."""
    path = PurePath(source).as_posix()
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")
