"""The settings of the verbs as keywords, for type checkers. A test compares them with the requests they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from tacit.requests.settings import AnyPath

Names = str | Sequence[str]


class _OnEngine(TypedDict, total=False):
    engine: str
    memory: str | None


class _Engine(_OnEngine, total=False):
    encoding: str | None
    remote: bool


class _Table(_Engine, total=False):
    """A ``Question`` about a table, and ``Learning``."""

    secret: Names | Mapping[str, Sequence[str]] | None
    released: Names | None
    drop: Names | None
    known: Names | None
    use: Names | None
    bins: Mapping[str, int | Sequence[float]] | None
    levels: Mapping[str, float | str | AnyPath | Sequence[float] | Sequence[str]] | None
    weight: str | None
    keep_id: Names | None
    estimator: str
    model: AnyPath | None
    fresh: bool


class AuditTable(_Table, total=False):
    """What ``audit`` takes for a table."""

    epsilon: float | None
    max_loss: float
    scores: AnyPath | None
    shuffles: int | None
    save_model: AnyPath | None
    random_state: int


class _Pictures(TypedDict, total=False):
    resize: str | int | Sequence[int] | None
    skip_unreadable: bool


class AuditImages(_Pictures, total=False):
    """What ``audit`` takes for images."""

    secret: Names
    epsilon: float | None
    patch: int | Sequence[int] | None
    random_state: int


class AuditVectors(_OnEngine, total=False):
    """What ``audit`` takes for vectors, as well as their column."""

    secret: Names
    labels: AnyPath | None
    epsilon: float | None
    random_state: int


class AuditText(_Engine, total=False):
    """What ``audit`` takes for posts."""

    secret: Names
    epsilon: float | None
    save_model: AnyPath | None
    top: int
    min_count: int
    random_state: int


class _Made(TypedDict, total=False):
    epsilon: float | None
    overwrite: bool
    random_state: int | None


class ProtectTable(_Table, _Made, total=False):
    """What ``protect`` takes for a table, as well as the directory."""

    epsilon_high: float | None
    epsilon_low: float | None
    also: Mapping[str | Sequence[str], float] | None
    thresholds: float | None
    least: int
    confidence: float | None
    delta: float | None
    delta_kind: Literal["mass", "egamma"] | None
    epsilon_max: float | None
    mechanism: str | None
    effort: Literal["low", "normal", "high"] | None
    replacement: Literal["resample", "uniform", "merge", "suppress"] | None
    recode: Literal["local", "global"]
    write: Literal["text", "means"]
    prefer: Mapping[str, float] | None
    rules: AnyPath | None
    keep_secret: bool
    parts: bool
    max_loss: float
    ledger: AnyPath | None
    people: Literal["same", "other"]
    budget: float | None


class _Coded(TypedDict, total=False):
    secret: Names
    use: Names | None
    group: str | None
    mechanism: str | None
    least: int
    ceiling: float | None
    confidence: float | None


class ProtectImages(_Pictures, _Made, _Coded, total=False):
    """What ``protect`` takes for images."""

    patch: int | None
    scale: float
    order: Literal["given", "leak"]
    keep_label: Names | None
    keep_names: bool


class ProtectVectors(_OnEngine, _Made, _Coded, total=False):
    """What ``protect`` takes for vectors, as well as their column and the directory."""

    labels: AnyPath | None


class ProtectText(_Engine, _Made, _Coded, total=False):
    """What ``protect`` takes for posts."""

    keep_secret: bool
    keep: Names | None
    mask: str
    generalise: bool
    rare: Literal["keep", "mask"]
    bound: Literal["post", "term"]
    min_count: int
    keep_order: bool


class AttackMedia(TypedDict, total=False):
    """What else ``attack`` takes: how the original is read, and settings for images and posts."""

    encoding: str | None
    remote: bool
    labels: AnyPath | None
    group: str | None
    without: Names | None
