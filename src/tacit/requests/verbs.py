"""Which requests each verb takes, and the requests of the verbs about an existing release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.requests.media import Coding, PatchNoise, WordMask
from tacit.requests.policy import POLICY
from tacit.requests.release import Bound, Ledgered, Making
from tacit.requests.settings import Amount, AnyPath, Anything, Name, Names, Request, setting
from tacit.requests.table import (
    TABLE,
    Learning,
    Look,
    Question,
    encoding_setting,
    engine_setting,
    labels_setting,
    memory_setting,
    remote_setting,
)


@dataclass(frozen=True)
class VerifyRequest(Request):
    """A release, and the original to check it against."""

    release: Any = None
    against: Any = setting(Anything(), "The original table, folder of images or npz.", metavar="ORIGINAL")
    labels: AnyPath | None = labels_setting()
    engine: str = engine_setting()
    memory: str | None = memory_setting()
    encoding: str | None = encoding_setting()
    remote: bool = remote_setting()


@dataclass(frozen=True)
class AttackRequest(Request):
    """A release, the original, and how many records adversaries work on."""

    release: Any = None
    against: Any = setting(Anything(), "The original table, folder of images or npz.", metavar="ORIGINAL")
    labels: AnyPath | None = labels_setting()
    known: Sequence[str] | str | None = setting(
        Names(),
        "Column(s) whose true values an adversary knows when looking for people in the release.  [default: all "
        "released columns but the one that says most about the secret]",
        lenses=TABLE,
    )
    group: str | None = setting(
        Name(),
        "The column that says whose record it is. Everything of one person stays on one side of every split.",
    )
    without: Sequence[str] | str | None = setting(
        Names(),
        "Families of adversaries to switch off, by name; the answer lists them.",
        metavar="NAME[,NAME]",
    )
    records: int = setting(Amount(100, whole=True), "How many records to work on.", default=50_000)
    random_state: int = setting(
        Amount(0, 2**32 - 1, whole=True), "Random seed of the split and the adversaries.", default=0
    )
    engine: str = engine_setting()
    memory: str | None = memory_setting()
    encoding: str | None = encoding_setting()
    remote: bool = remote_setting()


@dataclass(frozen=True)
class CheckRequest(Request):
    """Tables and releases, and the policy they must meet."""

    source: Any = None
    policy: Any = setting(Anything(), "The policy, in TOML.", default=POLICY, metavar="FILE")
    against: Any = setting(
        Anything(), "The original of a release; its claim is then verified as well.", lenses=TABLE, metavar="ORIGINAL"
    )
    engine: str = engine_setting()
    memory: str | None = memory_setting()
    encoding: str | None = encoding_setting()
    remote: bool = remote_setting()


AUDIT: tuple[type[Request], ...] = (Question, Look, Learning)
PROTECT: tuple[type[Request], ...] = (Question, Bound, Making, Learning, Ledgered, Coding, PatchNoise, WordMask)
VERIFY: tuple[type[Request], ...] = (VerifyRequest,)
ATTACK: tuple[type[Request], ...] = (AttackRequest,)
CHECK: tuple[type[Request], ...] = (CheckRequest,)
